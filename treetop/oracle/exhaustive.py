"""Exact values of small games, by visiting every position once, in plain Python: the oracle shares nothing with the
search.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from treetop import checks
from treetop.errors import GameError
from treetop.game.position import Position
from treetop.types import CHANCE, SIMULTANEOUS


class Exhaustive:
    """Computes and remembers the exact value of positions, and of all positions below them.

    A value is what each player receives from here on: immediate rewards and final ones. Each player takes the action
    that is best for themselves (max^n); of several, the first, which in two-player zero-sum games makes no difference
    to the values. Chance counts by its probabilities. In simultaneous moves of zero-sum games both players play the
    equilibrium. Hidden information is visible here: the equilibria of games of imperfect information are in
    `treetop.oracle.equilibrium`.

    The value of an action is r + discount * V: r is its immediate reward and those of the outcomes of chance that
    follow it, V the value of the next position in which a player chooses or the game is over.
    """

    def __init__(self, max_positions: int = 2_000_000, *, discount: float = 1.0) -> None:
        checks.share("discount", discount)
        self._known: dict[bytes, tuple[float, ...]] = {}
        self._max_positions = max_positions
        self._discount = discount

    def values(self, position: Position) -> tuple[float, ...]:
        """Return what each player receives from here on under perfect play."""
        key = position.record.tobytes()
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= self._max_positions:
                raise GameError(
                    f"{position.game.name} has more than {self._max_positions:,} positions: too many to visit all"
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
        """Return what each player receives from here on after each action: of the player to move, of all players
        simultaneously, or of chance.
        """
        return {action: self._after(position, action) for action in position.legal_actions()}

    def _after(self, position: Position, action: Any) -> tuple[float, ...]:
        return self._step(position, action, 1.0 if position.player == CHANCE else self._discount)

    def _step(self, position: Position, action: Any, fade: float) -> tuple[float, ...]:
        """Return the immediate rewards of an action or outcome plus what follows: `fade` is the discount of the next
        position that is not a chance node.
        """
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
                f"{position.game.name}: with simultaneous moves, exact values need two players and zero-sum rewards"
            )
        value = matrix_game(self.matrix(position)).value
        return (value, -value)

    def matrix(self, position: Position) -> list[list[float]]:
        """Return the payoffs of player 0 in a simultaneous move, with a row for each of their actions and a column for
        each of the other's.
        """
        rows, columns = position.legal_actions(0), position.legal_actions(1)
        return [[self._after(position, (row, column))[0] for column in columns] for row in rows]

    def best_actions(self, position: Position) -> list[int]:
        """Return the actions that keep the value of the position for the player to move; none if no single player
        chooses.
        """
        player = position.player
        if position.is_terminal or player in (CHANCE, SIMULTANEOUS):
            return []
        value = self.values(position)[player]
        return [action for action, values in self.action_values(position).items() if values[player] == value]


def reachable(start: Position) -> Iterator[Position]:
    """Yield every reachable position once; the same record by two paths is one position."""
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
    """Return the number of nodes of the whole game tree: chance, decision and terminal nodes. The same record by two
    paths is two nodes.
    """
    counts = [0, 0, 0]
    waiting = [start]
    while waiting:
        position = waiting.pop()
        counts[2 if position.is_terminal else 0 if position.player == CHANCE else 1] += 1
        waiting.extend(position.apply(action) for action in position.legal_actions())
    return counts[0], counts[1], counts[2]
