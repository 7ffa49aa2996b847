"""How a player chooses in a view: by UCB1 or PUCT among what is there, blindly, or by regret matching; and when another action or outcome is drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import mix_bits
from treetop.kernels.chance.outcomes import draw_outcome
from treetop.kernels.control import DONE, FIRST
from treetop.kernels.parts import dispatch
from treetop.kernels.rules import RULES
from treetop.kernels.rules.regret_matching import RegretMatching, draw_by_regret
from treetop.kernels.rules.uniform import Uniform
from treetop.kernels.values import fixed_fpu, normalised
from treetop.kernels.views import FIRST_ROOM, add_action, find, open_view, sample_action
from treetop.tree.layout import DRAWN, MAX_CHILDREN
from treetop.types import CHANCE, NONE

_UNIFORM, _REGRET = RULES.index(Uniform), RULES.index(RegretMatching)


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
        control[0].outcome = np.int64(draw_outcome(state, control, work, rng))
        if (
            view == NONE
            or control[0].status != DONE
            or control[0].outcome < 0
            or control[0].outcome >= control[0].num_outcomes
        ):
            return 0
        place = np.int64(_place_of(tree, view, control[0].outcome))
        if place == NONE:
            if control[0].frozen:
                return 0
            place = np.int64(add_action(control, tree, view, control[0].outcome)) - tree.links[view].first_child
            if control[0].status != DONE:
                return 0
    else:
        point, place = np.int64(rng.below(drawn)), np.int64(-1)
        while point >= 0:
            place += 1
            point -= tree.available[first + place]
        control[0].outcome = np.int64(tree.links[first + place].action)
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


_at_node = dispatch("rule", [part.at_node if part.information_sets else None for part in RULES])
_score = dispatch("rule", [getattr(part, "score", None) if part.information_sets else None for part in RULES])


@kernel
def pick(control: Any, tree: Any, work: Any, count: Any, rng: Any) -> Any:
    """Return which of the actions in `work.tied` to follow, by the rule.

    N is how often an action could have been chosen, this time included: its availability. It is counted when the simulation has ended well.
    """
    code = control[0].rule
    if code == _UNIFORM:
        return np.int64(work.tied[rng.below(count)])
    if code == _REGRET:
        return draw_by_regret(control, tree, work, count, rng)
    highest, equal = -np.inf, 0
    fpu = fixed_fpu(control)
    for index in range(count):
        slot = work.tied[index]
        visits, available = np.int64(tree.stats[slot].visits), np.int64(tree.available[slot]) + 1
        value = fpu if visits == 0 else normalised(control, tree.stats[slot].value_sum / visits)
        shared = _at_node(control, tree, work, slot, 0, 0, slot, 1, available)
        value = _score(control, tree, work, slot, 0, value, visits, 1.0 / count, available, shared, fpu, rng)
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
