"""Workers as spawned processes, each the leader of its own process group, so that it ends with everything it
started.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import queue
import signal
import threading
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

from treetop.workers.transport import CANCELLED, Died, Done, Message, Raised, Ready, broken, close, raised, renewed
from treetop.workers.units import Setup, Unit

_CONTEXT = multiprocessing.get_context("spawn")
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


@dataclass(frozen=True)
class SetUp:
    """A request to be set up, or to be set up again."""

    payload: bytes
    """A setup and its arguments, pickled; apart, so that the request itself can always be read."""

    @classmethod
    def by(cls, setup: Setup, arguments: tuple[Any, ...]) -> SetUp:
        """Return the request for a setup with these arguments."""
        return cls(bytes(ForkingPickler.dumps((setup, arguments))))


@dataclass(frozen=True)
class Cancel:
    """A request to skip the units sent so far."""


@dataclass(frozen=True)
class Dismiss:
    """The last request: no more will come."""


Order = Unit | SetUp | Cancel | Dismiss


class ProcessWorker:
    """A process that does one unit at a time and talks through a pipe."""

    placed, queued = True, False

    def __init__(self, setup: Setup, first: bytes) -> None:
        """Start the process. `first` is its first request, pickled: to be set up."""
        self._setup = setup
        self._pipe, theirs = _CONTEXT.Pipe()
        # Not a daemon: daemons may not start processes, and a player may need to.
        self._process = _CONTEXT.Process(target=_serve, args=(theirs,), name="treetop worker")
        with _ctrl_c_held_back():
            self._process.start()
            theirs.close()
            self._ended = False
            self._death = _open_death(self._process)
            self.forward(first)

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def signs(self) -> tuple[Any, int]:
        """What becomes readable when the worker sends a message or ends.

        Both are needed: a child of the worker that outlives it may hold the other end of the pipe.
        """
        return self._pipe, self._death

    def send(self, unit: Unit) -> None:
        """Send a unit."""
        self._tell(unit)

    def set_up(self, arguments: tuple[Any, ...]) -> None:
        """Ask the worker to be set up again."""
        self._tell(SetUp.by(self._setup, arguments))

    def cancel(self) -> None:
        """Ask the worker to skip the units it was given."""
        self._tell(Cancel())

    def _tell(self, order: Order) -> None:
        self.forward(bytes(ForkingPickler.dumps(order)))

    def forward(self, order: bytes) -> None:
        """Send a pickled request."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it died; `receive` reports that
            self._pipe.send_bytes(order)

    def receive(self) -> Message:
        """Return the next message, or `Died` if the worker is gone."""
        received = self.receive_bytes()
        if isinstance(received, bytes):
            with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError):
                message: Message = pickle.loads(received)
                return message
            self.end()
            received = how_it_ended(self._exit_code)
        return Died(received)

    def receive_bytes(self) -> bytes | str:
        """Return the next message as it was pickled, or how the worker ended."""
        with contextlib.suppress(EOFError, OSError):
            if self._pipe.poll():  # messages sent before it died still count
                return self._pipe.recv_bytes()
        self.end()
        return how_it_ended(self._exit_code)

    def dismiss(self) -> None:
        """Close the pipe, so that an idle worker ends."""
        self._pipe.close()

    def end(self, patience: float = 0.0) -> None:
        """Kill it and its children unless it ends by itself in time, and wait for it, so that no zombie stays."""
        if self._ended:
            return
        self._ended = True
        if patience:
            wait([self._death], patience)
        # Kill the group before waiting for the process: until then no other process can have its id.
        _kill_group(self._process)
        self._process.join()
        self._exit_code = self._process.exitcode
        if self._death != self._process.sentinel:
            os.close(self._death)
        self._process.close()
        self._pipe.close()

    _exit_code: int | None = None


class Processes:
    """Start processes as workers."""

    def __init__(self, setup: Setup, arguments: tuple[Any, ...]) -> None:
        self._setup, self.arguments = setup, arguments
        self.capacity = cores()

    def start(self) -> ProcessWorker:
        """Return a new process."""
        return ProcessWorker(self._setup, pickle.dumps(SetUp.by(self._setup, self.arguments)))

    def close(self) -> None:
        """Do nothing: processes need no connection."""

    def wait(self, workers: Sequence[ProcessWorker], timeout: float | None) -> list[ProcessWorker]:
        """Return the workers that have sent a message or are gone."""
        owners = {sign: worker for worker in workers for sign in worker.signs}
        return list(dict.fromkeys(owners[sign] for sign in wait(list(owners), timeout)))


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Start a process with Ctrl-C blocked (the mask is inherited): one pressed meanwhile reaches only this process, a
    moment later.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # the first process would start it, which would lift the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _open_death(process: Any) -> int:
    """Return a descriptor that becomes readable when a process is gone. The standard one also waits for its forked
    children.
    """
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            return os.pidfd_open(process.pid)
    return int(process.sentinel)


