"""Save played games in a file: a header, then one line of JSON for each game, written to the disk before the next one
counts.

An incomplete last line, left by a crash, is dropped when the file is opened again, and its game is played again: the
same game, since it comes from the same seed. A file of another match, or of something else, is refused and never
changed.
"""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treetop.checks import is_number, is_whole
from treetop.errors import SaveError
from treetop.game.facts import LARGEST_REWARD
from treetop.journal import Journal, Record, as_read, read_journal

VERSION = 1
_SAME = {
    "players": "players",
    "seed": "seed",
    "openings": "openings",
    "make_player": "maker of players",
    "move_deadline": "deadline a move",
    "clock": "clock",
}


@dataclass(frozen=True)
class Kind:
    """A kind of file."""

    name: str
    """Its name with an article: `a match`."""
    needed: tuple[str, ...]
    """The fields that every game has and that are kept in memory; the moves are in the file only."""
    is_game: Callable[[Record], bool]
    """Whether a line with all those fields is a valid game."""
    kept: tuple[str, ...] = ()
    """The fields that are kept in memory if a game has them."""

    def brief(self, record: Record) -> Record:
        """Return the fields of a game that are kept in memory."""
        return {key: record[key] for key in (*self.needed, *self.kept) if key in record}

    def holds(self, record: Record) -> bool:
        """Return whether a line is a valid game of this kind."""
        return all(key in record for key in self.needed) and self.is_game(record)


class GameLog(Journal):
    """Games in a file or, without a path, in memory only. Use it in a `with` statement: one process writes at a
    time.
    """

    entry = "game"

    def __init__(self, path: Path | None, header: dict[str, Any], kind: Kind) -> None:
        super().__init__(path, {"kind": kind.name, "version": VERSION, **header})
        self._kind = kind
        self.records: dict[int, Record] = {}
        """The finished games by their index, without their moves."""

    def append(self, record: Record) -> None:
        """Add a finished game. When this returns, it is on the disk."""
        self.records[record["index"]] = self._kind.brief(record)
        self.write(record)

    def note_error(self, index: int, reason: str, traceback: str) -> None:
        """Add a game that could not be played. It is not finished: the next call plays it again."""
        self.write({"error": reason, "index": index, "traceback": traceback})

    def refuse_another(self, path: Path, found: Record) -> None:
        """Raise SaveError if the file belongs to another match."""
        refuse_another(path, found, self.header)

    def take(self, record: Record) -> bool:
        """Read a game that was played before, or the record of an error. Return whether it is valid."""
        if "error" in record:
            return True
        if not self._kind.holds(record):
            return False
        self.records.setdefault(record["index"], self._kind.brief(record))
        return True


def read_match(path: str | Path) -> tuple[dict[str, Any], list[Record]]:
    """Return the header of a match's or an evaluation's file and its finished games, in order."""
    kinds = {kind.name: kind for kind in (MATCH, ROUNDS, EVALUATION)}
    header, lines = read_journal(Path(path), tuple(kinds), VERSION)
    for number, record in enumerate(lines, start=2):
        if "error" not in record and not kinds[header["kind"]].holds(record):
            raise SaveError(f"{path} is damaged: line {number} is not a valid game of {header['kind']}")
    return header, sorted(
        (record for record in lines if "error" not in record), key=lambda record: int(record["index"])
    )


def versions() -> dict[str, str]:
    """The conditions of the games, for the header."""
    found = {"python": platform.python_version()}
    for package in ("treetop", "numpy", "numba"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def refuse_another(path: Path, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Refuse a file of another match, and say what differs."""
    if found.get("rules") != wanted["rules"]:
        versions = found.get("versions")
        python = versions.get("python") if isinstance(versions, dict) else None
        hint = (
            ""
            if python == platform.python_version()
            else f" (it was started under Python {python}, and rules are compared as bytecode)"
        )
        raise SaveError(
            f"{path} is {wanted['kind']} of {found.get('game')}, whose rules are not those of {wanted['game']}{hint}; "
            "name another file"
        )
    wanted = as_read(wanted)
    for key, name in _SAME.items():
        if found.get(key) != wanted.get(key):
            another = f"another {wanted['kind'].partition(' ')[2]}"
            raise SaveError(
                f"{path} is {another}: its {name} {_are(name)} {_show(found.get(key))}, "
                f"not {_show(wanted.get(key))}; name another file"
            )


def _are(name: str) -> str:
    return "are" if name in ("players", "openings") else "is"


def _show(value: Any) -> str:
    if isinstance(value, list):
        return " and ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {entry}" for key, entry in value.items())
    return "none" if value is None else str(value)


def _is_pair_game(record: Record) -> bool:
    index = record["index"]
    return (
        _is_index(index)
        and record["pair"] == index // 2
        and record["score"] in (0, 0.5, 1)
        and record["seats"] in (["A", "B"], ["B", "A"])
        and record["forfeit"] in (None, "A", "B")
        and _is_opening(record)
        and _are_rewards(record["rewards"], "AB")
        and _are_seers(record.get("clairvoyant", []))
    )


def _is_round_game(record: Record) -> bool:
    index, seats = record["index"], record["seats"]
    return (
        _is_index(index)
        and isinstance(seats, list)
        and len(seats) > 2
        and record["round"] == index // len(seats)
        and all(isinstance(letter, str) for letter in seats)
        and len(set(seats)) == len(seats)
        and record["forfeit"] in (None, *seats)
        and _is_opening(record)
        and _are_rewards(record["rewards"], seats)
        and _are_seers(record.get("clairvoyant", []))
    )


def _is_evaluated_game(record: Record) -> bool:
    index, returns = record["index"], record["returns"]
    return (
        _is_index(index)
        and all(_is_index(record[key]) for key in ("deal", "player", "choices"))
        and isinstance(returns, list)
        and bool(returns)
        and all(_is_number(value) for value in (*returns, record["seconds"]))
        and isinstance(record["summary"], dict)
        and not any(isinstance(value, (list, dict)) for value in record["summary"].values())
        and isinstance(record.get("clairvoyant", False), bool)
        and (record["forfeit"] is None or isinstance(record["forfeit"], (int, str)))
        and (record["simulations"] is None or _is_index(record["simulations"]))
    )


def _is_index(value: Any) -> bool:
    return is_whole(value) and 0 <= value < 2**63


def _is_number(value: Any) -> bool:
    return is_number(value) and abs(value) <= LARGEST_REWARD


def _is_opening(record: Record) -> bool:
    actions, setup = record["opening"], record.get("setup")
    return (
        isinstance(actions, list)
        and all(isinstance(action, (int, list)) for action in actions)
        and (setup is None or isinstance(setup, str))
    )


def _are_seers(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(player, str) for player in value)


def _are_rewards(value: Any, players: Any) -> bool:
    return isinstance(value, dict) and set(value) == set(players) and all(_is_number(entry) for entry in value.values())


MATCH = Kind(
    "a match",
    ("index", "pair", "score", "seats", "opening", "forfeit", "rewards"),
    _is_pair_game,
    kept=("clairvoyant", "reason"),
)
ROUNDS = Kind(
    "a match of many",
    ("index", "round", "seats", "opening", "forfeit", "rewards"),
    _is_round_game,
    kept=("clairvoyant", "reason"),
)
EVALUATION = Kind(
    "an evaluation",
    ("index", "deal", "player", "returns", "forfeit", "seconds", "choices", "simulations", "summary"),
    _is_evaluated_game,
    kept=("clairvoyant", "reason"),
)
