"""Attacks, pins and sets of moves of chess, on bit boards seen by the player to move.

Square (rank, file) is bit 8 * rank + file; rank 0 is the side of the player to move, so pawns always move up. Files are
not mirrored: e1 of Black's king, seen by Black, is e8. `diagonal` holds bishops and queens, `straight` rooks and
queens; what is in none of pawns, knights, diagonal and straight is a king.

Sliding attacks of one piece use the subtraction o ^ (o - 2s) on a line and on its mirror image, those of many pieces a
parallel-prefix fill in each direction. Neither needs large tables, which would slow the compiler.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import compiled, lowest_bit, mix_bits, nth_bit, popcount
from treetop.games.chess_tables import (
    AHEAD,
    AHEAD_LEFT,
    AHEAD_RIGHT,
    FALLING,
    KING,
    KNIGHT,
    PLANE,
    PROMOTIONS,
    RANKS,
    RISING,
)

NONE, ONE, ALL = np.uint64(0), np.uint64(1), np.uint64(2**64 - 1)
FIRST_RANK, LAST_RANK = np.uint64(0xFF), np.uint64(0xFF << 56)
_THIRD_RANK = np.uint64(0xFF << 16)
_FILE_A = np.uint64(0x0101_0101_0101_0101)
_NOT_A, _NOT_H = np.uint64(0xFEFE_FEFE_FEFE_FEFE), np.uint64(0x7F7F_7F7F_7F7F_7F7F)
_NOT_AB, _NOT_GH = np.uint64(0xFCFC_FCFC_FCFC_FCFC), np.uint64(0x3F3F_3F3F_3F3F_3F3F)
_DARK = np.uint64(0xAA55_AA55_AA55_AA55)
_1, _6, _7, _8, _9 = (np.uint64(shift) for shift in (1, 6, 7, 8, 9))
_10, _15, _16, _17, _32 = (np.uint64(shift) for shift in (10, 15, 16, 17, 32))
_EVEN_BYTES, _EVEN_PAIRS = np.uint64(0x00FF_00FF_00FF_00FF), np.uint64(0x0000_FFFF_0000_FFFF)
_SALTS = tuple(np.uint64(0x9E37_79B9_7F4A_7C15 * number % 2**64) for number in range(1, 9))


@compiled(inline=True)
def flip(word: np.uint64) -> np.uint64:
    """Return a board seen from the other side: the order of its ranks, which are bytes, is reversed."""
    word = ((word >> _8) & _EVEN_BYTES) | ((word & _EVEN_BYTES) << _8)
    word = ((word >> _16) & _EVEN_PAIRS) | ((word & _EVEN_PAIRS) << _16)
    return (word >> _32) | (word << _32)


@compiled(inline=True)
def bit(square: int) -> np.uint64:
    """Return the board with one square."""
    return ONE << np.uint64(square)


@compiled(inline=True)
def file_of(square: int) -> np.uint64:
    """Return the file of a square."""
    return _FILE_A << np.uint64(square & 7)


@compiled(inline=True)
def rank_of(square: int) -> np.uint64:
    """Return the rank of a square."""
    return FIRST_RANK << np.uint64(square & 56)


# The attacks of one sliding piece.


@compiled(inline=True)
def _line(square: int, line: np.uint64, occupied: np.uint64) -> np.uint64:
    """Return the attacks along a file or a diagonal, whose squares without the piece's own are `line`."""
    piece = bit(square)
    ahead = occupied & line
    behind = flip(ahead)
    ahead -= piece
    behind -= flip(piece)
    return (ahead ^ flip(behind)) & line


@compiled(inline=True)
def rank_attacks(square: int, occupied: np.uint64) -> np.uint64:
    """Return the attacks of a rook along its rank."""
    rank = np.uint64(square & 56)
    inner = (occupied >> rank >> _1) & np.uint64(63)
    return np.uint64(RANKS[np.uint64((square & 7) << 6) | inner]) << rank


