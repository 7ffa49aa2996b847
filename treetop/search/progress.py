"""The progress of a running search."""

from __future__ import annotations

from dataclasses import dataclass

from treetop.search.limits import Limit


@dataclass(frozen=True)
class Progress:
    """The progress of a search, for the callback of `Search.run`, which is called about ten times a second.

    >>> import treetop as tt
    >>> reports = []
    >>> result = tt.search("tic_tac_toe", simulations=500, seed=1, progress=reports.append)
    >>> reports[-1].simulations, reports[-1].best
    (500, 'b2')
    """

    simulations: int
    elapsed: float
    best: str
    """The move that would be played now."""
    value: float
    """The value of the root for the player to move."""
    limit: Limit

    @property
    def rate(self) -> float:
        """Simulations per second."""
        return self.simulations / self.elapsed if self.elapsed > 0 else 0.0
