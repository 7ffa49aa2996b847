"""Temporary folders in which Coq runs.

They are removed with the process that created them; those of a killed process are removed by the next one.

All folders of a process are in one folder with a locked file. The system releases the lock when the process ends, in
whatever way, so a folder whose lock can be acquired is unused.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

_PREFIX = "treetop-coq-"
_LOCK = "in-use"


class Scratch:
    """A folder that exists until `close`."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._home = _Home.of_process()
        self.path = self._home.make()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the folder. May be called twice; a forked child removes nothing."""
        if os.getpid() == self._owner:
            self._home.remove(self.path)


class _Home:
    """The folder of all temporary folders of this process."""

    current: _Home | None = None

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._inside: set[Path] = set()
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
            self._lock = FileLock(self.path / _LOCK)
            try:
                self._lock.acquire(blocking=False)
            except Timeout:  # another process took it for an unused one, and removes it
                continue
            break
        remove_stale()

    @classmethod
    def of_process(cls) -> Self:
        if cls.current is None or cls.current.owner != os.getpid() or not cls.current.path.is_dir():
            cls.current = cls()
        assert isinstance(cls.current, cls)
        return cls.current

    def make(self) -> Path:
        made = Path(tempfile.mkdtemp(dir=self.path))
        self._inside.add(made)
        return made

    def remove(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self._inside.discard(folder)
        if not self._inside:
            self.end()

    def end(self) -> None:
        """Remove everything. Workers end without notice, so their folders must not outlive their contents."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release(force=True)
        if _Home.current is self:
            _Home.current = None


def remove_stale() -> None:
    """Remove the folders of processes that have ended."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, Timeout):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid() or not (folder / _LOCK).is_file():
                continue
            with FileLock(folder / _LOCK).acquire(blocking=False):
                shutil.rmtree(folder, ignore_errors=True)


@atexit.register
def _end() -> None:
    home = _Home.current
    if home is not None and home.owner == os.getpid():
        home.end()
        remove_stale()
