"""Played games in a file: a header, then one line of JSON a game, on the disk before the next one counts. So nothing that was played is lost.

A line that a crash has torn is dropped when the file is opened again, and its game is played again: the same game, since it comes from the
same seed. A file of another match, or of something else, is refused, never changed.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from filelock import FileLock, Timeout

from treetop.errors import SaveError

VERSION = 1
_SAME = {"players": "players", "seed": "seed", "openings": "openings", "make_player": "maker of players", "move_deadline": "deadline a move"}

Record = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """What a file holds."""

    name: str
    """With its article: `a match`."""
    needed: tuple[str, ...]
    """What every game has and is kept in memory; the moves stand in the file alone."""
    is_game: Callable[[Record], bool]
    """Whether a line with all that is one of its games."""
    kept: tuple[str, ...] = ()
    """What is kept in memory where a game has it."""

    def brief(self, record: Record) -> Record:
        """What is kept of a game in memory."""
        return {key: record[key] for key in (*self.needed, *self.kept) if key in record}

    def holds(self, record: Record) -> bool:
        """Whether a line is one of its games."""
        return all(key in record for key in self.needed) and self.is_game(record)


class GameLog:
    """Games in a file or, without a path, in memory only. Use it within `with`: one process writes at a time."""

    def __init__(self, path: Path | None, header: dict[str, Any], kind: Kind) -> None:
        self.path, self._kind = path, kind
        self.header = {"kind": kind.name, "version": VERSION, **header}
        self.records: dict[int, Record] = {}
        """The finished games by their index, without their moves."""
        self._file: BinaryIO | None = None
        self._whole = 0
        self._lock = None if path is None else FileLock(f"{path}.lock", timeout=0)

    def __enter__(self) -> Self:
        if self.path is None or self._lock is None:
            return self
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise SaveError(f"{self.path} cannot be written: {'it is a folder' if self.path.is_dir() else f'there is no folder {self.path.parent}'}")
        try:
            self._lock.acquire()
        except Timeout:
            raise SaveError(f"{self.path} is being written by another process") from None
        except OSError as error:
            raise SaveError(f"{self.path} cannot be written: {error.strerror or error}") from error
        try:
            content = self.path.read_bytes() if self.path.exists() else b""
            self._whole = self._read(self.path, content)
        except BaseException as error:
            self._release()
            if isinstance(error, OSError):
                raise SaveError(f"{self.path} cannot be read: {error.strerror or error}") from error
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        self._release()

    def _release(self) -> None:
        if self._lock is not None and self._lock.is_locked:
            Path(self._lock.lock_file).unlink(missing_ok=True)
            self._lock.release()

    def append(self, record: Record) -> None:
        """Add a finished game. When this returns it is on the disk."""
        self.records[record["index"]] = self._kind.brief(record)
        self._write(record)

    def note_error(self, index: int, reason: str, traceback: str) -> None:
        """Add a game that could not be played. It is not finished: the next call plays it again."""
        self._write({"error": reason, "index": index, "traceback": traceback})

    def _write(self, content: dict[str, Any]) -> None:
        """Add a line. The first one brings the header with it, so that a match that never began leaves no file."""
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
        whole = content.rfind(b"\n") + 1
        if not whole:
            # Nothing but a torn header is ours to begin anew; anything else belongs to somebody.
            if content and not content.startswith(json.dumps({"kind": self._kind.name})[:-1].encode()[: len(content)]):
                raise SaveError(f"{path} was not written by {self._kind.name}")
            return 0
        lines = content[:whole].split(b"\n")[:-1]
        refuse_another(path, _header(path, lines[0], self._kind.name), self.header)
        for number, line in enumerate(lines[1:], start=2):
            record = _parse(line)
            if record is None and number == len(lines):
                return whole - len(line) - 1
            if record is None or not ("error" in record or self._kind.holds(record)):
                raise SaveError(f"{path} is damaged: line {number} is no game")
            if "error" not in record:
                self.records.setdefault(record["index"], self._kind.brief(record))
        return whole


def read_match(path: str | Path) -> tuple[dict[str, Any], list[Record]]:
    """The header of a match's or an evaluation's file and its finished games, in their order."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SaveError(f"{path} cannot be read: {error.strerror or error}") from error
    lines = content[: content.rfind(b"\n") + 1].split(b"\n")[:-1]
    if not lines:
        raise SaveError(f"{path} was not written by a match")
    header = _header(path, lines[0], *(kind.name for kind in (MATCH, ROUNDS, EVALUATION)))
    records = [record for record in map(_parse, lines[1:]) if record is not None and "error" not in record]
    return header, sorted(records, key=lambda record: int(record["index"]))


