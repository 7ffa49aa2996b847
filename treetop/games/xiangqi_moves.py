"""The squares, steps, labels of moves and keys of xiangqi."""

from __future__ import annotations

import numpy as np

from treetop.game import compiled, mix_bits

# Square 9 * rank + file is counted from the bottom left: a1 is 0, e1 holds the general of player 0.
FILES, LETTERS, SIDES = "abcdefghi", "KABNRCP", ("red", "black")
NONE, HALF = np.uint64(0), np.uint64(32)
SQUARES, ON_LINES, ACTIONS = 90, 90 * 17, 2086
LETTER_OF = "KAABBNNRRCCPPPPP"  # of each of a side's sixteen pieces
GENERAL, PAWNS, PIECES = 0, 11, 16
FIRST = np.array([4, 3, 5, 2, 6, 1, 7, 0, 8, 19, 25, 27, 29, 31, 33, 35])  # where they start
PREY = (7, 8, 9, 10, 5, 6, 1, 2, 3, 4, 11, 12, 13, 14, 15)  # the most valuable first
KINDS = np.array([LETTERS.index(letter) for letter in LETTER_OF])
WORTH = np.array([100, 2, 2, 2, 2, 4, 4, 9, 9, 5, 5, 1, 1, 1, 1, 1])
MIRRORED = np.array([0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 15, 14, 13, 12, 11])  # the piece across the middle file

# The steps of horses (0 to 7), elephants (8 to 11), advisors (12 to 15) and generals (16 to 19), as ranks and files,
# and the step to the square that blocks it.
_STEPS = [(2, 1), (2, -1), (1, 2), (1, -2), (-1, 2), (-1, -2), (-2, 1), (-2, -1)]
_STEPS += [(2, 2), (2, -2), (-2, 2), (-2, -2), (1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (0, 1), (0, -1), (-1, 0)]
DELTAS = np.array([9 * up + right for up, right in _STEPS])
BLOCKS = np.array([9 * int(up / 2) + int(right / 2) for up, right in _STEPS])


def allows(step: int, square: int) -> bool:
    """Return whether a step from a square stays on the board, in the palace or on the elephant's side."""
    (rank, file), (up, right) = divmod(square, 9), _STEPS[step]
    to_rank, to_file = rank + up, file + right
    if not (0 <= to_rank < 10 and 0 <= to_file < 9):
        return False
    if step < 8:
        return True
    own, to_own = min(rank, 9 - rank), min(to_rank, 9 - to_rank)  # counted from the nearer side
    if step < 12:
        return rank // 5 == to_rank // 5 and (own, file % 4) in ((0, 2), (2, 0), (4, 2))
    palace = own < 3 and to_own < 3 and 3 <= file <= 5 and 3 <= to_file <= 5
    return palace and (step >= 16 or (own + file) % 2 == 1)


# Labels of moves: 17 for each square along its rank and file, then those of horses, elephants and advisors.
_JUMPS = [(square, step) for step in range(16) for square in range(SQUARES) if allows(step, square)]
ALLOWED = np.array([sum(allows(step, square) << step for step in range(20)) for square in range(SQUARES)])
_LABELS = np.zeros(16 * SQUARES, np.int64)
_LABELS[[16 * square + step for square, step in _JUMPS]] = np.arange(ON_LINES, ACTIONS)
_JUMP_MOVES = np.array([square << 7 | square + int(DELTAS[step]) for square, step in _JUMPS])
_STEP_OF = np.zeros(41, np.int64)  # of a jump, by the difference of its squares + 20
_STEP_OF[DELTAS[:16] + 20] = np.arange(16)

# Every move of a side has a slot: a piece and the number of its move, 119 in all.
_MOVES_OF = dict(zip(LETTERS, (4, 4, 4, 8, 17, 17, 3), strict=True))
_SLOTS = [(piece, move) for piece in reversed(range(PIECES)) for move in range(_MOVES_OF[LETTER_OF[piece]])]
SLOT_PIECE, SLOT_MOVE = (np.array(part) for part in zip(*_SLOTS, strict=True))
TRIES = 30  # draws of slots before all moves are listed


def _key_of(kind: int, square: int) -> int:
    """Return the part of a key for a piece; its two halves are exchanged for the mirrored square."""
    rank, file = divmod(square, 9)
    halves = (int(mix_bits(1000 * kind + 9 * rank + side + 1)) >> 32 for side in (file, 8 - file))
    return next(halves) | next(halves) << 32


KEYS = np.array([_key_of(kind, square) for kind in range(14) for square in range(SQUARES)], np.uint64)
SIDE = np.uint64(0x9E3779B99E3779B9)  # in the key if player 1 is to move; its halves are equal


@compiled(inline=True)
def rank_of(square: int) -> int:
    """Return square // 9, for the squares of the board."""
    return square * 57 >> 9


@compiled(inline=True)
def between(line: int, one: int, other: int) -> int:
    """Return the occupied places of a line strictly between two of its places."""
    low, high = min(one, other), max(one, other)
    return line & ((1 << high) - (2 << low))


@compiled(inline=True)
def turned(word: np.uint64) -> np.uint64:
    """Return a key of the mirrored position."""
    return (word >> HALF) | (word << HALF)


@compiled(inline=True)
def reflected(square: int) -> int:
    """Return the square across the middle file."""
    return 18 * rank_of(square) + 8 - square


@compiled
def label_of(source: int, target: int) -> int:
    """Return the action of a move, seen from the mover's side."""
    rank, to_rank = rank_of(source), rank_of(target)
    file, to_file = source - 9 * rank, target - 9 * to_rank
    if rank == to_rank:
        return 17 * source + to_file - int(to_file > file)
    if file == to_file:
        return 17 * source + 8 + to_rank - int(to_rank > rank)
    return int(_LABELS[16 * source + _STEP_OF[target - source + 20]])


@compiled
def move_of(action: int) -> int:
    """Return the move of an action, seen from the mover's side: 128 * source + target."""
    if action >= ON_LINES:
        return int(_JUMP_MOVES[action - ON_LINES])
    source = action // 17
    place = action - 17 * source
    rank = rank_of(source)
    file = source - 9 * rank
    if place < 8:
        return source << 7 | (9 * rank + place + int(place >= file))
    place -= 8
    return source << 7 | (9 * (place + int(place >= rank)) + file)


def _policy_place(action: int) -> int:
    """Return the place of an action in the policy planes: a plane for each step, over the squares where moves begin.

    Planes 0 to 15 are steps along the rank, 16 to 33 along the file, the others those of horses, elephants, advisors.
    """
    move = move_of(action)
    source, target = move >> 7, move & 127
    up, right = target // 9 - source // 9, target % 9 - source % 9
    if up == 0:
        plane = right + 8 - int(right > 0)
    elif right == 0:
        plane = 16 + up + 9 - int(up > 0)
    else:
        plane = 34 + _STEPS.index((up, right))
    return SQUARES * plane + source


POLICY_PLACES = np.array([_policy_place(action) for action in range(ACTIONS)])
