"""Positions as programs send them: a start and all moves since, anew with each move."""

from __future__ import annotations

import re
from collections.abc import Sequence

from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.position import Position


class Replay:
    """The positions of a game; of a longer line of moves, only the new ones are played.

    >>> import treetop as tt
    >>> replay = Replay(tt.load_game("tic_tac_toe"))
    >>> replay.position(None, ["a1", "b2"]).player, replay.position(None, ["a1", "b2", "c3"]).player
    (0, 1)
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self._set_up: str | None = None
        self._moves, self._positions = list[str](), [Position.start(game)]

    def position(self, set_up: str | None, moves: Sequence[str]) -> Position:
        """Return the position after moves from a set-up, None for the start; raise a TreetopError for a wrong one."""
        same, positions = 0, self._positions
        if set_up != self._set_up:
            positions = [Position.start(self.game) if set_up is None else Position.parse(self.game, set_up)]
        else:
            while same < min(len(moves), len(self._moves)) and moves[same] == self._moves[same]:
                same += 1
        positions = positions[: same + 1]
        for move in moves[same:]:
            positions.append(resumed(positions[-1]).play([move]))
        self._set_up, self._moves, self._positions = set_up, list(moves), positions
        return resumed(positions[-1])


def resumed(position: Position) -> Position:
    """Return the position from which a game goes on that is over by our rules, such as a draw that must be claimed.

    A position is read anew from its text, without its history and its counters. Where it is over still, as after a
    checkmate, it is returned itself.

    >>> import treetop as tt
    >>> third = tt.position("chess", moves="Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8")
    >>> third.is_terminal, resumed(third).is_terminal
    (True, False)
    """
    if not position.is_terminal or not position.game.has("parse"):
        return position
    text = str(position)
    for one in (text, re.sub(r"( [0-9]+)+\s*$", "", text)):
        try:
            found = Position.parse(position.game, one)
        except ConfigError:
            continue
        if not found.is_terminal:
            return found
    return position
