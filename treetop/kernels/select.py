"""Selection: which child to follow, by the score of the search's rule.

N, the visits of all children together, counts as 1 while there are none. The fast forms of a rule are written with
products instead of quotients (docs/speed.md); `reference/` computes them in the same order. The full form knows every
rule and every option.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel, kernel
from treetop.kernels.build import Build
from treetop.kernels.control import ASK, BAD_SCORE, BY_RULE, FIRST, NO_CHILD
from treetop.kernels.parts import dispatch
from treetop.kernels.roots import ROOTS
from treetop.kernels.roots.gumbel import Gumbel, score_by_schedule
from treetop.kernels.rules import RULES
from treetop.kernels.rules import rave as amaf
from treetop.kernels.rules.completed import Completed, completed_scores, write_completed
from treetop.kernels.rules.own import OwnRule, make_score
from treetop.kernels.rules.puct import Puct
from treetop.kernels.rules.rule import Rule
from treetop.kernels.rules.ucb1 import Ucb1
from treetop.kernels.values import child_value, fpu_at
from treetop.types import NONE

Kernel = CompiledFunction[..., Any]

_UCB1, _COMPLETED, _GUMBEL = RULES.index(Ucb1), RULES.index(Completed), ROOTS.index(Gumbel)


@inline_kernel
def decide(control: Any, equal: Any, answers: Any, rng: Any) -> int:
    """Return which of `equal` candidates, in order, wins a tie; NONE if the caller was not asked yet."""
    if control.tie_break == FIRST:
        return 0
    if control.tie_break == ASK:
        control.answered += 1
        return int(answers[control.answered - 1])
    return int(rng.below(equal))


@inline_kernel
def forget_answers(control: Any, answers: Any) -> None:
    """Forget what the caller decided: it holds for one simulation."""
    for index in range(control.answered):
        answers[index] = NONE
    control.answered = 0


def _fast_best(score: Kernel, *, skips_closed: bool) -> Kernel:
    """Return a kernel for the child with the highest fast score."""

    @inline_kernel
    def open_score(control: Any, tree: Any, work: Any, child: Any, mover: Any, scale: float, fpu: float) -> float:
        if skips_closed:
            return (
                -np.inf
                if tree.stats[child].prior < 0.0
                else float(score(control, tree, work, child, mover, scale, fpu))
            )
        return float(score(control, tree, work, child, mover, scale, fpu))

    @inline_kernel
    def best(control: Any, tree: Any, work: Any, first: Any, count: Any, mover: Any, scale: float, rng: Any) -> Any:
        """Return the child with the highest score; NONE if the caller has to break a tie first."""
        fpu = control.fpu
        highest, winner, equal = -np.inf, first, 0
        for child in range(first, first + count):  # without a branch: which child leads cannot be predicted
            value = open_score(control, tree, work, child, mover, scale, fpu)
            better = value > highest
            equal = 1 if better else equal + (value == highest)
            winner = child if better else winner
            highest = value if better else highest
        if skips_closed and highest == -np.inf:
            return np.int64(NO_CHILD)
        if equal <= 1:
            return np.int64(winner)
        chosen = np.int64(break_tie(control, tree, work, first, count, mover, scale, highest, equal, rng))
        # Another thread may have changed a score since, so that the tie is gone.
        return np.int64(winner) if chosen == NONE and control.tie_break != ASK else chosen

    @inline_kernel
    def break_tie(
        control: Any, tree: Any, work: Any, first: Any, count: Any, mover: Any, scale: float, highest: float,
        equal: int, rng: Any,
    ) -> Any:  # fmt: skip
        turn = decide(control, equal, work.answers, rng)
        seen = 0
        for child in range(first, first + count):
            if open_score(control, tree, work, child, mover, scale, control.fpu) == highest:
                if seen == turn:
                    return np.int64(child)
                work.tied[seen] = child
                seen += 1
        control.tied = seen
        return np.int64(NONE)

    return best


def _make_choose_unvisited(build: Build) -> Kernel:
    meets_proven = build.graph or build.stochastic

    @inline_kernel
    def choose_unvisited(control: Any, tree: Any, work: Any, first: Any, count: Any, unvisited: int, rng: Any) -> Any:
        """Return one of the children without visits, whose scores by UCB1 are infinite."""
        turn = decide(control, unvisited, work.answers, rng) if unvisited > 1 else 0
        seen = 0
        for child in range(first, first + count):
            if tree.stats[child].visits == 0 and (not meets_proven or tree.stats[child].prior >= 0.0):
                if seen == turn:
                    return np.int64(child)
                work.tied[seen] = child
                seen += 1
        control.tied = seen
        return np.int64(NONE)

    return choose_unvisited


def make_select(build: Build, *, in_flight: bool) -> Kernel:
    """Return how a child is chosen in a build; `in_flight` says whether evaluations may be in flight."""
    if build.full:
        return _make_full_select(build.rule, in_flight=in_flight)
    if build.amaf:
        return _make_amaf_select(in_flight=in_flight)
    return _make_fast_select_in_flight(build) if in_flight else _make_fast_select(build)


def _make_fast_select(build: Build) -> Kernel:
    """Return selection by UCB1 or PUCT without further options."""
    best_ucb1 = _fast_best(Ucb1.fast_score, skips_closed=build.solver)
    best_puct = _fast_best(Puct.fast_score, skips_closed=build.solver)
    ucb1_scale, puct_scale = Ucb1.fast_scale, Puct.fast_scale
    choose_unvisited = _make_choose_unvisited(build)
    meets_proven = build.graph or build.stochastic

    @inline_kernel
    def select(
        control: Any, tree: Any, work: Any, node: Any, mover: Any, chooser: Any, depth: Any, visits: int,
        rng: Any,
    ) -> Any:  # fmt: skip
        """Return the child to follow, by the rule in `control`; NONE if the caller has to break a tie first.

        `visits` is N where the node knows it without asking its children, else NONE.
        """
        first, count = np.uint64(tree.links[node].first_child), np.uint64(tree.links[node].num_children)
        if visits == NONE:
            visits = 0
            for child in range(first, first + count):
                visits += tree.stats[child].visits
        if control.rule == _UCB1:
            unvisited = 0
            for child in range(first, first + count):
                if (
                    meets_proven
                ):  # by other paths, or by chance, one reaches a proven position some of whose moves have no visits
                    unvisited += tree.stats[child].visits == 0 and tree.stats[child].prior >= 0.0
                else:
                    unvisited += tree.stats[child].visits == 0
            if unvisited > 0:
                return choose_unvisited(control, tree, work, first, count, unvisited, rng)
            return best_ucb1(control, tree, work, first, count, mover, ucb1_scale(control, visits), rng)
        return best_puct(control, tree, work, first, count, mover, puct_scale(control, max(visits, 1)), rng)

    return select


def _make_fast_select_in_flight(build: Build) -> Kernel:
    """Return the same with evaluations in flight: a child that is being evaluated looks more explored than it is."""
    best_ucb1 = _fast_best(Ucb1.fast_score_in_flight, skips_closed=build.solver)
    best_puct = _fast_best(Puct.fast_score_in_flight, skips_closed=build.solver)
    ucb1_scale, puct_scale = Ucb1.fast_scale, Puct.fast_scale

    @inline_kernel
    def select(
        control: Any, tree: Any, work: Any, node: Any, mover: Any, chooser: Any, depth: Any, visits: int,
        rng: Any,
    ) -> Any:  # fmt: skip
        """Return the child to follow; NONE if the caller has to break a tie first."""
        first, count = np.uint64(tree.links[node].first_child), np.uint64(tree.links[node].num_children)
        tries = 0
        for child in range(first, first + count):
            tries += tree.stats[child].visits + tree.in_flight[child]
        tries = max(tries, 1)
        if control.rule == _UCB1:
            return best_ucb1(control, tree, work, first, count, mover, ucb1_scale(control, tries), rng)
        return best_puct(control, tree, work, first, count, mover, puct_scale(control, tries), rng)

    return select


def _make_amaf_select(*, in_flight: bool) -> Kernel:
    """Return selection by RAVE: two loops, by own and by borrowed statistics, because a test for each child is slow."""
    own = amaf.fast_score_in_flight if in_flight else amaf.fast_score
    borrowed = amaf.fast_borrowed_score_in_flight if in_flight else amaf.fast_borrowed_score
    best_by_own = _fast_best(own, skips_closed=True)
    best_by_borrowed = _fast_best(borrowed, skips_closed=True)
    find_reference, fast_scale = amaf.find_reference, amaf.fast_scale

    @inline_kernel
    def select(
        control: Any, tree: Any, work: Any, node: Any, mover: Any, chooser: Any, depth: Any, visits: int,
        rng: Any,
    ) -> Any:  # fmt: skip
        """Return the child to follow; NONE if the caller has to break a tie first."""
        first, count = np.uint64(tree.links[node].first_child), np.uint64(tree.links[node].num_children)
        total: Any = np.int64(visits)
        if in_flight or visits == NONE:
            total = np.int64(0)
            for child in range(first, first + count):
                total += tree.stats[child].visits
                if in_flight:
                    total += tree.in_flight[child]
        total = max(total, np.int64(1))
        scale = fast_scale(control, total)
        if find_reference(control, tree, work, node, mover, depth, total):
            return best_by_own(control, tree, work, first, count, mover, scale, rng)
        return best_by_borrowed(control, tree, work, first, count, mover, scale, rng)

    return select


def score_of(rule: Kernel | None) -> Kernel:
    """Return the score of a child by the rule in `control`; `rule` is the user's own, if there is one."""
    return dispatch(
        "rule", [make_score(rule) if part is OwnRule and rule is not None else _score(part) for part in RULES]
    )


