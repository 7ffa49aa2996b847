"""Expected values: what goes up from a chance node is the mean over all its outcomes, by their probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel
from treetop.kernels.chance.mode import ChanceMode
from treetop.kernels.chance.outcomes import SEAT
from treetop.kernels.parts import DETERMINIZATIONS, TREES
from treetop.tree.layout import DRAWN


@inline_kernel
def expect(tree: Any, node: Any, rewards: Any) -> None:
    """Write the expected value of a chance node for every player, over the outcomes drawn so far."""
    first, count = np.int64(tree.links[node].first_child), np.int64(tree.links[node].num_children)
    mass = 0.0
    rewards[:] = 0.0
    for child in range(first, first + count):
        visits = tree.stats[child].visits
        if visits == 0:
            continue
        probability = abs(tree.stats[child].prior)
        mass += probability
        for player in range(len(rewards)):
            if len(tree.returns) > 0:
                total = tree.returns[child, player]
            else:
                total = tree.stats[child].value_sum if player == SEAT else -tree.stats[child].value_sum
            rewards[player] += probability * (total / visits)
    for player in range(len(rewards)):
        rewards[player] /= mass


@inline_kernel
def set_expectation(tree: Any, node: Any, chooser: Any, fade: float, rewards: Any, correction: Any) -> None:
    """Let the sum of a chance node be its visits times its present expectation, and carry the `correction` on to the
    nodes above.

    Without it a sum would be one of expectations at different times: a mean of means, in which the first few outcomes
    count in every one.
    """
    players = len(rewards)
    for player in range(players):
        correction[player] *= fade
    if tree.links[node].flags & DRAWN:
        visits = tree.stats[node].visits
        for player in range(players):
            if len(tree.returns) > 0:
                total = tree.returns[node, player]
            else:
                total = tree.stats[node].value_sum if player == chooser else -tree.stats[node].value_sum
            correction[player] = visits * rewards[player] - total
    tree.stats[node].value_sum += correction[chooser]
    if len(tree.returns) > 0:
        for player in range(players):
            tree.returns[node, player] += correction[player]


@dataclass(frozen=True, kw_only=True)
class Expected(ChanceMode):
    """An outcome is drawn, and the expected value over all outcomes is backed up.

    >>> import treetop as tt
    >>> start = tt.position("pig(goal=20)", moves="roll 6 roll 6")
    >>> tt.search(start, tt.SearchConfig(chance=tt.rules.Expected()), simulations=2_000, seed=1).move
    'roll'
    """

    name = "expected"
    kinds = frozenset({TREES, DETERMINIZATIONS})

    def control(self) -> dict[str, float]:
        """Return the numbers that the kernels read."""
        return {"chance_expected": 1}
