"""The base class of most players: a name, a seat, the seed of the game, and nothing to close."""

from __future__ import annotations

from typing import Any

from treetop.compiler.rng import mix
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.players.clock import ClockTimes
from treetop.players.protocol import Choice
from treetop.types import SIMULTANEOUS


class BasePlayer:
    """A player that decides by the position alone. Subclasses implement `choose`.

    >>> import treetop as tt
    >>> class First(tt.players.BasePlayer):
    ...     def choose(self, position):
    ...         return position.legal_actions()[0]
    >>> First("first").choose(tt.position("nim"))
    0
    """

    clairvoyant = False
    """Whether it asks for positions in which hidden information is revealed."""

    def __init__(self, name: str) -> None:
        self.name = name
        """The player's name in results."""
        self.seat = 0
        """Its number in the game; set before `begin`."""
        self.clock: ClockTimes | None = None
        """The times of a game with a clock; set before each move."""
        self._seed = 0

    def prepare(self, game: Game) -> None:
        """Get ready to play a game, before any clock runs: compile, start processes. A second call costs nothing."""

    def begin(self, start: Position, seed: int) -> None:  # noqa: ARG002 - the shape of the protocol
        """Begin a new game at a position. Everything random that follows comes from the seed."""
        self._seed = seed

    def choose(self, position: Position) -> Choice:
        """Return the action to play in a position where this player is to move."""
        raise NotImplementedError

    def observe(self, action: Any) -> None:
        """Observe what was played by this player, by another, by chance, or by all players simultaneously."""

    def close(self) -> None:
        """Release everything: the player is no longer needed."""

    def seed_at(self, position: Position) -> int:
        """Return a separate seed for each move of the game, so that a move does not depend on how much randomness
        earlier ones used.

        With imperfect information it comes from what the player has observed, since it may not know the history.
        """
        seed = mix(mix(self._seed) + len(position.actions))
        return mix(seed ^ position.information(self.chooser(position))) if position.game.has("information") else seed

    def chooser(self, position: Position) -> int:
        """Return the player it chooses for: the player to move, or its own seat in a simultaneous move."""
        return self.seat if position.player == SIMULTANEOUS else position.player

    def __repr__(self) -> str:
        return f"<player {self.name}>"
