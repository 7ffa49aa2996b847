"""A folder of training runs, matches, tournaments and evaluations: what is known of each, read again as it grows.

An entry is named by an id that a scan of the folder has made. What is wrong with one does not hurt the others.
"""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from treetop.errors import ConfigError, SaveError, TreetopError
from treetop.serve.limits import TooManyError
from treetop.serve.run_files import Found, Scan, scan
from treetop.serve.run_games import Games, NoJournalError
from treetop.serve.run_tournaments import Tournament
from treetop.serve.run_training import Training

_FRESH = 0.5  # seconds for which a scan is good
_READING = 1.0  # seconds that one request for the list reads files; the next request reads on
_MOST_KEPT = 300 * 2**20  # bytes of files whose content is kept in memory
_PATIENCE = 15.0  # seconds that a request waits for another one to finish reading
_DAMAGED = (ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError)
T = TypeVar("T")


class Entry:
    """A training run or a file of games, with what is known of it."""

    def __init__(self, root: Path, found: Found) -> None:
        self.content: Training | Games = Training(root, found) if found.is_run else Games(root, found)
        self.error = ""
        """Why it cannot be shown."""
        self.is_shown = True
        self.used = 0.0
        """When it was last asked; 0 if its content is not in memory."""
        self._row: dict[str, Any] = {}
        self._read = ""

    @property
    def found(self) -> Found:
        """Its files, as the last scan has seen them."""
        return self.content.found

    @property
    def is_current(self) -> bool:
        """Whether its row is up to date with the last scan."""
        return self._read == self.found.stamp

    def load(self) -> None:
        """Read what is new. An error is kept, and shown in the place of the entry."""
        if self.is_current and (self.used or self.error):
            return
        self._read, self.error, self.is_shown = self.found.stamp, "", True
        try:
            self.content.read()
            self._row = self.content.summary()
        except NoJournalError as error:
            self.error, self.is_shown = str(error), False
        except TreetopError as error:
            self.error = str(error)
        except _DAMAGED as error:
            self.error = f"{self.found.name} is damaged ({type(error).__name__})"
        if self.error:
            self.content.drop()

    def ask(self, question: Callable[[Any], T]) -> T:
        """Return an answer about the content; raise SaveError where it cannot be read."""
        self.load()
        if self.error:
            raise SaveError(self.error)
        self.used = time.monotonic()
        try:
            return question(self.content)
        except (TreetopError, KeyError):
            raise
        except _DAMAGED as error:
            self.error = f"{self.found.name} is damaged ({type(error).__name__})"
            raise SaveError(self.error) from error

    def row(self) -> dict[str, Any]:
        """Return the row of the list."""
        found, content = self.found, self.content
        about = _empty_row(found.id, found.name, "training" if found.is_run else "games", _ago(found.changed))
        if self.error:
            return about | {"error": self.error}
        return about | {"game": content.game, "state": content.state, "progress": content.progress, **self._row}

    def drop(self) -> None:
        """Free the memory of the content; it is read again when it is asked for."""
        self.content.drop()
        self.used = 0.0