def _score(part: type[Rule]) -> Kernel | None:
    return getattr(part, "score", None)


at_node = dispatch("rule", [part.at_node for part in RULES])
"""Return what the scores of all children of a node share, by the rule in `control`."""


def _make_full_select(rule: Kernel | None, *, in_flight: bool) -> Kernel:
    """Return selection by any rule with every option. Each child gets a score in `work.scores`."""
    score = score_of(rule)
    root_choice = dispatch("root", [part.choose for part in ROOTS])

    @inline_kernel
    def tries_of(tree: Any, child: Any) -> Any:
        if in_flight:
            return np.int64(tree.stats[child].visits) + tree.in_flight[child]
        return np.int64(tree.stats[child].visits)

    @inline_kernel
    def fill_scores(
        control: Any, tree: Any, work: Any, node: Any, mover: Any, chooser: Any, depth: Any, rng: Any
    ) -> None:
        """Write a score for each child; minus infinity for those that are closed, not yet opened or not asked for."""
        first, count = np.int64(tree.links[node].first_child), np.int64(tree.links[node].num_children)
        total: Any = np.int64(0)
        for index in range(count):
            total += tries_of(tree, first + index)
        scheduled = depth == 0 and control.root == _GUMBEL
        if control.rule == _COMPLETED or scheduled:
            guess = write_completed(control, tree, work, node, mover, first, count, in_flight)
            if not (scheduled and score_by_schedule(control, tree, work, first, count, in_flight)):
                completed_scores(tree, work, first, count, total, guess, in_flight)
        else:
            total = max(total, np.int64(1))
            shared = at_node(control, tree, work, node, mover, depth, first, count, total)
            fpu = fpu_at(control, tree, work, node, mover, chooser, depth, first, count)
            for index in range(count):
                child: Any = first + index
                work.scores[index] = -np.inf
                if tree.stats[child].prior >= 0.0:
                    tries = tries_of(tree, child)
                    value = child_value(control, tree, child, mover, tries, fpu)
                    prior = np.float64(tree.stats[child].prior)
                    work.scores[index] = score(
                        control, tree, work, child, mover, value, tries, prior, total, shared, fpu, rng
                    )
                    if math.isnan(work.scores[index]):
                        control.status, control.culprit = BAD_SCORE, tree.links[child].action
                        return
        for index in range(_opened(control, tree, first, count, max(total, np.int64(1))), int(count)):
            work.scores[index] = -np.inf
        if depth == 0:
            apply_root_wishes(control, tree, work, first, count, total)

    @kernel
    def apply_root_wishes(control: Any, tree: Any, work: Any, first: Any, count: Any, total: Any) -> None:
        """Leave out moves that were not asked for, and put first those that forced playouts are due to."""
        for index in range(count):
            if control.masked and work.mask[tree.links[first + index].action] == 0:
                work.scores[index] = -np.inf
            elif control.forced_playouts > 0.0 and work.scores[index] > -np.inf:
                tries = tries_of(tree, first + index)
                due = math.sqrt(control.forced_playouts * tree.stats[first + index].prior * total)
                if tries > 0 and tries < due:
                    work.scores[index] = np.inf

    @inline_kernel
    def select(
        control: Any, tree: Any, work: Any, node: Any, mover: Any, chooser: Any, depth: Any, visits: int,
        rng: Any,
    ) -> Any:  # fmt: skip
        """Return the child to follow; NONE: the caller has to break a tie first; NO_CHILD: none is open."""
        if depth == 0:
            chosen = np.int64(root_choice(control, tree, work, in_flight))
            if chosen != BY_RULE:
                return chosen
        fill_scores(control, tree, work, node, mover, chooser, depth, rng)
        return np.int64(_highest(control, tree, work, node, rng))

    return select


