"""Positions in which a player chooses."""

from __future__ import annotations

from treetop.compiler.rng import Rng
from treetop.errors import GameError
from treetop.game.definition import Game
from treetop.game.position import Position, begin

_TRIES = 100  # the number of starts that are tried to find one that is not over


def first_choice(game: Game, seed: int = 0) -> Position:
    """Return the first position of a game in which a player chooses, with random outcomes of chance before it."""
    for attempt in range(_TRIES):
        rng = Rng(seed + attempt)
        position = begin(game, rng).resolve_chance(rng)
        if not position.is_terminal:
            return position
    raise GameError(f"{game.name} is over before the first choice of a player, in each of {_TRIES} starts")
