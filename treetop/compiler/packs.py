"""Many arrays as one argument of a kernel.

A search has about fifty arrays. Passed one by one they would be four hundred values in each call between compiled
functions, which takes long to compile, and tens of microseconds in each call from Python. A pack is a small table with
the address and the shape of each array; a kernel takes its address, and reads `tree.stats` from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Pack:
    """The arrays of some named tuples, as one argument of a kernel. In a kernel they are attributes.

    Arrays may be replaced by others of the same type (`refresh`). The pack keeps them alive.
    """

    def __init__(self, *parts: Any) -> None:
        self._parts: tuple[Any, ...] = ()
        arrays = [array for part in parts for array in part]
        names = [name for part in parts for name in part._fields]
        self.kind = tuple((name, array.dtype, array.ndim) for name, array in zip(names, arrays, strict=True))
        """The name, the dtype and the number of dimensions of each array."""
        self._table = np.zeros(len(arrays) + sum(array.ndim for array in arrays), np.uint64)
        self.address = _address(self._table)
        """The address of the table."""
        self.refresh(*parts)

    def refresh(self, *parts: Any) -> Pack:
        """Use the arrays of these named tuples, of the same types as before; return the pack."""
        if len(parts) != len(self._parts) or any(new is not old for new, old in zip(parts, self._parts, strict=True)):
            words: list[int] = []
            for part in parts:
                for array in part:
                    words.append(_address(array))
                    words.extend(array.shape)
            self._table[:] = words
            self._parts = parts
        return self


def _address(array: np.ndarray[Any, Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
