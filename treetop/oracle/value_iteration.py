"""Exact values of one-player games with chance: enumerate all states, then value iteration.

In plain Python and NumPy: the oracle shares nothing with the search.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from treetop import checks
from treetop.errors import ConfigError, GameError
from treetop.game.position import Position
from treetop.types import CHANCE, SIMULTANEOUS, FloatArray

_MOST_SWEEPS = 1_000_000


class ValueIteration:
    """The optimal values and actions of all states that can be reached from a position in a one-player game.

    A value is what the player receives from here on: immediate rewards and final ones. The value of an action is r +
    discount * V, where r includes the rewards of the outcomes of chance that follow the action. Positions with equal
    keys are one state. With a `horizon` only so many moves are left, and what has not ended by then has no further
    value. Values are exact to the `tolerance`.
    """

    def __init__(
        self,
        start: Position,
        *,
        discount: float = 1.0,
        horizon: int | None = None,
        tolerance: float = 1e-10,
        max_states: int = 1_000_000,
    ) -> None:
        if start.game.facts.players != 1:
            raise GameError(f"value iteration is for one player; {start.game.name} has {start.game.facts.players}")
        checks.share("discount", discount)
        checks.whole("horizon", horizon, 0, optional=True)
        checks.number("tolerance", tolerance, above=0)
        self._discount, self._horizon, self._max_states = discount, horizon, max_states
        self._numbers: dict[Hashable, int] = {}
        self._ends: list[float] = []
        self._ways: list[
            tuple[int, float, float, int]
        ] = []  # the choice, the probability, the reward, and the next state
        self._owners: list[int] = []  # the state of each choice
        self._explore(start)
        self.sweeps = 0
        """How many times all states were updated."""
        self._values = self._iterate(tolerance)

    @property
    def num_states(self) -> int:
        """The number of reachable states, terminal ones included and chance nodes excluded."""
        return len(self._ends)

    def value(self, position: Position, moves_left: int | None = None) -> float:
        """Return what the player receives from here on under perfect play."""
        return math.fsum(
            chance * (gain + self._value_at(number, moves_left))
            for chance, gain, number in self._after_chance(position)
        )

    def action_values(self, position: Position, moves_left: int | None = None) -> dict[Any, float]:
        """Return what the player receives from here on after each action, with perfect play afterwards."""
        if position.is_terminal or position.player == CHANCE:
            return {}
        later = None if self._horizon is None else self._left(moves_left) - 1
        if later is not None and later < 0:
            return {}
        return {action: self._after(position, action, later) for action in position.legal_actions()}

    def best_actions(self, position: Position, moves_left: int | None = None) -> list[Any]:
        """Return the best actions; those that differ only by rounding are equally good."""
        values = self.action_values(position, moves_left)
        most = max(values.values(), default=0.0)
        return [action for action, value in values.items() if value >= most - 1e-9 * max(1.0, abs(most))]

    def _after(self, position: Position, action: Any, moves_left: int | None) -> float:
        following = position.apply(action)
        ways = self._after_chance(following)
        return following.step_rewards[0] + math.fsum(
            chance * (gain + self._discount * self._value_at(number, moves_left)) for chance, gain, number in ways
        )

    def _left(self, moves_left: int | None) -> int:
        horizon = self._horizon or 0
        return horizon if moves_left is None else checks.whole("moves_left", moves_left, 0, horizon)

    def _value_at(self, number: int, moves_left: int | None) -> float:
        if self._horizon is None:
            if moves_left is not None:
                raise ConfigError("moves_left is for a finite horizon: give one")
            return float(self._values[0][number])
        return float(self._values[self._left(moves_left)][number])

    # All states.

    def _explore(self, start: Position) -> None:
        waiting: list[tuple[int, Position]] = []
        self._enter(start, waiting)
        while waiting:
            number, position = waiting.pop()
            for action in position.legal_actions():
                choice = len(self._owners)
                self._owners.append(number)
                following = position.apply(action)
                gained = following.step_rewards[0]
                for chance, gain, target in self._enter(following, waiting):
                    self._ways.append((choice, chance, gained + gain, target))

    def _enter(self, position: Position, waiting: list[tuple[int, Position]]) -> list[tuple[float, float, int]]:
        """Return the states after the chance outcomes here, with their probabilities and rewards; new states are
        numbered.
        """
        found = []
        for chance, gain, resolved in _behind_chance(position):
            key = _key(resolved)
            if key not in self._numbers:
                if len(self._numbers) >= self._max_states:
                    raise GameError(
                        f"{position.game.name} has more than {self._max_states:,} states: too many to visit all of them"
                    )
                if not resolved.is_terminal and resolved.player == SIMULTANEOUS:
                    raise GameError(f"{position.game.name}: one player has no simultaneous moves")
                self._numbers[key] = len(self._ends)
                self._ends.append(resolved.rewards[0] if resolved.is_terminal else math.nan)
                if not resolved.is_terminal:
                    waiting.append((self._numbers[key], resolved))
            found.append((chance, gain, self._numbers[key]))
        return found

    def _after_chance(self, position: Position) -> list[tuple[float, float, int]]:
        found = [
            (chance, gain, self._numbers.get(_key(resolved))) for chance, gain, resolved in _behind_chance(position)
        ]
        if any(number is None for _, _, number in found):
            raise ConfigError(f"this position cannot arise from the one that was solved\n{position}")
        return [(chance, gain, number) for chance, gain, number in found if number is not None]

    # Their values.

    def _iterate(self, tolerance: float) -> list[FloatArray]:
        ends = np.array(self._ends)
        over = ~np.isnan(ends)
        values = np.where(over, ends, 0.0)
        if not self._owners:
            return [values] * ((self._horizon or 0) + 1)
        ways = np.array(self._ways, dtype=[("choice", "i8"), ("chance", "f8"), ("gain", "f8"), ("target", "i8")])
        owners = np.array(self._owners)
        order = np.argsort(owners, kind="stable")
        firsts = np.flatnonzero(np.diff(owners[order], prepend=-1))
        deciding = owners[order][firsts]

        def sweep(values: FloatArray) -> FloatArray:
            worth = ways["chance"] * (ways["gain"] + self._discount * values[ways["target"]])
            choices = np.bincount(ways["choice"], weights=worth, minlength=len(owners))
            updated = values.copy()
            updated[deciding] = np.maximum.reduceat(choices[order], firsts)
            return updated

        if self._horizon is not None:
            table = [values]
            for _ in range(self._horizon):
                table.append(sweep(table[-1]))
            self.sweeps = self._horizon
            return table
        # A change of d in one sweep leaves at most d * discount / (1 - discount) to come.
        enough = tolerance * (1.0 - self._discount) / self._discount if 0.0 < self._discount < 1.0 else tolerance
        for _ in range(_MOST_SWEEPS):
            updated = sweep(values)
            self.sweeps += 1
            changed = float(np.max(np.abs(updated - values)))
            values = updated
            if changed <= enough:
                return [values]
        raise GameError(
            f"the values did not converge in {_MOST_SWEEPS:,} sweeps: "
            "a game that may never end needs a discount below 1, or a horizon"
        )


def _key(position: Position) -> Hashable:
    return int(position.state.key()) & (2**64 - 1) if position.game.has("key") else position.record.tobytes()


def _behind_chance(position: Position, depth: int = 0) -> list[tuple[float, float, Position]]:
    """Yield the next decision or terminal positions: probability, rewards of chance on the path, and position."""
    if position.is_terminal or position.player != CHANCE:
        return [(1.0, 0.0, position)]
    if depth > position.game.facts.max_length:
        raise GameError(f"chance decides in {position.game.name} without an end\n{position}")
    found = []
    for outcome, chance in position.outcomes():
        following = position.apply(outcome)
        gained = following.step_rewards[0]
        found += [
            (chance * further, gained + gain, resolved)
            for further, gain, resolved in _behind_chance(following, depth + 1)
        ]
    return found
