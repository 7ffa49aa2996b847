"""The random numbers of rollouts in Python: the stream of `Rng`, computed in blocks, which is faster there."""

from __future__ import annotations

import numpy as np

from treetop.compiler.rng import MIX_1, MIX_2, STEP, Rng

_WORD = (1 << 64) - 1
_BLOCK = 256
_STEPS = np.arange(1, _BLOCK + 1, dtype=np.uint64) * np.uint64(STEP)
_INVERSE = pow(STEP, -1, 1 << 64)  # the distance of two words in the stream is their difference times this


class Stream(Rng):
    """A generator of the same numbers as `Rng`."""

    __slots__ = ("_base", "_block", "_place")

    def __init__(self, seed: int = 0) -> None:
        self._block: list[int] = []
        self._fill(Rng(seed).word)

    @property
    def word(self) -> int:
        """The state of the generator."""
        return (self._base + self._place * STEP) & _WORD

    @word.setter
    def word(self, word: int) -> None:
        place = ((word - self._base) * _INVERSE) & _WORD
        if place <= len(self._block):
            self._place = place
        else:
            self._fill(word)

    def _fill(self, word: int) -> None:
        bits = np.uint64(word) + _STEPS
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(MIX_1)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(MIX_2)
        self._block = (bits ^ (bits >> np.uint64(31))).tolist()
        self._base, self._place = word, 0

    def bits(self) -> int:
        """Return 64 random bits."""
        if self._place >= _BLOCK:
            self._fill(self.word)
        self._place += 1
        return self._block[self._place - 1]

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1, drawn uniformly (to one part in 2**32)."""
        if self._place >= _BLOCK:
            self._fill(self.word)
        self._place += 1
        return ((self._block[self._place - 1] >> 32) * n) >> 32
