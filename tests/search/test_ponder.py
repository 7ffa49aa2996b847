"""Thinking on the opponent's time."""

from __future__ import annotations

import time

import pytest

import treetop as tt


def test_pondering_searches_while_the_caller_waits_and_the_tree_is_kept():
    search = tt.Search("tic_tac_toe", tt.uct(), seed=1)
    with search.pondering(tt.Limit(simulations=5000)) as thinking:
        deadline = time.monotonic() + 60
        while thinking._thread.is_alive() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert thinking.simulations == search.simulations == 5000
    search.tree.check((-1, 1))
    search.advance("b2")
    assert search.simulations > 1000


def test_the_end_of_the_block_ends_the_thinking():
    search = tt.Search("connect_four", tt.uct(), seed=1)
    with search.pondering() as thinking:
        time.sleep(0.05)
    assert not thinking._thread.is_alive()
    assert search.simulations == thinking.simulations > 0
    assert search.run(tt.Limit(simulations=100)).simulations == 100


def test_nothing_else_is_asked_of_a_search_that_ponders():
    search = tt.Search("connect_four", tt.uct(), seed=1)
    with search.pondering():
        for ask in (
            search.result,
            lambda: search.advance("4"),
            lambda: search.run(tt.Limit(simulations=1)),
            lambda: search.save("x"),
            lambda: search.ask(1),
        ):
            with pytest.raises(tt.errors.SearchError, match="ponders"):
                ask()


def test_a_failure_in_the_background_is_reported_where_the_block_ends():
    class Broken:
        def evaluate(self, batch):
            raise RuntimeError("no answer")

    search = tt.Search("connect_four", tt.puct(), evaluator=Broken(), seed=1)
    with pytest.raises(RuntimeError, match="no answer"), search.pondering():
        time.sleep(0.2)
    assert search.in_flight == 0


def test_pondering_and_running_make_the_same_tree():
    pondered, ran = (tt.Search("connect_four", tt.uct(), seed=5) for _ in range(2))
    with pondered.pondering(tt.Limit(simulations=3000)) as thinking:
        thinking._thread.join(60)
    ran.run(tt.Limit(simulations=3000))
    assert pondered.result().visits == ran.result().visits


def test_pondering_ends_by_itself_when_the_position_is_proven():
    search = tt.Search(tt.position("tic_tac_toe", moves="a1 b1"), tt.uct(solver=True), seed=1)
    with search.pondering() as thinking:
        thinking._thread.join(60)
        assert not thinking._thread.is_alive()
    assert search.solved
    assert search.result().proof.outcome == "win"


def test_noise_and_schedules_are_in_place_while_pondering():
    search = tt.Search("tic_tac_toe", tt.puct(noise=0.25), evaluator=tt.evaluators.Uniform(), seed=1)
    with search.pondering(tt.Limit(simulations=50)) as thinking:
        thinking._thread.join(60)
    ran = tt.search("tic_tac_toe", tt.puct(noise=0.25), evaluator=tt.evaluators.Uniform(), seed=1, simulations=50)
    assert search.result().visits == ran.visits
    assert search.result().priors.tolist() == ran.priors.tolist()


def test_a_search_that_plans_its_simulations_ponders_without_planning_millions():
    search = tt.Search("tic_tac_toe", tt.gumbel(), seed=1)
    search.prepare()
    began = time.process_time()
    with search.pondering():
        time.sleep(0.05)
    assert time.process_time() - began < 0.5
    search.advance("b2")
    assert search.run(tt.Limit(simulations=40)).simulations == 40


def test_an_error_in_the_block_is_the_one_that_is_reported():
    search = tt.Search("tic_tac_toe", tt.uct(), seed=1)
    with pytest.raises(ZeroDivisionError), search.pondering():
        raise ZeroDivisionError
    assert search.run(tt.Limit(simulations=10)).simulations == 10
    search.tree.check((-1, 1))


def test_one_may_ponder_again_and_again():
    search = tt.Search("tic_tac_toe", tt.uct(), seed=1)
    for turn in range(1, 4):
        with search.pondering(tt.Limit(simulations=500)) as thinking:
            thinking._thread.join(60)
        assert search.simulations == 500 * turn
    with search.pondering(), pytest.raises(tt.errors.SearchError, match="ponders"):
        search.pondering().__enter__()
