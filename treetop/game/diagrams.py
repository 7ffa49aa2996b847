"""Positions as diagrams, for the method `parse` of board games."""

from __future__ import annotations

_SIDES = "XO"


def read_diagram(text: str, height: int, width: int, files: str, *, pieces: str = "XO") -> tuple[list[str], str]:
    """Return the rows of a diagram, the top row first, and the player to move after them: X, O or an empty text.

    Rows stand in lines or between slashes, as letters of `pieces` and dots; blanks, the numbers of rows and a line of
    the letters of columns, `files`, are skipped, so what `render` prints can be read. Small letters are read as capital
    ones unless some are pieces too. A wrong diagram is a ValueError.

    >>> read_diagram(" 2 X .  1 . o X", 2, 2, "ab")
    Traceback (most recent call last):
        ...
    ValueError: the diagram needs 2 rows of 2 cells, each X, O or a dot; not ' 2 X .  1 . o X'
    >>> read_diagram("x. / .o X to move", 2, 2, "ab")
    (['X.', '.O'], 'X')
    """
    lines = ["".join(line.split()) for line in text.partition("game over")[0].replace("/", "\n").splitlines()]
    lines = [line.strip("0123456789").removesuffix("tomove") for line in lines if line.upper() != files[:width].upper()]
    rows = [line.upper() if pieces.isupper() else line for line in lines if line]
    side = rows.pop() if len(rows) == height + 1 else rows[-1][width:] if rows else ""
    rows[-1:] = [row[:width] for row in rows[-1:]]
    if [len(row) for row in rows] != [width] * height or set("".join(rows)) - set(pieces + "."):
        raise ValueError(
            f"the diagram needs {height} rows of {width} cells, each {', '.join(pieces)} or a dot; not {text!r}"
        )
    if side.upper() not in ("", *_SIDES):
        raise ValueError(f"the player to move, after the rows, must be X or O, not {side!r}")
    return rows, side.upper()
