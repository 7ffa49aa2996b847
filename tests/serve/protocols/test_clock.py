"""How long a move takes with a clock."""

from __future__ import annotations

import time

import pytest

import treetop as tt
from treetop.serve.engines import Engine
from treetop.serve.protocols.clock import Clock
from treetop.serve.protocols.thinker import Thinker
from treetop.serve.tasks import Thinking


@pytest.mark.parametrize("left", [0.0, 0.01, 1.0, 60.0, 3600.0])
@pytest.mark.parametrize("increment", [0.0, 2.0])
@pytest.mark.parametrize("moves", [None, 1, 40])
@pytest.mark.parametrize("period", [0.0, 5.0])
def test_a_move_never_takes_more_than_what_is_left(left, increment, moves, period):
    share = Clock(left, increment, moves, period).share(0.05)
    assert 0.0 < share <= max(0.001, left + period - 0.05)


def test_the_time_of_a_move_counts_while_the_tree_follows_the_game(monkeypatch):
    given, search = [], Thinker.search

    class Noted(Thinking):
        def __init__(self, *arguments, seconds, **named):
            given.append(seconds)
            super().__init__(*arguments, seconds=seconds, **named)

    def slow(self, position):
        time.sleep(0.2)
        return search(self, position)

    monkeypatch.setattr("treetop.serve.protocols.thinker.Thinking", Noted)
    monkeypatch.setattr(Thinker, "search", slow)
    with Thinker(Engine("uct", None, 1)) as thinker:
        thinker.think(tt.position("tic_tac_toe"), seconds=0.5)
        thinker.think(tt.position("tic_tac_toe"), seconds=0.1)
    assert given[0] <= 0.3
    assert given[1] == 0.001


def test_a_clock_lasts_for_a_long_game():
    left = 60.0
    for _ in range(200):
        share = Clock(left).share(0.05)
        assert share <= max(left, 0.001)
        left -= share
    assert left >= 0.0
