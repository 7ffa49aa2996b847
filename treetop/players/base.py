"""What most players share: a name, the seed of the game, and nothing to close."""

from __future__ import annotations

from treetop.compiler.rng import mix
from treetop.game.position import Position


class BasePlayer:
    """A player that decides by the position alone. Subclasses say how in `choose`."""

    def __init__(self, name: str) -> None:
        self.name = name
        """How results name this player."""
        self._seed = 0

    def begin(self, start: Position, seed: int) -> None:  # noqa: ARG002 - the shape of the protocol
        """A new game begins at a position. Everything random that follows comes from the seed."""
        self._seed = seed

    def choose(self, position: Position) -> int:
        """The action to play in a position where this player is to move."""
        raise NotImplementedError

    def observe(self, action: int) -> None:
        """An action was played, by this player or by another one."""

    def close(self) -> None:
        """The player is not needed any more."""

    def seed_at(self, position: Position) -> int:
        """A seed of its own for each move of the game, so that a move does not depend on how much chance the earlier ones used."""
        return mix(mix(self._seed) + len(position.actions))

    def __repr__(self) -> str:
        return f"<player {self.name}>"
