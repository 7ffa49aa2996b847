"""What the workers of these tests do. In a module of its own, so that a spawned process finds it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from treetop.errors import ConfigError


def squares():
    return lambda number: number * number


def echoes():
    return lambda value: value


def counting_setups(folder: str):
    (Path(folder) / f"{os.getpid()}-{time.monotonic_ns()}").touch()
    return lambda number: (number, os.getpid())


def fails_on_three():
    def work(number: int) -> int:
        if number == 3:
            raise ValueError("three is not liked")
        return number

    return work


def sleeps():
    def work(seconds: float) -> float:
        time.sleep(seconds)
        return seconds

    return work


def dies(folder: str, times: int):
    """The unit 2 kills its own worker, the first so many times."""

    def work(number: int) -> int:
        if number == 2:
            marks = len(list(Path(folder).iterdir()))
            if marks < times:
                (Path(folder) / str(marks)).touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return number

    return work


def with_children(folder: str):
    """Each worker has children that would live for a minute, one of them in a session of its own; unit "hang" never ends."""
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
    child, stranger = subprocess.Popen(sleeper), subprocess.Popen(sleeper, start_new_session=True)
    (Path(folder) / f"{os.getpid()}.{child.pid}.{stranger.pid}").touch()

    def work(what: str) -> str:
        if what == "hang":
            time.sleep(60)
        return what

    return work


def broken():
    raise ConfigError("this cannot be set up")


def broken_strangely():
    raise ZeroDivisionError("nothing fits")


def dies_at_once():
    os._exit(7)


def unpicklable():
    return lambda: lambda: None


def closing(folder: str) -> Any:
    class Work:
        def __call__(self, number: int) -> int:
            return number

        def close(self) -> None:
            (Path(folder) / "closed").touch()

    return Work()


def leaves_a_child_with_the_pipe(folder: str):
    """The unit 2 kills its worker the first time, and leaves a child that has inherited everything."""

    def work(number: int) -> int:
        mark = Path(folder) / "mark"
        if number == 2 and not mark.exists():
            mark.touch()
            if os.fork() == 0:
                os.setsid()
                time.sleep(8)
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    return work


class Kept:
    """Says who it is and with what it was set up last; a unit of "wait" lasts until it is cancelled."""

    def __init__(self, folder: str) -> None:
        self.renew(folder)

    def renew(self, folder: str) -> None:
        self._folder = folder
        (Path(folder) / str(os.getpid())).touch()

    def heed(self, stop):
        self._stop = stop

    def __call__(self, number: int, what: str) -> tuple[str, int]:
        while what == "wait" and not self._stop():
            time.sleep(0.01)
        return self._folder, os.getpid()


def kept(folder: str) -> Kept:
    return Kept(folder)
