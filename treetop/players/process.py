"""A program that is talked to line by line: every wait has a deadline, and at the end nothing of it is left.

One thread and no reader threads: while we wait for a line, all three pipes are looked after, so neither side can block the other for longer
than the deadline, and a process that forks later has no stray threads in it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence

from treetop.errors import ConfigError, PlayerError

_GAMES_FOLDERS = ("/usr/games", "/usr/local/games")  # where Debian puts engines; not on the path of root or of services
_LONGEST_LINE = 1 << 20
_CHUNK = 1 << 16
_LINES_KEPT = 8
_ERROR_BYTES_KEPT = 2000
_PATIENCE = 1.0  # seconds for each step of the end: after the last word, after the request to end

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
"""Programs that Debian has, and the package of each."""


def split_command(command: object) -> list[str]:
    """A command line as a list of words; it is not given to a shell."""
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError as error:
        raise ConfigError(f"the command {command!r} cannot be read: {error}") from None
    if not words:
        raise ConfigError(f'an engine\'s command must be a text such as "gnugo --mode gtp", not {command!r}')
    return words


def find_program(program: str) -> str:
    """The path of a program, or an error that says how to install it."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_GAMES_FOLDERS])
    found = shutil.which(program, path=path)
    if found is None:
        package = _PACKAGES.get(program)
        advice = f"apt-get install {package}" if package else "install it, or give the full path of the program"
        raise PlayerError(f"the program {program!r} is not installed: {advice}")
    return found


