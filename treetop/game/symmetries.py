"""Symmetries of square boards, for `transform` and `transform_action` of games."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.compiler.functions import compiled

_NONE, _ONE = np.uint64(0), np.uint64(1)


def square_symmetries(size: int) -> npt.NDArray[np.int64]:
    """Return where each cell of a square board goes under the eight symmetries: [symmetries, cells].

    Cells are counted row by row. Symmetry 0 is the identity. Bit 0 of a symmetry exchanges left and right, bit 1 top
    and bottom; after these, bit 2 exchanges rows and columns. So 3 is half a turn, and 5 and 6 are quarter turns.

    >>> square_symmetries(2)[[0, 1, 4]].tolist()
    [[0, 1, 2, 3], [1, 0, 3, 2], [0, 2, 1, 3]]
    """
    rows, columns = np.divmod(np.arange(size * size), size)
    found = []
    for symmetry in range(8):
        row = size - 1 - rows if symmetry & 2 else rows
        column = size - 1 - columns if symmetry & 1 else columns
        found.append(column * size + row if symmetry & 4 else row * size + column)
    return np.array(found, np.int64)


@compiled
def permute_bits(bits: Any, places: Any) -> Any:
    """Return a word of 64 bits in which bit n of `bits` is bit `places[n]`.

    >>> import numpy as np
    >>> bin(permute_bits(np.uint64(0b0011), np.array([0, 2, 1, 3])))
    '0b101'
    """
    found = _NONE
    for place in range(len(places)):
        found |= ((bits >> np.uint64(place)) & _ONE) << np.uint64(places[place])
    return found
