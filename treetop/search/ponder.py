"""Pondering: a search that runs in the background on the opponent's time."""

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
    """A context in which simulations run in a thread of their own while the caller waits.

    The kernels release the interpreter lock, so the caller is hardly slowed down. Other calls of the search raise an
    error until the block ends.
    """

    def __init__(self, search: Search, limit: Limit) -> None:
        self._search = search
        self._limit = limit
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self.simulations = 0
        """Simulations that were run."""

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
        except BaseException as error:  # noqa: BLE001 - raised where the block ends
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
