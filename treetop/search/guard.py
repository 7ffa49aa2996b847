"""One caller at a time: a second caller gets an error, so that the tree is not corrupted."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from treetop.errors import SearchError

PONDER = "ponder"

F = TypeVar("F", bound=Callable[..., Any])


class Guard:
    """A lock that a call holds while it changes a search. A second call, from any thread, raises an error."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._what, self._thread = "", 0

    @contextmanager
    def __call__(self, what: str) -> Iterator[None]:
        """Hold the lock for one call."""
        self.take(what)
        try:
            yield
        finally:
            self.release()

    def take(self, what: str) -> None:
        """Acquire the lock; raise SearchError where it is held already."""
        if not self._lock.acquire(blocking=False):
            raise self._refusal(what)
        self._what, self._thread = what, threading.get_ident()

    def release(self) -> None:
        """Release the lock."""
        self._lock.release()

    def refuse_other_threads(self, what: str) -> None:
        """Raise SearchError where another thread holds the lock: for calls that only read."""
        if self._lock.locked() and (self._thread != threading.get_ident() or self._what == PONDER):
            raise self._refusal(what)

    def _refusal(self, what: str) -> SearchError:
        if self._what == PONDER:
            return SearchError(f"cannot {what} while the search ponders: leave the block first")
        inside = self._thread == threading.get_ident()
        where = "which has called this code (a callback, an evaluator or a hook)" if inside else "in another thread"
        return SearchError(
            f"cannot {what} during `{self._what}`, {where}: a search has one caller at a time; wait for it, or create "
            "another search"
        )


def exclusive(method: F) -> F:
    """Return a method that changes a search: it holds the guard, and results that were returned stay as they are."""
    name = method.__name__

    @functools.wraps(method)
    def held(self: Any, *args: Any, **options: Any) -> Any:
        self._guard.take(name)
        try:
            self.complete_results()
            return method(self, *args, **options)
        finally:
            self._guard.release()

    return cast(F, held)