def versions() -> dict[str, str]:
    """What the games were played with."""
    found = {"python": platform.python_version()}
    for package in ("treetop", "numpy", "numba"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def refuse_another(path: Path, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Refuse a file of another match, and say what is different about it."""
    if found.get("rules") != wanted["rules"]:
        python = found.get("versions", {}).get("python")
        hint = "" if python == platform.python_version() else f" (it was begun under Python {python}, and rules are compared as bytecode)"
        raise SaveError(f"{path} is {wanted['kind']} of {found.get('game')}, whose rules are not those of {wanted['game']}{hint}; name another file")
    wanted = json.loads(json.dumps(wanted))  # as it would have been read: tuples are lists there
    for key, name in _SAME.items():
        if found.get(key) != wanted.get(key):
            another = f"another {wanted['kind'].partition(' ')[2]}"
            raise SaveError(f"{path} is {another}: its {name} {_are(name)} {_show(found.get(key))}, not {_show(wanted.get(key))}; name another file")


def _are(name: str) -> str:
    return "are" if name in ("players", "openings") else "is"


def _show(value: Any) -> str:
    if isinstance(value, list):
        return " and ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {entry}" for key, entry in value.items())
    return "none" if value is None else str(value)


def _header(path: Path, line: bytes, *kinds: str) -> dict[str, Any]:
    header = _parse(line)
    if header is None or "kind" not in header:
        raise SaveError(f"{path} was not written by {kinds[0]}")
    if header["kind"] not in kinds:
        raise SaveError(f"{path} holds {header['kind']}, not {kinds[0]}")
    if header.get("version") != VERSION:
        raise SaveError(f"{path} is of version {header.get('version')}; this Treetop reads version {VERSION}")
    return header


def _is_pair_game(record: Record) -> bool:
    index = record["index"]
    return (
        isinstance(index, int) and index >= 0 and record["pair"] == index // 2 and record["score"] in (0, 0.5, 1)
        and record["seats"] in (["A", "B"], ["B", "A"]) and record["forfeit"] in (None, "A", "B")
        and _is_opening(record["opening"]) and _are_rewards(record["rewards"], "AB")
    )  # fmt: skip


def _is_round_game(record: Record) -> bool:
    index, seats = record["index"], record["seats"]
    return (
        isinstance(index, int) and index >= 0 and isinstance(seats, list) and len(seats) > 2 and record["round"] == index // len(seats)
        and all(isinstance(letter, str) for letter in seats) and record["forfeit"] in (None, *seats)
        and _is_opening(record["opening"]) and _are_rewards(record["rewards"], seats)
    )  # fmt: skip


def _is_evaluated_game(record: Record) -> bool:
    index, returns = record["index"], record["returns"]
    return (
        isinstance(index, int) and index >= 0 and all(isinstance(record[key], int) for key in ("deal", "player"))
        and isinstance(returns, list) and bool(returns) and all(isinstance(value, (int, float)) for value in returns)
        and isinstance(record["summary"], dict) and isinstance(record["seconds"], (int, float)) and isinstance(record["choices"], int)
    )  # fmt: skip


def _is_opening(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(action, (int, list)) for action in value)


def _are_rewards(value: Any, players: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(player), (int, float)) for player in players)


MATCH = Kind("a match", ("index", "pair", "score", "seats", "opening", "forfeit", "rewards"), _is_pair_game, kept=("clairvoyant",))
ROUNDS = Kind("a match of many", ("index", "round", "seats", "opening", "forfeit", "rewards"), _is_round_game, kept=("clairvoyant",))
EVALUATION = Kind("an evaluation", ("index", "deal", "player", "returns", "forfeit", "seconds", "choices", "simulations", "summary"),
                  _is_evaluated_game, kept=("clairvoyant",))  # fmt: skip


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content, allow_nan=False).encode() + b"\n"


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
