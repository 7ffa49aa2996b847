"""The mean of all returns: the backup of UCT and AlphaZero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treetop.compiler.functions import inline_kernel
from treetop.kernels.backups.backup import Backup


@inline_kernel
def value(control: Any, tree: Any, child: Any, mover: Any, mean: float) -> float:
    """Return the mean."""
    return mean


@dataclass(frozen=True, kw_only=True)
class Mean(Backup):
    """The mean of all returns.

    >>> import treetop as tt
    >>> result = tt.search("tic_tac_toe", tt.SearchConfig(backup=tt.rules.Mean()), simulations=500, seed=1)
    >>> result.move, result.config == tt.uct()
    ('b2', True)
    """

    name = "mean"
    value = value
