"""The base of final rules, which choose the move to play, and say why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from treetop.compiler.rng import Rng
from treetop.kernels.parts import Part
from treetop.types import FloatArray

if TYPE_CHECKING:
    from treetop.search.result import SearchResult

Candidates = npt.NDArray[np.bool_]
Choice = tuple[int, Callable[[], str]]
"""The index of a move, and a function that returns the reason: most callers do not ask for it."""


@dataclass(frozen=True, kw_only=True)
class Final(Part):
    """A rule that chooses the move to play.

    >>> import treetop as tt
    >>> isinstance(tt.uct(final="value").final, tt.rules.Final)
    True
    """

    slot = "final"

    def choose(self, result: SearchResult, candidates: Candidates, rng: Rng) -> Choice:
        """Return the index of the move to play among the candidates, and the reason."""
        raise NotImplementedError


def best_of(
    first: npt.NDArray[np.generic],
    second: Callable[[], npt.NDArray[np.generic]],
    candidates: Candidates,
    rng: Rng,
) -> int:
    """Return the candidate with the highest first number, then second number; ties are broken at random."""
    # Lists: there are few moves, and most calls of NumPy take longer than all of this.
    rows = list(zip(first.tolist(), candidates.tolist(), strict=True))
    highest = max(number for number, allowed in rows if allowed)
    best = [index for index, (number, allowed) in enumerate(rows) if allowed and number == highest]
    if len(best) > 1:
        numbers = second().tolist()
        highest = max(numbers[index] for index in best)
        best = [index for index in best if numbers[index] == highest]
    return best[rng.below(len(best))] if len(best) > 1 else best[0]


def runner_up(result: SearchResult, scores: FloatArray, index: int, candidates: Candidates) -> str:
    """Return a clause about the second best candidate; empty if there is none."""
    others = np.where(candidates, scores, -np.inf)
    others[index] = -np.inf
    rival = int(np.argmax(others))
    return f"; the next is {result.name_of(rival)} with {scores[rival]:+.4f}" if np.isfinite(others[rival]) else ""


def draw(shares: FloatArray, candidates: Candidates, rng: Rng) -> tuple[int, float]:
    """Draw one of the candidates by its share; return it and its probability."""
    shares = np.where(candidates, shares, 0.0)
    if not shares.sum() > 0:
        shares = candidates.astype(np.float64)
    shares = shares / shares.sum()
    # The shares may sum to a little less than 1.
    drawn = min(int(np.searchsorted(np.cumsum(shares), rng.random(), side="right")), len(shares) - 1)
    while not shares[drawn] > 0:
        drawn -= 1
    return drawn, float(shares[drawn])
