"""Matching pennies, plain and with a bias."""

from __future__ import annotations

import pytest

import treetop as tt


@pytest.mark.parametrize(
    ("weight", "moves", "won"),
    [
        (1, "heads/heads", 1),
        (3, "heads/heads", 3),
        (3, "tails/tails", 1),
        (3, "heads/tails", -1),
        (3, "tails/heads", -1),
    ],
)
def test_equal_sides_win_for_player_0_and_unequal_ones_for_player_1(weight, moves, won):
    over = tt.position(f"matching_pennies(weight={weight})", moves=moves)
    assert over.is_terminal
    assert over.rewards == [won, -won]


def test_both_move_simultaneously_and_the_game_is_over():
    start = tt.position("matching_pennies")
    assert start.player == tt.SIMULTANEOUS
    assert start.legal_moves() == ["heads/heads", "heads/tails", "tails/heads", "tails/tails"]
    assert start.game.facts.max_length == 1
    assert str(start) == "both hide a coin"
    assert str(start.play("heads/tails")) == "shown: heads and tails"


@pytest.mark.parametrize("weight", ["0", "-1", "True", "'1'", "1001", "float('nan')"])
def test_weights_out_of_range_are_refused(weight):
    with pytest.raises(tt.errors.UnknownGameError):
        tt.load_game(f"matching_pennies(weight={weight})")
