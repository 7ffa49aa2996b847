"""Checkers, also called English draughts."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import Grid, compiled, field, game, lowest_bit, mix_bits, nth_bit, popcount, read_diagram

_NONE, _ONE = np.uint64(0), np.uint64(1)
_FILES = "abcdefgh"
# Square (row, column) is bit 8 * row + column, counted from the bottom left: a1 is bit 0. Pieces stand on dark squares,
# which are numbered from 0 in the same order.
_SQUARES = tuple(8 * row + column for row in range(8) for column in range(8) if (row + column) % 2 == 0)
_SQUARE_OF = np.array(_SQUARES, np.uint64)
_DARK = np.uint64(sum(1 << square for square in _SQUARES))
_START_X, _START_O = _DARK & np.uint64((1 << 24) - 1), _DARK & np.uint64(((1 << 24) - 1) << 40)
_NOT_A, _NOT_H = np.uint64(0xFEFEFEFEFEFEFEFE), np.uint64(0x7F7F7F7F7F7F7F7F)
_BOTTOM, _TOP = np.uint64(0xFF), np.uint64(0xFF << 56)
_SEVEN, _NINE = np.uint64(7), np.uint64(9)
_UP_LEFT, _UP_RIGHT, _DOWN_LEFT, _DOWN_RIGHT = range(4)
_IDLE = 80
_LONGEST = 300


@compiled(inline=True)
def _shift(pieces: np.uint64, direction: int) -> np.uint64:
    """Return the squares next to pieces in a direction."""
    if direction == _UP_LEFT:
        return (pieces & _NOT_A) << _SEVEN
    if direction == _UP_RIGHT:
        return (pieces & _NOT_H) << _NINE
    if direction == _DOWN_LEFT:
        return (pieces & _NOT_A) >> _NINE
    return (pieces & _NOT_H) >> _SEVEN


@game(players=2, num_actions=128, max_length=_LONGEST, observation_shape=(9, 8, 8))
class checkers:  # noqa: N801 - the class of a bundled game has the name of the game
    """Jump over the opponent's pieces; who cannot move loses.

    The players take turns, X first, with pieces on the dark squares. A man steps diagonally forward, a king in all four
    diagonal directions. A piece that can jump over an opponent's piece to an empty square must do so, removes that
    piece, and goes on with the same piece as long as it can; each jump is an action. A man that reaches the last row
    becomes a king, and its turn ends. A player who cannot move loses; 80 moves in a row without a jump or a man's move,
    or 300 actions, are a draw. Action 4 * n + d moves the piece on the dark square n to the upper left, upper right,
    lower left or lower right.
    """

    mine: np.uint64 = field("u8")  # the pieces of the player to move
    theirs: np.uint64 = field("u8")
    kings: np.uint64 = field("u8")  # of both players
    jumper: int = field("i1")  # the square of the piece that has to go on jumping, or -1
    idle: int = field("i1")  # moves since the last jump or man's move
    length: int = field("i2")
    player: int = field("i1")

    def reset(self) -> None:
        self.player = 0
        self.set_up(_START_X, _START_O, _NONE)

    def set_up(self, mine: np.uint64, theirs: np.uint64, kings: np.uint64) -> None:
        """Set the pieces at the start."""
        self.mine = mine
        self.theirs = theirs
        self.kings = kings
        self.jumper = -1
        self.idle = 0
        self.length = 0

    def movers(self, direction: int) -> np.uint64:
        """Return the player's pieces that may go in a direction, if nothing is in the way."""
        pieces = self.mine if self.jumper < 0 else _ONE << np.uint64(self.jumper)
        return pieces if direction // 2 == self.player else pieces & self.kings

    def jumpers(self, direction: int) -> np.uint64:
        """Return the player's pieces that can jump in a direction."""
        empty = ~(self.mine | self.theirs)
        return self.movers(direction) & _shift(_shift(empty, 3 - direction) & self.theirs, 3 - direction)

    def moves(self) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
        """Return the pieces that may move in each direction; if some can jump, only these."""
        a, b, c, d = self.jumpers(0), self.jumpers(1), self.jumpers(2), self.jumpers(3)
        if a | b | c | d == _NONE and self.jumper < 0:
            empty = ~(self.mine | self.theirs)
            a = self.movers(0) & _shift(empty, 3)
            b = self.movers(1) & _shift(empty, 2)
            c = self.movers(2) & _shift(empty, 1)
            d = self.movers(3) & _shift(empty, 0)
        return a, b, c, d

    def legal_actions(self, out: Any) -> int:
        moves = self.moves()
        pieces = moves[0] | moves[1] | moves[2] | moves[3]
        count = 0
        while pieces != _NONE:
            square = lowest_bit(pieces)
            for direction in range(4):
                if moves[direction] >> np.uint64(square) & _ONE != _NONE:
                    out[count] = 4 * (square // 2) + direction
                    count += 1
            pieces &= pieces - _ONE
        return count

    def apply(self, action: int) -> None:
        direction = action % 4
        piece = _ONE << _SQUARE_OF[action // 4]
        target = _shift(piece, direction)
        man = self.kings & piece == _NONE
        jumps = self.theirs & target != _NONE
        self.idle = 0 if jumps or man else self.idle + 1
        if jumps:
            self.theirs ^= target
            self.kings &= ~target
            target = _shift(target, direction)
        self.mine ^= piece | target
        if not man:
            self.kings ^= piece | target
        crowned = man and target & (_BOTTOM | _TOP) != _NONE
        if crowned:
            self.kings |= target
        self.length += 1
        self.jumper = lowest_bit(target)
        again = jumps and not crowned
        if not again or self.jumpers(0) | self.jumpers(1) | self.jumpers(2) | self.jumpers(3) == _NONE:
            self.jumper = -1
            self.player = 1 - self.player
            other = self.mine
            self.mine = self.theirs
            self.theirs = other

    def is_stuck(self) -> bool:
        """Return whether the player to move has no move."""
        a, b, c, d = self.moves()
        return bool(a | b | c | d == _NONE)

    def is_terminal(self) -> bool:
        return self.idle >= _IDLE or self.length >= _LONGEST or self.is_stuck()

    def rewards(self, out: Any) -> None:
        lost = self.is_stuck()
        out[self.player] = -1.0 if lost else 0.0
        out[1 - self.player] = 1.0 if lost else 0.0

    def random_action(self, rng: Any) -> int:
        moves = self.moves()
        number = rng.below(popcount(moves[0]) + popcount(moves[1]) + popcount(moves[2]) + popcount(moves[3]))
        for direction in range(4):
            if number < popcount(moves[direction]):
                return 4 * (nth_bit(moves[direction], number) // 2) + direction
            number -= popcount(moves[direction])
        return 0

    def heuristic(self, out: Any) -> None:
        """Write the lead in pieces, where a king counts as one and a half."""
        mine = 2 * popcount(self.mine) + popcount(self.mine & self.kings)
        theirs = 2 * popcount(self.theirs) + popcount(self.theirs & self.kings)
        out[self.player] = (mine - theirs) / (mine + theirs)
        out[1 - self.player] = -out[self.player]

    def observe(self, player: int, out: Any) -> None:
        """Write nine planes; row 0 is the bottom of the board.

        The player's own men; own kings; the opponent's men; the opponent's kings; ones if the player is to move; ones
        for X, whose men move up; the piece that has to go on jumping; the shares of idle moves and of all moves left.
        """
        own = self.mine if player == self.player else self.theirs
        other = self.theirs if player == self.player else self.mine
        for square in range(64):
            row, column, bit = square // 8, square % 8, np.uint64(square)
            king = self.kings >> bit & _ONE
            out[0, row, column] = (own >> bit & _ONE) & (king ^ _ONE)
            out[1, row, column] = own >> bit & king
            out[2, row, column] = (other >> bit & _ONE) & (king ^ _ONE)
            out[3, row, column] = other >> bit & king
            out[4, row, column] = player == self.player
            out[5, row, column] = player == 0
            out[6, row, column] = square == self.jumper
            out[7, row, column] = 1.0 - self.idle / _IDLE
            out[8, row, column] = 1.0 - self.length / _LONGEST

    def key(self) -> np.uint64:
        counts = np.uint64((self.length << 16) + (self.idle << 8) + 2 * (self.jumper + 1) + self.player)
        return mix_bits(mix_bits(mix_bits(self.mine) ^ self.theirs) ^ self.kings) ^ counts

    def rows(self) -> list[list[str]]:
        """Return the pieces for people, the top row first: x and o are men, X and O kings."""
        x, o = (self.mine, self.theirs) if self.player == 0 else (self.theirs, self.mine)
        cells = [""] * 64
        for square in _SQUARES:
            for piece, stones in (("x", x), ("o", o)):
                if int(stones) >> square & 1:
                    cells[square] = piece.upper() if int(self.kings) >> square & 1 else piece
        return [cells[start : start + 8] for start in range(56, -8, -8)]

    def board(self) -> Grid:
        pieces = {"": "", "x": "⛂", "o": "⛀", "X": "⛃", "O": "⛁"}
        return Grid([[pieces[cell] for cell in row] for row in self.rows()], surface="checkered", pieces="text")

    def render(self) -> str:
        rows = [f"{8 - index} {' '.join(cell or '.' for cell in row)}" for index, row in enumerate(self.rows())]
        last = f"{'XO'[self.player]} to move"
        if self.is_terminal():
            last = f"game over, {'XO'[1 - self.player]} wins" if self.is_stuck() else "game over, a draw"
        elif self.jumper >= 0:
            last += f", on with {_FILES[self.jumper % 8]}{self.jumper // 8 + 1}"
        return "\n".join([*rows, "  " + " ".join(_FILES), last])

    def move_text(self, action: int) -> str:
        source, direction = int(_SQUARE_OF[action // 4]), action % 4
        target = _shift(_ONE << np.uint64(source), direction)
        if self.theirs & target != _NONE:
            target = _shift(target, direction)
        return "".join(f"{_FILES[square % 8]}{square // 8 + 1}" for square in (source, int(target).bit_length() - 1))

    def parse_move(self, text: str) -> int:
        columns = [_FILES.index(letter) for letter in (text[0].lower(), text[2].lower())]
        rows = [int(number) - 1 for number in (text[1], text[3:])]
        direction = 2 * (rows[1] < rows[0]) + (columns[1] > columns[0])
        action = 4 * _SQUARES.index(8 * rows[0] + columns[0]) + direction
        if self.move_text(action) != text.lower():
            raise ValueError(f"{text!r} is neither a step nor a jump")
        return action

    def parse(self, text: str) -> None:
        """Set up a diagram: x and o are men, X and O kings; X or O after the rows is to move (default: X)."""
        rows, side = read_diagram(text, 8, 8, _FILES, pieces="xoXO")
        cells = "".join(reversed(rows))
        x, o, kings = (
            sum(1 << square for square, cell in enumerate(cells) if cell in wanted) for wanted in ("xX", "oO", "XO")
        )
        if (x | o) & ~int(_DARK):
            raise ValueError("pieces stand on dark squares, such as a1; leave the light ones empty")
        self.player = 1 if side == "O" else 0
        self.set_up(np.uint64(o if self.player else x), np.uint64(x if self.player else o), np.uint64(kings))
