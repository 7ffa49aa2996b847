"""What a player is: told when a game begins and what is played, asked for moves, closed at the end."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from treetop.game.position import Position


@runtime_checkable
class Player(Protocol):
    """Somebody who plays. One object plays one game at a time, and any number one after the other."""

    name: str
    """How results name this player."""

    def begin(self, start: Position, seed: int) -> None:
        """A new game begins at a position. Everything random that follows comes from the seed."""
        ...

    def choose(self, position: Position) -> int:
        """The action to play in a position where this player is to move. A player that cannot raises a `PlayerError`."""
        ...

    def observe(self, action: int) -> None:
        """An action was played, by this player or by another one."""
        ...

    def close(self) -> None:
        """The player is not needed any more: end processes, close files. May be called twice."""
        ...
