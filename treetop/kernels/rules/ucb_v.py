"""UCB-V: a bonus for the variance of a child's returns, and one for few visits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from treetop.compiler.functions import inline_kernel
from treetop.kernels.parts import number
from treetop.kernels.rules.rule import FpuRule, log_at_node, unvisited, without_fpu
from treetop.kernels.tables import inverse
from treetop.kernels.values import child_variance, utility_range


@inline_kernel
def score(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, value: float, tries: Any, prior: float, total: Any,
    node: float, fpu: float, rng: Any,
) -> float:  # fmt: skip
    """Return Q + sqrt(2 v ln N / n) + 3 c w ln N / n, with v the variance and w the reward range."""
    if tries == 0:
        return unvisited(control, fpu)
    ratio = node * inverse(tries)
    variance = child_variance(control, tree, child)
    return float(value + math.sqrt(2.0 * variance * ratio) + control.c * 3.0 * utility_range(control) * ratio)


@dataclass(frozen=True, kw_only=True)
class UcbV(FpuRule):
    """A bonus for the variance of each move's returns, and one for few visits.

    >>> import treetop as tt
    >>> sure, unsure = (tt.results.Statistics(50, 0.5, variance=variance) for variance in (0.0, 1.0))
    >>> tt.explain(tt.SearchConfig(rule=tt.rules.UcbV()), {"sure": sure, "unsure": unsure}).selected
    'unsure'
    """

    name = "ucb_v"
    formula = "UCB-V: score = value + sqrt(2 * variance * ln(N) / n) + c * 3 w * ln(N) / n, w the utility range"
    at_node, score, tries_all_first = log_at_node, score, without_fpu

    c: float = number(1.0, "The factor of the bonus for few visits.", low=0.0)

    def columns(self) -> frozenset[str]:
        """Return the columns of the tree that this part needs."""
        return frozenset({"squares"})
