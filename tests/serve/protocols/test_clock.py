"""How long a move takes with a clock."""

from __future__ import annotations

import pytest

from treetop.serve.protocols.clock import Clock


@pytest.mark.parametrize("left", [0.0, 0.01, 1.0, 60.0, 3600.0])
@pytest.mark.parametrize("increment", [0.0, 2.0])
@pytest.mark.parametrize("moves", [None, 1, 40])
@pytest.mark.parametrize("period", [0.0, 5.0])
def test_a_move_never_takes_more_than_what_is_left(left, increment, moves, period):
    share = Clock(left, increment, moves, period).share(0.05)
    assert 0.0 < share <= max(0.001, left + period - 0.05)


def test_a_clock_lasts_for_a_long_game():
    left = 60.0
    for _ in range(200):
        share = Clock(left).share(0.05)
        assert share <= max(left, 0.001)
        left -= share
    assert left >= 0.0
