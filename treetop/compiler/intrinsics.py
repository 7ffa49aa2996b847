"""Small operations that a processor has in one instruction and Python does not.

Each function here is the plain twin: what interpreted code runs, and what the compiled version must equal.
The compiled versions stand in `lowering.py` and are registered on these very functions, so a game or a kernel
simply calls them, in both modes.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from treetop.compiler.rng import Rng, mix

_WORD = (1 << 64) - 1


def popcount(bits: int | np.uint64) -> int:
    """How many bits of a 64-bit word are set."""
    return (int(bits) & _WORD).bit_count()


def lowest_bit(bits: int | np.uint64) -> int:
    """The index of the lowest set bit of a 64-bit word; 64 for an empty one."""
    word = int(bits) & _WORD
    return (word & -word).bit_length() - 1 if word else 64


def nth_bit(bits: int | np.uint64, n: int) -> int:
    """The index of the n-th set bit, counted from 0 at the low end; 64 where there are not so many.

    `nth_bit(moves, rng.below(popcount(moves)))` draws a random move from a bit set without listing it.
    """
    word = int(bits) & _WORD if n >= 0 else 0
    for _ in range(int(n)):
        word &= word - 1
    return lowest_bit(word)


def mix_bits(bits: int | np.uint64) -> np.uint64:
    """A 64-bit word scrambled, so that every bit decides over every bit of the result: for keys of positions."""
    return np.uint64(mix(int(bits)))


def prefetch(array: np.ndarray[Any, Any], index: Any) -> None:
    """A hint that `array[index]` will be read soon. It never changes a result."""


def state_at(game: Any, states: np.ndarray[Any, Any], index: int) -> Any:
    """The state at `index` of an array of records, as an object with the game's methods. No copy."""
    return game.view(states, index)


def local_copy(state: Any) -> Any:
    """A copy of a state that lives in the calling function's own frame.

    Nothing else can point to it, so the compiler keeps its fields in registers.
    """
    return copy.copy(state)


def local_rng(word: int | np.uint64) -> Rng:
    """A generator that continues from `word`, in the calling function's own frame."""
    return Rng.from_word(int(word))


def rng_word(rng: Rng) -> np.uint64:
    """Where a generator stands, to be continued later by `local_rng`."""
    return np.uint64(rng.word)
