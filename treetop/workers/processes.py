"""Workers that are processes: spawned, each the head of a process group of its own, so that it ends together with all that it started."""

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
from pathlib import Path
from typing import Any

from treetop.workers.transport import CANCELLED, Broken, Died, Done, Message, Raised, Ready, close, raised, renewed
from treetop.workers.units import Setup, Unit

_CONTEXT = multiprocessing.get_context("spawn")
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


@dataclass(frozen=True)
class _SetUp:
    """Be set up anew with these arguments."""

    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class _Cancel:
    """The units sent so far need not be done."""


_Order = Unit | _SetUp | _Cancel


class ProcessWorker:
    """A process that does one unit at a time, spoken to through a pipe."""

    def __init__(self, setup: Setup, arguments: tuple[Any, ...]) -> None:
        self._pipe, theirs = _CONTEXT.Pipe()
        # Not a daemon: those may not have processes of their own, and a player may need some.
        self._process = _CONTEXT.Process(target=_serve, args=(theirs, setup, arguments), name="treetop worker")
        with _ctrl_c_held_back():
            self._process.start()
        theirs.close()
        self._ended = False
        self._death = _open_death(self._process)

    @property
    def pid(self) -> int:
        """The process's number, which is its group's too."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def signs(self) -> tuple[Any, int]:
        """What becomes readable when the worker has something to say, and when it is gone.

        Both are needed: a child of the worker that outlives it may hold the other end of the pipe.
        """
        return self._pipe, self._death

    def send(self, unit: Unit) -> None:
        """Hand over a unit."""
        self._tell(unit)

    def set_up(self, arguments: tuple[Any, ...]) -> None:
        """Ask it to be set up anew."""
        self._tell(_SetUp(arguments))

    def cancel(self) -> None:
        """Ask it to leave the units that it was given."""
        self._tell(_Cancel())

    def _tell(self, order: _Order) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it died; `receive` reports that
            self._pipe.send(order)

    def receive(self) -> Message:
        """The next message; a worker that is gone has none."""
        try:
            if self._pipe.poll():  # what it has said before it died still counts
                message: Message = self._pipe.recv()
                return message
        except (EOFError, OSError, pickle.UnpicklingError):
            pass
        self.end()
        return Died(_how_it_ended(self._exit_code))

    def dismiss(self) -> None:
        """Close the pipe: a worker that waits for a unit sees that there will be none."""
        self._pipe.close()

    def end(self, patience: float = 0.0) -> None:
        """Kill it and its children, unless it ends by itself in time, and wait for it: no zombie stays."""
        if self._ended:
            return
        self._ended = True
        if patience:
            wait([self._death], patience)
        # The group before the process is waited for: until then nobody else can have its number.
        _kill_group(self._process)
        self._process.join()
        self._exit_code = self._process.exitcode
        if self._death != self._process.sentinel:
            os.close(self._death)
        self._process.close()
        self._pipe.close()

    _exit_code: int | None = None


class Processes:
    """Starts processes as workers."""

    def __init__(self, setup: Setup, arguments: tuple[Any, ...]) -> None:
        self._setup, self.arguments = setup, arguments

    def start(self) -> ProcessWorker:
        """A new process."""
        return ProcessWorker(self._setup, self.arguments)

    def wait(self, workers: Sequence[ProcessWorker], timeout: float | None) -> list[ProcessWorker]:
        """Those that have written something, or are gone."""
        owners = {sign: worker for worker in workers for sign in worker.signs}
        return list(dict.fromkeys(owners[sign] for sign in wait(list(owners), timeout)))


@contextlib.contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """A new process begins with Ctrl-C blocked, as the mask is inherited: one pressed meanwhile comes to us alone, a moment later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # the first process starts it, and that would lift the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _open_death(process: Any) -> int:
    """A descriptor that becomes readable when a process is gone. The standard one waits for its children too, if they were forked."""
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            return os.pidfd_open(process.pid)
    return int(process.sentinel)


def _kill_group(process: Any) -> None:
    """End a process, its group, and whatever else it has started, in sessions of their own too."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, signal.SIGSTOP)  # so that nobody is born while we look
        _kill_with_groups([process.pid, *_descendants(process.pid)])
    process.kill()  # where there are no groups, or it was too young to have made its own


def _kill_with_groups(pids: list[int]) -> None:
    for pid in pids:
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(pid, _KILL)


def _descendants(pid: int) -> list[int]:
    """The children of a process, their children and so on, where the system lists them."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            parent = int(entry.read_text().rpartition(")")[2].split()[1])  # after the name, which may hold anything
            children.setdefault(parent, []).append(int(entry.parent.name))
    found: list[int] = []
    frontier = [pid]
    while frontier:
        born = children.get(frontier.pop(), [])
        found += born
        frontier += born
    return found


