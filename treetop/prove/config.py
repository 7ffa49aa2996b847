"""The configuration of a proof search."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from treetop import checks
from treetop.errors import ConfigError
from treetop.game.calls import parse_call

POLICIES = ("puct", "ucb1", "best_first", "blind_uniform")
BACKUPS = ("and_min", "product", "uniform")
SUBGOALS = ("hardest", "easiest", "score", "first")
ESTIMATES = ("size", "constant")
TIERS = (10, 50, 200, 1000)
"""Simulations of the usual budget tiers, counted from the start. Each tier continues with the graph of the one before.
"""


@dataclass(frozen=True)
class ProofConfig:
    """The configuration of a proof search. Equal configurations and seeds give equal searches.

    >>> import treetop as tt
    >>> tt.prove("p & q -> q & p", config=ProofConfig(policy="ucb1")).proved
    True
    """

    policy: str = "puct"
    """`puct` and `ucb1` descend from the theorem, `best_first` expands the goal with the most probable path to it,
    `blind_uniform` draws an open goal at random."""
    c: float | None = None
    """The exploration constant of `ucb1` and `puct`. None: the default of the theorem's prover, or else 1."""
    backup: str = "and_min"
    """The value of a tactic: `and_min` is that of its worst subgoal, `product` the product over its subgoals, `uniform`
    the share of visits that closed a goal."""
    subgoals: str = "hardest"
    """Which subgoal of a tactic is expanded next: the one with the lowest value, the highest value, the best score, or
    the prover's first."""
    width: int | None = 4
    """How many applicable tactics are opened in one simulation; None: all that were suggested. A small width lets the
    search choose more often; a large one saves a prover that must replay the path to each goal."""
    widening: tuple[float, float] | None = None
    """Progressive widening (k, a): after n visits at most k * n**a tactics of a goal are open."""
    estimate: str = "size"
    """The estimate of a new goal. `size`: 1 / (1 + its length / the theorem's length), so shorter goals are worth more
    and a goal as long as the theorem is worth one half; `constant`: `leaf_value` for every goal."""
    leaf_value: float = 0.5
    tactic_seconds: float = 1.0
    """The time limit of one tactic."""
    virtual_loss: float = 1.0
    """Virtual loss: how many visits without success an expansion in flight counts for, on its whole path."""
    depth_bias: float = 0.0
    """Subtracted from the score of a goal's options for each step between the goal and the theorem."""
    path_bias: float = 0.0
    """Subtracted from a tactic's score for each worker in flight below it, in addition to the virtual loss."""

    def __post_init__(self) -> None:
        for name, allowed in (
            ("policy", POLICIES),
            ("backup", BACKUPS),
            ("subgoals", SUBGOALS),
            ("estimate", ESTIMATES),
        ):
            checks.one_of(name, getattr(self, name), allowed)
        checks.whole("width", self.width, 1, optional=True)
        checks.number("c", self.c, 0, optional=True)
        for name in ("virtual_loss", "depth_bias", "path_bias"):
            checks.number(name, getattr(self, name), 0)
        checks.number("leaf_value", self.leaf_value, above=0, below=1)
        checks.number("tactic_seconds", self.tactic_seconds, above=0)
        pair = self.widening
        if pair is not None:
            right = isinstance(pair, tuple) and len(pair) == 2 and all(map(checks.is_number, pair))
            if not (right and 0 < pair[0] < math.inf and 0 < pair[1] <= 1):
                raise ConfigError(f"widening must be (k, a) with k > 0 and 0 < a <= 1, not {pair!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, ready for JSON."""
        return {**asdict(self), "widening": None if self.widening is None else list(self.widening)}


def read_policy(text: str, config: ProofConfig) -> ProofConfig:
    """Return a configuration with the policy and the options that a text names: `ucb1`, `puct(c=0.5,
    backup='product')`.
    """
    call = parse_call(text)
    if call.positional:
        raise ConfigError(f"the options of a policy need names, such as puct(c=0.5), not {text!r}")
    try:
        return replace(config, policy=call.name, **call.options)
    except TypeError as error:
        raise ConfigError(f"{text}: {error}") from None
