"""What a simulation found, told to every node on its path."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel
from treetop.tree.layout import MANY_OWN
from treetop.types import ROOT


@inline_kernel
def backup(stats: Any, links: Any, returns: Any, totals: Any, path: Any, movers: Any, depth: int, rewards: Any) -> None:
    """One more visit for each node, and its share for the player who chose it. No sign is ever flipped."""
    evaluated = np.uint64(path[depth])
    if links[evaluated].own < MANY_OWN:
        links[evaluated].own += 1
    stats[ROOT].visits += 1
    for player in range(len(totals)):
        totals[player] += rewards[player]
    for step in range(depth):
        node = np.uint64(path[step + 1])  # an unsigned index: compiled code need not ask whether it counts from the end
        stats[node].visits += 1
        stats[node].value_sum += rewards[movers[step]]
        if len(returns) > 0:
            for player in range(len(totals)):
                returns[node, player] += rewards[player]
