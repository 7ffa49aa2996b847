"""Connect Four on bitboards: the cells, the lines, and what follows from a position without a search.

The cell in a row and column is bit 7 * column + row, row 0 at the bottom. Row 6 is above the board and always empty: no
shift carries a line from one column to the next, and adding the bottom row to the discs gives the next free cell of
every column.
"""

from __future__ import annotations

import numpy as np

from treetop.compiler.functions import inline_kernel
from treetop.compiler.intrinsics import popcount

NONE, ONE = np.uint64(0), np.uint64(1)
BOTTOM = np.uint64(sum(1 << 7 * column for column in range(7)))
BOARD = np.uint64(0x3F * int(BOTTOM))
ABOVE = np.uint64(int(BOTTOM) << 6)
LOWER = np.uint64(
    0b010101 * int(BOTTOM)
)  # the lower cell of each pair, when columns are filled in pairs from the bottom
UPPER = np.uint64(0b101010 * int(BOTTOM))
_1, _2, _3, _6, _7, _8, _14, _28, _42 = (np.uint64(step) for step in (1, 2, 3, 6, 7, 8, 14, 28, 42))
_COLUMNS = [np.uint64(0x7F << 7 * column) for column in range(7)]
_COLUMN_0, _COLUMN_1, _COLUMN_2, _COLUMN_3, _COLUMN_4, _COLUMN_5, _COLUMN_6 = _COLUMNS


@inline_kernel
def free_cells(discs: np.uint64) -> np.uint64:
    """Return the cell of each column where the next disc would be placed; none for a full column."""
    return (discs + BOTTOM) & BOARD


@inline_kernel
def _ends_and_gaps(discs: np.uint64, step: np.uint64) -> np.uint64:
    """Return the cells that make four in one direction with three of the discs."""
    behind = (discs << step) & (discs << (step + step))
    ahead = (discs >> step) & (discs >> (step + step))
    found = (behind & (discs << (step + step + step))) | (behind & (discs >> step))
    return found | (ahead & (discs << step)) | (ahead & (discs >> (step + step + step)))


@inline_kernel
def winning_cells(discs: np.uint64, empty: np.uint64) -> np.uint64:
    """Return the empty cells, playable now or later, that make four with three of the discs."""
    on_top = (discs << _1) & (discs << _2) & (discs << _3)
    return (on_top | _ends_and_gaps(discs, _7) | _ends_and_gaps(discs, _8) | _ends_and_gaps(discs, _6)) & empty


@inline_kernel
def has_four(discs: np.uint64) -> bool:
    """Return whether four of the discs are in a line."""
    upright = discs & (discs >> _1)
    level = discs & (discs >> _7)
    rising = discs & (discs >> _8)
    falling = discs & (discs >> _6)
    found = (upright & (upright >> _2)) | (level & (level >> _14))
    found |= (rising & (rising >> (_8 + _8))) | (falling & (falling >> (_6 + _6)))
    return bool(found != NONE)


@inline_kernel
def safe_moves(free: np.uint64, threats: np.uint64) -> np.uint64:
    """Return the free cells after which the other player, whose winning cells are `threats`, cannot win at once."""
    urgent = free & threats
    if urgent != NONE:
        free = urgent if urgent & (urgent - ONE) == NONE else NONE  # two threats cannot both be blocked
    return free & ~(threats >> _1)  # a disc may not be placed right below a winning cell


@inline_kernel
def mirrored(cells: np.uint64) -> np.uint64:
    """Return the mirrored board: the columns in the opposite order."""
    outer = ((cells << _42) & _COLUMN_6) | ((cells >> _42) & _COLUMN_0)
    middle = ((cells << _28) & _COLUMN_5) | ((cells >> _28) & _COLUMN_1)
    inner = ((cells << _14) & _COLUMN_4) | ((cells >> _14) & _COLUMN_2)
    return outer | middle | inner | (cells & _COLUMN_3)


@inline_kernel
def from_here_up(cells: np.uint64) -> np.uint64:
    """Return each of these cells and all above it; at most one cell per column."""
    return ((cells + BOARD) & ABOVE) - cells


@inline_kernel
def cannot_win(discs: np.uint64, taken: np.uint64, first: bool) -> bool:
    """Return whether the owner of `discs`, the game's first player or its second, cannot win against good play; `taken`
    are all discs.

    It is true if even all empty cells would not make four. For the first player there is more. The second player can
    answer in the same column as long as there is a cell left, and so take the upper cell of each pair. Only a column
    with an odd number of empty cells ends without an answer. The second player then begins another such column (there
    is one, by the parity of the board), and answers there from then on. So in columns with an even number of empty
    cells the first player gets only lower cells; in the others perhaps any. If there is only one of these, the second
    player is to move and begins it: then the first player gets only lower cells there too.
    """
    within = BOARD & ~taken
    if first:
        odd = free_cells(taken) & UPPER
        if popcount(odd) == 1:
            odd = NONE
        within &= LOWER | from_here_up(odd)
    return not has_four(discs | within)