def _kill_group(process: Any) -> None:
    """End a process, its group, and everything else it started, also in other sessions."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, signal.SIGSTOP)  # so that it starts no more processes meanwhile
        _kill_with_groups([process.pid, *_descendants(process.pid)])
    process.kill()  # without groups, or if it ended before it made its own


def _kill_with_groups(pids: list[int]) -> None:
    for pid in pids:
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(pid, _KILL)


def _descendants(pid: int) -> list[int]:
    """Return the children of a process, their children and so on, if the system lists them."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            parent = int(entry.read_text().rpartition(")")[2].split()[1])  # after the name, which may contain anything
            children.setdefault(parent, []).append(int(entry.parent.name))
    found: list[int] = []
    frontier = [pid]
    while frontier:
        born = children.get(frontier.pop(), [])
        found += born
        frontier += born
    return found


def how_it_ended(code: int | None) -> str:
    """Return what an exit code says, as text."""
    if code is None:
        return "the worker disappeared"
    if code >= 0:
        return f"the worker ended with exit code {code}"
    try:
        return f"the worker was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"the worker was killed by signal {-code}"


def _serve(pipe: Connection[Any, Any]) -> None:
    """Run a worker, and at the end kill what it started and did not end."""
    _stand_alone()
    try:
        _work(pipe)
    except BrokenPipeError:
        pass  # the parent is gone: nobody can be informed
    finally:
        _kill_with_groups(_descendants(os.getpid()))


@dataclass(frozen=True)
class _Unreadable:
    """A unit that cannot be unpickled here, and why."""

    error: Exception


class _Inbox:
    """The requests of the parent. A thread reads them from the pipe as they come, also during work: otherwise parent
    and worker could each wait for the other to read.
    """

    def __init__(self, pipe: Connection[Any, Any]) -> None:
        self._pipe = pipe
        self._orders: queue.SimpleQueue[Unit | _Unreadable | SetUp | None] = queue.SimpleQueue()
        self._received = 0
        self._cancelled = 0
        """How many of the units received so far were cancelled."""
        self._started = 0
        threading.Thread(target=self._read, name="reads the pipe", daemon=True).start()

    def next(self) -> Unit | _Unreadable | SetUp | None:
        """Wait for the next request; None if none will come."""
        order = self._orders.get()
        self._started += isinstance(order, Unit | _Unreadable)
        return order

    def cancelled(self) -> bool:
        """Return whether the unit that `next` returned last was cancelled."""
        return self._started <= self._cancelled

    def _read(self) -> None:
        while True:
            try:
                data = self._pipe.recv_bytes()
            except (EOFError, OSError):
                self._orders.put(None)
                return
            try:
                order: Order | _Unreadable = pickle.loads(data)
            except Exception as error:  # noqa: BLE001 - it may name a module that this machine lacks
                order = _Unreadable(error)
            if isinstance(order, Dismiss):
                self._orders.put(None)
                return
            if isinstance(order, Cancel):
                self._cancelled = self._received
                continue
            self._received += isinstance(order, Unit | _Unreadable)
            self._orders.put(order)


def _work(pipe: Connection[Any, Any]) -> None:
    """Set up, then do one unit after the other until the pipe is closed."""
    inbox = _Inbox(pipe)
    work: Any = None
    while (order := inbox.next()) is not None:
        if not isinstance(order, SetUp):
            _answer(pipe, order, work, inbox)
            continue
        try:
            setup, arguments = pickle.loads(order.payload)
            work = renewed(work, setup, arguments)
        except Exception as error:  # noqa: BLE001 - whatever it is, the parent is to know
            pipe.send(broken(error))
            return
        heed = getattr(work, "heed", None)
        if heed is not None:
            heed(inbox.cancelled)
        pipe.send(Ready(heeds=heed is not None))
    close(work)


def _answer(pipe: Connection[Any, Any], unit: Unit | _Unreadable, work: Any, inbox: _Inbox) -> None:
    """Do a unit unless it was cancelled, and send its outcome."""
    try:
        if isinstance(unit, _Unreadable):
            raise unit.error
        answer: Done | Raised = CANCELLED if inbox.cancelled() else Done(work(*unit.arguments))
    except Exception as error:  # noqa: BLE001 - it is the unit's failure, whatever it is
        answer = raised(error)
    try:
        pipe.send(answer)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - a value that cannot be pickled is the unit's failure, not the worker's
        pipe.send(Raised(f"the value cannot be sent: {type(error).__name__}: {error}", traceback.format_exc()))


def _stand_alone() -> None:
    """Make a process group, ignore Ctrl-C (the parent handles it), and end when the parent ends.

    Notices about compiling are left to the parent too: those of several workers would be mixed up.
    """
    os.environ.setdefault("TREETOP_QUIET", "1")
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, name="watches the parent", daemon=True).start()


def _end_with_parent() -> None:
    """End with a parent that was killed: a worker in the middle of a long unit would not look at the pipe."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    if hasattr(os, "killpg"):
        _kill_with_groups(_descendants(os.getpid()))
        os.killpg(0, _KILL)
    os._exit(1)
