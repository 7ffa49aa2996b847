"""Networks with arbitrary weights, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

import treetop as tt
from treetop.evaluators.networks.architecture import Architecture
from treetop.evaluators.networks.model import Model


def arbitrary(game: str = "tic_tac_toe", size: str = "tiny", *, seed: int = 1, outcomes: bool = False) -> Model:
    """Return a network whose weights are drawn at random."""
    known = tt.load_game(game)
    architecture, rng = Architecture.of(known, size, outcomes=outcomes), np.random.default_rng(seed)
    weights: dict[str, Any] = {
        name: (rng.normal(0.0, 0.3, shape) if name.endswith("weight") else rng.normal(0.0, 0.1, shape)).astype(
            np.float32
        )
        for name, shape in architecture.arrays().items()
    }
    return Model(known, architecture, weights, {"seed": seed})
