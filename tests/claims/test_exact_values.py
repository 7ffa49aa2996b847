"""Searches of bundled games with chance, immediate rewards and three players, against exact answers."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.own_games import start
from treetop.oracle.exhaustive import Exhaustive
from treetop.oracle.value_iteration import ValueIteration


def searched(position, config, simulations, evaluator=None, seed=1):
    search = tt.Search(position, config, evaluator=evaluator, seed=seed)
    result = search.run(tt.Limit(simulations=simulations))
    search.tree.check()
    return result


def test_cliff_walking_goes_along_the_edge_and_down_to_the_goal():
    position = start("cliff_walking", steps=184).play([0] + 9 * [1])  # of 200
    exact = ValueIteration(position)
    while not position.is_terminal:
        result = searched(position, tt.uct(c=1.0, backup="max"), 50_000)
        assert result.action in exact.best_actions(position)
        position = position.apply(result.action)
    assert position.returns == [-13.0]


def test_a_slippery_cliff_is_worth_what_value_iteration_says():
    position = tt.position("cliff_walking(slippery=True, horizon=12)")
    exact = ValueIteration(position)
    result = searched(position, tt.uct(c=0.5), 200_000)
    best = exact.action_values(position)
    assert best[result.action] >= exact.value(position) - 0.5


def test_sailing_agrees_with_value_iteration():
    position = tt.position("sailing(size=3, horizon=10)").resolve_chance(tt.Rng(1))
    exact = ValueIteration(position)
    result = searched(position, tt.uct(c=0.5), 100_000, tt.Rollout(policy="game"))
    assert exact.action_values(position)[result.action] == pytest.approx(exact.value(position), rel=0.03)
    assert result.value == pytest.approx(exact.value(position), rel=0.1)


def test_blackjack_decisions_are_the_best_ones():
    for seed in range(6):
        position = tt.position("blackjack").resolve_chance(tt.Rng(seed))
        if position.is_terminal:
            continue
        exact = ValueIteration(position)
        values = exact.action_values(position)
        result = searched(position, tt.uct(c=1.0), 60_000)
        assert values[result.action] == pytest.approx(exact.value(position), abs=0.03)
        assert result.value == pytest.approx(exact.value(position), abs=0.05)


@pytest.mark.parametrize("heap", [2, 3, 4])
def test_three_players_find_what_exhaustive_search_says(heap):
    # Of more stones than these, players who lose in any case decide who wins: there is more than one right answer.
    position, exact = start("nim_three", heap=heap), Exhaustive(10**6)
    result = searched(position, tt.uct(c=0.7), 20_000)
    assert result.values == pytest.approx(exact.values(position), abs=0.01)
    assert result.action in exact.best_actions(position)
