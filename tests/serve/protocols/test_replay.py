"""Positions that are sent anew with each move, and games that go on where ours are over."""

from __future__ import annotations

import pytest

import treetop as tt
from treetop.errors import TreetopError
from treetop.game.position import Position
from treetop.serve.protocols.replay import Replay, resumed


def test_only_new_moves_are_played(monkeypatch):
    replay, applied = Replay(tt.load_game("tic_tac_toe")), []
    apply = Position.apply
    monkeypatch.setattr(Position, "apply", lambda self, action: applied.append(action) or apply(self, action))
    moves = ["a1", "b2", "c3", "a3"]
    for count in range(5):
        assert replay.position(None, moves[:count]).moves() == moves[:count]
    assert len(applied) == 4
    assert replay.position(None, ["a1", "c1"]).moves() == ["a1", "c1"]
    assert len(applied) == 5


def test_a_wrong_move_changes_nothing():
    replay = Replay(tt.load_game("tic_tac_toe"))
    replay.position(None, ["a1"])
    with pytest.raises(TreetopError):
        replay.position(None, ["a1", "b2", "b2"])
    assert replay.position(None, ["a1", "b2"]).moves() == ["a1", "b2"]


def test_a_game_goes_on_after_a_draw_that_must_be_claimed():
    shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"]
    replay = Replay(tt.load_game("chess"))
    position = replay.position(None, [*shuffle, *shuffle])  # the third time
    assert not position.is_terminal
    assert replay.position(None, [*shuffle, *shuffle, *shuffle, "e2e4"]).player == 1


def test_a_game_goes_on_after_fifty_moves():
    start = "8/8/8/8/8/4k3/8/4K2R w K - 99 80"
    replay = Replay(tt.load_game("chess"))
    position = replay.position(start, ["h1h2"])
    assert not position.is_terminal
    assert position.player == 1


def test_a_checkmate_is_the_end():
    mate = tt.position("chess", moves="f3 e5 g4 Qh4")
    assert resumed(mate) is mate