@inline_kernel
def _opened(control: Any, tree: Any, first: Any, count: Any, total: Any) -> Any:
    """Return how many children are open to selection: all, or as many as widening allows, closed ones not counted."""
    if control.widening <= 0.0:
        return np.int64(count)
    allowed = max(1, math.ceil(control.widening * total**control.widening_power))
    for index in range(count):
        if tree.stats[first + index].prior >= 0.0:
            allowed -= 1
            if allowed == 0:
                return np.int64(index + 1)
    return np.int64(count)


@inline_kernel
def _highest(control: Any, tree: Any, work: Any, node: Any, rng: Any) -> int:
    first, count = np.int64(tree.links[node].first_child), np.int64(tree.links[node].num_children)
    highest, equal = -np.inf, 0
    winner: Any = np.int64(0)
    for index in range(count):
        if work.scores[index] > highest:
            highest, winner, equal = work.scores[index], np.int64(index), 1
        elif work.scores[index] == highest:
            equal += 1
    if highest == -np.inf:
        return NO_CHILD
    if equal == 1:
        return int(first + winner)
    turn = decide(control, equal, work.answers, rng)
    seen = 0
    for index in range(count):
        if work.scores[index] == highest:
            if seen == turn:
                return int(first + index)
            work.tied[seen] = first + index
            seen += 1
    control.tied = seen
    return NONE