class LineProcess:
    """A running program, in a process group of its own. Ends with `close`, or at the latest when the interpreter does."""

    def __init__(self, command: Sequence[str]) -> None:
        if os.name != "posix":
            raise PlayerError(
                "engines in a process of their own need a system with process groups: Linux, macOS or WSL"
            )
        self.command = list(command)
        self._received: deque[str] = deque(maxlen=_LINES_KEPT)
        self._sent: deque[str] = deque(maxlen=_LINES_KEPT)
        self._errors = b""
        self._partial = b""
        self._lines: deque[str] = deque()
        self._unsent = b""
        self._owner = os.getpid()
        try:
            self._process = subprocess.Popen(
                [find_program(command[0]), *command[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise PlayerError(f"{self.name} cannot be started: {error}") from error
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
        _running.add(self)

    @property
    def name(self) -> str:
        """How errors name the program."""
        return shlex.join(self.command)

    @property
    def pid(self) -> int:
        """The number of the process, which is also the number of its group."""
        return self._process.pid

    def send(self, line: str) -> None:
        """Send a line. What the program does not take at once is sent while we wait for its answer."""
        if self.closed:
            raise PlayerError(f"{self.name} was ended already")
        if "\n" in line or "\r" in line:
            raise ConfigError(f"a command to an engine is one line, not {line!r}")
        self._sent.append(line)
        self._unsent += line.encode() + b"\n"
        self._write()

    def lines(self, seconds: float, waiting_for: str) -> Iterator[str]:
        """The lines that come, one after the other, as long as they are asked for. Past the deadline: a `PlayerError`."""
        deadline = time.monotonic() + seconds
        while True:
            line = self.next_line(deadline - time.monotonic(), waiting_for)
            if line is None:
                raise self.failure(
                    f"gave no {waiting_for} within {seconds:g} s; if it only needs longer, give it a longer deadline"
                )
            yield line
            if time.monotonic() > deadline:  # a flood of lines is no answer either
                raise self.failure(f"talked for {seconds:g} s and gave no {waiting_for}")

    def next_line(self, seconds: float, waiting_for: str = "line") -> str | None:
        """The next line, or None where none comes in this time. With no time at all: a line that is there already."""
        deadline = time.monotonic() + seconds
        left = max(0.0, seconds)
        while not self._lines:
            self._attend(left, waiting_for)
            if not self._lines and left <= 0:
                return None
            left = max(0.0, deadline - time.monotonic())
        line = self._lines.popleft()
        self._received.append(line)
        return line

    def failure(self, what: str) -> PlayerError:
        """An error that shows the end of the conversation. The program is ended: nobody knows what it would say next."""
        self.close()
        received = [*self._received, *self._lines][-_LINES_KEPT:]
        told = [f"{self.name} {what}", f"  sent: {_shown(self._sent)}", f"  received: {_shown(received)}"]
        if self._partial:
            told.append(f"  received without an end of line: {_cut(self._partial.decode(errors='replace'))!r}")
        if self._errors:
            told.append(f"  on stderr: {self._errors.decode(errors='replace').strip()}")
        return PlayerError("\n".join(told))

    def close(self, last_word: str | None = None) -> None:
        """End the program: with a word if there is one, then by request, then by force, with all that it has started."""
        if self.closed:
            return
        if last_word is not None:
            with contextlib.suppress(PlayerError):
                self.send(last_word)
        self.closed = True
        _running.discard(self)
        if os.getpid() != self._owner:  # a forked child has the pipes and not the process
            return
        try:
            with contextlib.suppress(OSError):
                self._stdin.close()
            if last_word is None or not self._wait(_PATIENCE):
                self._signal(signal.SIGTERM)
                self._wait(_PATIENCE)
        finally:
            self._signal(signal.SIGKILL)  # also where the program itself has ended: what it started has not
            self._process.wait()
            self._read_rest()
            self._selector.close()
            self._stdout.close()
            self._stderr.close()

    def _attend(self, seconds: float, waiting_for: str) -> None:
        """Wait until a pipe has something, and see to it."""
        for key, _ in self._selector.select(seconds):
            if key.fileobj is self._stdin:
                self._write()
            elif key.fileobj is self._stderr:
                self._read_errors()
            else:
                self._read(waiting_for)

    def _read(self, waiting_for: str) -> None:
        try:
            chunk = os.read(self._stdout.fileno(), _CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            raise self.failure(f"cannot be read: {error}") from error
        if not chunk:
            raise self.failure(f"ended{self._exit_code()} and gave no {waiting_for}")
        self._absorb(chunk)
        if len(self._partial) > _LONGEST_LINE:
            raise self.failure(
                f"wrote more than {_LONGEST_LINE:,} bytes without an end of line and gave no {waiting_for}"
            )

    def _absorb(self, chunk: bytes) -> None:
        *complete, self._partial = (self._partial + chunk).split(b"\n")
        self._lines.extend(line.decode(errors="replace").rstrip("\r") for line in complete)

    def _read_errors(self) -> None:
        try:
            chunk = os.read(self._stderr.fileno(), _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk and self._stderr in self._selector.get_map():
            self._selector.unregister(self._stderr)
        self._errors = (self._errors + chunk)[-_ERROR_BYTES_KEPT:]

    def _write(self) -> None:
        try:
            written = os.write(self._stdin.fileno(), self._unsent)
        except BlockingIOError:
            written = 0
        except OSError as error:
            raise self.failure(f"does not listen any more{self._exit_code()}: {error.strerror}") from error
        self._unsent = self._unsent[written:]
        waiting = self._stdin in self._selector.get_map()
        if self._unsent and not waiting:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        elif waiting and not self._unsent:
            self._selector.unregister(self._stdin)

    def _exit_code(self) -> str:
        """How the program ended, for an error; nothing where it has not."""
        self._wait(0.2)  # its pipes close a moment before it is gone
        code = self._process.returncode
        if code is None:
            return ""
        return f" (killed by {signal.Signals(-code).name})" if code < 0 else f" (exit code {code})"

    def _wait(self, seconds: float) -> bool:
        """Whether the program ends by itself in this time. What it still writes is read, so that it is not held up, and the end of it kept."""
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
            self._absorb(os.read(self._stdout.fileno(), _CHUNK))
        self._partial = self._partial[-_LONGEST_LINE:]
        while len(self._lines) > _LINES_KEPT:
            self._lines.popleft()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def __del__(self) -> None:
        if hasattr(self, "closed"):  # it was started
            self.close()

    def __repr__(self) -> str:
        return f"<process {self.pid}: {self.name}{', ended' if self.closed else ''}>"


def _shown(lines: Sequence[str] | deque[str]) -> str:
    return " | ".join(_cut(line) for line in lines) or "nothing"


def _cut(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:200]} ... {text[-80:]}"


_running: weakref.WeakSet[LineProcess] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    for process in list(_running):
        process.close()
