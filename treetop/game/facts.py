"""A game's facts: the constants that the decorator declares."""

from __future__ import annotations

import math
from dataclasses import dataclass

from treetop import checks
from treetop.errors import GameDefinitionError

_MOST_PLAYERS = 1_000
LARGEST_REWARD = 1e100  # sums and squares of rewards stay finite


@dataclass(frozen=True)
class Facts:
    """The declared constants of a game, valid in all its positions. `treetop.check` verifies them."""

    players: int
    """The number of players, which is the length of a vector of rewards."""
    num_actions: int
    """The number of actions, which are whole numbers from 0 to num_actions - 1."""
    max_length: int
    """The greatest number of actions in a game, including outcomes of chance."""
    rewards: tuple[float, float] = (-1.0, 1.0)
    """The utility range: the least and the greatest total reward of a player, immediate rewards included."""
    zero_sum: bool | None = None
    """Whether the rewards always sum to zero. Default: True for two players and a symmetric utility range."""
    observation_shape: tuple[int, ...] | None = None
    """The shape of the array that `observe` fills."""
    num_outcomes: int | None = None
    """The number of outcomes of chance, which are whole numbers from 0 to num_outcomes - 1. None: no chance nodes."""
    action_size: int | None = None
    """The length of an action vector in a game with continuous actions. None: actions are whole numbers."""
    symmetries: int | None = None
    """The number of symmetries of the game, which `transform` applies; 0 is the identity. None: it has none."""

    def __post_init__(self) -> None:
        for name in ("players", "num_actions", "max_length", "num_outcomes", "action_size", "symmetries"):
            value = getattr(self, name)
            if value is None and name in ("num_outcomes", "action_size", "symmetries"):
                continue
            checks.whole(name, value, 1, _MOST_PLAYERS if name == "players" else 2**27, error=GameDefinitionError)
        shape = self.observation_shape
        if shape is not None and not (
            isinstance(shape, tuple)
            and all(type(size) is int and size > 0 for size in shape)
            and math.prod(shape) <= 2**27
        ):
            raise GameDefinitionError(
                f"observation_shape must be a tuple of whole numbers of at least 1, not {shape!r}"
            )
        try:
            low, high = (float(bound) for bound in self.rewards)
        except (TypeError, ValueError, OverflowError):
            raise GameDefinitionError(f"rewards must be a pair (lowest, highest), not {self.rewards!r}") from None
        if not -LARGEST_REWARD <= low < high <= LARGEST_REWARD:
            raise GameDefinitionError(
                f"rewards must be a pair (lowest, highest) with lowest < highest, both between -{LARGEST_REWARD:g} "
                f"and {LARGEST_REWARD:g}, not {self.rewards!r}"
            )
        object.__setattr__(self, "rewards", (low, high))
        if self.zero_sum is None:
            object.__setattr__(self, "zero_sum", self.players == 2 and low == -high)
        if self.zero_sum and self.players != 2:
            raise GameDefinitionError(f"zero_sum=True needs two players, not {self.players}")

    def value_range(self, *, step_rewards: bool, discount: float = 1.0) -> tuple[float, float]:
        """Return the least and the greatest value of a position for a player: the rewards still to come.

        Without immediate rewards this is the utility range, `rewards`. With immediate rewards a part of the total was
        already received, so the rest is a difference of two totals: from lowest - highest to highest - lowest. A
        discount shrinks values towards 0, so 0 is then in the range.

        >>> Facts(1, 4, 100, rewards=(-100.0, 20.0)).value_range(step_rewards=True)
        (-120.0, 120.0)
        >>> Facts(1, 4, 100, rewards=(1.0, 2.0)).value_range(step_rewards=False, discount=0.9)
        (0.0, 2.0)
        """
        low, high = self.rewards
        if step_rewards:
            return low - high, high - low
        return (low, high) if discount == 1.0 else (min(low, 0.0), max(high, 0.0))

    def allowed_values(self, *, step_rewards: bool, discount: float = 1.0) -> tuple[float, float]:
        """Return the range that evaluations must lie in: the range of values, widened for rounding to 32 bits."""
        low, high = self.value_range(step_rewards=step_rewards, discount=discount)
        slack = 1e-6 * max(high - low, abs(low), abs(high))
        return low - slack, high + slack

    @property
    def most_children(self) -> int:
        """The greatest number of children of a node: actions, or outcomes of chance."""
        return max(self.num_actions, self.num_outcomes or 0)

    @property
    def middle(self) -> float:
        """The middle of the utility range, assumed as the value of moves without visits."""
        low, high = self.rewards
        return (low + high) / 2
