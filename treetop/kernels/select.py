"""Selection: which child to follow, by the score of the search's rule.

N, the visits of all children together, counts as 1 while there are none. Scores are computed with products instead of
quotients, whose factors `tables` looks up; `reference/` computes them in the same order. Small builds know UCB1, PUCT
or RAVE without options. The full build knows every rule and every option; where no option changes the value of a child,
it has a loop for each rule, which costs little more than theirs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel, kernel
from treetop.kernels.backups import MEAN
from treetop.kernels.build import Build
from treetop.kernels.control import ASK, BAD_SCORE, BY_RULE, FIRST, NO_CHILD, NO_VIRTUAL_LOSS
from treetop.kernels.parts import dispatch
from treetop.kernels.roots import ROOTS
from treetop.kernels.roots.gumbel import Gumbel, score_by_schedule
from treetop.kernels.rules import RULES
from treetop.kernels.rules import rave as amaf
from treetop.kernels.rules.completed import Completed, complete, completed_scores
from treetop.kernels.rules.own import OwnRule, make_score
from treetop.kernels.rules.puct import Puct
from treetop.kernels.rules.rule import Rule
from treetop.kernels.rules.thompson import Thompson
from treetop.kernels.rules.ucb1 import Ucb1
from treetop.kernels.tables import inverse
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
    def open_score(
        control: Any, tree: Any, work: Any, child: Any, mover: Any, total: Any, scale: float, fpu: float
    ) -> float:
        if skips_closed:
            return (
                -np.inf
                if tree.stats[child].prior < 0.0
                else float(score(control, tree, work, child, mover, total, scale, fpu))
            )
        return float(score(control, tree, work, child, mover, total, scale, fpu))

    @inline_kernel
    def best(
        control: Any, tree: Any, work: Any, first: Any, count: Any, mover: Any, total: Any, scale: float, fpu: float,
        rng: Any,
    ) -> Any:  # fmt: skip
        """Return the child with the highest score; NONE if the caller has to break a tie first."""
        highest, winner, equal = -np.inf, first, 0
        for child in range(first, first + count):  # without a branch: which child leads cannot be predicted
            value = open_score(control, tree, work, child, mover, total, scale, fpu)
            better = value > highest
            equal = 1 if better else equal + (value == highest)
            winner = child if better else winner
            highest = value if better else highest
        if skips_closed and highest == -np.inf:
            return np.int64(NO_CHILD)
        if equal <= 1:
            return np.int64(winner)
        chosen = np.int64(break_tie(control, tree, work, first, count, mover, total, scale, fpu, highest, equal, rng))
        # Another thread may have changed a score since, so that the tie is gone.
        return np.int64(winner) if chosen == NONE and control.tie_break != ASK else chosen

    @inline_kernel
    def break_tie(
        control: Any, tree: Any, work: Any, first: Any, count: Any, mover: Any, total: Any, scale: float, fpu: float,
        highest: float, equal: int, rng: Any,
    ) -> Any:  # fmt: skip
        turn = decide(control, equal, work.answers, rng)
        seen = 0
        for child in range(first, first + count):
            if open_score(control, tree, work, child, mover, total, scale, fpu) == highest:
                if seen == turn:
                    return np.int64(child)
                work.tied[seen] = child
                seen += 1
        control.tied = seen
        return np.int64(NONE)

    return best


def _visits_of(tree: Any, child: Any) -> Any:
    return np.int64(tree.stats[child].visits)


def _tries_of(tree: Any, child: Any) -> Any:
    return np.int64(tree.stats[child].visits) + tree.in_flight[child]


visits_of, tries_of = inline_kernel(_visits_of), inline_kernel(_tries_of)


def _make_untried(count_tries: Kernel, *, meets_closed: bool) -> Kernel:
    """Return a kernel for the children without visits, whose scores by UCB1 and its relatives are infinite.

    `meets_closed` says whether a closed child may have no visits: by chance, by another path or by another thread one
    reaches a proven position some of whose moves were not tried.
    """

    @inline_kernel
    def is_untried(tree: Any, child: Any) -> bool:
        if meets_closed:
            return bool((count_tries(tree, child) == 0) & (tree.stats[child].prior >= 0.0))
        return bool(count_tries(tree, child) == 0)

    @inline_kernel
    def untried(control: Any, tree: Any, work: Any, first: Any, count: Any, rng: Any) -> Any:
        """Return one of them; NO_CHILD if there is none, NONE if the caller has to decide which."""
        waiting = 0
        for child in range(first, first + count):
            waiting += is_untried(tree, child)
        if waiting == 0:
            return np.int64(NO_CHILD)
        turn = decide(control, waiting, work.answers, rng) if waiting > 1 else 0
        seen = 0
        for child in range(first, first + count):
            if is_untried(tree, child):
                if seen == turn:
                    return np.int64(child)
                work.tied[seen] = child
                seen += 1
        control.tied = seen
        return np.int64(NONE)

    return untried


def make_select(build: Build, *, in_flight: bool) -> Kernel:
    """Return how a child is chosen in a build; `in_flight` says whether evaluations may be in flight."""
    if build.full:
        return _make_full_select(build, in_flight=in_flight)
    if build.amaf:
        return _make_amaf_select(in_flight=in_flight)
    return _make_fast_select_in_flight(build) if in_flight else _make_fast_select(build)


def _make_fast_select(build: Build) -> Kernel:
    """Return selection by UCB1 or PUCT without further options."""
    best_ucb1 = _fast_best(Ucb1.fast_score, skips_closed=build.solver)
    best_puct = _fast_best(Puct.fast_score, skips_closed=build.solver)
    ucb1_scale, puct_scale = Ucb1.fast_scale, Puct.fast_scale
    untried = _make_untried(visits_of, meets_closed=build.graph or build.stochastic)

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
            chosen = untried(control, tree, work, first, count, rng)
            if chosen != NO_CHILD:
                return chosen
            scale = ucb1_scale(control, visits)
            return best_ucb1(control, tree, work, first, count, mover, visits, scale, control.fpu, rng)
        visits = max(visits, 1)
        scale = puct_scale(control, visits)
        return best_puct(control, tree, work, first, count, mover, visits, scale, control.fpu, rng)

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
            scale = ucb1_scale(control, tries)
            return best_ucb1(control, tree, work, first, count, mover, tries, scale, control.fpu, rng)
        scale = puct_scale(control, tries)
        return best_puct(control, tree, work, first, count, mover, tries, scale, control.fpu, rng)

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
            return best_by_own(control, tree, work, first, count, mover, total, scale, control.fpu, rng)
        return best_by_borrowed(control, tree, work, first, count, mover, total, scale, control.fpu, rng)

    return select


def score_of(rule: Kernel | None) -> Kernel:
    """Return the score of a child by the rule in `control`; `rule` is the user's own, if there is one."""
    return dispatch("rule", _scores(rule))


