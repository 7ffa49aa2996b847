"""What a search reports while it runs."""

from __future__ import annotations

from dataclasses import dataclass

from treetop.search.limits import Limit


@dataclass(frozen=True)
class Progress:
    """How far a search has come; given to the callback of `Search.run` about ten times a second."""

    simulations: int
    elapsed: float
    best: str
    """The move that would be played now."""
    value: float
    """The root's value for the player to move."""
    limit: Limit

    @property
    def rate(self) -> float:
        """Simulations a second."""
        return self.simulations / self.elapsed if self.elapsed > 0 else 0.0
