"""A running `coqidetop`: calls go in, answers come out, every wait has an end, and a tactic that eats the memory ends nothing but this process.

It knows nothing of proofs. A process that was killed or fell is not revived here: who uses it starts another.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

from treetop.errors import ProverError
from treetop.prove.coq import protocol
from treetop.prove.coq.protocol import Answer
from treetop.prove.coq.scratch import Scratch
from treetop.prove.coq.settings import LoadPath

PROGRAM = "coqidetop.opt"
_CHUNK = 1 << 16
_LARGEST = 1 << 26  # bytes of one answer
_LAST_WORDS = 2000
_START_SECONDS = 30.0
_MANNERS = ("-q", "-main-channel", "stdfds", "--xml_format=Ppcmds", "-w", "none",
            "-async-proofs-command-error-resilience", "off", "-async-proofs-tactic-error-resilience", "off")  # fmt: skip
"""No file of the user's habits, texts as documents, no warnings; and an error is an error: left to itself, Coq goes on as if the proof were done."""
_GREETING = "Skipping rcfile loading."
_CLOSING_TAGS = (b"</value>", b"</feedback>")


class CoqDied(ProverError):  # noqa: N818 - it is a state of affairs, and never leaves the room
    """The process is gone: it was killed, or fell."""


def find_program(name: str) -> str:
    """The path of one of Coq's programs, or an error that says how to install it."""
    if os.name != "posix":
        raise ProverError("Coq is driven by signals and process groups: that needs Linux, macOS or WSL")
    found = shutil.which(name)
    if found is None:
        raise ProverError(f"Coq is not installed (there is no program {name}): apt-get install coq")
    return found


def limits(memory_mb: int) -> Callable[[], None]:
    """What a child does before it becomes Coq: it dies with its parent where the system can do that, and its memory has a bound."""
    import resource  # it is not there on every system that can import this file

    library = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    size = memory_mb << 20

    def prepare() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if library is not None:
            library.prctl(1, signal.SIGKILL)
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        bound = size if hard == resource.RLIM_INFINITY else min(size, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (bound, bound))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return prepare