def _scores(rule: Kernel | None) -> list[Kernel | None]:
    """Return the score kernel of each rule; None for those that have none."""
    return [
        make_score(rule) if part is OwnRule and rule is not None else getattr(part, "score", None) for part in RULES
    ]


at_node = dispatch("rule", [part.at_node for part in RULES])
"""Return what the scores of all children of a node share, by the rule in `control`."""
tries_all_first = dispatch("rule", [part.tries_all_first for part in RULES])
"""Return whether a child without visits scores infinity, by the rule in `control`."""


_STORED = (Completed, OwnRule, Thompson)
"""Rules whose scores depend on those of other children, may be no numbers, or are drawn: they are computed once."""
_STORED_CODES = tuple(RULES.index(rule) for rule in _STORED)


def _make_plain_score(score: Kernel, count_tries: Kernel) -> Kernel:
    """Return the score of a child by a rule where its value is its mean, or the first-play urgency."""

    @inline_kernel
    def plain_score(
        control: Any, tree: Any, work: Any, child: Any, mover: Any, total: Any, shared: float, fpu: float
    ) -> float:
        visits, prior = np.int64(tree.stats[child].visits), np.float64(tree.stats[child].prior)
        value = fpu if visits == 0 else tree.stats[child].value_sum * inverse(visits)
        tries = count_tries(tree, child)
        return float(score(control, tree, work, child, mover, value, tries, prior, total, shared, fpu, None))

    return plain_score


def _make_best_plain(rule: type[Rule], count_tries: Kernel) -> Kernel | None:
    """Return a kernel for the child with the highest score by a rule, without a test of options for each child."""
    if rule in _STORED or not hasattr(rule, "score"):
        return None
    best = _fast_best(_make_plain_score(rule.score, count_tries), skips_closed=True)

    @kernel
    def best_plain(
        control: Any, tree: Any, work: Any, first: Any, count: Any, mover: Any, total: Any, shared: float, fpu: float,
        rng: Any,
    ) -> Any:  # fmt: skip
        return best(control, tree, work, first, count, mover, total, shared, fpu, rng)

    return best_plain


