"""The clock of a whole game: how much of its time the next move may take. The caller reports the time that is used."""

from __future__ import annotations

import math

from treetop import checks
from treetop.errors import ConfigError, SearchError
from treetop.game.position import Position
from treetop.search.limits import Limit

_FEWEST_MOVES = 10  # planned for, in games that may last longer than expected
_LEAST_SHARE = 1e-4  # the least share of the remaining time that a move gets


class GameClock:
    """The time of one side for a game, and a plan for each of its moves.

    `seconds` are for the whole game; with `moves_to_go` for that many moves, after which they are added again.
    `increment` is added after each move. `overhead` is the time of a move outside the search, such as a slow
    connection.

    The plan for a move, with M the expected number of own moves to come, this one included, p the number of players and
    L the expected length of the game in plies:

        pool   = remaining + (M - 1) * increment - M * overhead
        weight = 1 + sin(pi * ply / L)                     twice as much in the middle as at both ends
        share  = weight / (sum of the weights of the M moves)
        plan   = pool * share

    M is (L - ply) / p, rounded up; at least 10 where the game may last longer than L, and at most the moves to the next
    time control or to the end of the game. Increments are not spent before they are added: a plan is at most half of
    `remaining - overhead`, or its share of that if it is more. It is at least a ten-thousandth of the remaining time,
    also where the overheads exceed it.

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
        self.seconds = checks.number("seconds", seconds, above=0)
        self.increment = checks.number("increment", increment, 0)
        self.overhead = checks.number("overhead", overhead, 0)
        self.moves_to_go = checks.whole("moves_to_go", moves_to_go, 1, optional=True)
        self.reset()

    def reset(self) -> None:
        """Start a new game."""
        self._remaining = self.seconds
        self._moves = 0
        self._flagged = False

    @property
    def remaining(self) -> float:
        """Seconds that are left; 0 after the flag has fallen."""
        return self._remaining

    @property
    def moves(self) -> int:
        """The number of moves that were reported."""
        return self._moves

    @property
    def flagged(self) -> bool:
        """Whether a move took longer than the remaining time."""
        return self._flagged

    def spent(self, seconds: float) -> None:
        """Report a move that took `seconds` in all; the clock adds its increment, unless the flag has fallen."""
        checks.number("seconds", seconds, 0)
        if self._flagged:
            raise SearchError("the flag has fallen: the game is lost on time; call `reset` to start a new one")
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
        """Return the limit for the next move, at a position or a ply (the number of actions played by all sides).

        A position has its ply, the players and the game's `max_length`, which is the expected length by default. A ply
        needs an expected length, and has two players by default. `stretch` reserves time for a search that may take
        that many times its limit: the `extra` of `MoreWhenCritical`.
        """
        checks.number("stretch", stretch, 1)
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
        available = self._remaining - self.overhead
        pool = available + (moves - 1) * (self.increment - self.overhead)
        most = available * max(share, 0.5)
        return max(min(pool * share, most / stretch), self._remaining * _LEAST_SHARE / stretch)

    def __repr__(self) -> str:
        parts = [f"{self._remaining:.4g} of {self.seconds:g} s left"]
        parts += [f"{self.increment:g} s added a move"] if self.increment else []
        parts += [f"{self.seconds:g} s added every {self.moves_to_go} moves"] if self.moves_to_go is not None else []
        parts += [f"{self._moves} moves played"]
        return f"<game clock: {', '.join(parts)}{', the flag has fallen' if self._flagged else ''}>"


def _course(at: Position | int, expected: int | None, players: int | None) -> tuple[int, int, int, int | None]:
    """Return the ply, the expected length, the players, and the ply at which the game must be over (or None)."""
    checks.whole("expected_length", expected, 1, optional=True)
    checks.whole("players", players, 1, optional=True)
    if isinstance(at, Position):
        facts = at.game.facts
        if players not in (None, facts.players):
            raise ConfigError(f"{at.game.name} has {facts.players} players, not {players}")
        length = facts.max_length if expected is None else min(expected, facts.max_length)
        return len(at.actions), length, facts.players, facts.max_length
    checks.whole("a ply", at, 0)
    if expected is None:
        raise ConfigError("a ply needs the length of the game: give expected_length too, or a position")
    return at, expected, 2 if players is None else players, None


def _share(ply: int, length: int, players: int, moves: int) -> float:
    """Return the weight of this move divided by the sum of the weights of all `moves`, one every `players` plies.

    The sines of equal steps sum to sin(n d / 2) / sin(d / 2) * sin(a + (n - 1) d / 2). Moves after the expected end
    have the weight 1.
    """
    within = min(moves, max(0, math.ceil((length - ply) / players)))
    if within == 0:
        return 1 / moves
    first, step = math.pi * ply / length, math.pi * players / length
    sines = math.sin(first)
    if within > 1:
        sines = math.sin(within * step / 2) / math.sin(step / 2) * math.sin(first + (within - 1) * step / 2)
    return (1 + math.sin(first)) / (moves + sines)
