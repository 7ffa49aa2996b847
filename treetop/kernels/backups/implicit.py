"""Implicit minimax: the mean, mixed with the game's heuristic seen through minimax."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treetop.compiler.functions import inline_kernel
from treetop.kernels.backups.backup import Backup
from treetop.kernels.parts import TREES, share
from treetop.tree.layout import PROVEN, TERMINAL

if TYPE_CHECKING:
    from treetop.game.definition import Game


@inline_kernel
def value(control: Any, tree: Any, child: Any, mover: Any, mean: float) -> float:
    """Return (1 - share) * mean + share * the heuristic through minimax."""
    return float((1.0 - control.minimax_share) * mean + control.minimax_share * tree.vectors[child, mover])


@inline_kernel
def at_leaf(control: Any, tree: Any, work: Any, node: Any, player: Any, step: Any, fade: float, reward: float) -> float:
    """Return the leaf's heuristic, in `work.trial`; the rewards where the game is over or the node proven."""
    if tree.links[node].flags & (TERMINAL | PROVEN):
        return reward
    estimate = fade * work.trial[player]
    if control.step_rewards:
        estimate += work.steps[step, player]
    return float(estimate)


@inline_kernel
def at_node(control: Any, tree: Any, node: Any, player: Any, chooser: Any, best: float) -> float:
    """Return the best child's value."""
    return best


@dataclass(frozen=True, kw_only=True)
class Implicit(Backup):
    """Implicit minimax backups.

    >>> import treetop as tt
    >>> config = tt.SearchConfig(backup=tt.rules.Implicit(minimax_share=0.2))
    >>> tt.search("connect_four", config, simulations=500, seed=1).move
    '4'
    """

    name = "implicit"
    kinds = frozenset({TREES})
    value, at_leaf, at_node = value, at_leaf, at_node

    minimax_share: float = share(0.4, "The share of the heuristic.")

    def control(self) -> dict[str, float]:
        """Return the numbers that the kernels read."""
        return super().control() | {"leaf_heuristic": 1}

    def refusals_by_game(self, game: Game) -> Iterator[str]:
        """Give each reason why this backup does not go with a game."""
        if not game.has("heuristic"):
            yield f"backup='implicit' needs the game's method `heuristic`, which {game.name} does not have"
