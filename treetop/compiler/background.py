"""Compile kernels in a child process while the search goes on.

The child is a fork of this process, so it knows every game, also one that was written in a notebook. It puts the code
into the cache and exits; this process loads it from there. Where processes cannot be forked safely nothing is compiled
in the background, and a game stays on the indirect tier until `treetop warmup` or `tier="direct"` asks for more.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections import deque
from typing import Any, ClassVar, Protocol

_NICENESS = 10  # the search that waits for it has precedence


class Compilable(Protocol):
    """Code that can be compiled into the cache."""

    def prepare(self) -> None:
        """Load the code from the cache, or compile and save it."""
        ...


class BackgroundCompiler:
    """A queue of code to compile, with one child process at a time."""

    _waiting: ClassVar[deque[Any]] = deque()
    _current: ClassVar[Any] = None
    _child: ClassVar[int | None] = None
    _process: ClassVar[int] = os.getpid()

    @classmethod
    def start(cls, code: Compilable) -> bool:
        """Compile code in the background; return False where that is not possible."""
        if sys.platform != "linux":
            return False
        if cls._process != os.getpid():  # this process is a fork itself: the children belong to its parent
            cls._process, cls._current, cls._child = os.getpid(), None, None
            cls._waiting.clear()
        cls._waiting.append(code)
        cls._next()
        return True

    @classmethod
    def is_done(cls, code: Compilable) -> bool:
        """Return whether the child that compiles `code` has ended. The next one is started then."""
        if cls._child is not None and _has_ended(cls._child):
            cls._child = cls._current = None
        cls._next()
        return code is not cls._current and code not in cls._waiting

    @classmethod
    def _next(cls) -> None:
        if cls._child is None and cls._waiting:
            cls._current = cls._waiting.popleft()
            cls._child = _fork(cls._current)


def _has_ended(child: int) -> bool:
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except ChildProcessError:  # the program waits for all its children itself
        return True


def _fork(code: Compilable) -> int:
    """Compile code in a forked process; return its process id."""
    from numba.core.compiler_lock import global_compiler_lock

    with global_compiler_lock:  # no other thread is compiling, so the child finds the compiler in a clean state
        child = os.fork()
    if child == 0:
        status = 1
        try:
            gc.disable()  # a collection would copy the memory that the processes share
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            os.setsid()  # Ctrl-C is not for it
            os.nice(_NICENESS)
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            code.prepare()
            status = 0
        finally:
            os._exit(status)
    return child
