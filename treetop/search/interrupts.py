"""Ctrl-C as a flag instead of an exception: the search reads it between slices, so no change is left half done."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

_SIGNALS = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if name in signal.Signals.__members__)


class Interrupts:
    """A context in which the first Ctrl-C sets `seen`, and a second one raises KeyboardInterrupt.

    SIGTERM and SIGHUP do the same where the program handles them like Ctrl-C. Only the main thread gets signals, and a
    handler that the program has set itself is not replaced.
    """

    def __init__(self) -> None:
        self.seen = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) is signal.default_int_handler:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.seen:
            raise KeyboardInterrupt
        self.seen = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
