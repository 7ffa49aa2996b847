from __future__ import annotations

import numpy as np
import pytest

import treetop as tt


def uniform(batch):
    return tt.evaluators.Uniform().evaluate(batch)


class Heuristic:
    """A network's stand-in: values and logits from the state's own bytes, deterministic."""

    name = "heuristic"

    def __init__(self):
        self.calls = 0

    def evaluate(self, batch):
        self.calls += 1
        raw = np.frombuffer(batch.states.tobytes(), np.uint8).reshape(len(batch), -1).astype(float)
        values = np.sin(raw @ np.arange(1, raw.shape[1] + 1))
        logits = np.cos(np.outer(raw.sum(axis=1) + 1, np.arange(batch.game.facts.num_actions)))
        return logits, values


def drive(search, size, limit, evaluate):
    batches = []
    while batch := search.ask(size, limit):
        batches.append(len(batch))
        search.tell(batch, *evaluate(batch))
    return batches


def test_ask_and_tell_reach_the_limit_exactly():
    search = tt.Search("connect_four", tt.puct(), evaluator=tt.evaluators.Uniform(), seed=1)
    sizes = drive(search, 64, tt.Limit(simulations=800), uniform)
    assert search.simulations == 800
    assert max(sizes) <= 64
    search.tree.check((-1, 1))
    assert not search.tree.columns.in_flight[: search.tree.size].any()


def test_one_leaf_at_a_time_is_the_sequential_search():
    plain = tt.Search("connect_four", tt.puct(c=1.5), evaluator=tt.evaluators.Uniform(), seed=4)
    plain.run(tt.Limit(simulations=400))
    asked = tt.Search("connect_four", tt.puct(c=1.5), evaluator=tt.evaluators.Uniform(), seed=4)
    drive(asked, 1, tt.Limit(simulations=400), uniform)
    assert asked.result().visits == plain.result().visits


def test_the_leaves_of_a_batch_are_distinct():
    search = tt.Search("connect_four", tt.puct(c=2.0), evaluator=tt.evaluators.Uniform(), seed=1)
    drive(search, 1, tt.Limit(simulations=200), uniform)
    batch = search.ask(16)
    assert len(batch) > 4
    assert len({position.record.tobytes() for position in batch}) == len(batch)
    search.drop(batch)


def test_a_dropped_batch_leaves_no_trace():
    search = tt.Search("connect_four", tt.puct(), evaluator=tt.evaluators.Uniform(), seed=1)
    drive(search, 8, tt.Limit(simulations=300), uniform)
    before = search.tree.columns.stats[: search.tree.size].tobytes()
    for _ in range(10):
        batch = search.ask(8)
        assert search.in_flight == len(batch) > 0
        search.drop(batch)
    assert search.in_flight == 0
    assert not search.tree.columns.in_flight[: search.tree.size].any()
    assert search.tree.columns.stats[: search.tree.size].tobytes() == before
    search.tree.check((-1, 1))


def test_an_evaluator_that_raises_loses_nothing():
    class Flaky(Heuristic):
        def evaluate(self, batch):
            if self.calls == 3:
                self.calls += 1
                raise OSError("the network is down")
            return super().evaluate(batch)

    search = tt.Search("connect_four", tt.puct(), evaluator=Flaky(), seed=1)
    with pytest.raises(OSError, match="network is down"):
        search.run(tt.Limit(simulations=500))
    search.tree.check((-1, 1))
    before = search.simulations
    assert before > 0
    search.run(tt.Limit(simulations=200))
    assert search.simulations == before + 200
    search.tree.check((-1, 1))


def test_an_evaluator_in_python_gives_priors_and_values():
    evaluator = Heuristic()
    search = tt.Search("connect_four", tt.puct(), evaluator=evaluator, seed=1)
    result = search.run(tt.Limit(simulations=300))
    assert evaluator.calls > 1
    assert result.priors.sum() == pytest.approx(1, abs=1e-5)
    assert len(set(result.priors.round(6))) > 3
    search.tree.check((-1, 1))
    again = tt.Search("connect_four", tt.puct(), evaluator=Heuristic(), seed=1).run(tt.Limit(simulations=300))
    assert again.visits == result.visits


