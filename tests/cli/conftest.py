"""Two ways to run a command: in this process, which is quick, and in one of its own, which is the real thing."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.to_prove import EASY, HARD, PEIRCE
from treetop.cli.app import app

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


Command = Callable[..., Ended]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command in this process, in an empty folder, as if piped."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def invoke(*args: object, lines: list[str] | None = None) -> Ended:
        text = None if lines is None else "".join(f"{line}\n" for line in lines)
        result = CliRunner().invoke(app, [str(arg) for arg in args], input=text)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ended(result.exit_code, result.stdout, result.stderr)

    return invoke


def environment() -> dict[str, str]:
    """This process's own, with the package to be found from any folder."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), "COLUMNS": "100"}


@pytest.fixture
def shell(tmp_path: Path) -> Command:
    """Run a command in a process of its own, in an empty folder."""

    def start(*args: object, lines: list[str] | None = None, python: tuple[str, ...] = ("-m", "treetop")) -> Ended:
        text = "".join(f"{line}\n" for line in lines or [])
        command = [sys.executable, *python, *(str(arg) for arg in args)]
        done = subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment(),
            timeout=300,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return start


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    """A folder with three formulas: one is easy, one is no theorem, one is hard without the right rules."""
    folder = tmp_path / "problems"
    folder.mkdir()
    (folder / "easy.p").write_text(EASY)
    (folder / "peirce.p").write_text(PEIRCE)
    (folder / "hard.p").write_text(HARD)
    return folder


def interrupted(*args: str, folder: Path, out: str, lines: int = 8) -> Ended:
    """Run a command in a group of its own, and press Ctrl-C when its file has so many lines."""
    command = [sys.executable, "-m", "treetop", *args]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    file = folder / out
    until = time.monotonic() + 60
    while not file.exists() or file.read_bytes().count(b"\n") < lines:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    reported, err = process.communicate(timeout=30)
    return Ended(process.returncode, reported, err)


class OnTerminal:
    """A command whose stderr, and stdout too if wished, is a pseudo-terminal of 100 columns."""

    def __init__(self, args: tuple[str, ...], folder: Path, *, out_too: bool) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        env = {key: value for key, value in environment().items() if key not in ("COLUMNS", "NO_COLOR", "CI")} | {
            "TERM": "xterm-256color"
        }
        out = theirs if out_too else subprocess.PIPE
        command = [sys.executable, "-m", "treetop", *args]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=theirs, env=env, cwd=folder)
        os.close(theirs)
        self._drawn = b""

    def type(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def see(self, text: str) -> None:
        """Wait until the terminal has shown a text."""
        while text.encode() not in self._drawn:
            assert self._more(), f"{text!r} never came: {self._drawn.decode()}"

    def _more(self) -> bool:
        if not select.select([self._ours], [], [], 120)[0]:
            return False
        try:
            part = os.read(self._ours, 65536)
        except OSError:  # how Linux says that the other side has closed
            return False
        self._drawn += part
        return bool(part)

    def end(self) -> tuple[int, str]:
        """Wait for the end: the exit code, and what was piped to stdout or, where that was the terminal, drawn there."""
        while self._more():
            pass
        out = None if self.process.stdout is None else self.process.stdout.read()
        return self.process.wait(timeout=60), (self._drawn if out is None else out).decode()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        os.close(self._ours)


@contextmanager
def started(*args: str, folder: Path, out_too: bool = False) -> Iterator[OnTerminal]:
    """A running command on a terminal."""
    running = OnTerminal(args, folder, out_too=out_too)
    try:
        yield running
    finally:
        running.close()
