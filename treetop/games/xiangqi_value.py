"""Xiangqi: the estimate of a position, by material, places, mobility and a search of captures.

Everything is counted in whole hundredths of a pawn, so both modes agree; the last step makes one number from -1 to 1.

The search of captures finds what hangs. It counts material only, and works on a copy of the state of which it keeps the
squares up to date, nothing else. The player to move takes a piece by the least valuable attacker (of equal ones by that
with the lowest number), or stops; a capture by a more valuable piece is tried only where nothing defends. It is at most
`_CAPTURES` captures deep; a factory makes one function for each depth, since compiled code has no recursion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treetop.game import compiled, local_copy
from treetop.games.xiangqi_moves import (
    ALLOWED,
    BLOCKS,
    DELTAS,
    GENERAL,
    KINDS,
    PAWNS,
    PIECES,
    PREY,
    SLOT_PIECE,
    SQUARES,
    rank_of,
)

_WON = 10_000  # the worth of a general, in exchanges
_WORTH = np.array([_WON, 210, 210, 210, 210, 420, 420, 920, 920, 460, 460, 100, 100, 100, 100, 100])
_FREEDOM = np.array([0, 0, 0, 0, 0, 8, 8, 3, 3, 1, 1, 0, 0, 0, 0, 0])  # a square that a piece can move to
_CAPTURES = 5
_HALF = 500.0  # a lead of so much is worth half a win


def _places() -> Any:
    """Return the worth of each kind of piece on each square: [90 * kind + square], squares seen by their owner."""
    found = np.zeros(7 * SQUARES, np.int64)
    for square in range(SQUARES):
        rank, file = divmod(square, 9)
        inner = 4 - abs(file - 4)
        centre = min(inner, 3 - abs(rank - 6) // 2)
        crossed = 190 + 14 * inner + (20 if 6 <= rank <= 8 else -70 if rank == 9 else 0)
        worths = (
            -12 * rank - 4 * abs(file - 4),
            210 + (4 if file == 4 else 0),
            210 + (10 if file == 4 else 0),
            400 + 9 * centre - (16 if rank == 0 else 0) + (14 if rank >= 5 else 0),
            915 + 3 * inner + (8 if 4 <= rank <= 8 else 0) - (10 if rank == 0 and file in (0, 8) else 0),
            455 + (18 if file == 4 else 0) + (6 if rank in (2, 9) else 0),
            crossed if rank >= 5 else 92 + 4 * rank + (12 if file == 4 else 0),
        )
        for kind, worth in enumerate(worths):
            found[SQUARES * kind + square] = worth
    return found


_PLACES = _places()


@compiled(inline=True)
def worth_of(player: int, piece: int, square: int) -> int:
    """Return the worth of a piece on its square."""
    return int(_PLACES[SQUARES * int(KINDS[piece]) + (square if player == 0 else 89 - square)])


@compiled
def static_value(state: Any, player: int) -> int:
    """Return the value of a position for a player, in hundredths of a pawn, without a look ahead."""
    lead = 0
    for piece in range(PIECES):
        for side in range(2):
            square = int(state.squares[side, piece])
            if square >= 0:
                lead += worth_of(side, piece, square) if side == player else -worth_of(side, piece, square)
    for slot in range(len(SLOT_PIECE)):
        freedom = int(_FREEDOM[SLOT_PIECE[slot]])
        if freedom > 0:
            lead += freedom * (int(state.move_in(player, slot) >= 0) - int(state.move_in(1 - player, slot) >= 0))
    return lead


@compiled
def steps_to(state: Any, player: int, piece: int, square: int, first: int, last: int) -> bool:
    """Return whether an elephant, advisor or general reaches a square by one of some steps."""
    at = int(state.squares[player, piece])
    if at < 0 or abs(square - at) > 20:
        return False
    for step in range(first, last):
        if at + int(DELTAS[step]) == square and ALLOWED[at] >> step & 1 == 1:
            return bool(step >= 12 or state.cells[at + int(BLOCKS[step])] == 0)
    return False


@compiled
def least_attacker(state: Any, player: int, square: int) -> int:
    """Return the least valuable piece of a player that attacks a square, or defends a piece there, or -1."""
    found = int(state.attacker(player, square, -1, square))  # a piece on the square itself is left out
    if found >= PAWNS:
        return found
    for piece in range(1, 5):
        if steps_to(state, player, piece, square, 12 if piece < 3 else 8, 16 if piece < 3 else 12):
            return piece
    if found > GENERAL:
        return found
    return GENERAL if steps_to(state, player, GENERAL, square, 16, 20) else -1


@compiled
def lift(state: Any, player: int, piece: int, source: int, target: int, victim: int) -> None:
    """Capture a piece, on the squares of a state only."""
    rank = rank_of(source)
    state.cells[source] = 0
    state.ranks[rank] &= ~(1 << (source - 9 * rank))
    state.files[source - 9 * rank] &= ~(1 << rank)
    state.cells[target] = 1 + 16 * player + piece
    state.squares[player, piece] = target
    state.squares[1 - player, victim] = -1


@compiled
def put_back(state: Any, player: int, piece: int, source: int, target: int, victim: int) -> None:
    """Take a capture back."""
    rank = rank_of(source)
    state.cells[source] = 1 + 16 * player + piece
    state.ranks[rank] |= 1 << (source - 9 * rank)
    state.files[source - 9 * rank] |= 1 << rank
    state.cells[target] = 17 - 16 * player + victim
    state.squares[player, piece] = source
    state.squares[1 - player, victim] = target


def _make_gain(depth: int) -> Callable[..., int]:
    """Return the search of captures of a depth."""
    deeper = _make_gain(depth - 1) if depth > 1 else None

    @compiled
    def gain(state: Any, player: int, low: int, high: int) -> int:
        """Return the material that a player to move gains by captures, at least 0, within a window.

        The squares of the state are changed meanwhile.
        """
        if high <= 0:
            return 0
        if state.attacker(player, int(state.squares[1 - player, GENERAL]), -1, -1) >= 0:
            return _WON
        best = 0
        for victim in PREY:
            target = int(state.squares[1 - player, victim])
            if target < 0:
                continue
            total = worth_of(1 - player, victim, target)
            if total <= max(best, low):
                continue
            piece = least_attacker(state, player, target)
            if piece < 0:
                continue
            if _WORTH[piece] > total and least_attacker(state, 1 - player, target) >= 0:
                continue
            if deeper is not None:
                source = int(state.squares[player, piece])
                lift(state, player, piece, source, target, victim)
                total -= deeper(state, 1 - player, total - high, total - max(best, low))
                put_back(state, player, piece, source, target, victim)
            best = max(best, total)
            if best >= high:
                break
        return best

    return gain


captures_gain = _make_gain(_CAPTURES)


@compiled
def estimate(state: Any) -> float:
    """Return an estimate for the player to move: the static value, and what can be captured.

    It fades with the moves without a capture.
    """
    player, most = state.player, 2 * len(state.past)
    value = static_value(state, player) + captures_gain(local_copy(state), player, 0, 2 * _WON)
    scaled: float = value * (most - state.quiet) / (most * _HALF)
    return scaled / (1.0 + abs(scaled))
