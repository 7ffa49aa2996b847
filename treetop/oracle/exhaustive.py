"""Exact values of small games, by looking at every position once. In plain Python: the oracle shares nothing with the search."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from treetop.errors import ConfigError, GameError
from treetop.game.position import Position
from treetop.types import CHANCE, SIMULTANEOUS


class Exhaustive:
    """Remembers the exact value of every position that it was ever asked about, and of all below.

    A value is what comes from here on, for each player: the rewards on the way and those of the end. Each player takes what is best for themselves;
    where several moves are, the first one counts, which for two-player zero-sum games makes no difference to the values. Chance counts by its
    probabilities. Where two choose at once, for rewards that add up to zero, both play the equilibrium. What is hidden lies open here:
    the equilibria of hidden games are in `treetop.oracle.equilibrium`.

    With a `discount` all that comes after a move counts that much less; an outcome of chance takes no time.
    """

    def __init__(self, max_positions: int = 2_000_000, *, discount: float = 1.0) -> None:
        if not 0.0 <= discount <= 1.0:
            raise ConfigError(f"discount must be a number from 0 to 1, not {discount!r}")
        self._known: dict[bytes, tuple[float, ...]] = {}
        self._max_positions = max_positions
        self._discount = discount

    def values(self, position: Position) -> tuple[float, ...]:
        """What each player receives from here on when all play perfectly."""
        key = position.record.tobytes()
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= self._max_positions:
                raise GameError(f"{position.game.name} has more than {self._max_positions:,} positions: too many to look at them all")
            known = tuple(position.rewards) if position.is_terminal else self._best(position)
            self._known[key] = known
        return known

    def _best(self, position: Position) -> tuple[float, ...]:
        player = position.player
        if player == CHANCE:
            outcomes = [(chance, self._after(position, outcome)) for outcome, chance in position.outcomes()]
            return tuple(math.fsum(chance * values[seat] for chance, values in outcomes) for seat in range(position.game.facts.players))
        if player == SIMULTANEOUS:
            return self._together(position)
        return max(self.action_values(position).values(), key=lambda values: values[player])

    def action_values(self, position: Position) -> dict[Any, tuple[float, ...]]:
        """What each player receives from here on after each action: of the player to move, of all at once, or of chance."""
        return {action: self._after(position, action) for action in position.legal_actions()}

    def _after(self, position: Position, action: Any) -> tuple[float, ...]:
        following = position.apply(action)
        values = self.values(following)
        fade = 1.0 if position.player == CHANCE else self._discount
        if fade == 1.0 and not position.game.has("step_rewards"):
            return values
        return tuple(step + fade * value for step, value in zip(following.step_rewards, values, strict=True))

    def _together(self, position: Position) -> tuple[float, ...]:
        from treetop.oracle.equilibrium import matrix_game

        if not position.game.facts.zero_sum:
            raise GameError(f"{position.game.name}: where all choose at once a value is exact for two players whose rewards add up to zero")
        value = matrix_game(self.matrix(position)).value
        return (value, -value)

    def matrix(self, position: Position) -> list[list[float]]:
        """Where two choose at once: what player 0 receives from here on, with a row for each of their actions and a column for each of the other's."""
        rows, columns = position.legal_actions(0), position.legal_actions(1)
        return [[self._after(position, (row, column))[0] for column in columns] for row in rows]

    def best_actions(self, position: Position) -> list[int]:
        """The actions that keep the value of the position for the player to move; none where no single player chooses."""
        player = position.player
        if position.is_terminal or player in (CHANCE, SIMULTANEOUS):
            return []
        value = self.values(position)[player]
        return [action for action, values in self.action_values(position).items() if values[player] == value]


def reachable(start: Position) -> Iterator[Position]:
    """Every position that can arise, each once; the same record by two ways is one position."""
    seen = {start.record.tobytes()}
    waiting = [start]
    while waiting:
        position = waiting.pop()
        yield position
        for action in position.legal_actions():
            following = position.apply(action)
            key = following.record.tobytes()
            if key not in seen:
                seen.add(key)
                waiting.append(following)


def count_kinds(start: Position) -> tuple[int, int, int]:
    """How many nodes the whole game tree has: of chance, of players, and ends. The same record by two ways is two nodes."""
    counts = [0, 0, 0]
    waiting = [start]
    while waiting:
        position = waiting.pop()
        counts[2 if position.is_terminal else 0 if position.player == CHANCE else 1] += 1
        waiting.extend(position.apply(action) for action in position.legal_actions())
    return counts[0], counts[1], counts[2]
