"""The files of a folder that other programs write while it is shown: what there is, and which lines are new.

Only files are opened that a scan of the folder has found. Links are not followed, and sizes and counts are bounded.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from treetop.errors import SaveError

MOST_BYTES = 100 * 2**20
"""The size of a file that is shown, at most."""
LONGEST_LINE = 2**20
MOST_SHOWN = 500
"""Training runs and files of games, at most."""
_MOST_LOOKED_AT = 20_000  # names in all folders together
_DEEPEST = 4
_PAIRING = re.compile(r".+-vs-.+-[0-9a-f]{8}\.jsonl")  # as a tournament names its files
_OF_A_RUN = frozenset({"data", "candidate", "tensorboard"})
RUN, MUZERO, METRICS, REPORT = "run.json", "muzero.json", "metrics.jsonl", "report.html"


@dataclass(frozen=True)
class Found:
    """A training run (`is_run`) or a file of games, by its path below the folder."""

    name: str
    is_run: bool
    size: int
    changed: float
    """When it was last written, in seconds since 1970."""
    open: bool = False
    """Whether a program has the file of games open for writing."""
    reported: bool = False
    """Whether the report of the training run was written after its last line."""

    @property
    def id(self) -> str:
        """The name by which clients ask for it."""
        return identity("run" if self.is_run else "games", self.name)

    @property
    def group(self) -> str | None:
        """The folder of the tournament to which a file of games belongs by its name."""
        folder, _, file = self.name.rpartition("/")
        return folder if not self.is_run and _PAIRING.fullmatch(file) else None

    @property
    def stamp(self) -> str:
        """A text that changes whenever the files change."""
        return f"{self.id} {self.size} {self.changed} {self.open} {self.reported}"


def identity(kind: str, name: str) -> str:
    """Return the name by which clients ask for an entry: a digest, from which no path can be read.

    >>> len(identity("run", "connect_four"))
    16
    """
    return hashlib.sha256(f"{kind} {name}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


@dataclass
class Scan:
    """What a folder holds."""

    found: list[Found] = field(default_factory=list)
    cut: bool = False
    """Whether there is more than is looked at."""


def scan(root: Path) -> Scan:
    """Return the training runs and the files of games below a folder, without opening any of them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "match.jsonl").write_text("")
    ...     [one.name for one in scan(Path(folder)).found]
    ['match.jsonl']
    """
    made, waiting, looked = Scan(), [("", 0)], 0
    while waiting:
        name, depth = waiting.pop()
        try:
            with os.scandir(root / name) as entries:
                files, folders = dict[str, os.stat_result](), list[str]()
                for entry in entries:
                    looked += 1
                    if looked > _MOST_LOOKED_AT:
                        made.cut = True
                        break
                    _look_at(entry, files, folders)
        except OSError:
            continue
        is_run = RUN in files or MUZERO in files
        made.found += _found_in(f"{name}/" if name else "", files, is_run=is_run)
        if depth < _DEEPEST:
            below = [one for one in sorted(folders, reverse=True) if not (is_run and one in _OF_A_RUN)]
            waiting += [(f"{name}/{one}" if name else one, depth + 1) for one in below]
        if made.cut:
            break
    made.found.sort(key=lambda one: (-one.changed, one.name))
    made.cut |= len(made.found) > MOST_SHOWN
    del made.found[MOST_SHOWN:]
    return made


def _look_at(entry: os.DirEntry[str], files: dict[str, os.stat_result], folders: list[str]) -> None:
    """Note a file or a folder; links, devices and hidden names are left out."""
    if entry.name.startswith(".") or not entry.name.isprintable():
        return
    try:
        if entry.is_dir(follow_symlinks=False):
            folders.append(entry.name)
        elif entry.is_file(follow_symlinks=False):
            files[entry.name] = entry.stat(follow_symlinks=False)
    except OSError:
        return


def _found_in(prefix: str, files: dict[str, os.stat_result], *, is_run: bool) -> Iterator[Found]:
    if is_run:
        written = [files[name] for name in (RUN, MUZERO, METRICS) if name in files]
        metrics, report = files.get(METRICS), files.get(REPORT)
        reported = metrics is not None and report is not None and report.st_mtime >= metrics.st_mtime
        size, changed = sum(one.st_size for one in written), max(one.st_mtime for one in written)
        yield Found(prefix.rstrip("/") or ".", True, size, changed, reported=reported)
    for name, about in files.items():
        if name.endswith(".jsonl") and not (is_run and name == METRICS):
            yield Found(f"{prefix}{name}", False, about.st_size, about.st_mtime, open=f"{name}.lock" in files)


def open_below(root: Path, name: str) -> BinaryIO:
    """Open a file below a resolved folder; raise SaveError where it is a link, a device or too large."""
    path = root / name
    try:
        if os.path.realpath(path) != str(path):
            raise SaveError(f"{name} is a link, or below one: links are not followed")
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        file = os.fdopen(os.open(path, flags), "rb")
    except OSError as error:
        raise SaveError(f"{name} cannot be read: {error.strerror or error}") from None
    about = os.fstat(file.fileno())
    if not stat.S_ISREG(about.st_mode) or about.st_size > MOST_BYTES:
        file.close()
        if not stat.S_ISREG(about.st_mode):
            raise SaveError(f"{name} is not an ordinary file")
        raise SaveError(f"{name} is too large: {about.st_size:,} bytes, and at most {MOST_BYTES:,} are read")
    return file


def read_below(root: Path, name: str) -> bytes:
    """Return the content of a small file below a resolved folder."""
    with open_below(root, name) as file:
        content = file.read(LONGEST_LINE + 1)
    if len(content) > LONGEST_LINE:
        raise SaveError(f"{name} is too large: more than {LONGEST_LINE:,} bytes")
    return content


class Lines:
    """The complete lines of a file that grows, each read once.

    An incomplete last line is being written, or was left by a crash: it is not read.
    """

    def __init__(self, root: Path, name: str) -> None:
        self._root, self.name = root, name
        self._file: tuple[int, int] | None = None
        self.place = 0
        """The first byte that was not read yet."""

    def exists(self) -> bool:
        """Return whether there is a file yet."""
        return os.path.lexists(self._root / self.name)

    def is_replaced(self) -> bool:
        """Return whether the file is another one, or shorter than what was read: then it is read from the start."""
        with open_below(self._root, self.name) as file:
            about = os.fstat(file.fileno())
        before, self._file = self._file, (about.st_dev, about.st_ino)
        if before in (None, self._file) and about.st_size >= self.place:
            return False
        self.place = 0
        return True

    def new(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are new, each with the place of its first byte."""
        with open_below(self._root, self.name) as file:
            file.seek(self.place)
            while line := file.readline(LONGEST_LINE + 1):
                if not line.endswith(b"\n"):
                    if len(line) > LONGEST_LINE:
                        raise SaveError(f"{self.name} has a line of more than {LONGEST_LINE:,} bytes")
                    return
                place = self.place
                self.place += len(line)
                yield place, line

    def at(self, place: int) -> bytes:
        """Return the line that begins at a byte."""
        with open_below(self._root, self.name) as file:
            file.seek(place)
            return file.readline(LONGEST_LINE)
