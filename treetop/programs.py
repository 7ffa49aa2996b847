"""Run a child program: bytes in and out, a deadline for every wait, and `close` ends everything the program started.

There is one thread and no reader thread: while the caller waits for output, all three pipes are served, so neither side
can block the other for longer than the wait, and a process that forks later has no stray threads.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import selectors
import signal
import subprocess
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

_CHUNK = 1 << 16
_STDERR_KEPT = 2000
_REST_KEPT = 1 << 20
_EXIT_SECONDS = 1.0  # the pipes close a moment before the exit code is known


class ProgramEnded(Exception):  # noqa: N818 - a state, which each protocol reports as its own error
    """The program closed a pipe. The text says which one and how it ended, such as "ended (exit code 3)"."""


@contextlib.contextmanager
def signals_blocked() -> Iterator[None]:
    """Block Ctrl-C and similar signals while a process forks: an exception raised in Python's fork hooks would be
    lost.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepared(prepare: Callable[[], None] | None) -> Callable[[], None] | None:
    """Add to `prepare` that the child handles SIGINT by default, where this process ignores it: shells start background
    jobs so, workers ignore it too, and a child would inherit that and could not be interrupted.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        return prepare

    def restored() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if prepare:
            prepare()

    return restored


class Program:
    """A running program in its own process group. It ends with `close`, when nothing refers to it, or with the
    interpreter.

    `prepare` runs in the child before the program starts, and unblocks the signals there. `patience` is how many
    seconds the program has to end by itself after its last input, and again after SIGTERM; with 0 it is killed at once.
    Raise OSError or SubprocessError if it cannot be started.

    >>> cat = Program(["/bin/cat"])
    >>> cat.send(b"hello")
    >>> cat.receive(5.0)
    b'hello'
    >>> cat.close()
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path | None = None,
        prepare: Callable[[], None] | None = None,
        patience: float = 0.0,
    ) -> None:
        self._owner = os.getpid()
        self._patience = patience
        self._unsent = b""
        self._output = bytearray()
        self._errors = b""
        with signals_blocked() if prepare else contextlib.nullcontext():
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                preexec_fn=_prepared(prepare),
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin, self._stdout, self._stderr = self._process.stdin, self._process.stdout, self._process.stderr
        self._selector = selectors.DefaultSelector()
        for pipe in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(pipe.fileno(), False)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        self.closed = False
        """Whether the program was ended by `close`."""
        _running.add(self)

    @property
    def pid(self) -> int:
        """The id of the process, which is also the id of its group."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process still runs, as far as the system knows."""
        return not self.closed and self._process.poll() is None

    @property
    def stderr(self) -> str:
        """The end of what the program wrote to stderr, at most 2,000 bytes."""
        return self._errors.decode(errors="replace").strip()

    def send(self, data: bytes) -> None:
        """Send bytes. What the program does not take at once is sent by later calls of `receive`."""
        self._unsent += data
        self._write()

    def receive(self, seconds: float) -> bytes:
        """Wait at most so long for output and return it; b"" means that none came yet. Raise ProgramEnded at the end of
        the output.
        """
        for key, _ in self._selector.select(max(0.0, seconds)):
            if key.fileobj is self._stdin:
                self._write()
            elif key.fileobj is self._stderr:
                self._read_errors()
            else:
                self._read()
        return self.take()

    def take(self) -> bytes:
        """Return the output that was read but not yet returned. After `close` that is the last output of the
        program.
        """
        output = bytes(self._output)
        self._output.clear()
        return output

    def interrupt(self) -> None:
        """Send SIGINT to the program."""
        if not self.closed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGINT)

    def close(self, last_input: bytes = b"") -> None:
        """End the program and everything it started: by its last input, then by SIGTERM, then by SIGKILL."""
        if self.closed:
            return
        if last_input:
            with contextlib.suppress(ProgramEnded):
                self.send(last_input)
        self.closed = True
        _running.discard(self)
        if os.getpid() != self._owner:  # a forked child shares the pipes but does not own the process
            return
        try:
            with contextlib.suppress(OSError):
                self._stdin.close()
            if self._patience and not (last_input and self._wait(self._patience)):
                self._signal(signal.SIGTERM)
                self._wait(self._patience)
        finally:
            self._signal(signal.SIGKILL)  # also if the program itself has ended: what it started may still run
            self._process.wait()
            self._read_rest()
            self._selector.close()
            self._stdout.close()
            self._stderr.close()

    def exit_text(self) -> str:
        """Return how the program ended, such as " (exit code 3)" or " (killed by SIGSEGV)", or "" if it still runs."""
        self._wait(_EXIT_SECONDS)
        code = self._process.returncode
        if code is None:
            return ""
        return f" (killed by {signal.Signals(-code).name})" if code < 0 else f" (exit code {code})"

    def _read(self) -> None:
        try:
            chunk = os.read(self._stdout.fileno(), _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            raise ProgramEnded(f"ended{self.exit_text()}")
        self._output += chunk

    def _read_errors(self) -> None:
        try:
            chunk = os.read(self._stderr.fileno(), _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk and self._stderr in self._selector.get_map():
            self._selector.unregister(self._stderr)
        self._errors = (self._errors + chunk)[-_STDERR_KEPT:]

    def _write(self) -> None:
        try:
            written = os.write(self._stdin.fileno(), self._unsent)
        except BlockingIOError:
            written = 0
        except OSError as error:
            raise ProgramEnded(f"reads no more input{self.exit_text()}: {error.strerror}") from error
        self._unsent = self._unsent[written:]
        waiting = self._stdin in self._selector.get_map()
        if self._unsent and not waiting:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        elif waiting and not self._unsent:
            self._selector.unregister(self._stdin)

    def _wait(self, seconds: float) -> bool:
        """Wait for the end of the program and read its output, so that it is not held up. Return whether it ended."""
        deadline = time.monotonic() + seconds
        while self._process.poll() is None:
            if time.monotonic() >= deadline:
                return False
            self._read_rest()
            time.sleep(0.002)
        self._read_rest()
        return True

    def _read_rest(self) -> None:
        self._read_errors()
        with contextlib.suppress(OSError):
            self._output += os.read(self._stdout.fileno(), _CHUNK)
        del self._output[:-_REST_KEPT]

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def __del__(self) -> None:
        if hasattr(self, "closed"):  # it was started
            self.close()


_running: weakref.WeakSet[Program] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for program in list(_running):
        program.close()