class Folder:
    """A folder of training runs, matches, tournaments and evaluations.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as path:
    ...     Folder(path).rows()["entries"]
    []
    """

    def __init__(self, folder: str | Path) -> None:
        path = Path(folder)
        if not path.is_dir():
            raise ConfigError(f"there is no folder {path}: give --runs a folder of training runs and matches")
        self._root = path.resolve()
        self._looking, self._reading = threading.Lock(), threading.Lock()
        self._scanned, self._scan = -math.inf, Scan()
        self._entries: dict[str, Entry] = {}
        self._tournaments: dict[str, Tournament] = {}

    def _look(self) -> list[Entry]:
        """Scan the folder, unless that was done just now; return its entries, the newest first."""
        with self._looking:
            if time.monotonic() - self._scanned > _FRESH:
                self._scan = scan(self._root)
                self._scanned = time.monotonic()
                before, entries = self._entries, dict[str, Entry]()
                for found in self._scan.found:
                    entries[found.id] = before.get(found.id) or Entry(self._root, found)
                    entries[found.id].content.found = found
                groups = sorted({one.group for one in self._scan.found if one.group is not None})
                known = {one.group: one for one in self._tournaments.values()}
                made = [known.get(group) or Tournament(group) for group in groups]
                self._entries, self._tournaments = entries, {one.id: one for one in made}
            return list(self._entries.values())

    @contextmanager
    def _turn(self) -> Iterator[list[Entry]]:
        """Let one request at a time read files; raise TooManyError where that takes too long."""
        if not self._reading.acquire(timeout=_PATIENCE):
            raise TooManyError("the folder is being read for somebody else: try again in a moment")
        try:
            yield self._look()
        finally:
            self._reading.release()

    def version(self, wanted: str | None) -> dict[str, str]:
        """Return a text that changes whenever the folder changes, and one for an entry. No file is opened."""
        entries = self._look()
        tournament = self._tournaments.get(wanted or "")
        own = [one for one in entries if wanted == one.found.id or (tournament and one.found.group == tournament.group)]
        return {"list": _digest(entries), "entry": _digest(own)}

    def rows(self) -> dict[str, Any]:
        """Return the list, the newest entry first, and how many files were not read in time."""
        with self._turn() as entries:
            end, waiting = time.monotonic() + _READING, 0
            for entry in entries:
                if not entry.is_current and time.monotonic() > end:
                    waiting += 1
                elif not entry.is_current:
                    with suppress(SaveError):
                        entry.ask(lambda _: None)
                    self._free(entry)
            shown = [one for one in entries if one.is_current and one.is_shown]
            rows = [one.row() for one in shown if one.found.group is None or one.error]
            for tournament in self._tournaments.values():
                members = [one for one in shown if one.found.group == tournament.group and not one.error]
                if members:
                    rows.append(self._tournament_row(tournament, members))
        rows.sort(key=lambda row: (row["ago"], row["name"]))
        return {"folder": self._root.name, "entries": rows, "waiting": waiting, "cut": self._scan.cut}

    def detail(self, wanted: str) -> dict[str, Any]:
        """Return what is shown of an entry; raise KeyError where there is none."""
        with self._turn() as entries:
            tournament = self._tournaments.get(wanted)
            if tournament is not None:
                members = [one for one in entries if one.found.group == tournament.group]
                row = self._tournament_row(tournament, members)
                return row if row["error"] else row | tournament.detail(_matches(tournament, members))
            entry, found = self._entries[wanted], dict[str, Any]()
            with suppress(TreetopError):
                found = entry.ask(lambda content: content.detail())
            self._free(entry)
            group = entry.found.group
            inside = next(
                (one.id for one in self._tournaments.values() if group is not None and one.group == group), None
            )
            return entry.row() | found | {"tournament": inside}

    def games(self, wanted: str, question: Callable[[Games], T]) -> T:
        """Return an answer about a file of games; raise KeyError where there is none."""
        with self._turn():
            entry = self._entries[wanted]
            if not isinstance(entry.content, Games):
                raise KeyError(wanted)
            return entry.ask(question)

    def _tournament_row(self, tournament: Tournament, members: Sequence[Entry]) -> dict[str, Any]:
        ago = min(_ago(one.found.changed) for one in members)
        row = _empty_row(tournament.id, tournament.group or ".", tournament.kind, ago)
        try:
            matches = _matches(tournament, members)
            return row | tournament.summary(matches)
        except TreetopError as error:
            return row | {"error": str(error)}
        except _DAMAGED as error:
            return row | {"error": f"the tournament is damaged ({type(error).__name__})"}

    def _free(self, asked: Entry) -> None:
        """Forget the content of the entries that were used least recently, while all together are too large."""
        kept, total = sorted((one for one in self._entries.values() if one.used), key=lambda one: -one.used), 0
        for entry in kept:
            total += entry.found.size
            if total > _MOST_KEPT and entry is not asked:
                entry.drop()


def _matches(tournament: Tournament, members: Sequence[Entry]) -> list[Games]:
    """Return the files of a tournament that can be read."""
    found = list[Games]()
    for entry in members:
        with suppress(SaveError):
            entry.ask(found.append)
    return tournament.of(found)


def _empty_row(name: str, path: str, kind: str, ago: float) -> dict[str, Any]:
    return {
        "id": name, "name": path, "kind": kind, "ago": ago, "game": "", "state": "", "progress": None, "result": "",
        "amount": "", "error": None,
    }  # fmt: skip


def _ago(changed: float) -> float:
    """Return the seconds since a time."""
    return max(0.0, round(time.time() - changed, 1))


def _digest(entries: Sequence[Entry]) -> str:
    stamps = "\n".join(one.found.stamp for one in entries)
    return hashlib.sha256(stamps.encode("utf-8", "surrogateescape")).hexdigest()[:16]
