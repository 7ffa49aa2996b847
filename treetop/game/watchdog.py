"""A time limit for each interpreted call of a game's method, so that an endless loop is an error with its line."""

from __future__ import annotations

import threading
import time
from types import TracebackType

SECONDS = 5.0
"""CPU time after which a single interpreted call counts as endless."""
_PERIOD = 0.05


class EndlessError(BaseException):
    """An error that is raised inside a method that does not end.

    It is not an `Exception`, so an `except Exception` inside the method does not catch it.
    """


class _Progress:
    """The number of calls so far, of all threads."""

    calls = 0


def note_call() -> None:
    """Count a call, so that watchdogs restart their clocks."""
    _Progress.calls += 1


class Watchdog:
    """A context manager that raises an `EndlessError` in a call of the current thread that takes too long.

    It measures the CPU time of that thread, so a busy machine changes nothing. A single operation of C code cannot be
    interrupted.
    """

    def __enter__(self) -> None:
        self._thread = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._thread) if hasattr(time, "pthread_getcpuclockid") else None
        self._stop = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="treetop watchdog", daemon=True)
        self._watcher.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while True:
            try:
                self._stop.set()
                self._watcher.join()
                self._raise(None)
                return
            except EndlessError:  # it was raised too late: the call had just ended
                continue

    def _now(self) -> float:
        return time.process_time() if self._clock is None else time.clock_gettime(self._clock)

    def _watch(self) -> None:
        seen, since = -1, 0.0
        while not self._stop.wait(_PERIOD):
            now = self._now()
            if _Progress.calls != seen:
                seen, since = _Progress.calls, now
            elif now - since > SECONDS:
                self._raise(EndlessError)
                since = now

    def _raise(self, error: type[BaseException] | None) -> None:
        """Raise an error in the observed thread at its next instruction; None cancels one that is still pending."""
        import ctypes

        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(self._thread), None if error is None else ctypes.py_object(error)
        )
