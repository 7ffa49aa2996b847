"""Notes on the games of a check: what meets all requirements and is still likely to be wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import unwrap
from types import CodeType
from typing import Any

from treetop.checks import closest
from treetop.text import counted
from treetop.types import SIMULTANEOUS

_ENOUGH = 20  # the number of games below which nothing follows from them
_ALIKE = 0.8  # how similar a name must be to that of an optional method, from 0 to 1


def misspelt(attributes: Mapping[str, Any], known: Iterable[str]) -> tuple[str, ...]:
    """Return a note for each attribute of a class that no method uses and that is named almost like a known one.

    >>> class Board:
    ...     def rendr(self): ...
    >>> misspelt(vars(Board), ["render", "observe"])
    ('is `rendr` meant to be `render`? No method uses it',)
    """
    codes = [getattr(unwrap(value), "__code__", None) for value in attributes.values() if callable(value)]
    used = {name for code in codes if code is not None for name in _names(code)}
    lacking = [name for name in known if name not in attributes]
    found = {name: closest(name, lacking, cutoff=_ALIKE) for name in attributes if name not in used | set(known)}
    return tuple(
        f"is `{name}` meant to be `{right}`? No method uses it"
        for name, right in found.items()
        if right is not None and not name.startswith("_")
    )


def indices(lines: Iterable[str]) -> tuple[str, ...]:
    """Return a note for each line that uses a negative index of a field.

    >>> indices({"mine.py, line 7: return self.board[row, column]"})
    ('a negative index counts from the end: mine.py, line 7: return self.board[row, column]',)
    """
    return tuple(f"a negative index counts from the end: {line}" for line in sorted(lines))


def _names(code: CodeType) -> Iterator[str]:
    """Yield the attributes and globals that a function uses, and the functions inside it."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


class Tally:
    """Who moved and what the players received, over many random games."""

    def __init__(self, players: int) -> None:
        self._moved = [False] * players
        self._games = 0
        self._returns: set[tuple[float, ...]] = set()
        self._winners: set[int | None] = set()

    def move(self, mover: int) -> None:
        """Count a move of a player, of all players, or of chance."""
        if mover == SIMULTANEOUS:
            self._moved = [True] * len(self._moved)
        elif mover >= 0:
            self._moved[mover] = True

    def end(self, returns: Sequence[float]) -> None:
        """Count a finished game by the total rewards of its players."""
        self._games += 1
        best = max(returns)
        if len(self._returns) < 2:
            self._returns.add(tuple(returns))
        self._winners.add(returns.index(best) if returns.count(best) == 1 else None)

    def notes(self) -> tuple[str, ...]:
        """Return what is remarkable about the games, one sentence each.

        >>> tally = Tally(players=2)
        >>> for _ in range(100):
        ...     tally.move(0)
        ...     tally.end([1.0, -1.0])
        >>> for note in tally.notes():
        ...     print(note)
        player 1 never moved in 100 games: does `apply` change the player to move?
        all 100 games ended with the returns [1.0, -1.0]: does `rewards` depend on the state?
        """
        if self._games < _ENOUGH:
            return ()
        games, notes = counted(self._games, "game"), []
        idle = [str(player) for player, moved in enumerate(self._moved) if not moved]
        if idle:
            who = f"player{'s' if len(idle) > 1 else ''} {', '.join(idle)}"
            notes.append(f"{who} never moved in {games}: does `apply` change the player to move?")
        winner = next(iter(self._winners)) if len(self._winners) == 1 and len(self._moved) > 1 else None
        if len(self._returns) == 1:
            returns = list(next(iter(self._returns)))
            notes.append(f"all {games} ended with the returns {returns}: does `rewards` depend on the state?")
        elif winner is not None:
            notes.append(f"player {winner} won all {games}: are the rewards those of the right player?")
        return tuple(notes)
