"""What most players share: a name, a seat, the seed of the game, and nothing to close."""

from __future__ import annotations

from typing import Any

from treetop.compiler.rng import mix
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.players.player import Choice
from treetop.types import SIMULTANEOUS


class BasePlayer:
    """A player that decides by the position alone. Subclasses say how in `choose`."""

    clairvoyant = False
    """Whether it asks for positions with everything hidden laid open."""

    def __init__(self, name: str) -> None:
        self.name = name
        """How results name this player."""
        self.seat = 0
        """Its number in the game; set before `begin`."""
        self._seed = 0

    def prepare(self, game: Game) -> None:
        """Get ready to play a game, before any clock runs: compile, start processes. A second call costs nothing."""

    def begin(self, start: Position, seed: int) -> None:  # noqa: ARG002 - the shape of the protocol
        """A new game begins at a position. Everything random that follows comes from the seed."""
        self._seed = seed

    def choose(self, position: Position) -> Choice:
        """What to play in a position where this player is to choose."""
        raise NotImplementedError

    def observe(self, action: Any) -> None:
        """Something was played, by this player, by another one, by chance, or by all at once."""

    def close(self) -> None:
        """The player is not needed any more."""

    def seed_at(self, position: Position) -> int:
        """A seed of its own for each move of the game, so that a move does not depend on how much chance the earlier ones used.

        Where something is hidden it comes from what the player has seen, since the history is not theirs to know.
        """
        seed = mix(mix(self._seed) + len(position.actions))
        return mix(seed ^ position.information(self.chooser(position))) if position.game.has("information") else seed

    def chooser(self, position: Position) -> int:
        """For whom it chooses: the player to move, or its own seat where all choose at once."""
        return self.seat if position.player == SIMULTANEOUS else position.player

    def __repr__(self) -> str:
        return f"<player {self.name}>"
