"""Progressive history: UCB1 that favours, for a while, moves that were good elsewhere in the game."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from treetop.compiler.functions import inline_kernel
from treetop.kernels.control import COUNT, SUM
from treetop.kernels.parts import TREES, number
from treetop.kernels.rules.rule import FpuRule, scale_at_node, unvisited, without_fpu
from treetop.kernels.tables import inverse_root


@inline_kernel
def score(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, value: float, tries: Any, prior: float, total: Any,
    node: float, fpu: float, rng: Any,
) -> float:  # fmt: skip
    """Return UCB1 + H * weight / ((1 - Q) * n + 1), with H the move's mean everywhere, and Q and H from 0 to 1."""
    if tries == 0:
        return unvisited(control, fpu)
    result = value + node * inverse_root(tries)
    action, width, low = tree.links[child].action, control.high - control.low, control.low
    seen = work.history[COUNT, mover, action]
    usual = (work.history[SUM, mover, action] / seen - low) / width if seen > 0.0 else 0.5
    lost = 1.0 - (value if control.normalise else (value - low) / width)
    return float(result + usual * control.history_weight / (lost * tries + 1.0))


@dataclass(frozen=True, kw_only=True)
class ProgressiveHistory(FpuRule):
    """UCB1 and a bonus, which falls with the visits, for moves that were good elsewhere in the game.

    >>> import treetop as tt
    >>> good, bad = tt.results.Statistics(5, 0.0, amaf=(20, 0.9)), tt.results.Statistics(5, 0.0, amaf=(20, -0.9))
    >>> tt.explain(tt.SearchConfig(rule=tt.rules.ProgressiveHistory()), {"good": good, "bad": bad}).selected
    'good'
    """

    name = "progressive_history"
    kinds = frozenset({TREES})
    formula = "progressive history: score = value + c * sqrt(ln(N) / n) + usual value * weight / ((1 - value) * n + 1)"
    at_node, score, tries_all_first = scale_at_node, score, without_fpu

    c: float = number(math.sqrt(2), "The exploration factor.", low=0.0)
    history_weight: float = number(3.0, "The weight of what the move was worth elsewhere.", low=0.0)

    def control(self) -> dict[str, float]:
        """Return the numbers that the kernels read."""
        return super().control() | {"keeps_history": 1}
