"""Kernels from a factory: all have the same names and call helpers of the same names, but they compute different numbers."""

from __future__ import annotations

from treetop.compiler.functions import compiled, kernel
from treetop.compiler.intrinsics import state_at


def make_count(weight):
    """Return a kernel that counts the moves of a game to its end, `weight` for each."""

    @compiled
    def weighted(number):
        return weight * number

    @kernel
    def count(game, states):
        state = state_at(game, states, 0)
        total = 0
        while not state.is_terminal():
            state.apply(0)
            total += weighted(1)
        return total

    return count
