"""Positions of chess-like games as text: the ranks of a FEN, or a diagram as it is printed."""

from __future__ import annotations

import re
from collections.abc import Sequence


def read_ranks(text: str, width: int, height: int, piece: str) -> tuple[list[list[str]], list[str]]:
    """Return the squares, the top rank first, each "" or a piece, and the words that follow them.

    `piece` is a regular expression. Ranks are separated by slashes and have numbers for empty squares; or they are
    lines of `width` words with a dot for an empty square, and may have the name of the rank before or behind them. A
    line that names the files is skipped.

    >>> read_ranks("k1/1K w", 2, 2, "[Kk]")
    ([['k', ''], ['', 'K']], ['w'])
    >>> read_ranks("2 k .", 2, 1, "[Kk]")
    ([['k', '']], [])
    """
    first, *rest = text.split() or [""]
    if "/" in first:
        rows = [_squares(rank, piece) for rank in first.split("/")]
    else:
        lines = [line.split() for line in text.splitlines() if line.strip()]
        start = next((index for index, line in enumerate(lines) if "." in line or len(line) > width), 0)
        rows = [_cells(line, width, piece) for line in lines[start : start + height]]
        rest = [word for line in lines[start + height :] if not _names_files(line, width) for word in line]
    if len(rows) != height or any(len(row) != width for row in rows):
        lengths = ", ".join(str(len(row)) for row in rows)
        raise ValueError(f"a position has {height} ranks of {width} squares; here the ranks have {lengths} in {text!r}")
    return rows, rest


def write_ranks(rows: Sequence[Sequence[str]]) -> str:
    """Return the squares as in a FEN: ranks between slashes, numbers for empty squares.

    >>> write_ranks([["k", ""], ["", "K"]])
    'k1/1K'
    """
    marked = "/".join("".join(cell or "." for cell in row) for row in rows)
    return re.sub(r"\.+", lambda empty: str(len(empty.group())), marked)


def _squares(rank: str, piece: str) -> list[str]:
    found: list[str] = []
    for word in re.findall(rf"\d+|{piece}|.", rank):
        if word.isdigit():
            found += [""] * min(int(word), 100)
        elif re.fullmatch(piece, word):
            found.append(word)
        else:
            raise ValueError(f"{word!r} in the rank {rank!r} is neither a piece nor a number of empty squares")
    return found


def _cells(words: list[str], width: int, piece: str) -> list[str]:
    if len(words) == width + 1:
        words = words[1:] if words[0].isdigit() else words[:-1]
    for word in words:
        if word != "." and not re.fullmatch(piece, word):
            raise ValueError(f"{word!r} in the rank {' '.join(words)!r} is neither a piece nor a dot")
    return ["" if word == "." else word for word in words]


def _names_files(words: list[str], width: int) -> bool:
    return len(words) == width and all(len(word) == 1 for word in words)
