"""Outcomes of chance: which there are, how one is drawn, and nodes where chance decides.

A chance node has a child for each outcome, with its probability as the prior. It is never evaluated itself: a
simulation that reaches it draws an outcome and continues. No player chooses its children, so their value sums are
kept for the first player.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel, kernel
from treetop.compiler.specialise import by_method
from treetop.kernels.control import BAD_CHANCE, BAD_OUTCOME, BAD_PLAYER, DONE, NEED_CAPACITY, NO_CHILD
from treetop.tree.layout import DRAWN, MAX_CHILDREN
from treetop.types import CHANCE

SEAT = 0
"""The player for whom value sums are kept where chance decides."""
_SLACK = 1e-6  # how far probabilities may miss 1


@kernel
def _own_outcomes(state: Any, control: Any, work: Any) -> Any:
    """Write the outcomes to `work.actions` with `work.probabilities`; return how many. Errors go to `control`."""
    count = int(state.chance_outcomes(work.actions, work.probabilities))
    if count < 1 or count > control.num_outcomes or count > MAX_CHILDREN:
        control.status, control.culprit = BAD_OUTCOME, count
        return 0
    total = 0.0
    for index in range(count):
        if work.actions[index] < 0 or work.actions[index] >= control.num_outcomes:
            control.status, control.culprit = BAD_OUTCOME, work.actions[index]
            return 0
        if not work.probabilities[index] > 0.0:
            control.status, control.culprit = BAD_CHANCE, work.actions[index]
            return 0
        total += work.probabilities[index]
    if not abs(total - 1.0) < _SLACK:
        control.status, control.culprit = BAD_CHANCE, -1
        return 0
    return count


@inline_kernel
def _no_outcomes(state: Any, control: Any, work: Any) -> Any:
    control.status, control.culprit = BAD_PLAYER, CHANCE
    return 0


list_outcomes = by_method("chance_outcomes", yes=_own_outcomes, no=_no_outcomes)
"""Write the outcomes of chance in a state, with their probabilities."""


@inline_kernel
def _maybe(state: Any) -> bool:
    return bool(np.int64(state.current_player()) == CHANCE)


@inline_kernel
def _never(state: Any) -> bool:
    return False


is_chance = by_method("chance_outcomes", yes=_maybe, no=_never)
"""Return whether chance decides in a state. It costs nothing in a game without chance."""


@inline_kernel
def _own_draw(state: Any, control: Any, work: Any, rng: Any) -> Any:
    return np.int64(state.random_outcome(rng))


@inline_kernel
def _listed_draw(state: Any, control: Any, work: Any, rng: Any) -> Any:
    count = list_outcomes(state, control, work)
    if control.status != DONE:
        return np.int64(-1)
    drawn = rng.random()
    for index in range(count - 1):
        drawn -= work.probabilities[index]
        if drawn < 0.0:
            return np.int64(work.actions[index])
    return np.int64(work.actions[count - 1])


draw_outcome = by_method("random_outcome", yes=_own_draw, no=_listed_draw)
"""Draw an outcome by its probability, in a rollout."""


@inline_kernel
def _was_drawn(tree: Any, child: Any) -> bool:
    """Return whether an outcome was drawn before, also by a simulation in flight."""
    return bool(tree.stats[child].visits > 0 or (len(tree.in_flight) > 0 and tree.in_flight[child] > 0))


@inline_kernel
def _known_mass(control: Any, tree: Any, node: Any, first: Any, count: Any) -> float:
    """Return the probability of the outcomes drawn before, where widening allows no other; 0 where it does."""
    if control.chance_widening <= 0.0:
        return 0.0
    visits = np.int64(tree.stats[node].visits)
    if len(tree.in_flight) > 0:
        visits += tree.in_flight[node]
    known, mass = 0, 0.0
    for child in range(first, first + count):
        if _was_drawn(tree, child):
            known += 1
            mass += abs(tree.stats[child].prior)
    return float(mass) if known >= max(1, math.ceil(control.chance_widening * visits**control.widening_power)) else 0.0


@inline_kernel
def draw_child(control: Any, tree: Any, node: Any, rng: Any) -> Any:
    """Draw a child of a chance node by its probability. Proven ones are drawn too: their values count."""
    first, count = np.int64(tree.links[node].first_child), np.int64(tree.links[node].num_children)
    known = _known_mass(control, tree, node, first, count)
    drawn = rng.random() * (known if known > 0.0 else 1.0)
    last = first
    for child in range(first, first + count):
        if known > 0.0 and not _was_drawn(tree, child):
            continue
        last = np.int64(child)
        drawn -= abs(tree.stats[child].prior)
        if drawn < 0.0:
            break
    return last


@inline_kernel
def draw_open_child(control: Any, tree: Any, node: Any, rng: Any) -> Any:
    """Draw a child of a chance node by its probability among those that have not failed; NO_CHILD where all have."""
    first, count = np.int64(tree.links[node].first_child), np.int64(tree.links[node].num_children)
    total = 0.0
    for child in range(first, first + count):
        total += max(np.float64(tree.stats[child].prior), 0.0)
    drawn = rng.random() * total
    last: Any = np.int64(NO_CHILD)
    for child in range(first, first + count):
        probability = np.float64(tree.stats[child].prior)
        if probability > 0.0:
            drawn -= probability
            last = np.int64(child)
            if drawn < 0.0:
                break
    return last


def make_expand_chance(
    append_children: CompiledFunction[..., int], is_full: CompiledFunction[..., bool]
) -> CompiledFunction[..., None]:
    """Return how a chance node is expanded."""

    @kernel
    def expand_chance(control: Any, tree: Any, work: Any, node: Any, state: Any) -> None:
        """Add a child for each outcome.

        Several chance nodes may follow each other in one simulation, so each checks the capacity of the tree itself.
        """
        if is_full(control, tree):
            control.status = NEED_CAPACITY
            return
        count = list_outcomes(state, control, work)
        if control.status != DONE:
            return
        first = append_children(control, tree, node, work.actions, count)
        for index in range(count):
            tree.stats[first + index].prior = work.probabilities[index]
        tree.links[node].flags |= DRAWN

    return expand_chance
