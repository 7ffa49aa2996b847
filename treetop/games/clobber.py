"""Clobber."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import (
    Game,
    Grid,
    checks,
    compiled,
    family,
    field,
    game,
    lowest_bit,
    mix_bits,
    nth_bit,
    permute_bits,
    popcount,
    read_diagram,
)

_NONE, _ONE = np.uint64(0), np.uint64(1)
_FILES = "abcdefgh"
_STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))  # up, down, right, left


def _symmetries(rows: int, columns: int, start: int) -> tuple[Any, Any]:
    """Return where each square and each direction goes under the symmetries that keep the stones of X at the start."""
    squares = [(row, column) for row in range(rows) for column in range(columns)]
    found, turned = [], []
    for number in range(8 if rows == columns else 4):
        up, right, swap = number & 2, number & 1, number & 4

        def image(down: int, across: int, swap: int = swap) -> tuple[int, int]:
            return (across, down) if swap else (down, across)

        moved = [image(rows - 1 - row if up else row, columns - 1 - column if right else column)
                 for row, column in squares]  # fmt: skip
        places = [columns * row + column for row, column in moved]
        if sum((start >> square & 1) << place for square, place in enumerate(places)) == start:
            found.append(places)
            turned.append([_STEPS.index(image(-down if up else down, -across if right else across))
                           for down, across in _STEPS])  # fmt: skip
    return np.array(found, np.int64), np.array(turned, np.int64)


@family
def clobber(rows: int = 5, columns: int = 6) -> Game:
    """Take a neighbouring stone on a board of `rows` x `columns` squares (each 2 to 8); who cannot move loses."""
    checks.whole("rows", rows, 2, 8)
    checks.whole("columns", columns, 2, 8)
    squares = rows * columns
    # Square (row, column) is bit columns * row + column, counted from the bottom left: a1 is bit 0.
    full = (1 << squares) - 1
    checkered = sum(1 << square for square in range(squares) if (square // columns + square % columns) % 2 == 0)
    start_x, start_o = np.uint64(checkered), np.uint64(full ^ checkered)
    last_column = sum(1 << (columns * row + columns - 1) for row in range(rows))
    not_last, not_first = np.uint64(full ^ last_column), np.uint64(full ^ last_column >> (columns - 1))
    row_up = np.uint64(columns)
    steps = np.array([columns * down + right for down, right in _STEPS], np.int64)
    places, turned = _symmetries(rows, columns, checkered)

    @compiled
    def movers(mine: np.uint64, theirs: np.uint64) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
        """Return the stones that can move up, down, right and left."""
        return (
            mine & (theirs >> row_up),
            mine & (theirs << row_up),
            mine & not_last & (theirs >> _ONE),
            mine & not_first & (theirs << _ONE),
        )

    @game(
        players=2, num_actions=4 * squares, max_length=squares - 1, observation_shape=(3, rows, columns),
        symmetries=len(places),
    )  # fmt: skip
    class Clobber:
        """Take neighbouring stones; the player who cannot move loses.

        The board is full of stones at the start, in the colours of a chessboard. The players take turns, X first, to
        move a stone to a neighbouring square, not diagonally, that holds a stone of the opponent, which is removed. A
        player who cannot move loses. Action 4 * square + direction moves up, down, right or left.
        """

        mine: np.uint64 = field("u8")  # the stones of the player to move
        theirs: np.uint64 = field("u8")
        player: int = field("i1")

        def reset(self) -> None:
            self.mine = start_x
            self.theirs = start_o
            self.player = 0

        def legal_actions(self, out: Any) -> int:
            up, down, right, left = movers(self.mine, self.theirs)
            count = 0
            stones = up | down | right | left
            while stones != _NONE:
                square = lowest_bit(stones)
                bit = np.uint64(square)
                if up >> bit & _ONE != _NONE:
                    out[count] = 4 * square
                    count += 1
                if down >> bit & _ONE != _NONE:
                    out[count] = 4 * square + 1
                    count += 1
                if right >> bit & _ONE != _NONE:
                    out[count] = 4 * square + 2
                    count += 1
                if left >> bit & _ONE != _NONE:
                    out[count] = 4 * square + 3
                    count += 1
                stones &= stones - _ONE
            return count

        def apply(self, action: int) -> None:
            source = action // 4
            target = _ONE << np.uint64(source + steps[action % 4])
            moved = self.mine ^ (_ONE << np.uint64(source)) ^ target
            self.mine = self.theirs ^ target
            self.theirs = moved
            self.player = 1 - self.player

        def is_terminal(self) -> bool:
            up, down, right, left = movers(self.mine, self.theirs)
            return bool(up | down | right | left == _NONE)

        def rewards(self, out: Any) -> None:
            out[self.player] = -1.0
            out[1 - self.player] = 1.0

        def random_action(self, rng: Any) -> int:
            up, down, right, left = movers(self.mine, self.theirs)
            number = rng.below(popcount(up) + popcount(down) + popcount(right) + popcount(left))
            for direction, stones in enumerate((up, down, right)):
                if number < popcount(stones):
                    return 4 * nth_bit(stones, number) + direction
                number -= popcount(stones)
            return 4 * nth_bit(left, number) + 3

        def observe(self, player: int, out: Any) -> None:
            """Write three planes: the player's own stones, the opponent's, and ones if the player is to move.

            Row 0 is the bottom of the board.
            """
            own = self.mine if player == self.player else self.theirs
            other = self.theirs if player == self.player else self.mine
            for square in range(squares):
                row, column = square // columns, square % columns
                out[0, row, column] = (own >> np.uint64(square)) & _ONE
                out[1, row, column] = (other >> np.uint64(square)) & _ONE
                out[2, row, column] = player == self.player

        def transform(self, symmetry: int) -> None:
            self.mine = permute_bits(self.mine, places[symmetry])
            self.theirs = permute_bits(self.theirs, places[symmetry])

        def transform_action(self, symmetry: int, action: int) -> int:
            return int(4 * places[symmetry, action // 4] + turned[symmetry, action % 4])

        def key(self) -> np.uint64:
            return mix_bits(mix_bits(self.mine) ^ self.theirs) ^ np.uint64(self.player)

        def board(self) -> Grid:
            mine, theirs = int(self.mine), int(self.theirs)
            own, other = ("X", "O") if self.player == 0 else ("O", "X")
            cells = [own if mine >> square & 1 else other if theirs >> square & 1 else "" for square in range(squares)]
            return Grid([cells[start : start + columns] for start in reversed(range(0, squares, columns))])

        def render(self) -> str:
            lines = [
                f"{rows - index} {' '.join(cell or '.' for cell in row)}" for index, row in enumerate(self.board().rows)
            ]
            side = "XO"[self.player]
            last = f"game over, {side} cannot move" if self.is_terminal() else f"{side} to move"
            return "\n".join([*lines, "  " + " ".join(_FILES[:columns]), last])

        def move_text(self, action: int) -> str:
            source, target = action // 4, action // 4 + steps[action % 4]
            return "".join(f"{_FILES[square % columns]}{square // columns + 1}" for square in (source, target))

        def parse_move(self, text: str) -> int:
            source, target = (
                columns * range(1, rows + 1).index(int(part[1:])) + _FILES[:columns].index(part[0].lower())
                for part in (text[:2], text[2:])
            )
            return 4 * source + list(steps).index(target - source)

        def parse(self, text: str) -> None:
            """Set up a diagram; X or O after the rows is to move (default: X)."""
            lines, side = read_diagram(text, rows, columns, _FILES)
            cells = "".join(reversed(lines))
            x, o = (sum(1 << square for square in range(squares) if cells[square] == piece) for piece in "XO")
            self.player = 1 if side == "O" else 0
            self.mine, self.theirs = np.uint64(o if self.player else x), np.uint64(x if self.player else o)

    return Clobber  # type: ignore[return-value]  # mypy does not see what a class decorator returns
