"""Cliff walking: the world, and its best walks by dynamic programming over the steps left."""

from __future__ import annotations

import numpy as np
import pytest

from tests.games.both_modes import play_in_both_modes
from treetop.errors import UnknownGameError
from treetop.game import CHANCE
from treetop.games.cliff_walking import cliff_walking

START, GOAL = 36, 47
UP, RIGHT, DOWN, LEFT = range(4)


def walked(cell, direction):
    """Where a step leads, and what it earns."""
    row, column = divmod(cell, 12)
    down, right = ((-1, 0), (0, 1), (1, 0), (0, -1))[direction]
    row, column = min(3, max(0, row + down)), min(11, max(0, column + right))
    return (START, -100) if row == 3 and 0 < column < 11 else (12 * row + column, -1)


def best_walks(horizon, slippery):
    """values[n][cell]: the most that can be earned from a cell with n steps left."""
    values = [[0.0] * 48]
    for _ in range(horizon):
        row = []
        for cell in range(48):
            after = [reward + values[-1][to] for to, reward in (walked(cell, direction) for direction in range(4))]
            ways = (
                [sum(after[(action + slip) % 4] for slip in (-1, 0, 1)) / 3 for action in range(4)]
                if slippery
                else after
            )
            row.append(0.0 if cell == GOAL else max(ways))
        values.append(row)
    return values


def earned(state):
    out = np.zeros(1)
    state.step_rewards(out)
    return out[0]


def by_the_game(game, horizon):
    """The same by the game's own states, from the last step back to the first."""
    values = {}

    def worth(state):
        if state.is_terminal():
            return 0.0
        key = int(state.key())
        if key not in values:
            found = []
            chance = state.current_player() == CHANCE
            for action in range(3 if chance else 4):
                after = state.copy()
                after.apply(action)
                found.append(earned(after) + worth(after))
            values[key] = sum(found) / 3 if chance else max(found)
        return values[key]

    result = np.zeros((horizon, 48))
    for steps in reversed(range(horizon)):
        for cell in [*range(START + 1), GOAL]:
            state = game()
            state.cell, state.steps = cell, steps
            result[steps, cell] = worth(state)
    return result


@pytest.mark.parametrize(("slippery", "horizon"), [(False, 20), (True, 12)])
def test_the_best_walks_are_what_dynamic_programming_finds(slippery, horizon):
    values = best_walks(horizon, slippery)
    found = by_the_game(cliff_walking(slippery=slippery, horizon=horizon), horizon)
    cells = [*range(START + 1), GOAL]
    for steps in range(horizon):
        assert np.allclose(found[steps, cells], np.array(values[horizon - steps])[cells])
    if not slippery:
        assert values[20][START] == -13


def test_the_shortest_walk_costs_13():
    state = cliff_walking()()
    total = 0.0
    for action in [UP, *[RIGHT] * 11, DOWN]:
        assert not state.is_terminal()
        state.apply(action)
        total += earned(state)
    assert state.is_terminal()
    assert state.cell == GOAL
    assert total == -13


def test_a_fall_costs_100_and_leads_back_to_the_start():
    state = cliff_walking()()
    for action in (UP, RIGHT, DOWN):
        state.apply(action)
    assert earned(state) == -100
    assert state.cell == START
    assert not state.is_terminal()


def test_at_an_edge_one_stays():
    state = cliff_walking()()
    for action in (LEFT, DOWN):
        state.apply(action)
        assert state.cell == START
        assert earned(state) == -1


def test_the_walk_ends_with_its_last_step():
    state = cliff_walking(horizon=3)()
    for _ in range(3):
        assert not state.is_terminal()
        state.apply(UP)
    assert state.is_terminal()


def test_on_slippery_ground_chance_follows_an_action_and_only_its_outcome_costs():
    state = cliff_walking(slippery=True)()
    state.apply(UP)
    assert state.current_player() == CHANCE
    assert earned(state) == 0
    state.apply(2)
    assert earned(state) == -100
    state.apply(UP)
    state.apply(1)
    assert state.cell == 24
    assert earned(state) == -1


@pytest.mark.parametrize("slippery", [False, True])
def test_both_modes_play_the_same_games(slippery):
    returns, lengths = play_in_both_modes(cliff_walking(slippery=slippery, horizon=60), 10, seed=1)
    assert returns.max() < -13
    assert lengths.max() == 60 * (1 + slippery)


@pytest.mark.parametrize("parameters", [{"slippery": 1}, {"horizon": 0}])
def test_parameters_out_of_range_are_refused(parameters):
    with pytest.raises(UnknownGameError):
        cliff_walking(**parameters)
