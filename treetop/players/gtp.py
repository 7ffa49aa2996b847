"""The Go Text Protocol, as texts: commands and their replies, vertices such as D4. It knows nothing about our games."""

from __future__ import annotations

import re
from collections.abc import Sequence

from treetop.errors import PlayerError
from treetop.players.line_process import LineProcess

_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"  # no I: it looks like a 1
_PLAIN_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def vertex_of(column: int, row: int) -> str:
    """Return the name of a point, both counted from 0: `vertex_of(8, 0)` is J1."""
    if not (0 <= column < len(_LETTERS) and row >= 0):
        raise PlayerError(f"GTP has no name for column {column}, row {row}")
    return f"{_LETTERS[column]}{row + 1}"


def point_of(vertex: str) -> tuple[int, int]:
    """Return the column and row of a vertex, counted from 0."""
    letter, digits = vertex[:1].upper(), vertex[1:]
    if letter not in _LETTERS or not letter or not digits.isdecimal() or int(digits) < 1:
        raise PlayerError(f"{vertex!r} is not a vertex, which is a letter without I and a number, such as D4")
    return _LETTERS.index(letter), int(digits) - 1


def renamed(point: str, *, skips_i: bool, to_skip_i: bool) -> str:
    """Return the name of a point, such as j3, where the letter i is skipped or is not: `i3` if both differ.

    >>> renamed("J3", skips_i=True, to_skip_i=False), renamed("i3", skips_i=False, to_skip_i=True)
    ('i3', 'j3')
    """
    if skips_i:
        column, row = point_of(point)
    else:
        found = re.fullmatch(r"([a-z])(\d{1,9})", point.lower(), re.ASCII)
        if found is None or int(found[2]) < 1:
            raise PlayerError(f"{point!r} is not a point of a board, which is a letter and a number such as d4")
        column, row = _PLAIN_LETTERS.index(found[1]), int(found[2]) - 1
    return vertex_of(column, row).lower() if to_skip_i else f"{_PLAIN_LETTERS[column]}{row + 1}"


class GtpEngine:
    """An engine that speaks GTP, version 2."""

    def __init__(self, command: Sequence[str], *, start_deadline: float, deadline: float) -> None:
        self.process = LineProcess(command)
        self._number = 0
        self._deadline = deadline
        self._start_deadline = start_deadline
        self.commands = frozenset(self.ask("list_commands").split())
        """The commands that the engine knows."""

    def ask(self, command: str, seconds: float | None = None) -> str:
        """Send a command and return its reply. Raise an error for `?`, a refusal."""
        self._number += 1
        number = str(self._number)
        self.process.send(f"{number} {command}")
        reply: list[str] = []
        for line in self.process.lines(self._start_deadline if seconds is None else seconds, f"reply to {command!r}"):
            if not reply and not line.strip():
                continue
            if not reply and line[:1] not in ("=", "?"):
                raise self.process.failure(f"broke the protocol: a reply begins with = or ?, not {line[:80]!r}")
            if line.strip():
                reply.append(line)
                continue
            break
        head = reply[0][1:]
        digits = head[: len(head) - len(head.lstrip("0123456789"))]
        if digits not in ("", number):
            raise self.process.failure(f"broke the protocol: it answered command {digits} where {number} was asked")
        text = "\n".join([head[len(digits) :].strip(), *reply[1:]]).strip()
        if reply[0].startswith("?"):
            raise self.process.failure(f"refused {command!r}: {text or 'no reason given'}")
        return text

    def new_game(self, size: int, komi: float | None = None) -> None:
        """Set up an empty board of `size` x `size` points."""
        self.ask(f"boardsize {size}")
        self.ask("clear_board")
        if komi is not None:
            self.ask(f"komi {komi:g}")

    def play(self, colour: str, vertex: str) -> None:
        """Send a move that was played: a vertex, or `pass`."""
        self.ask(f"play {colour} {vertex}")

    def generate(self, colour: str, deadline: float | None = None) -> str:
        """Return the engine's own move, which it has then played: a vertex in capitals, `pass` or `resign`."""
        move = self.ask(f"genmove {colour}", self._deadline if deadline is None else deadline).strip()
        return move.lower() if move.lower() in ("pass", "resign") else move.upper()

    def close(self) -> None:
        """End the engine."""
        self.process.close("quit")
