"""Many arrays as one argument of a kernel.

A search has about fifty arrays. Passed one by one they would be four hundred values in each call between compiled
functions, which takes long to compile, and tens of microseconds in each call from Python. A pack is a small table with
the address and the shape of each array; a kernel takes its address, and reads `tree.stats` from it.
"""

from __future__ import annotations

import ctypes
from typing import Any, cast

import numpy as np


class Pack:
    """The arrays of some named tuples, as one argument of a kernel. In a kernel they are attributes.

    Arrays may be replaced by others of the same type (`refresh`). The pack keeps them alive.
    """

    def __init__(self, *parts: Any) -> None:
        self._parts: tuple[Any, ...] = parts
        self._table = np.array(_words(parts), np.uint64)
        self.address = _address(self._table)
        """The address of the table."""

    @property
    def kind(self) -> tuple[tuple[str, Any, int], ...]:
        """The name, the dtype and the number of dimensions of each array."""
        return tuple(
            (name, array.dtype, array.ndim)
            for part in self._parts
            for name, array in zip(part._fields, part, strict=True)
        )

    def refresh(self, *parts: Any) -> Pack:
        """Use the arrays of these named tuples, of the same types as before; return the pack."""
        if len(parts) != len(self._parts) or any(new is not old for new, old in zip(parts, self._parts, strict=True)):
            self._table[:] = _words(parts)
            self._parts = parts
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
