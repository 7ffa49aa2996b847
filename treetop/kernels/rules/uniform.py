"""Uniform selection: every child is as likely as the other. The baseline that a rule has to beat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from treetop.compiler.functions import inline_kernel
from treetop.kernels.parts import EVERY_KIND, Composition
from treetop.kernels.rules.rule import Rule


@inline_kernel
def score(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, value: float, tries: Any, prior: float, total: Any,
    node: float, fpu: float, rng: Any,
) -> float:  # fmt: skip
    """Return the same for all."""
    return 0.0


@dataclass(frozen=True, kw_only=True)
class UniformRule(Rule):
    """Every move is as likely as the other.

    >>> import treetop as tt
    >>> result = tt.search("tic_tac_toe", tt.SearchConfig(rule=tt.rules.UniformRule()), simulations=900, seed=1)
    >>> min(result.visits.values()) > 50
    True
    """

    name = "uniform"
    formula = "uniform: every move is as likely as the other"
    score = score
    kinds = EVERY_KIND

    def refusals(self, config: Composition) -> Iterator[str]:
        """Give each reason why this rule does not go with the other parts."""
        yield from super().refusals(config)
        if config.tie_break != "random":
            yield "the rule 'uniform' draws at random: tie_break must be 'random'"
