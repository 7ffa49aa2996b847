"""The move with the highest value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treetop.compiler.rng import Rng
from treetop.search.finals.final import Candidates, Choice, Final, best_of, runner_up

if TYPE_CHECKING:
    from treetop.search.result import SearchResult


@dataclass(frozen=True, kw_only=True)
class Value(Final):
    """The move with the highest mean value.

    >>> import treetop as tt
    >>> result = tt.search("tic_tac_toe", tt.SearchConfig(final=tt.rules.Value()), simulations=500, seed=1)
    >>> result.explain().why
    'it has the highest value, +0.5749; the next is c3 with +0.4198'
    """

    name = "value"

    def choose(self, result: SearchResult, candidates: Candidates, rng: Rng) -> Choice:
        """Return the index of the move to play among the candidates, and the reason."""
        scores = np.where(result.counts > 0, result.clipped_means, -np.inf)
        index = best_of(scores, lambda: result.counts, candidates, rng)
        return (
            index,
            lambda: f"it has the highest value, {scores[index]:+.4f}{runner_up(result, scores, index, candidates)}",
        )
