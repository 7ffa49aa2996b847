"""Tic-tac-toe, all of it: every reachable position, against exhaustive search."""

from __future__ import annotations

import pytest

import treetop as tt
from treetop.oracle.exhaustive import Exhaustive, reachable


@pytest.fixture(scope="module")
def oracle():
    exact = Exhaustive()
    start = tt.position("tic_tac_toe")
    exact.values(start)
    return exact, [position for position in reachable(start) if not position.is_terminal]


def test_tic_tac_toe_is_a_draw(oracle):
    assert oracle[0].values(tt.position("tic_tac_toe")) == (0.0, 0.0)


def test_two_thousand_simulations_keep_the_value_of_every_position(oracle):
    exact, positions = oracle
    assert len(positions) == 4520
    tricky = kept = 0
    decided, right = [0, 0], [0, 0]
    for index, position in enumerate(positions):
        player = position.player
        value = exact.values(position)[player]
        best = exact.best_actions(position)
        wrong_exists = len(best) < len(position.legal_actions())
        result = tt.search(position, tt.uct(stop_when_forced=False), simulations=2000, seed=index)
        if wrong_exists:
            tricky += 1
            kept += result.action in best
        if value != 0:
            decided[player] += 1
            right[player] += (result.value > 0) == (value > 0)
    assert (tricky, sum(decided)) == (3191, 3468)
    assert kept / tricky >= 0.999
    for player in (0, 1):
        assert right[player] / decided[player] >= 0.99
    print(f"kept {kept} of {tricky}; right sign {right} of {decided}")
