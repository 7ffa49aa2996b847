"""Positions of xiangqi as text: the ranks of a FEN, or a diagram."""

from __future__ import annotations

import re
from typing import Any

from treetop.games.ranks import read_ranks, write_ranks
from treetop.games.xiangqi_moves import FILES, LETTER_OF, LETTERS, PIECES, SIDES, SQUARES, allows


def rows_of(state: Any) -> list[list[str]]:
    """Return the letters of the pieces, the top rank first: capitals for red."""
    letters = ["", *LETTER_OF, *LETTER_OF.lower()]
    return [[letters[state.cells[9 * rank + file]] for file in range(9)] for rank in reversed(range(10))]


def fen_of(state: Any) -> str:
    """Return a position as FEN, with the moves since the last capture; the number of the move is not known."""
    return f"{write_ranks(rows_of(state))} {'wb'[state.player]} - - {state.quiet} 1"


def read_position(text: str) -> tuple[list[list[str]], int, int]:
    """Return the rows of a FEN or a diagram, the player to move, and the moves since the last capture."""
    rows, words = read_ranks(text, 9, 10, f"[{LETTERS}{LETTERS.lower()}]")
    side = words[0].lower() if words else ""
    player = 0 if side in ("w", "r", "red") else 1 if side in ("b", "black") else -1
    if player < 0:
        raise ValueError(f"the player to move, after the ranks, is w (red) or b (black), not {side!r}")
    found = re.search(r"\b(\d+) moves? without", text)
    count = found[1] if found else words[3] if len(words) > 3 and words[1] != "to" else "0"
    if re.fullmatch(r"\d{1,4}", count) is None:
        raise ValueError(f"the number of moves since the last capture must be a whole number, not {count!r}")
    return rows, player, int(count)


def numbered(rows: list[list[str]]) -> list[tuple[int, int, int]]:
    """Return the number, the square and the side of each piece; raise ValueError for an impossible position."""
    found = []
    for side, name in enumerate(SIDES):
        for letter in LETTERS:
            sign = letter if side == 0 else letter.lower()
            numbers = [piece for piece in range(PIECES) if LETTER_OF[piece] == letter]
            seen = [
                square if side == 0 else 89 - square
                for square in range(SQUARES)
                if rows[9 - square // 9][square % 9] == sign
            ]
            if len(seen) > len(numbers) or (letter == "K" and not seen):
                raise ValueError(f"{name} has {len(seen)} pieces {sign}; there are {len(numbers)} in a game")
            for square in seen:
                if not _may_stand(letter, square):
                    raise ValueError(f"{name}'s {sign} can never stand on {square_name(square, side)}")
            if letter == "P" and len({square % 9 for square in seen if square < 45}) < sum(
                square < 45 for square in seen
            ):
                raise ValueError(f"{name} has two pawns {sign} on one file before the river")
            found += [
                (piece, square if side == 0 else 89 - square, side)
                for piece, square in zip(numbers, sorted(seen), strict=False)
            ]
    return found


def _may_stand(letter: str, square: int) -> bool:
    """Return whether a piece can ever stand on a square, seen from its own side."""
    rank, file = divmod(square, 9)
    if letter == "P":
        return rank >= 5 or (rank >= 3 and file % 2 == 0)
    steps = {"K": 16, "A": 12, "B": 8}
    return letter not in steps or (rank < 5 and any(allows(steps[letter] + step, square) for step in range(4)))


def square_name(square: int, side: int) -> str:
    """Return the name of a square that is seen from a side."""
    square = square if side == 0 else 89 - square
    return f"{FILES[square % 9]}{square // 9 + 1}"
