"""Backgammon here and at OpenSpiel: the same turns from the same positions, and the same pips."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from treetop.game import CHANCE
from treetop.games.backgammon import backgammon

pyspiel = pytest.importorskip("pyspiel")

BAR, CHECKERS = 25, 15
THEIR_BAR = 100


def board_of(state):
    """OpenSpiel's board in our numbers: both players count from their own side."""
    checkers = np.zeros((2, 26), np.int64)
    for place in range(24):
        checkers[0, 24 - place] = state.board(0, place)
        checkers[1, place + 1] = state.board(1, place)
    for player in (0, 1):
        checkers[player, BAR] = state.board(player, THEIR_BAR)
        checkers[player, 0] = CHECKERS - checkers[player].sum()
    return checkers


def frozen(checkers):
    return tuple(tuple(int(count) for count in row) for row in checkers)


def their_turns(state):
    """The boards that a turn may end with, at OpenSpiel: doubles are two actions."""
    player, waiting, ends = state.current_player(), [state], set()
    while waiting:
        one = waiting.pop()
        if one.is_terminal() or one.current_player() != player:
            ends.add(frozen(board_of(one)))
        else:
            waiting.extend(one.child(action) for action in one.legal_actions())
    return ends


def our_turns(checkers, player, high, low):
    """The same here, where a turn is made of single moves."""
    state = backgammon()()
    state.set_up(checkers, player, high, low)
    if state.current_player() == CHANCE:
        return {frozen(checkers)}
    out, waiting, seen, ends = np.zeros(50, np.int32), [state], set(), set()
    turn = state.turns
    while waiting:
        one = waiting.pop()
        if one.turns != turn or one.is_terminal():
            ends.add(frozen(np.array(one.checkers)))
        elif one._states.tobytes() not in seen:
            seen.add(one._states.tobytes())
            for action in [int(action) for action in out[: one.legal_actions(out)]]:
                following = one.copy()
                following.apply(action)
                waiting.append(following)
    return ends


def positions(count, seed):
    """Positions of OpenSpiel's random games in which a turn begins, at some distance from each other."""
    chosen = random.Random(seed)
    game = pyspiel.load_game("backgammon")
    found = 0
    while found < count:
        state = game.new_initial_state()
        begins = True
        while not state.is_terminal():
            if state.is_chance_node():
                actions, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(chosen.choices(actions, weights)[0])
                begins = True
                continue
            if begins and found < count and chosen.random() < 0.2:
                found += 1
                yield state.clone()
            begins = False
            state.apply_action(chosen.choice(state.legal_actions()))


def compare(count, seed):
    differing = []
    for state in positions(count, seed):
        dice = sorted(int(die) for die in re.search(r"Dice: (\d)(\d)", str(state)).groups())
        checkers = board_of(state)
        player = state.current_player()
        if our_turns(checkers, player, dice[1], dice[0]) != their_turns(state):
            differing.append(str(state))
    return differing


def test_the_turns_of_60_positions_are_those_of_openspiel():
    assert compare(60, seed=1) == []


@pytest.mark.slow
def test_the_turns_of_1000_positions_are_those_of_openspiel():
    assert compare(1000, seed=2) == []


def test_pips_are_those_of_openspiel_s_board():
    for state in positions(60, seed=3):
        ours = backgammon()()
        ours.set_up(board_of(state), state.current_player(), 0, 0)
        for player in (0, 1):
            steps = sum((24 - place if player == 0 else place + 1) * state.board(player, place) for place in range(24))
            assert ours.pips(player) == steps + 25 * state.board(player, THEIR_BAR)