def test_one_value_a_state_is_for_the_player_to_move():
    search = tt.Search("tic_tac_toe", tt.puct(), evaluator=tt.evaluators.Uniform(), seed=1)
    batch = search.ask(1)
    search.tell(batch, np.zeros((1, 9)), np.array([0.25]))
    assert search.tree.totals.tolist() == [0.25, -0.25]
    batch = search.ask(1)  # now the second player is to move
    assert batch.players.tolist() == [1]
    search.tell(batch, np.zeros((1, 9)), np.array([0.5]))
    assert search.tree.totals.tolist() == [-0.25, 0.25]


def test_impossible_moves_may_have_logits_of_minus_infinity():
    search = tt.Search("tic_tac_toe", tt.puct(), evaluator=tt.evaluators.Uniform(), seed=1)
    logits = np.full((1, 9), -np.inf)
    logits[0, 4] = 0.0
    search.tell(search.ask(1), logits, [0.0])
    assert [child.prior for child in search.tree.root.children] == [0, 0, 0, 0, 1, 0, 0, 0, 0]


def test_bad_evaluations_are_refused_and_nothing_is_lost():
    search = tt.Search("tic_tac_toe", tt.puct(), evaluator=tt.evaluators.Uniform(), seed=1)
    batch = search.ask(1)
    good = np.zeros((1, 9))
    for logits, values in (
        (np.zeros((1, 8)), [0.0]),
        (np.zeros((2, 9)), [0.0]),
        (np.full((1, 9), np.nan), [0.0]),
        (good, [np.nan]),
        (good, [np.inf]),
        (good, [[0.0, 0.0, 0.0]]),
        (good, [0.0, 1.0]),
    ):
        with pytest.raises(tt.errors.ConfigError):
            search.tell(batch, logits, values)
    search.tell(batch, good, [0.0])
    assert search.simulations == 1
    with pytest.raises(tt.errors.SearchError, match="absorbed or dropped before"):
        search.tell(batch, good, [0.0])
    with pytest.raises(tt.errors.ConfigError):
        search.ask(0)


def test_tickets_in_flight_block_what_would_void_them(tmp_path):
    search = tt.Search("tic_tac_toe", tt.puct(), evaluator=tt.evaluators.Uniform(), seed=1)
    search.run(tt.Limit(simulations=50))
    batch = search.ask(4)
    for call in (
        lambda: search.run(tt.Limit(simulations=1)),
        lambda: search.advance("b2"),
        lambda: search.save(tmp_path / "x"),
    ):
        with pytest.raises(tt.errors.SearchError, match="in flight"):
            call()
    search.drop(batch)
    search.advance("b2")
    with pytest.raises(tt.errors.SearchError):
        search.drop(batch)


def test_a_batch_of_an_earlier_tree_is_void():
    search = tt.Search("tic_tac_toe", tt.puct(), evaluator=tt.evaluators.Uniform(), seed=1)
    batch = search.ask(1)
    search.tree.clear()
    with pytest.raises(tt.errors.SearchError, match="void"):
        search.tell(batch, np.zeros((1, 9)), [0.0])


def test_everything_in_flight_gives_an_empty_batch_that_asks_for_more():
    search = tt.Search("tic_tac_toe", tt.puct(), evaluator=tt.evaluators.Uniform(), seed=1)
    first = search.ask(4)
    assert len(first) == 1  # there is only the root
    second = search.ask(4)
    assert (len(second), bool(second)) == (0, True)
    search.tell(second, np.zeros((0, 9)), np.zeros((0, 2)))
    search.tell(first, np.zeros((1, 9)), [0.0])


def test_a_bounded_tree_works_with_an_evaluator_in_python():
    search = tt.Search("connect_four", tt.puct(max_nodes=400), evaluator=Heuristic(), seed=1)
    search.run(tt.Limit(simulations=2000))
    assert search.tree.size <= 400
    search.tree.check((-1, 1))


def test_ties_can_be_broken_by_a_hook_while_asking():
    search = tt.Search(
        "tic_tac_toe", tt.puct(tie_break=lambda actions: actions[-1]), evaluator=tt.evaluators.Uniform(), seed=1
    )
    drive(search, 1, tt.Limit(simulations=2), uniform)
    assert search.result().visits[8] == 1


def test_rollouts_can_be_asked_for_too():
    search = tt.Search("tic_tac_toe", tt.uct(), seed=1)
    drive(search, 4, tt.Limit(simulations=100), uniform)
    assert search.simulations == 100
    search.run(tt.Limit(simulations=100))
    search.tree.check((-1, 1))
