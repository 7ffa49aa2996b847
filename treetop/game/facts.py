"""A game's facts: what is true of it before the first move."""

from __future__ import annotations

import math
from dataclasses import dataclass

from treetop import checks
from treetop.errors import GameDefinitionError

_MOST_PLAYERS = 1_000
LARGEST_REWARD = 1e100  # sums and squares of rewards stay finite


@dataclass(frozen=True)
class Facts:
    """What a game promises of all its positions. `treetop.check` holds it to that."""

    players: int
    """How many players; rewards are a vector of this length."""
    num_actions: int
    """Actions are whole numbers from 0 to num_actions - 1."""
    max_length: int
    """No game takes more actions than this, outcomes of chance included."""
    rewards: tuple[float, float] = (-1.0, 1.0)
    """The utility range: no player ever receives less or more in a whole game, rewards on the way included."""
    zero_sum: bool | None = None
    """Whether the rewards of two players always add up to zero. Not said: yes for two players and a symmetric range."""
    observation_shape: tuple[int, ...] | None = None
    """The shape that `observe` writes."""
    num_outcomes: int | None = None
    """Outcomes of chance are whole numbers from 0 to num_outcomes - 1. None: chance never decides."""
    action_size: int | None = None
    """An action is so many real numbers, drawn by `sample_action`. None: actions are whole numbers."""

    def __post_init__(self) -> None:
        for name in ("players", "num_actions", "max_length", "num_outcomes", "action_size"):
            value = getattr(self, name)
            if value is None and name in ("num_outcomes", "action_size"):
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
                f"rewards must be a pair (lowest, highest) with lowest < highest, within {LARGEST_REWARD:g}, not {self.rewards!r}"
            )
        object.__setattr__(self, "rewards", (low, high))
        if self.zero_sum is None:
            object.__setattr__(self, "zero_sum", self.players == 2 and low == -high)
        if self.zero_sum and self.players != 2:
            raise GameDefinitionError("zero_sum is said of games with two players only")

    def value_range(self, *, step_rewards: bool, discount: float = 1.0) -> tuple[float, float]:
        """Return the least and the greatest value that a position can have for a player: what is still to come, not what was received.

        That is the utility range of a whole game, `rewards`. Where rewards come step by step, a part of the game's total lies behind, so what is to come
        is a difference of two totals: from lowest - highest to highest - lowest. With a discount the value may be anything from there to 0.

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
        """Return what an evaluation may be: the range of values, and as much beyond it as rounding in 32 bits may bring."""
        low, high = self.value_range(step_rewards=step_rewards, discount=discount)
        slack = 1e-6 * max(high - low, abs(low), abs(high))
        return low - slack, high + slack

    @property
    def most_children(self) -> int:
        """How many ways lead on from one position, at most: actions, or outcomes of chance."""
        return max(self.num_actions, self.num_outcomes or 0)

    @property
    def middle(self) -> float:
        """The middle of the utility range: what is assumed of a move that nobody has tried."""
        low, high = self.rewards
        return (low + high) / 2
