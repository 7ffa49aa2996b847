"""Which child to follow, by any rule: every option that the fast selection leaves out.

Each child gets a score in `work.scores`; minus infinity for those that are closed, not yet opened or not asked for.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel, kernel
from treetop.kernels.amaf import borrowed_value, find_reference, hand_blended, own_value
from treetop.kernels.control import (
    ALPHAZERO,
    AS_BELOW,
    BAD_SCORE,
    BLIND,
    COMPLETED,
    CUSTOM,
    DIVIDED,
    FIRST_PLAY_NONE,
    FIRST_PLAY_PARENT,
    FIRST_PLAY_SCALED,
    GUMBEL,
    HISTORY,
    IMPLICIT,
    KATAGO,
    LOSS,
    LOSS_THEN_WATCH,
    MIXED,
    NO_CHILD,
    PUCT,
    RAVE,
    THOMPSON,
    TUNED,
    UCBV,
)
from treetop.kernels.evaluate import COUNT, SUM
from treetop.kernels.root import next_arm, score_by_schedule
from treetop.kernels.select import decide
from treetop.kernels.tables import inverse_root, root_log
from treetop.types import NONE, ROOT

_PRIOR_FLOOR = -1e9  # the logit of a move that the evaluator thinks impossible
_VARIANCE_PRIOR, _SPREAD_PRIOR = 2.0, 0.4  # visits and, in half utility ranges, spread assumed before anything is known


@inline_kernel
def normalised(control: Any, value: float) -> float:
    """A value on the scale from the lowest to the highest mean in the tree, where that is asked for."""
    if not control[0].normalise:
        return value
    if control[0].value_high > control[0].value_low:
        return float((value - control[0].value_low) / (control[0].value_high - control[0].value_low))
    return 0.5


@inline_kernel
def utility_range(control: Any) -> float:
    """How far values can lie apart, on the scale that the rule sees."""
    return 1.0 if control[0].normalise else float(control[0].high - control[0].low)


@inline_kernel
def child_value(control: Any, tree: Any, child: Any, mover: Any, begun: Any, first_play: float) -> float:
    """What the mover thinks of a child, evaluations in flight counted as the search is told to."""
    visits = np.int64(tree.stats[child].visits)
    in_flight = begun - visits
    kind = control[0].virtual
    as_losses = in_flight > 0 and (kind == LOSS or (kind == LOSS_THEN_WATCH and visits < control[0].virtual_until))
    if visits == 0 and not as_losses:
        return first_play
    value = 0.0
    if visits > 0:
        value = tree.stats[child].value_sum / visits
        if control[0].backup == MIXED:
            value = tree.vectors[child, mover]
        elif control[0].backup == IMPLICIT:
            value = (1.0 - control[0].minimax_share) * value + control[0].minimax_share * tree.vectors[child, mover]
        value = normalised(control, value)
    if as_losses:
        lost = 0.0 if control[0].normalise else control[0].low
        value = (value * visits + lost * in_flight) / begun
    return float(value)


@inline_kernel
def child_variance(control: Any, tree: Any, child: Any) -> float:
    """The variance of a child's returns, on the scale that the rule sees."""
    visits = tree.stats[child].visits
    if len(tree.squares) == 0 or visits == 0:
        return 0.0
    mean = tree.stats[child].value_sum / visits
    variance = max(0.0, tree.squares[child] / visits - mean * mean)
    if control[0].normalise:
        width = control[0].value_high - control[0].value_low
        return float(variance / (width * width)) if width > 0.0 else 0.0
    return float(variance)


@inline_kernel
def node_mean(tree: Any, totals: Any, node: Any, chooser: Any, player: Any) -> float:
    """The mean return to a player of all simulations through a node."""
    if node == ROOT:
        return float(totals[player] / tree.stats[node].visits)
    if len(tree.returns) > 0:
        return float(tree.returns[node, player] / tree.stats[node].visits)
    value = tree.stats[node].value_sum / tree.stats[node].visits
    return float(value if player == chooser else -value)


