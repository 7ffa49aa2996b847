"""Sampled outcomes: what goes up from a chance node is the return of the outcome that was drawn."""

from __future__ import annotations

from dataclasses import dataclass

from treetop.kernels.chance.mode import ChanceMode


@dataclass(frozen=True, kw_only=True)
class Sampled(ChanceMode):
    """An outcome is drawn, and its return is backed up.

    >>> import treetop as tt
    >>> start = tt.position("pig(goal=20)", moves="roll 6 roll 6")
    >>> tt.search(start, tt.SearchConfig(chance=tt.rules.Sampled()), simulations=2_000, seed=1).move
    'roll'
    """

    name = "sampled"