@contextlib.contextmanager
def signals_held_back() -> Iterator[None]:
    """Let Ctrl-C and the like wait while a process is started: an exception raised within Python's hooks around a fork would be lost."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class CoqProcess:
    """One `coqidetop` in a process group of its own. `close` leaves nothing of it; the end of the interpreter closes it too."""

    def __init__(self, load_path: LoadPath, options: Sequence[str] = (), memory_mb: int = 4096) -> None:
        self._owner = os.getpid()
        self._workplace = Scratch()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self.closed = True
        try:
            load_path.furnish(self._workplace.path)
            command = [find_program(PROGRAM), *_MANNERS, *load_path.options, *options]
            with signals_held_back():
                self._process = subprocess.Popen(
                    command,
                    cwd=self._workplace.path,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    bufsize=0,
                    start_new_session=True,
                    preexec_fn=limits(memory_mb),
                )
        except (OSError, subprocess.SubprocessError) as error:
            self._clean()
            raise ProverError(f"Coq cannot be started: {error}") from error
        except ProverError:
            self._clean()
            raise
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        os.set_blocking(self._stdin.fileno(), False)
        os.set_blocking(self._stdout.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._received = bytearray()
        self._searched = 0
        self._unsent = b""
        self._answers: deque[Answer] = deque()
        self._feedback: list[str] = []
        self.expected = 0
        """How many answers are still to come."""
        self.closed = False
        _running.add(self)
        try:
            self.version = self._greet()
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The number of the process and of its group."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs, as far as the system knows."""
        return not self.closed and self._process.poll() is None

    def call(self, *calls: str, seconds: float) -> list[Answer]:
        """Send calls at once and wait for all their answers. Where they do not come in time, the process is ended."""
        self.send(*calls)
        deadline = time.monotonic() + seconds
        answers = []
        while self.expected:
            answer = self.receive(deadline - time.monotonic())
            if answer is None:
                self.close()
                raise CoqDied(f"Coq gave no answer within {seconds:g} s and was ended")
            answers.append(answer)
        return answers

    def send(self, *calls: str) -> None:
        """Send calls. What does not fit into the pipe goes out while we wait for answers."""
        if self.closed:
            raise CoqDied("Coq was ended")
        self.expected += len(calls)
        self._unsent += "".join(calls).encode("utf-8", "surrogateescape")
        self._write()

    def receive(self, seconds: float) -> Answer | None:
        """The next answer, or None where none comes in this time."""
        deadline = time.monotonic() + seconds
        while not self._answers:
            if self.closed:
                raise CoqDied("Coq was ended")
            for key, _ in self._selector.select(max(0.0, deadline - time.monotonic())):
                if key.fileobj is self._stdin:
                    self._write()
                else:
                    self._read()
            if not self._answers and time.monotonic() >= deadline:
                return None
        self.expected -= 1
        return self._answers.popleft()

    def interrupt(self) -> None:
        """Ask Coq to stop what it does. It answers, and lives."""
        if not self.closed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGINT)

    def close(self) -> None:
        """End the process and all that it has started, at once."""
        if self.closed:
            return
        self.closed = True
        _running.discard(self)
        if os.getpid() != self._owner:  # a forked child has the pipes and not the process
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._selector.close()
        for pipe in (self._stdin, self._stdout):
            with contextlib.suppress(OSError):
                pipe.close()
        self._clean()

    def _greet(self) -> str:
        """Make sure that we speak one language. Gives Coq's version."""
        try:
            about, ready = self.call(protocol.ABOUT, protocol.INIT, seconds=_START_SECONDS)
        except CoqDied as error:
            raise ProverError(f"Coq does not start: {error}") from error
        version, spoken = about.about
        if not about.good or spoken < protocol.OLDEST_PROTOCOL:
            raise ProverError(
                f"Coq {version} is too old: its protocol is {spoken}, and 8.15 with {protocol.OLDEST_PROTOCOL} is the oldest that works"
            )
        if not ready.good or ready.state != 1:
            raise ProverError(f"Coq {version} does not start: {ready.refusal}")
        return version

    def _write(self) -> None:
        if self._unsent:
            try:
                written = os.write(self._stdin.fileno(), self._unsent)
            except BlockingIOError:
                written = 0
            except OSError:
                self._fallen()
            self._unsent = self._unsent[written:]
        waiting = self._stdin in self._selector.get_map()
        if self._unsent and not waiting:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        elif waiting and not self._unsent:
            self._selector.unregister(self._stdin)

    def _read(self) -> None:
        try:
            chunk = os.read(self._stdout.fileno(), _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._fallen()
        self._received += chunk
        if len(self._received) > _LARGEST:
            self.close()
            raise CoqDied(f"Coq's answer is larger than {_LARGEST >> 20} MB")
        self._cut()

    def _cut(self) -> None:
        """Take whole elements out of what was received."""
        start = 0
        while True:
            ends = [
                (found, tag)
                for tag in _CLOSING_TAGS
                if (found := self._received.find(tag, max(start, self._searched))) >= 0
            ]
            if not ends:
                break
            found, tag = min(ends)
            element = bytes(self._received[start : found + len(tag)]).strip()
            start = self._searched = found + len(tag)
            if tag == b"</value>":
                self._answers.append(Answer(element.decode(errors="replace"), tuple(self._feedback)))
                self._feedback = []
            elif b'val="message"' in element:
                self._feedback.append(element.decode(errors="replace"))
        del self._received[:start]
        self._searched = max(0, len(self._received) - len(_CLOSING_TAGS[1]))

    def _fallen(self) -> NoReturn:
        """The pipes are closed: say how it ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        code = self._process.returncode
        how = (
            "" if code is None else f" (killed by {signal.Signals(-code).name})" if code < 0 else f" (exit code {code})"
        )
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _LAST_WORDS))
        words = " ".join(self._errors.read().decode(errors="replace").removeprefix(_GREETING).split())
        self.close()
        raise CoqDied(f"Coq ended{how}{f': {words}' if words else ''}")

    def _clean(self) -> None:
        self._errors.close()
        self._workplace.close()

    def __del__(self) -> None:
        if hasattr(self, "closed"):
            self.close()


_running: weakref.WeakSet[CoqProcess] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    for process in list(_running):
        process.close()
