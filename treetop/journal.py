"""A file that grows by one line of JSON at a time. Each line is on the disk before the next is written, so that
finished work is never lost.

The first line is a header: the kind of file, its version, and what it belongs to. An incomplete last line, left by a
crash, is dropped when the file is opened again. A file of another kind, or of something else, is refused and never
changed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from filelock import FileLock, Timeout

from treetop.errors import SaveError
from treetop.files import parse_json, read_bytes

Record = dict[str, Any]


class Journal:
    """The base class of journals. Without a path nothing is written. Use it in a `with` statement: one process writes
    at a time.
    """

    entry = "line"
    """The noun for a line in messages."""

    def __init__(self, path: Path | None, header: Record) -> None:
        self.path, self.header = path, header
        self._file: BinaryIO | None = None
        self._whole = 0
        self._lock = None if path is None else FileLock(f"{path}.lock", timeout=0)

    def refuse_another(self, path: Path, found: Record) -> None:
        """Raise SaveError if a header of this kind belongs to something else, and say what differs."""
        raise NotImplementedError

    def take(self, record: Record) -> bool:
        """Read a line of the file. Return whether it is valid."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        if self.path is None or self._lock is None:
            return self
        if self.path.is_dir() or not self.path.parent.is_dir():
            reason = "it is a folder" if self.path.is_dir() else f"there is no folder {self.path.parent}"
            raise SaveError(f"{self.path} cannot be written: {reason}")
        try:
            self._lock.acquire()
        except Timeout:
            raise SaveError(f"{self.path} is being written by another process") from None
        except OSError as error:
            raise SaveError(f"{self.path} cannot be written: {error.strerror or error}") from error
        try:
            content = read_bytes(self.path) if self.path.exists() else b""
            self._whole = self._read(self.path, content)
        except BaseException as error:
            self._release()
            if isinstance(error, OSError):
                raise SaveError(f"{self.path} cannot be read: {error.strerror or error}") from error
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        self._release()

    def _release(self) -> None:
        if self._lock is not None and self._lock.is_locked:
            Path(self._lock.lock_file).unlink(missing_ok=True)
            self._lock.release()

    def write(self, content: Record) -> None:
        """Append a line and return when it is on the disk. The header is written with the first line, so that an unused
        journal leaves no file.
        """
        if self.path is None:
            return
        try:
            if self._file is None:
                self._file = self.path.open("ab")
                self._file.truncate(self._whole)
                if not self._whole:
                    self._file.write(_line(self.header))
            self._file.write(_line(content))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise SaveError(f"{self.path} cannot be written: {error.strerror or error}") from error

    def _read(self, path: Path, content: bytes) -> int:
        """Read the content of the file. Return how many bytes of it are complete lines."""
        kind = self.header["kind"]
        whole = content.rfind(b"\n") + 1
        if not whole:
            # Only an incomplete header may be overwritten; anything else belongs to another file.
            if content and not content.startswith(json.dumps({"kind": kind})[:-1].encode()[: len(content)]):
                raise SaveError(f"{path} was not written by {kind}")
            return 0
        lines = content[:whole].split(b"\n")[:-1]
        self.refuse_another(path, read_header(path, lines[0], (kind,), self.header["version"]))
        for number, line in enumerate(lines[1:], start=2):
            record = parse_line(line)
            if record is None and number == len(lines):
                return whole - len(line) - 1
            if record is None or not self.take(record):
                raise SaveError(f"{path} is damaged: line {number} is not a valid {self.entry}")
        return whole


def read_journal(path: Path, kinds: tuple[str, ...], version: int) -> tuple[Record, list[Record]]:
    """Return the header of a file of one of these kinds, and its lines as they are."""
    content = read_bytes(path)
    lines = content[: content.rfind(b"\n") + 1].split(b"\n")[:-1]
    if not lines:
        raise SaveError(f"{path} was not written by {kinds[0]}")
    header = read_header(path, lines[0], kinds, version)
    records = [parse_line(line) for line in lines[1:]]
    if records and records[-1] is None:  # an incomplete last line, left by a crash
        records.pop()
    if None in records:
        raise SaveError(f"{path} is damaged: line {records.index(None) + 2} is not a valid record")
    return header, [record for record in records if record is not None]


def as_read(content: Record) -> Record:
    """Return a value as it will be read from the file: tuples become lists."""
    read: Record = json.loads(_line(content))
    return read


def read_header(path: Path, line: bytes, kinds: tuple[str, ...], version: int) -> Record:
    """Return the header of a file from its first line; raise SaveError if it is not one of these kinds.

    >>> read_header(Path("m.jsonl"), b'{"kind": "a match", "version": 1}', ("a match",), 1)
    {'kind': 'a match', 'version': 1}
    """
    header = parse_line(line)
    if header is None or "kind" not in header:
        raise SaveError(f"{path} was not written by {kinds[0]}")
    if not isinstance(header["kind"], str) or header["kind"] not in kinds:
        raise SaveError(f"{path} holds {header['kind']}, not {kinds[0]}")
    if header.get("version") != version:
        raise SaveError(f"{path} is of version {header.get('version')}; this Treetop reads version {version}")
    return header


def _line(content: Record) -> bytes:
    return json.dumps(content, allow_nan=False).encode() + b"\n"


def parse_line(line: bytes) -> Record | None:
    """Return the object of a line of JSON; None where it is not one."""
    try:
        content = parse_json(line)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None
