"""Ctrl-C as a flag instead of an exception: the search reads it between slices, so no change is left half done."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found,unused-ignore]
import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

# The functions behind those of `signal`, which convert to and from enums: that takes a tenth of a short search.
_get: Callable[[int], Any] = getattr(_signal, "getsignal", signal.getsignal)
_set: Callable[[int, Any], Any] = getattr(_signal, "signal", signal.signal)
_SIGNALS = tuple(
    int(signal.Signals[name]) for name in ("SIGINT", "SIGTERM", "SIGHUP") if name in signal.Signals.__members__
)


class Interrupts:
    """A context in which the first Ctrl-C sets `seen`, and a second one raises KeyboardInterrupt.

    SIGTERM and SIGHUP do the same where the program handles them like Ctrl-C. Only the main thread gets signals, and a
    handler that the program has set itself is not replaced.
    """

    def __init__(self) -> None:
        self.seen = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if _get(number) is signal.default_int_handler:
                    self._before[number] = _set(number, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.seen:
            raise KeyboardInterrupt
        self.seen = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            _set(number, handler)
