"""What the plain search is told. The names are those of the compiled search's settings and evaluators."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

TieBreak = Callable[[Sequence[int]], int]
OwnRule = Callable[[float, int, float, float, int, float], float]


@dataclass(frozen=True)
class Settings:
    """All that the plain search can do. Nothing is checked here: it is for tests, and for reading."""

    # Selection.
    rule: str | OwnRule = "ucb1"
    c: float = math.sqrt(2)
    c_base: float | None = None
    c_schedule: str | None = None
    c_log: float = 0.45
    variance_scale: float = 0.0
    amaf_reference: int = 0
    amaf_bias: float = 1e-4
    amaf_k: float | None = None
    history_weight: float = 3.0
    completed_visits: float = 50.0
    completed_scale: float = 0.1
    widening: float | None = None
    widening_power: float = 0.5
    tie_break: str | TieBreak = "random"
    by_products: bool = True
    """Scores are written with products instead of quotients: the last bits differ, and with them exact ties."""

    # Values.
    first_play: float | str | None = None
    first_play_reduction: float = 0.25
    backup: str = "mean"
    minimax_share: float = 0.4
    discount: float = 1.0
    normalise: bool | None = None
    opponents: str = "own"
    chance: str = "drawn"
    chance_widening: float | None = None

    # What players see.
    observers: str = "all"
    regret_mix: float = 0.2

    # Proofs and graphs.
    solver: bool = False
    repetition: float | None = None

    # Growth.
    expand_after: int = 1
    max_depth: float | None = None

    # The root.
    root: str = "rule"
    max_considered: int = 16
    noise: float = 0.0
    forced_playouts: float = 0.0

    # Evaluations.
    evaluate: str = "rollout"
    """rollout, uniform or heuristic; with a `rollout_weight` between 0 and 1 a rollout is mixed with one of the others."""
    rollout_weight: float = 1.0
    prior_temperature: float | None = None
    policy: str = "random"
    count: int = 1
    depth: float | None = None
    epsilon: float = 0.2
    temperature: float = 0.25

    # Evaluations in flight.
    virtual: str = "watch"
    virtual_until: int = 100

    @property
    def schedule(self) -> str:
        """How PUCT's c grows: what was said, or alphazero where there is a base, else constant."""
        return self.c_schedule or ("alphazero" if self.c_base is not None else "constant")
