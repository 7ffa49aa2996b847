"""Thinking on the opponent's time: a search that goes on in the background until somebody has moved."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from treetop.search.guard import PONDER
from treetop.search.interrupts import Interrupts
from treetop.search.limits import Budget, Limit

if TYPE_CHECKING:
    from treetop.search.search import Search


class Pondering:
    """Runs simulations in a thread of its own while the caller waits for something else: use it within `with`.

    The kernels let go of the interpreter, so the caller is hardly slowed down. Nothing else may be asked of the search meanwhile.
    """

    def __init__(self, search: Search, limit: Limit) -> None:
        self._search = search
        self._limit = limit
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self.simulations = 0
        """How many were run."""

    def __enter__(self) -> Self:
        search = self._search
        search._guard.take(PONDER)
        try:
            search._driver.refuse(PONDER)
            search._driver.prepare()
            self._thread = threading.Thread(target=self._think, name="pondering", daemon=True)
            search._pondering, search._is_scheduled = True, False
            self._thread.start()
        except BaseException:
            search._pondering = False
            search._guard.release()
            raise
        return self

    def _think(self) -> None:
        search, budget = self._search, Budget(self._limit)
        try:
            while not self._stop.is_set() and not search.solved and (slice_size := budget.next_slice()) > 0:
                if not search._run_slice(budget, slice_size, Interrupts()):
                    break
        except BaseException as error:  # noqa: BLE001 - told to the caller where the block ends
            self._error = error
        self.simulations = budget.simulations

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self._search._pondering = False
        self._search._guard.release()
        if self._error is not None and error is None:
            raise self._error
