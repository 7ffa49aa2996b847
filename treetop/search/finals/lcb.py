"""Lower confidence bounds: visits, weighted by the bounds of the values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treetop.compiler.rng import Rng
from treetop.kernels.parts import EVERY_KIND, SETS, number
from treetop.search.finals.final import Candidates, Choice, Final, best_of
from treetop.types import FloatArray

if TYPE_CHECKING:
    from treetop.search.result import SearchResult

_SHARE = 0.15  # the bounds of moves with a smaller share of the most visits are ignored
_GAIN = 0.2  # a lower bound may multiply visits by at most 1 / this, squared


@dataclass(frozen=True, kw_only=True)
class Lcb(Final):
    """The most visits, raised where a lower confidence bound is better than that of moves with more visits.

    >>> import treetop as tt
    >>> config = tt.SearchConfig(final=tt.rules.Lcb(lcb_radius=3.0))
    >>> tt.search("tic_tac_toe", config, simulations=500, seed=1).move
    'b2'
    """

    name = "lcb"
    kinds = EVERY_KIND - {SETS}  # information sets keep no variances

    lcb_radius: float = number(
        5.0, "Standard errors between a value and its lower confidence bound.", low=0.0, kernel=False
    )

    def builds(self) -> frozenset[str]:
        """Return what a build must have."""
        return frozenset({"full"})

    def columns(self) -> frozenset[str]:
        """Return the columns of the tree that this part needs."""
        return frozenset({"squares"})

    def choose(self, result: SearchResult, candidates: Candidates, rng: Rng) -> Choice:
        """Return the index of the move to play among the candidates, and the reason."""
        weights, lower = self.weights(result)
        index = best_of(weights, lambda: result.counts, candidates, rng)
        return (
            index,
            lambda: (
                f"it has the most visits, weighted by lower confidence bounds "
                f"({weights[index]:,.0f}; its bound is {lower[index]:+.4f})"
            ),
        )

    def weights(self, result: SearchResult) -> tuple[FloatArray, FloatArray]:
        """Return the weighted visits, and the bounds.

        A variance is mixed with that of the whole utility range, which has the weight 1 / n**2, so that few visits give
        a wide interval.
        """
        visits = result.counts.astype(np.float64)
        visited = visits > 0
        prior = np.maximum(visits, 1.0) ** -2.0
        low, high = result.position.game.facts.rewards
        means = np.where(visited, result.clipped_means, 0.0)
        squares = result.deviations**2 + means**2
        mixed = (squares * visits + (means**2 + ((high - low) / 2) ** 2) * prior) / (visits + prior) - means**2
        samples = (visits + prior) ** 2 / (visits + prior**2)
        radius = self.lcb_radius * np.sqrt(np.maximum(mixed, 0.0) / np.maximum(samples, 1e-12))
        lower = np.where(visited, means - radius, -np.inf)
        serious = visits >= _SHARE * visits.max()
        best = int(np.argmax(np.where(serious, lower, -np.inf)))
        weights = visits.copy()
        for index in np.flatnonzero(serious):
            gap = lower[best] - lower[index]
            if index != best and gap > 0:
                ratio = (radius[index] + gap) / (radius[index] + _GAIN * gap)
                weights[best] = max(weights[best], visits[index] * ratio**2)
        return weights, lower
