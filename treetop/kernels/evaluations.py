"""Check what an evaluator has returned."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import kernel


@kernel
def check_evaluations(
    game: Any, logits: Any, values: Any, movers: Any, least: float, greatest: float, rows: Any
) -> bool:
    """Write the value of each state for each player to `rows`; return whether all numbers are allowed.

    `values` have a column for each player, or one for the player to move in a zero-sum game of two.
    """
    players = rows.shape[1]
    one_view = values.shape[1] < players
    for row in range(len(rows)):
        for action in range(logits.shape[1]):
            if not logits[row, action] < np.inf:  # NaN too
                return False
        for player in range(players):
            value = values[row, 0 if one_view else player]
            if one_view and movers[row] != player:
                value = -value
            if not (value >= least and value <= greatest):  # NaN too
                return False
            rows[row, player] = value
    return True
