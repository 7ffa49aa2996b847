"""Chess: moves of rollouts that look for checkmates and captures, and the estimate of a position."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.intrinsics import local_copy
from treetop.game import compiled, lowest_bit, popcount
from treetop.games.chess_moves import (
    ALL,
    KING,
    KNIGHT,
    LAST_ROW,
    NONE,
    ONE,
    PLANE,
    bishop_attacks,
    bit,
    flip,
    pawn_attacks,
    piece_attacks,
    rook_attacks,
)

_QUEEN, _ROOK, _MINOR, _PAWN = range(4)
_PAWN_OF_VALUE = 300.0  # a lead of so many hundredths of a pawn is worth half a win
_TEMPO = 10.0


def _worth() -> Any:
    """Return the worth of a pawn, knight, bishop, rook, queen, king and king in an endgame on each square.

    The unit is a hundredth of a pawn; squares are seen by the owner of the piece.
    """
    rows, files = np.divmod(np.arange(64), 8)
    middle = 3.5 - np.maximum(abs(rows - 3.5), abs(files - 3.5))  # 0 at the edge, 3 in the middle
    file_middle = 3.5 - abs(files - 3.5)
    advance = np.clip(rows - 1, 0, 5)
    found = np.stack(
        [
            90 + 2.5 * advance**2 + np.where(file_middle >= 2, 4.0 * advance, 0.0) + 3 * file_middle,
            300 + 14 * middle,
            315 + 7 * middle + np.where(rows == 0, -8, 0),
            500 + np.where(rows == 6, 20, 0) + 2 * file_middle,
            920 + 3 * middle,
            -14.0 * rows - np.where(rows < 2, 10 * file_middle, 30),
            14 * middle,
        ]
    )
    return np.rint(found).astype(np.int16)


_WORTH = _worth()


@compiled
def sum_of_worth(mine: np.uint64, state: Any, turned: int, endgame: bool) -> int:
    """Return the worth of one player's pieces; `turned` is 56 if they are seen by the opponent."""
    queens = state.diagonal & state.straight
    total = 0
    kinds = (
        state.pawns,
        state.knights,
        state.diagonal & ~queens,
        state.straight & ~queens,
        queens,
        ~(state.pawns | state.knights | state.diagonal | state.straight),
    )
    for kind in range(6):
        row = 6 if kind == 5 and endgame else kind
        rest = mine & kinds[kind]
        while rest != NONE:
            total += int(_WORTH[row, lowest_bit(rest) ^ turned])
            rest &= rest - ONE
    return total


@compiled
def attacks_of_mover(state: Any) -> np.uint64:
    """Return the squares that the player to move attacks or defends."""
    mine = state.mine
    kings = ~(state.pawns | state.knights | state.diagonal | state.straight)
    empty = ~(mine | state.theirs)
    found = piece_attacks(mine & state.knights, mine & state.diagonal, mine & state.straight, mine & kings, empty)
    return found | pawn_attacks(mine & state.pawns)


@compiled
def estimate(state: Any) -> float:
    """Return an estimate for the player to move, from material, places of the pieces and mobility."""
    mine, theirs = state.mine, state.theirs
    lead = sum_of_worth(mine, state, 0, popcount(theirs & state.straight) <= 1)
    lead -= sum_of_worth(theirs, state, 56, popcount(mine & state.straight) <= 1)
    freedom = popcount(attacks_of_mover(state) & ~mine) - popcount(state.attacked & ~theirs)
    scaled = (lead + 2.0 * freedom + _TEMPO) / _PAWN_OF_VALUE
    return scaled / (1.0 + abs(scaled))


@compiled
def find_mate(state: Any) -> int:
    """Return a move of a queen or rook that checkmates, or -1."""
    mine, occupied = state.mine, state.mine | state.theirs
    kings = ~(state.pawns | state.knights | state.diagonal | state.straight)
    target = lowest_bit(state.theirs & kings) & 63
    rook, bishop = rook_attacks(target, occupied), bishop_attacks(target, occupied)
    rest = mine & state.straight
    while rest != NONE:
        start = lowest_bit(rest)
        checks, reach = rook, rook_attacks(start, occupied)
        if state.diagonal & bit(start) != NONE:
            checks |= bishop
            reach |= bishop_attacks(start, occupied)
        ends = reach & checks & state.allowed & ~mine
        if (state.pinned_straight | state.pinned_diagonal) & bit(start) != NONE:
            ends = NONE
        while ends != NONE:
            action = 64 * int(PLANE[64 * start + lowest_bit(ends)]) + start
            after = local_copy(state)
            after.apply(action)
            if after.allowed != ALL and not after.can_move():
                return action
            ends &= ends - ONE
        rest &= rest - ONE
    return -1


@compiled
def find_capturer(state: Any, end: int, worth: int) -> int:
    """Return the square of the least valuable piece that captures on a square without losing more than it takes.

    It is -1 if there is none; `worth` is the kind of the piece on the square.
    """
    mine, place, occupied = state.mine, bit(end), state.mine | state.theirs
    queens = state.diagonal & state.straight
    free = ~(state.pinned_straight | state.pinned_diagonal)
    by_straight = mine & (free | state.pinned_straight) if place & state.pinned_straight != NONE else mine & free
    by_diagonal = mine & (free | state.pinned_diagonal) if place & state.pinned_diagonal != NONE else mine & free
    below = flip(pawn_attacks(flip(place)))
    found = by_diagonal & state.pawns & below
    is_safe = state.attacked & place == NONE
    rook, bishop = rook_attacks(end, occupied), bishop_attacks(end, occupied)
    if found == NONE and (is_safe or worth <= _MINOR):
        found = mine & free & state.knights & KNIGHT[end] | by_diagonal & state.diagonal & ~queens & bishop
    if found == NONE and (is_safe or worth <= _ROOK):
        found = by_straight & state.straight & ~queens & rook
    if found == NONE and (is_safe or worth <= _QUEEN):
        found = queens & (by_straight & rook | by_diagonal & bishop)
    if found == NONE and is_safe:
        found = mine & ~(state.pawns | state.knights | state.diagonal | state.straight) & KING[end]
    return lowest_bit(found) if found != NONE else -1


@compiled
def find_capture(state: Any) -> int:
    """Return a capture of the most valuable piece that can be taken without a loss, or -1."""
    rest = state.theirs & attacks_of_mover(state) & (state.allowed | state.mine)
    queens = state.diagonal & state.straight
    kinds = (queens, state.straight & ~queens, (state.knights | state.diagonal) & ~queens, state.pawns)
    for worth in range(4):
        prey = rest & kinds[worth]
        while prey != NONE:
            end = lowest_bit(prey)
            start = find_capturer(state, end, worth)
            if start >= 0:
                return 64 * int(PLANE[64 * start + end]) + start
            prey &= prey - ONE
    return -1


@compiled
def find_promotion(state: Any) -> int:
    """Return a promotion to a queen, or -1."""
    ahead, _, left, right = state.pawn_targets()
    if (ahead | left | right) & LAST_ROW == NONE:
        return -1
    if left & LAST_ROW != NONE:
        return 64 * 49 + lowest_bit(left & LAST_ROW) - 7
    if right & LAST_ROW != NONE:
        return 64 * 7 + lowest_bit(right & LAST_ROW) - 9
    return lowest_bit(ahead & LAST_ROW) - 8
