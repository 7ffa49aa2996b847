"""Connect Four written naively, with an array and loops instead of bit operations, to measure such code too."""

from __future__ import annotations

import treetop


@treetop.game(players=2, num_actions=7, max_length=42)
class NaiveFour:
    """Connect Four, written naively."""

    board = treetop.field("i1", (6, 7))
    player = treetop.field("i1")
    winner = treetop.field("i1")
    moves = treetop.field("i1")

    def reset(self):
        for row in range(6):
            for column in range(7):
                self.board[row, column] = 0
        self.player = 0
        self.winner = -1
        self.moves = 0

    def legal_actions(self, out):
        count = 0
        for column in range(7):
            if self.board[5, column] == 0:
                out[count] = column
                count += 1
        return count

    def apply(self, action):
        row = 0
        while self.board[row, action] != 0:
            row += 1
        self.board[row, action] = self.player + 1
        self.moves += 1
        if self.wins(row, action):
            self.winner = self.player
        self.player = 1 - self.player

    def wins(self, row, column):
        mine = self.board[row, column]
        for direction in range(4):
            down = (0, 1, 1, 1)[direction]
            right = (1, 0, 1, -1)[direction]
            length = 1
            for sign in (-1, 1):
                r = row + sign * down
                c = column + sign * right
                while 0 <= r < 6 and 0 <= c < 7 and self.board[r, c] == mine:
                    length += 1
                    r += sign * down
                    c += sign * right
            if length >= 4:
                return True
        return False

    def is_terminal(self):
        return self.winner >= 0 or self.moves == 42

    def rewards(self, out):
        out[0] = 0.0
        out[1] = 0.0
        if self.winner >= 0:
            out[self.winner] = 1.0
            out[1 - self.winner] = -1.0
