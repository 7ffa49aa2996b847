"""Ataxx."""

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
    square_symmetries,
)

_NONE, _ONE = np.uint64(0), np.uint64(1)
_FILES = "abcdefgh"
_LEAPS = tuple((row, column) for row in range(-2, 3) for column in range(-2, 3) if max(abs(row), abs(column)) == 2)
_KINDS = len(_LEAPS)


@family
def ataxx(size: int = 7) -> Game:
    """Grow and leap on a board of `size` x `size` squares (5 to 8); more pieces win."""
    checks.whole("size", size, 5, 8)
    squares = size * size
    passing = squares + squares * _KINDS
    longest = 4 * squares
    # Square (row, column) is bit size * row + column, counted from the bottom left: a1 is bit 0.
    full = np.uint64((1 << squares) - 1)
    first_column = np.uint64(sum(1 << size * row for row in range(size)))
    not_first, not_last = full & ~first_column, full & ~(first_column << np.uint64(size - 1))
    row_up = np.uint64(size)
    start_x = np.uint64(1 << (size - 1) | 1 << (squares - size))
    start_o = np.uint64(1 | 1 << (squares - 1))
    around = np.zeros(squares, np.uint64)  # the squares to which a piece leaps
    leap_of = np.zeros(4 * size + 5, np.int64)  # the number of a leap, by the difference of the squares
    for square in range(squares):
        for leap, (down, right) in enumerate(_LEAPS):
            leap_of[size * down + right + 2 * size + 2] = leap
            if 0 <= square // size + down < size and 0 <= square % size + right < size:
                around[square] |= _ONE << np.uint64(square + size * down + right)
    steps = np.array([size * down + right for down, right in _LEAPS], np.int64)
    # Half a turn and the reflections in both diagonals. The other four symmetries of the board do not keep the start.
    places = square_symmetries(size)[[0, 3, 4, 7]]

    @compiled
    def widen(pieces: np.uint64) -> np.uint64:
        """Return the pieces and all squares next to them."""
        pieces |= ((pieces & not_last) << _ONE) | ((pieces & not_first) >> _ONE)
        return (pieces | (pieces << row_up) | (pieces >> row_up)) & full

    @compiled
    def leap_action(source: int, target: int) -> int:
        return squares + _KINDS * source + int(leap_of[target - source + 2 * size + 2])

    @game(players=2, num_actions=passing + 1, max_length=longest, observation_shape=(4, size, size), symmetries=4)
    class Ataxx:
        """Grow or leap, and convert the neighbours; more pieces win.

        The players take turns, X first. A piece grows to an empty neighbouring square, also diagonally, or leaps to an
        empty square two steps away and leaves its own; then all neighbours of the target become the player's. A player
        who cannot move passes. The game ends when neither can move, when a player has no piece left, or after
        4 * size * size moves. More pieces win, equal numbers are a draw. Action t below size * size grows to the square
        t, size * size + 16 * s + k leaps from the square s by the k-th leap, and the last one passes.
        """

        mine: np.uint64 = field("u8")  # the pieces of the player to move
        theirs: np.uint64 = field("u8")
        length: int = field("i2")
        player: int = field("i1")
        over: bool = field("bool")

        def reset(self) -> None:
            self.length = 0
            self.player = 0
            self.set_up(start_x, start_o)

        def set_up(self, mine: np.uint64, theirs: np.uint64) -> None:
            """Set the pieces, and whether the game is over."""
            self.mine = mine
            self.theirs = theirs
            empty = full & ~(mine | theirs)
            stuck = widen(widen(mine | theirs)) & empty == _NONE
            self.over = bool(stuck or mine == _NONE or theirs == _NONE or self.length == longest)

        def legal_actions(self, out: Any) -> int:
            count = 0
            empty = full & ~(self.mine | self.theirs)
            targets = widen(self.mine) & empty
            while targets != _NONE:
                out[count] = lowest_bit(targets)
                targets &= targets - _ONE
                count += 1
            pieces = self.mine
            while pieces != _NONE:
                source = lowest_bit(pieces)
                targets = around[source] & empty
                while targets != _NONE:
                    out[count] = leap_action(source, lowest_bit(targets))
                    targets &= targets - _ONE
                    count += 1
                pieces &= pieces - _ONE
            if count == 0:
                out[0] = passing
                return 1
            return count

        def apply(self, action: int) -> None:
            mine, theirs = self.mine, self.theirs
            if action < passing:
                target = action
                if action >= squares:
                    source = (action - squares) // _KINDS
                    target = source + steps[(action - squares) % _KINDS]
                    mine ^= _ONE << np.uint64(source)
                turned = widen(_ONE << np.uint64(target))
                mine |= (_ONE << np.uint64(target)) | (turned & theirs)
                theirs &= ~turned
            self.length += 1
            self.player = 1 - self.player
            self.set_up(theirs, mine)

        def is_terminal(self) -> bool:
            return self.over

        def rewards(self, out: Any) -> None:
            lead = popcount(self.mine) - popcount(self.theirs)
            out[self.player] = 1.0 if lead > 0 else -1.0 if lead < 0 else 0.0
            out[1 - self.player] = -out[self.player]

        def random_action(self, rng: Any) -> int:
            empty = full & ~(self.mine | self.theirs)
            targets = widen(self.mine) & empty
            count = popcount(targets)
            pieces = self.mine
            while pieces != _NONE:
                count += popcount(around[lowest_bit(pieces)] & empty)
                pieces &= pieces - _ONE
            if count == 0:
                return passing
            chosen = rng.below(count) - popcount(targets)
            if chosen < 0:
                return nth_bit(targets, chosen + popcount(targets))
            pieces = self.mine
            while True:
                source = lowest_bit(pieces)
                targets = around[source] & empty
                if chosen < popcount(targets):
                    return leap_action(source, nth_bit(targets, chosen))
                chosen -= popcount(targets)
                pieces &= pieces - _ONE

        def heuristic(self, out: Any) -> None:
            """Write the lead in pieces as a share of all pieces."""
            mine, theirs = popcount(self.mine), popcount(self.theirs)
            out[self.player] = (mine - theirs) / (mine + theirs)
            out[1 - self.player] = -out[self.player]

        def observe(self, player: int, out: Any) -> None:
            """Write four planes: the player's own pieces, the opponent's, ones if the player is to move, moves left.

            The square of action size * row + column stands at [row, column], so row 0 is the bottom of the board.
            """
            own = self.mine if player == self.player else self.theirs
            other = self.theirs if player == self.player else self.mine
            for square in range(squares):
                row, column = square // size, square % size
                out[0, row, column] = (own >> np.uint64(square)) & _ONE
                out[1, row, column] = (other >> np.uint64(square)) & _ONE
                out[2, row, column] = player == self.player
                out[3, row, column] = 1.0 - self.length / longest

        def transform(self, symmetry: int) -> None:
            self.mine = permute_bits(self.mine, places[symmetry])
            self.theirs = permute_bits(self.theirs, places[symmetry])

        def transform_action(self, symmetry: int, action: int) -> int:
            if action == passing:
                return passing
            if action < squares:
                return int(places[symmetry, action])
            # By the row and the column of the leap, since one that leaves the board has no target.
            source, step = (action - squares) // _KINDS, steps[(action - squares) % _KINDS]
            down = (step + 2 * size + 2) // size - 2
            right = step - size * down
            turned = size * down + right
            if symmetry == 1:
                turned = -step
            elif symmetry == 2:
                turned = size * right + down
            elif symmetry == 3:
                turned = -(size * right + down)
            return leap_action(int(places[symmetry, source]), int(places[symmetry, source] + turned))

        def key(self) -> np.uint64:
            return mix_bits(mix_bits(self.mine) ^ self.theirs) ^ np.uint64(2 * self.length + self.player)

        def board(self) -> Grid:
            mine, theirs = int(self.mine), int(self.theirs)
            own, other = ("X", "O") if self.player == 0 else ("O", "X")
            cells = [own if mine >> square & 1 else other if theirs >> square & 1 else "" for square in range(squares)]
            return Grid([cells[start : start + size] for start in reversed(range(0, squares, size))])

        def render(self) -> str:
            rows = [
                f"{size - index} {' '.join(cell or '.' for cell in row)}" for index, row in enumerate(self.board().rows)
            ]
            cells = [cell for row in self.board().rows for cell in row]
            last = f"{'XO'[self.player]} to move"
            if self.over:
                last = f"game over, X {cells.count('X')}, O {cells.count('O')}"
            return "\n".join([*rows, "  " + " ".join(_FILES[:size]), last])

        def move_text(self, action: int) -> str:
            if action == passing:
                return "pass"
            if action < squares:
                return f"{_FILES[action % size]}{action // size + 1}"
            source = (action - squares) // _KINDS
            target = source + steps[(action - squares) % _KINDS]
            return f"{_FILES[source % size]}{source // size + 1}{_FILES[target % size]}{target // size + 1}"

        def parse_move(self, text: str) -> int:
            if text.lower() == "pass":
                return passing
            named = [
                size * range(1, size + 1).index(int(part[1])) + _FILES[:size].index(part[0].lower())
                for part in (text[:2], text[2:])
                if part
            ]
            if len(named) == 1:
                return named[0]
            down, right = named[1] // size - named[0] // size, named[1] % size - named[0] % size
            return squares + _KINDS * named[0] + _LEAPS.index((down, right))

        def parse(self, text: str) -> None:
            """Set up a diagram; X or O after the rows is to move (default: X)."""
            rows, side = read_diagram(text, size, size, _FILES)
            cells = "".join(reversed(rows))
            x, o = (sum(1 << square for square in range(squares) if cells[square] == piece) for piece in "XO")
            self.length = 0
            self.player = 1 if side == "O" else 0
            self.set_up(np.uint64(o if self.player else x), np.uint64(x if self.player else o))

    return Ataxx  # type: ignore[return-value]  # mypy does not see what a class decorator returns
