"""Selection in information sets: rules among the legal actions, and progressive widening."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import mix_bits
from treetop.kernels.chance.outcomes import draw_outcome
from treetop.kernels.control import DONE, FIRST
from treetop.kernels.moves import sample_action
from treetop.kernels.parts import SETS, dispatch
from treetop.kernels.rules import RULES
from treetop.kernels.rules.regret_matching import RegretMatching, draw_by_regret
from treetop.kernels.rules.uniform import UniformRule
from treetop.kernels.sets.table import FIRST_PLACES, add_action, find, open_set
from treetop.kernels.tables import inverse
from treetop.kernels.values import fixed_fpu, normalised
from treetop.tree.layout import DRAWN, MAX_CHILDREN
from treetop.types import CHANCE, NONE

_UNIFORM, _REGRET = RULES.index(UniformRule), RULES.index(RegretMatching)


@inline_kernel
def widen(control: Any, tree: Any, work: Any, info_set: Any, state: Any, rng: Any) -> Any:
    """Sample another continuous action if the set has enough visits; list all in `work.tied`, return how many."""
    count, visits = np.int64(tree.links[info_set].num_children), tree.stats[info_set].visits
    left_over = (
        count > 0 and tree.available[tree.links[info_set].first_child + count - 1] == 0
    )  # by a simulation that was given up because the tree was full
    if left_over:
        count -= 1
    most = min(np.int64(len(work.tied)), np.int64(MAX_CHILDREN))
    if (
        not control.frozen
        and count < most
        and count < max(1, math.ceil(control.widening * max(visits, 1) ** control.widening_power))
    ):
        sample_action(state, rng, work.vector)  # before it gets a place: the game may fail
        slot = np.int64(tree.links[info_set].first_child) + count
        if not left_over:
            slot = np.int64(add_action(control, tree, info_set, count))
        if control.status != DONE:
            return np.int64(0)
        for index in range(len(work.vector)):
            tree.action_values[slot, index] = work.vector[index]
        count += 1
    first = np.int64(tree.links[info_set].first_child)
    for index in range(count):
        work.tied[index] = first + index
    return count


@kernel
def followed_outcome(
    control: Any, tree: Any, work: Any, state: Any, history: Any, entry: Any, time: Any, rng: Any
) -> Any:
    """Write an outcome of chance to `control`, where widening limits them: a new one while there are few, then one of
    those, by their counts.

    Chance has a node of its own. Its visit is another entry of the path, so that a simulation which is given up leaves
    no trace; returns how many entries were made.
    """
    key = mix_bits(history)  # the mover of `set_key` is CHANCE, whose number and one is 0
    info_set = np.int64(find(tree, work, key))
    if info_set == NONE and not control.frozen:
        info_set = np.int64(open_set(control, tree, work, key, np.int64(FIRST_PLACES)))
        if control.status != DONE:
            return 0
        tree.links[info_set].flags |= DRAWN
    known, drawn = np.int64(0), np.int64(0)
    if info_set != NONE:
        first, count = np.int64(tree.links[info_set].first_child), np.int64(tree.links[info_set].num_children)
        for slot in range(first, first + count):
            known += tree.available[slot] > 0
            drawn += tree.available[slot]
    allowed = known == 0 or known < math.ceil(
        control.chance_widening * tree.stats[info_set].visits ** control.widening_power
    )
    if allowed:
        control.outcome = np.int64(draw_outcome(state, control, work, rng))
        if info_set == NONE or control.status != DONE or control.outcome < 0 or control.outcome >= control.num_outcomes:
            return 0
        place = np.int64(_place_of(tree, info_set, control.outcome))
        if place == NONE:
            if control.frozen:
                return 0
            place = np.int64(add_action(control, tree, info_set, control.outcome)) - tree.links[info_set].first_child
            if control.status != DONE:
                return 0
    else:
        point, place = np.int64(rng.below(drawn)), np.int64(-1)
        while point >= 0:
            place += 1
            point -= tree.available[first + place]
        control.outcome = np.int64(tree.links[first + place].action)
    work.path[entry], work.movers[entry], work.times[entry] = info_set, CHANCE, time
    work.places[entry], work.counts[entry] = place, allowed
    return 1


@inline_kernel
def _place_of(tree: Any, info_set: Any, action: Any) -> Any:
    """Return the place of an action among those of a set, or NONE."""
    first = tree.links[info_set].first_child
    for place in range(tree.links[info_set].num_children):
        if tree.links[first + place].action == action:
            return np.int64(place)
    return np.int64(NONE)


@inline_kernel
def count_outcomes(tree: Any, work: Any, entries: Any) -> None:
    """Count a visit for each outcome of the path, and how often the game itself drew it."""
    for entry in range(entries):
        if work.movers[entry] == CHANCE:
            info_set = work.path[entry]
            slot = tree.links[info_set].first_child + work.places[entry]
            tree.available[slot] += work.counts[entry]
            tree.stats[slot].visits += 1
            tree.stats[info_set].visits += 1


_at_node = dispatch("rule", [part.at_node if SETS in part.kinds else None for part in RULES])
_score = dispatch("rule", [getattr(part, "score", None) if SETS in part.kinds else None for part in RULES])


@kernel
def pick(control: Any, tree: Any, work: Any, count: Any, rng: Any) -> Any:
    """Return which of the actions in `work.tied` to follow, by the rule.

    N is how often an action could have been chosen, this time included: its availability. It is counted when the
    simulation has ended well.
    """
    code = control.rule
    if code == _UNIFORM:
        return np.int64(work.tied[rng.below(count)])
    if code == _REGRET:
        return draw_by_regret(control, tree, work, count, rng)
    highest, equal = -np.inf, 0
    fpu = fixed_fpu(control)
    for index in range(count):
        slot = work.tied[index]
        visits, available = np.int64(tree.stats[slot].visits), np.int64(tree.available[slot]) + 1
        value = fpu if visits == 0 else normalised(control, tree.stats[slot].value_sum * inverse(visits))
        shared = _at_node(control, tree, work, slot, 0, 0, slot, 1, available)
        value = _score(control, tree, work, slot, 0, value, visits, 1.0 / count, available, shared, fpu, rng)
        work.scores[index] = value
        if value > highest:
            highest, equal = value, 1
        elif value == highest:
            equal += 1
    turn = rng.below(equal) if equal > 1 and control.tie_break != FIRST else 0
    for index in range(count):
        if work.scores[index] == highest:
            if turn == 0:
                return np.int64(work.tied[index])
            turn -= 1
    return np.int64(work.tied[0])