@compiled(inline=True)
def file_attacks(square: int, occupied: np.uint64) -> np.uint64:
    """Return the attacks of a rook along its file."""
    return _line(square, file_of(square) ^ bit(square), occupied)


@compiled(inline=True)
def rook_attacks(square: int, occupied: np.uint64) -> np.uint64:
    """Return the attacks of a rook, with the first piece in each direction."""
    return rank_attacks(square, occupied) | file_attacks(square, occupied)


@compiled(inline=True)
def bishop_attacks(square: int, occupied: np.uint64) -> np.uint64:
    """Return the attacks of a bishop, with the first piece in each direction."""
    return _line(square, RISING[square], occupied) | _line(square, FALLING[square], occupied)


# The attacks of many pieces.


@compiled(inline=True)
def _up(movers: np.uint64, empty: np.uint64, step: np.uint64) -> np.uint64:
    """Return the squares that pieces reach in a direction of increasing numbers, with the first occupied ones.

    Squares where the direction would come from the other edge must not be in `empty`.
    """
    twice = step + step
    movers |= empty & (movers << step)
    empty &= empty << step
    movers |= empty & (movers << twice)
    empty &= empty << twice
    movers |= empty & (movers << (twice + twice))
    return movers << step


@compiled(inline=True)
def _down(movers: np.uint64, empty: np.uint64, step: np.uint64) -> np.uint64:
    twice = step + step
    movers |= empty & (movers >> step)
    empty &= empty >> step
    movers |= empty & (movers >> twice)
    empty &= empty >> twice
    movers |= empty & (movers >> (twice + twice))
    return movers >> step


