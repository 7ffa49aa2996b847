"""Tic-tac-toe."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import Grid, field, game, lowest_bit, nth_bit, permute_bits, popcount, square_symmetries

# Cell (row, column) is bit 3 * row + column, counted from the bottom left: a1 is bit 0, c3 is bit 8.
_NONE, _ONE, _FULL = np.uint64(0), np.uint64(1), np.uint64(0o777)
_LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
_HAS_LINE = np.array([any(marks & line == line for line in _LINES) for marks in range(512)])
_PLACES = square_symmetries(3)  # where each cell goes


@game(players=2, num_actions=9, max_length=9, observation_shape=(3, 3, 3), symmetries=8)
class tic_tac_toe:  # noqa: N801 - the class of a bundled game has the name of the game
    """Three in a row on a board of nine cells.

    The players take turns to mark an empty cell, X first. Three marks of one player in a row, column or diagonal win; a
    full board without such a line is a draw.
    """

    marks: np.uint64 = field("u8")  # of both players
    mine: np.uint64 = field("u8")  # of the player to move
    player: int = field("i1")
    won: bool = field("bool")  # by the player who moved last

    def reset(self) -> None:
        self.marks = _NONE
        self.mine = _NONE
        self.player = 0
        self.won = False

    def legal_actions(self, out: Any) -> int:
        count = 0
        empty = _FULL & ~self.marks
        while empty != _NONE:
            out[count] = lowest_bit(empty)
            empty &= empty - _ONE
            count += 1
        return count

    def apply(self, action: int) -> None:
        mark = _ONE << np.uint64(action)
        moved = self.mine | mark
        self.won = _HAS_LINE[moved]
        self.marks |= mark
        self.mine = self.marks ^ moved
        self.player = 1 - self.player

    def is_terminal(self) -> bool:
        return self.won or bool(self.marks == _FULL)

    def rewards(self, out: Any) -> None:
        out[self.player] = -1.0 if self.won else 0.0
        out[1 - self.player] = 1.0 if self.won else 0.0

    def random_action(self, rng: Any) -> int:
        empty = _FULL & ~self.marks
        return nth_bit(empty, rng.below(popcount(empty)))

    def observe(self, player: int, out: Any) -> None:
        """Write three planes: the player's own marks, the opponent's, and ones if the player is to move.

        The cell of action 3 * row + column stands at [row, column], so row 0 is the bottom of the board.
        """
        theirs = self.marks ^ self.mine
        own = self.mine if player == self.player else theirs
        other = theirs if player == self.player else self.mine
        for cell in range(9):
            row, column = cell // 3, cell % 3
            out[0, row, column] = (own >> np.uint64(cell)) & _ONE
            out[1, row, column] = (other >> np.uint64(cell)) & _ONE
            out[2, row, column] = player == self.player

    def transform(self, symmetry: int) -> None:
        self.marks = permute_bits(self.marks, _PLACES[symmetry])
        self.mine = permute_bits(self.mine, _PLACES[symmetry])

    def transform_action(self, symmetry: int, action: int) -> int:
        return int(_PLACES[symmetry, action])

    def key(self) -> np.uint64:
        return (self.marks << np.uint64(9)) | self.mine  # the number of marks gives the player to move

    def board(self) -> Grid:
        mine, marks = int(self.mine), int(self.marks)
        own, other = ("X", "O") if self.player == 0 else ("O", "X")
        cells = [own if mine >> cell & 1 else other if marks >> cell & 1 else "" for cell in range(9)]
        return Grid([cells[6:], cells[3:6], cells[:3]], pieces="marks")

    def render(self) -> str:
        rows = [
            " ".join([str(3 - index), *(cell or "." for cell in row)]) for index, row in enumerate(self.board().rows)
        ]
        return "\n".join([*rows, "  a b c"])

    def move_text(self, action: int) -> str:
        return f"{'abc'[action % 3]}{action // 3 + 1}"

    def parse_move(self, text: str) -> int:
        return 3 * ("1", "2", "3").index(text[1:]) + ("a", "b", "c").index(text[:1].lower())

    def parse(self, text: str) -> None:
        # A printed board can be parsed, so its coordinates are skipped.
        rows = [
            row
            for line in text.replace("/", "\n").splitlines()
            if (row := "".join(line.split()).strip("abc123").upper())
        ]
        if [len(row) for row in rows] != [3, 3, 3] or set("".join(rows)) - set("XO."):
            raise ValueError(f"a tic-tac-toe diagram has three rows of three cells, each X, O or a dot; not {text!r}")
        cells = "".join(reversed(rows))
        crosses, noughts = (sum(1 << cell for cell in range(9) if cells[cell] == mark) for mark in "XO")
        player = crosses.bit_count() - noughts.bit_count()
        if player not in (0, 1):
            raise ValueError(f"X moves first, so X has as many marks as O or one more; not {text!r}")
        mine, theirs = (crosses, noughts) if player == 0 else (noughts, crosses)
        if _HAS_LINE[mine]:
            raise ValueError(f"a line ends the game, so the player to move has none; not {text!r}")
        self.player, self.marks, self.mine, self.won = (
            player,
            np.uint64(mine | theirs),
            np.uint64(mine),
            _HAS_LINE[theirs],
        )
