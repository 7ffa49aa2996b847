"""A bound on the time that one interpreted method of a game may take, so that an endless loop is an error with its line."""

from __future__ import annotations

import threading
import time
from types import TracebackType

SECONDS = 5.0
"""CPU time after which a single interpreted call counts as endless."""
_PERIOD = 0.05


class EndlessError(BaseException):
    """Raised inside a method that does not end. Not an `Exception`, so that the method's own `except Exception` lets it pass."""


class _Progress:
    """Counts the calls that were begun, whoever makes them."""

    calls = 0


def note_call() -> None:
    """Tell the watchdogs that another method is being called."""
    _Progress.calls += 1


class Watchdog:
    """Watches the thread that enters it and raises an `EndlessError` in a call that takes too long.

    The time that counts is the CPU time of that thread, so a busy machine changes nothing. Code that stays inside a single operation of C cannot
    be interrupted.
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
            except EndlessError:  # it came too late: the call had just ended
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
        """Let the watched thread raise an error at its next instruction; None takes back one that it has not raised yet."""
        import ctypes

        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(self._thread), None if error is None else ctypes.py_object(error)
        )
