"""Nim for three."""

from __future__ import annotations

import pytest

import treetop as tt


def test_the_players_take_turns_and_the_last_stone_wins():
    position = tt.position("nim_three(stones=4)")
    seats = [position.player]
    for move in "1", "1", "1":
        position = position.play(move)
        seats.append(position.player)
    assert seats == [0, 1, 2, 0]
    assert position.play("1").rewards == [1.0, -1.0, -1.0]
    assert tt.position("nim_three(stones=4)", moves="1 3").rewards == [-1.0, 1.0, -1.0]
    assert tt.position("nim_three(stones=4)", moves="1 1 2").rewards == [-1.0, -1.0, 1.0]


def test_nobody_takes_more_than_there_are():
    assert tt.position("nim_three(stones=2)").legal_moves() == ["1", "2"]
    assert tt.position("nim_three(stones=9, most=5)").legal_moves() == ["1", "2", "3", "4", "5"]


def test_it_is_no_game_of_two_who_share_a_sum():
    facts = tt.load_game("nim_three").facts
    assert (facts.players, facts.zero_sum, facts.rewards) == (3, False, (-1.0, 1.0))


@pytest.mark.parametrize("parameters", ["stones=0", "stones=10001", "most=0", "most=101", "stones=2.0"])
def test_parameters_out_of_range_are_refused(parameters):
    with pytest.raises(tt.errors.UnknownGameError):
        tt.load_game(f"nim_three({parameters})")
