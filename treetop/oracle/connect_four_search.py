"""The compiled search of the Connect Four solver, which answers whether the score of a position is at least a target.

A score is 22 minus the number of discs that the winner will have played, negative if the player to move loses, 0 for a
draw. So a larger score is an earlier win or a later loss. The search has a null window: every position below is only
asked whether it reaches the same bound, and most are answered without trying their moves. The search keeps its own
stack, so that it can pause after some positions and continue later.

The table holds bounds of the score of a position, which are valid wherever it occurs. The hash of a key is one to one;
its upper part is the index in the table and its lower part is in the entry, so no position is ever mistaken for
another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import compiled, inline_kernel
from treetop.compiler.intrinsics import lowest_bit, popcount, prefetch
from treetop.oracle.connect_four_bits import (
    BOARD,
    NONE,
    ONE,
    cannot_win,
    free_cells,
    mirrored,
    safe_moves,
    winning_cells,
)

CELLS = 42
LEAST_TABLE_BITS = 6
"""The fewest bits of a key that can be its index in the table: otherwise the rest would not fit into an entry."""

CONTROL = np.dtype([
    ("target", "i8"),  # the question: is the score for the player to move at the root at least this?
    ("root", "i8"),  # the number of discs at the root
    ("budget", "i8"),  # positions to search before a pause
    ("nodes", "i8"),  # positions searched so far
    ("value", "i8"),  # the answer: a lower bound of the score if it reaches the target, else an upper bound
    # Where the search continues: the frames in use, and the next position.
    ("depth", "i8"),
    ("discs", "i8"),
    ("own", "u8"),
    ("taken", "u8"),
    ("threats", "u8"),
])  # fmt: skip

FRAME = np.dtype([
    ("own", "u8"),  # the discs of the player to move
    ("taken", "u8"),  # the discs of both players
    ("hashed", "u8"),
    ("discs", "i8"),  # their number
    ("count", "i8"),  # children
    ("next", "i8"),  # the first child not yet searched
    ("best", "i8"),
    ("low", "i8"),  # what was known of the score before
    ("high", "i8"),
    ("nodes_before", "i8"),  # the number of positions searched before this one
])  # fmt: skip

_KEY_BITS = 49
_KEY = np.uint64((1 << _KEY_BITS) - 1)
_SCRAMBLE = np.uint64(0x1_9E37_79B9_7F4B)  # odd, so that the multiplication is invertible
_HALF = np.uint64(25)
# An entry, from its low end: 6 bits for each bound, 6 for the work, 43 for the key's lower part. Nothing is stored as
# 0.
_BOUND, _WORK, _TAG = np.uint64(6), np.uint64(12), np.uint64(18)
_SIX_BITS = np.uint64(63)
_TAG_BITS = np.uint64((1 << (_KEY_BITS - LEAST_TABLE_BITS)) - 1)
_OFFSET = 32
# A child, from its low end: its threats, its cell, its rank.
_CELL, _RANK = np.uint64(49), np.uint64(55)
_NO_SCORE = -100
_MIRROR_UNTIL = 16  # later in the game a mirrored position is too rare to look for
_CENTRE = np.array([min(cell // 7, 6 - cell // 7) for cell in range(49)])


@inline_kernel
def _hashed(own: Any, taken: Any, discs: int) -> Any:
    """Return 49 well-mixed bits that identify the position up to its mirror image."""
    key = own + taken
    if discs < _MIRROR_UNTIL:
        key = min(key, mirrored(key))
    key = (key * _SCRAMBLE) & _KEY
    key ^= key >> _HALF
    return (key * _SCRAMBLE) & _KEY


@inline_kernel
def _find(table: Any, hashed: Any, shift: Any) -> Any:
    """Return the table's entry of a position; 0 for none."""
    place, tag = (hashed >> shift) & ~ONE, hashed & _TAG_BITS
    if table[place] >> _TAG == tag:
        return table[place]
    return table[place | ONE] if table[place | ONE] >> _TAG == tag else NONE


@inline_kernel
def _low(entry: Any) -> Any:
    return np.int64(entry & _SIX_BITS) - _OFFSET


@inline_kernel
def _high(entry: Any) -> Any:
    return np.int64((entry >> _BOUND) & _SIX_BITS) - _OFFSET


@inline_kernel
def _keep(table: Any, hashed: Any, shift: Any, low: int, high: int, nodes: int) -> None:
    """Store bounds. Of two slots the first is for what took the most work, the second for the latest."""
    work = NONE
    while nodes > 1:
        nodes >>= 1
        work += ONE
    place, tag = (hashed >> shift) & ~ONE, hashed & _TAG_BITS
    entry = (tag << _TAG) | (work << _WORK) | (np.uint64(high + _OFFSET) << _BOUND) | np.uint64(low + _OFFSET)
    first = table[place]
    if first >> _TAG == tag:
        table[place] = entry
    elif (first >> _WORK) & _SIX_BITS <= work:
        table[place | ONE] = first
        table[place] = entry
    else:
        table[place | ONE] = entry


@inline_kernel
def _follow(own: Any, taken: Any, threats: Any, discs: int, alpha: int) -> Any:
    """Play on while there is only one move that does not lose at once.

    Return the position that was reached, its window, its safe moves, and its value if the rules or the window decide
    it: then no moves.
    """
    while True:
        moves = safe_moves(free_cells(taken), threats)
        if moves == NONE:
            return own, taken, threats, discs, alpha, moves, -((CELLS - discs) >> 1)
        if discs >= CELLS - 2:
            return own, taken, threats, discs, alpha, NONE, 0
        low, high = -((CELLS - 2 - discs) >> 1), (CELLS - 1 - discs) >> 1  # no player wins with the next disc
        if low > alpha or high <= alpha:
            return own, taken, threats, discs, alpha, NONE, low if low > alpha else high
        if moves & (moves - ONE) != NONE:
            return own, taken, threats, discs, alpha, moves, 0
        moved = own | moves
        own ^= taken
        taken |= moves
        threats = winning_cells(moved, BOARD & ~taken)
        discs += 1
        alpha = -alpha - 1


