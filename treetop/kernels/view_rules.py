"""How a player chooses in a view: by UCB1 or PUCT among what is there, blindly, or by regret matching; and when another action or outcome is drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import mix_bits
from treetop.kernels.chance import draw_outcome
from treetop.kernels.control import BLIND, DONE, FIRST, PUCT, REGRET
from treetop.kernels.rich import normalised
from treetop.kernels.select import puct_scale
from treetop.kernels.views import FIRST_ROOM, add_action, find, open_view, sample_action
from treetop.tree.layout import DRAWN, MAX_CHILDREN
from treetop.types import CHANCE, NONE


@inline_kernel
def widen(control: Any, tree: Any, work: Any, view: Any, state: Any, rng: Any) -> Any:
    """Draw another action of real numbers if the view has been seen often enough; how many there are, all of them in `work.tied`."""
    count, visits = np.int64(tree.links[view].num_children), tree.stats[view].visits
    left_over = (
        count > 0 and tree.available[tree.links[view].first_child + count - 1] == 0
    )  # by a simulation that was given up, for want of room
    if left_over:
        count -= 1
    most = min(np.int64(len(work.tied)), np.int64(MAX_CHILDREN))
    if (
        not control[0].frozen
        and count < most
        and count < max(1, math.ceil(control[0].widening * max(visits, 1) ** control[0].widening_power))
    ):
        sample_action(state, rng, work.vector)  # before there is a place for it: the game may fail
        slot = np.int64(tree.links[view].first_child) + count
        if not left_over:
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


@kernel
def followed_outcome(
    control: Any, tree: Any, work: Any, state: Any, history: Any, entry: Any, time: Any, rng: Any
) -> Any:
    """An outcome of chance for `control`, where only so many are followed: a new one while there are few, then one of those, as often as the game drew them.

    Chance has a view of its own. What is counted there is noted as another entry of the path, so that a simulation which is given up leaves no
    trace; how many entries it were.
    """
    key = mix_bits(history)  # the mover of `view_key` is CHANCE, whose number and one is 0
    view = np.int64(find(tree, work, key))
    if view == NONE and not control[0].frozen:
        view = np.int64(open_view(control, tree, work, key, np.int64(FIRST_ROOM)))
        if control[0].status != DONE:
            return 0
        tree.links[view].flags |= DRAWN
    known, drawn = np.int64(0), np.int64(0)
    if view != NONE:
        first, count = np.int64(tree.links[view].first_child), np.int64(tree.links[view].num_children)
        for slot in range(first, first + count):
            known += tree.available[slot] > 0
            drawn += tree.available[slot]
    allowed = known == 0 or known < math.ceil(
        control[0].chance_widening * tree.stats[view].visits ** control[0].widening_power
    )
    if allowed:
        control[0].lot = np.int64(draw_outcome(state, control, work, rng))
        if view == NONE or control[0].status != DONE or control[0].lot < 0 or control[0].lot >= control[0].num_outcomes:
            return 0
        place = np.int64(_place_of(tree, view, control[0].lot))
        if place == NONE:
            if control[0].frozen:
                return 0
            place = np.int64(add_action(control, tree, view, control[0].lot)) - tree.links[view].first_child
            if control[0].status != DONE:
                return 0
    else:
        point, place = np.int64(rng.below(drawn)), np.int64(-1)
        while point >= 0:
            place += 1
            point -= tree.available[first + place]
        control[0].lot = np.int64(tree.links[first + place].action)
    work.path[entry], work.movers[entry], work.times[entry] = view, CHANCE, time
    work.places[entry], work.counts[entry] = place, allowed
    return 1


@inline_kernel
def _place_of(tree: Any, view: Any, action: Any) -> Any:
    """Which of a view's actions this is, or NONE."""
    first = tree.links[view].first_child
    for place in range(tree.links[view].num_children):
        if tree.links[first + place].action == action:
            return np.int64(place)
    return np.int64(NONE)


@inline_kernel
def count_outcomes(tree: Any, work: Any, entries: Any) -> None:
    """One more visit for each outcome that was followed; those that the game drew itself are counted, to be followed as often."""
    for entry in range(entries):
        if work.movers[entry] == CHANCE:
            view = work.path[entry]
            slot = tree.links[view].first_child + work.places[entry]
            tree.available[slot] += work.counts[entry]
            tree.stats[slot].visits += 1
            tree.stats[view].visits += 1


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
    first_play = (
        min(max(normalised(control, control[0].first_play), 0.0), 1.0)
        if control[0].normalise
        else control[0].first_play
    )
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
def _estimate(
    control: Any, tree: Any, work: Any, first: Any, index: Any, count: Any, chosen: Any, mix: float, value: float
) -> float:
    other = first + index
    visits = tree.stats[other].visits
    usual = tree.stats[other].value_sum / visits if visits > 0 else control[0].middle
    if other == chosen:
        usual += (value - usual) / _explored(mix, work.scores[index], count)
    return float(usual)
