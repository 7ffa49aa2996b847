"""Expansion: a leaf gets its children."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel, kernel
from treetop.compiler.intrinsics import atomic_add, load_shared, local_copy
from treetop.compiler.specialise import by_method
from treetop.kernels.build import Build
from treetop.kernels.chance.outcomes import is_chance
from treetop.kernels.control import BAD_ACTION, BAD_COUNT, BAD_VALUE, DONE, SIZE
from treetop.kernels.rewards import collect, make_paranoid
from treetop.tree.layout import MAX_CHILDREN
from treetop.types import NONE


@kernel
def list_actions(control: Any, state: Any, actions: Any) -> Any:
    """Write the legal actions to `actions` and return how many there are; what is wrong is left in `control`."""
    count = int(state.legal_actions(actions))
    num_actions = control.num_actions
    if count < 1 or count > num_actions or count > MAX_CHILDREN:
        control.status, control.culprit = BAD_COUNT, count
        return 0
    for index in range(count):
        if actions[index] < 0 or actions[index] >= num_actions:
            control.status, control.culprit = BAD_ACTION, actions[index]
            return 0
    return count


def make_is_full(build: Build) -> CompiledFunction[..., bool]:
    """Return how to find out whether the next expansion needs a larger tree."""
    shared = build.shared

    @inline_kernel
    def is_full(control: Any, tree: Any) -> bool:
        """Return whether the children of one more node may not fit into the tree."""
        size = load_shared(tree.shared, SIZE) if shared else control.size
        return bool(size + control.most_children > control.capacity)

    return is_full


def make_append(build: Build) -> CompiledFunction[..., int]:
    """Return how children are added, with the columns that a build has."""
    amaf, full, shared = build.amaf, build.full, build.shared

    @inline_kernel
    def append_children(control: Any, tree: Any, node: Any, actions: Any, count: int) -> int:
        """Give `node` a new child for each action, with equal priors; return the first one."""
        first = atomic_add(tree.shared, SIZE, count) if shared else control.size
        prior = np.float32(1.0 / count)
        for index in range(count):
            child = first + index
            tree.stats[child].value_sum = 0.0
            tree.stats[child].visits = 0
            tree.stats[child].prior = prior
            tree.links[child].action = actions[index]
            tree.links[child].parent = node
            tree.links[child].first_child = NONE
            tree.links[child].num_children = 0
            tree.links[child].flags = 0
            tree.links[child].own = 0
            if len(tree.returns) > 0:
                tree.returns[child, :] = 0.0
            if len(tree.in_flight) > 0:
                tree.in_flight[child] = 0
            if amaf and len(tree.amaf) > 0:
                tree.amaf[child].value_sum = 0.0
                tree.amaf[child].visits = 0
                tree.amaf[child].action = actions[index]
            if full:
                if len(tree.squares) > 0:
                    tree.squares[child] = 0.0
                if len(tree.vectors) > 0:
                    tree.vectors[child, :] = 0.0
                if len(tree.own_visits) > 0:
                    tree.own_visits[child] = 0
                    tree.own_sums[child, :] = 0.0
        tree.links[node].first_child = first
        tree.links[node].num_children = count
        if not shared:
            control.size = first + count
        control.status = DONE
        return int(first)

    return append_children


@inline_kernel
def _own_heuristic(state: Any, control: Any, out: Any) -> None:
    out[:] = 0.0
    state.heuristic(out)
    for player in range(len(out)):
        if not (control.least_value <= out[player] <= control.greatest_value):  # also false for NaN
            control.status, control.culprit, control.bad_value = BAD_VALUE, player, out[player]


@inline_kernel
def _no_heuristic(state: Any, control: Any, out: Any) -> None:
    out[:] = control.middle


heuristic = by_method("heuristic", yes=_own_heuristic, no=_no_heuristic)
"""Write the game's own estimate of a position for every player.

A search that needs it is refused for a game that has none.
"""


@kernel
def set_heuristic_priors(control: Any, tree: Any, state: Any, mover: Any, first: Any, count: Any, work: Any) -> None:
    """Set the priors: a softmax over the value after each move, by its rewards where the game is over, else by its
    heuristic.

    Immediate rewards of the move are counted too.
    """
    temperature, highest, out, scores = control.heuristic_prior, -math.inf, work.trial, work.scores
    for index in range(count):
        child = local_copy(state)
        child.apply(np.int64(tree.links[first + index].action))
        if child.is_terminal():
            out[:] = 0.0
            child.rewards(out)
        else:
            heuristic(child, control, out)
        make_paranoid(control, out, control.low + control.high)
        worth = out[mover] if is_chance(child) else control.discount * out[mover]
        if control.step_rewards:
            collect(child, control, work.gain[1])
            worth += work.gain[1, mover]
        scores[index] = worth / temperature
        highest = max(highest, scores[index])
    set_priors(tree, first, count, scores, highest)


@inline_kernel
def set_priors(tree: Any, first: Any, count: Any, logits: Any, highest: float) -> None:
    """Set the priors: a softmax. The highest logit is subtracted first, so that nothing overflows."""
    total = 0.0
    for index in range(count):
        total += math.exp(logits[index] - highest)
    for index in range(count):
        tree.stats[first + index].prior = math.exp(logits[index] - highest) / total


@kernel
def sort_by_prior(tree: Any, first: Any, count: Any) -> None:
    """Sort new children by their priors, equal ones in their old order: the order in which widening opens them."""
    for index in range(1, count):
        prior, action = tree.stats[first + index].prior, tree.links[first + index].action
        place = index
        while place > 0 and tree.stats[first + place - 1].prior < prior:
            tree.stats[first + place].prior = tree.stats[first + place - 1].prior
            tree.links[first + place].action = tree.links[first + place - 1].action
            place -= 1
        tree.stats[first + place].prior = prior
        tree.links[first + place].action = action
    if len(tree.amaf) > 0:
        for index in range(count):
            tree.amaf[first + index].action = tree.links[first + index].action
