"""How a player chooses in a view: by UCB1 or PUCT among what is there, blindly, or by regret matching; and when another action is drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.kernels.control import BLIND, DONE, FIRST, PUCT, REGRET
from treetop.kernels.rich import normalised
from treetop.kernels.select import puct_scale
from treetop.kernels.views import add_action, sample_action
from treetop.tree.layout import MAX_CHILDREN


@inline_kernel
def widen(control: Any, tree: Any, work: Any, view: Any, state: Any, rng: Any) -> Any:
    """Draw another action of real numbers if the view has been seen often enough; how many there are, all of them in `work.tied`."""
    count, visits = np.int64(tree.links[view].num_children), tree.stats[view].visits
    most = min(np.int64(len(work.tied)), np.int64(MAX_CHILDREN))
    if not control[0].frozen and count < most and count < max(1, math.ceil(control[0].widening * max(visits, 1) ** control[0].widening_power)):
        sample_action(state, rng, work.vector)  # before there is a place for it: the game may fail
        slot = np.int64(add_action(control, tree, view, count))
        if control[0].status != DONE:
            return np.int64(0)
        for index in range(len(work.vector)):
            tree.action_values[slot, index] = work.vector[index]
        count += 1
    first = np.int64(tree.links[view].first_child)
    for index in range(count):
        work.tied[index] = first + index
    return count


@inline_kernel
def _mixture(control: Any, tree: Any, work: Any, count: Any) -> None:
    """Regret matching: in `work.scores` each action's share of the positive regrets; equal shares where there are none."""
    total = 0.0
    for index in range(count):
        work.scores[index] = max(0.0, tree.regrets[work.tied[index]])
        total += work.scores[index]
    for index in range(count):
        work.scores[index] = work.scores[index] / total if total > 0.0 else 1.0 / count


@inline_kernel
def _exploring(control: Any, visits: Any) -> float:
    """How often a view that was seen so often tries any action at all. It must fade: an equilibrium against players who err is another one."""
    return float(control[0].regret_mix / (1.0 + 0.01 * visits) ** (1.0 / 3.0))


@inline_kernel
def _explored(mix: float, share: float, count: Any) -> float:
    """The chance with which an action of that share is tried: every one has some."""
    return float((1.0 - mix) * share + mix / count)


@kernel
def pick(control: Any, tree: Any, work: Any, count: Any, rng: Any) -> Any:
    """Which of the actions in `work.tied` to follow, by the rule. They are counted as available when the simulation has ended well."""
    code = control[0].rule
    if code == BLIND:
        return np.int64(work.tied[rng.below(count)])
    if code == REGRET:
        _mixture(control, tree, work, count)
        drawn, mix = rng.random(), _exploring(control, tree.stats[tree.links[work.tied[0]].parent].visits)
        for index in range(count - 1):
            drawn -= _explored(mix, work.scores[index], count)
            if drawn < 0.0:
                return np.int64(work.tied[index])
        return np.int64(work.tied[count - 1])
    highest, equal = -np.inf, 0
    first_play = min(max(normalised(control, control[0].first_play), 0.0), 1.0) if control[0].normalise else control[0].first_play
    for index in range(count):
        slot = work.tied[index]
        visits, available = tree.stats[slot].visits, tree.available[slot] + 1.0
        value = np.inf if code != PUCT else first_play
        if visits > 0:
            value = normalised(control, tree.stats[slot].value_sum / visits)
        if code == PUCT:
            value += puct_scale(control[0].c, control[0].c_base, available) / (count * (1.0 + visits))
        elif visits > 0:
            value += control[0].c * math.sqrt(math.log(available) / visits)
        work.scores[index] = value
        if value > highest:
            highest, equal = value, 1
        elif value == highest:
            equal += 1
    turn = rng.below(equal) if equal > 1 and control[0].tie_break != FIRST else 0
    for index in range(count):
        if work.scores[index] == highest:
            if turn == 0:
                return np.int64(work.tied[index])
            turn -= 1
    return np.int64(work.tied[0])


@inline_kernel
def learn_regrets(control: Any, tree: Any, work: Any, view: Any, slot: Any, value: float) -> None:
    """What each action would have brought instead: its mean so far, and for the one that was tried a correction by its chance."""
    first, count = np.int64(tree.links[view].first_child), np.int64(tree.links[view].num_children)
    for index in range(count):
        work.tied[index] = first + index
    _mixture(control, tree, work, count)
    expected, mix = 0.0, _exploring(control, tree.stats[view].visits)
    for index in range(count):
        expected += work.scores[index] * _estimate(control, tree, work, first, index, count, slot, mix, value)
    for index in range(count):
        tree.strategies[first + index] += work.scores[index]
        tree.regrets[first + index] += _estimate(control, tree, work, first, index, count, slot, mix, value) - expected


@inline_kernel
def _estimate(control: Any, tree: Any, work: Any, first: Any, index: Any, count: Any, chosen: Any, mix: float, value: float) -> float:
    other = first + index
    visits = tree.stats[other].visits
    usual = tree.stats[other].value_sum / visits if visits > 0 else control[0].middle
    if other == chosen:
        usual += (value - usual) / _explored(mix, work.scores[index], count)
    return float(usual)
