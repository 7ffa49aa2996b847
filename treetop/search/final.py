"""Which move to play at the end, and why: by visits, value, lower bounds or chance, with whatever is proven put first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from treetop.compiler.rng import Rng, mix
from treetop.types import FloatArray

if TYPE_CHECKING:
    from treetop.search.result import SearchResult

_SALT = 0x66696E616C  # the final move draws from numbers of its own, so that looking changes nothing
_LCB_SHARE = 0.15  # moves with a smaller share of the leader's visits are not judged by their bounds
_LCB_GAIN = 0.2  # a lower bound may multiply visits by at most 1 / this, squared


def choose(result: SearchResult) -> tuple[int, str]:
    """The index of the move to play, and the reason in words. The same however often it is asked."""
    rng = Rng(mix(result.seed ^ _SALT) ^ result.root_visits)
    if len(result.actions) == 1:
        return 0, "it is the only legal move"
    if not result.counts.any():
        open_moves = np.flatnonzero(result.playable)
        return int(open_moves[rng.below(len(open_moves))]), "a guess: no move has been tried yet"
    settled = _proven_choice(result, rng)
    if settled is not None:
        return settled
    candidates = _open_moves(result)
    index, why = _by_rule(result, candidates, rng)
    return _better_proven(result, index) or (index, why)


def _open_moves(result: SearchResult) -> npt.NDArray[np.bool_]:
    """The moves among which the rule decides: those that may be best and are not proven. There is one, else the proof had decided.

    Proven moves stand apart: they get no more visits, and one that is proven to lose may well have the most.
    """
    if result.lower is None or result.upper is None:
        return result.contenders
    return result.contenders & (result.lower < result.upper)


def _by_rule(result: SearchResult, candidates: npt.NDArray[np.bool_], rng: Rng) -> tuple[int, str]:
    """The choice of the final rule among some moves."""
    rule = result.config.final
    temperature = result.config.temperature_at(len(result.position.actions))
    if rule == "temperature" and temperature > 0:
        return _drawn(result, candidates, temperature, rng)
    if rule == "mixed":
        return _mixed(result, candidates, rng)
    if rule == "value":
        scores = np.where(result.counts > 0, result.clipped_means, -np.inf)
        index = _best(scores, result.counts, candidates, rng)
        return index, _against(result, scores, index, candidates, "it has the highest value, {:+.4f}", "{:+.4f}")
    if rule == "secure":
        scores = np.where(
            result.counts > 0, result.clipped_means - result.config.secure_beta * result.deviations, -np.inf
        )
        index = _best(scores, result.counts, candidates, rng)
        beta = f"its value less {result.config.secure_beta:g} standard deviations is highest, {{:+.4f}}"
        return index, _against(result, scores, index, candidates, beta, "{:+.4f}")
    if rule == "lcb":
        weights, lower = lcb_weights(result)
        index = _best(weights, result.counts, candidates, rng)
        told = f"it has the most visits, weighed by lower confidence bounds ({weights[index]:,.0f}; its bound is {lower[index]:+.4f})"
        return index, told
    counts = result.counts_since
    second = (
        result.gumbel_scores if result.gumbel_scores is not None else np.where(result.counts > 0, result.means, -np.inf)
    )
    index = _best(counts.astype(np.float64), second, candidates, rng)
    return index, _most_visits(result, counts, index)


def _proven_choice(result: SearchResult, rng: Rng) -> tuple[int, str] | None:
    """A move that is proven to be as good as any other can be: the quickest where it wins, the slowest where all lose."""
    if result.lower is None or result.upper is None or result.distances is None:
        return None
    best = float(result.lower[result.playable].max())
    settled = (result.lower == result.upper) & (result.lower == best) & result.playable
    if not settled.any() or bool((result.upper[~settled & result.playable] > best).any()):
        return None
    distances = np.where(settled, result.distances, 0 if best < result.middle else np.iinfo(np.int32).max)
    wanted = distances.max() if best < result.middle else distances.min()
    equal = np.flatnonzero(settled & (distances == wanted))
    index = int(equal[rng.below(len(equal))]) if len(equal) > 1 else int(equal[0])
    worth = f"worth {best:+g}, in at most {int(wanted) + 1} moves"
    if bool((result.upper[~result.playable] > best).any()):
        return index, f"it is proven to be {worth}, the best of those that have not failed"
    return index, f"it is proven best: {worth}"


def _better_proven(result: SearchResult, index: int) -> tuple[int, str] | None:
    """A proven move that is worth at least what the favourite is thought to be; a proven loss never is."""
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
        return None  # also where the favourite is sure to bring as much, and may bring more
    safe = (result.lower >= proven[rival]) & (result.upper > proven[rival]) & result.playable
    if safe.any():
        index = int(np.argmax(np.where(safe, result.counts, -1)))
        return (
            index,
            f"it is sure to bring {result.lower[index]:+g}, as {_name(result, rival)} is proven to, and may bring more",
        )
    return (
        rival,
        f"it is proven to be worth {proven[rival]:+g}; {_name(result, index)} has more visits, but only {result.clipped_means[index]:+.4f}",
    )


def _drawn(result: SearchResult, candidates: npt.NDArray[np.bool_], temperature: float, rng: Rng) -> tuple[int, str]:
    shares = np.where(candidates, result._shares(temperature), 0.0)
    if not shares.sum() > 0:
        shares = candidates.astype(np.float64)
    shares = shares / shares.sum()
    drawn = min(
        int(np.searchsorted(np.cumsum(shares), rng.random(), side="right")), len(shares) - 1
    )  # the shares may add up to a little less than 1
    while not shares[drawn] > 0:
        drawn -= 1
    return drawn, f"it was drawn, at temperature {temperature:g}, with a probability of {shares[drawn]:.1%}"


def _mixed(result: SearchResult, candidates: npt.NDArray[np.bool_], rng: Rng) -> tuple[int, str]:
    """A draw from the strategy: what an opponent who knows the strategy cannot exploit is the lot."""
    shares = np.where(candidates, np.array(list(result.strategy().values())), 0.0)
    if not shares.sum() > 0:
        shares = candidates.astype(np.float64)
    shares = shares / shares.sum()
    drawn = min(int(np.searchsorted(np.cumsum(shares), rng.random(), side="right")), len(shares) - 1)
    while not shares[drawn] > 0:
        drawn -= 1
    return drawn, f"it was drawn from the mixed strategy, in which it has {shares[drawn]:.1%}"


def _best(first: FloatArray, second: npt.NDArray[np.generic], candidates: npt.NDArray[np.bool_], rng: Rng) -> int:
    best = np.flatnonzero(candidates)
    best = best[first[best] == first[best].max()]
    best = best[second[best] == second[best].max()]
    return int(best[rng.below(len(best))]) if len(best) > 1 else int(best[0])


def _against(
    result: SearchResult, scores: FloatArray, index: int, candidates: npt.NDArray[np.bool_], told: str, number: str
) -> str:
    others = np.where(candidates, scores, -np.inf)
    others[index] = -np.inf
    rival = int(np.argmax(others))
    versus = (
        f"; the next is {_name(result, rival)} with {number.format(scores[rival])}"
        if np.isfinite(others[rival])
        else ""
    )
    return told.format(scores[index]) + versus


def _most_visits(result: SearchResult, counts: npt.NDArray[np.generic], index: int) -> str:
    others = np.array(counts, dtype=np.int64)
    total = int(others.sum())
    mine = int(others[index])
    others[index] = -1
    rival = int(np.argmax(others))
    if mine < others[rival]:
        return f"of the moves that are not proven it has the most visits ({mine:,} of {total:,}, {mine / max(total, 1):.1%})"
    return f"it has the most visits ({mine:,} of {total:,}, {mine / max(total, 1):.1%}; the next is {_name(result, rival)} with {int(others[rival]):,})"


def _name(result: SearchResult, index: int) -> str:
    return result._name(index)


def lcb_weights(result: SearchResult) -> tuple[FloatArray, FloatArray]:
    """Visits raised where a lower confidence bound is better than that of moves with more visits; and the bounds.

    A variance is mixed with one as wide as the utility range, which counts 1 / n**2: so few visits make a wide interval.
    """
    visits = result.counts.astype(np.float64)
    tried = visits > 0
    safe = np.maximum(visits, 1.0)
    prior = safe**-2.0
    low, high = result.position.game.facts.rewards
    means = np.where(tried, result.clipped_means, 0.0)
    squares = result.deviations**2 + means**2
    mixed = (squares * visits + (means**2 + ((high - low) / 2) ** 2) * prior) / (visits + prior) - means**2
    samples = (visits + prior) ** 2 / (visits + prior**2)
    radius = result.config.lcb_radius * np.sqrt(np.maximum(mixed, 0.0) / np.maximum(samples, 1e-12))
    lower = np.where(tried, means - radius, -np.inf)
    serious = visits >= _LCB_SHARE * visits.max()
    best = int(np.argmax(np.where(serious, lower, -np.inf)))
    weights = visits.copy()
    for index in np.flatnonzero(serious):
        gap = lower[best] - lower[index]
        if index != best and gap > 0:
            ratio = (radius[index] + gap) / (radius[index] + _LCB_GAIN * gap)
            weights[best] = max(weights[best], visits[index] * ratio**2)
    return weights, lower


def pruned_visits(result: SearchResult, exploration: float) -> FloatArray:
    """Visits without those that only exploration asked for: no more than a move needs to look as good as the best one did.

    `exploration` is PUCT's c(N) * sqrt(N).
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
    """Probabilities from logits."""
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def uncertainty(visits: npt.NDArray[np.generic], deviations: FloatArray) -> FloatArray:
    """The standard error of each mean; NaN where nobody was."""
    counts = np.array(visits, dtype=np.float64)
    return np.where(counts > 0, deviations / np.sqrt(np.maximum(counts, 1.0)), math.nan)
