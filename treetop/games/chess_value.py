"""Chess: the estimate of a position, by a static evaluation and a search of captures.

Everything is counted in whole hundredths of a pawn, so both modes agree; the last step makes one number from -1 to 1.
The static evaluation sees each side's pieces from its own side of the board: material, places, mobility, pawns and the
attack on the king. Most terms have a worth in the middlegame and one in the endgame; both are kept in one number, as
65,536 * middlegame + endgame.

The search of captures finds what hangs. It counts material only, so that a position in it costs little: the player to
move takes a piece by the least valuable attacker, where the exchange on that square loses nothing, or stops. It is at
most `_CAPTURES` captures deep; a factory makes one function for each depth, since compiled code has no recursion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treetop.game import compiled, lowest_bit, popcount
from treetop.games.chess_moves import (
    LAST_RANK,
    NONE,
    ONE,
    bishop_attacks,
    bit,
    file_of,
    flip,
    pawn_attacks,
    pawn_attacks_down,
    piece_attacks,
    rook_attacks,
    spread,
)
from treetop.games.chess_tables import KING, KNIGHT

_Boards = tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]

_PAWN, _KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING = range(6)
_WORTH = np.array([100, 320, 335, 500, 970, 10_000], np.int64)  # in exchanges
_PROMOTED = 870  # a queen for a pawn
_CAPTURES = 6
_HALF = 300.0  # a lead of so much is worth half a win
_TEMPO = 12
_FULL = 24  # pieces of both sides at the start, by `_PHASE`
_PHASE = np.array([0, 1, 1, 2, 4], np.int64)
_MOVES = 200  # a lead vanishes on the way to this number of quiet moves


def _both(middlegame: float, endgame: float) -> int:
    """Return two worths in one number."""
    return (round(middlegame) << 16) + round(endgame)


def _places() -> Any:
    """Return the worth of each kind of piece on each square: [64 * kind + square], squares seen by their owner."""
    found = np.zeros(6 * 64, np.int64)
    for square in range(64):
        rank, file = divmod(square, 8)
        centre = 3.5 - max(abs(rank - 3.5), abs(file - 3.5))  # 0 at the edge, 3 in the middle
        inner = 3.5 - abs(file - 3.5)
        central = inner >= 3
        step = max(rank - 1, 0)
        pawn = 82 + (2 * step * step - 3 if step < 5 else 60) + (9 * min(step, 3) - 6 if central else inner - 2)
        shelter = (22 - 4 * abs(file - 6) if file > 4 else 20 - 4 * abs(file - 1) if file < 3 else -12) - 22 * rank
        worths = (
            (pawn, 98 + 9 * step),
            (316 + 12 * centre - (18 if rank == 0 else 0) + (8 if 3 <= rank <= 5 else 0), 300 + 11 * centre),
            (326 + 6 * centre - (14 if rank == 0 else 0), 318 + 5 * centre),
            (478 + 3 * inner + (18 if rank == 6 else 0), 520 + (16 if rank == 6 else 2 * rank)),
            (975 + 2 * centre - (4 if rank == 0 else 0), 960 + 9 * centre),
            (max(shelter, -90), 14 * centre + (6 if rank > 1 else 0)),
        )
        for kind, worth in enumerate(worths):
            found[64 * kind + square] = _both(*worth)
    return found


_PLACES = _places()
_PAIR = _both(28, 45)
_FREEDOM = np.array([0, _both(4, 4), _both(4, 5), _both(2, 4), _both(1, 3)], np.int64)  # a square that it reaches
_USUAL = np.array([0, 4, 6, 7, 13], np.int64)
_THREAT = np.array([0, 2, 2, 3, 4], np.int64)  # what a piece near the king is worth in an attack
_OPEN_FILE, _HALF_OPEN = _both(24, 10), _both(11, 6)
_DOUBLED, _ISOLATED, _SUPPORTED = _both(-8, -16), _both(-11, -10), _both(9, 6)
_SHIELD = _both(11, 0)
_PASSED = np.array([0, _both(2, 8), _both(4, 14), _both(14, 30), _both(34, 60), _both(70, 105), _both(110, 170), 0])
_HARASSED = _both(28, 22)  # a piece that a pawn attacks


@compiled(inline=True)
def middlegame_of(both: int) -> int:
    """Return the first of two worths in one number."""
    return (both + 32_768) >> 16


@compiled(inline=True)
def endgame_of(both: int) -> int:
    """Return the second of two worths in one number."""
    return ((both + 32_768) & 65_535) - 32_768


@compiled(inline=True)
def distance(one: int, other: int) -> int:
    """Return the moves that a king needs from one square to another."""
    return max(abs((one >> 3) - (other >> 3)), abs((one & 7) - (other & 7)))


@compiled
def worth_of_pawns(mine: np.uint64, theirs: np.uint64, king: int, their_king: int) -> int:
    """Return both worths of a side's structure of pawns: doubled, isolated, supported and passed ones."""
    ahead = theirs >> np.uint64(8)
    ahead |= ahead >> np.uint64(8)
    ahead |= ahead >> np.uint64(16)
    ahead |= ahead >> np.uint64(32)
    behind = mine >> np.uint64(8)
    behind |= behind >> np.uint64(8)
    behind |= behind >> np.uint64(16)
    behind |= behind >> np.uint64(32)
    files = behind | mine | mine << np.uint64(8)
    files |= files << np.uint64(8)
    files |= files << np.uint64(16)
    files |= files << np.uint64(32)
    doubled = mine & behind
    total = popcount(doubled) * _DOUBLED + popcount(mine & ~spread(files)) * _ISOLATED
    total += popcount(mine & pawn_attacks(mine)) * _SUPPORTED
    passed = mine & ~(ahead | spread(ahead) | behind)
    while passed != NONE:
        square = lowest_bit(passed)
        rank = square >> 3
        total += int(_PASSED[rank])
        if theirs & bit(square + 8) == NONE and rank > 2:
            total += (2 * distance(their_king, square + 8) - distance(king, square + 8)) * (rank - 2) * 2
        passed &= passed - ONE
    return total


