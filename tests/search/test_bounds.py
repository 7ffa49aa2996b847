"""A bounded tree, a bounded counter and bounded limits: nothing is ever written past the end, and everything ends."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt
from tests.own_games import ThreeNim, start
from tests.search.fragile_games import NO_ACTIONS, RAISES_IN_THE_LIST, Countdown


class Flat:
    name = "flat"

    def evaluate(self, batch):
        return np.zeros((len(batch), batch.game.facts.num_actions)), np.zeros(len(batch))


@pytest.mark.parametrize(
    ("game", "bound"), [("tic_tac_toe", 20), ("tic_tac_toe", 47), ("connect_four", 100), ("nim(stones=21)", 50)]
)
@pytest.mark.parametrize(
    "evaluator", [tt.evaluators.Uniform(), tt.Rollout(), Flat()], ids=["uniform", "rollout", "python"]
)
@pytest.mark.parametrize("expand_after", [0, 1])
def test_a_bounded_tree_stays_within_its_bound(game, bound, evaluator, expand_after):
    search = tt.Search(game, tt.puct(c=1.0, max_nodes=bound, expand_after=expand_after), evaluator=evaluator, seed=1)
    for _ in range(40):
        search.run(tt.Limit(simulations=100))
        assert search.tree.size <= search.tree.columns.capacity <= bound
        search.tree.check((-1, 1))
    assert search.simulations == 4000


def test_overlapping_batches_in_a_bounded_tree_wait_instead_of_failing():
    search = tt.Search("tic_tac_toe", tt.puct(c=1.0, max_nodes=40), evaluator=Flat(), seed=1)
    flat = Flat()
    open_batches = []
    for turn in range(400):
        open_batches.append(search.ask(3))
        if turn % 3 == 2 or not len(open_batches[-1]):
            for batch in open_batches:
                search.tell(batch, *flat.evaluate(batch))
            open_batches.clear()
    for batch in open_batches:
        search.drop(batch)
    assert search.tree.size <= 40
    search.tree.check((-1, 1))


def test_a_search_stops_before_its_counters_overflow():
    search = tt.Search(start("nim", heap=3), seed=1)
    search.run(tt.Limit(simulations=1000))
    missing = 2**31 - 2 - search.simulations - 500
    search.tree.columns.stats["visits"][0] += missing
    result = search.run(tt.Limit(simulations=10_000))
    assert search.simulations == 2**31 - 2
    assert result.simulations == 500
    assert not search.ask(4)


def test_a_limit_in_nodes_ends_when_the_tree_cannot_grow():
    search = tt.Search(start("nim", heap=3), seed=1)
    search.run(tt.Limit(nodes=1000))
    assert search.tree.size < 20


def test_rewards_that_a_game_does_not_write_are_zero():
    tt.check(ThreeNim, games=50)  # its rewards name the winner and leave the others out
    result = tt.search(ThreeNim, simulations=2000)
    assert sum(result.values) == pytest.approx(1.0)


def test_dropped_leaves_do_not_count_against_a_limit():
    search = tt.Search("connect_four", tt.puct(), evaluator=Flat(), seed=1)
    flat, turn = Flat(), 0
    while batch := search.ask(8, tt.Limit(simulations=80)):
        turn += 1
        if turn % 2:
            search.drop(batch)
        else:
            search.tell(batch, *flat.evaluate(batch))
    assert search.simulations == 80


def drive(search):
    for _ in range(50):
        batch = search.ask(8)
        search.tell(batch, *tt.evaluators.Uniform().evaluate(batch))


def test_a_game_that_fails_while_a_batch_is_absorbed_leaves_nothing_in_flight():
    for fault in (NO_ACTIONS, RAISES_IN_THE_LIST):
        search = tt.Search(start(Countdown, fault=fault), tt.puct(), evaluator=tt.evaluators.Uniform(), seed=1)
        with pytest.raises(tt.errors.GameError):
            drive(search)
        assert search.in_flight == 0
        search.tree.check()
        search.advance(0)


def test_every_tie_in_a_batch_asks_the_hook():
    seen = []

    def first(actions):
        seen.append(tuple(actions))
        return actions[0]

    search = tt.Search("tic_tac_toe", tt.puct(c=1.0, tie_break=first), evaluator=Flat(), seed=1)
    batch = search.ask(1)
    search.tell(batch, *Flat().evaluate(batch))
    assert len(search.ask(4)) == 4
    assert [len(actions) for actions in seen] == [9, 8, 7, 6]


@pytest.mark.parametrize("fail_at", range(3, 12))
def test_an_exception_in_the_hook_leaves_no_answer_behind(fail_at):
    calls = []

    def hook(actions):
        calls.append(tuple(actions))
        if len(calls) == fail_at:
            raise RuntimeError("no idea")
        return actions[0]

    search = tt.Search("tic_tac_toe", tt.uct(tie_break=hook), seed=1)
    with pytest.raises(RuntimeError):
        search.run(tt.Limit(simulations=500))
    machine = search._driver
    assert not (machine.scratch.work.answers[machine.control[0]["answered"] :] != -1).any()
    search.run(tt.Limit(simulations=500))
    undisturbed = tt.Search("tic_tac_toe", tt.uct(tie_break=lambda actions: actions[0]), seed=1)
    undisturbed.run(tt.Limit(simulations=search.simulations))
    assert search.result().visits == undisturbed.result().visits
    search.tree.check((-1, 1))
