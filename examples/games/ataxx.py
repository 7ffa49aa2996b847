"""Ataxx on a board of 5 x 5 squares: a game to train a network on, `treetop train examples/games/ataxx.py:Ataxx`."""

import numpy as np

import treetop as tt

SIZE = 5
SQUARES = SIZE * SIZE
LEAPS = [(row, column) for row in range(-2, 3) for column in range(-2, 3) if max(abs(row), abs(column)) == 2]
PASS = SQUARES + SQUARES * len(LEAPS)
LONGEST = 100
ROWS, COLUMNS = np.array([row for row, _ in LEAPS]), np.array([column for _, column in LEAPS])


@tt.game(players=2, num_actions=PASS + 1, max_length=LONGEST, observation_shape=(3, SIZE, SIZE))
class Ataxx:
    """A piece grows to a neighbouring square, or leaps two squares; then all neighbours there become its own.

    Action t below 25 grows to the square t; 25 + 16 * s + k leaps from the square s by the k-th leap; the last action
    passes, which is legal only without another move. The game ends when the board is full, when a player has no piece
    left, or after 100 moves. More pieces win.
    """

    board = tt.field("i1", (SIZE, SIZE))  # 0 empty, 1 and 2 the players
    player = tt.field("i1")
    moves = tt.field("i2")

    def reset(self):
        self.board[:] = 0
        self.board[0, 0] = 1
        self.board[SIZE - 1, SIZE - 1] = 1
        self.board[0, SIZE - 1] = 2
        self.board[SIZE - 1, 0] = 2
        self.player = 0
        self.moves = 0

    def touches(self, row, column, piece):
        for r in range(max(row - 1, 0), min(row + 2, SIZE)):
            for c in range(max(column - 1, 0), min(column + 2, SIZE)):
                if self.board[r, c] == piece:
                    return True
        return False

    def legal_actions(self, out):
        count, mine = 0, self.player + 1
        for row in range(SIZE):
            for column in range(SIZE):
                if self.board[row, column] == 0 and self.touches(row, column, mine):
                    out[count] = SIZE * row + column
                    count += 1
        for row in range(SIZE):
            for column in range(SIZE):
                if self.board[row, column] == mine:
                    for leap in range(len(ROWS)):
                        r, c = row + ROWS[leap], column + COLUMNS[leap]
                        if 0 <= r < SIZE and 0 <= c < SIZE and self.board[r, c] == 0:
                            out[count] = SQUARES + len(ROWS) * (SIZE * row + column) + leap
                            count += 1
        if count == 0:
            out[0] = PASS
            count = 1
        return count

    def apply(self, action):
        mine = self.player + 1
        if action < PASS:
            row, column = action // SIZE, action % SIZE
            if action >= SQUARES:
                source, leap = (action - SQUARES) // len(ROWS), (action - SQUARES) % len(ROWS)
                self.board[source // SIZE, source % SIZE] = 0
                row, column = source // SIZE + ROWS[leap], source % SIZE + COLUMNS[leap]
            self.board[row, column] = mine
            for r in range(max(row - 1, 0), min(row + 2, SIZE)):
                for c in range(max(column - 1, 0), min(column + 2, SIZE)):
                    if self.board[r, c] != 0:
                        self.board[r, c] = mine
        self.player = 1 - self.player
        self.moves += 1

    def pieces(self, piece):
        count = 0
        for row in range(SIZE):
            for column in range(SIZE):
                count += self.board[row, column] == piece
        return count

    def is_terminal(self):
        first, second = self.pieces(1), self.pieces(2)
        return first == 0 or second == 0 or first + second == SQUARES or self.moves >= LONGEST

    def rewards(self, out):
        lead = self.pieces(1) - self.pieces(2)
        out[0] = 1.0 if lead > 0 else -1.0 if lead < 0 else 0.0
        out[1] = -out[0]

    def observe(self, player, out):
        for row in range(SIZE):
            for column in range(SIZE):
                out[0, row, column] = self.board[row, column] == player + 1
                out[1, row, column] = self.board[row, column] == 2 - player
                out[2, row, column] = self.moves / LONGEST

    def render(self):
        rows = [" ".join(".XO"[piece] for piece in row) for row in self.board]
        return "\n".join(rows) + f"\n{'XO'[self.player]} to move"
