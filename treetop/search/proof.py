"""The proven value of a position."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from treetop.tree.layout import PROVEN
from treetop.types import ROOT

if TYPE_CHECKING:
    from treetop.search.session import Session


@dataclass(frozen=True)
class ProvenValue:
    """A proven value: the return of the player to move under best play of all players.

    >>> import treetop as tt
    >>> proof = tt.search("nim(stones=5)", tt.uct(solver=True), simulations=2_000, seed=1).proof
    >>> proof.outcome, proof.value, str(proof)
    ('win', 1.0, 'the player to move wins in at most 3 moves')
    """

    value: float
    """For the player to move."""
    values: tuple[float | None, ...]
    """For each player; None where a tie of another player leaves it open."""
    at_most: int
    """An upper bound on the moves to the end."""
    outcome: str
    """Win, draw or loss of the player to move, if the value is the highest, middle or lowest one; else "proven"."""

    @classmethod
    def of(cls, search: Session) -> ProvenValue | None:
        """Return the proof that a search has found, or None."""
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
        """Return plain values, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        if self.outcome == "draw":
            return "a draw"
        known = {"win": "the player to move wins", "loss": "the player to move loses"}
        text = known.get(self.outcome, f"worth {self.value:+g} to the player to move")
        return f"{text} in at most {self.at_most} moves"
