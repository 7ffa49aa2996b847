"""Minimax backups: the value of the best child, alone (max) or mixed with the mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treetop.compiler.functions import inline_kernel
from treetop.kernels.backups.backup import Backup
from treetop.kernels.parts import PROBLEMS, TREES, share


@inline_kernel
def value(control: Any, tree: Any, child: Any, mover: Any, mean: float) -> float:
    """Return the child's vector."""
    return float(tree.vectors[child, mover])


@inline_kernel
def at_leaf(control: Any, tree: Any, work: Any, node: Any, player: Any, step: Any, fade: float, reward: float) -> float:
    """Return the mean of the node's own evaluations."""
    before = tree.vectors[node, player]
    return float(before + (reward - before) / tree.stats[node].visits)


@inline_kernel
def at_node(control: Any, tree: Any, node: Any, player: Any, chooser: Any, best: float) -> float:
    """Return (1 - share) * mean + share * best child."""
    if control.minimax_share == 1.0:
        return best
    if len(tree.returns) > 0:
        total = tree.returns[node, player]
    else:
        total = tree.stats[node].value_sum if player == chooser else -tree.stats[node].value_sum
    mean = total / tree.stats[node].visits
    return float((1.0 - control.minimax_share) * mean + control.minimax_share * best)


@dataclass(frozen=True, kw_only=True)
class MixedBackup(Backup):
    """A share of the best child's value, and the rest of the mean.

    >>> import treetop as tt
    >>> config = tt.SearchConfig(backup=tt.rules.MixedBackup(minimax_share=0.5))
    >>> tt.search("tic_tac_toe", config, simulations=500, seed=1).move
    'b2'
    """

    name = "mixed"
    kinds = frozenset({TREES, PROBLEMS})
    value, at_leaf, at_node = value, at_leaf, at_node

    minimax_share: float = share(0.4, "The share of the best child's value.")


@dataclass(frozen=True, kw_only=True)
class Max(Backup):
    """The value of the best child.

    >>> import treetop as tt
    >>> tt.search("tic_tac_toe", tt.SearchConfig(backup=tt.rules.Max()), simulations=500, seed=1).move
    'b2'
    """

    name = "max"
    kinds = frozenset({TREES, PROBLEMS})
    value, at_leaf, at_node = value, at_leaf, at_node

    def control(self) -> dict[str, float]:
        """Return the numbers that the kernels read."""
        return {"minimax_share": 1.0}
