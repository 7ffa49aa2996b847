"""Evaluations in batches: a failed one leaves no trace, and what is searched depends on seed and batch size alone."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

import treetop as tt
from treetop.types import NONE

BUILDS = {
    "plain": tt.puct(c=1.5),
    "solver": tt.puct(c=1.5, solver=True),
    "graph": tt.puct(c=1.5, transpositions=True),
    "graph and solver": tt.puct(c=1.5, transpositions=True, solver=True),
    "virtual loss": tt.puct(c=1.5, virtual_loss="always"),
    "virtual mix": tt.puct(c=1.5, virtual_loss="first", virtual_loss_until=20),
    "rich and solver": tt.puct(c=1.5, fpu="scaled", solver=True, final="lcb"),
    "max backup": tt.uct(backup="max"),
    "gumbel": tt.gumbel(max_considered=4),
    "halving": tt.rules.halving(),
}


class Oracle:
    """A network's stand-in: values and logits from the state's own bytes. It may fail by a plan, and take its time."""

    name = "oracle"

    def __init__(self, fail=lambda call: False, delay=0.0):
        self.fail, self.delay, self.calls, self.sizes = fail, delay, 0, []

    def evaluate(self, batch):
        self.calls += 1
        self.sizes.append(len(batch))
        time.sleep(self.delay)
        if self.fail(self.calls):
            raise OSError("the network is down")
        raw = np.frombuffer(batch.states.tobytes(), np.uint8).reshape(len(batch), batch.states.itemsize).astype(float)
        mixed = raw @ np.arange(1, raw.shape[1] + 1)
        return np.cos(np.outer(mixed + 1, np.arange(batch.game.facts.num_actions))), 0.9 * np.sin(mixed)


def snapshot(search):
    """Every byte of the tree that is no random number."""
    tree, size = search.tree, search.tree.size
    columns = tree.columns
    kept = [columns.stats[:size], columns.links[:size], tree.totals, columns.in_flight[:size]]
    kept += [getattr(columns, name)[:size] for name in ("squares", "amaf", "own_sums", "own_visits") if tree.has(name)]
    return [array.tobytes() for array in kept], size


def make(name, *, evaluator=None, size=8, seed=1, moves=""):
    position = tt.position("tic_tac_toe", moves=moves)
    return tt.Search(
        position,
        BUILDS[name].with_options(batch_size=size),
        evaluator=Oracle() if evaluator is None else evaluator,
        seed=seed,
    )


@pytest.mark.parametrize("name", BUILDS)
def test_a_batch_that_is_dropped_leaves_no_trace(name):
    search = make(name, moves="b2 a1")
    rng, limit = random.Random(5), tt.Limit(simulations=200)
    dropped = 0
    while batch := search.ask(6, limit):
        if rng.random() < 0.4 and len(batch):
            # Games that ended while the batch was gathered are finished already: what is dropped is what came after.
            before = snapshot(search)
            search.drop(batch)
            dropped += 1
            after = snapshot(search)
            assert after[0][:3] == before[0][:3]
            assert after[0][4:] == before[0][4:]
            assert not search.tree.columns.in_flight[: search.tree.size].any()
            search.tree.check((-1, 1))
        else:
            search.tell(batch, *search.evaluator.evaluate(batch))
    assert dropped > 4
    assert search.solved or search.simulations == 200
    assert not search.in_flight


@pytest.mark.parametrize("name", BUILDS)
def test_an_evaluator_that_fails_at_random_loses_nothing(name):
    rng = random.Random(9)
    search = make(name, evaluator=Oracle(fail=lambda call: rng.random() < 0.3), moves="b2 a1")
    failures = 0
    while search.simulations < 300 and not search.solved:
        held = search.simulations
        try:
            search.run(tt.Limit(simulations=300 - held))
        except OSError:
            failures += 1
        assert search.simulations >= held
        assert search.in_flight == 0
        search.tree.check((-1, 1))
    assert failures > 3


@pytest.mark.parametrize("name", ["plain", "solver", "graph", "virtual loss", "virtual mix"])
def test_failures_do_not_change_what_is_searched(name):
    """Without chance in the choice, a search whose every batch fails once finds what an undisturbed one finds."""
    config = BUILDS[name].with_options(tie_break="first", batch_size=6)
    visits = []
    for fails in (False, True):
        search = tt.Search(
            "tic_tac_toe", config, evaluator=Oracle(fail=lambda call, fails=fails: fails and call % 2 == 1), seed=1
        )
        limit = tt.Limit(simulations=120)
        while batch := search.ask(6, limit):
            try:
                answer = search.evaluator.evaluate(batch)
            except OSError:
                search.drop(batch)
            else:
                search.tell(batch, *answer)
        visits.append(search.result().visits)
    assert visits[0] == visits[1]


@pytest.mark.parametrize("name", BUILDS)
def test_the_leaves_of_a_batch_are_distinct(name):
    search = make(name)
    limit = tt.Limit(simulations=300)
    largest = 0
    while batch := search.ask(16, limit):
        ends = [int(batch._paths[index, depth]) for index, depth in enumerate(batch._depths)]
        assert len(set(ends)) == len(batch)
        largest = max(largest, len(batch))
        search.tell(batch, *search.evaluator.evaluate(batch))
    assert largest >= (2 if name == "gumbel" else 4)


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize("size", [1, 3, 16])
def test_the_same_seed_and_batch_size_search_the_same(name, size):
    runs = []
    for _ in range(2):
        search = make(name, size=size, seed=3)
        runs.append((search.run(tt.Limit(simulations=150)).visits, search.evaluator.sizes, snapshot(search)[0][:4]))
    assert runs[0][:2] == runs[1][:2]
    assert runs[0][2] == runs[1][2], "the trees differ"


@pytest.mark.parametrize("name", ["plain", "virtual loss"])
def test_what_is_searched_does_not_depend_on_the_evaluators_speed(name):
    runs = []
    for delay in (0.0, 0.06):
        search = make(name, evaluator=Oracle(delay=delay), size=8, seed=2)
        runs.append((search.run(tt.Limit(simulations=120)).visits, search.evaluator.sizes))
    assert runs[0] == runs[1]


def test_results_are_applied_in_the_order_in_which_leaves_were_met():
    search = make("plain")
    search.tell(search.ask(1), np.zeros((1, 9)), [0.0])
    batch = search.ask(5)
    assert len(batch) == 5
    firsts = [int(path[1]) for path in batch._paths]
    values = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    search.tell(batch, np.zeros((5, 9)), values)
    sums = search.tree.columns.stats["value_sum"]
    assert [float(sums[node]) for node in firsts] == [-value for value in values.tolist()]
    expanded = [int(search.tree.columns.links["first_child"][node]) for node in firsts]
    assert expanded == sorted(expanded)  # the first leaf's children come first
    assert search.tree.totals.tolist() == pytest.approx([-1.5, 1.5])


@pytest.mark.parametrize("name", ["plain", "solver", "graph", "rich and solver", "max backup"])
def test_an_evaluators_arrays_are_left_as_they_are(name):
    """An evaluator may hand out the same arrays again and again, or keep them in a cache."""
    search = make(name, moves="b2 a1")
    limit = tt.Limit(simulations=300)
    while batch := search.ask(8, limit):
        logits, values = search.evaluator.evaluate(batch)
        reported = np.stack([np.where(batch.players == player, values, -values) for player in range(2)], axis=1)
        before = logits.copy(), reported.copy()
        search.tell(batch, logits, reported)
        np.testing.assert_array_equal(logits, before[0])
        np.testing.assert_array_equal(reported, before[1])


def test_a_discount_leaves_the_evaluators_arrays_as_they_are():
    search = tt.Search("tic_tac_toe", tt.puct(discount=0.9), evaluator=Oracle(), seed=1)
    for _ in range(20):
        batch = search.ask(4)
        values = np.full((len(batch), 2), 0.5) * [1, -1]
        search.tell(batch, np.zeros((len(batch), 9)), values)
        assert (np.abs(values) == 0.5).all()


@pytest.mark.parametrize("answer", [RuntimeError("no idea"), 77], ids=["raises", "a stranger"])
@pytest.mark.parametrize("turn", [2, 4, 6])
def test_a_tie_break_that_fails_while_leaves_are_gathered_leaves_nothing_in_flight(answer, turn):
    asked = []

    def hook(actions):
        asked.append(actions)
        if len(asked) == turn:
            if isinstance(answer, Exception):
                raise answer
            return answer
        return actions[0]

    class Flat:
        name = "flat"

        def evaluate(self, batch):
            return np.zeros((len(batch), 9)), np.zeros(len(batch))

    search = tt.Search("tic_tac_toe", tt.puct(c=1.0, tie_break=hook), evaluator=Flat(), seed=1)
    with pytest.raises((RuntimeError, tt.errors.ConfigError)):
        search.run(tt.Limit(simulations=60))
    assert search.in_flight == 0
    search.tree.check((-1, 1))
    assert (search._driver.scratch.work.answers[int(search._driver.control[0]["answered"]) :] == NONE).all()
    held = search.simulations
    search.run(tt.Limit(simulations=60 - held))
    undisturbed = tt.Search(
        "tic_tac_toe", tt.puct(c=1.0, tie_break=lambda actions: actions[0]), evaluator=Flat(), seed=1
    )
    undisturbed.run(tt.Limit(simulations=60))
    search.tree.check((-1, 1))
    assert search.simulations == undisturbed.simulations


def test_what_was_asked_for_may_be_answered_in_any_order():
    search = make("solver", moves="b2 a1")
    waiting, limit, rng = [], tt.Limit(simulations=150), random.Random(2)
    while batch := search.ask(4, limit):
        waiting.append(batch)
        if len(waiting) > 3 or not len(batch):
            rng.shuffle(waiting)
            while waiting:
                reported = waiting.pop()
                search.tell(reported, *search.evaluator.evaluate(reported))
    for batch in waiting:
        search.tell(batch, *search.evaluator.evaluate(batch))
    assert search.solved or search.simulations == 150
    search.tree.check((-1, 1))


@pytest.mark.parametrize("config", [tt.uct(), tt.uct(discount=0.9), tt.puct(normalise=True)], ids=str)
def test_a_search_takes_the_values_it_is_given_and_rolls_nothing_out_itself(config):
    search = tt.Search("tic_tac_toe", config, seed=2)
    for _ in range(30):
        batch = search.ask(1)
        search.tell(batch, np.zeros((1, 9)), np.array([[0.25, -0.25]]))
    assert search.result().values[0] == pytest.approx(0.25, abs=0.15)
    assert search.result().values[0] > 0.1
