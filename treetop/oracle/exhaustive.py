"""Exact values of small games, by looking at every position once. In plain Python: the oracle shares nothing with the search."""

from __future__ import annotations

from collections.abc import Iterator

from treetop.errors import GameError
from treetop.game.position import Position


class Exhaustive:
    """Remembers the exact outcome of every position that it was ever asked about, and of all below.

    Each player takes what is best for themselves. Where several moves are, the first one counts, which for two-player zero-sum games
    makes no difference to the values.
    """

    def __init__(self, max_positions: int = 2_000_000) -> None:
        self._known: dict[bytes, tuple[float, ...]] = {}
        self._max_positions = max_positions

    def values(self, position: Position) -> tuple[float, ...]:
        """What each player receives when all play perfectly."""
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
        return max((self.values(position.apply(action)) for action in position.legal_actions()), key=lambda values: values[player])

    def best_actions(self, position: Position) -> list[int]:
        """The actions that keep the value of the position for the player to move."""
        player, value = position.player, self.values(position)[position.player]
        return [action for action in position.legal_actions() if self.values(position.apply(action))[player] == value]


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
