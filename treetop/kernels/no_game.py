"""The engine of kernels that need no game: they are compiled once, for all games and Python problems."""

from __future__ import annotations

import numpy as np

from treetop.compiler.blueprint import Blueprint
from treetop.compiler.engine import Engine

NO_GAME = Engine(Blueprint("no game", "no game", np.dtype([("nothing", "i8")]), {}, {}), {})
"""Where such kernels are compiled and kept."""
