"""Chess: random moves, and moves of rollouts that look for checkmates and captures.

The functions take a state of the game, and ask its methods which squares each kind of piece can reach.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import compiled, local_copy, lowest_bit
from treetop.games.chess_moves import (
    ALL,
    LAST_RANK,
    NONE,
    ONE,
    bishop_attacks,
    bit,
    file_attacks,
    flip,
    jumps_ahead,
    jumps_back,
    nth_of,
    pawn_attacks,
    piece_attacks,
    rank_attacks,
    rook_attacks,
    size,
)
from treetop.games.chess_tables import (
    AHEAD_LEFT,
    AHEAD_RIGHT,
    DELTAS,
    FALLING,
    JUMP_PLANES,
    KING,
    KNIGHT,
    PAWN_PLANES,
    PLANE,
    PROMOTIONS,
    RISING,
)

_QUEEN, _ROOK, _MINOR, _PAWN = range(4)


@compiled
def attacks_of_mover(state: Any) -> np.uint64:
    """Return the squares that the player to move attacks or defends."""
    mine = state.mine
    kings = ~(state.pawns | state.knights | state.diagonal | state.straight)
    empty = ~(mine | state.theirs)
    found = piece_attacks(mine & state.knights, mine & state.diagonal, mine & state.straight, mine & kings, empty)
    return found | pawn_attacks(mine & state.pawns)


@compiled
def slide_of(state: Any, rooks: Any, bishops: Any, index: int, few: int) -> int:
    """Return a move of a sliding piece by its number; the first `few` are straight.

    The piece is the first one from the target backwards.
    """
    occupied = state.mine | state.theirs
    if index < few:
        which, end = nth_of(rooks, index)
        line = file_attacks(end, occupied) if which & 1 == 0 else rank_attacks(end, occupied)
        line &= state.straight
        increasing = which < 2
    else:
        which, end = nth_of(bishops, index - few)
        line = bishop_attacks(end, occupied) & (RISING[end] if which & 1 == 0 else FALLING[end])
        line &= state.diagonal
        increasing = which == 0 or which == 3
    below = bit(end) - ONE
    start = lowest_bit(line & state.mine & (below if increasing else ~below)) & 63
    return 64 * int(PLANE[64 * start + end]) + start


@compiled
def draw_move(state: Any, rng: Any) -> int:
    """Return a random legal move, drawn uniformly from sets of moves; no list is made."""
    pawns, rooks, bishops = state.pawn_targets(), state.straight_targets(), state.diagonal_targets()
    last = LAST_RANK
    steps = pawns[0] & ~last, pawns[1], pawns[2] & ~last, pawns[3] & ~last
    tops = pawns[2] & last, pawns[0] & last, pawns[3] & last, NONE
    knights, targets = state.free_knights(), ~state.mine & state.allowed
    ahead, back = jumps_ahead(knights, targets), jumps_back(knights, targets)
    others = state.king_targets(), state.rooks_to_castle(), state.takers, NONE
    by_steps = size(steps)
    by_rooks = by_steps + size(rooks)
    by_bishops = by_rooks + size(bishops)
    by_ahead = by_bishops + size(ahead)
    by_back = by_ahead + size(back)
    by_others = by_back + size(others)
    index = rng.below(by_others + 4 * size(tops))
    if index < by_steps:
        which, end = nth_of(steps, index)
        plane = int(PAWN_PLANES[which])
        return 64 * plane + end - int(DELTAS[plane])
    if index < by_bishops:
        return slide_of(state, rooks, bishops, index - by_steps, by_rooks - by_steps)
    if index < by_back:
        if index < by_ahead:
            which, end = nth_of(ahead, index - by_bishops)
            plane = JUMP_PLANES + (which if which < 2 else which + 4)
        else:
            which, end = nth_of(back, index - by_ahead)
            plane = JUMP_PLANES + 2 + which
        return 64 * plane + end - int(DELTAS[plane])
    if index < by_others:
        which, end = nth_of(others, index - by_back)
        start = end if which == 2 else state.king()
        end = state.passing if which == 2 else end
        return 64 * int(PLANE[64 * start + end]) + start
    which, end = nth_of(tops, (index - by_others) >> 2)
    piece = (index - by_others) & 3
    start = end - 7 - which
    return 64 * (int(PLANE[64 * start + end]) if piece == 3 else PROMOTIONS + 3 * piece + which) + start


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
    rest = state.theirs & attacks_of_mover(state) & state.allowed
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
    if (ahead | left | right) & LAST_RANK == NONE:
        return -1
    if left & LAST_RANK != NONE:
        return 64 * AHEAD_LEFT + lowest_bit(left & LAST_RANK) - 7
    if right & LAST_RANK != NONE:
        return 64 * AHEAD_RIGHT + lowest_bit(right & LAST_RANK) - 9
    return lowest_bit(ahead & LAST_RANK) - 8