@compiled(inline=True)
def straight_moves(
    along_files: np.uint64, along_ranks: np.uint64, empty: np.uint64, targets: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return where rooks and queens can move: up, to the right, down, to the left.

    A square and a direction name a move: the piece is the first one in the opposite direction.
    """
    return (
        _up(along_files, empty, _8) & targets,
        _up(along_ranks, empty & _NOT_A, _1) & _NOT_A & targets,
        _down(along_files, empty, _8) & targets,
        _down(along_ranks, empty & _NOT_H, _1) & _NOT_H & targets,
    )


@compiled(inline=True)
def diagonal_moves(
    rising: np.uint64, falling: np.uint64, empty: np.uint64, targets: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return where bishops and queens can move: up right, down right, down left, up left."""
    return (
        _up(rising, empty & _NOT_A, _9) & _NOT_A & targets,
        _down(falling, empty & _NOT_A, _7) & _NOT_A & targets,
        _down(rising, empty & _NOT_H, _9) & _NOT_H & targets,
        _up(falling, empty & _NOT_H, _7) & _NOT_H & targets,
    )


@compiled(inline=True)
def jumps_ahead(knights: np.uint64, targets: np.uint64) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return where knights can jump: jumps 0, 1, 6 and 7."""
    return (
        (knights << _17) & _NOT_A & targets,
        (knights << _10) & _NOT_AB & targets,
        (knights << _6) & _NOT_GH & targets,
        (knights << _15) & _NOT_H & targets,
    )


@compiled(inline=True)
def jumps_back(knights: np.uint64, targets: np.uint64) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return where knights can jump: jumps 2, 3, 4 and 5."""
    return (
        (knights >> _6) & _NOT_AB & targets,
        (knights >> _15) & _NOT_A & targets,
        (knights >> _17) & _NOT_H & targets,
        (knights >> _10) & _NOT_GH & targets,
    )


@compiled(inline=True)
def pawn_moves(
    movers: np.uint64, takers: np.uint64, pinned: np.uint64, empty: np.uint64, theirs: np.uint64, allowed: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return where pawns can move: one ahead, two ahead, capturing to the left, to the right.

    `movers` may step ahead; `takers` may capture, those that are `pinned` only on the diagonal of the pin.
    """
    ahead = (movers << _8) & empty
    bound, prey, off = takers & pinned, theirs & allowed, ~pinned
    left = (takers << _7) & ~((bound << _7) & off) & _NOT_H & prey
    right = (takers << _9) & ~((bound << _9) & off) & _NOT_A & prey
    return ahead & allowed, ((ahead & _THIRD_RANK) << _8) & empty & allowed, left, right


@compiled(inline=True)
def union(sets: tuple[np.uint64, np.uint64, np.uint64, np.uint64]) -> np.uint64:
    """Return the squares of four sets."""
    return (sets[0] | sets[1]) | (sets[2] | sets[3])


@compiled(inline=True)
def size(sets: tuple[np.uint64, np.uint64, np.uint64, np.uint64]) -> int:
    """Return the number of members of four sets."""
    return (popcount(sets[0]) + popcount(sets[1])) + (popcount(sets[2]) + popcount(sets[3]))


@compiled(inline=True)
def list_targets(square: int, targets: np.uint64, count: int, out: Any) -> int:
    """Write the moves of a piece to some squares behind the first `count` actions; return how many there are then."""
    while targets != NONE:
        out[count] = 64 * int(PLANE[64 * square + lowest_bit(targets)]) + square
        count += 1
        targets &= targets - ONE
    return count


@compiled(inline=True)
def list_steps(targets: np.uint64, step: int, plane: int, count: int, out: Any) -> int:
    """Write the moves of one plane to some squares."""
    first = 64 * plane - step
    while targets != NONE:
        out[count] = first + lowest_bit(targets)
        count += 1
        targets &= targets - ONE
    return count


@compiled(inline=True)
def list_promotions(targets: np.uint64, side: int, count: int, out: Any) -> int:
    """Write the promotions of pawns that move to the left, ahead or to the right: side 0, 1 or 2."""
    count = list_steps(targets, 7 + side, (AHEAD_LEFT, AHEAD, AHEAD_RIGHT)[side], count, out)
    for piece in range(3):
        count = list_steps(targets, 7 + side, PROMOTIONS + 3 * piece + side, count, out)
    return count


@compiled(inline=True)
def nth_of(sets: tuple[np.uint64, np.uint64, np.uint64, np.uint64], index: int) -> tuple[int, int]:
    """Return the n-th member of four sets, counted through all of them: the number of its set, and the square."""
    first = popcount(sets[0])
    second = first + popcount(sets[1])
    third = second + popcount(sets[2])
    which, found, before = 0, sets[0], 0
    if index >= first:
        which, found, before = 1, sets[1], first
    if index >= second:
        which, found, before = 2, sets[2], second
    if index >= third:
        which, found, before = 3, sets[3], third
    return which, nth_bit(found, index - before)


@compiled(inline=True)
def piece_attacks(
    knights: np.uint64, diagonal: np.uint64, straight: np.uint64, king: np.uint64, empty: np.uint64
) -> np.uint64:
    """Return all squares that a player's pieces other than pawns attack or defend."""
    found = np.uint64(KING[lowest_bit(king) & 63]) | union(jumps_ahead(knights, ALL)) | union(jumps_back(knights, ALL))
    found |= union(straight_moves(straight, straight, empty, ALL))
    return found | union(diagonal_moves(diagonal, diagonal, empty, ALL))


@compiled(inline=True)
def pawn_attacks(pawns: np.uint64) -> np.uint64:
    """Return the squares that the pawns of the player to move attack or defend."""
    return (pawns << _7) & _NOT_H | (pawns << _9) & _NOT_A


@compiled(inline=True)
def pawn_attacks_down(pawns: np.uint64) -> np.uint64:
    """Return the squares that the pawns of the opponent attack or defend."""
    return (pawns >> _7) & _NOT_A | (pawns >> _9) & _NOT_H


@compiled(inline=True)
def spread(squares: np.uint64) -> np.uint64:
    """Return the squares to the left and to the right of some squares."""
    return (squares << _1) & _NOT_A | (squares >> _1) & _NOT_H


# What the king of the player to move allows.


@compiled(inline=True)
def checkers_of(
    king: int, theirs: np.uint64, pawns: np.uint64, knights: np.uint64, rook: np.uint64, bishop: np.uint64,
    straight: np.uint64, diagonal: np.uint64,
) -> np.uint64:  # fmt: skip
    """Return the opponent's pieces that give check; `rook` and `bishop` are the attacks from the king's square."""
    near = pawn_attacks(bit(king)) & pawns | np.uint64(KNIGHT[king]) & knights
    return theirs & (near | rook & straight | bishop & diagonal)


@compiled
def survey(
    mine: np.uint64, theirs: np.uint64, pawns: np.uint64, knights: np.uint64, diagonal: np.uint64, straight: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return the squares that the king may not enter, those where a check is answered, and the lines of pins.

    Without a check all squares answer it, with a double check none. A piece on a straight line of a pin can move only
    as a rook on that line, one on a diagonal only as a bishop on it.
    """
    occupied = mine | theirs
    kings = ~(pawns | knights | diagonal | straight)
    place = mine & kings
    king = lowest_bit(place) & 63
    attacked = pawn_attacks_down(pawns & theirs)
    attacked |= piece_attacks(
        knights & theirs, diagonal & theirs, straight & theirs, kings & theirs, ~(occupied ^ place)
    )
    rook, bishop = rook_attacks(king, occupied), bishop_attacks(king, occupied)
    allowed = ALL
    if attacked & place != NONE:
        checkers = checkers_of(king, theirs, pawns, knights, rook, bishop, straight, diagonal)
        allowed = NONE
        if checkers & (checkers - ONE) == NONE:
            allowed = checkers
            checker = lowest_bit(checkers) & 63
            if rook & checkers & straight != NONE:
                allowed |= rook & rook_attacks(checker, occupied)
            elif bishop & checkers & diagonal != NONE:
                allowed |= bishop & bishop_attacks(checker, occupied)
    pinned_straight, pinned_diagonal = NONE, NONE
    # Most kings stand on no line with an attacker that could pin a piece; then there is nothing to compute.
    if (file_of(king) | rank_of(king)) & ~rook & theirs & straight != NONE:
        without = occupied ^ (rook & mine)
        rook_beyond = rook_attacks(king, without)
        pinning = rook_beyond & ~rook & theirs & straight
        while pinning != NONE:
            pinned_straight |= pinning & ~(pinning - ONE) | rook_beyond & rook_attacks(lowest_bit(pinning), without)
            pinning &= pinning - ONE
    if (RISING[king] | FALLING[king]) & ~bishop & theirs & diagonal != NONE:
        without = occupied ^ (bishop & mine)
        bishop_beyond = bishop_attacks(king, without)
        pinning = bishop_beyond & ~bishop & theirs & diagonal
        while pinning != NONE:
            pinned_diagonal |= pinning & ~(pinning - ONE) | bishop_beyond & bishop_attacks(lowest_bit(pinning), without)
            pinning &= pinning - ONE
    return attacked, allowed, pinned_straight, pinned_diagonal


@compiled
def passing_takers(
    target: int, mine: np.uint64, theirs: np.uint64, pawns: np.uint64, knights: np.uint64, diagonal: np.uint64,
    straight: np.uint64,
) -> np.uint64:  # fmt: skip
    """Return the pawns that may capture en passant on a square: the king is not attacked afterwards."""
    found = NONE
    place = bit(target)
    passed = place >> _8
    near = ((place >> _7) & _NOT_A | (place >> _9) & _NOT_H) & mine & pawns
    king = lowest_bit(mine & ~(pawns | knights | diagonal | straight)) & 63
    while near != NONE:
        taker = near & ~(near - ONE)
        occupied = (mine | theirs) ^ taker ^ passed ^ place
        rook, bishop = rook_attacks(king, occupied), bishop_attacks(king, occupied)
        left = theirs ^ passed
        if checkers_of(king, left, pawns, knights, rook, bishop, straight, diagonal) == NONE:
            found |= taker
        near &= near - ONE
    return found


@compiled(inline=True)
def _span(one: int, other: int) -> np.uint64:
    """Return the squares of the first rank from one file to another."""
    low, high = min(one, other), max(one, other)
    return ((np.uint64(2) << np.uint64(high)) - ONE) & ~((ONE << np.uint64(low)) - ONE)


@compiled
def castling_rooks(
    king: int, castles: np.uint64, occupied: np.uint64, attacked: np.uint64, theirs_straight: np.uint64
) -> np.uint64:
    """Return the rooks with which the king may castle now, if it is not in check."""
    found = NONE
    rest = castles & FIRST_RANK
    while rest != NONE:
        rook = lowest_bit(rest)
        to, rook_to = (6, 5) if rook > king else (2, 3)
        path = _span(king, to)
        others = occupied ^ bit(king) ^ bit(rook)
        if (path | _span(rook, rook_to)) & others == NONE and path & attacked == NONE:
            # The rook may have stood between the king and an attacker on the first rank.
            after = others | bit(to) | bit(rook_to)
            if rank_attacks(to, after) & theirs_straight == NONE:
                found |= bit(rook)
        rest &= rest - ONE
    return found


@compiled(inline=True)
def is_dead(pawns: np.uint64, knights: np.uint64, diagonal: np.uint64, straight: np.uint64) -> bool:
    """Return whether the material is insufficient: bishops of one colour of squares, or one knight, or nothing."""
    if pawns | straight != NONE:
        return False
    if knights == NONE:
        return bool(diagonal & _DARK == NONE or diagonal & ~_DARK == NONE)
    return bool(diagonal == NONE and knights & (knights - ONE) == NONE)


@compiled(inline=True)
def placement_key(
    mine: np.uint64, theirs: np.uint64, pawns: np.uint64, knights: np.uint64, diagonal: np.uint64, straight: np.uint64,
    castles: np.uint64, extra: int,
) -> np.uint64:  # fmt: skip
    """Return the key of a placement; each word is mixed on its own, so the processor does it in parallel."""
    found = mix_bits(mine ^ _SALTS[0]) ^ mix_bits(theirs ^ _SALTS[1]) ^ mix_bits(pawns ^ _SALTS[2])
    found ^= mix_bits(knights ^ _SALTS[3]) ^ mix_bits(diagonal ^ _SALTS[4]) ^ mix_bits(straight ^ _SALTS[5])
    return found ^ mix_bits((castles | np.uint64(extra) << _8) ^ _SALTS[6])


@compiled
def back_rank(number: int) -> int:
    """Return a start position of Chess960 by its number, as four bits for each file: 1 knight, 2 bishop, 3 rook,
    4 queen, 5 king.
    """
    rank = 2 << (4 * (2 * (number % 4) + 1))
    number //= 4
    rank |= 2 << (4 * (2 * (number % 4)))
    number //= 4
    rank = _placed(rank, number % 6, 4)
    number //= 6
    first, pairs = 0, 4  # the pairs of free files of the knights, by the first of the two
    while number >= pairs:
        number -= pairs
        first, pairs = first + 1, pairs - 1
    rank = _placed(_placed(rank, first + 1 + number, 1), first, 1)
    return _placed(_placed(_placed(rank, 0, 3), 0, 5), 0, 3)


@compiled
def _placed(rank: int, n: int, piece: int) -> int:
    """Return a rank with a piece on its n-th free file."""
    for file in range(8):
        if rank >> (4 * file) & 15 == 0:
            if n == 0:
                return rank | piece << (4 * file)
            n -= 1
    return rank
