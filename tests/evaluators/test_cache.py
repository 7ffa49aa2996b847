"""The cache before an evaluator: who is asked for what, what is kept, and that nobody can tell the difference."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import treetop as tt
from tests.own_games import ThreeNim
from treetop.evaluators.cache import Cached


class Counting:
    """A network's stand-in: a pure function of a state's bytes that writes down what it was asked for."""

    name = "net"

    def __init__(self, kind=np.float32):
        self.kind = kind
        self.asked = []

    def evaluate(self, batch):
        self.asked.append([position.record.tobytes() for position in batch])
        raw = np.frombuffer(batch.states.tobytes(), np.uint8).reshape(len(batch), -1).astype(np.int64)
        mixed = (raw * np.arange(1, raw.shape[1] + 1)).sum(
            axis=1
        )  # in whole numbers: a row's bits do not hang on its neighbours
        logits = mixed[:, None] * np.arange(1, batch.game.facts.num_actions + 1) % 13 / 7
        values = mixed % 17 / 17 - 0.5
        if batch.game.facts.players != 2:
            values = np.repeat(values[:, None] + 0.5, batch.game.facts.players, axis=1)
        return logits.astype(self.kind), values

    @property
    def states(self):
        return sum(len(batch) for batch in self.asked)


def batch_of(*positions):
    """A batch made by hand, as a search would make it."""
    none = np.zeros((len(positions), 1), np.int32)
    return tt.evaluators.Batch(
        positions[0].game, np.concatenate([position.record for position in positions]), True, none, none, none[:, 0], 0
    )


def after(*lines):
    return [tt.position("connect_four", moves=moves) for moves in lines]


def driven(game, evaluator, simulations):
    """A search by batches of a fixed size."""
    search, limit = tt.Search(game, tt.puct(), evaluator=evaluator, seed=5), tt.Limit(simulations=simulations)
    while batch := search.ask(16, limit):
        search.tell(batch, *evaluator.evaluate(batch))
    return search.result()


A, B, C, D = after("1", "2", "3", "4")


def test_only_the_misses_are_asked_for_as_one_smaller_batch_in_order():
    inner = Counting()
    cached = Cached(inner)
    cached.evaluate(batch_of(B))
    cached.evaluate(batch_of(C, B, A, D))
    assert inner.asked == [[B.record.tobytes()], [position.record.tobytes() for position in (C, A, D)]]
    cached.evaluate(batch_of(A, B, C, D))
    assert len(inner.asked) == 2
    assert (cached.hits, cached.misses, len(cached)) == (5, 4, 4)
    assert cached.hit_rate == pytest.approx(5 / 9)


def test_duplicates_in_a_batch_are_evaluated_once():
    inner = Counting()
    cached = Cached(inner)
    logits, values = cached.evaluate(batch_of(A, B, A, A))
    assert inner.states == 2
    assert (cached.hits, cached.misses) == (2, 2)
    plain_logits, _ = inner.evaluate(batch_of(A, B, A, A))
    assert logits.tobytes() == plain_logits.tobytes()
    assert values.tolist() == values[[2, 1, 0, 3]].tolist()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_numbers_are_those_of_the_inner_evaluator_bit_for_bit(kind):
    batch = batch_of(A, B, C, D)
    logits, values = Counting(kind).evaluate(batch)
    cached = Cached(Counting(kind))
    cached.evaluate(batch_of(B, D))
    for _ in range(2):
        mine, worth = cached.evaluate(batch)
        assert mine.dtype == kind
        assert mine.tobytes() == logits.tobytes()
        assert worth.tobytes() == batch.checked_values(values).tobytes()


def test_the_least_recently_used_state_goes_first():
    inner = Counting()
    cached = Cached(inner, size=3)
    cached.evaluate(batch_of(A, B, C))
    cached.evaluate(batch_of(A))  # now B is the oldest
    cached.evaluate(batch_of(D))
    assert len(cached) == 3
    cached.evaluate(batch_of(A, C, D))
    assert inner.states == 4
    cached.evaluate(batch_of(B))
    assert inner.states == 5
    cached.evaluate(batch_of(A))  # it had to go for B
    assert inner.states == 6


def test_a_batch_larger_than_the_cache_is_answered_in_full():
    inner = Counting()
    cached = Cached(inner, size=2)
    logits, _ = cached.evaluate(batch_of(A, B, C, D))
    assert logits.shape == (4, 7)
    assert len(cached) == 2
    cached.evaluate(batch_of(C, D))
    assert inner.states == 4


def test_an_evaluation_that_raises_leaves_the_cache_as_it_was():
    class Flaky(Counting):
        broken = False

        def evaluate(self, batch):
            if self.broken:
                raise OSError("the network is down")
            return super().evaluate(batch)

    inner = Flaky()
    cached = Cached(inner, size=2)
    cached.evaluate(batch_of(A, B))
    before = repr(cached)
    inner.broken = True
    with pytest.raises(OSError, match="network is down"):
        cached.evaluate(batch_of(A, C))
    assert repr(cached) == before
    inner.broken = False
    cached.evaluate(batch_of(C))  # A was asked for in vain, so it is the oldest still
    assert inner.asked[-1] == [C.record.tobytes()]
    cached.evaluate(batch_of(B))
    assert inner.states == 3


def test_what_a_search_would_refuse_is_not_kept():
    class Wrong(Counting):
        def evaluate(self, batch):
            logits, values = super().evaluate(batch)
            return np.where(np.arange(7) == 3, np.nan, logits), values

    cached = Cached(Wrong())
    for _ in range(2):
        with pytest.raises(tt.errors.ConfigError, match="not numbers"):
            cached.evaluate(batch_of(A))
    assert (len(cached), cached.misses) == (0, 0)


def test_the_inner_evaluator_and_the_caller_may_reuse_their_arrays():
    class Buffered(Counting):
        buffer = np.zeros((1, 7))

        def evaluate(self, batch):
            logits, values = super().evaluate(batch)
            self.buffer[:] = logits
            return self.buffer, values

    cached = Cached(Buffered(np.float64))
    first = cached.evaluate(batch_of(A))[0].copy()
    spoilt, _ = cached.evaluate(batch_of(B))
    spoilt[:] = 0.0
    assert cached.evaluate(batch_of(A))[0].tobytes() == first.tobytes()
    assert cached.evaluate(batch_of(B))[0].any()


def test_an_empty_batch_asks_nobody():
    inner = Counting()
    empty = batch_of(A)
    empty.states = empty.states[:0]
    logits, values = Cached(inner).evaluate(empty)
    assert (logits.shape, values.shape, inner.asked) == ((0, 7), (0, 2), [])


def test_games_are_distinguished_by_name_and_by_rules():
    cached = Cached(Counting())
    small, large = tt.position("nim(stones=5)"), tt.position("nim(stones=5, most=2)")
    assert small.record.dtype == large.record.dtype
    cached.evaluate(batch_of(small))
    cached.evaluate(batch_of(large))
    cached.evaluate(batch_of(tt.Position(ThreeNim)))
    assert (cached.hits, cached.misses) == (0, 3)
    cached.evaluate(batch_of(tt.position("nim(stones=5)")))
    assert cached.hits == 1


def variant(step):
    """Two games of one name and one layout; only the rules differ. The key leaves out the field `played`."""

    @tt.game(players=2, num_actions=2, max_length=20)
    class Counter:
        total = tt.field("i1")
        played = tt.field("i1")
        player = tt.field("i1")

        def reset(self):
            self.total = 0
            self.played = 0
            self.player = 0

        def legal_actions(self, out):
            out[0] = 0
            out[1] = 1
            return 2

        def apply(self, action):
            self.total += step * (action + 1)
            self.played += 1
            self.player = 1 - self.player

        def is_terminal(self):
            return self.total >= 10 or self.played >= 20

        def rewards(self, out):
            out[self.player] = 1.0
            out[1 - self.player] = -1.0

        def key(self):
            return 2 * self.total + self.player

    return Counter


def test_games_of_one_name_with_other_rules_are_distinguished():
    cached = Cached(Counting())
    one, two = variant(1), variant(2)
    assert one.name == two.name
    cached.evaluate(batch_of(tt.Position(one)))
    cached.evaluate(batch_of(tt.Position(two)))
    assert cached.misses == 2


def test_the_rules_that_a_batch_was_compiled_for_count_if_it_names_them():
    cached = Cached(Counting())
    for rules in ("first", "second", "first"):
        batch = batch_of(A)
        batch.rules = rules
        cached.evaluate(batch)
    assert (cached.hits, cached.misses) == (1, 2)


def test_by_key_states_of_one_key_share_an_answer():
    game = variant(1)
    short, long = (
        tt.Position(game).play([1, 1, 1]),
        tt.Position(game).play([0, 0, 0, 0, 1]),
    )  # both at 6, the second to move
    assert short.state.key() == long.state.key()
    assert short != long
    by_key, by_state = Cached(Counting(), by="key"), Cached(Counting())
    for cached in (by_key, by_state):
        cached.evaluate(batch_of(short))
        cached.evaluate(batch_of(long))
    assert (by_key.hits, by_state.hits) == (1, 0)


def test_a_game_without_a_key_cannot_be_cached_by_key():
    with pytest.raises(tt.errors.ConfigError, match="has no method `key`"):
        Cached(Counting(), by="key").evaluate(batch_of(tt.Position(ThreeNim)))


@pytest.mark.parametrize("size", [0, -1, 1.5, True, None, "many"])
def test_bad_sizes_are_refused(size):
    with pytest.raises(tt.errors.ConfigError, match="size must be a whole number of at least 1"):
        Cached(Counting(), size=size)


def test_what_cannot_be_cached_is_refused():
    with pytest.raises(tt.errors.ConfigError, match="by must be 'state' or 'key'"):
        Cached(Counting(), by="board")
    with pytest.raises(tt.errors.ConfigError, match="method evaluate"):
        Cached(tt.Rollout())  # plays in the compiled loop, at random


def test_it_prints_itself_and_passes_on_what_the_inner_evaluator_is():
    class Patient(Counting):
        expand_after = 3

    cached = Cached(Patient(), size=1000)
    assert (cached.name, cached.expand_after, Cached(Counting()).expand_after) == ("cached(net)", 3, 0)
    assert tt.Search("connect_four", tt.puct(), evaluator=cached).expand_after == 3
    assert cached  # also while it is empty
    assert cached.hit_rate == 0.0
    cached.evaluate(batch_of(A, B))
    cached.evaluate(batch_of(A, B))
    assert repr(cached) == "<cached(net): 2 of at most 1,000 states, 2 hits, 2 misses, 50.0% hits>"
    cached.clear()
    assert repr(cached) == "<cached(net): 0 of at most 1,000 states, 0 hits, 0 misses, 0.0% hits>"


def test_a_search_is_the_same_with_and_without_it():
    for game in ("connect_four", "tic_tac_toe", ThreeNim):
        cached = Cached(Counting(), size=100)  # so small that states come and go
        plain, mine = driven(game, Counting(), 600), driven(game, cached, 600)
        assert mine.visits == plain.visits
        assert mine.means.tobytes() == plain.means.tobytes()
        assert mine.priors.tobytes() == plain.priors.tobytes()
        assert len(cached) <= 100


def test_a_second_search_lives_on_what_the_first_one_asked_for():
    inner = Counting()
    cached = Cached(inner)
    first = driven("connect_four", cached, 300)
    asked = inner.states
    assert driven("connect_four", cached, 300).visits == first.visits
    assert inner.states == asked
    assert cached.hits >= asked


def test_a_search_runs_on_it_and_its_report_says_so():
    cached = Cached(Counting())
    for _ in range(2):
        result = tt.Search("connect_four", tt.puct(), evaluator=cached, seed=1).run(tt.Limit(simulations=200))
    assert result.simulations == 200
    assert cached.hits > 0
    assert "cached(net)" in str(result.report())


def test_threads_share_it_and_lose_nothing():
    inner, lock = Counting(), threading.Lock()
    evaluate = inner.evaluate

    def careful(batch):
        with lock:
            return evaluate(batch)

    inner.evaluate = careful
    cached = Cached(inner, size=40)
    positions = [
        tt.position("connect_four", moves=f"{first} {second}") for first in range(1, 8) for second in range(1, 8)
    ]
    wanted = {position: Counting().evaluate(batch_of(position))[0].tobytes() for position in positions}
    failures = []

    def work(seed):
        draw = np.random.default_rng(seed)
        for _ in range(40):
            chosen = [positions[index] for index in draw.integers(len(positions), size=8)]
            logits, _ = cached.evaluate(batch_of(*chosen))
            failures.extend(one for one, row in zip(chosen, logits, strict=True) if row.tobytes() != wanted[one])

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert cached.hits + cached.misses == 4 * 40 * 8
    assert cached.misses == inner.states
    assert len(cached) == 40


def test_what_was_asked_for_before_a_clear_does_not_come_back_after_it():
    class Trained(Counting):
        def evaluate(self, batch):
            cached.clear()  # as another thread might, in the middle of an evaluation
            return super().evaluate(batch)

    cached = Cached(Trained())
    cached.evaluate(batch_of(A))
    assert (len(cached), cached.misses) == (0, 0)
