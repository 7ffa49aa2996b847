"""A mixed strategy: the move is drawn from it, so that an opponent who knows the strategy cannot exploit it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treetop.compiler.rng import Rng
from treetop.search.finals.final import Candidates, Choice, Final, draw

if TYPE_CHECKING:
    from treetop.search.result import SearchResult


@dataclass(frozen=True, kw_only=True)
class MixedStrategy(Final):
    """A move drawn from the mixed strategy.

    >>> import treetop as tt
    >>> config = tt.SearchConfig(rule=tt.rules.RegretMatching(), final=tt.rules.MixedStrategy())
    >>> tt.search("matching_pennies", config, simulations=1_000, seed=1).move in ("heads", "tails")
    True
    """

    name = "mixed"

    def choose(self, result: SearchResult, candidates: Candidates, rng: Rng) -> Choice:
        """Return the index of the move to play among the candidates, and the reason."""
        index, probability = draw(result.probabilities, candidates, rng)
        return index, lambda: f"it was drawn from the mixed strategy, in which it has {probability:.1%}"
