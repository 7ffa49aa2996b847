"""A file that grows by one line of JSON at a time, each on the disk before the next one counts. So nothing that was finished is lost.

The first line is a header: what kind of file this is, of which version, and what it belongs to. A line that a crash has torn is dropped when
the file is opened again. A file of another kind, or that belongs to something else, is refused, never changed.
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
    """Lines in a file or, without a path, nowhere. Use it within `with`: one process writes at a time. Kinds of journals derive from it."""

    entry = "line"
    """What a line holds, in a word."""

    def __init__(self, path: Path | None, header: Record) -> None:
        self.path, self.header = path, header
        self._file: BinaryIO | None = None
        self._whole = 0
        self._lock = None if path is None else FileLock(f"{path}.lock", timeout=0)

    def refuse_another(self, path: Path, found: Record) -> None:
        """Raise SaveError if a header of this kind belongs to something else, and say what is different."""
        raise NotImplementedError

    def take(self, record: Record) -> bool:
        """Take in a line that the file holds already; whether it is one of this kind."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        if self.path is None or self._lock is None:
            return self
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise SaveError(
                f"{self.path} cannot be written: {'it is a folder' if self.path.is_dir() else f'there is no folder {self.path.parent}'}"
            )
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
        """Add a line; when this returns it is on the disk. The first one brings the header with it: what never began leaves no file."""
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
        """Take in what the file holds; how many bytes of it are whole lines."""
        kind = self.header["kind"]
        whole = content.rfind(b"\n") + 1
        if not whole:
            # Nothing but a torn header is ours to begin anew; anything else belongs to somebody.
            if content and not content.startswith(json.dumps({"kind": kind})[:-1].encode()[: len(content)]):
                raise SaveError(f"{path} was not written by {kind}")
            return 0
        lines = content[:whole].split(b"\n")[:-1]
        self.refuse_another(path, _header(path, lines[0], (kind,), self.header["version"]))
        for number, line in enumerate(lines[1:], start=2):
            record = _parse(line)
            if record is None and number == len(lines):
                return whole - len(line) - 1
            if record is None or not self.take(record):
                raise SaveError(f"{path} is damaged: line {number} is no {self.entry}")
        return whole


def read_journal(path: Path, kinds: tuple[str, ...], version: int) -> tuple[Record, list[Record]]:
    """The header of a file of one of these kinds, and its lines as they stand there."""
    content = read_bytes(path)
    lines = content[: content.rfind(b"\n") + 1].split(b"\n")[:-1]
    if not lines:
        raise SaveError(f"{path} was not written by {kinds[0]}")
    header = _header(path, lines[0], kinds, version)
    records = [_parse(line) for line in lines[1:]]
    if records and records[-1] is None:  # torn by a crash
        records.pop()
    if None in records:
        raise SaveError(f"{path} is damaged: line {records.index(None) + 2} is no record")
    return header, [record for record in records if record is not None]


def as_read(content: Record) -> Record:
    """What a line with this would be read as: tuples are lists there."""
    read: Record = json.loads(_line(content))
    return read


def _header(path: Path, line: bytes, kinds: tuple[str, ...], version: int) -> Record:
    header = _parse(line)
    if header is None or "kind" not in header:
        raise SaveError(f"{path} was not written by {kinds[0]}")
    if not isinstance(header["kind"], str) or header["kind"] not in kinds:
        raise SaveError(f"{path} holds {header['kind']}, not {kinds[0]}")
    if header.get("version") != version:
        raise SaveError(f"{path} is of version {header.get('version')}; this Treetop reads version {version}")
    return header


def _line(content: Record) -> bytes:
    return json.dumps(content, allow_nan=False).encode() + b"\n"


def _parse(line: bytes) -> Record | None:
    try:
        content = parse_json(line)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None
