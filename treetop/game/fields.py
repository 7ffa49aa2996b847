"""The fields of a state, and how interpreted code reads and writes them.

A state is one record of fixed size. Compiled code works on the record itself. Interpreted code reads each number as a
Python int, float or bool, so that its arithmetic does not wrap in 8 bits where compiled code computes in 64; each
store is checked for its range. Only 64-bit unsigned fields are read as `np.uint64`: bit operations (`~x`, `x << 8`)
need a word of fixed width in both modes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

import numpy as np

from treetop.errors import GameDefinitionError, GameError
from treetop.game.lines import callers_line

_KINDS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f8", "b1")
_negative: ContextVar[set[str] | None] = ContextVar("negative", default=None)
_LITERAL = re.compile(r"[\[,]\s*-\s*\d+\s*[\],]")  # a negative index that is written as a number
_ALIASES = {"bool": "b1", "?": "b1", "int": "i8", "float": "f8"}


class Field:
    """One field of a game's state, and the descriptor that reads and writes it in interpreted mode."""

    def __init__(self, dtype: Any, shape: int | tuple[int, ...] = ()) -> None:
        self.dtype = _field_dtype(dtype)
        self.shape = shape if isinstance(shape, tuple) else (shape,)
        if any(not isinstance(size, (int, np.integer)) or size < 1 for size in self.shape):
            raise GameDefinitionError(f"the shape of a field must be whole numbers of at least 1, not {shape!r}")
        self.name = "?"

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, state: Any, owner: type) -> Any:
        if state is None:
            return self
        if self.shape:
            return ArrayView(state._record[self.name], self.name)
        return _plain(state._record[self.name])

    def __set__(self, state: Any, value: Any) -> None:
        if self.shape:
            ArrayView(state._record[self.name], self.name)[:] = value
        else:
            _store(state._record, self.name, value, self.dtype, self.name)


def field(dtype: Any, shape: int | tuple[int, ...] = ()) -> Any:
    """Declare a field of a game's state: a number, or an array of numbers if a shape is given.

    `dtype` is one of i1, i2, i4, i8, u1, u2, u4, u8 (signed and unsigned integers of 1 to 8 bytes), f8 and bool.

    >>> import treetop as tt
    >>> board = tt.field("i1", (6, 7))
    """
    try:
        return Field(dtype, shape)
    except GameDefinitionError as error:
        raise GameDefinitionError(f"{error}\n  {callers_line()}") from None


def _field_dtype(dtype: Any) -> np.dtype[Any]:
    wanted = _ALIASES.get(dtype, dtype) if isinstance(dtype, str) else dtype
    try:
        found = None if wanted is None else np.dtype(wanted)  # NumPy takes None for f8
    except TypeError:
        found = None
    if found is None or f"{found.kind}{found.itemsize}" not in _KINDS:
        hint = (
            " (32-bit arithmetic differs between the interpreted and the compiled game: use f8)"
            if found == np.float32
            else ""
        )
        raise GameDefinitionError(f"a field cannot have the type {dtype!r}; use {', '.join(_KINDS[:-1])} or bool{hint}")
    return found.newbyteorder("=")


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as interpreted game code reads it."""
    return value if isinstance(value, np.uint64) else value.item()


def _store(target: Any, key: Any, value: Any, dtype: np.dtype[Any], name: str) -> None:
    if dtype.kind in "iu":
        if isinstance(value, (float, np.floating)):
            raise GameError(f"the field {name} holds whole numbers; {value!r} is not one (use int(...) or an f8 field)")
        number = int(value)
        limits = np.iinfo(dtype)
        if not limits.min <= number <= limits.max:
            raise GameError(
                f"the field {name} ({dtype.kind}{dtype.itemsize}) holds {limits.min} to {limits.max}; "
                f"{number} does not fit"
            )
        target[key] = number
    else:
        target[key] = value


class ArrayView:
    """An array field in interpreted mode. Reads give Python numbers; stores and indices are checked.

    All other NumPy operations work on a copy in 64 bits, as compiled code does.
    """

    __slots__ = ("_array", "_name")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: np.ndarray[Any, Any], name: str) -> None:
        self._array = array
        self._name = name

    def __getitem__(self, index: Any) -> Any:
        found = self._array[_plain_index(index)]
        return ArrayView(found, self._name) if isinstance(found, np.ndarray) else _plain(found)

    def __setitem__(self, index: Any, value: Any) -> None:
        where = _plain_index(index)
        if isinstance(value, ArrayView):
            value = value._array.copy()  # it may overlap with the target
        if isinstance(value, (np.ndarray, list, tuple)):
            place = self._array[where]
            try:
                items = np.broadcast_to(np.asarray(value), place.shape)
            except ValueError:
                raise GameError(
                    f"the field {self._name}: values of the shape {np.shape(value)} do not fit into {place.shape}; "
                    f"write self.{self._name}[:] = ... with one number or with values of its shape"
                ) from None
            for at in np.ndindex(place.shape):
                _store(place, at, _plain(items[at]), self._array.dtype, self._name)
        else:
            _store(self._array, where, value, self._array.dtype, self._name)

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Any]:
        for index in range(len(self._array)):
            yield self[index]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self._wide().astype(dtype) if dtype is not None else self._wide()

    def _wide(self) -> np.ndarray[Any, Any]:
        """Return a copy whose arithmetic does not wrap in 8, 16 or 32 bits."""
        small = self._array.dtype.kind in "iu" and self._array.dtype != np.uint64
        return self._array.astype(np.int64) if small else self._array.copy()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._wide(), name)
        if not callable(found):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            result = found(*args, **kwargs)
            return _plain(result) if isinstance(result, np.generic) else result

        return call

    def fill(self, value: Any) -> None:
        """Set all numbers."""
        self[...] = value

    def copy(self) -> np.ndarray[Any, Any]:
        """Return a copy as a NumPy array of the field's type."""
        return self._array.copy()

    def __eq__(self, other: object) -> Any:
        return self._wide() == other

    def __ne__(self, other: object) -> Any:
        return self._wide() != other

    def __lt__(self, other: Any) -> Any:
        return self._wide() < other

    def __le__(self, other: Any) -> Any:
        return self._wide() <= other

    def __gt__(self, other: Any) -> Any:
        return self._wide() > other

    def __ge__(self, other: Any) -> Any:
        return self._wide() >= other

    def __repr__(self) -> str:
        return f"{self._name}={self._array.tolist()}"


def _plain_index(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(_plain_index(part) for part in index)
    if isinstance(index, np.unsignedinteger):
        return int(index)
    if isinstance(index, (int, np.integer)) and index < 0:
        _note_negative()
    return cast(Any, index)


def _note_negative() -> None:
    """Keep the line of the user's code, if negative indices are noted; `cells[-1]` is meant as it is written."""
    lines = _negative.get()
    if lines is not None and not _LITERAL.search(line := callers_line()):
        lines.add(line)


@contextmanager
def negative_indices() -> Iterator[set[str]]:
    """Collect the lines of interpreted code that use a negative index of an array field inside the block."""
    lines: set[str] = set()
    token = _negative.set(lines)
    try:
        yield lines
    finally:
        _negative.reset(token)
