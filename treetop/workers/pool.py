"""Distribute named, independent units of work over workers, with deadlines, retries and a clean end.

::

    def setup(game):                       # called once in each worker
        players = make_players(game)
        def play(index): ...               # called once a unit
        return play

    with Pool("my_module:setup", ("othello",), workers=4, deadline=60.0) as pool:
        for outcome in pool.run(Unit(f"game {index}", (index,)) for index in range(100)):
            ...                            # in the order in which they finish
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from treetop import checks
from treetop.errors import ConfigError, TreetopError
from treetop.workers.places import transport_for
from treetop.workers.sending import Luggage
from treetop.workers.transport import Broken, Died, Done, Message, Raised, Ready, Transport, Worker
from treetop.workers.units import Failure, Outcome, Setup, Unit, WorkerError

_ATTEMPTS = 2  # deaths of a unit's process until the unit itself is the likely cause
_LOSSES = 10  # machines lost while they worked on a unit, until the unit is a possible cause
_LOOKS = 0.2  # seconds between two questions whether a run is stopped
_PATIENCE = 5.0  # seconds that idle workers have to end by themselves
_DEATHS_BEFORE_READY = 3  # in a row: then the cause is systematic


@dataclass
class _Task:
    """A unit and how often it was tried."""

    unit: Unit
    attempts: int = 0
    losses: int = 0
    """How many attempts ended with the loss of a machine; they do not count as attempts."""


@dataclass(eq=False)
class _Seat:
    """A worker and its units."""

    worker: Worker
    tasks: deque[_Task] = field(default_factory=deque)
    """The units it was given; it works on the first one."""
    ready: bool = False
    heeds: bool = False
    """Whether it can be kept when the unit it works on is cancelled."""
    unwanted: int = 0
    """How many of its next answers belong to cancelled units."""
    due: float | None = None
    """The deadline of its first unit."""


class Pool:
    """A group of workers that share units of work. `on` says where they are: in processes of this machine (default), or
    on a Ray cluster (`"ray"`, `"ray://host:port"`), to which `luggage` travels. With 0 or 1 workers on this machine no
    process is started and deadlines are not enforced. Default: one worker for each core, or each CPU of the cluster.

    `setup` is a function of a module, or its name as `module:function`. Each worker calls it once, with `arguments`;
    the function it returns is called with the arguments of each unit. A unit whose worker dies is tried once more; a
    unit that takes longer than `deadline` seconds is not. The loss of a machine is not the unit's attempt: it is done
    again elsewhere, up to ten times. If the returned function has a method `renew`, it is kept when the workers are set
    up again. If it has a method `heed`, it is given a function that says whether the unit was cancelled, and the worker
    survives a cancelled unit. `ahead` is how many more units a worker holds while it works on one, so that it need not
    wait for the next.
    """

    def __init__(
        self,
        setup: Setup,
        arguments: tuple[Any, ...] = (),
        *,
        workers: int | None,
        deadline: float | None = None,
        transport: Transport | None = None,
        ahead: int = 0,
        on: str | None = None,
        luggage: Luggage = Luggage(),  # noqa: B008 - it is frozen
    ) -> None:
        wanted = checks.whole("workers", workers, 0, optional=True)
        self.deadline = checks.number("deadline", deadline, above=0, finite=False, unit="seconds", optional=True)
        self.ahead = checks.whole("ahead", ahead, 0)
        self._transport = transport_for(on, setup, arguments, wanted, luggage) if transport is None else transport
        self.workers = max(self._transport.capacity if wanted is None else wanted, 1)
        self._seats: list[_Seat] = []
        self._deaths = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(patience=0.0 if error is not None else _PATIENCE)

    def close(self, patience: float = _PATIENCE) -> None:
        """End all workers: busy ones at once, idle ones after at most `patience` seconds, so that they can clean up."""
        waiting = [seat for seat in self._seats if seat.ready and not seat.tasks and not seat.unwanted and patience > 0]
        for seat in waiting:
            seat.worker.dismiss()
        until = time.monotonic() + patience
        while self._seats:
            seat = self._seats[-1]
            seat.worker.end(max(0.0, until - time.monotonic()) if seat in waiting else 0.0)
            self._seats.pop()
        self._transport.close()

    def set_up(self, *arguments: Any) -> None:
        """Set up all workers with these arguments (again, if they exist) and return at once. See `wait_until_ready`.

        Workers that are not ready yet are replaced: their `Ready` would be of other arguments.
        """
        self._transport.arguments = arguments
        for seat in list(self._seats):
            if not seat.ready:
                self._remove(seat)
                continue
            seat.ready = False
            seat.worker.set_up(arguments)
        self._start_missing()

    def wait_until_ready(self) -> None:
        """Wait until all workers are set up, so that a clock started then counts only work. A worker that dies is
        replaced. Those for which the cluster has no CPU join later, but one must be ready.
        """
        nothing = _Queue(())
        self._start_missing()
        while not (
            any(seat.ready for seat in self._seats) and all(seat.ready or seat.worker.queued for seat in self._seats)
        ):
            self._turn(nothing)
            self._start_missing()

    def _start_missing(self) -> None:
        while len(self._seats) < self.workers:
            self._seats.append(_Seat(self._transport.start()))

    def run(self, units: Iterable[Unit], *, stopped: Callable[[], bool] | None = None) -> Iterator[Outcome]:
        """Run all units and yield their outcomes as they finish. Units are taken from the iterable when a worker can
        take them.

        An iterator that has no unit now may have one later: it is asked again after each outcome that the caller has
        taken. Stopping early ends the workers that are busy, unless they heed the cancellation; the others wait for the
        next call. `stopped` is asked a few times a second while workers are busy: the run stops early when it is true.
        """
        queue = _Queue(units)
        try:
            self._fill(queue)
            while any(seat.tasks for seat in self._seats):
                if stopped is not None and stopped():
                    return
                finished = self._turn(queue, None if stopped is None else _LOOKS)
                try:
                    self._fill(queue)  # first, so that no worker waits while the caller looks at a value
                finally:
                    yield from finished
                self._fill(queue)  # the caller may have added units after looking at them
                self._fill_ahead(queue)
        finally:
            for seat in [seat for seat in self._seats if seat.tasks]:
                self._abandon(seat)

    def _fill(self, queue: _Queue) -> None:
        """Give each idle worker a unit, ready ones first, and start workers while there are units for them."""
        for seat in sorted((seat for seat in self._seats if not seat.tasks), key=lambda seat: not seat.ready):
            if not self._give(seat, queue):
                return
        while len(self._seats) < self.workers and (task := queue.take()) is not None:
            self._seats.append(_Seat(self._transport.start(), deque([task])))

    def _fill_ahead(self, queue: _Queue) -> None:
        """Give workers the units they hold in advance, those with the fewest first."""
        for count in range(1, self.ahead + 1):
            for seat in [seat for seat in self._seats if seat.ready and len(seat.tasks) == count]:
                if not self._give(seat, queue):
                    return

    def _give(self, seat: _Seat, queue: _Queue) -> bool:
        """Send a unit to a worker that is ready, if there is one: a new one, else one of a worker without a machine."""
        task = queue.take()
        if task is None and seat.ready and not seat.tasks:
            late = next((other for other in self._seats if other.tasks and not other.worker.placed), None)
            task = None if late is None else late.tasks.popleft()
        if task is None:
            return False
        seat.tasks.append(task)
        if seat.ready:
            seat.worker.send(task.unit)
            if len(seat.tasks) == 1:
                self._begin(seat)
        return True

    def _abandon(self, seat: _Seat) -> None:
        """Cancel what a worker is doing, or end the worker if it would not heed that."""
        if not (seat.ready and seat.heeds):
            self._remove(seat)
            return
        seat.worker.cancel()
        seat.unwanted += len(seat.tasks)
        seat.tasks.clear()
        seat.due = None

    def _begin(self, seat: _Seat) -> None:
        """Start the deadline of a worker's first unit."""
        seat.due = None
        if seat.tasks:
            seat.tasks[0].attempts += 1
            seat.due = None if self.deadline is None else time.monotonic() + self.deadline

    def _turn(self, queue: _Queue, longest: float | None = None) -> list[Outcome]:
        """Wait until a worker sends a message or a deadline passes, `longest` seconds at most, and handle it."""
        due = [max(0.0, seat.due - time.monotonic()) for seat in self._seats if seat.due is not None]
        timeout = min([*due, *([] if longest is None else [longest])], default=None)
        by_worker = {id(seat.worker): seat for seat in self._seats}
        spoke = [
            by_worker[id(worker)] for worker in self._transport.wait([seat.worker for seat in self._seats], timeout)
        ]
        finished: list[Outcome] = []
        for seat in spoke:
            finished += self._handle(seat, seat.worker.receive(), queue)
        now = time.monotonic()
        for seat in [seat for seat in self._seats if seat.due is not None and seat.due <= now and seat not in spoke]:
            task = seat.tasks.popleft()
            self._remove(seat)
            queue.put_back(seat.tasks)
            finished.append(_failed(task, Failure.deadline, f"it took longer than {self.deadline:g} s"))
        return finished

    def _handle(self, seat: _Seat, message: Message, queue: _Queue) -> list[Outcome]:
        match message:
            case Ready():
                self._deaths = 0
                seat.ready, seat.heeds = True, message.heeds
                for task in seat.tasks:
                    seat.worker.send(task.unit)
                self._begin(seat)
            case Broken():
                self._remove(seat)
                if isinstance(message.error, TreetopError):
                    raise message.error
                raise WorkerError(f"a worker could not be set up: {message.reason}\n{message.traceback}")
            case Died():
                self._remove(seat)
                return self._handle_death(seat, message, queue)
            case Done() | Raised() if seat.unwanted:
                seat.unwanted -= 1
            case Done() | Raised():
                task = seat.tasks.popleft()
                self._begin(seat)
                if isinstance(message, Done):
                    return [Outcome(task.unit, message.value, attempts=task.attempts)]
                return [_failed(task, Failure.raised, message.reason, message.traceback)]
        return []

    def _handle_death(self, seat: _Seat, message: Died, queue: _Queue) -> list[Outcome]:
        if not seat.ready:
            self._deaths += 1
            if self._deaths >= (_LOSSES if message.lost else _DEATHS_BEFORE_READY):
                advice = "" if message.lost else '. Start workers under `if __name__ == "__main__":`'
                raise WorkerError(
                    f"{message.reason} before it was ready, {self._deaths} times in a row. See its output on "
                    f"stderr{advice}"
                )
        failed: list[Outcome] = []
        if seat.tasks and seat.ready:
            task = seat.tasks[0]
            if message.lost:
                task.attempts, task.losses = task.attempts - 1, task.losses + 1
            if task.attempts >= _ATTEMPTS or task.losses >= _LOSSES:
                seat.tasks.popleft()
                times = task.losses if message.lost else task.attempts
                failed.append(_failed(task, Failure.died, f"{message.reason}, {times} times"))
        queue.put_back(seat.tasks)
        return failed

    def _remove(self, seat: _Seat) -> None:
        seat.worker.end()
        self._seats.remove(seat)


class _Queue:
    """The units to do: returned ones first, then new ones."""

    def __init__(self, units: Iterable[Unit]) -> None:
        self._source = iter(units)
        self._back: deque[_Task] = deque()
        self._names: set[str] = set()

    def take(self) -> _Task | None:
        """Return the next unit, or None."""
        if self._back:
            return self._back.popleft()
        unit = next(self._source, None)
        if unit is None:
            return None
        if unit.id in self._names:
            raise ConfigError(f"two units of work have the id {unit.id!r}")
        self._names.add(unit.id)
        return _Task(unit)

    def put_back(self, tasks: Iterable[_Task]) -> None:
        """Return units to the queue."""
        self._back.extend(tasks)


def _failed(task: _Task, failure: Failure, reason: str, traceback: str = "") -> Outcome:
    return Outcome(task.unit, None, failure, reason, traceback, task.attempts)
