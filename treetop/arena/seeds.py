"""Derive seeds: every random choice of a match comes from its seed and from the purpose of the choice."""

from __future__ import annotations

from treetop.compiler.rng import STEP, mix

OPENING, GAME, PLAYER, CHANCE, DEAL, SIGHT, BOOK = 1, 2, 3, 4, 5, 6, 7
"""The purpose of a seed: different purposes never share numbers."""


def derive(seed: int, *path: int) -> int:
    """Return a seed for one purpose, from the seed of the whole and whole numbers that name the purpose.

    It has 53 bits, so that every reader of JSON keeps all of them.
    """
    word = mix(seed + STEP)
    for step in path:
        word = mix(word + mix(step + STEP))
    return word >> 11
