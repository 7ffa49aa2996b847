"""The random numbers of the house: SplitMix64, one word of state, the same stream interpreted and compiled.

The state is a plain counter, so that a processor can work on the next number before the present one is used.
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
    """Scramble a 64-bit word so that every bit of it decides over every bit of the result."""
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
        """Continue exactly where another generator stood."""
        rng = cls.__new__(cls)
        rng.word = word & _WORD
        return rng

    def bits(self) -> int:
        """64 random bits."""
        self.word = (self.word + STEP) & _WORD
        return mix(self.word)

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1, each as likely (to one part in 2**32)."""
        return ((self.bits() >> 32) * int(n)) >> 32

    def random(self) -> float:
        """A number from 0 (included) to 1 (excluded)."""
        return (self.bits() >> 11) * 2.0**-53

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """The same items in a random order, each as likely. For ordinary Python: compiled code has no lists."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def __repr__(self) -> str:
        return f"Rng(word={self.word:#018x})"
