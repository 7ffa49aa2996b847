"""Thompson sampling: the value of each child is drawn from a distribution, and the highest draw is followed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from treetop.compiler.functions import inline_kernel
from treetop.kernels.random_numbers import normal
from treetop.kernels.rules.rule import Rule
from treetop.kernels.tables import inverse
from treetop.kernels.values import child_variance, utility_range


@inline_kernel
def score(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, value: float, tries: Any, prior: float, total: Any,
    node: float, fpu: float, rng: Any,
) -> float:  # fmt: skip
    """Draw from a normal distribution about the mean. One visit with the widest spread is assumed beforehand."""
    half = 0.5 * utility_range(control)
    centre = 0.5 if control.normalise else control.middle
    known = 0.0 if tries == 0 else value
    mean = (known * tries + centre) * inverse(tries + 1)
    spread = child_variance(control, tree, child) * tries + half * half
    return float(mean + math.sqrt(spread) * inverse(tries + 1) * normal(rng))


@dataclass(frozen=True, kw_only=True)
class Thompson(Rule):
    """Thompson sampling: each move's value is drawn from a normal distribution, and the highest draw is followed.

    >>> import treetop as tt
    >>> tt.search("nim(stones=5)", tt.SearchConfig(rule=tt.rules.Thompson()), simulations=500, seed=1).move
    '1'
    """

    name = "thompson"
    formula = "Thompson sampling: score drawn from a normal distribution about the value"
    score = score

    def columns(self) -> frozenset[str]:
        """Return the columns of the tree that this part needs."""
        return frozenset({"squares"})
