"""The recommended player of each bundled game: the table is in `treetop/games/__init__.py`."""

from __future__ import annotations

from typing import Any

from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.game.registry import load_game
from treetop.games import RECOMMENDED, Recommended


def recommended(game: str | Game | Family[...] | type[Any]) -> str:
    """Return the spec of the recommended player of a bundled game, with its limit.

    `treetop games NAME` also shows its measured strength.

    >>> recommended("nim")
    'uct(simulations=1000, solver=True)'
    """
    found = load_game(game)
    entry = recommendation(found)
    if entry is None:
        raise ConfigError(
            f"{found.name} is not a bundled game, so it has no recommended player: name one, such as "
            "uct(simulations=1000)"
        )
    return entry.player


def recommendation(game: Game) -> Recommended | None:
    """Return the recommended player of a game with its measured strength; None for a game that is not bundled."""
    return RECOMMENDED[game.cls.__module__.rpartition(".")[2]] if game.is_bundled else None
