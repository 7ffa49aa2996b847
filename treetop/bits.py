"""Bit operations for games that keep their boards in whole numbers; they run interpreted and compiled.

>>> from treetop.bits import popcount
>>> popcount(0b1011)
3
"""

from treetop.compiler.intrinsics import lowest_bit, mix_bits, nth_bit, popcount
from treetop.game.bitsets import list_bits, random_bit

__all__ = ["list_bits", "lowest_bit", "mix_bits", "nth_bit", "popcount", "random_bit"]
