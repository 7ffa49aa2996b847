"""Anytime sequential halving at the root: for the best move, not for the best rewards while searching."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.kernels.control import NO_CHILD
from treetop.kernels.parts import PROBLEMS, TREES
from treetop.kernels.roots.root import Root


@kernel
def next_arm(control: Any, tree: Any, work: Any, in_flight: bool) -> int:
    """Return the next move of anytime sequential halving: in each pass all moves once, the better half twice, the
    better quarter four times ... and again.

    Better is by the mean of all visits so far. Closed moves are skipped; NO_CHILD if no other is left.
    """
    if control.resumed != 0:  # the same simulation comes down again after a tie-break
        child = control.resumed
        control.resumed = 0
        return int(child)
    first, count = np.int64(tree.links[0].first_child), np.int64(tree.links[0].num_children)
    for _ in range(3 * count + 3):
        if control.arms <= 0:
            _start_pass(control, tree, work, first, count)
            if control.arms == 0:
                return NO_CHILD
        if control.arm >= control.arms:
            _halve(control, tree, work, first)
            continue
        child = first + work.arms[control.arm]
        closed = tree.stats[child].prior < 0.0
        control.arm_given += 1
        if closed or control.arm_given >= control.arm_samples:
            control.arm += 1
            control.arm_given = 0
        if not closed:
            return int(child)
    return NO_CHILD


@kernel
def _start_pass(control: Any, tree: Any, work: Any, first: Any, count: Any) -> None:
    arms = 0
    for index in range(count):
        if tree.stats[first + index].prior >= 0.0 and (
            not control.masked or work.mask[tree.links[first + index].action] != 0
        ):
            work.arms[arms] = index
            arms += 1
    control.arms, control.arm, control.arm_given, control.arm_samples = arms, 0, 0, 1


@kernel
def _halve(control: Any, tree: Any, work: Any, first: Any) -> None:
    """Keep the better half, the first of equals first; one left ends the pass."""
    arms = control.arms
    for index in range(1, arms):
        arm = work.arms[index]
        value = _mean(tree, first + arm)
        place = index
        while place > 0 and _mean(tree, first + work.arms[place - 1]) < value:
            work.arms[place] = work.arms[place - 1]
            place -= 1
        work.arms[place] = arm
    arms = (arms + 1) // 2
    control.arms = 0 if arms <= 1 else arms
    control.arm, control.arm_given = 0, 0
    control.arm_samples *= 2


@inline_kernel
def _mean(tree: Any, child: Any) -> float:
    visits = tree.stats[child].visits
    return float(tree.stats[child].value_sum / visits) if visits > 0 else -np.inf


@dataclass(frozen=True, kw_only=True)
class Halving(Root):
    """Anytime sequential halving, for any number of simulations.

    >>> import treetop as tt
    >>> tt.search("tic_tac_toe", tt.SearchConfig(root=tt.rules.Halving()), simulations=200, seed=1).move
    'b2'
    """

    name = "halving"
    kinds = frozenset({TREES, PROBLEMS})
    choose = next_arm
    works_with = {"widening": ("none",)}
