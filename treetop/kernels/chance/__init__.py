"""Chance modes: one file each. A new one is a file, and a line here."""

from __future__ import annotations

from treetop.kernels.chance.expected import Expected
from treetop.kernels.chance.mode import ChanceMode
from treetop.kernels.chance.open_loop import OpenLoop
from treetop.kernels.chance.sampled import Sampled

CHANCE_MODES: tuple[type[ChanceMode], ...] = (Sampled, Expected, OpenLoop)

__all__ = ["CHANCE_MODES", "ChanceMode"]
