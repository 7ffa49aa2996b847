"""Gomoku."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import Game, Grid, checks, family, field, game, list_bits, mix_bits, random_bit, square_symmetries

_NONE, _ONE, _SIX, _HALF = (np.uint64(number) for number in (0, 1, 6, 32))
_FILES = "abcdefghijklmnopqrs"


@family
def gomoku(size: int = 15, line: int = 5) -> Game:
    """`line` or more in a row on a board of `size` x `size` points (3 to 19)."""
    checks.whole("size", size, 3, 19)
    checks.whole("line", line, 3, size)
    points = size * size
    words = (points + 63) // 64
    # Each player's stones are stored once for each direction: `size` rows, `size` columns, 2 * size - 1 falling and as
    # many rising diagonals, so that a line is a run of bits in one number. Indices are unsigned, so that compiled code
    # does not check for negative ones.
    width, columns, falling, rising = (np.uint64(start) for start in (size, size, 3 * size - 1, 4 * size - 1))
    lines_each = 6 * size - 2
    # A bit that remains after `bits & (bits >> step)` for each of these steps is the start of a run of `line` bits.
    steps: list[int] = []
    while (length := sum(steps) + 1) < line:
        steps.append(min(length, line - length))
    shifts = tuple(np.uint64(step) for step in steps)
    places = square_symmetries(size)  # where each point goes

    @game(players=2, num_actions=points, max_length=points, observation_shape=(3, size, size), symmetries=8)
    class Gomoku:
        """Five or more in a row.

        The players take turns to put a stone on an empty point, X first; stones never move. Five (`line`) or more
        adjacent stones of one player in a row, column or diagonal win; a full board without such a line is a draw.
        """

        lines: Any = field("u2" if size <= 16 else "u4", (2, lines_each))
        empty: Any = field("u8", words)  # one bit a point: action // 64 is the word, action % 64 the bit
        left: int = field("i4")  # the number of empty points
        player: int = field("i1")
        won: bool = field("bool")  # by the player who moved last

        def reset(self) -> None:
            self.clear()
            self.left = points
            self.player = 0
            self.won = False

        def clear(self) -> None:
            """Remove all stones."""
            for place in range(lines_each):
                self.lines[0, place] = 0
                self.lines[1, place] = 0
            for word in range(words):
                self.empty[word] = ~_NONE >> np.uint64(64 - min(64, points - 64 * word))

        def legal_actions(self, out: Any) -> int:
            return list_bits(self.empty, out)

        def apply(self, action: int) -> None:
            self.won = bool(self.put(np.uint64(action)) != _NONE)
            self.left -= 1
            self.player = 1 - self.player

        def put(self, point: np.uint64) -> np.uint64:
            """Put a stone of the player on a point, and return the starts of winning runs."""
            row = point // width
            column = point - row * width
            runs = self.add(row, column) | self.add(columns + column, row)
            runs |= self.add(falling + row - column, column) | self.add(rising + row + column, column)
            self.empty[point >> _SIX] ^= _ONE << (point & np.uint64(63))
            return runs

        def add(self, place: np.uint64, bit: np.uint64) -> np.uint64:
            """Put a stone into one of the player's lines, and return the starts of winning runs in it."""
            stones = np.uint64(self.lines[self.player, place]) | (_ONE << bit)
            self.lines[self.player, place] = stones
            for shift in shifts:
                stones &= stones >> shift
            return stones

        def is_terminal(self) -> bool:
            return self.won or self.left == 0

        def rewards(self, out: Any) -> None:
            out[self.player] = -1.0 if self.won else 0.0
            out[1 - self.player] = 1.0 if self.won else 0.0

        def random_action(self, rng: Any) -> int:
            return random_bit(self.empty, self.left, rng)

        def observe(self, player: int, out: Any) -> None:
            """Write three planes: the player's own stones, the opponent's, and ones if the player is to move.

            The point of action size * row + column stands at [row, column], so row 0 is the bottom of the board.
            """
            moves = player == self.player
            for row in range(size):
                own, other = self.lines[player, row], self.lines[1 - player, row]
                for column in range(size):
                    out[0, row, column] = own >> column & 1
                    out[1, row, column] = other >> column & 1
                    out[2, row, column] = moves

        def transform(self, symmetry: int) -> None:
            before, mover = self.lines.copy(), self.player
            self.clear()
            for player in range(2):
                self.player = player
                for row in range(size):
                    stones = before[player, row]
                    for column in range(size):
                        if stones >> column & 1:
                            self.put(np.uint64(places[symmetry, size * row + column]))
            self.player = mover

        def transform_action(self, symmetry: int, action: int) -> int:
            return int(places[symmetry, action])

        def key(self) -> np.uint64:
            key = _NONE  # the number of stones gives the player to move
            for row in range(size):
                key = mix_bits(key ^ np.uint64(self.lines[0, row]) ^ (np.uint64(self.lines[1, row]) << _HALF))
            return key

        def board(self) -> Grid:
            rows = [(self.lines[0, row], self.lines[1, row]) for row in reversed(range(size))]
            cells = [
                ["X" if x >> column & 1 else "O" if o >> column & 1 else "" for column in range(size)] for x, o in rows
            ]
            return Grid(cells, surface="lines")

        def render(self) -> str:
            rows = [
                f"{size - index:2} {' '.join(cell or '.' for cell in row)}"
                for index, row in enumerate(self.board().rows)
            ]
            return "\n".join([*rows, "   " + " ".join(_FILES[:size])])

        def move_text(self, action: int) -> str:
            return f"{_FILES[action % size]}{action // size + 1}"

        def parse_move(self, text: str) -> int:
            return size * range(1, size + 1).index(int(text[1:])) + _FILES[:size].index(text[0].lower())

    return Gomoku  # type: ignore[return-value]  # mypy does not see what a class decorator returns
