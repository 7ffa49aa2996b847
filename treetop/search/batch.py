"""Batches of leaves for an evaluator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import ConfigError, SearchError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.kernels.evaluations import check_evaluations
from treetop.kernels.no_game import NO_GAME
from treetop.search import states

_NO_MOVERS = np.zeros(0, np.int64)


@dataclass(eq=False)
class Batch:
    """States that wait for an evaluation, in the order of their selection.

    A batch is true until the limit is reached. It may be true and empty, when every leaf that selection reaches is in
    flight.

    >>> import numpy as np, treetop as tt
    >>> search = tt.Search("tic_tac_toe", tt.puct(), evaluator=tt.evaluators.Uniform(), seed=1)
    >>> while batch := search.ask(8, tt.Limit(simulations=20)):
    ...     search.tell(batch, np.zeros((len(batch), 9)), np.zeros(len(batch)))
    >>> search.simulations
    20
    """

    game: Game
    states: npt.NDArray[Any]
    """One record for each leaf, with the game's own dtype."""
    more: bool
    _paths: npt.NDArray[np.int32] = field(repr=False)
    _movers: npt.NDArray[np.int32] = field(repr=False)
    _depths: npt.NDArray[np.int32] = field(repr=False)
    _generation: int = field(repr=False)
    _open: bool = field(default=True, repr=False)
    rules: str = field(default="", repr=False)
    """The rules digest of the game, where the search has one."""
    discount: float = field(default=1.0, repr=False)
    """The discount of the search, which widens the range of values: see `Facts.value_range`."""
    engine: Any = field(default=None, repr=False)
    """The compiled code of the game, where the search has it."""

    def __len__(self) -> int:
        return len(self.states)

    def __bool__(self) -> bool:
        return self.more

    def __iter__(self) -> Iterator[Position]:
        return (Position(self.game, self.states[index : index + 1]) for index in range(len(self)))

    @cached_property
    def players(self) -> npt.NDArray[np.int64]:
        """The player to move in each state."""
        return states.players(self.game, self.states, engine=self.engine)

    @cached_property
    def observations(self) -> npt.NDArray[np.float32]:
        """An observation of each state for the player to move: (states, *observation_shape).

        It comes from the game's `observe`, or for a game without it from its fields: see `treetop.states.observations`.
        """
        players, found = states.players_and_observations(self.game, self.states, engine=self.engine)
        self.__dict__["players"] = players  # most evaluators' values need them next
        return found

    @cached_property
    def legal_mask(self) -> npt.NDArray[np.bool_]:
        """Whether each action is legal in each state: (states, actions)."""
        return states.legal_mask(self.game, self.states, engine=self.engine)

    @cached_property
    def keys(self) -> npt.NDArray[np.uint64]:
        """A 64-bit key of each state: the game's `key`, or a hash of all its fields."""
        return states.keys(self.game, self.states, engine=self.engine)

    def close(self, generation: int) -> None:
        """Mark the batch as used; it can be absorbed or dropped once, and not after the tree has changed its root."""
        if not self._open:
            raise SearchError("this batch was absorbed or dropped before: ask for a new one")
        if generation != self._generation:
            raise SearchError(
                "this batch is void, because the tree was re-rooted, folded or loaded since: ask for a new one"
            )
        self._open = False

    def checked(
        self, logits: npt.ArrayLike, values: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return both as `checked_logits` and `checked_values` do, as new arrays."""
        rows = _as_numbers(logits, "logits", copy=True)  # the evaluator may use its own array again
        given = np.ascontiguousarray(_as_numbers(values, "values"))
        given = given[:, None] if given.ndim == 1 else given
        facts, count = self.game.facts, len(self)
        shapes = ((count, facts.players), (count, 1) if facts.zero_sum else None)
        if rows.shape == (count, facts.num_actions) and given.shape in shapes:
            movers = self.players if given.shape[1] < facts.players else _NO_MOVERS
            found = np.empty((count, facts.players))
            if NO_GAME.entry(check_evaluations)(rows, given, movers, *self._allowed, found):
                return rows, found
        return self.checked_logits(logits).copy(), self.checked_values(values).copy()  # one of them raises the error

    @property
    def _allowed(self) -> tuple[float, float]:
        """The least and the greatest value that an evaluator may return."""
        return self.game.facts.allowed_values(step_rewards=self.game.has("step_rewards"), discount=self.discount)

    def checked_logits(self, logits: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return logits as an array of the right shape; raise ConfigError for a wrong shape, NaN or infinity."""
        rows = np.ascontiguousarray(_as_numbers(logits, "logits"))
        wanted = (len(self), self.game.facts.num_actions)
        if rows.shape != wanted:
            raise ConfigError(f"logits must have the shape {wanted} (states, actions), not {rows.shape}")
        good = rows < np.inf  # false for NaN too
        if not good.all():
            index = int(np.argmax(~good.all(axis=1)))
            raise ConfigError(
                f"the logits of state {index} of the batch are not numbers below infinity{self._shown(index)}"
            )
        return rows

    def checked_values(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return a value for each state and player; raise ConfigError for a wrong shape or a value out of range.

        The range is that of the game's values: see `Facts.value_range`.
        """
        rows = _as_numbers(values, "values")
        facts = self.game.facts
        if rows.shape in ((len(self),), (len(self), 1)) and facts.players > 1:
            if not facts.zero_sum:
                raise ConfigError(
                    f"{self.game.name} is not a two-player zero-sum game: give a value for each of its "
                    f"{facts.players} players"
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
        least, greatest = self._allowed
        good = (rows >= least) & (rows <= greatest)  # false for NaN too
        if good.all():
            return
        index, player = (int(place) for place in np.argwhere(~good)[0])
        if not np.isfinite(rows[index, player]):
            raise ConfigError(
                f"the value {rows[index, player]:g} of state {index} of the batch for player {player} is not finite: "
                f"an evaluator must return finite numbers{self._shown(index)}"
            )
        low, high = facts.value_range(step_rewards=pays, discount=self.discount)
        raise ConfigError(
            f"the value {rows[index, player]:g} of state {index} of the batch for player {player} is outside of the "
            f"range of {self.game.name}, {low:g} to {high:g} by its rewards={facts.rewards}: scale the evaluator's "
            f"values, or widen the game's rewards{self._shown(index)}"
        )

    def _shown(self, index: int) -> str:
        """Return a state of the batch as text for the end of an error message."""
        return f"\n{Position(self.game, self.states[index : index + 1])}"


def _as_numbers(given: npt.ArrayLike, what: str, *, copy: bool = False) -> npt.NDArray[np.float64]:
    if isinstance(given, np.ndarray) and given.dtype.kind == "f":
        return given.astype(np.float64, order="C" if copy else "K", subok=False, copy=copy)
    try:
        if np.iscomplexobj(given):
            raise TypeError("they are complex")
        return np.array(given, np.float64, order="C") if copy else np.asarray(given, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfigError(f"{what} must be an array of numbers: {error}") from None
