"""What a child is worth to the player to move, before a selection rule adds its bonus."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel
from treetop.compiler.intrinsics import atomic_add_field
from treetop.kernels.backups import backed_up
from treetop.kernels.control import FPU_PARENT, FPU_SCALED, VIRTUAL_LOSS, VIRTUAL_LOSS_FIRST
from treetop.kernels.tables import inverse
from treetop.types import ROOT


@inline_kernel
def normalised(control: Any, value: float) -> float:
    """Return a value on the scale from the lowest to the highest mean in the tree, if the search normalises."""
    if not control.normalise:
        return value
    if control.value_high > control.value_low:
        return float((value - control.value_low) / (control.value_high - control.value_low))
    return 0.5


@inline_kernel
def utility_range(control: Any) -> float:
    """Return how far values can lie apart, on the scale that the rule sees."""
    return 1.0 if control.normalise else float(control.high - control.low)


@inline_kernel
def child_value(control: Any, tree: Any, child: Any, mover: Any, tries: Any, fpu: float) -> float:
    """Return the value of a child for the mover; `tries` are its visits and its evaluations in flight."""
    visits = np.int64(tree.stats[child].visits)
    in_flight = tries - visits
    kind = control.virtual_loss
    lost = in_flight > 0 and (
        kind == VIRTUAL_LOSS or (kind == VIRTUAL_LOSS_FIRST and visits < control.virtual_loss_until)
    )
    if visits == 0 and not lost:
        return fpu
    value = 0.0
    if visits > 0:
        value = normalised(
            control, backed_up(control, tree, child, mover, tree.stats[child].value_sum * inverse(visits))
        )
    if lost:
        loss = 0.0 if control.normalise else control.low
        value = (value * visits + loss * in_flight) / tries
    return float(value)


@inline_kernel
def child_variance(control: Any, tree: Any, child: Any) -> float:
    """Return the variance of a child's returns, on the scale that the rule sees."""
    visits = np.int64(tree.stats[child].visits)
    if len(tree.squares) == 0 or visits == 0:
        return 0.0
    share = inverse(visits)
    mean = tree.stats[child].value_sum * share
    variance = max(0.0, tree.squares[child] * share - mean * mean)
    if control.normalise:
        width = control.value_high - control.value_low
        return float(variance / (width * width)) if width > 0.0 else 0.0
    return float(variance)


@inline_kernel
def node_mean(tree: Any, node: Any, chooser: Any, player: Any) -> float:
    """Return the mean return to a player of all simulations through a node."""
    if node == ROOT:
        return float(tree.totals[player] / tree.stats[node].visits)
    if len(tree.returns) > 0:
        return float(tree.returns[node, player] / tree.stats[node].visits)
    value = tree.stats[node].value_sum / tree.stats[node].visits
    return float(value if player == chooser else -value)


@inline_kernel
def fixed_fpu(control: Any) -> float:
    """Return the first-play urgency that is the same at every node, on the scale that the rule sees."""
    if control.normalise:
        return float(min(max(normalised(control, control.fpu), 0.0), 1.0))
    return float(control.fpu)


@inline_kernel
def fpu_at(
    control: Any,
    tree: Any,
    work: Any,
    node: Any,
    mover: Any,
    chooser: Any,
    depth: Any,
    first: Any,
    count: Any,
) -> float:
    """Return the first-play urgency at a node: the value that is assumed of a move without visits."""
    kind = control.fpu_kind
    if kind != FPU_PARENT and kind != FPU_SCALED:
        return fixed_fpu(control)
    reduction = control.fpu_reduction
    if kind == FPU_SCALED:
        mass = 0.0
        for child in range(first, first + count):
            if tree.stats[child].visits > 0:
                mass += abs(tree.stats[child].prior)
        reduction *= math.sqrt(mass)
    if tree.stats[node].visits == 0:  # expanded because no rollout from it succeeded
        return float(normalised(control, control.middle) - reduction)
    mean = node_mean(tree, node, chooser, mover)
    if (
        depth > 0
        # the sums of a node hold r + discount * V, with r the reward of the step to it; its moves are compared with V
    ):
        if control.step_rewards:
            mean -= work.steps[depth, mover]
        if control.discount != 1.0:
            mean = mean / control.discount if control.discount > 0.0 else control.middle
    return float(normalised(control, mean) - reduction)


@inline_kernel
def add_return(tree: Any, node: Any, value: float, weight: Any) -> None:
    """Count `weight` visits of a node, and add their returns to the player who chose it."""
    tree.stats[node].visits += weight
    tree.stats[node].value_sum += value


@inline_kernel
def add_shared_return(tree: Any, node: Any, value: float, weight: Any) -> None:
    """Do the same where other threads may add to the node."""
    atomic_add_field(tree.stats, node, "visits", weight)
    atomic_add_field(tree.stats, node, "value_sum", value)


@inline_kernel
def add_plainly(array: Any, index: Any, amount: float) -> None:
    """Add to an element of an array."""
    array[index] += amount


@inline_kernel
def update_scale(control: Any, tree: Any, node: Any) -> None:
    """Extend the range of means in the tree, where rules see values on that scale."""
    if control.normalise:
        mean = tree.stats[node].value_sum / tree.stats[node].visits
        control.value_low = min(control.value_low, mean)
        control.value_high = max(control.value_high, mean)
