"""Open loop: a node is a sequence of moves, whatever chance did between them."""

from __future__ import annotations

from dataclasses import dataclass

from treetop.kernels.chance.mode import ChanceMode
from treetop.kernels.parts import DETERMINIZATIONS, SETS, TREES


@dataclass(frozen=True, kw_only=True)
class OpenLoop(ChanceMode):
    """Outcomes are sampled, and a node does not depend on them.

    >>> import treetop as tt
    >>> start = tt.position("pig(goal=20)", moves="roll 6 roll 6")
    >>> open_loop, sampled = tt.SearchConfig(chance=tt.rules.OpenLoop()), tt.SearchConfig(chance=tt.rules.Sampled())
    >>> trees = [tt.search(start, config, simulations=2_000, seed=1).tree for config in (open_loop, sampled)]
    >>> trees[0].size < trees[1].size
    True
    """

    name = "open_loop"
    kinds = frozenset({TREES, SETS, DETERMINIZATIONS})

    def control(self) -> dict[str, float]:
        """Return the numbers that the kernels read."""
        return {"open_loop": 1}