@inline_kernel
def first_play_value(
    control: Any,
    tree: Any,
    totals: Any,
    work: Any,
    node: Any,
    mover: Any,
    chooser: Any,
    depth: Any,
    first: Any,
    count: Any,
) -> float:
    """What is assumed of a move that nobody has tried."""
    rule = control[0].first_play_rule
    if rule != FIRST_PLAY_PARENT and rule != FIRST_PLAY_SCALED:
        return float(
            min(max(normalised(control, control[0].first_play), 0.0), 1.0)
            if control[0].normalise
            else control[0].first_play
        )
    reduction = control[0].first_play_reduction
    if rule == FIRST_PLAY_SCALED:
        mass = 0.0
        for child in range(first, first + count):
            if tree.stats[child].visits > 0:
                mass += abs(tree.stats[child].prior)
        reduction *= math.sqrt(mass)
    if tree.stats[node].visits == 0:  # opened because no rollout from it succeeded
        return float(normalised(control, control[0].middle) - reduction)
    mean = node_mean(tree, totals, node, chooser, mover)
    if (
        depth > 0
    ):  # the sums of a node hold r + discount * V, with r the reward of the step to it; its own moves are compared with V
        if control[0].on_the_way:
            mean -= work.steps[depth, mover]
        if control[0].discount != 1.0:
            mean = mean / control[0].discount if control[0].discount > 0.0 else control[0].middle
    return float(normalised(control, mean) - reduction)


@inline_kernel
def puct_factor(control: Any, tree: Any, first: Any, count: Any, total: Any) -> float:
    """c(N) * sqrt(N), by the schedule, and by the spread of the values where that is asked for."""
    c, root = control[0].c, math.sqrt(total)
    if control[0].schedule == ALPHAZERO:
        c += math.log((1.0 + total + control[0].c_base) / control[0].c_base)
    elif control[0].schedule == KATAGO:
        c += control[0].c_log * math.log((total + control[0].c_base) / control[0].c_base)
        root = math.sqrt(total + 0.01)
    elif control[0].schedule == DIVIDED:
        c *= math.log(tree.stats[ROOT].visits + 1.0) + control[0].c_log
    if control[0].variance_scale > 0.0 and len(tree.squares) > 0:
        weight, mean, square = 0.0, 0.0, 0.0
        for child in range(first, first + count):
            weight += tree.stats[child].visits
            mean += tree.stats[child].value_sum
            square += tree.squares[child]
        if weight > 0.0:
            mean, square = mean / weight, square / weight
            usual = _SPREAD_PRIOR * 0.5 * (control[0].high - control[0].low)
            seen = ((mean * mean + usual * usual) * _VARIANCE_PRIOR + square * weight) / (
                _VARIANCE_PRIOR + weight - 1.0
            ) - mean * mean
            c *= 1.0 + control[0].variance_scale * (math.sqrt(max(seen, 0.0)) / usual - 1.0)
    return float(c * root)


@inline_kernel
def normal(rng: Any) -> float:
    """A number from the standard normal distribution, by the polar method."""
    while True:
        x, y = 2.0 * rng.random() - 1.0, 2.0 * rng.random() - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return float(x * math.sqrt(-2.0 * math.log(square) / square))


@inline_kernel
def thompson_score(control: Any, value: float, variance: float, visits: Any, rng: Any) -> float:
    """A draw from what the value may be: a normal distribution about the mean, one visit of the widest spread assumed beforehand."""
    half = 0.5 * utility_range(control)
    centre = 0.5 if control[0].normalise else control[0].middle
    mean = (value * visits + centre) / (visits + 1.0)
    spread = (variance * visits + half * half) / (visits + 1.0)
    return float(mean + math.sqrt(spread / (visits + 1.0)) * normal(rng))


