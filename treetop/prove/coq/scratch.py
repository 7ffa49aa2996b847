"""Folders in which Coq runs. They go with the process that made them: what one that was killed has left is removed by the next one.

All folders of a process lie in one, which has a locked file in it as long as the process lives. The system frees the lock with the process, however
that ends, so a folder whose lock can be had belongs to nobody.
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
    """A folder that is there until `close`."""

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
    """The folder of all folders of this process."""

    current: _Home | None = None

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._inside: set[Path] = set()
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
            self._lock = FileLock(self.path / _LOCK)
            try:
                self._lock.acquire(blocking=False)
            except Timeout:  # somebody took it for one that nobody needs, and removes it
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
        """Remove everything. Workers end without notice, so their homes must not outlive what is in them."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release(force=True)
        if _Home.current is self:
            _Home.current = None


def remove_stale() -> None:
    """Remove the folders of processes that are gone."""
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
