"""The settings of MuZero."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from treetop import checks
from treetop.errors import ConfigError
from treetop.train.muzero.problem import DEEPEST
from treetop.train.options import made


@dataclass(frozen=True)
class MuZeroOptions:
    """How a model is learned and searched.

    >>> MuZeroOptions(minutes=2, discount=0.95).discount
    0.95
    """

    minutes: float = 5.0
    """Minutes of the run, all its sessions together."""
    steps: int | None = None
    """The run ends after so many steps of the environment, whatever the time. Its results then depend on the seed
    alone."""
    seed: int = 0
    copies: int = 16
    """Copies of the environment that are stepped at the same time."""
    simulations: int = 16
    """Simulations of each search."""
    completed_scale: float = 0.02
    """The weight of values beside priors in a search: see `treetop.rules.Completed`."""
    discount: float = 0.99
    """The discount of each step."""
    bootstrap: int = 10
    """Rewards in the target of a value, before the value that the search has found."""
    unroll: int = 5
    """Steps for which the model is unrolled in training."""
    reanalyse: int = 2
    """Old steps that are searched again for each new one, so that their policies and values are those of the network
    of the moment."""
    random_steps: int = 1_000
    """Steps of random actions at the beginning."""
    window: int = 50_000
    """Steps of the environment that are trained on: the newest ones."""
    reuse: float = 64.0
    """How often a step is trained on, on average."""
    batch: int = 256
    """Steps in a batch, each with those that it is unrolled for."""
    rate: float = 2e-3
    """The learning rate at its peak; it rises in the first steps, and falls along a cosine."""
    latent: int = 64
    """The length of a latent vector."""
    hidden: int = 128
    """The width of the other layers."""
    support: int = 30
    """Values and rewards are distributions over this many numbers above 0, and as many below; see `scale`."""

    def __post_init__(self) -> None:
        checks.number("minutes", self.minutes, above=0)
        checks.whole("steps", self.steps, 1, 10**12, optional=True)
        checks.whole("seed", self.seed, 0, checks.INT32_MAX)
        checks.whole("simulations", self.simulations, 2, DEEPEST - 1)
        checks.number("discount", self.discount, above=0, high=1)
        checks.number("completed_scale", self.completed_scale, above=0)
        checks.number("reuse", self.reuse, above=0)
        checks.number("rate", self.rate, above=0)
        for name, low, high in (
            ("copies", 1, 4096), ("bootstrap", 1, 10_000), ("unroll", 1, 100), ("reanalyse", 0, 1000),
            ("random_steps", 0, 10**9), ("window", 1, 10**9), ("batch", 1, 65_536), ("latent", 2, 4096),
            ("hidden", 1, 4096), ("support", 1, 1000),
        ):  # fmt: skip
            checks.whole(name, getattr(self, name), low, high)
        if self.window < self.copies * (self.unroll + 1):
            raise ConfigError(
                f"window={self.window} is too small for {self.copies} copies of the environment and unroll="
                f"{self.unroll}: it needs at least {self.copies * (self.unroll + 1)} steps"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Any) -> MuZeroOptions:
        """Return the settings that a file describes; raise ConfigError where one is unknown or wrong."""
        return made(cls, given, "of MuZero")
