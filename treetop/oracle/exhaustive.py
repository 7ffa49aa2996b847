"""Exact values of small games, by looking at every position once. In plain Python: the oracle shares nothing with the search."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from treetop import checks
from treetop.errors import GameError
from treetop.game.position import Position
from treetop.types import CHANCE, SIMULTANEOUS


class Exhaustive:
    """Remembers the exact value of every position that it was ever asked about, and of all below.

    A value is what comes from here on, for each player: the rewards on the way and those of the end. Each player takes what is best for themselves;
    where several moves are, the first one counts, which for two-player zero-sum games makes no difference to the values. Chance counts by its
    probabilities. Where two choose at once, for rewards that add up to zero, both play the equilibrium. What is hidden lies open here:
    the equilibria of hidden games are in `treetop.oracle.equilibrium`.

    An action is worth r + discount * V: r is its immediate reward and those of the outcomes of chance that follow it, V the value of the next position in
    which a player chooses or the game is over.
    """

    def __init__(self, max_positions: int = 2_000_000, *, discount: float = 1.0) -> None:
        checks.share("discount", discount)
        self._known: dict[bytes, tuple[float, ...]] = {}
        self._max_positions = max_positions
        self._discount = discount

    def values(self, position: Position) -> tuple[float, ...]:
        """What each player receives from here on when all play perfectly."""
        key = position.record.tobytes()
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= self._max_positions:
                raise GameError(
                    f"{position.game.name} has more than {self._max_positions:,} positions: too many to look at them all"
                )
            known = tuple(position.rewards) if position.is_terminal else self._best(position)
            self._known[key] = known
        return known

    def _best(self, position: Position) -> tuple[float, ...]:
        player = position.player
        if player == CHANCE:
            return self._expect(position, 1.0)
        if player == SIMULTANEOUS:
            return self._together(position)
        return max(self.action_values(position).values(), key=lambda values: values[player])

    def action_values(self, position: Position) -> dict[Any, tuple[float, ...]]:
        """What each player receives from here on after each action: of the player to move, of all at once, or of chance."""
        return {action: self._after(position, action) for action in position.legal_actions()}

    def _after(self, position: Position, action: Any) -> tuple[float, ...]:
        return self._step(position, action, 1.0 if position.player == CHANCE else self._discount)

    def _step(self, position: Position, action: Any, fade: float) -> tuple[float, ...]:
        """What an action or outcome brings at once, and what follows: `fade` is the discount of the next position that is not chance's."""
        following = position.apply(action)
        if not following.is_terminal and following.player == CHANCE:
            later = self.values(following) if fade == 1.0 else self._expect(following, fade)
        else:
            later = tuple(fade * value for value in self.values(following))
        return tuple(step + value for step, value in zip(following.step_rewards, later, strict=True))

    def _expect(self, position: Position, fade: float) -> tuple[float, ...]:
        outcomes = [(chance, self._step(position, outcome, fade)) for outcome, chance in position.outcomes()]
        return tuple(
            math.fsum(chance * values[seat] for chance, values in outcomes)
            for seat in range(position.game.facts.players)
        )

    def _together(self, position: Position) -> tuple[float, ...]:
        from treetop.oracle.equilibrium import matrix_game

        if not position.game.facts.zero_sum:
            raise GameError(
                f"{position.game.name}: where all choose at once a value is exact for two players whose rewards add up to zero"
            )
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
