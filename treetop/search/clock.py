"""The clock of a whole game: how much of it the next move may take. It is told how the time goes by; it looks at no watch."""

from __future__ import annotations

import math
from typing import Any

from treetop.errors import ConfigError, SearchError
from treetop.game.position import Position
from treetop.search.limits import Limit

_FEWEST_MOVES = 10  # planned for, in games that may last longer than expected
_CRUMB = 1e-4  # the part of the time that a move gets in any case, since some limit it must have


class GameClock:
    """The time of one side for a game, and a plan for each of its moves.

    `seconds` are for the whole game, or with `moves_to_go` for so many moves, after which they are added again. `increment` is added after
    each move. `overhead` is what a move costs beside the search: a slow connection, a process that wakes up.

    The plan for a move, with M the own moves that are expected to come, this one among them, p the number of players and L the expected
    length of the game in plies:

        pool   = remaining + (M - 1) * increment - M * overhead
        weight = 1 + sin(pi * ply / L)                     twice as much in the middle as at both ends
        share  = weight / (sum of the weights of the M moves)
        plan   = pool * share

    M is (L - ply) / p, rounded up; at least 10 where the game may last longer than L, and no more than until the next time control or the
    game's end. Increments are not spent before they come: a plan is at most half of `remaining - overhead`, or its share of it if that is
    more. And it is at least a ten-thousandth of what remains, even if the overheads eat up everything.

    >>> clock = GameClock(60.0)
    >>> clock.limit(0, 40).seconds < clock.limit(20, 40).seconds
    True
    >>> clock.spent(12.5)
    >>> clock.remaining
    47.5
    """

    def __init__(
        self, seconds: float, increment: float = 0.0, moves_to_go: int | None = None, overhead: float = 0.05
    ) -> None:
        if not (_is_number(seconds) and 0 < seconds < math.inf):
            raise ConfigError(f"seconds must be a positive number, not {seconds!r}")
        for name, value in (("increment", increment), ("overhead", overhead)):
            if not (_is_number(value) and 0 <= value < math.inf):
                raise ConfigError(f"{name} must be a number of at least 0, not {value!r}")
        if moves_to_go is not None:
            _whole("moves_to_go", moves_to_go, 1)
        self.seconds, self.increment, self.moves_to_go, self.overhead = (
            float(seconds),
            float(increment),
            moves_to_go,
            float(overhead),
        )
        self.reset()

    def reset(self) -> None:
        """A new game begins."""
        self._remaining = self.seconds
        self._moves = 0
        self._flagged = False

    @property
    def remaining(self) -> float:
        """Seconds that are left; 0 after a flag fall."""
        return self._remaining

    @property
    def moves(self) -> int:
        """How many moves have been accounted for."""
        return self._moves

    @property
    def flagged(self) -> bool:
        """Whether a move took longer than there was time."""
        return self._flagged

    def spent(self, seconds: float) -> None:
        """A move was made, and took so many seconds in all. What the clock adds after a move is added, unless the flag has fallen."""
        if not (_is_number(seconds) and 0 <= seconds < math.inf):
            raise ConfigError(f"a move takes a number of seconds of at least 0, not {seconds!r}")
        if self._flagged:
            raise SearchError("the flag has fallen: the game is lost on time; `reset` begins a new one")
        self._moves += 1
        if seconds > self._remaining:
            self._remaining, self._flagged = 0.0, True
            return
        self._remaining += self.increment - seconds
        if self.moves_to_go is not None and self._moves % self.moves_to_go == 0:
            self._remaining += self.seconds

    def limit(
        self,
        at: Position | int,
        expected_length: int | None = None,
        *,
        players: int | None = None,
        stretch: float = 1.0,
    ) -> Limit:
        """The limit for the next move, at a position or a ply (actions played by all sides).

        A position knows its ply, the players and the game's `max_length`, which is also the expected length unless you know better. A ply
        needs an expected length, and is of two players unless said otherwise. `stretch` keeps room for a search that may take so many times
        its limit: the `extra` of `MoreWhenCritical`.
        """
        if not (_is_number(stretch) and 1 <= stretch < math.inf):
            raise ConfigError(f"stretch must be a number of at least 1, not {stretch!r}")
        if self._remaining <= 0:
            raise SearchError(
                "the flag has fallen: no time is left for a move" if self._flagged else "no time is left for a move"
            )
        ply, length, players, last = _course(at, expected_length, players)
        moves = max(1, math.ceil((length - ply) / players))
        if last is None or last > length:
            moves = max(moves, _FEWEST_MOVES)
        if last is not None:
            moves = min(moves, max(1, math.ceil((last - ply) / players)))
        if self.moves_to_go is not None:
            moves = min(moves, self.moves_to_go - self._moves % self.moves_to_go)
        return Limit(seconds=self._plan(moves, _share(ply, length, players, moves), stretch))

    def _plan(self, moves: int, share: float, stretch: float) -> float:
        there = self._remaining - self.overhead
        pool = there + (moves - 1) * (self.increment - self.overhead)
        most = there * max(share, 0.5)
        return max(min(pool * share, most / stretch), self._remaining * _CRUMB / stretch)

    def __repr__(self) -> str:
        parts = [f"{self._remaining:.4g} of {self.seconds:g} s left"]
        parts += [f"{self.increment:g} s added a move"] if self.increment else []
        parts += [f"{self.seconds:g} s added every {self.moves_to_go} moves"] if self.moves_to_go is not None else []
        parts += [f"{self._moves} moves made"]
        return f"<game clock: {', '.join(parts)}{', the flag has fallen' if self._flagged else ''}>"


def _course(at: Position | int, expected: int | None, players: int | None) -> tuple[int, int, int, int | None]:
    """The ply, the expected length, the players, and the ply at which the game must be over, if there is one."""
    if expected is not None:
        _whole("expected_length", expected, 1)
    if players is not None:
        _whole("players", players, 1)
    if isinstance(at, Position):
        facts = at.game.facts
        if players not in (None, facts.players):
            raise ConfigError(f"{at.game.name} has {facts.players} players, not {players}")
        length = facts.max_length if expected is None else min(expected, facts.max_length)
        return len(at.actions), length, facts.players, facts.max_length
    _whole("a ply", at, 0)
    if expected is None:
        raise ConfigError("a ply alone does not say how long the game may be: give expected_length too, or a position")
    return at, expected, 2 if players is None else players, None


def _share(ply: int, length: int, players: int, moves: int) -> float:
    """This move's weight over the sum of the weights of all `moves`, this one first and then every `players` plies.

    The sines of equal steps add up to sin(n d / 2) / sin(d / 2) * sin(a + (n - 1) d / 2). Moves after the expected end have the weight 1.
    """
    within = min(moves, max(0, math.ceil((length - ply) / players)))
    if within == 0:
        return 1 / moves
    first, step = math.pi * ply / length, math.pi * players / length
    sines = math.sin(first)
    if within > 1:
        sines = math.sin(within * step / 2) / math.sin(step / 2) * math.sin(first + (within - 1) * step / 2)
    return (1 + math.sin(first)) / (moves + sines)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _whole(name: str, value: Any, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise ConfigError(f"{name} must be a whole number of at least {low}, not {value!r}")
