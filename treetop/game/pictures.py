"""The picture of a position, by the methods of its game."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treetop.errors import ConfigError, GameError
from treetop.game.boards import Picture, Text
from treetop.game.contract import call

if TYPE_CHECKING:
    from treetop.game.position import Position


def picture_of(position: Position, player: int | None) -> Picture:
    """Return the picture of a position, for a player or complete.

    A game without `board` is shown as text; so is, to a player, one that has `render_for` and no `board_for`.
    """
    game, state = position.game, position.state
    hides = player is not None and (game.has("board_for") or game.has("render_for"))
    method = "board_for" if hides else "board"
    if not game.has(method):
        return Picture((Text(str(position) if player is None else position.shown_to(player)),))
    given = call(game, state, method, player) if hides else call(game, state, method)
    try:
        return Picture.of(given)
    except ConfigError as error:
        raise GameError(f"{game.name}.{method} returned no board: {error}") from error
