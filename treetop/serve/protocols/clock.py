"""How long to think on a move with a clock."""

from __future__ import annotations

from dataclasses import dataclass

_MOVES_LEFT = 25  # of one player, where nothing says how many come until the clock is filled up
_LEAST = 0.001  # seconds
OVERHEAD = 0.05
"""Seconds that are kept back for each move: a program around the engine needs time too."""


@dataclass(frozen=True)
class Clock:
    """The time that a player has left, in seconds.

    >>> Clock(60.0, increment=1.0).share()
    3.1
    >>> Clock(0.0, period=5.0).share()
    4.95
    """

    left: float
    increment: float = 0.0
    """Added after each move."""
    moves: int | None = None
    """Moves until time is added; None: there are no such moves."""
    period: float = 0.0
    """What each move may use once the main time is over (byoyomi)."""

    def share(self, overhead: float = OVERHEAD) -> float:
        """Return the seconds for the next move: a share of what is left, and most of what is added."""
        moves = _MOVES_LEFT if self.moves is None else max(1, self.moves)
        wanted = self.left / moves + 0.75 * self.increment + self.period - overhead
        if self.period:
            most = self.left + self.period - overhead
        else:  # a busy machine may take longer than the overhead, so the last move before more time keeps a reserve too
            most = (0.7 if moves == 1 else 0.5) * self.left - overhead
        return max(_LEAST, min(wanted, most))
