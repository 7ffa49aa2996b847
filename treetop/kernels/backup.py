"""What a simulation found, told to every node on its path."""

from __future__ import annotations

from typing import Any

from treetop.compiler.functions import inline_kernel
from treetop.types import ROOT


@inline_kernel
def backup(stats: Any, returns: Any, totals: Any, path: Any, movers: Any, depth: int, rewards: Any) -> None:
    """One more visit for each node, and its share for the player who chose it. No sign is ever flipped."""
    stats[ROOT].visits += 1
    for player in range(len(totals)):
        totals[player] += rewards[player]
    for step in range(depth):
        node = path[step + 1]
        stats[node].visits += 1
        stats[node].value_sum += rewards[movers[step]]
        if len(returns) > 0:
            for player in range(len(totals)):
                returns[node, player] += rewards[player]
