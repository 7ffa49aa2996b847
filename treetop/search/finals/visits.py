"""The move with the most visits: the usual choice, because single high returns do not change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treetop.compiler.rng import Rng
from treetop.search.finals.final import Candidates, Choice, Final, best_of
from treetop.types import FloatArray, IntArray

if TYPE_CHECKING:
    from treetop.search.result import SearchResult


@dataclass(frozen=True, kw_only=True)
class Visits(Final):
    """The most visited move. Ties are broken by the value, or by the Gumbel scores.

    >>> import treetop as tt
    >>> result = tt.search("tic_tac_toe", tt.SearchConfig(final=tt.rules.Visits()), simulations=500, seed=1)
    >>> result.explain().why
    'it has the most visits (207 of 499, 41.5%; the next is c3 with 81)'
    """

    name = "visits"

    def choose(self, result: SearchResult, candidates: Candidates, rng: Rng) -> Choice:
        """Return the index of the move to play among the candidates, and the reason."""
        counts = result.counts_since

        def second() -> FloatArray:
            gumbel = result.gumbel_scores
            return np.where(result.counts > 0, result.means, -np.inf) if gumbel is None else gumbel

        index = best_of(counts, second, candidates, rng)
        return index, lambda: _reason(result, counts, index)


def _reason(result: SearchResult, counts: IntArray, index: int) -> str:
    total, mine = int(counts.sum()), int(counts[index])
    others = np.array(counts, dtype=np.int64)
    others[index] = -1
    rival = int(np.argmax(others))
    share = f"{mine:,} of {total:,}, {mine / max(total, 1):.1%}"
    if mine < others[rival]:
        return f"of the moves that are not proven it has the most visits ({share})"
    return f"it has the most visits ({share}; the next is {result.name_of(rival)} with {int(others[rival]):,})"
