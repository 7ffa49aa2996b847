"""An engine that reads and writes lines, with a deadline for every answer."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Iterator, Sequence

from treetop.errors import ConfigError, PlayerError
from treetop.programs import Program, ProgramEnded

_GAMES_FOLDERS = ("/usr/games", "/usr/local/games")  # where Debian puts engines; not on the path of root or of services
_LONGEST_LINE = 1 << 20
_LINES_KEPT = 8
_PATIENCE = 1.0  # seconds that an engine has to end, after its last command and again after SIGTERM

_PACKAGES = {
    name: name
    for name in (
        "ethereal-chess",
        "fairy-stockfish",
        "fairymax",
        "glaurung",
        "gnubg",
        "gnuchess",
        "gnugo",
        "gnushogi",
        "hachu",
        "hoichess",
        "phalanx",
        "sjaakii",
        "sjeng",
        "stockfish",
        "toga2",
    )
} | {"hoixiangqi": "hoichess", "maxqi": "fairymax", "shamax": "fairymax", "sjaak": "sjaakii"}
"""The Debian package of each program."""


def split_command(command: object) -> list[str]:
    """Return a command line as a list of words. No shell is involved."""
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError as error:
        raise ConfigError(f"the command {command!r} cannot be read: {error}") from None
    if not words:
        raise ConfigError(f'the command of an engine must be a string such as "gnugo --mode gtp", not {command!r}')
    return words


def find_program(program: str) -> str:
    """Return the path of a program. Raise a PlayerError that says how to install it if it is missing."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_GAMES_FOLDERS])
    found = shutil.which(program, path=path)
    if found is None:
        package = _PACKAGES.get(program)
        advice = f"apt-get install {package}" if package else "install it, or give the full path of the program"
        raise PlayerError(f"the program {program!r} is not installed: {advice}")
    return found


class LineProcess:
    """An engine that reads and writes lines. Every failure is a `PlayerError` with the end of the conversation."""

    def __init__(self, command: Sequence[str]) -> None:
        if os.name != "posix":
            raise PlayerError("engines run in process groups, which need Linux, macOS or WSL")
        self.command = list(command)
        self._received: deque[str] = deque(maxlen=_LINES_KEPT)
        self._sent: deque[str] = deque(maxlen=_LINES_KEPT)
        self._partial = b""
        self._lines: deque[str] = deque()
        try:
            self._program = Program([find_program(command[0]), *command[1:]], patience=_PATIENCE)
        except (OSError, subprocess.SubprocessError) as error:
            raise PlayerError(f"{self.name} cannot be started: {error}") from error

    @property
    def name(self) -> str:
        """The program's name in errors: its command line."""
        return shlex.join(self.command)

    @property
    def pid(self) -> int:
        """The id of the process, which is also the id of its group."""
        return self._program.pid

    @property
    def closed(self) -> bool:
        """Whether the program was ended."""
        return self._program.closed

    def send(self, line: str) -> None:
        """Send a line. What the program does not take at once is sent while the answer is awaited."""
        if self.closed:
            raise PlayerError(f"{self.name} was ended already")
        if "\n" in line or "\r" in line:
            raise ConfigError(f"a command to an engine must be one line, not {line!r}")
        self._sent.append(line)
        try:
            self._program.send(line.encode() + b"\n")
        except ProgramEnded as ended:
            raise self.failure(str(ended)) from ended

    def lines(self, seconds: float, waiting_for: str) -> Iterator[str]:
        """Yield the lines of the program as they come. Raise a `PlayerError` after the deadline."""
        deadline = time.monotonic() + seconds
        while True:
            line = self.next_line(deadline - time.monotonic(), waiting_for)
            if line is None:
                raise self.failure(
                    f"gave no {waiting_for} within {seconds:g} s; if it only needs longer, give it a longer deadline"
                )
            yield line
            if time.monotonic() > deadline:  # a flood of lines is not an answer
                raise self.failure(f"wrote lines for {seconds:g} s and gave no {waiting_for}")

    def next_line(self, seconds: float, waiting_for: str = "line") -> str | None:
        """Return the next line, or None if none comes in this time. With 0 seconds only a line that is already there
        counts.
        """
        deadline = time.monotonic() + seconds
        left = max(0.0, seconds)
        while not self._lines:
            self._receive(left, waiting_for)
            if not self._lines and left <= 0:
                return None
            left = max(0.0, deadline - time.monotonic())
        line = self._lines.popleft()
        self._received.append(line)
        return line

    def failure(self, what: str) -> PlayerError:
        """Return an error that shows the end of the conversation, and end the program: its next output could mean
        anything.
        """
        self.close()
        received = [*self._received, *self._lines][-_LINES_KEPT:]
        lines = [f"{self.name} {what}", f"  sent: {_shorten_all(self._sent)}", f"  received: {_shorten_all(received)}"]
        if self._partial:
            lines.append(f"  received without an end of line: {_shorten(self._partial.decode(errors='replace'))!r}")
        if self._program.stderr:
            lines.append(f"  on stderr: {self._program.stderr}")
        return PlayerError("\n".join(lines))

    def close(self, last_command: str | None = None) -> None:
        """End the program and everything it started: by a last command if given, then by SIGTERM, then by SIGKILL."""
        if not self.closed:
            self._program.close(b"" if last_command is None else last_command.encode() + b"\n")
            self._split(self._program.take())

    def _receive(self, seconds: float, waiting_for: str) -> None:
        try:
            self._split(self._program.receive(seconds))
        except ProgramEnded as ended:
            raise self.failure(f"{ended} and gave no {waiting_for}") from ended
        if len(self._partial) > _LONGEST_LINE:
            raise self.failure(
                f"wrote more than {_LONGEST_LINE:,} bytes without an end of line and gave no {waiting_for}"
            )

    def _split(self, output: bytes) -> None:
        *complete, self._partial = (self._partial + output).split(b"\n")
        self._lines.extend(line.decode(errors="replace").rstrip("\r") for line in complete)

    def __repr__(self) -> str:
        return f"<process {self.pid}: {self.name}{', ended' if self.closed else ''}>"


def _shorten_all(lines: Sequence[str] | deque[str]) -> str:
    return " | ".join(_shorten(line) for line in lines) or "nothing"


def _shorten(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:200]} ... {text[-80:]}"
