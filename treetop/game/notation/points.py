"""The points of SGF on the boards of our games. Column 0 is the left one, row 0 the top one, as in SGF."""

from __future__ import annotations

from treetop.game.definition import Game

BLACK = "X"
"""The letter of the first player on our boards."""
FAMILIES = {"go": 1, "othello": 2, "gomoku": 4, "hex": 11}
"""The games that are read and written, and their numbers in SGF."""
PASSES = ("go", "othello")
_FROM_THE_TOP = ("othello", "hex")
"""Games whose first row is the top one."""


def size_of(game: Game) -> int:
    """Return the number of rows of a board.

    >>> import treetop as tt
    >>> size_of(tt.load_game("go(size=13)"))
    13
    """
    return int(game.parameters["size"])


def move_at(game: Game, column: int, row: int) -> str:
    """Return the name of the move to a point.

    >>> import treetop as tt
    >>> move_at(tt.load_game("go"), 8, 0), move_at(tt.load_game("othello"), 2, 3)
    ('J9', 'c4')
    """
    letter = "ABCDEFGHJKLMNOPQRSTUVWXYZ"[column] if game.family == "go" else "abcdefghijklmnopqrstuvwxyz"[column]
    return f"{letter}{row + 1 if game.family in _FROM_THE_TOP else size_of(game) - row}"


def point_of(game: Game, move: str) -> str:
    """Return the point of a move in SGF; a pass is an empty text.

    >>> import treetop as tt
    >>> point_of(tt.load_game("go"), "J9"), point_of(tt.load_game("go"), "pass")
    ('ia', '')
    """
    if move == "pass":
        return ""
    size, letters = size_of(game), "abcdefghijklmnopqrstuvwxyz"
    column = "ABCDEFGHJKLMNOPQRSTUVWXYZ".index(move[0]) if game.family == "go" else letters.index(move[0])
    row = int(move[1:]) - 1
    return letters[column] + letters[row if game.family in _FROM_THE_TOP else size - 1 - row]
