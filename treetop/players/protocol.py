"""The interface of a player: `begin` a game, `choose` moves, `observe` what is played, `close` at the end."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from treetop.game.definition import Game
from treetop.game.position import Position

Choice = int | tuple[float, ...]
"""The action of one player: a number, or a tuple of numbers in continuous action spaces."""


@runtime_checkable
class Player(Protocol):
    """A player. One object plays one game at a time, and any number of games in sequence.

    Four more attributes are optional. `prepare(game)` is called before each game, when no clock runs: compile what
    `choose` needs, start processes, and raise an error if the player cannot play at all. `seat` is set to its number in
    the game before `begin`; in simultaneous moves a player needs it to know for whom it chooses. `clock` is set to the
    times of a game with a clock (`ClockTimes`) before each move, and to None in other games. `clairvoyant`, if
    true, asks for positions in which hidden information is revealed, and the records of its games say so; all other
    players are given positions in which the hidden part is drawn at random.

    >>> import treetop as tt
    >>> player = tt.players.make_player("random", tt.load_game("nim"))
    >>> isinstance(player, tt.Player)
    True
    >>> player.begin(tt.position("nim"), seed=1)
    >>> player.choose(tt.position("nim")) in (0, 1, 2)
    True
    """

    name: str
    """The player's name in results."""

    def begin(self, start: Position, seed: int) -> None:
        """Begin a new game at a position. Everything random that follows comes from the seed."""
        ...

    def choose(self, position: Position) -> Choice:
        """Return the action to play where this player is to move, alone or simultaneously with others. Raise a
        `PlayerError` if it cannot.
        """
        ...

    def observe(self, action: Any) -> None:
        """Observe what was played: by this player, by another, by chance, or a tuple by all simultaneously.

        With imperfect information a player observes only its own actions: the next position shows what else it may
        know.
        """
        ...

    def close(self) -> None:
        """Release everything, such as processes and files: the player is no longer needed. May be called twice."""
        ...


def prepare(player: Player, game: Game) -> None:
    """Call a player's `prepare`, if it has one."""
    if callable(method := getattr(player, "prepare", None)):
        method(game)
