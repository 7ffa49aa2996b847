"""UCB1: the mean value, and a bonus that grows with the visits of the node and falls with those of the child."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel
from treetop.kernels.parts import EVERY_KIND, number
from treetop.kernels.rules.rule import FpuRule, scale_at_node, unvisited, without_fpu
from treetop.kernels.tables import inverse, inverse_root, root_log


@inline_kernel
def score(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, value: float, tries: Any, prior: float, total: Any,
    node: float, fpu: float, rng: Any,
) -> float:  # fmt: skip
    """Return Q + c * sqrt(ln N / n)."""
    if tries == 0:
        return unvisited(control, fpu)
    return float(value + node * inverse_root(tries))


@inline_kernel
def fast_scale(control: Any, total: Any) -> float:
    """Return c * sqrt(ln N), computed once for all children of a node."""
    return float(control.c * root_log(total))


@inline_kernel
def fast_score(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, total: Any, scale: float, fpu: float
) -> float:
    """Return W/n + c * sqrt(ln N / n), with products instead of quotients. The child has visits."""
    root = inverse_root(tree.stats[child].visits)
    return float((tree.stats[child].value_sum * root + scale) * root)


@inline_kernel
def fast_score_in_flight(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, total: Any, scale: float, fpu: float
) -> float:
    """Return the same with evaluations in flight counted as visits in the bonus, and in nothing else."""
    visits, tries = tree.stats[child].visits, tree.stats[child].visits + tree.in_flight[child]
    if tries == 0:
        return np.inf
    value = fpu if visits == 0 else tree.stats[child].value_sum * inverse(visits)
    return float(value + scale * inverse_root(tries))


@dataclass(frozen=True, kw_only=True)
class Ucb1(FpuRule):
    """UCB1, the rule of UCT: the usual choice for searches by rollouts.

    >>> import treetop as tt
    >>> explanation = tt.explain(tt.SearchConfig(rule=tt.rules.Ucb1(c=1.0)), {"A": (50, 0.8), "B": (10, 0.6)})
    >>> explanation.selected, round(explanation["B"].score, 3)
    ('B', 1.24)
    """

    name = "ucb1"
    formula = "UCB1: score = value + c * sqrt(ln(N) / n)"
    at_node, score, tries_all_first = scale_at_node, score, without_fpu
    fast_scale, fast_score, fast_score_in_flight = fast_scale, fast_score, fast_score_in_flight
    kinds = EVERY_KIND

    c: float = number(math.sqrt(2), "The exploration factor, for rewards from -1 to 1.", low=0.0)
