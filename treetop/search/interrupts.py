"""Ctrl-C as a question instead of an exception: the search looks up between slices, so it is never caught half-way through a change."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """Within its `with`, the first Ctrl-C sets `seen`; a second one raises KeyboardInterrupt, for code that does not look up.

    Only the main thread gets signals, and a handler that the program has set itself is left alone.
    """

    def __init__(self) -> None:
        self.seen = False
        self._before: Any = None

    def __enter__(self) -> Self:
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usual and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the shape of a signal handler
        if self.seen:
            raise KeyboardInterrupt
        self.seen = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
