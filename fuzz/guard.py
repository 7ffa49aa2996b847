"""Detect forbidden effects of an input: programs, connections, imports, new code, files outside its folder, hangs."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

SECONDS = 20
"""The time limit of one input. The parent process waits a little longer before it ends a child."""
_MEMORY = 3 * 2**30  # beyond the memory of the child at its start
_NEVER = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "os.forkpty",
    "os.spawn",
    "os.startfile",
    "subprocess.Popen",
    "pty.spawn",
    "ctypes.dlopen",
    "webbrowser.open",
    "os.putenv",
    "os.chmod",
    "os.symlink",
    "os.link",
    "shutil.rmtree",
    "shutil.move",
    "shutil.copyfile",
    "urllib.Request",
)
_ALLOWED_IMPORTS = ("treetop", "numpy", "encodings", "unicodedata", "stringprep", "_strptime")


class Forbidden(BaseException):
    """A forbidden effect of an input. It is not an `Exception`, so `except Exception` does not catch it."""


class Hang(BaseException):
    """An input took too long."""


class Guard:
    """An audit hook that is active while an input runs."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._on, self._imports = str(folder), False, False
        self.seen: str | None = None
        sys.addaudithook(self._hook)
        signal.signal(signal.SIGALRM, self._alarm)
        used = (
            int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            if Path("/proc/self/statm").exists()
            else 2**33
        )
        resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, used + _MEMORY))

    @contextmanager
    def observing(self, *, imports: bool) -> Iterator[None]:
        """Raise `Forbidden` for a forbidden effect inside the block. `imports` allows the import of modules."""
        self.seen, self._imports, self._on = None, imports, True
        signal.alarm(SECONDS)
        try:
            yield
        finally:
            signal.alarm(0)
            self._on = False
        if self.seen:
            raise Forbidden(self.seen)

    def _alarm(self, signum: int, frame: FrameType | None) -> None:
        raise Hang(f"more than {SECONDS} s")

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._on and (why := self._refused(event, arguments)):
            self.seen = why
            raise Forbidden(why)

    def _refused(self, event: str, arguments: tuple[Any, ...]) -> str | None:
        # An event loop creates a pair of sockets for itself.
        if event in _NEVER or (event.startswith("socket.") and event != "socket.__new__"):
            return f"{event} {arguments!r:.200}"
        if event == "import" and not self._imports and str(arguments[0]).partition(".")[0] not in _ALLOWED_IMPORTS:
            return f"import of {arguments[0]}"
        if (
            event == "exec"
            and not self._imports
            and not str(getattr(arguments[0], "co_filename", "")).startswith(
                ("<frozen", sys.prefix, sys.base_prefix, str(_HERE))
            )
        ):
            return f"execution of {arguments[0]!r:.200}"
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            path = self._folder
            if isinstance(arguments[0], (str, bytes)):
                path = os.path.abspath(os.fsdecode(arguments[0]))  # noqa: PTH100 - resolving links would open files within the hook
            if not path.startswith((self._folder, "/dev/null")) and "__pycache__" not in path:
                return f"{path} was opened for writing"
        return None


_HERE = Path(__file__).resolve().parents[1]
