"""How units reach workers and answers come back: the interfaces of the pool, and workers inside this process."""

from __future__ import annotations

import pickle
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
    """A worker could not be set up, so no other worker can be."""

    error: BaseException | None
    """The exception, if it could be sent."""
    reason: str
    traceback: str


@dataclass(frozen=True)
class Done:
    """The value of a unit."""

    value: Any


@dataclass(frozen=True)
class Raised:
    """The function of a unit raised an exception."""

    reason: str
    traceback: str


@dataclass(frozen=True)
class Died:
    """The worker is gone."""

    reason: str
    lost: bool = False
    """Whether it was lost with its machine or the connection to it, whatever the unit did."""


CANCELLED = Raised("cancelled", "")
"""The answer to a cancelled unit."""

Message = Ready | Broken | Done | Raised | Died


class Worker(Protocol):
    """A worker, which does its units one at a time, in the order in which it was given them."""

    @property
    def placed(self) -> bool:
        """Whether it has a machine. Its units can be given to others until then."""
        ...

    @property
    def queued(self) -> bool:
        """Whether it has been waiting for a machine for so long that nothing should wait for it."""
        ...

    def send(self, unit: Unit) -> None:
        """Send a unit, without waiting for those before it. A worker that died meanwhile reports it in its next
        message.
        """
        ...

    def receive(self) -> Message:
        """Return its next message. Call this only after `Transport.wait` has returned the worker."""
        ...

    def set_up(self, arguments: tuple[Any, ...]) -> None:
        """Set the worker up again when it has done its units; it sends `Ready`."""
        ...

    def cancel(self) -> None:
        """Answer the units it was given without doing them. The current one is stopped if its function heeds
        cancellation.
        """
        ...

    def dismiss(self) -> None:
        """Tell an idle worker that no more units come, so that it can clean up and end. `end` must still be called."""
        ...

    def end(self, patience: float = 0.0) -> None:
        """End it and all processes it started, after at most so many seconds. May be called twice."""
        ...


class Transport(Protocol):
    """A source of workers."""

    arguments: tuple[Any, ...]
    """Set the arguments with which new workers are set up."""

    @property
    def capacity(self) -> int:
        """How many workers can work at a time: the cores, or the CPUs of a cluster."""
        ...

    def start(self) -> Worker:
        """Return a new worker, which sends `Ready` when it is."""
        ...

    def wait(self, workers: Sequence[Any], timeout: float | None) -> list[Any]:
        """Return the workers that have a message, or none after so many seconds or earlier."""
        ...

    def close(self) -> None:
        """End the connection, if there is one. The workers have ended."""
        ...


class _Local:
    """A worker in this process: it does its unit when it is asked for the answer."""

    placed, queued = True, False

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
            self._work = renewed(self._work, self._setup, self._arguments)  # its exceptions belong to the caller
            self._ready = True
            return Ready(heeds=True)  # no unit is running while the pool looks
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
        """Do nothing: there is no process to wait for."""

    def end(self, patience: float = 0.0) -> None:  # noqa: ARG002 - the shape of a worker
        work, self._work = self._work, None
        close(work)


class InProcess:
    """Workers without processes: units are done one after the other, here. They cannot be killed, so deadlines are not
    enforced.
    """

    capacity = 1

    def __init__(self, setup: Setup, arguments: tuple[Any, ...]) -> None:
        self._setup, self.arguments = setup, arguments

    def start(self) -> _Local:
        """Return the worker, which is this process."""
        return _Local(self._setup, self.arguments)

    def wait(self, workers: Sequence[_Local], timeout: float | None) -> list[_Local]:  # noqa: ARG002
        """Return the workers that have a unit to do."""
        return [worker for worker in workers if worker.has_something_to_say()]

    def close(self) -> None:
        """Do nothing: there is no connection."""


def renewed(work: Any, setup: Setup, arguments: tuple[Any, ...]) -> Any:
    """Return the function for the next units: `work` itself if its method `renew` takes the new arguments, else what
    `setup` returns.
    """
    if callable(method := getattr(work, "renew", None)):
        method(*arguments)
        return work
    close(work)
    return resolve(setup)(*arguments)


def close(work: Any) -> None:
    """Call the `close` method of what a setup returned, if it has one."""
    if callable(method := getattr(work, "close", None)):
        method()


def raised(error: BaseException) -> Raised:
    """Return an exception as two texts: its message and its traceback."""
    return Raised(f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))


def broken(error: Exception) -> Broken:
    """Return an exception of a setup as a message, as texts alone if it cannot be pickled."""
    failure = raised(error)
    try:
        pickle.loads(pickle.dumps(error))
        sent: Exception | None = error
    except Exception:  # noqa: BLE001 - some exceptions cannot travel; their words can
        sent = None
    return Broken(sent, failure.reason, failure.traceback)