@inline_kernel
def _list_children(
    children: Any, hashes: Any, table: Any, shift: Any, own: Any, taken: Any, discs: int, moves: Any
) -> Any:
    """Write the children in the order of the search: many winning cells first, then the middle of the board.

    Return how many there are, or -1 if one of them loses at once for the other player; and how many hashes of children
    were written.
    """
    other = own ^ taken
    count, hashes_count = 0, 0
    while moves != NONE:
        move = moves & (NONE - moves)
        moves ^= move
        filled = taken | move
        threats = winning_cells(own | move, BOARD & ~filled)
        replies = safe_moves(free_cells(filled), threats)
        if replies == NONE:
            return -1, 0
        if replies & (replies - ONE) != NONE:  # a forced reply is played at once and never stored
            hashed = _hashed(other, filled, discs + 1)
            prefetch(table, np.int64((hashed >> shift) & ~ONE))
            hashes[hashes_count] = hashed
            hashes_count += 1
        cell = lowest_bit(move)
        child = (np.uint64(8 * popcount(threats) + _CENTRE[cell]) << _RANK) | (np.uint64(cell) << _CELL) | threats
        place = count
        while place > 0 and children[place - 1] < child:
            children[place] = children[place - 1]
            place -= 1
        children[place] = child
        count += 1
    return count, hashes_count


@inline_kernel
def _best_known(hashes: Any, count: int, table: Any, shift: Any) -> int:
    """Return the highest score that the table guarantees by one of the children."""
    best = _NO_SCORE
    for index in range(count):
        entry = _find(table, hashes[index], shift)
        if entry != NONE:
            best = max(best, -_high(entry))
    return best


@inline_kernel
def _open(
    frame: Any,
    children: Any,
    hashes: Any,
    table: Any,
    shift: Any,
    own: Any,
    taken: Any,
    discs: int,
    alpha: int,
    moves: Any,
) -> Any:
    """Visit a position with more than one safe move: return (True, its value) if that is known well enough; else fill
    the frame.
    """
    wants_to_win = alpha >= 0
    hopeful = own if wants_to_win else own ^ taken
    if cannot_win(hopeful, taken, (discs & 1 == 0) == wants_to_win):
        return True, 0
    hashed = _hashed(own, taken, discs)
    low, high = -((CELLS - 2 - discs) >> 1), (CELLS - 1 - discs) >> 1
    entry = _find(table, hashed, shift)
    if entry != NONE:
        low, high = _low(entry), _high(entry)
        if low > alpha or high <= alpha:
            return True, low if low > alpha else high
    count, hashes_count = _list_children(children, hashes, table, shift, own, taken, discs, moves)
    if count < 0:
        return True, (CELLS - 1 - discs) >> 1
    high = min(high, (CELLS - 3 - discs) >> 1)  # no move wins by force with the disc after next
    if high <= alpha:
        return True, high
    known = _best_known(hashes, hashes_count, table, shift)
    if known > alpha:
        return True, known
    frame.own, frame.taken, frame.hashed, frame.discs = own, taken, hashed, discs
    frame.count, frame.next, frame.best = count, 0, _NO_SCORE
    frame.low, frame.high = low, high
    return False, 0


@compiled(python_errors=False)
def prove(
    game: Any,  # noqa: ARG001
    control: Any,
    table: Any,
    table_bits: int,
    frames: Any,
    children: Any,
    hashes: Any,
) -> bool:
    """Continue a search until it is answered (True) or until its budget is spent (False)."""
    state = control[0]
    target, root, nodes = state.target, state.root, state.nodes
    own, taken, threats, discs, depth = state.own, state.taken, state.threats, state.discs, state.depth
    shift = np.uint64(_KEY_BITS - table_bits)
    stop = nodes + state.budget
    while nodes < stop:
        nodes += 1
        alpha = target - 1 if (discs ^ root) & 1 == 0 else -target
        own, taken, threats, discs, alpha, moves, value = _follow(own, taken, threats, discs, alpha)
        decided = moves == NONE
        if not decided:
            decided, value = _open(
                frames[depth], children[depth], hashes, table, shift, own, taken, discs, alpha, moves
            )
            if not decided:
                frames[depth].nodes_before = nodes
                depth += 1
        while decided and depth > 0:  # propagate the value upwards as far as it decides
            frame = frames[depth - 1]
            value = -value if (discs ^ frame.discs) & 1 else value
            discs = frame.discs
            alpha = target - 1 if (discs ^ root) & 1 == 0 else -target
            frame.best = max(frame.best, value)
            decided = frame.best > alpha or frame.next == frame.count
            if decided:
                value = frame.best
                low, high = (value, frame.high) if value > alpha else (frame.low, value)
                _keep(table, frame.hashed, shift, low, high, nodes - frame.nodes_before)
                depth -= 1
        if depth == 0:
            state.nodes, state.value = nodes, value if (discs ^ root) & 1 == 0 else -value
            return True
        frame = frames[depth - 1]
        child = children[depth - 1, frame.next]
        frame.next += 1
        own, taken = frame.own ^ frame.taken, frame.taken | (ONE << ((child >> _CELL) & _SIX_BITS))
        threats, discs = child & ((ONE << _CELL) - ONE), frame.discs + 1
    state.nodes, state.depth, state.discs = nodes, depth, discs
    state.own, state.taken, state.threats = own, taken, threats
    return False
