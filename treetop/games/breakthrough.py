"""Breakthrough."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import (
    Game,
    Grid,
    checks,
    family,
    field,
    game,
    lowest_bit,
    mix_bits,
    nth_bit,
    permute_bits,
    popcount,
    square_symmetries,
)

_NONE, _ONE = np.uint64(0), np.uint64(1)
_FILES = "abcdefgh"


@family
def breakthrough(size: int = 8) -> Game:
    """Walk a piece through to the far side of a board of `size` x `size` squares (4 to 8)."""
    checks.whole("size", size, 4, 8)
    squares = size * size
    # Square (row, column) is bit size * row + column, counted from the bottom left: a1 is bit 0.
    full = np.uint64((1 << squares) - 1)
    first_file = np.uint64(sum(1 << size * row for row in range(size)))
    not_first, not_last = full ^ first_file, full ^ (first_file << np.uint64(size - 1))
    home = np.uint64((1 << 2 * size) - 1)  # where player 0 starts: the two lowest rows
    far_home = home << np.uint64(size * (size - 2))
    # The far rows of both players together: pieces never move back to the row behind.
    edge_rows = np.uint64((1 << size) - 1 | ((1 << size) - 1) << (size * (size - 1)))
    short, straight, long = (np.uint64(step) for step in (size - 1, size, size + 1))
    rows = np.array([((1 << size) - 1) << (size * row) for row in range(size)], np.uint64)
    weights = np.array([0.02 * row * row for row in range(size)])  # the bonus of a piece on each row from its own side
    last_step, first_step = rows[size - 2], rows[1]  # the rows one step before the far row, for each player
    # Without reaching the far row, a player's pieces take at most size - 2 and size - 3 steps each.
    longest = 2 * size * (2 * size - 5) + 1

    # Where each square goes if left and right are exchanged.
    mirror = square_symmetries(size)[1]

    @game(players=2, num_actions=3 * squares, max_length=longest, observation_shape=(4, size, size), symmetries=2)
    class Breakthrough:
        """Walk a piece through to the far side.

        Each player starts with two full rows, X at the bottom and O at the top; X moves first. A piece moves one step
        forward, straight or diagonally, to an empty square; diagonally it may also capture a piece of the opponent. The
        first player to reach the far row or to capture all pieces wins. The foremost piece can always move, so there is
        always a legal move and no draw.
        """

        mine: np.uint64 = field("u8")  # the pieces of the player to move
        theirs: np.uint64 = field("u8")
        player: int = field("i1")
        won: bool = field("bool")  # by the player who moved last

        def reset(self) -> None:
            self.mine = home
            self.theirs = far_home
            self.player = 0
            self.won = False

        def movers(self) -> tuple[np.uint64, np.uint64, np.uint64]:
            """Return the pieces that can step towards the first file, straight ahead, and towards the last file.

            These are directions 0, 1 and 2.
            """
            mine, free, empty = self.mine, full & ~self.mine, full & ~(self.mine | self.theirs)
            if self.player == 0:
                return mine & not_first & (free >> short), mine & (empty >> straight), mine & not_last & (free >> long)
            return mine & not_first & (free << long), mine & (empty << straight), mine & not_last & (free << short)

        def legal_actions(self, out: Any) -> int:
            movers = self.movers()
            count = 0
            rest = movers[0] | movers[1] | movers[2]
            while rest != _NONE:
                square = lowest_bit(rest)
                for direction in range(3):
                    if movers[direction] >> np.uint64(square) & _ONE != _NONE:
                        out[count] = 3 * square + direction
                        count += 1
                rest &= rest - _ONE
            return count

        def apply(self, action: int) -> None:
            square = action // 3
            target = square + (size if self.player == 0 else -size) + action - 3 * square - 1
            arrival = _ONE << np.uint64(target)
            moved = (self.mine ^ (_ONE << np.uint64(square))) | arrival
            self.mine = self.theirs & ~arrival
            self.theirs = moved
            self.player = 1 - self.player
            self.won = bool(arrival & edge_rows != _NONE or self.mine == _NONE)

        def is_terminal(self) -> bool:
            return self.won

        def rewards(self, out: Any) -> None:
            out[self.player] = -1.0
            out[1 - self.player] = 1.0

        def random_action(self, rng: Any) -> int:
            left, ahead, right = self.movers()
            # One draw over all moves. The three cases compile to code without branches, so none is mispredicted.
            before_ahead = popcount(left)
            before_right = before_ahead + popcount(ahead)
            index = rng.below(before_right + popcount(right))
            pieces, before, direction = left, 0, 0
            if index >= before_ahead:
                pieces, before, direction = ahead, before_ahead, 1
            if index >= before_right:
                pieces, before, direction = right, before_right, 2
            return 3 * nth_bit(pieces, index - before) + direction

        def rollout_action(self, rng: Any) -> int:
            """Step onto the far row where that is possible, else any move."""
            left, ahead, right = self.movers()
            last = last_step if self.player == 0 else first_step
            for direction, pieces in enumerate((left & last, ahead & last, right & last)):
                if pieces != _NONE:
                    return 3 * lowest_bit(pieces) + direction
            return self.random_action(rng)

        def heuristic(self, out: Any) -> None:
            """Write the lead in pieces, weighted by how far they have advanced."""
            lead = 0.3 * (popcount(self.mine) - popcount(self.theirs))
            for row in range(size):
                mine, theirs = popcount(self.mine & rows[row]), popcount(self.theirs & rows[row])
                up, down = weights[row], weights[size - 1 - row]
                lead += mine * up - theirs * down if self.player == 0 else mine * down - theirs * up
            out[self.player] = lead / (1.0 + abs(lead))
            out[1 - self.player] = -out[self.player]

        def observe(self, player: int, out: Any) -> None:
            """Write four planes: the player's own pieces, the opponent's, ones if the player is to move, ones for X.

            The last plane shows in which direction the player's pieces move. Square number size * row + column stands
            at [row, column], so row 0 is the bottom of the board.
            """
            own = self.mine if player == self.player else self.theirs
            other = self.theirs if player == self.player else self.mine
            for square in range(squares):
                row, column = square // size, square % size
                out[0, row, column] = (own >> np.uint64(square)) & _ONE
                out[1, row, column] = (other >> np.uint64(square)) & _ONE
                out[2, row, column] = player == self.player
                out[3, row, column] = player == 0

        def transform(self, symmetry: int) -> None:
            """Exchange left and right, by symmetry 1."""
            if symmetry == 1:
                self.mine = permute_bits(self.mine, mirror)
                self.theirs = permute_bits(self.theirs, mirror)

        def transform_action(self, symmetry: int, action: int) -> int:
            return 3 * int(mirror[action // 3]) + 2 - action % 3 if symmetry == 1 else action

        def key(self) -> np.uint64:
            return mix_bits(mix_bits(self.mine) ^ self.theirs) ^ np.uint64(self.player)

        def board(self) -> Grid:
            mine, theirs = int(self.mine), int(self.theirs)
            own, other = ("X", "O") if self.player == 0 else ("O", "X")
            cells = [own if mine >> square & 1 else other if theirs >> square & 1 else "" for square in range(squares)]
            return Grid([cells[size * row : size * (row + 1)] for row in reversed(range(size))], surface="checkered")

        def render(self) -> str:
            rows = [
                " ".join([str(size - index), *(cell or "." for cell in row)])
                for index, row in enumerate(self.board().rows)
            ]
            return "\n".join([*rows, " ".join([" ", *_FILES[:size]]), f"{'XO'[self.player]} to move"])

        def move_text(self, action: int) -> str:
            row, file = divmod(action // 3, size)
            return f"{_FILES[file]}{row + 1}{_FILES[file + action % 3 - 1]}{row + 2 - 2 * self.player}"

        def parse_move(self, text: str) -> int:
            start, end = text.lower().replace("x", "")[:2], text.lower().replace("x", "")[2:]
            file, row = _FILES[:size].index(start[:1]), range(1, size + 1).index(int(start[1:]))
            direction = _FILES[:size].index(end[:1]) - file + 1
            if direction not in (0, 1, 2) or int(end[1:]) != row + 2 - 2 * self.player:
                raise ValueError(f"a piece moves one step forward, not from {start} to {end}")
            return 3 * (size * row + file) + direction

    return Breakthrough  # type: ignore[return-value]  # mypy does not see what a class decorator returns
