"""Bit operations for games that keep their boards in whole numbers; they run interpreted and compiled.

>>> import numpy as np, treetop as tt
>>> from treetop.bits import list_bits, lowest_bit, mix_bits, nth_bit, popcount, random_bit
>>> popcount(0b1011), lowest_bit(0b1000), nth_bit(0b1011, 2)
(3, 3, 3)
>>> bool(mix_bits(1) != mix_bits(2))
True

Sets of more than 64 members are arrays of words:

>>> words, out = np.array([0b1011, 0b1], np.uint64), np.zeros(8, np.int64)
>>> out[: list_bits(words, out)].tolist()
[0, 1, 3, 64]
>>> random_bit(words, 4, tt.Rng(1)) in (0, 1, 3, 64)
True

The symmetries of a square board move its cells:

>>> from treetop.bits import permute_bits, square_symmetries
>>> permute_bits(np.uint64(0b000_000_011), square_symmetries(3)[4]) == np.uint64(0b000_001_001)
np.True_
"""

from treetop.compiler.intrinsics import lowest_bit, mix_bits, nth_bit, popcount
from treetop.game.bitsets import list_bits, random_bit
from treetop.game.symmetries import permute_bits, square_symmetries

__all__ = [
    "list_bits",
    "lowest_bit",
    "mix_bits",
    "nth_bit",
    "permute_bits",
    "popcount",
    "random_bit",
    "square_symmetries",
]
