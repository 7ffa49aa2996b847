"""Which child to follow, by UCB1 or PUCT: the fast way, for searches without further options.

A rule is a scale, computed once for all children of a node, and a score for one child. N, the visits of all children together, counts as 1
while there are none. Scores are written with products instead of quotients (docs/speed.md); `reference/` computes them in the same order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel, kernel
from treetop.kernels.build import Build
from treetop.kernels.control import ASK, FIRST, NO_CHILD, UCB1
from treetop.kernels.tables import inverse, inverse_root, root_log
from treetop.types import NONE

Score = CompiledFunction[[Any, int, float, float], float]


@inline_kernel
def ucb1_scale(c: float, visits: int) -> float:
    """c * sqrt(ln N)."""
    return c * root_log(visits)


@inline_kernel
def ucb1_score(tree: Any, child: int, scale: float, first_play: float) -> float:
    """W/n + c * sqrt(ln N / n). Children that were never tried do not come here: see `choose_untried`."""
    root = inverse_root(tree.stats[child].visits)
    return float((tree.stats[child].value_sum * root + scale) * root)


@inline_kernel
def puct_scale(c: float, c_base: float, visits: int) -> float:
    """c(N) * sqrt(N)."""
    if c_base > 0.0:
        c += math.log((1.0 + visits + c_base) / c_base)
    return c * math.sqrt(visits)


@inline_kernel
def puct_score(tree: Any, child: int, scale: float, first_play: float) -> float:
    """Q + c(N) * P * sqrt(N) / (1 + n)."""
    visits = tree.stats[child].visits
    value = first_play if visits == 0 else tree.stats[child].value_sum * inverse(visits)
    return float(value + scale * tree.stats[child].prior * inverse(visits + 1))


@inline_kernel
def watching_ucb1_score(tree: Any, child: int, scale: float, first_play: float) -> float:
    """UCB1 that counts evaluations in flight as visits in the exploration term, and in nothing else."""
    visits, begun = tree.stats[child].visits, tree.stats[child].visits + tree.in_flight[child]
    if begun == 0:
        return np.inf
    value = first_play if visits == 0 else tree.stats[child].value_sum * inverse(visits)
    return float(value + scale * inverse_root(begun))


@inline_kernel
def watching_puct_score(tree: Any, child: int, scale: float, first_play: float) -> float:
    """PUCT that counts evaluations in flight as visits in the exploration term, and in nothing else."""
    visits = tree.stats[child].visits
    value = first_play if visits == 0 else tree.stats[child].value_sum * inverse(visits)
    return float(value + scale * tree.stats[child].prior * inverse(visits + tree.in_flight[child] + 1))


def _best_by(score: Score, *, skips_closed: bool) -> CompiledFunction[..., Any]:
    @inline_kernel
    def open_score(tree: Any, child: Any, scale: float, first_play: float) -> float:
        if skips_closed:
            return -np.inf if tree.stats[child].prior < 0.0 else score(tree, child, scale, first_play)
        return score(tree, child, scale, first_play)

    @inline_kernel
    def best(control: Any, tree: Any, work: Any, first: Any, count: Any, scale: float, rng: Any) -> Any:
        """The child with the highest score; NONE if the caller has to break a tie first."""
        first_play = control[0].first_play
        highest, winner, equal = -np.inf, first, 0
        for child in range(first, first + count):  # without a branch: which child leads is anybody's guess
            value = open_score(tree, child, scale, first_play)
            better = value > highest
            equal = 1 if better else equal + (value == highest)
            winner = child if better else winner
            highest = value if better else highest
        if skips_closed and highest == -np.inf:
            return np.int64(NO_CHILD)
        if equal <= 1:
            return np.int64(winner)
        return np.int64(break_tie(control, tree, work, first, count, scale, highest, equal, rng))

    @kernel
    def break_tie(
        control: Any, tree: Any, work: Any, first: Any, count: Any, scale: float, highest: float, equal: int, rng: Any
    ) -> Any:  # fmt: skip
        turn = decide(control, equal, work.answers, rng)
        seen = 0
        for child in range(first, first + count):
            if open_score(tree, child, scale, control[0].first_play) == highest:
                if seen == turn:
                    return np.int64(child)
                work.tied[seen] = child
                seen += 1
        control[0].tied = seen
        return np.int64(NONE)

    return best


@inline_kernel
def decide(control: Any, equal: Any, answers: Any, rng: Any) -> int:
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


def _make_untried(build: Build) -> CompiledFunction[..., Any]:
    meets_settled = build.graph or build.general

    @inline_kernel
    def choose_untried(control: Any, tree: Any, work: Any, first: Any, count: Any, untried: int, rng: Any) -> Any:
        """One of the children that were never tried: what UCB1's infinite scores amount to, without computing the others."""
        turn = decide(control, untried, work.answers, rng) if untried > 1 else 0
        seen = 0
        for child in range(first, first + count):
            if tree.stats[child].visits == 0 and (not meets_settled or tree.stats[child].prior >= 0.0):
                if seen == turn:
                    return np.int64(child)
                work.tied[seen] = child
                seen += 1
        control[0].tied = seen
        return np.int64(NONE)

    return choose_untried


