"""The secure child: the highest value minus some standard deviations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treetop.compiler.rng import Rng
from treetop.kernels.parts import EVERY_KIND, SETS, number
from treetop.search.finals.final import Candidates, Choice, Final, best_of, runner_up

if TYPE_CHECKING:
    from treetop.search.result import SearchResult


@dataclass(frozen=True, kw_only=True)
class Secure(Final):
    """The move with the highest value minus `secure_beta` standard deviations.

    >>> import treetop as tt
    >>> config = tt.SearchConfig(final=tt.rules.Secure(secure_beta=2.0))
    >>> tt.search("tic_tac_toe", config, simulations=500, seed=1).move
    'b2'
    """

    name = "secure"
    kinds = EVERY_KIND - {SETS}  # information sets keep no variances

    secure_beta: float = number(
        1.0, "How many standard deviations are subtracted from the value.", low=0.0, kernel=False
    )

    def builds(self) -> frozenset[str]:
        """Return what a build must have."""
        return frozenset({"full"})

    def columns(self) -> frozenset[str]:
        """Return the columns of the tree that this part needs."""
        return frozenset({"squares"})

    def choose(self, result: SearchResult, candidates: Candidates, rng: Rng) -> Choice:
        """Return the index of the move to play among the candidates, and the reason."""
        scores = np.where(result.counts > 0, result.clipped_means - self.secure_beta * result.deviations, -np.inf)
        index = best_of(scores, lambda: result.counts, candidates, rng)
        why = f"its value minus {self.secure_beta:g} standard deviations is highest"
        return index, lambda: f"{why}, {scores[index]:+.4f}{runner_up(result, scores, index, candidates)}"
