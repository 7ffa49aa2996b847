"""What is proven of a position."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from treetop.tree.layout import PROVEN
from treetop.types import ROOT

if TYPE_CHECKING:
    from treetop.search.session import Session


@dataclass(frozen=True)
class ProvenValue:
    """A proven value: what the player to move receives when everybody plays for the best."""

    value: float
    """For the player to move."""
    values: tuple[float | None, ...]
    """For every player; None where a tie of another player's leaves it open."""
    at_most: int
    """Moves to the end: no more than this, but perhaps fewer."""
    outcome: str
    """win, draw or loss for the player to move, where the value is the highest, middle or lowest that the game knows; else "proven"."""

    @classmethod
    def of(cls, search: Session) -> ProvenValue | None:
        """The proof that a search has found, if it has."""
        columns = search.tree.columns
        if not search.config.solver or not columns.links["flags"][ROOT] & PROVEN:
            return None
        players, facts = search.game.facts.players, search.game.facts
        row = columns.bounds[ROOT]
        values = tuple(
            float(row[player]) if row[player] == row[players + player] else None for player in range(players)
        )
        mine = values[search.position.player]
        if mine is None:
            return None
        low, high = facts.rewards
        outcome = {high: "win", low: "loss", facts.middle: "draw"}.get(mine, "proven")
        return cls(mine, values, int(columns.distances[ROOT]), outcome)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        told = {"win": "the player to move wins", "loss": "the player to move loses", "draw": "a draw"}.get(
            self.outcome, f"worth {self.value:+g} to the player to move"
        )
        return told if self.outcome == "draw" else f"{told} in at most {self.at_most} moves"
