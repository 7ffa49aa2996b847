"""Compile kernels in another process while the search goes on.

That process is a fork of this one, so it knows every game, also one that was written in a notebook. It puts the code
into the cache and exits; this process loads it from there. Where processes cannot be forked safely nothing is compiled
in the background, and a game stays on the indirect tier until `treetop warmup` or `tier="direct"` asks for more.

The process must not be noticed by the program: it is forked twice, so that `os.wait` does not return it and no zombie
stays, it has a process group of its own, so that Ctrl-C does not reach it, and it holds none of the program's files and
sockets. It outlives the program, because the next one needs the code.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import sys
import threading
import warnings
from collections import deque
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Protocol

from treetop.compiler.preparing import QUIET

_NICENESS = 5  # the search has precedence, but ends sooner with direct code
_LONGEST = 600  # seconds; a lock that another thread held during the fork may block the process forever


class Compilable(Protocol):
    """Code that can be compiled into the cache."""

    def prepare(self) -> None:
        """Load the code from the cache, or compile and save it."""
        ...

    def is_being_compiled(self) -> bool:
        """Return whether another process is compiling it."""
        ...


class BackgroundCompiler:
    """A queue of code to compile, with one process at a time. All threads share it."""

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _waiting: ClassVar[deque[Any]] = deque()
    _current: ClassVar[Any] = None
    _end: ClassVar[int | None] = None  # a pipe whose other end is closed when the process ends

    @classmethod
    def start(cls, code: Compilable) -> bool:
        """Compile code in the background; return False where that is not possible."""
        if sys.platform != "linux":
            return False
        cls._waiting.append(code)
        cls.is_done(code)
        return True

    @classmethod
    def is_done(cls, code: Compilable) -> bool:
        """Return whether the process that compiles `code` has ended. The next one is started then."""
        if not cls._lock.acquire(blocking=False):
            return False  # another thread is here; ask again later
        try:
            if cls._end is not None and _is_closed(cls._end):
                os.close(cls._end)
                cls._end = cls._current = None
            if cls._end is None:
                cls._start_next()
            return code is not cls._current and code not in cls._waiting
        finally:
            cls._lock.release()

    @classmethod
    def _start_next(cls) -> None:
        """Start with the first code that no other process is compiling."""
        from numba.core.compiler_lock import global_compiler_lock

        code = next((code for code in tuple(cls._waiting) if not code.is_being_compiled()), None)
        # The process needs the compiler in a clean state, so no other thread may be compiling; ask again later.
        if code is None or not global_compiler_lock._lock.acquire(blocking=False):
            return
        try:
            cls._waiting.remove(code)
            cls._end = _fork(code)
            cls._current = code
        except OSError:  # no more processes, memory or files: the code stays on the indirect tier
            pass
        finally:
            global_compiler_lock._lock.release()


def _reset() -> None:
    """Forget the lock in a forked process: another thread may have held it."""
    BackgroundCompiler._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset)


def _is_closed(pipe: int) -> bool:
    """Return whether the process at the other end of a pipe has ended."""
    poll = select.poll()
    poll.register(pipe)
    return bool(poll.poll(0))


def _fork(code: Compilable) -> int:
    """Compile code in another process; return a pipe whose other end is closed when it ends."""
    ours, theirs = os.pipe()
    # A signal between the fork and the first line of the child would run the program's handlers in the child.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12, if there are other threads
            child = os.fork()
        if child == 0:
            _fork_again(code, theirs)
        with contextlib.suppress(ChildProcessError):  # the program waits for all its children itself
            os.waitpid(child, 0)
    except OSError:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return ours


def _fork_again(code: Compilable, pipe: int) -> NoReturn:
    """Compile code in a child of this process, and end."""
    try:
        if os.fork() == 0:
            _stand_alone(pipe)
            code.prepare()
    finally:
        os._exit(0)


def _stand_alone(pipe: int) -> None:
    """Give up everything that belongs to the program, except the pipe."""
    gc.disable()  # a collection would copy the memory that the processes share
    os.environ[QUIET] = "1"
    os.setpgid(0, 0)  # in the same session: the scheduler compares niceness only within one
    os.nice(_NICENESS)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")  # the first to be killed if memory runs out
    nothing = os.open(os.devnull, os.O_RDWR)
    for file in Path("/proc/self/fd").iterdir():  # replaced, not closed: a buffered file must not write to a new one
        if int(file.name) != pipe:
            os.dup2(nothing, int(file.name))
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):
            ignored = number in (signal.SIGINT, signal.SIGHUP)
            signal.signal(number, signal.SIG_IGN if ignored else signal.SIG_DFL)
    signal.alarm(_LONGEST)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