@compiled
def worth_of_side(
    mine: np.uint64, theirs: np.uint64, pawns: np.uint64, knights: np.uint64, diagonal: np.uint64, straight: np.uint64
) -> tuple[int, int]:
    """Return both worths of a side's pieces, seen by that side, and how much of them there is besides pawns."""
    occupied, queens = mine | theirs, diagonal & straight
    kings = ~(pawns | knights | diagonal | straight)
    king, their_king = lowest_bit(mine & kings) & 63, lowest_bit(theirs & kings) & 63
    ring = np.uint64(KING[their_king]) | bit(their_king)
    own_pawns, their_pawns = mine & pawns, theirs & pawns
    free = ~(mine & (pawns | kings)) & ~pawn_attacks_down(their_pawns)
    kinds = (own_pawns, knights, diagonal & ~queens, straight & ~queens, queens)
    total, phase, hits, attackers = int(_PLACES[64 * _KING + king]), 0, 0, 0
    rest = own_pawns
    while rest != NONE:
        total += int(_PLACES[lowest_bit(rest)])
        rest &= rest - ONE
    for kind in range(1, 5):
        rest = mine & kinds[kind]
        phase += popcount(rest) * int(_PHASE[kind])
        while rest != NONE:
            square = lowest_bit(rest)
            reach = np.uint64(KNIGHT[square]) if kind == _KNIGHT else NONE
            if kind in (_BISHOP, _QUEEN):
                reach |= bishop_attacks(square, occupied)
            if kind >= _ROOK:
                reach |= rook_attacks(square, occupied)
            total += int(_PLACES[64 * kind + square])
            total += (popcount(reach & free) - int(_USUAL[kind])) * int(_FREEDOM[kind])
            near = popcount(reach & ring)
            if near > 0:
                attackers += 1
                hits += int(_THREAT[kind]) + near
            if kind == _ROOK and file_of(square) & own_pawns == NONE:
                total += _OPEN_FILE if file_of(square) & their_pawns == NONE else _HALF_OPEN
            rest &= rest - ONE
    bishops = mine & kinds[_BISHOP]
    if popcount(bishops) > 1:
        total += _PAIR
    if attackers > 1:
        danger = min(hits * hits, 700)
        total += (danger // 2 if mine & queens != NONE else danger // 4) << 16
    total += popcount(theirs & ~pawns & ~kings & pawn_attacks(own_pawns)) * _HARASSED
    if king < 16:
        near_king = np.uint64(KING[king])
        total += min(popcount((near_king | near_king << np.uint64(8)) & own_pawns), 3) * _SHIELD
    return total + worth_of_pawns(own_pawns, their_pawns, king, their_king), phase


@compiled(inline=True)
def seen_by_opponent(
    mine: np.uint64, theirs: np.uint64, pawns: np.uint64, knights: np.uint64, diagonal: np.uint64, straight: np.uint64
) -> _Boards:
    """Return the boards of a position as the other player sees them."""
    return flip(theirs), flip(mine), flip(pawns), flip(knights), flip(diagonal), flip(straight)


@compiled
def scaled_lead(
    lead: int, own_pawns: np.uint64, their_pieces: np.uint64, margin: int, king: int, their_king: int
) -> int:
    """Return what a lead is worth: little where it cannot win by itself, more for driving a bare king to the edge.

    `margin` is how much more the leading side has besides pawns.
    """
    if own_pawns == NONE and margin < 2:
        return lead // 8
    if their_pieces != NONE:
        return lead
    ranks, files = abs(2 * (their_king >> 3) - 7), abs(2 * (their_king & 7) - 7)
    return lead + 12 * (max(ranks, files) + 7 - distance(king, their_king)) + 2 * (ranks + files)


@compiled
def static_value(
    mine: np.uint64, theirs: np.uint64, pawns: np.uint64, knights: np.uint64, diagonal: np.uint64, straight: np.uint64
) -> int:
    """Return the value of a position for the player to move, in hundredths of a pawn, without a look ahead."""
    own, own_phase = worth_of_side(mine, theirs, pawns, knights, diagonal, straight)
    turned = seen_by_opponent(mine, theirs, pawns, knights, diagonal, straight)
    other, other_phase = worth_of_side(turned[0], turned[1], turned[2], turned[3], turned[4], turned[5])
    phase = min(own_phase + other_phase, _FULL)
    kings = ~(pawns | knights | diagonal | straight)
    lead = own - other
    value = middlegame_of(lead) * phase + endgame_of(lead) * (_FULL - phase)
    if value < 0:
        own_king, their_king = lowest_bit(theirs & kings) & 63, lowest_bit(mine & kings) & 63
        return -scaled_lead(
            -value // _FULL, theirs & pawns, mine & ~kings, other_phase - own_phase, own_king, their_king
        )
    own_king, their_king = lowest_bit(mine & kings) & 63, lowest_bit(theirs & kings) & 63
    return scaled_lead(value // _FULL, mine & pawns, theirs & ~kings, own_phase - other_phase, own_king, their_king)


# Captures.


@compiled
def attackers_of(
    end: int, occupied: np.uint64, mine: np.uint64, pawns: np.uint64, knights: np.uint64, diagonal: np.uint64,
    straight: np.uint64,
) -> np.uint64:  # fmt: skip
    """Return the pieces of both players that attack a square, on a board where only the `occupied` squares are."""
    place = bit(end)
    found = np.uint64(KNIGHT[end]) & knights | rook_attacks(end, occupied) & straight
    found |= bishop_attacks(end, occupied) & diagonal
    found |= np.uint64(KING[end]) & ~(pawns | knights | diagonal | straight)
    found |= pawns & (mine & pawn_attacks_down(place) | ~mine & pawn_attacks(place))
    return found & occupied


@compiled
def least_of(
    pieces: np.uint64, pawns: np.uint64, knights: np.uint64, diagonal: np.uint64, straight: np.uint64
) -> tuple[int, int]:
    """Return the kind and the square of the least valuable one of some pieces."""
    queens = diagonal & straight
    kinds = (pawns, knights, diagonal & ~queens, straight & ~queens, queens)
    for kind in range(5):
        found = pieces & kinds[kind]
        if found != NONE:
            return kind, lowest_bit(found)
    return _KING, lowest_bit(pieces) & 63


@compiled
def loses_nothing(
    end: int, victim: int, mine: np.uint64, theirs: np.uint64, pawns: np.uint64, knights: np.uint64,
    diagonal: np.uint64, straight: np.uint64,
) -> bool:  # fmt: skip
    """Return whether the capture on a square by the least valuable attacker gains at least nothing, after the best
    exchange on that square. `victim` is the worth of what is captured first.
    """
    occupied = mine | theirs
    attackers = attackers_of(end, occupied, mine, pawns, knights, diagonal, straight)
    kind, start = least_of(attackers & mine, pawns, knights, diagonal, straight)
    balance = int(_WORTH[kind]) - victim  # what the last capturer loses if its piece is taken
    keeps, side, other = 1, theirs, mine
    while balance >= keeps:
        occupied ^= bit(start)
        attackers = attackers_of(end, occupied, mine, pawns, knights, diagonal, straight) & ~bit(end)
        if attackers & side == NONE:
            break
        keeps = 1 - keeps
        kind, start = least_of(attackers & side, pawns, knights, diagonal, straight)
        if kind == _KING:
            return bool((attackers & other != NONE) == (keeps == 0))
        balance = int(_WORTH[kind]) - balance
        side, other = other, side
    return keeps == 1


@compiled(inline=True)
def after_capture(
    start: int, end: int, mine: np.uint64, theirs: np.uint64, pawns: np.uint64, knights: np.uint64,
    diagonal: np.uint64, straight: np.uint64,
) -> _Boards:  # fmt: skip
    """Return the boards after a capture, seen by the opponent. A pawn on the last rank becomes a queen."""
    old, new = bit(start), bit(end)
    both = ~(old | new)
    queen = new if pawns & old & (LAST_RANK >> np.uint64(8)) != NONE else NONE
    return seen_by_opponent(
        mine & ~old | new,
        theirs & both,
        pawns & both | (new & ~queen if pawns & old != NONE else NONE),
        knights & both | (new if knights & old != NONE else NONE),
        diagonal & both | (new if diagonal & old != NONE else queen),
        straight & both | (new if straight & old != NONE else queen),
    )


@compiled
def reach_of(
    mine: np.uint64, theirs: np.uint64, pawns: np.uint64, knights: np.uint64, diagonal: np.uint64, straight: np.uint64
) -> np.uint64:
    """Return the opponent's pieces that the player to move attacks."""
    kings = ~(pawns | knights | diagonal | straight)
    return theirs & (
        pawn_attacks(mine & pawns)
        | piece_attacks(mine & knights, mine & diagonal, mine & straight, mine & kings, ~(mine | theirs))
    )


def _make_gain(depth: int) -> Callable[..., int]:
    """Return the search of captures of a depth."""
    deeper = _make_gain(depth - 1) if depth > 1 else None

    @compiled
    def gain(
        mine: np.uint64, theirs: np.uint64, pawns: np.uint64, knights: np.uint64, diagonal: np.uint64,
        straight: np.uint64, low: int, high: int,
    ) -> int:  # fmt: skip
        """Return the material that the player to move gains by captures, at least 0, within a window."""
        best = 0
        if high <= 0:
            return 0
        queens = diagonal & straight
        prey = reach_of(mine, theirs, pawns, knights, diagonal, straight)
        kings = ~(pawns | knights | diagonal | straight)
        if prey & kings != NONE:
            return int(_WORTH[_KING])
        kinds = (pawns, knights, diagonal & ~queens, straight & ~queens, queens)
        for kind in range(4, -1, -1):
            worth = int(_WORTH[kind])
            rest = prey & kinds[kind]
            while rest != NONE and best < high:
                end = lowest_bit(rest)
                rest &= rest - ONE
                if worth <= max(best, low) and end < 56:
                    continue
                if not loses_nothing(end, worth, mine, theirs, pawns, knights, diagonal, straight):
                    continue
                attackers = attackers_of(end, mine | theirs, mine, pawns, knights, diagonal, straight) & mine
                taker, start = least_of(attackers, pawns, knights, diagonal, straight)
                total = worth + (_PROMOTED if taker == _PAWN and end >= 56 else 0)
                if deeper is not None:
                    after = after_capture(start, end, mine, theirs, pawns, knights, diagonal, straight)
                    total -= deeper(
                        after[0], after[1], after[2], after[3], after[4], after[5],
                        total - high, total - max(best, low),
                    )  # fmt: skip
                best = max(best, total)
        return best

    return gain


captures_gain = _make_gain(_CAPTURES)


@compiled
def estimate(state: Any) -> float:
    """Return an estimate for the player to move: the static value, and what can be captured."""
    mine, theirs, pawns = state.mine, state.theirs, state.pawns
    knights, diagonal, straight = state.knights, state.diagonal, state.straight
    value = static_value(mine, theirs, pawns, knights, diagonal, straight) + _TEMPO
    value += captures_gain(mine, theirs, pawns, knights, diagonal, straight, 0, 20_000)
    scaled: float = value * (_MOVES - state.clock) / (_MOVES * _HALF)
    return scaled / (1.0 + abs(scaled))