def _make_full_select(build: Build, *, in_flight: bool) -> Kernel:
    """Return selection by any rule with every option."""
    root_choice = dispatch("root", [part.choose for part in ROOTS])
    count_tries = tries_of if in_flight else visits_of
    untried = _make_untried(count_tries, meets_closed=build.graph or build.stochastic)
    best_plain = dispatch("rule", [_make_best_plain(part, count_tries) for part in RULES])
    score = score_of(build.rule)

    @inline_kernel
    def is_plain(control: Any) -> bool:
        """Return whether the score of a child can be computed again, and its value is its mean."""
        for stored in _STORED_CODES:
            if control.rule == stored:
                return False
        return bool(control.normalise == 0 and control.backup == MEAN and control.virtual_loss == NO_VIRTUAL_LOSS)

    @inline_kernel
    def write_scores(
        control: Any, tree: Any, work: Any, mover: Any, first: Any, count: Any, total: Any, shared: float, fpu: float,
        rng: Any,
    ) -> None:  # fmt: skip
        """Write the score of each child to `work.scores`; minus infinity for those that are closed."""
        for index in range(count):
            child = first + index
            work.scores[index] = -np.inf
            if tree.stats[child].prior >= 0.0:
                tries = count_tries(tree, child)
                value = child_value(control, tree, child, mover, tries, fpu)
                prior = np.float64(tree.stats[child].prior)
                work.scores[index] = score(
                    control, tree, work, child, mover, value, tries, prior, total, shared, fpu, rng
                )

    @kernel
    def apply_root_wishes(control: Any, tree: Any, work: Any, first: Any, count: Any, total: Any) -> None:
        """Leave out moves that were not asked for, and put first those that forced playouts are due to."""
        for index in range(count):
            if control.masked and work.mask[tree.links[first + index].action] == 0:
                work.scores[index] = -np.inf
            elif control.forced_playouts > 0.0 and work.scores[index] > -np.inf:
                tries = count_tries(tree, first + index)
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
        first, count = np.uint64(tree.links[node].first_child), np.uint64(tree.links[node].num_children)
        scheduled = depth == 0 and control.root == _GUMBEL
        wishes = depth == 0 and (control.masked or control.forced_playouts > 0.0)
        restricted = scheduled or wishes or control.widening > 0.0  # not every child competes by its score alone
        if tries_all_first(control) and not restricted:
            chosen = np.int64(untried(control, tree, work, first, count, rng))
            if chosen != NO_CHILD:
                return chosen
        total: Any = np.int64(visits)
        if in_flight or visits == NONE:
            total = np.int64(0)
            for child in range(first, first + count):
                total += count_tries(tree, child)
        if control.rule == _COMPLETED or scheduled:
            completed = complete(control, tree, work, node, mover, first, count, in_flight)
            if not (scheduled and score_by_schedule(control, tree, work, first, count, completed, in_flight)):
                completed_scores(tree, work, first, count, total, completed, in_flight)
        else:
            total = max(total, np.int64(1))
            shared = at_node(control, tree, work, node, mover, depth, first, count, total)
            fpu = fpu_at(control, tree, work, node, mover, chooser, depth, first, count)
            if not restricted and is_plain(control):
                return np.int64(best_plain(control, tree, work, first, count, mover, total, shared, fpu, rng))
            write_scores(control, tree, work, mover, first, count, total, shared, fpu, rng)
        if control.widening > 0.0:
            for index in range(_opened(control, tree, first, count, max(total, np.int64(1))), int(count)):
                work.scores[index] = -np.inf
        if wishes:
            apply_root_wishes(control, tree, work, first, count, total)
        return np.int64(_highest(control, tree, work, node, rng))

    return select


@inline_kernel
def _opened(control: Any, tree: Any, first: Any, count: Any, total: Any) -> Any:
    """Return how many children widening has opened to selection; closed ones are not counted."""
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
    highest, equal, wrong = -np.inf, 0, NONE
    winner: Any = np.int64(0)
    for index in range(count):  # without a branch: which child leads cannot be predicted
        score = work.scores[index]
        better = score > highest
        equal = 1 if better else equal + (score == highest)
        winner = np.int64(index) if better else winner
        highest = score if better else highest
        wrong = index if wrong == NONE and math.isnan(score) else wrong
    if wrong != NONE:
        control.status, control.culprit = BAD_SCORE, tree.links[first + wrong].action
        return int(first + wrong)  # the descent ends by the status
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
