"""UCB1-Tuned: UCB1 whose bonus follows the variance of each child's returns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from treetop.compiler.functions import inline_kernel
from treetop.kernels.parts import number
from treetop.kernels.rules.rule import FpuRule, log_at_node, unvisited, without_fpu
from treetop.kernels.tables import inverse, inverse_root
from treetop.kernels.values import child_variance, utility_range


@inline_kernel
def score(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, value: float, tries: Any, prior: float, total: Any,
    node: float, fpu: float, rng: Any,
) -> float:  # fmt: skip
    """Return Q + c * sqrt(ln N / n * min(w^2 / 4, v + w^2 * sqrt(2 ln N / n))): v the variance, w the reward range."""
    if tries == 0:
        return unvisited(control, fpu)
    ratio = node * inverse(tries)
    width, variance = utility_range(control), child_variance(control, tree, child)
    spread = min(0.25 * width * width, variance + width * width * (math.sqrt(2.0 * node) * inverse_root(tries)))
    return float(value + control.c * math.sqrt(ratio * spread))


@dataclass(frozen=True, kw_only=True)
class Ucb1Tuned(FpuRule):
    """UCB1 with a bonus that follows the variance of each move's returns.

    >>> import treetop as tt
    >>> sure, unsure = (tt.results.Statistics(1_000, 0.5, variance=variance) for variance in (0.0, 1.0))
    >>> tt.explain(tt.SearchConfig(rule=tt.rules.Ucb1Tuned()), {"sure": sure, "unsure": unsure}).selected
    'unsure'
    """

    name = "ucb1_tuned"
    formula = (
        "UCB1-Tuned: score = value + c * sqrt(ln(N) / n * min(w^2 / 4, variance + w^2 * sqrt(2 ln(N) / n))), "
        "w the utility range"
    )
    at_node, score, tries_all_first = log_at_node, score, without_fpu

    c: float = number(1.0, "The exploration factor.", low=0.0)

    def columns(self) -> frozenset[str]:
        """Return the columns of the tree that this part needs."""
        return frozenset({"squares"})
