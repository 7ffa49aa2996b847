"""Sailing: the costs of each leg, the winds, and the best courses by value iteration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tests.games.both_modes import frequencies, play_in_both_modes
from treetop.errors import UnknownGameError
from treetop.game import CHANCE
from treetop.games.sailing import sailing

COURSES = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]
"""North and east of each."""
N, NE, E, SE, S, SW, W, NW = range(8)
STAYS = [0.4, 0.3, 0.3, 0.3, 0.2, 0.3, 0.3, 0.3]
FREE, ONE_SIDE, OTHER_SIDE = range(3)


def chances(wind):
    """The winds that may follow, from the table of the classic problem: how likely the eighth before, the same and the eighth after are."""
    if wind == N:
        return {NW: 0.3, N: 0.4, NE: 0.3}
    after = {S: 0.4, SW: 0.4, W: 0.4, NW: 0.4}.get(wind, 0.3)
    before = {SW: 0.3, W: 0.3, NW: 0.3}.get(wind, 0.4)
    return {(wind - 1) % 8: before, wind: STAYS[wind], (wind + 1) % 8: after}


def leg(size, place, course, wind, tack):
    """Where a leg leads, its cost and the tack after it; None where it cannot be sailed."""
    north, east = place[0] + COURSES[course][0], place[1] + COURSES[course][1]
    angle = (course - wind) % 8
    if angle == 4 or not (0 <= north < size and 0 <= east < size):
        return None
    side = FREE if angle == 0 else ONE_SIDE if angle < 4 else OTHER_SIDE
    cost = (1 + min(angle, 8 - angle)) * math.hypot(*COURSES[course])
    return (north, east), cost + (3 if {side, tack} == {ONE_SIDE, OTHER_SIDE} else 0), side


def best_courses(size, legs):
    """The least cost to the goal for each (place, wind, tack) by value iteration; `legs` gives the possible legs of each."""
    places = list(itertools.product(range(size), repeat=2))
    states = [(place, wind, tack) for place in places for wind in range(8) for tack in range(3)]
    moves = {state: legs(*state) for state in states}
    values = dict.fromkeys(states, 0.0)
    while True:
        change = 0.0
        for state in states:
            if state[0] == (size - 1, size - 1):
                continue
            value = min(
                cost + sum(chance * values[place, wind, tack] for wind, chance in winds.items())
                for place, cost, tack, winds in moves[state]
            )
            change = max(change, abs(value - values[state]))
            values[state] = value
        if change < 1e-10:
            return values


def set_up(game, place, wind, tack):
    state = game()
    state.north, state.east = place
    state.wind, state.tack, state.turning = wind, tack, False
    return state


def listed(state):
    out = np.zeros(8, np.int32)
    return [int(action) for action in out[: state.legal_actions(out)]]


def by_the_game(game):
    def legs(place, wind, tack):
        state = set_up(game, place, wind, tack)
        if state.is_terminal():
            return []
        found = []
        for course in listed(state):
            after = state.copy()
            after.apply(course)
            out, likely, earned = np.zeros(8, np.int32), np.zeros(8), np.zeros(1)
            after.step_rewards(earned)
            number = after.chance_outcomes(out, likely)
            winds = {int(wind): float(chance) for wind, chance in zip(out[:number], likely[:number], strict=True)}
            found.append(((after.north, after.east), -earned[0], after.tack, winds))
        return found

    return legs


def by_the_book(size):
    def legs(place, wind, tack):
        found = (leg(size, place, course, wind, tack) for course in range(8))
        return [(*one, chances(wind)) for one in found if one]

    return legs


@pytest.mark.parametrize("size", [3, 5])
def test_the_best_courses_are_what_value_iteration_finds(size):
    found, expected = best_courses(size, by_the_game(sailing(size=size))), best_courses(size, by_the_book(size))
    for state, value in expected.items():
        assert found[state] == pytest.approx(value, abs=1e-7)
    assert 2.0 < np.mean([expected[(0, 0), wind, FREE] for wind in range(8)]) / (size - 1) < 5.0


def test_the_first_wind_may_be_any():
    state = sailing()()
    assert state.current_player() == CHANCE
    out, likely = np.zeros(8, np.int32), np.zeros(8)
    assert state.chance_outcomes(out, likely) == 8
    assert np.allclose(likely, 0.125)


@pytest.mark.parametrize("wind", range(8))
def test_the_wind_stays_or_turns_by_an_eighth_as_the_table_says(wind):
    game = sailing(size=3)
    state = set_up(game, (1, 1), wind, FREE)
    state.apply(wind)
    if state.is_terminal():
        state = set_up(game, (1, 1), wind, FREE)
        state.apply((wind + 1) % 8)
    out, likely = np.zeros(8, np.int32), np.zeros(8)
    number = state.chance_outcomes(out, likely)
    assert {
        int(one): round(float(chance), 9) for one, chance in zip(out[:number], likely[:number], strict=True)
    } == chances(wind)
    shares = frequencies(game, state, "random_outcome", 3000, seed=wind)
    assert np.allclose(shares[out[:number]], likely[:number], atol=0.04)
    assert sum(shares) == pytest.approx(sum(shares[out[:number]]))


@pytest.mark.parametrize(
    ("course", "cost"),
    [(N, 1.0), (NE, 2 * 2**0.5), (E, 3.0), (SE, 4 * 2**0.5), (SW, 4 * 2**0.5), (W, 3.0), (NW, 2 * 2**0.5)],
)
def test_a_leg_costs_by_its_angle_to_the_wind(course, cost):
    state = set_up(sailing(size=3), (1, 1), N, FREE)
    state.apply(course)
    assert state.cost == pytest.approx(cost)


def test_no_leg_goes_against_the_wind_or_off_the_lake():
    assert listed(set_up(sailing(size=3), (1, 1), N, FREE)) == [N, NE, E, SE, SW, W, NW]
    assert listed(set_up(sailing(size=3), (0, 0), S, FREE)) == [NE, E]


def test_changing_the_side_of_the_sail_costs_three_and_sailing_before_the_wind_frees_it():
    game = sailing(size=5)
    assert set_up(game, (2, 2), N, ONE_SIDE).cost_of(W) == 6.0
    assert set_up(game, (2, 2), N, ONE_SIDE).cost_of(E) == 3.0
    assert set_up(game, (2, 2), N, ONE_SIDE).cost_of(N) == 1.0
    assert set_up(game, (2, 2), N, FREE).cost_of(W) == 3.0


def test_the_trip_ends_at_the_goal_or_after_its_last_leg():
    state = set_up(sailing(size=2), (0, 0), NE, FREE)
    state.apply(NE)
    assert state.is_terminal()
    short = set_up(sailing(size=5, horizon=2), (0, 0), NE, FREE)
    short.apply(N)
    assert not short.is_terminal()
    short.apply(N)
    short.apply(S)
    assert short.is_terminal()


@pytest.mark.parametrize("rolling", [False, True])
def test_both_modes_play_the_same_games(rolling):
    returns, _ = play_in_both_modes(sailing(size=5), 6, seed=1, rolling=rolling)
    assert returns.max() < -4


def test_the_rollout_makes_for_the_goal():
    rolled, _ = play_in_both_modes(sailing(size=6), 12, seed=2, rolling=True)
    at_random, _ = play_in_both_modes(sailing(size=6), 6, seed=2)
    assert rolled.mean() > at_random.mean() / 3


@pytest.mark.parametrize("parameters", [{"size": 1}, {"size": 2.0}, {"horizon": 0}])
def test_parameters_out_of_range_are_refused(parameters):
    with pytest.raises(UnknownGameError):
        sailing(**parameters)
