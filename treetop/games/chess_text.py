"""Texts of chess, in plain Python: positions in FEN, diagrams, moves in UCI and in algebraic notation.

Cells are a list of 64 letters as in FEN, "" for an empty square; square 0 is a1, 1 is b1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from treetop.games.chess_tables import DELTAS, PROMOTIONS
from treetop.games.ranks import write_ranks

FILES = "abcdefgh"
KINDS = "pnbrqk"
GLYPHS = dict(zip("KQRBNPkqrbnp", "♔♕♖♗♘♙♚♛♜♝♞♟", strict=True))
_LETTERS = {"0000": "k", "1000": "p", "0100": "n", "0010": "b", "0001": "r", "0011": "q"}
_SIDES = {"w": "White", "b": "Black"}
_SQUARE = re.compile("[a-h][1-8]")
_UCI = re.compile("([a-h][1-8])([a-h][1-8])([qrbn]?)", re.IGNORECASE)
_SAN = re.compile("([KQRBN]?)([a-h]?)([1-8]?)[x:-]?([a-h][1-8])(?:=?([QRBN]))?[+#]*[!?]*")
_CASTLING = re.compile("([O0o])-\\1(-\\1)?[+#]*[!?]*")
_MOST_MOVES = 256  # a position has at most 218


class Setup(NamedTuple):
    """What a FEN says."""

    cells: list[str]
    black: bool
    """Whether Black is to move."""
    castles: list[int]
    """The squares of the rooks with which their kings may still castle."""
    passing: int
    """The square that a pawn has just passed, or -1."""
    clock: int
    turn: int


class Move(NamedTuple):
    """A legal move, as notations see it."""

    piece: str
    """A letter of PNBRQK."""
    start: int
    end: int
    """Of castling, the square of the king afterwards."""
    promotion: str
    """A letter of QRBN, or nothing."""
    castling: int
    """The square of the rook, or -1."""


def name_of(square: int) -> str:
    """Return the name of a square.

    >>> name_of(0), name_of(60)
    ('a1', 'e8')
    """
    return f"{FILES[square % 8]}{square // 8 + 1}"


def square_of(name: str) -> int:
    """Return the square with a name."""
    return 8 * (int(name[1]) - 1) + FILES.index(name[0])


# States of the game, whose boards are seen by the player to move.


def setup_of(state: Any) -> Setup:
    """Return the position of a state."""
    turned = 56 * state.player
    mine, both = int(state.mine), int(state.mine) | int(state.theirs)
    cells = [""] * 64
    for square in range(64):
        if both >> square & 1:
            letter = _piece_on(state, square)
            cells[square ^ turned] = letter if (mine >> square & 1) == state.player else letter.upper()
    castles = [square ^ turned for square in range(64) if int(state.castles) >> square & 1]
    passing = state.passing ^ turned if state.passing >= 0 else -1
    return Setup(cells, bool(state.player), castles, passing, state.clock, state.turn)


def _piece_on(state: Any, square: int) -> str:
    """Return the kind of the piece on a square, a letter of pnbrqk."""
    boards = state.pawns, state.knights, state.diagonal, state.straight
    return _LETTERS["".join(str(int(board) >> square & 1) for board in boards)]


def move_of(state: Any, action: int) -> Move:
    """Return an action of a state as notations see it."""
    start, plane = action % 64, action // 64
    end, turned = start + int(DELTAS[plane]), 56 * state.player
    piece = _piece_on(state, start).upper()
    rook = end ^ turned if int(state.mine) >> end & 1 else -1
    if rook >= 0:
        end = 6 if end > start else 2
    promotion = ""
    if piece == "P" and end >= 56:
        promotion = "NBR"[(plane - PROMOTIONS) // 3] if plane >= PROMOTIONS else "Q"
    return Move(piece, start ^ turned, end ^ turned, promotion, rook)


def legal_moves(state: Any) -> dict[int, Move]:
    """Return the legal moves of a state by their actions."""
    out = np.zeros(_MOST_MOVES, np.int32)
    return {int(action): move_of(state, int(action)) for action in out[: state.legal_actions(out)]}


def boards_of(cells: Sequence[str], black: bool) -> list[int]:
    """Return the boards of a state, in which `black` is to move or not: own pieces, those of the opponent, pawns,
    knights, diagonal and straight pieces.
    """

    def board(letters: str) -> int:
        return sum(1 << (square ^ 56 * black) for square, cell in enumerate(cells) if cell and cell in letters)

    sides = [board("KQRBNP"), board("kqrbnp")]
    return [sides[black], sides[not black], *(board(letters) for letters in ("Pp", "Nn", "BbQq", "RrQq"))]


# Positions.


def write_fen(setup: Setup, *, is_960: bool) -> str:
    """Return a position as FEN; the rooks that may castle in Chess960 as X-FEN: KQkq, files where rooks are outside."""
    ranks = write_ranks([setup.cells[8 * rank : 8 * rank + 8] for rank in range(7, -1, -1)])
    return (
        f"{ranks} {'wb'[setup.black]} {_write_castles(setup, is_960=is_960)} "
        f"{name_of(setup.passing) if setup.passing >= 0 else '-'} {setup.clock} {setup.turn}"
    )


def _write_castles(setup: Setup, *, is_960: bool) -> str:
    found = ""
    for black in (False, True):
        king, rooks, first = _back_rank(setup.cells, black=black)
        for rook in sorted((square for square in setup.castles if square // 8 == first // 8), reverse=True):
            outer = max(rooks) if rook > king else min(rooks)
            letter = ("K" if rook > king else "Q") if rook == outer or not is_960 else FILES[rook % 8].upper()
            found += letter.lower() if black else letter
    return found or "-"


def _back_rank(cells: Sequence[str], *, black: bool) -> tuple[int, list[int], int]:
    """Return the square of a king on its own back rank, or -1, those of the rooks there, and the first of the rank."""
    first, king, rook = (56, "k", "r") if black else (0, "K", "R")
    rank = range(first, first + 8)
    return (
        next((square for square in rank if cells[square] == king), -1),
        [square for square in rank if cells[square] == rook],
        first,
    )


def write_diagram(setup: Setup, *, is_960: bool) -> str:
    """Return a diagram with coordinates, and the FEN in the last line."""
    ranks = [
        " ".join([str(rank + 1), *(cell or "." for cell in setup.cells[8 * rank : 8 * rank + 8])])
        for rank in range(7, -1, -1)
    ]
    return "\n".join([*ranks, " ".join([" ", *FILES]), write_fen(setup, is_960=is_960)])


def read_position(text: str, *, is_960: bool) -> Setup:
    """Return what a FEN says, or a diagram with the FEN below it; raise ValueError if it is none of a legal position.

    >>> read_position("8/8/8/8/8/4k3/8/4K2R w K - 0 1", is_960=False).castles
    [7]
    """
    *above, last = [line.strip() for line in text.strip().splitlines() if line.strip()] or [""]
    setup = read_fen(last, is_960=is_960)
    if above and [line.split() for line in above] != [
        line.split() for line in write_diagram(setup, is_960=is_960).splitlines()[:-1]
    ]:
        raise ValueError("the diagram and the FEN in the last line show different positions; remove one of them")
    return setup


def read_fen(text: str, *, is_960: bool) -> Setup:
    """Return what a FEN says. The two counters at its end may be left out."""
    parts = text.split()
    if len(parts) not in (4, 6):
        raise ValueError(
            "a FEN has the ranks of pieces, the side to move, castling, en passant and two counters, as in "
            f"'4k3/8/8/8/8/8/8/4K2R w K - 0 1'; not {text!r}"
        )
    cells = _read_cells(parts[0])
    _check_pieces(cells)
    if parts[1] not in _SIDES:
        raise ValueError(f"the side to move, after the ranks, must be w or b, not {parts[1]!r}")
    black = parts[1] == "b"
    counters = parts[4:] or ["0", "1"]
    if not all(re.fullmatch("[0-9]{1,4}", counter) for counter in counters):
        raise ValueError(f"the two counters at the end of a FEN are whole numbers, not {' '.join(counters)!r}")
    clock, turn = (int(counter) for counter in counters)
    if clock > 100:
        raise ValueError(f"after 100 moves without a capture or a pawn's move the game is over; the FEN says {clock}")
    castles = _read_castles(parts[2], cells, is_960=is_960)
    return Setup(cells, black, castles, _read_passing(parts[3], cells, black=black), clock, max(1, turn))


def _read_cells(text: str) -> list[str]:
    ranks = text.split("/")
    if len(ranks) != 8:
        raise ValueError(f"a FEN has eight ranks separated by slashes, from rank 8 down; {text!r} has {len(ranks)}")
    cells: list[str] = []
    for number, rank in zip(range(8, 0, -1), ranks, strict=True):
        strange = next((letter for letter in rank if letter.lower() not in KINDS and letter not in "12345678"), None)
        if strange is not None:
            raise ValueError(
                f"{strange!r} in rank {number} is neither a piece (one of KQRBNPkqrbnp) nor a number of 1-8"
            )
        filled = [cell for letter in rank for cell in ([""] * int(letter) if letter.isdigit() else [letter])]
        if len(filled) != 8:
            raise ValueError(f"rank {number}, {rank!r}, has {len(filled)} squares in place of 8")
        cells = filled + cells
    return cells


def _check_pieces(cells: list[str]) -> None:
    count = Counter(cells)
    for letter, side in (("K", "White"), ("k", "Black")):
        if count[letter] != 1:
            raise ValueError(f"{side} has {count[letter] or 'no'} kings in place of one")
    for square in (*range(8), *range(56, 64)):
        if cells[square] in ("P", "p"):
            raise ValueError(f"a pawn cannot stand on {name_of(square)}: it moves up from rank 2 (or 7) and promotes")
    for kinds, side in ((KINDS.upper(), "White"), (KINDS, "Black")):
        pawns = count[kinds[0]]
        promoted = sum(max(0, count[letter] - most) for letter, most in zip(kinds[1:5], (2, 2, 2, 1), strict=True))
        if pawns > 8:
            raise ValueError(f"{side} has {pawns} pawns; there are at most 8")
        if pawns + promoted > 8:
            raise ValueError(
                f"{side} has {promoted} more pieces than at the start and {pawns} pawns: only {8 - pawns} pawns can "
                "have been promoted"
            )


def _read_castles(text: str, cells: list[str], *, is_960: bool) -> list[int]:
    found: list[int] = []
    for letter in text if text != "-" else "":
        king, rooks, first = _back_rank(cells, black=letter.islower())
        side, kind = "Black" if letter.islower() else "White", letter.lower()
        if kind not in "kq" + FILES:
            raise ValueError(f"the rights to castle are letters of KQkq (or files such as HAha), or -; not {text!r}")
        right, left = [square for square in rooks if square > king], [square for square in rooks if square < king]
        rook = (right or [-1])[-1] if kind == "k" else (left or [-1])[0]
        rook = first + FILES.index(kind) if kind in FILES else rook
        if king < 0 or rook not in rooks or (not is_960 and (king % 8 != 4 or rook % 8 not in (0, 7))):
            raise ValueError(f"{side} cannot castle by {letter!r}: the king or the rook is not on its square")
        if any(other // 8 == rook // 8 and (other > king) == (rook > king) for other in found):
            raise ValueError(f"{text!r} gives {side} two rights to castle to the same side")
        found.append(rook)
    return found


def _read_passing(text: str, cells: list[str], *, black: bool) -> int:
    if text == "-":
        return -1
    if not _SQUARE.fullmatch(text):
        raise ValueError(f"the square of a capture en passant, or -, must follow the castling rights, not {text!r}")
    square, ahead = square_of(text), -8 if black else 8
    if square // 8 != (2 if black else 5) or cells[square] or cells[square + ahead]:
        raise ValueError(f"no pawn can have passed {text} by a step of two squares")
    if cells[square - ahead] != ("P" if black else "p"):
        raise ValueError(f"there is no pawn on {name_of(square - ahead)} that can be captured en passant on {text}")
    return square


# Moves.


def write_uci(move: Move, *, is_960: bool) -> str:
    """Return a move as in UCI: squares of departure and arrival, and a promotion; in Chess960 the king takes its rook.

    >>> write_uci(Move("P", 52, 60, "Q", -1), is_960=False)
    'e7e8q'
    """
    end = move.castling if is_960 and move.castling >= 0 else move.end
    return f"{name_of(move.start)}{name_of(end)}{move.promotion.lower()}"


def write_san(move: Move, legal: Sequence[Move], *, taking: bool) -> str:
    """Return a move in algebraic notation, without the sign of a check; `legal` are all legal moves.

    The file of departure is added where another piece of the kind can move to the same square, the rank where such a
    piece stands on the same file, both where neither is enough.

    >>> knights = [Move("N", 1, 18, "", -1), Move("N", 35, 18, "", -1)]
    >>> write_san(knights[0], knights, taking=False)
    'Nbc3'
    """
    if move.castling >= 0:
        return "O-O" if move.castling > move.start else "O-O-O"
    start = name_of(move.start)
    if move.piece == "P":
        before = start[0] if taking else ""
    else:
        others = [name_of(one.start) for one in legal if (one.piece, one.end) == (move.piece, move.end)]
        others = [name for name in others if name != start]
        same_file = any(name[0] == start[0] for name in others)
        same_rank = any(name[1] == start[1] for name in others)
        before = move.piece + start[0] * (bool(others) and (same_rank or not same_file)) + start[1] * same_file
    return f"{before}{'x' * taking}{name_of(move.end)}{f'={move.promotion}' if move.promotion else ''}"


def find_move(text: str, legal: list[Move], *, is_960: bool) -> int:
    """Return which of the legal moves a text describes, in UCI or algebraic notation; raise ValueError if none."""
    uci = _UCI.fullmatch(text)
    if uci:
        start, end = square_of(uci[1].lower()), square_of(uci[2].lower())
        found = [
            index
            for index, move in enumerate(legal)
            if move.start == start
            and move.promotion == uci[3].upper()
            and end in ((move.castling,) if is_960 and move.castling >= 0 else (move.end, move.castling))
        ]
    elif castling := _CASTLING.fullmatch(text):
        file = 2 if castling[2] else 6
        found = [index for index, move in enumerate(legal) if move.castling >= 0 and move.end % 8 == file]
    elif san := _SAN.fullmatch(text):
        piece, file_name, rank, end_name, promotion = san.groups(default="")
        found = [
            index
            for index, move in enumerate(legal)
            if move.castling < 0
            and move.piece == (piece or "P")
            and move.promotion == promotion
            and name_of(move.end) == end_name
            and name_of(move.start)[0] == (file_name or name_of(move.start)[0])
            and name_of(move.start)[1] == (rank or name_of(move.start)[1])
        ]
    else:
        raise ValueError(f"{text!r} is neither a move such as g1f3 or e7e8q nor one such as Nf3, exd5 or O-O")
    if len(found) != 1:
        many = ", ".join(write_uci(legal[index], is_960=is_960) for index in found)
        raise ValueError(f"{text!r} may be {many}" if found else f"{text!r} is not legal here")
    return found[0]
