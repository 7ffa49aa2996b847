"""Notices and clocks for the time of compiling.

`ThinkingClock` is the clock of limits, deadlines and recorded times. Each thread has one, which stops while that thread
compiles a kernel or loads one from the cache, so compiling never counts as thinking time.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

QUIET = "TREETOP_QUIET"
"""The environment variable that turns notices off."""
_NOTICE_AFTER = 1.0  # seconds of compiling before the notice


class ThinkingClock:
    """A clock that stops while its thread compiles or loads code. Any thread may read it."""

    def __init__(self) -> None:
        # The seconds that do not count, and the time at which it was stopped, or None. The tuple is replaced in one
        # step, because a signal handler may read it at any time.
        self._state: tuple[float, float | None] = (0.0, None)
        self.kernels = 0
        """The number of kernels that its thread has compiled or loaded."""

    def now(self) -> float:
        """Return the time in seconds. Only differences are meaningful."""
        missing, stopped = self._state
        return (time.perf_counter() if stopped is None else stopped) - missing

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the clock inside the block."""
        missing, stopped = self._state
        if stopped is not None:  # it is stopped already
            yield
            return
        began = time.perf_counter()
        self._state = (missing, began)
        try:
            yield
        finally:
            self._state = (missing + time.perf_counter() - began, None)


class Pulse:
    """A timer that is due at most once in `interval` seconds."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._next = time.perf_counter() + interval

    def due(self) -> bool:
        """Return whether the interval has passed since it was last due."""
        now = time.perf_counter()
        if now < self._next:
            return False
        self._next = now + self._interval
        return True


class _Here(threading.local):
    def __init__(self) -> None:
        self.clock = ThinkingClock()


_here = _Here()


def thinking_clock() -> ThinkingClock:
    """Return the clock of this thread."""
    return _here.clock


@contextmanager
def preparing_kernel() -> Iterator[None]:
    """Count a kernel, and stop this thread's clock inside the block."""
    clock = thinking_clock()
    clock.kernels += 1
    with clock.stopped():
        yield


@contextmanager
def announced(what: str, note: str) -> Iterator[None]:
    """Print a notice on stderr if the block takes more than a second: what is compiled, and where it is saved.

    A terminal shows a spinner, anything else gets one line. `TREETOP_QUIET=1` turns it off.
    """
    if os.environ.get(QUIET, "0") not in ("", "0") or sys.stderr is None:
        yield
        return
    notice = _Notice(what, note)
    timer = threading.Timer(_NOTICE_AFTER, notice.show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        notice.end()


class _Notice:
    """One notice: shown by the timer's thread, ended by the caller's."""

    def __init__(self, what: str, note: str) -> None:
        self._what, self._note = what, note
        self._lock = threading.Lock()
        self._over = False
        self._spinner: Any = None

    def show(self) -> None:
        """Show it, unless the work is done."""
        from rich.console import Console
        from rich.file_proxy import FileProxy

        with self._lock:
            if self._over:
                return
            console = Console(stderr=True, highlight=False, markup=False, emoji=False)
            # A FileProxy prints the line above another live display.
            if not console.is_terminal or isinstance(sys.stderr, FileProxy):
                sys.stderr.write(f"compiling {self._what}; {self._note}\n")
                sys.stderr.flush()
                return
            from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            text = TextColumn("{task.description}", markup=False)
            self._spinner = Progress(
                SpinnerColumn(),
                text,
                TimeElapsedColumn(),
                TextColumn("{task.fields[note]}", markup=False),
                console=console,
                transient=True,
            )
            self._spinner.add_task(f"compiling {self._what}", total=None, note=self._note)
            self._spinner.start()

    def end(self) -> None:
        """Remove it."""
        with self._lock:
            self._over = True
            if self._spinner is not None:
                self._spinner.stop()
