"""Open loop: a node is a sequence of moves, whatever chance did between them."""

from __future__ import annotations

from dataclasses import dataclass

from treetop.kernels.chance.mode import ChanceMode


@dataclass(frozen=True, kw_only=True)
class OpenLoop(ChanceMode):
    """Outcomes are sampled, and a node does not depend on them."""

    name = "open_loop"

    def control(self) -> dict[str, float]:
        """Return the numbers that the kernels read."""
        return {"open_loop": 1}
