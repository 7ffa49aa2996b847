"""Pig: the rules, and the best play of a small game by value iteration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.games.both_modes import play_in_both_modes
from treetop.errors import UnknownGameError
from treetop.game import CHANCE
from treetop.games.pig import pig

ROLL, HOLD = 0, 1


def play(state, *actions):
    for action in actions:
        state.apply(action)
    return state


def legal(state):
    out = np.zeros(2, np.int32)
    return [int(action) for action in out[: state.legal_actions(out)]]


def rewards(state):
    out = np.zeros(2)
    state.rewards(out)
    return list(out)


def best_chances(goal):
    """The chance to win for the player to move with (own points, other's points, this turn's points), by value iteration."""
    states = [
        (own, other, turn) for own, other in itertools.product(range(goal), repeat=2) for turn in range(goal - own)
    ]
    chance = dict.fromkeys(states, 0.5)

    def choices(own, other, turn):
        faces = [1.0 if own + turn + face >= goal else chance[own, other, turn + face] for face in range(2, 7)]
        roll = (1.0 - chance[other, own, 0] + sum(faces)) / 6
        return roll, (1.0 - chance[other, own + turn, 0] if turn else -1.0)

    while True:
        change = 0.0
        for state in states:
            value = max(choices(*state))
            change = max(change, abs(value - chance[state]))
            chance[state] = value
        if change < 1e-12:
            return chance, choices


def test_a_turn_adds_up_until_it_is_kept():
    state = play(pig()(), ROLL, 3, ROLL, 4)
    assert state.turn == 9
    assert list(state.scores) == [0, 0]
    play(state, HOLD)
    assert list(state.scores) == [9, 0]
    assert state.player == 1
    assert state.turn == 0


def test_a_one_takes_the_turn_and_what_it_gave():
    state = play(pig()(), ROLL, 3, ROLL, 0)
    assert list(state.scores) == [0, 0]
    assert state.current_player() == 1


def test_a_turn_has_at_least_one_roll():
    state = pig()()
    assert legal(state) == [ROLL]
    assert legal(play(state, ROLL, 1)) == [ROLL, HOLD]


def test_all_six_faces_are_as_likely():
    state = play(pig()(), ROLL)
    assert state.current_player() == CHANCE
    out, chances = np.zeros(6, np.int32), np.zeros(6)
    assert state.chance_outcomes(out, chances) == 6
    assert list(out) == list(range(6))
    assert np.allclose(chances, 1 / 6)


def test_who_reaches_the_goal_wins_at_once():
    state = play(pig(goal=10)(), ROLL, 5, HOLD, ROLL, 5, ROLL, 2)
    assert not state.is_terminal()
    play(state, ROLL, 1)
    assert state.is_terminal()
    assert rewards(state) == [-1.0, 1.0]


def test_a_game_that_never_ends_is_a_draw():
    state = play(pig(most_rolls=3)(), ROLL, 0, ROLL, 0)
    assert not state.is_terminal()
    play(state, ROLL, 0)
    assert state.is_terminal()
    assert rewards(state) == [0.0, 0.0]


def test_the_best_play_of_a_small_game_is_what_value_iteration_finds():
    """The game's own transitions, iterated, against the same game written down as a table."""
    goal = 10
    chance, _ = best_chances(goal)
    game = pig(goal=goal)
    values = {}

    def value_of(state):
        """The value for player 0 of a state as known so far."""
        if state.is_terminal():
            return rewards(state)[0]
        state.rolls = 0  # the limit is far away
        key = int(state.key())
        if key not in values:
            values[key] = 0.0
            waiting.append(state)
        return values[key]

    def after(state, action):
        following = state.copy()
        following.apply(action)
        return following

    def worth(state):
        if state.current_player() == CHANCE:
            return sum(value_of(after(state, face)) for face in range(6)) / 6
        sign = 1 if state.player == 0 else -1
        return sign * max(sign * value_of(after(state, action)) for action in legal(state))

    waiting = []
    value_of(game())
    states = []
    while waiting:
        states.append(waiting.pop())
        worth(states[-1])
    tables = [
        (
            int(state.key()),
            state.player if state.current_player() != CHANCE else CHANCE,
            [
                (following.is_terminal() and rewards(following)[0], int(following.key()))
                for following in map(
                    _without_rolls, (after(state, action) for action in (range(6) if state.rolling else legal(state)))
                )
            ],
        )
        for state in states
    ]
    for _ in range(400):
        for key, player, following in tables:
            found = [reward or values[other] for reward, other in following]
            values[key] = sum(found) / 6 if player == CHANCE else max(found) if player == 0 else min(found)
    assert len(states) > 500
    for state in states:
        if not state.rolling:
            expected = chance[state.scores[state.player], state.scores[1 - state.player], state.turn]
            assert values[int(state.key())] * (1 if state.player == 0 else -1) == pytest.approx(
                2 * expected - 1, abs=1e-9
            )


def _without_rolls(state):
    state.rolls = 0
    return state


@pytest.mark.parametrize("rolling", [False, True])
def test_both_modes_play_the_same_games(rolling):
    returns, _ = play_in_both_modes(pig(), 8, seed=1, rolling=rolling)
    assert set(returns[:, 0]) == {-1.0, 1.0}
    play_in_both_modes(pig(goal=10, most_rolls=6), 40, seed=2)


@pytest.mark.parametrize("parameters", [{"goal": 1}, {"goal": 2.5}, {"most_rolls": 0}])
def test_parameters_out_of_range_are_refused(parameters):
    with pytest.raises(UnknownGameError):
        pig(**parameters)
