"""Many arrays as one argument of a kernel.

A search has about fifty arrays. Passed one by one they would be four hundred values in each call between compiled
functions, which takes long to compile, and tens of microseconds in each call from Python. A pack is a small table with
the address and the shape of each array; a kernel takes its address, and reads `tree.stats` from it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from operator import is_
from typing import Any, cast

import numpy as np


class Packs:
    """A table of packs, one a row: the same arrays of many searches, as one argument of a kernel (`pack_at`).

    A row is the arrays of some named tuples; they may be replaced by others of the same types. The table keeps them
    alive.
    """

    def __init__(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self._rows = list(rows)
        self._table = np.array([_words(parts) for parts in rows], np.uint64)
        self.address = _address(self._table)
        """The address of the table."""

    @property
    def kind(self) -> tuple[tuple[str, Any, int], ...]:
        """The name, the dtype and the number of dimensions of each array."""
        return tuple(
            (name, array.dtype, array.ndim)
            for part in self._rows[0]
            for name, array in zip(part._fields, part, strict=True)
        )

    def set_row(self, row: int, *parts: Any) -> None:
        """Use the arrays of these named tuples in a row."""
        before = self._rows[row]
        if len(parts) != len(before) or not all(map(is_, parts, before)):
            self._table[row] = _words(parts)
            self._rows[row] = parts


class Pack(Packs):
    """The arrays of some named tuples, as one argument of a kernel. In a kernel they are attributes."""

    def __init__(self, *parts: Any) -> None:
        super().__init__([parts])

    def refresh(self, *parts: Any) -> Pack:
        """Use the arrays of these named tuples, of the same types as before; return the pack."""
        self.set_row(0, *parts)
        return self


def _words(parts: tuple[Any, ...]) -> list[int]:
    """Return the address and the shape of each array; an empty one needs no address."""
    words: list[int] = []
    for part in parts:
        for array in part:
            words.append(_address(array) if array.size else 0)
            words.extend(array.shape)
    return words


def _address(array: np.ndarray[Any, Any]) -> int:
    # Faster than NumPy's own ways, of which one describes the dtype too.
    return ctypes.addressof(ctypes.c_char.from_buffer(cast(Any, array)))
