"""Connect Four."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import Grid, compiled, field, game, lowest_bit, nth_bit, popcount

# The cell in a row and column is bit 8 * row + column, row 0 at the bottom. Column 7 is always empty, so that no shift
# continues a line from the right edge at the left edge.
_NONE, _ONE, _EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)
_FULL = np.uint64(0x7F7F_7F7F_7F7F)
_BOTTOM = np.uint64(0x7F)
_FIRST_COLUMN = np.uint64(0x0101_0101_0101)
_MIDDLE = np.uint64(0x0808_0808_0808)
_TO_TOP = np.uint64(40)  # the shift from the bottom row to the top row


@compiled
def _landing(discs: np.uint64) -> np.uint64:
    """Return the cell just above the discs of each column; for a full column it lies above the board."""
    return ((discs << _EIGHT) | _BOTTOM) & ~discs


@compiled
def _has_four(discs: np.uint64) -> bool:
    """Return whether there are four discs in a row: two neighbouring pairs, in any direction."""
    upright = discs & (discs >> np.uint64(8))
    level = discs & (discs >> np.uint64(1))
    rising = discs & (discs >> np.uint64(9))
    falling = discs & (discs >> np.uint64(7))
    found = (upright & (upright >> np.uint64(16))) | (level & (level >> np.uint64(2)))
    found |= (rising & (rising >> np.uint64(18))) | (falling & (falling >> np.uint64(14)))
    return bool(found != _NONE)


@compiled
def _open_fours(discs: np.uint64, taken: np.uint64) -> int:
    """Return the number of empty cells that would complete four in a row."""
    count = 0
    rest = _FULL & ~taken
    while rest != _NONE:
        cell = rest & (~rest + _ONE)
        count += int(_has_four(discs | cell))
        rest ^= cell
    return count


@compiled
def _mirrored(discs: np.uint64) -> np.uint64:
    """Return the discs with left and right exchanged."""
    found = _NONE
    for column in range(7):
        found |= ((discs >> np.uint64(column)) & _FIRST_COLUMN) << np.uint64(6 - column)
    return found


@game(players=2, num_actions=7, max_length=42, observation_shape=(3, 6, 7), symmetries=2)
class connect_four:  # noqa: N801 - the class of a bundled game has the name of the game
    """Four in a row on an upright board, seven columns wide and six rows high.

    The players take turns to drop a disc into a column that is not full, X first; it falls to the lowest empty cell.
    Four adjacent discs of one player in a row, column or diagonal win; a full board without such a line is a draw.
    """

    discs: np.uint64 = field("u8")  # of both players
    mine: np.uint64 = field("u8")  # of the player to move
    player: int = field("i1")
    won: bool = field("bool")  # by the player who moved last

    def reset(self) -> None:
        self.discs = _NONE
        self.mine = _NONE
        self.player = 0
        self.won = False

    def legal_actions(self, out: Any) -> int:
        count = 0
        columns = ~(self.discs >> _TO_TOP) & _BOTTOM
        while columns != _NONE:
            out[count] = lowest_bit(columns)
            columns &= columns - _ONE
            count += 1
        return count

    def apply(self, action: int) -> None:
        disc = _landing(self.discs) & (_FIRST_COLUMN << np.uint64(action))
        moved = self.mine | disc
        self.won = _has_four(moved)
        self.discs |= disc
        self.mine = self.discs ^ moved
        self.player = 1 - self.player

    def is_terminal(self) -> bool:
        return self.won or bool(self.discs == _FULL)

    def rollout_action(self, rng: Any) -> int:
        """Return a column that completes four, else one that stops the opponent from it, else a random one."""
        cells = _landing(self.discs) & _FULL
        for side in (self.mine, self.discs ^ self.mine):
            rest = cells
            while rest != _NONE:
                cell = rest & (~rest + _ONE)
                if _has_four(side | cell):
                    return lowest_bit(cell) & 7
                rest ^= cell
        return self.random_action(rng)

    def heuristic(self, out: Any) -> None:
        """Write the lead in cells that would complete four, and in discs in the middle column."""
        theirs = self.discs ^ self.mine
        lead = 0.15 * (_open_fours(self.mine, self.discs) - _open_fours(theirs, self.discs))
        lead += 0.05 * (popcount(self.mine & _MIDDLE) - popcount(theirs & _MIDDLE))
        out[self.player] = lead / (1.0 + abs(lead))
        out[1 - self.player] = -out[self.player]

    def rewards(self, out: Any) -> None:
        out[self.player] = -1.0 if self.won else 0.0
        out[1 - self.player] = 1.0 if self.won else 0.0

    def random_action(self, rng: Any) -> int:
        # The first draw does not depend on the board, so it is faster, and most columns are open. Together both draws
        # are uniform: the second one divides the probability of the full columns equally among the open ones.
        column = int(rng.below(7))
        if self.discs & (_ONE << np.uint64(40 + column)) == _NONE:
            return column
        columns = ~(self.discs >> _TO_TOP) & _BOTTOM
        return nth_bit(columns, rng.below(popcount(columns)))

    def observe(self, player: int, out: Any) -> None:
        """Write three planes: the player's own discs, the opponent's, and ones if the player is to move.

        Row 0 is the top of the board.
        """
        theirs = self.discs ^ self.mine
        own = self.mine if player == self.player else theirs
        other = theirs if player == self.player else self.mine
        for row in range(6):
            for column in range(7):
                cell = _ONE << np.uint64(8 * (5 - row) + column)
                out[0, row, column] = own & cell != _NONE
                out[1, row, column] = other & cell != _NONE
                out[2, row, column] = player == self.player

    def transform(self, symmetry: int) -> None:
        """Exchange left and right, by symmetry 1."""
        if symmetry == 1:
            self.discs, self.mine = _mirrored(self.discs), _mirrored(self.mine)

    def transform_action(self, symmetry: int, action: int) -> int:
        return 6 - action if symmetry == 1 else action

    def key(self) -> np.uint64:
        # Exact: the highest bit of a column gives its height, and all heights give the player to move.
        return self.mine | _landing(self.discs)

    def board(self) -> Grid:
        mine, discs = int(self.mine), int(self.discs)
        own, other = ("X", "O") if self.player == 0 else ("O", "X")
        cells = [own if mine >> cell & 1 else other if discs >> cell & 1 else "" for cell in range(48)]
        rows = [cells[8 * row : 8 * row + 7] for row in reversed(range(6))]
        return Grid(rows, surface="holes", cell_names=["1234567"] * 6)

    def render(self) -> str:
        return "\n".join([*(" ".join(cell or "." for cell in row) for row in self.board().rows), "1 2 3 4 5 6 7"])

    def move_text(self, action: int) -> str:
        return str(action + 1)

    def parse_move(self, text: str) -> int:
        return int(text) - 1

    def parse(self, text: str) -> None:
        # A printed board can be parsed, so its column numbers are skipped.
        rows = [
            row
            for line in text.replace("/", "\n").splitlines()
            if (row := "".join(line.split()).strip("1234567").upper())
        ]
        if [len(row) for row in rows] != [7] * 6 or set("".join(rows)) - set("XO."):
            raise ValueError(f"a Connect Four diagram has six rows of seven cells, each X, O or a dot; not {text!r}")
        cells = ".".join(reversed(rows))
        first, second = (sum(1 << cell for cell in range(47) if cells[cell] == disc) for disc in "XO")
        discs = np.uint64(first | second)
        if discs & ((discs << _EIGHT) | _BOTTOM) != discs:
            raise ValueError(f"a disc falls to the lowest empty cell, so no cell below one is empty; not {text!r}")
        player = first.bit_count() - second.bit_count()
        if player not in (0, 1):
            raise ValueError(f"X moves first, so X has as many discs as O or one more; not {text!r}")
        mine, theirs = (np.uint64(first), np.uint64(second)) if player == 0 else (np.uint64(second), np.uint64(first))
        last = theirs & (_landing(discs) >> _EIGHT)
        without_last = [theirs ^ disc for bit in range(48) if (disc := last & (_ONE << np.uint64(bit))) != _NONE]
        if _has_four(mine) or (_has_four(theirs) and all(_has_four(before) for before in without_last)):
            raise ValueError(f"four in a row end the game, so they include the last disc; not {text!r}")
        self.player, self.discs, self.mine, self.won = player, discs, mine, _has_four(theirs)