def _how_it_ended(code: int | None) -> str:
    if code is None:
        return "the worker vanished"
    if code >= 0:
        return f"the worker ended itself with exit code {code}"
    try:
        return f"the worker was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"the worker was killed by signal {-code}"


def _serve(pipe: Connection[Any, Any], setup: Setup, arguments: tuple[Any, ...]) -> None:
    """The life of a worker, and the end of whatever it has started and not ended."""
    _stand_alone()
    try:
        _work(pipe, setup, arguments)
    except BrokenPipeError:
        pass  # the parent is gone, so there is nobody to tell
    finally:
        _kill_with_groups(_descendants(os.getpid()))


class _Inbox:
    """The orders of the parent. They are taken off the pipe as they come, also during work: the parent must not wait for space in the pipe while we wait until it has read a value."""

    def __init__(self, pipe: Connection[Any, Any]) -> None:
        self._pipe = pipe
        self._orders: queue.SimpleQueue[Unit | _SetUp | Exception] = queue.SimpleQueue()
        self._received = 0
        self._cancelled = 0
        """How many of the units received so far nobody wants any more."""
        self._begun = 0
        threading.Thread(target=self._read, name="reads the pipe", daemon=True).start()

    def next(self) -> Unit | _SetUp | Exception:
        """Wait for the next order; an exception where none will come."""
        order = self._orders.get()
        self._begun += isinstance(order, Unit)
        return order

    def cancelled(self) -> bool:
        """Whether the unit that `next` has returned last was cancelled."""
        return self._begun <= self._cancelled

    def _read(self) -> None:
        while True:
            try:
                order = self._pipe.recv()
            except Exception as error:  # noqa: BLE001 - whatever it is, nothing more will come
                self._orders.put(error)
                return
            if isinstance(order, _Cancel):
                self._cancelled = self._received
                continue
            self._received += isinstance(order, Unit)
            self._orders.put(order)


def _work(pipe: Connection[Any, Any], setup: Setup, arguments: tuple[Any, ...]) -> None:
    """Set up, then do one unit after the other until the pipe is closed."""
    inbox = _Inbox(pipe)
    work: Any = None
    order: Unit | _SetUp | Exception = _SetUp(arguments)
    while True:
        if isinstance(order, EOFError | ConnectionResetError):
            close(work)
            return
        if isinstance(order, Exception):
            raise order
        if isinstance(order, Unit):
            _answer(pipe, order, work, inbox)
        else:
            try:
                work = renewed(work, setup, order.arguments)
            except Exception as error:  # noqa: BLE001 - whatever it is, the parent is to know
                _send_broken(pipe, error)
                return
            heed = getattr(work, "heed", None)
            if heed is not None:
                heed(inbox.cancelled)
            pipe.send(Ready(heeds=heed is not None))
        order = inbox.next()


def _answer(pipe: Connection[Any, Any], unit: Unit, work: Any, inbox: _Inbox) -> None:
    """Do a unit that is still wanted, and send what became of it."""
    try:
        answer: Done | Raised = CANCELLED if inbox.cancelled() else Done(work(*unit.arguments))
    except Exception as error:  # noqa: BLE001 - it is the unit's failure, whatever it is
        answer = raised(error)
    try:
        pipe.send(answer)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - a value that cannot be pickled is the unit's failure, not the worker's
        pipe.send(Raised(f"the value cannot be sent: {type(error).__name__}: {error}", traceback.format_exc()))


def _send_broken(pipe: Connection[Any, Any], error: Exception) -> None:
    told = raised(error)
    try:
        pickle.loads(pickle.dumps(error))
        sent: Exception | None = error
    except Exception:  # noqa: BLE001 - some exceptions cannot travel; their words can
        sent = None
    pipe.send(Broken(sent, told.reason, told.traceback))


def _stand_alone() -> None:
    """A group of its own, deaf to Ctrl-C, which is the parent's business; and no life after the parent's.

    Notices of compiling are the parent's business too: those of several workers would be mixed up.
    """
    os.environ.setdefault("TREETOP_QUIET", "1")
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, name="watches the parent", daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed can tell nobody, and a worker in the middle of a long unit would not look at the pipe."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    if hasattr(os, "killpg"):
        _kill_with_groups(_descendants(os.getpid()))
        os.killpg(0, _KILL)
    os._exit(1)
