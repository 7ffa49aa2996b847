"""What a player is: told when a game begins and what is played, asked for moves, closed at the end."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from treetop.game.definition import Game
from treetop.game.position import Position

Choice = int | tuple[float, ...]
"""What one player plays: an action, or the numbers of one."""


@runtime_checkable
class Player(Protocol):
    """Somebody who plays. One object plays one game at a time, and any number one after the other.

    Three more attributes count where a player has them. `prepare(game)` is called before each game, when no clock runs: compile what
    `choose` needs, start processes, and raise an error where the player cannot play at all. `seat` is set to its number in the game before
    `begin`; without it a player cannot know for whom it chooses where all choose at once. `clairvoyant`, if true, asks for positions with
    everything hidden laid open, and the records of its games say so; all others are given positions in which what they cannot know is drawn
    anew.
    """

    name: str
    """How results name this player."""

    def begin(self, start: Position, seed: int) -> None:
        """A new game begins at a position. Everything random that follows comes from the seed."""
        ...

    def choose(self, position: Position) -> Choice:
        """What to play where this player is to move, or is one of those who choose at once. A player that cannot raises a `PlayerError`."""
        ...

    def observe(self, action: Any) -> None:
        """Something was played: by this player, by another one, by chance, or a tuple by all at once.

        Where something is hidden a player observes its own actions only: the next position shows what else it may know.
        """
        ...

    def close(self) -> None:
        """The player is not needed any more: end processes, close files. May be called twice."""
        ...


def prepare(player: Player, game: Game) -> None:
    """Let a player get ready for a game, where it has something to prepare."""
    if callable(method := getattr(player, "prepare", None)):
        method(game)
