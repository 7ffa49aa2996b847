"""Choose the move to play, and say why: by a proof if there is one, else by the final rule."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from treetop.compiler.rng import Rng, mix
from treetop.search.finals.final import Choice
from treetop.types import FloatArray

if TYPE_CHECKING:
    from treetop.search.result import SearchResult

_SALT = 0x66696E616C  # a separate stream of random numbers


def generator(seed: int, visits: int) -> Rng:
    """Return the random numbers of a final choice: reading a result does not change the search."""
    return Rng(mix(seed ^ _SALT) ^ visits)


def choose(result: SearchResult) -> Choice:
    """Return the index of the move to play, and the reason. The same result gives the same choice."""
    rng = generator(result.seed, result.root_visits)
    if len(result.numbers) == 1:
        return 0, lambda: "it is the only legal move"
    if not any(result.counts.tolist()):
        return _untried_choice(result, rng)
    proven = _proven_choice(result, rng)
    if proven is not None:
        return proven
    candidates = _open_moves(result)
    index, why = result.config.final.choose(result, candidates, rng)
    return _better_proven(result, index) or (index, why)


def _untried_choice(result: SearchResult, rng: Rng) -> Choice:
    """Return the move with the highest prior, where no move has visits."""
    priors = np.where(result.playable, result.priors, -np.inf)
    highest = np.flatnonzero(priors == priors.max())
    index = int(highest[rng.below(len(highest))])
    if len(highest) == np.count_nonzero(result.playable):
        return index, lambda: "a guess: no move has been tried yet"
    return index, lambda: f"it has the highest prior ({priors[index]:.1%}); no move has been tried yet"


def _open_moves(result: SearchResult) -> npt.NDArray[np.bool_]:
    """Return the moves among which the rule decides: those that may be best and are not proven.

    Proven moves are left out because they get no more visits, and a proven loss may have the most visits. There is at
    least one such move; otherwise the proof has decided.
    """
    if result.lower is None or result.upper is None:
        return result.contenders
    return result.contenders & (result.lower < result.upper)


def _proven_choice(result: SearchResult, rng: Rng) -> Choice | None:
    """Return a move that is proven to be best: with the shortest distance, or the longest one where all moves lose."""
    if result.lower is None or result.upper is None or result.distances is None:
        return None
    best = float(result.lower[result.playable].max())
    proven = (result.lower == result.upper) & (result.lower == best) & result.playable
    if not proven.any() or bool((result.upper[~proven & result.playable] > best).any()):
        return None
    distances = np.where(proven, result.distances, 0 if best < result.middle else np.iinfo(np.int32).max)
    wanted = distances.max() if best < result.middle else distances.min()
    equal = np.flatnonzero(proven & (distances == wanted))
    index = int(equal[rng.below(len(equal))]) if len(equal) > 1 else int(equal[0])
    worth = f"worth {best:+g}, in at most {int(wanted) + 1} moves"
    if bool((result.upper[~result.playable] > best).any()):
        return index, lambda: f"it is proven to be {worth}, the best of those that have not failed"
    return index, lambda: f"it is proven best: {worth}"


def _better_proven(result: SearchResult, index: int) -> Choice | None:
    """Return a proven move whose value is at least the mean of the chosen one; never a proven loss."""
    if result.lower is None or result.upper is None:
        return None
    lowest = result.position.game.facts.rewards[0]
    proven = np.where((result.lower == result.upper) & (result.lower > lowest) & result.playable, result.lower, -np.inf)
    rival = int(np.argmax(proven))
    if (
        not np.isfinite(proven[rival])
        or result.lower[index] >= proven[rival]
        or proven[rival] < result.clipped_means[index]
    ):
        return None  # also where the lower bound of the chosen move is as high
    safe = (result.lower >= proven[rival]) & (result.upper > proven[rival]) & result.playable
    if safe.any():
        better = int(np.argmax(np.where(safe, result.counts, -1)))
        least = f"it is proven to be worth at least {result.lower[better]:+g}"
        return better, lambda: f"{least}, the proven value of {result.name_of(rival)}"
    worth = f"it is proven to be worth {proven[rival]:+g}"
    mean = f"{result.clipped_means[index]:+.4f}"
    return rival, lambda: f"{worth}; {result.name_of(index)} has more visits, but only {mean}"


def pruned_visits(result: SearchResult, exploration: float) -> FloatArray:
    """Return the visits without those that only exploration explains.

    Each move keeps as many as its score needs to equal that of the best move. `exploration` is PUCT's c(N) * sqrt(N).
    """
    visits = result.counts.astype(np.float64)
    if not visits.any():
        return visits
    best = int(np.argmax(visits))
    means = np.where(visits > 0, result.means, -np.inf)
    score = means[best] + exploration * result.priors[best] / (1 + visits[best])
    kept = visits.copy()
    for index in range(len(visits)):
        gap = score - means[index]
        if index != best and visits[index] > 0 and gap > 0:
            kept[index] = min(visits[index], max(0.0, exploration * result.priors[index] / gap - 1.0))
    return kept


def softmax(logits: FloatArray) -> FloatArray:
    """Return probabilities from logits."""
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def uncertainty(visits: npt.NDArray[np.generic], deviations: FloatArray) -> FloatArray:
    """Return the standard error of each mean; NaN without visits."""
    counts = np.array(visits, dtype=np.float64)
    return np.where(counts > 0, deviations / np.sqrt(np.maximum(counts, 1.0)), math.nan)
