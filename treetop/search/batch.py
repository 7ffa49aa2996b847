"""Leaves on their way to an evaluator and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import ConfigError, SearchError
from treetop.game.definition import Game
from treetop.game.position import Position


@dataclass(eq=False)
class Batch:
    """States that wait for an evaluation, in the order in which the search met them.

    True while the search wants to go on: it is false only when the limit is reached. It may be true and empty, when all that is
    worth looking at is in flight already.
    """

    game: Game
    states: npt.NDArray[Any]
    """One record a leaf, of the game's own dtype."""
    more: bool
    _paths: npt.NDArray[np.int32] = field(repr=False)
    _movers: npt.NDArray[np.int32] = field(repr=False)
    _depths: npt.NDArray[np.int32] = field(repr=False)
    _generation: int = field(repr=False)
    _open: bool = field(default=True, repr=False)
    rules: str = field(default="", repr=False)
    """The rules digest of the game, where the search knew it."""
    discount: float = field(default=1.0, repr=False)
    """The discount of the search, which widens the range of values: see `Facts.value_range`."""

    def __len__(self) -> int:
        return len(self.states)

    def __bool__(self) -> bool:
        return self.more

    def __iter__(self) -> Iterator[Position]:
        return (Position(self.game, self.states[index : index + 1]) for index in range(len(self)))

    @property
    def players(self) -> npt.NDArray[np.int64]:
        """Who is to move in each state."""
        return np.array([position.player for position in self], np.int64)

    def close(self, generation: int) -> None:
        """Mark as used; a batch is told or dropped once, and not after the tree has moved."""
        if not self._open:
            raise SearchError("this batch was told or dropped before")
        if generation != self._generation:
            raise SearchError("this batch is void: the tree was re-rooted, folded or loaded since it was asked for")
        self._open = False

    def checked_logits(self, logits: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Logits of the right shape, none of them NaN."""
        rows = np.ascontiguousarray(_as_numbers(logits, "logits"))
        wanted = (len(self), self.game.facts.num_actions)
        if rows.shape != wanted:
            raise ConfigError(f"logits must have the shape {wanted} (states, actions), not {rows.shape}")
        if np.isnan(rows).any() or np.isposinf(rows).any():
            raise ConfigError(
                f"the logits of state {(index := int(np.argmax(~(rows < np.inf).all(axis=1))))} of the batch are not numbers below infinity{self._shown(index)}"
            )
        return rows

    def checked_values(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return a value for each state and player, each of them in the range of the game's values: see `Facts.value_range`."""
        rows = _as_numbers(values, "values")
        facts = self.game.facts
        if rows.shape in ((len(self),), (len(self), 1)) and facts.players > 1:
            if not facts.zero_sum:
                raise ConfigError(
                    f"{self.game.name} is not a two-player zero-sum game: give a value for each of its {facts.players} players"
                )
            mine = rows.reshape(-1)
            rows = np.repeat(-mine[:, None], 2, axis=1)
            rows[np.arange(len(self)), self.players] = mine
        rows = np.ascontiguousarray(rows[:, None] if rows.ndim == 1 and facts.players == 1 else rows)
        if rows.shape != (len(self), facts.players):
            raise ConfigError(
                f"values must have the shape {(len(self), facts.players)} (states, players), not {np.shape(values)}"
            )
        self._refuse_outside(rows)
        return rows

    def _refuse_outside(self, rows: npt.NDArray[np.float64]) -> None:
        facts, pays = self.game.facts, self.game.has("step_rewards")
        least, greatest = facts.allowed_values(step_rewards=pays, discount=self.discount)
        good = (rows >= least) & (rows <= greatest)  # false for NaN too
        if good.all():
            return
        index, player = (int(place) for place in np.argwhere(~good)[0])
        if not np.isfinite(rows[index, player]):
            raise ConfigError(
                f"the value {rows[index, player]:g} of state {index} of the batch for player {player} is not finite: "
                f"an evaluator gives finite numbers{self._shown(index)}"
            )
        low, high = facts.value_range(step_rewards=pays, discount=self.discount)
        raise ConfigError(
            f"the value {rows[index, player]:g} of state {index} of the batch for player {player} is outside of the range of {self.game.name}, "
            f"{low:g} to {high:g} by its rewards={facts.rewards}: scale what the evaluator gives, or widen the game's rewards{self._shown(index)}"
        )

    def _shown(self, index: int) -> str:
        """A state of the batch at the end of an error's text."""
        return f"\n{Position(self.game, self.states[index : index + 1])}"


def _as_numbers(given: npt.ArrayLike, what: str) -> npt.NDArray[np.float64]:
    try:
        if np.iscomplexobj(given):
            raise TypeError("they are complex")
        return np.asarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{what} must be an array of numbers: {error}") from None