def make_fast_select(build: Build) -> CompiledFunction[..., Any]:
    """Selection by what is known."""
    best_ucb1 = _best_by(ucb1_score, skips_closed=build.solver)
    best_puct = _best_by(puct_score, skips_closed=build.solver)
    choose_untried = _make_untried(build)
    meets_settled = build.graph or build.general

    @inline_kernel
    def select(
        control: Any,
        tree: Any,
        totals: Any,
        work: Any,
        node: Any,
        mover: Any,
        chooser: Any,
        depth: Any,
        visits: int,
        rng: Any,
    ) -> Any:
        """The child to follow, by the rule in `control`; NONE if the caller has to break a tie first.

        `visits` is N where the node knows it without asking its children, else NONE.
        """
        first, count = np.uint64(tree.links[node].first_child), np.uint64(tree.links[node].num_children)
        if visits == NONE:
            visits = 0
            for child in range(first, first + count):
                visits += tree.stats[child].visits
        if control[0].rule == UCB1:
            untried = 0
            for child in range(first, first + count):
                if (
                    meets_settled
                ):  # by other ways, or by chance, one comes to a settled position some of whose moves nobody has tried
                    untried += tree.stats[child].visits == 0 and tree.stats[child].prior >= 0.0
                else:
                    untried += tree.stats[child].visits == 0
            if untried > 0:
                return choose_untried(control, tree, work, first, count, untried, rng)
            scale = ucb1_scale(control[0].c, visits)
            return best_ucb1(control, tree, work, first, count, scale, rng)
        scale = puct_scale(control[0].c, control[0].c_base, max(visits, 1))
        return best_puct(control, tree, work, first, count, scale, rng)

    return select


def make_watching_select(build: Build) -> CompiledFunction[..., Any]:
    """The same with evaluations in flight: a child that is being evaluated looks more explored than it is."""
    best_ucb1 = _best_by(watching_ucb1_score, skips_closed=build.solver)
    best_puct = _best_by(watching_puct_score, skips_closed=build.solver)

    @inline_kernel
    def select(
        control: Any,
        tree: Any,
        totals: Any,
        work: Any,
        node: Any,
        mover: Any,
        chooser: Any,
        depth: Any,
        visits: int,
        rng: Any,
    ) -> Any:
        """The child to follow; NONE if the caller has to break a tie first."""
        first, count = np.uint64(tree.links[node].first_child), np.uint64(tree.links[node].num_children)
        begun = 0
        for child in range(first, first + count):
            begun += tree.stats[child].visits + tree.in_flight[child]
        begun = max(begun, 1)
        if control[0].rule == UCB1:
            scale = ucb1_scale(control[0].c, begun)
            return best_ucb1(control, tree, work, first, count, scale, rng)
        scale = puct_scale(control[0].c, control[0].c_base, begun)
        return best_puct(control, tree, work, first, count, scale, rng)

    return select
