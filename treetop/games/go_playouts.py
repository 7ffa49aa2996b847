"""Go: the moves of playouts, which answer the last move by captures, escapes and patterns.

The functions take a state of the game, and places of its framed board; `stride` is the distance of two rows. Place 0
belongs to the frame, and means that there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import compiled

NOWHERE, ONE = np.uint64(0), np.uint64(1)
EMPTY = 0x000F  # in `around`: how many neighbours are empty
_TRIES = 8  # points that are drawn before all empty points are listed
_FEW = 2  # more stones than this are not put into atari
_SHARE = 8  # each kind of answer is left out with a probability of one in this number

PATTERNS = (
    # Hane: around the end of a stone, inside a gap, and at a bend.
    ("XOX", "...", "???"),
    ("XO.", "...", "?.?"),
    ("XO?", "X..", "x.?"),
    (".O.", "X..", "..."),
    # Cut: between two diagonal stones, also where it is peeped at, through a line, and at a knight's move.
    ("XO?", "O.o", "?o?"),
    ("XO?", "O.X", "???"),
    ("?X?", "O.O", "ooo"),
    ("OX?", "o.O", "???"),
    # At the edge: chase, block a cut, block a connection, descend, and cut.
    ("X.?", "O.?", "###"),
    ("OX?", "X.O", "###"),
    ("?X?", "x.O", "###"),
    ("?XO", "x.x", "###"),
    ("?OX", "X.O", "###"),
)
"""Neighbourhoods, 3 x 3 points, in whose middle a move is often good for either player.

X and O are stones, `.` is empty, # the frame; x is anything but X, o anything but O (but not the frame), ? anything.
"""

_ALLOWED = {".": (0,), "X": (1,), "O": (2,), "#": (3,), "x": (0, 2), "o": (0, 1), "?": (0, 1, 2, 3)}
_SWAPPED = str.maketrans("XOxo", "OXox")


def variants(pattern: tuple[str, ...]) -> set[str]:
    """Return the rotations and reflections of a pattern, and those with swapped colours, as nine characters each."""
    found = set()
    for rows in (pattern, tuple(row.translate(_SWAPPED) for row in pattern)):
        points = np.array([list(row) for row in rows])
        for turns in range(4):
            turned = np.rot90(points, turns)
            found |= {"".join(turned.ravel()), "".join(np.fliplr(turned).ravel())}
    return found


def _table() -> Any:
    """Return for each neighbourhood, as `neighbourhood` numbers it, a bit that says whether a pattern matches."""
    matches = np.zeros(4**8, bool)
    for pattern in PATTERNS:
        for points in variants(pattern):
            fits = np.ones(1, bool)
            for point in points[:4] + points[5:]:  # the later ones have the higher digits
                fits = np.outer(np.isin(range(4), _ALLOWED[point]), fits).ravel()
            matches |= fits
    return np.packbits(matches, bitorder="little").view(np.uint64)


_MATCHES = _table()


@compiled
def neighbourhood(state: Any, place: np.uint64, stride: np.uint64) -> np.uint64:
    """Return the number of the eight cells around a place, from below to above, two bits each."""
    below, above = place - stride, place + stride
    cells = state.cells
    return np.uint64(
        int(cells[below - ONE])
        | int(cells[below]) << 2
        | int(cells[below + ONE]) << 4
        | int(cells[place - ONE]) << 6
        | int(cells[place + ONE]) << 8
        | int(cells[above - ONE]) << 10
        | int(cells[above]) << 12
        | int(cells[above + ONE]) << 14
    )


@compiled
def fits_pattern(state: Any, place: np.uint64, stride: np.uint64) -> bool:
    """Return whether one of the patterns matches around an empty place."""
    number = neighbourhood(state, place, stride)
    return bool(_MATCHES[number >> np.uint64(6)] >> (number & np.uint64(63)) & ONE)


@compiled
def only_liberty(state: Any, start: np.uint64, stride: np.uint64) -> np.uint64:
    """Return the liberty of the chain of a stone that is in atari; `NOWHERE` if it has more."""
    if state.liberties[state.chain[start]] > 4:  # an empty place has four neighbours
        return NOWHERE
    found, stone = NOWHERE, start
    while True:
        if state.around[stone] & EMPTY != 0:
            for beside in (stone - stride, stone - ONE, stone + ONE, stone + stride):
                if state.cells[beside] == 0 and beside != found:
                    if found != NOWHERE:
                        return NOWHERE
                    found = beside
        stone = np.uint64(state.following[stone])
        if stone == start:
            return found


@compiled
def liberties_after(state: Any, place: np.uint64, stride: np.uint64) -> int:
    """Return the liberties of the player's chain after a move, at most 2; a captured chain counts as one.

    Its stones count before those that they join, so 2 is known soon.
    """
    first, count = NOWHERE, 0
    around = (place - stride, place - ONE, place + ONE, place + stride)
    own = state.player + 1
    for beside in around:
        cell = state.cells[beside]
        if cell == 0 or (cell == 3 - own and only_liberty(state, beside, stride) == place):
            first = beside
            count += 1
    if count >= 2:
        return 2
    for beside in around:
        if state.cells[beside] == own:
            stone = beside
            while True:
                if state.around[stone] & EMPTY != 0:
                    for other in (stone - stride, stone - ONE, stone + ONE, stone + stride):
                        if state.cells[other] == 0 and other != place and other != first:
                            if count > 0:
                                return 2
                            first = other
                            count = 1
                stone = np.uint64(state.following[stone])
                if stone == beside:
                    break
    return count


@compiled
def is_blunder(state: Any, place: np.uint64, stride: np.uint64) -> bool:
    """Return whether a move puts several of the player's stones into atari."""
    if state.around[place] & EMPTY >= 2:
        return False
    own, stones = state.player + 1, 0
    for beside in (place - stride, place - ONE, place + ONE, place + stride):
        if state.cells[beside] == own:
            stone = beside
            while stones < _FEW:
                stones += 1
                stone = np.uint64(state.following[stone])
                if stone == beside:
                    break
    return stones >= _FEW and liberties_after(state, place, stride) < 2


