"""The random number generator: SplitMix64, one word of state, the same stream interpreted and compiled.

The state is a counter, so that a processor can compute the next number before the current one is used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

_WORD = (1 << 64) - 1

STEP = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB


def mix(word: int) -> int:
    """Return a hash of a 64-bit word in which every input bit affects every output bit."""
    word &= _WORD
    word = ((word ^ (word >> 30)) * MIX_1) & _WORD
    word = ((word ^ (word >> 27)) * MIX_2) & _WORD
    return word ^ (word >> 31)


class Rng:
    """A small random number generator: `rng.below(n)`, `rng.random()`, `rng.bits()`.

    >>> rng = Rng(seed=1)
    >>> rng.below(6) in range(6)
    True
    """

    __slots__ = ("word",)

    def __init__(self, seed: int = 0) -> None:
        self.word = mix(seed + STEP)

    @classmethod
    def from_word(cls, word: int) -> Rng:
        """Return a generator that continues from the state of another one."""
        rng = cls.__new__(cls)
        rng.word = word & _WORD
        return rng

    def bits(self) -> int:
        """Return 64 random bits."""
        self.word = (self.word + STEP) & _WORD
        return mix(self.word)

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1, drawn uniformly (to one part in 2**32)."""
        return ((self.bits() >> 32) * int(n)) >> 32

    def random(self) -> float:
        """Return a number from 0 (included) to 1 (excluded)."""
        return (self.bits() >> 11) * 2.0**-53

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """Return the items in a uniformly random order. It is not available in compiled code."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def __repr__(self) -> str:
        return f"Rng(word={self.word:#018x})"
