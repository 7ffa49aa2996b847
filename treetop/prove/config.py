"""How to search for a proof: the settings of a search."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from treetop.errors import ConfigError
from treetop.game.calls import parse_call

POLICIES = ("puct", "ucb1", "best_first", "blind_uniform")
BACKUPS = ("and_min", "product", "uniform")
SUBGOALS = ("hardest", "easiest", "score", "first")
ESTIMATES = ("size", "constant")
TIERS = (10, 50, 200, 1000)
"""Simulations of the usual budget tiers, counted from the start: each goes on with the tree of the one before."""


@dataclass(frozen=True)
class ProofConfig:
    """The settings of a proof search. Any seed may be combined with them; equal settings and seeds give equal searches."""

    policy: str = "puct"
    """`puct` and `ucb1` walk down from the theorem, `best_first` takes the goal with the likeliest way to it, `blind_uniform` draws any open goal."""
    c: float | None = None
    """The weight of exploration in `ucb1` and `puct`; None for what suits the theorem's prover, 1 where that says nothing."""
    backup: str = "and_min"
    """What a tactic is worth: `and_min` its worst subgoal, `product` all its subgoals at once, `uniform` the share of visits that closed a goal."""
    subgoals: str = "hardest"
    """Which subgoal of a tactic comes next: the one with the least value, with the greatest, the one with the best score, or the prover's first."""
    width: int | None = 4
    """How many tactics that apply are opened in one simulation; None: all that were suggested. With few a search chooses more often; with more a prover
    that must go to each goal goes there less often."""
    widening: tuple[float, float] | None = None
    """(k, a): after n visits at most k * n**a tactics of a goal are open, so more are opened only where a goal is visited often."""
    estimate: str = "size"
    """What a goal is worth before anything is known of it. `size`: 1 / (1 + its length / the theorem's), so a goal of the theorem's length is worth
    one half, and less is more; `constant`: `leaf_value` everywhere."""
    leaf_value: float = 0.5
    tactic_seconds: float = 1.0
    """How long a tactic may take."""
    virtual_loss: float = 1.0
    """How many fruitless visits an expansion under way counts for, on its whole path."""
    depth_bias: float = 0.0
    """Taken from the score of a goal's options for each step between it and the theorem."""
    path_bias: float = 0.0
    """Taken from a tactic's score for each worker that is at work below it, beside the virtual loss."""

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("policy", self.policy, POLICIES),
            ("backup", self.backup, BACKUPS),
            ("subgoals", self.subgoals, SUBGOALS),
            ("estimate", self.estimate, ESTIMATES),
        ):
            if value not in allowed:
                raise ConfigError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
        if self.width is not None and not is_whole(self.width, 1):
            raise ConfigError(
                f"width must be a whole number of at least 1, or None for all tactics at once, not {self.width!r}"
            )
        for name in ("c", "virtual_loss", "depth_bias", "path_bias"):
            if getattr(self, name) is not None and not (
                is_number(getattr(self, name)) and 0 <= getattr(self, name) < math.inf
            ):
                raise ConfigError(f"{name} must be a number of at least 0, not {getattr(self, name)!r}")
        if not (is_number(self.leaf_value) and 0 < self.leaf_value < 1):
            raise ConfigError(f"leaf_value must lie between 0 and 1, not {self.leaf_value!r}")
        if not (is_number(self.tactic_seconds) and 0 < self.tactic_seconds < math.inf):
            raise ConfigError(f"tactic_seconds must be a positive number, not {self.tactic_seconds!r}")
        if self.widening is not None:
            pair = self.widening
            if not (
                isinstance(pair, tuple)
                and len(pair) == 2
                and all(map(is_number, pair))
                and pair[0] > 0
                and 0 < pair[1] <= 1
            ):
                raise ConfigError(f"widening must be (k, a) with k > 0 and 0 < a <= 1, not {pair!r}")

    def to_dict(self) -> dict[str, Any]:
        """All settings, as JSON holds them."""
        return {**asdict(self), "widening": None if self.widening is None else list(self.widening)}


def read_policy(text: str, config: ProofConfig) -> ProofConfig:
    """The settings of a policy that is written with options of its own: `ucb1`, `puct(c=0.5, backup='product')`."""
    call = parse_call(text)
    if call.positional:
        raise ConfigError(f"the options of a policy have names: {text!r}")
    try:
        return replace(config, policy=call.name, **call.options)
    except TypeError as error:
        raise ConfigError(f"{text}: {error}") from None


def is_number(value: Any) -> bool:
    """Whether it is a number, which True is not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_whole(value: Any, low: int) -> bool:
    """Whether it is a whole number, and at least so much."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= low
