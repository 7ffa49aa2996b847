"""Set-ups of games in which stones are placed, as stones to play: GTP has no words for positions."""

from __future__ import annotations

from treetop.errors import IllegalMoveError
from treetop.game.boards import Grid
from treetop.game.position import Position

_PIECES = "XO"
"""The pieces of player 0 and player 1 on a board of discs."""


def stones_of(position: Position) -> list[tuple[int, str]] | None:
    """Return the stones of a set-up, each with its player and the name of its point, or None if they cannot be placed.

    They are placed by our own rules first, in turn and with passes where a player has fewer stones: the board must then
    be that of the set-up. So no placement captures or turns anything.

    >>> import treetop as tt
    >>> stones_of(tt.position("tic_tac_toe", setup="X . . / . O . / . . ."))
    [(0, 'a3'), (1, 'b2')]
    >>> stones_of(tt.position("othello", moves="d3")) is None
    True
    """
    grid, empty = (_grid(one) for one in (position, Position(position.game)))
    if grid is None or empty is None:
        return None
    left: dict[int, list[str]] = {0: [], 1: []}
    for row, names, before in zip(grid.rows, grid.cell_names or (), empty.rows, strict=True):
        for piece, name, first in zip(row, names, before, strict=True):
            if piece == first:
                continue
            if first or piece not in _PIECES:
                return None
            left[_PIECES.index(piece)].append(name)
    stones = [(player, name) for player in (0, 1) for name in left[player]]
    return stones if _places(position, {player: names[::-1] for player, names in left.items()}) else None


def _grid(position: Position) -> Grid | None:
    if not position.game.has("board"):
        return None
    grids = [part for part in position.picture().parts if isinstance(part, Grid)]
    return grids[0] if len(grids) == 1 and grids[0].pieces in ("discs", "marks") else None


def _places(target: Position, left: dict[int, list[str]]) -> bool:
    """Return whether placing all stones in turn gives the board of the target."""
    here = Position(target.game)
    try:
        while any(left.values()):
            here = here.play(left[here.player].pop() if left.get(here.player) else "pass")
    except IllegalMoveError:
        return False
    return here.board() == target.board()
