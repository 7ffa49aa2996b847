"""How units reach workers and answers come back. The pool knows only these shapes, so it need not know where a worker lives."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from treetop.workers.units import Setup, Unit, resolve


@dataclass(frozen=True)
class Ready:
    """A worker is set up and waits for its first unit."""

    heeds: bool = False
    """Whether it stops a unit that is cancelled."""


@dataclass(frozen=True)
class Broken:
    """A worker could not be set up. So no other one can."""

    error: BaseException | None
    """What was raised, where it could be sent."""
    reason: str
    traceback: str


@dataclass(frozen=True)
class Done:
    """A unit's value."""

    value: Any


@dataclass(frozen=True)
class Raised:
    """A unit's function raised an exception."""

    reason: str
    traceback: str


@dataclass(frozen=True)
class Died:
    """The worker is gone."""

    reason: str


CANCELLED = Raised("cancelled", "")
"""The answer to a unit that nobody wants any more."""

Message = Ready | Broken | Done | Raised | Died


class Worker(Protocol):
    """One that does a unit at a time, in the order in which it was given them."""

    def send(self, unit: Unit) -> None:
        """Hand over a unit, without waiting for those before it. A worker that died in the meantime says so in its next message."""
        ...

    def receive(self) -> Message:
        """What it has to say; only after `Transport.wait` has named it."""
        ...

    def set_up(self, arguments: tuple[Any, ...]) -> None:
        """Let it be set up anew once it has done its units; it says when it is ready."""
        ...

    def cancel(self) -> None:
        """Let it answer the units that it was given without doing them; one that it works on is stopped where its function heeds that."""
        ...

    def dismiss(self) -> None:
        """Tell a worker without a unit that there will be none: it may put things in order and end. `end` still has to follow."""
        ...

    def end(self, patience: float = 0.0) -> None:
        """End it, with all processes that it started, after so many seconds at the latest. May be called twice."""
        ...


class Transport(Protocol):
    """Where workers come from."""

    arguments: tuple[Any, ...]
    """What new workers are set up with."""

    def start(self) -> Worker:
        """A new worker, which will say when it is ready."""
        ...

    def wait(self, workers: Sequence[Any], timeout: float | None) -> list[Any]:
        """Those workers that have something to say, or none after so many seconds."""
        ...


class _Local:
    """A worker that is no process: it does its unit when it is asked for the answer."""

    def __init__(self, setup: Setup, arguments: tuple[Any, ...]) -> None:
        self._setup, self._arguments = setup, arguments
        self._work: Callable[..., Any] | None = None
        self._ready = False
        self._units: deque[Unit] = deque()
        self._cancelled = 0

    def send(self, unit: Unit) -> None:
        self._units.append(unit)

    def receive(self) -> Message:
        if not self._ready:
            self._work = renewed(self._work, self._setup, self._arguments)  # its exceptions are the caller's own
            self._ready = True
            return Ready(heeds=True)  # nothing is under way while the pool looks
        unit = self._units.popleft()
        if self._cancelled:
            self._cancelled -= 1
            return CANCELLED
        assert self._work is not None
        try:
            return Done(self._work(*unit.arguments))
        except Exception as error:  # noqa: BLE001 - it is the unit's failure, whatever it is
            return raised(error)

    def has_something_to_say(self) -> bool:
        return not self._ready or bool(self._units)

    def set_up(self, arguments: tuple[Any, ...]) -> None:
        self._arguments, self._ready = arguments, False

    def cancel(self) -> None:
        self._cancelled = len(self._units)

    def dismiss(self) -> None:
        """Nothing to wait for."""

    def end(self, patience: float = 0.0) -> None:  # noqa: ARG002 - the shape of a worker
        work, self._work = self._work, None
        close(work)


class InProcess:
    """No processes: units are done one after the other, here. Nothing can be killed, so deadlines are not kept."""

    def __init__(self, setup: Setup, arguments: tuple[Any, ...]) -> None:
        self._setup, self.arguments = setup, arguments

    def start(self) -> _Local:
        """The worker, which is this process."""
        return _Local(self._setup, self.arguments)

    def wait(self, workers: Sequence[_Local], timeout: float | None) -> list[_Local]:  # noqa: ARG002 - the shape of a transport
        """Whoever has a unit to do."""
        return [worker for worker in workers if worker.has_something_to_say()]


def renewed(work: Any, setup: Setup, arguments: tuple[Any, ...]) -> Any:
    """Return what does the units from now on: `work` itself, where its method `renew` takes the new arguments, else what `setup` returns."""
    if callable(method := getattr(work, "renew", None)):
        method(*arguments)
        return work
    close(work)
    return resolve(setup)(*arguments)


def close(work: Any) -> None:
    """What a setup has returned may have something to put in order at the end."""
    if callable(method := getattr(work, "close", None)):
        method()


def raised(error: BaseException) -> Raised:
    """An exception as it travels: in words."""
    return Raised(f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))
