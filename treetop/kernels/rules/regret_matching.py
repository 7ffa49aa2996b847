"""Regret matching: a mixed strategy for information sets and simultaneous moves, from which the action is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel
from treetop.kernels.parts import SETS, share
from treetop.kernels.rules.rule import Rule


@inline_kernel
def _mixture(control: Any, tree: Any, work: Any, count: Any) -> None:
    """Write to `work.scores` each action's share of the positive regrets; equal shares where there are none."""
    total = 0.0
    for index in range(count):
        work.scores[index] = max(0.0, tree.regrets[work.tied[index]])
        total += work.scores[index]
    for index in range(count):
        work.scores[index] = work.scores[index] / total if total > 0.0 else 1.0 / count


@inline_kernel
def _exploration(control: Any, visits: Any) -> float:
    """Return how often an information set with so many visits tries any action at all.

    It must fall: an equilibrium against players who err is another one.
    """
    return float(control.regret_mix / (1.0 + 0.01 * visits) ** (1.0 / 3.0))


@inline_kernel
def _explored(mix: float, share: float, count: Any) -> float:
    """Return the probability with which an action of that share is tried."""
    return float((1.0 - mix) * share + mix / count)


@inline_kernel
def draw_by_regret(control: Any, tree: Any, work: Any, count: Any, rng: Any) -> Any:
    """Draw one of the actions in `work.tied` by regret matching."""
    _mixture(control, tree, work, count)
    drawn, mix = rng.random(), _exploration(control, tree.stats[tree.links[work.tied[0]].parent].visits)
    for index in range(count - 1):
        drawn -= _explored(mix, work.scores[index], count)
        if drawn < 0.0:
            return np.int64(work.tied[index])
    return np.int64(work.tied[count - 1])


@inline_kernel
def update_regrets(control: Any, tree: Any, work: Any, node: Any, chosen: Any, value: float) -> None:
    """Add to the regret of each action what it would have gained: its mean; an unbiased estimate for the tried one."""
    first, count = np.int64(tree.links[node].first_child), np.int64(tree.links[node].num_children)
    for index in range(count):
        work.tied[index] = first + index
    _mixture(control, tree, work, count)
    expected, mix = 0.0, _exploration(control, tree.stats[node].visits)
    for index in range(count):
        expected += work.scores[index] * _estimate(control, tree, work, first, index, count, chosen, mix, value)
    for index in range(count):
        tree.strategies[first + index] += work.scores[index]
        tree.regrets[first + index] += (
            _estimate(control, tree, work, first, index, count, chosen, mix, value) - expected
        )


@inline_kernel
def _estimate(
    control: Any, tree: Any, work: Any, first: Any, index: Any, count: Any, chosen: Any, mix: float, value: float
) -> float:
    other = first + index
    visits = tree.stats[other].visits
    usual = tree.stats[other].value_sum / visits if visits > 0 else control.middle
    if other == chosen:
        usual += (value - usual) / _explored(mix, work.scores[index], count)
    return float(usual)


@dataclass(frozen=True, kw_only=True)
class RegretMatching(Rule):
    """Regret matching, for simultaneous moves and imperfect information: the action is drawn from a mixed strategy.

    >>> import treetop as tt
    >>> config = tt.SearchConfig(rule=tt.rules.RegretMatching(), final=tt.rules.MixedStrategy())
    >>> result = tt.search("matching_pennies", config, simulations=1_000, seed=1)
    >>> [round(share, 1) for share in result.strategy().values()]
    [0.5, 0.5]
    """

    name = "regret_matching"
    formula = "regret matching: score = the action's share in the mixed strategy"
    kinds = frozenset({SETS})

    regret_mix: float = share(0.2, "How often any action is tried at first, whatever its regret.")

    def columns(self) -> frozenset[str]:
        """Return the columns of the tree that this part needs."""
        return frozenset({"regrets", "strategies"})
