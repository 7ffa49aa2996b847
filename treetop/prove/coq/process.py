"""Talk to a running `coqidetop`: send calls, receive answers, with a deadline for every wait and a bound on its memory.

Nothing here knows about proofs. A process that was killed or crashed is not restarted here; its user starts another.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NoReturn

from treetop.errors import ProverError
from treetop.programs import Program, ProgramEnded
from treetop.prove.coq import protocol
from treetop.prove.coq.protocol import Answer
from treetop.prove.coq.scratch import Scratch
from treetop.prove.coq.settings import LoadPath

PROGRAM = "coqidetop.opt"
_LARGEST = 1 << 26  # bytes of one answer
_START_SECONDS = 30.0
_OPTIONS = ("-q", "-main-channel", "stdfds", "--xml_format=Ppcmds", "-w", "none",
            "-async-proofs-command-error-resilience", "off",
            "-async-proofs-tactic-error-resilience", "off")  # fmt: skip
"""No user configuration, structured output, no warnings; and errors are errors: by default Coq continues as if the
proof were complete."""
_GREETING = "Skipping rcfile loading."
_CLOSING_TAGS = (b"</value>", b"</feedback>")


class CoqDied(ProverError):  # noqa: N818 - a state, which never leaves this package
    """The process is gone: it was killed, or crashed."""


def find_program(name: str) -> str:
    """Return the path of one of Coq's programs. Raise a ProverError that says how to install it if it is missing."""
    if os.name != "posix":
        raise ProverError("Coq runs in process groups, which need Linux, macOS or WSL")
    found = shutil.which(name)
    if found is None:
        raise ProverError(f"Coq is not installed (there is no program {name}): apt-get install coq")
    return found


def limits(memory_mb: int) -> Callable[[], None]:
    """Return what a child runs before it starts Coq: it bounds its memory and, on Linux, dies with its parent."""
    import resource  # not available on every system that can import this file

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


class CoqProcess:
    """One `coqidetop`. `close` ends it with everything it started; the end of the interpreter closes it too."""

    def __init__(self, load_path: LoadPath, options: Sequence[str] = (), memory_mb: int = 4096) -> None:
        self._scratch = Scratch()
        try:
            load_path.furnish(self._scratch.path)
            command = [find_program(PROGRAM), *_OPTIONS, *load_path.options, *options]
            self._program = Program(command, folder=self._scratch.path, prepare=limits(memory_mb))
        except (OSError, subprocess.SubprocessError) as error:
            self._scratch.close()
            raise ProverError(f"Coq cannot be started: {error}") from error
        except ProverError:
            self._scratch.close()
            raise
        self._received = bytearray()
        self._searched = 0
        self._answers: deque[Answer] = deque()
        self._feedback: list[str] = []
        self.expected = 0
        """How many answers are still to come."""
        try:
            self.version = self._greet()
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        return self._program.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs, as far as the system knows."""
        return self._program.alive

    @property
    def closed(self) -> bool:
        """Whether it was ended by `close`."""
        return self._program.closed

    def call(self, *calls: str, seconds: float) -> list[Answer]:
        """Send calls together and wait for all their answers. End the process if they do not come in time."""
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
        """Send calls. What does not fit into the pipe is sent while answers are awaited."""
        if self.closed:
            raise CoqDied("Coq was ended")
        self.expected += len(calls)
        try:
            self._program.send("".join(calls).encode("utf-8", "surrogateescape"))
        except ProgramEnded:
            self._report_end()

    def receive(self, seconds: float) -> Answer | None:
        """Return the next answer, or None if none comes in this time."""
        deadline = time.monotonic() + seconds
        while not self._answers:
            if self.closed:
                raise CoqDied("Coq was ended")
            self._read(deadline - time.monotonic())
            if not self._answers and time.monotonic() >= deadline:
                return None
        self.expected -= 1
        return self._answers.popleft()

    def interrupt(self) -> None:
        """Interrupt what Coq does. It then answers, and keeps running."""
        self._program.interrupt()

    def close(self) -> None:
        """End the process and everything it started, at once."""
        self._program.close()
        self._scratch.close()

    def _greet(self) -> str:
        """Check the version of the protocol, and return Coq's version."""
        try:
            about, ready = self.call(protocol.ABOUT, protocol.INIT, seconds=_START_SECONDS)
        except CoqDied as error:
            raise ProverError(f"Coq does not start: {error}") from error
        version, spoken = about.about
        if not about.good or spoken < protocol.OLDEST_PROTOCOL:
            raise ProverError(
                f"Coq {version} is too old: its protocol is {spoken}; install Coq 8.15 or later, "
                f"with protocol {protocol.OLDEST_PROTOCOL} or later"
            )
        if not ready.good or ready.state != 1:
            raise ProverError(f"Coq {version} does not start: {ready.refusal}")
        return version

    def _read(self, seconds: float) -> None:
        try:
            self._received += self._program.receive(seconds)
        except ProgramEnded:
            self._report_end()
        if len(self._received) > _LARGEST:
            self.close()
            raise CoqDied(f"Coq's answer is larger than {_LARGEST >> 20} MB")
        self._cut()

    def _cut(self) -> None:
        """Take complete elements out of what was received."""
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

    def _report_end(self) -> NoReturn:
        """Raise an error that says how the process ended."""
        how = self._program.exit_text()
        self.close()
        words = " ".join(self._program.stderr.removeprefix(_GREETING).split())
        raise CoqDied(f"Coq ended{how}{f': {words}' if words else ''}")

    def __del__(self) -> None:
        if hasattr(self, "_program"):  # it was started
            self.close()
