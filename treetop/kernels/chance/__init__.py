"""Chance modes: one file each. A new one is a file, and a line here."""

from __future__ import annotations

from treetop.kernels.chance.expected import Expected as Expected
from treetop.kernels.chance.mode import ChanceMode as ChanceMode
from treetop.kernels.chance.open_loop import OpenLoop as OpenLoop
from treetop.kernels.chance.sampled import Sampled as Sampled

CHANCE_MODES: tuple[type[ChanceMode], ...] = (Sampled, Expected, OpenLoop)
