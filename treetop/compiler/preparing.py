"""What it takes to get compiled code ready: the time is announced, and stands on no clock.

`ThinkingClock` is the clock of limits, deadlines and recorded times. Each thread has its own, which stops while that thread compiles
a kernel or loads one from the cache, so no caller pays for code that happens to be missing.
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
_NOTICE_AFTER = 1.0  # seconds of compiling before anybody is told


class ThinkingClock:
    """A clock that stops while its thread gets compiled code ready. Any thread may read it."""

    def __init__(self) -> None:
        # Seconds that do not count, and since when it stands, if it does. Replaced as a whole: a signal handler may read it at any time.
        self._state: tuple[float, float | None] = (0.0, None)
        self.kernels = 0
        """How many kernels its thread has compiled or loaded."""

    def now(self) -> float:
        """Return the seconds that it shows. Only differences mean something."""
        missing, stopped = self._state
        return (time.perf_counter() if stopped is None else stopped) - missing

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Let it stand still."""
        missing, stopped = self._state
        if stopped is not None:  # it stands already
            yield
            return
        began = time.perf_counter()
        self._state = (missing, began)
        try:
            yield
        finally:
            self._state = (missing + time.perf_counter() - began, None)


class _Here(threading.local):
    def __init__(self) -> None:
        self.clock = ThinkingClock()


_here = _Here()


def thinking_clock() -> ThinkingClock:
    """Return the clock of this thread."""
    return _here.clock


@contextmanager
def preparing_kernel() -> Iterator[None]:
    """Count a kernel, and stop this thread's clock meanwhile."""
    clock = thinking_clock()
    clock.kernels += 1
    with clock.stopped():
        yield


@contextmanager
def announced(what: str, fate: str) -> Iterator[None]:
    """Tell people on stderr what is compiled and what becomes of it, if it takes more than a second.

    A terminal shows a spinner, anything else gets one line. `TREETOP_QUIET=1` turns it off.
    """
    if os.environ.get(QUIET, "0") not in ("", "0") or sys.stderr is None:
        yield
        return
    notice = _Notice(what, fate)
    timer = threading.Timer(_NOTICE_AFTER, notice.show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        notice.end()


class _Notice:
    """One notice: shown from the timer's thread, ended from the caller's."""

    def __init__(self, what: str, fate: str) -> None:
        self._what, self._fate = what, fate
        self._lock = threading.Lock()
        self._over = False
        self._spinner: Any = None

    def show(self) -> None:
        """Begin to show it, unless the work is done."""
        from rich.console import Console
        from rich.file_proxy import FileProxy

        with self._lock:
            if self._over:
                return
            console = Console(stderr=True, highlight=False, markup=False, emoji=False)
            if not console.is_terminal or isinstance(
                sys.stderr, FileProxy
            ):  # the latter puts it above the display that is running
                sys.stderr.write(f"compiling {self._what}; {self._fate}\n")
                sys.stderr.flush()
                return
            from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            text = TextColumn("{task.description}", markup=False)
            self._spinner = Progress(
                SpinnerColumn(),
                text,
                TimeElapsedColumn(),
                TextColumn("{task.fields[fate]}", markup=False),
                console=console,
                transient=True,
            )
            self._spinner.add_task(f"compiling {self._what}", total=None, fate=self._fate)
            self._spinner.start()

    def end(self) -> None:
        """Take it away."""
        with self._lock:
            self._over = True
            if self._spinner is not None:
                self._spinner.stop()
