"""A recorded game as a line of positions."""

from __future__ import annotations

from typing import Any

from treetop.arena.openings import start_of
from treetop.errors import ConfigError, TreetopError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.journal import Record
from treetop.serve.run_games import Games
from treetop.types import CHANCE

_LONGEST_SETUP = 10_000  # characters
_MOST_PLIES = 2000  # moves and outcomes of chance of a game that are replayed


class Recorded:
    """A recorded game. A file is data: every action is checked by the rules when it is played again."""

    def __init__(self, content: Games, record: Record) -> None:
        self.game, self.rules, self.seed = content.game, content.header.get("rules"), int(content.header["seed"])
        self._deal = content.deal_of(record)
        self._setup = record.get("setup")
        self._opening, self._actions = (self._list(record, name) for name in ("opening", "actions"))

    @staticmethod
    def _list(record: Record, name: str) -> list[Any]:
        found = record.get(name, [])
        return found if isinstance(found, list) else []

    def line(self, game: Game) -> tuple[list[Position], int, int]:
        """Return the positions at which a player moves, and the last one; the place where the opening ends; and how
        many further moves are left out.
        """
        begin = start_of(game, self.seed, self._deal)
        position = begin if self._setup is None else Position.parse(game, self._setup[:_LONGEST_SETUP])
        positions, actions = [position], [*self._opening, *self._actions]
        for place, action in enumerate(actions[:_MOST_PLIES]):
            try:
                position = position.apply(action)
            except TreetopError as error:
                reason = str(error).partition("\n")[0]
                raise ConfigError(
                    f"the record does not fit the rules of {game.name}: move {place + 1}: {reason}"
                ) from None
            positions.append(position)
        line = [one for one in positions if one.is_terminal or one.player != CHANCE] or positions[-1:]
        opening = sum(len(one.actions) < len(self._opening) for one in line)
        return line, min(opening, len(line) - 1), max(0, len(actions) - _MOST_PLIES)
