"""Which child to follow.

A rule is a scale, computed once for all children of a node, and a score for one child. N, the visits of all children together, counts as 1
while there are none. Scores are written with products instead of quotients (docs/speed.md); `reference/` computes them in the same order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel, kernel
from treetop.kernels.control import ASK, FIRST, UCB1
from treetop.kernels.tables import inverse, inverse_root, root_log
from treetop.types import NONE

Score = CompiledFunction[[Any, Any, int, float, float], float]


@inline_kernel
def ucb1_scale(c: float, visits: int) -> float:
    """c * sqrt(ln N)."""
    return c * root_log(visits)


@inline_kernel
def ucb1_score(stats: Any, in_flight: Any, child: int, scale: float, first_play: float) -> float:
    """W/n + c * sqrt(ln N / n). Children that were never tried do not come here: see `_untried`."""
    root = inverse_root(stats[child].visits)
    return float((stats[child].value_sum * root + scale) * root)


@inline_kernel
def puct_scale(c: float, c_base: float, visits: int) -> float:
    """c(N) * sqrt(N)."""
    if c_base > 0.0:
        c += math.log((1.0 + visits + c_base) / c_base)
    return c * math.sqrt(visits)


@inline_kernel
def puct_score(stats: Any, in_flight: Any, child: int, scale: float, first_play: float) -> float:
    """Q + c(N) * P * sqrt(N) / (1 + n)."""
    visits = stats[child].visits
    value = first_play if visits == 0 else stats[child].value_sum * inverse(visits)
    return float(value + scale * stats[child].prior * inverse(visits + 1))


@inline_kernel
def watching_ucb1_score(stats: Any, in_flight: Any, child: int, scale: float, first_play: float) -> float:
    """UCB1 that counts evaluations in flight as visits in the exploration term, and in nothing else."""
    visits, begun = stats[child].visits, stats[child].visits + in_flight[child]
    if begun == 0:
        return np.inf
    value = first_play if visits == 0 else stats[child].value_sum * inverse(visits)
    return float(value + scale * inverse_root(begun))


@inline_kernel
def watching_puct_score(stats: Any, in_flight: Any, child: int, scale: float, first_play: float) -> float:
    """PUCT that counts evaluations in flight as visits in the exploration term, and in nothing else."""
    visits = stats[child].visits
    value = first_play if visits == 0 else stats[child].value_sum * inverse(visits)
    return float(value + scale * stats[child].prior * inverse(visits + in_flight[child] + 1))


def _best_by(score: Score) -> CompiledFunction[..., Any]:
    @inline_kernel
    def best(control: Any, stats: Any, in_flight: Any, first: Any, count: Any, scale: float, tied: Any, answers: Any, rng: Any) -> Any:
        """The child with the highest score; NONE if the caller has to break a tie first."""
        first_play = control[0].first_play
        highest, winner, equal = -np.inf, first, 0
        for child in range(first, first + count):  # without a branch: which child leads is anybody's guess
            value = score(stats, in_flight, child, scale, first_play)
            better = value > highest
            equal = 1 if better else equal + (value == highest)
            winner = child if better else winner
            highest = value if better else highest
        if equal <= 1:
            return np.int64(winner)
        return np.int64(break_tie(control, stats, in_flight, first, count, scale, highest, equal, tied, answers, rng))

    @kernel
    def break_tie(
        control: Any, stats: Any, in_flight: Any, first: Any, count: Any, scale: float, highest: float, equal: int,
        tied: Any, answers: Any, rng: Any,
    ) -> Any:  # fmt: skip
        turn = _decide(control, equal, answers, rng)
        seen = 0
        for child in range(first, first + count):
            if score(stats, in_flight, child, scale, control[0].first_play) == highest:
                if seen == turn:
                    return np.int64(child)
                tied[seen] = child
                seen += 1
        control[0].tied = seen
        return np.int64(NONE)

    return best


@inline_kernel
def _decide(control: Any, equal: Any, answers: Any, rng: Any) -> int:
    """Which of `equal` candidates, in order, wins a tie; NONE where the caller was not asked yet."""
    if control[0].tie_break == FIRST:
        return 0
    if control[0].tie_break == ASK:
        control[0].answered += 1
        return int(answers[control[0].answered - 1])
    return int(rng.below(equal))


@inline_kernel
def forget_answers(control: Any, answers: Any) -> None:
    """What the caller decided holds for one simulation."""
    for index in range(control[0].answered):
        answers[index] = NONE
    control[0].answered = 0


@inline_kernel
def _untried(control: Any, stats: Any, first: Any, count: Any, untried: int, tied: Any, answers: Any, rng: Any) -> Any:
    """One of the children that were never tried: what UCB1's infinite scores amount to, without computing the others."""
    turn = _decide(control, untried, answers, rng) if untried > 1 else 0
    seen = 0
    for child in range(first, first + count):
        if stats[child].visits == 0:
            if seen == turn:
                return np.int64(child)
            tied[seen] = child
            seen += 1
    control[0].tied = seen
    return np.int64(NONE)


_best_ucb1 = _best_by(ucb1_score)
_best_puct = _best_by(puct_score)
_best_watching_ucb1 = _best_by(watching_ucb1_score)
_best_watching_puct = _best_by(watching_puct_score)


@inline_kernel
def select(
    control: Any, stats: Any, in_flight: Any, first: Any, count: Any, visits: int, tied: Any, answers: Any, rng: Any
) -> Any:  # fmt: skip
    """The child to follow, by the rule in `control`; NONE if the caller has to break a tie first.

    `visits` is N where the node knows it without asking its children, else NONE.
    """
    if visits == NONE:
        visits = 0
        for child in range(first, first + count):
            visits += stats[child].visits
    if control[0].rule == UCB1:
        untried = 0
        for child in range(first, first + count):
            untried += stats[child].visits == 0
        if untried > 0:
            return _untried(control, stats, first, count, untried, tied, answers, rng)
        scale = ucb1_scale(control[0].c, visits)
        return _best_ucb1(control, stats, in_flight, first, count, scale, tied, answers, rng)
    scale = puct_scale(control[0].c, control[0].c_base, max(visits, 1))
    return _best_puct(control, stats, in_flight, first, count, scale, tied, answers, rng)


@inline_kernel
def select_watching(
    control: Any, stats: Any, in_flight: Any, first: Any, count: Any, visits: int, tied: Any, answers: Any, rng: Any
) -> Any:  # fmt: skip
    """The same with evaluations in flight: a child that is being evaluated looks more explored than it is."""
    begun = 0
    for child in range(first, first + count):
        begun += stats[child].visits + in_flight[child]
    begun = max(begun, 1)
    if control[0].rule == UCB1:
        scale = ucb1_scale(control[0].c, begun)
        return _best_watching_ucb1(control, stats, in_flight, first, count, scale, tied, answers, rng)
    scale = puct_scale(control[0].c, control[0].c_base, begun)
    return _best_watching_puct(control, stats, in_flight, first, count, scale, tied, answers, rng)