@inline_kernel
def completed_scores(
    control: Any, tree: Any, work: Any, node: Any, mover: Any, first: Any, count: Any, watching: bool
) -> float:
    """For each open child the logit of its prior and of its completed value together; the highest of them.

    A move that nobody has tried is taken to be worth a mix of the node's own evaluation and the tried moves, by their priors.
    """
    total, tried_mass, tried_value, most = 0.0, 0.0, 0.0, 0.0
    for child in range(first, first + count):
        visits = tree.stats[child].visits
        total += visits
        most = max(most, visits + (tree.in_flight[child] if watching else 0))
        if visits > 0:
            prior = abs(tree.stats[child].prior)
            tried_mass += prior
            tried_value += prior * child_value(control, tree, child, mover, np.int64(visits), 0.0)
    own = tree.own_visits[node]  # none where a game has failed between expansion and evaluation
    guess = normalised(control, tree.own_sums[node, mover] / own if own > 0 else control[0].middle)
    if tried_mass > 0.0:
        guess = (guess + total * tried_value / tried_mass) / (1.0 + total)
    low, high = np.inf, -np.inf
    for index in range(count):
        child = first + index
        visits = tree.stats[child].visits
        work.scores[index] = guess if visits == 0 else child_value(control, tree, child, mover, np.int64(visits), 0.0)
        low, high = min(low, work.scores[index]), max(high, work.scores[index])
    scale = (control[0].completed_visits + most) * control[0].completed_scale / max(high - low, 1e-8)
    highest = -np.inf
    for index in range(count):
        prior = tree.stats[first + index].prior
        if prior < 0.0:
            work.scores[index] = -np.inf
            continue
        work.scores[index] = (math.log(prior) if prior > 0.0 else _PRIOR_FLOOR) + scale * (work.scores[index] - low)
        highest = max(highest, work.scores[index])
    return float(highest)


@inline_kernel
def opened(control: Any, tree: Any, first: Any, count: Any, total: Any) -> Any:
    """How many children are open to selection: all, or as many as widening allows, closed ones not counted."""
    if control[0].widening <= 0.0:
        return np.int64(count)
    allowed = max(1, math.ceil(control[0].widening * total ** control[0].widening_power))
    for index in range(count):
        if tree.stats[first + index].prior >= 0.0:
            allowed -= 1
            if allowed == 0:
                return np.int64(index + 1)
    return np.int64(count)