@compiled
def find_capture(state: Any, last: np.uint64, stride: np.uint64) -> np.uint64:
    """Return where the chain of the last move can be captured."""
    liberty = only_liberty(state, last, stride)
    return liberty if liberty != NOWHERE and state.allows(liberty) else NOWHERE


@compiled
def find_rescue(state: Any, last: np.uint64, stride: np.uint64) -> np.uint64:
    """Return a move that saves a chain which the last move put into atari: by a capture, or by more liberties."""
    own = state.player + 1
    for beside in (last - stride, last - ONE, last + ONE, last + stride):
        if state.cells[beside] == own:
            liberty = only_liberty(state, beside, stride)
            if liberty != NOWHERE:
                stone = beside
                while True:
                    for other in (stone - stride, stone - ONE, stone + ONE, stone + stride):
                        if state.cells[other] == 3 - own:
                            prey = only_liberty(state, other, stride)
                            if prey != NOWHERE and state.allows(prey):
                                return prey
                    stone = np.uint64(state.following[stone])
                    if stone == beside:
                        break
                if liberties_after(state, liberty, stride) >= 2 and state.allows(liberty):
                    return liberty
    return NOWHERE


@compiled
def find_pattern(state: Any, last: np.uint64, stride: np.uint64, rng: Any) -> np.uint64:
    """Return a random move beside the last one that matches a pattern."""
    below, above = last - stride, last + stride
    found, count = NOWHERE, 0
    for place in (below - ONE, below, below + ONE, last - ONE, last + ONE, above - ONE, above, above + ONE):
        if (
            state.cells[place] == 0
            and fits_pattern(state, place, stride)
            and state.suits(place)
            and not is_blunder(state, place, stride)
        ):
            count += 1
            if rng.below(count) == 0:
                found = place
    return found


@compiled
def find_any(state: Any, stride: np.uint64, rng: Any) -> np.uint64:
    """Return a random move that fills no eye; one that puts several stones into atari only if no other is found."""
    for _ in range(_TRIES if state.left > 0 else 0):
        place = np.uint64(state.empty[rng.below(state.left)])
        if state.suits(place) and not is_blunder(state, place, stride):
            return place
    count, found = 0, NOWHERE
    for number in range(state.left):
        place = np.uint64(state.empty[number])
        if state.suits(place):
            count += 1
            if rng.below(count) == 0:
                found = place
    return found


@compiled
def playout_move(state: Any, last: np.uint64, stride: np.uint64, rng: Any) -> np.uint64:
    """Return a move of a playout; `NOWHERE` is a pass. `last` is the place of the opponent's move, or `NOWHERE`."""
    if last != NOWHERE:
        skipped = rng.below(_SHARE * _SHARE)
        if skipped % _SHARE != 0:
            found = find_capture(state, last, stride)
            if found == NOWHERE:
                found = find_rescue(state, last, stride)
            if found != NOWHERE:
                return found
        if skipped >= _SHARE:
            found = find_pattern(state, last, stride, rng)
            if found != NOWHERE:
                return found
    return find_any(state, stride, rng)
