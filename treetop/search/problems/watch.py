"""Comparison of a state before and after a call of the user's code: a call that changes it makes the search wrong."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from treetop.search.problems.failing import ProblemError

WATCHED = 32
"""The calls of each kind that a search watches; `treetop.check` watches all of them."""
_LONGEST = 300  # letters of a state that are shown


def picture(state: Any) -> object:
    """Return what shows cheaply whether a state has changed: its text, or its public attributes; None if nothing does.

    Private attributes are often caches, which may change.
    """
    try:
        if isinstance(state, np.ndarray):
            return state.tobytes()
        if has_own_text(state):
            return repr(state)
        return {name: repr(value) for name, value in vars(state).items() if not name.startswith("_")}
    except Exception:  # noqa: BLE001 - a state that cannot be printed cannot be compared
        return None


def has_own_text(state: Any) -> bool:
    """Return whether the type of a state defines how it is printed."""
    kind: Any = type(state)
    return kind.__repr__ is not object.__repr__


class ChangedStateError(ProblemError):
    """A call of the user's code has changed a state that it should not change."""


@contextmanager
def unchanged(state: Any, wrong: str) -> Iterator[None]:
    """Raise ChangedStateError with the text `wrong` if the block changes a state."""
    before = picture(state)
    yield
    after = picture(state)
    if isinstance(before, dict) and isinstance(after, dict):
        after = {name: after.get(name) for name in before}  # a new attribute may be a cache
    if before != after:
        shown = "" if isinstance(before, bytes) else f"\nbefore: {before!s:.{_LONGEST}}\nafter:  {after!s:.{_LONGEST}}"
        raise ChangedStateError(wrong + shown)


def changes(state: Any, call: Callable[[], object]) -> bool:
    """Return whether a call changes anything in a state.

    It must have been called before, so that caches are filled.
    """
    before = _everything(state)
    call()
    return _everything(state) != before


def _everything(state: Any) -> object:
    try:
        return pickle.dumps(state)
    except Exception:  # noqa: BLE001 - not every object can be pickled
        return picture(state)


def is_same(one: Any, other: Any) -> bool:
    """Return whether two objects are equal, or look the same; addresses in their texts do not count."""
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    try:
        if one is other or bool(one == other):
            return True
    except Exception:  # noqa: BLE001 - arrays have no single answer
        pass
    return _masked(picture(one)) == _masked(picture(other))


def _masked(text: object) -> object:
    if isinstance(text, dict):
        return {name: _masked(value) for name, value in text.items()}
    return re.sub(r"\b0x[0-9a-fA-F]+", "0x", text) if isinstance(text, str) else text