def make_rich_select(rule: CompiledFunction[..., Any] | None, *, watching: bool) -> CompiledFunction[..., Any]:
    """Selection by everything in `control`, and by a rule of the caller's own where there is one."""
    own_rule = _no_rule if rule is None else rule

    @inline_kernel
    def begun_visits(tree: Any, child: Any) -> Any:
        if watching:
            return np.int64(tree.stats[child].visits) + tree.in_flight[child]
        return np.int64(tree.stats[child].visits)

    @inline_kernel
    def score(
        control: Any,
        tree: Any,
        work: Any,
        child: Any,
        mover: Any,
        own: bool,
        total: Any,
        scale: float,
        first_play: float,
        rng: Any,
    ) -> float:
        code = control[0].rule
        if code == BLIND:
            return 0.0
        begun = begun_visits(tree, child)
        value = child_value(control, tree, child, mover, begun, first_play)
        if code == PUCT:
            share = 1.0 + begun
            bonus = scale * tree.stats[child].prior / share
            return float(value + (bonus / share if control[0].schedule == DIVIDED else bonus))
        if code == CUSTOM:
            variance = child_variance(control, tree, child)
            # The lowest number stands for minus infinity, which is what a closed child has.
            return max(
                float(own_rule(value, begun, float(tree.stats[child].prior), variance, total, control[0].c)), -1.7e308
            )
        if code == RAVE:
            if control[0].amaf_k > 0.0:
                value = hand_blended(control, tree, work, child, mover, own, total)
            else:
                value = own_value(control, tree, child) if own else borrowed_value(control, tree, work, child, mover)
            if value == np.inf and begun > 0:
                value = first_play
            return float(value + control[0].c * root_log(total) * inverse_root(begun + 1))
        if code == THOMPSON:
            return thompson_score(
                control, 0.0 if begun == 0 else value, child_variance(control, tree, child), begun, rng
            )
        if begun == 0:
            return np.inf if control[0].first_play_rule == FIRST_PLAY_NONE else first_play
        tries = math.log(total) / begun
        if code == TUNED:
            width, variance = utility_range(control), child_variance(control, tree, child)
            spread = min(0.25 * width * width, variance + width * width * math.sqrt(2.0 * tries))
            return float(value + control[0].c * math.sqrt(tries * spread))
        if code == UCBV:
            variance = child_variance(control, tree, child)
            return float(
                value + math.sqrt(2.0 * variance * tries) + control[0].c * 3.0 * utility_range(control) * tries
            )
        result = value + control[0].c * math.sqrt(tries)
        if code == HISTORY:
            action, width, low = tree.links[child].action, control[0].high - control[0].low, control[0].low
            seen = work.history[COUNT, mover, action]
            usual = (work.history[SUM, mover, action] / seen - low) / width if seen > 0.0 else 0.5
            lost = 1.0 - (value if control[0].normalise else (value - low) / width)
            result += usual * control[0].history_weight / (lost * begun + 1.0)
        return float(result)

    @inline_kernel
    def fill_scores(
        control: Any, tree: Any, totals: Any, work: Any, node: Any, mover: Any, chooser: Any, depth: Any, rng: Any
    ) -> None:
        first, count = np.int64(tree.links[node].first_child), np.int64(tree.links[node].num_children)
        total: Any = np.int64(0)
        for child in range(first, first + count):
            total += begun_visits(tree, child)
        at_root = depth == 0
        if control[0].rule == COMPLETED or (at_root and control[0].root_rule == GUMBEL):
            highest = completed_scores(control, tree, work, node, mover, first, count, watching)
            if not (
                at_root
                and control[0].root_rule == GUMBEL
                and score_by_schedule(control, tree, work, first, count, watching)
            ):
                _probabilities(work, count, highest)
                for index in range(count):
                    if work.scores[index] > -np.inf:
                        work.scores[index] -= begun_visits(tree, first + index) / (1.0 + total)
        else:
            total = max(total, np.int64(1))
            own = control[0].rule == RAVE and find_reference(control, tree, work, node, mover, depth, total)
            scale = puct_factor(control, tree, first, count, total) if control[0].rule == PUCT else 0.0
            first_play = first_play_value(control, tree, totals, work, node, mover, chooser, depth, first, count)
            for index in range(count):
                work.scores[index] = -np.inf
                if tree.stats[first + index].prior >= 0.0:
                    work.scores[index] = score(
                        control, tree, work, first + index, mover, own, total, scale, first_play, rng
                    )
                    if math.isnan(work.scores[index]):
                        control[0].status, control[0].culprit = BAD_SCORE, tree.links[first + index].action
                        return
        for index in range(opened(control, tree, first, count, max(total, np.int64(1))), int(count)):
            work.scores[index] = -np.inf
        if at_root:
            apply_root_wishes(control, tree, work, first, count, total)

    @kernel
    def apply_root_wishes(control: Any, tree: Any, work: Any, first: Any, count: Any, total: Any) -> None:
        for index in range(count):
            if control[0].masked and work.mask[tree.links[first + index].action] == 0:
                work.scores[index] = -np.inf
            elif control[0].forced_playouts > 0.0 and work.scores[index] > -np.inf:
                begun = begun_visits(tree, first + index)
                if begun > 0 and begun < math.sqrt(
                    control[0].forced_playouts * tree.stats[first + index].prior * total
                ):
                    work.scores[index] = np.inf

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
        """The child to follow; NONE if the caller has to break a tie first, NO_CHILD if there is nothing to choose."""
        if depth == 0 and control[0].root_rule != AS_BELOW and control[0].root_rule != GUMBEL:
            return np.int64(next_arm(control, tree, work, watching))
        fill_scores(control, tree, totals, work, node, mover, chooser, depth, rng)
        return np.int64(_highest(control, tree, work, node, rng))

    return select


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
    control[0].tied = seen
    return NONE


@inline_kernel
def _probabilities(work: Any, count: Any, highest: float) -> None:
    """Softmax of the scores, in place; closed children stay out of it."""
    total = 0.0
    for index in range(count):
        if work.scores[index] > -np.inf:
            total += math.exp(work.scores[index] - highest)
    for index in range(count):
        if work.scores[index] > -np.inf:
            work.scores[index] = math.exp(work.scores[index] - highest) / total


@inline_kernel
def _no_rule(value: float, visits: int, prior: float, variance: float, total: int, c: float) -> float:
    return 0.0
