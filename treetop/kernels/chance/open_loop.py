"""Open loop: outcomes are not told apart. A node is a sequence of moves, whatever chance did between them."""

from __future__ import annotations

from dataclasses import dataclass

from treetop.kernels.chance.mode import ChanceMode


@dataclass(frozen=True, kw_only=True)
class OpenLoop(ChanceMode):
    """Outcomes are drawn and not told apart."""

    name = "open_loop"

    def control(self) -> dict[str, float]:
        """Return the numbers that the kernels read."""
        return {"open_loop": 1}
