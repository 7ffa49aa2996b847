"""Variants of Connect Four whose observations are those of `connect_four`, so that its networks can evaluate them."""

from __future__ import annotations

from typing import Any

import treetop
from treetop import checks


@treetop.family
def four(columns: int = 7, rows: int = 6, wrap: bool = False, diagonals: bool = True) -> treetop.Game:
    """Return Connect Four on the lower middle of the usual board of 6 x 7 cells.

    With `wrap` the first and the last column are neighbours, as on a cylinder. Without `diagonals` lines are rows and
    columns only.
    """
    checks.whole("columns", columns, 4, 7)
    checks.whole("rows", rows, 4, 6)
    first, directions = (7 - columns) // 2, 4 if diagonals else 2

    @treetop.game(players=2, num_actions=7, max_length=columns * rows, observation_shape=(3, 6, 7))
    class Four:
        """Connect Four on a part of its board, or with other lines."""

        board = treetop.field("i1", (6, 7))  # 0, or 1 + the player; row 0 is the bottom
        player: int = treetop.field("i1")
        winner: int = treetop.field("i1")
        moves: int = treetop.field("i1")

        def reset(self) -> None:
            for row in range(6):
                for column in range(7):
                    self.board[row, column] = 0
            self.player = 0
            self.winner = -1
            self.moves = 0

        def legal_actions(self, out: Any) -> int:
            count = 0
            for column in range(first, first + columns):
                if self.board[rows - 1, column] == 0:
                    out[count] = column
                    count += 1
            return count

        def apply(self, action: int) -> None:
            row = 0
            while self.board[row, action] != 0:
                row += 1
            self.board[row, action] = self.player + 1
            self.moves += 1
            if self.wins(row, action):
                self.winner = self.player
            self.player = 1 - self.player

        def wins(self, row: int, column: int) -> bool:
            mine = self.board[row, column]
            for direction in range(directions):
                up = (0, 1, 1, 1)[direction]
                right = (1, 0, 1, -1)[direction]
                length = 1
                for sign in (-1, 1):
                    r = row
                    c = column
                    for _ in range(3):
                        r += sign * up
                        c += sign * right
                        if wrap:
                            c = first + (c - first) % columns
                        if r < 0 or r >= rows or c < first or c >= first + columns or self.board[r, c] != mine:
                            break
                        length += 1
                if length >= 4:
                    return True
            return False

        def is_terminal(self) -> bool:
            return self.winner >= 0 or self.moves == columns * rows

        def rewards(self, out: Any) -> None:
            out[0] = 0.0
            out[1] = 0.0
            if self.winner >= 0:
                out[self.winner] = 1.0
                out[1 - self.winner] = -1.0

        def observe(self, player: int, out: Any) -> None:
            for row in range(6):
                for column in range(7):
                    disc = self.board[5 - row, column]
                    out[0, row, column] = disc == player + 1
                    out[1, row, column] = disc == 2 - player
                    out[2, row, column] = player == self.player

    return Four
