"""Constants of chess: planes of actions, and what pieces reach on an empty board."""

from __future__ import annotations

from typing import Any

import numpy as np

# Actions are 64 * plane + the square of departure. Planes 0 to 55 are moves of a queen, seven for each direction;
# 56 to 63 jumps of a knight; 64 to 72 promotions to a knight, bishop or rook, three each: to the left, ahead, right.
# Steps are given in ranks and files.
DIRECTIONS = (
    (1, 0),
    (1, 1),
    (0, 1),
    (-1, 1),
    (-1, 0),
    (-1, -1),
    (0, -1),
    (1, -1),
)  # clockwise
JUMPS = ((2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1))
JUMP_PLANES, PROMOTIONS, PLANES = 56, 64, 73


def _steps() -> list[tuple[int, int]]:
    """Return the ranks and files by which each plane moves a piece."""
    slides = [(ranks * far, files * far) for ranks, files in DIRECTIONS for far in range(1, 8)]
    return [*slides, *JUMPS, *((1, side) for _ in range(3) for side in (-1, 0, 1))]


def _on_board(rank: int, file: int) -> bool:
    return 0 <= rank < 8 and 0 <= file < 8


def _planes() -> Any:
    """Return the plane of the move between each two squares: [from * 64 + to]; 0 where there is none."""
    found = np.zeros(64 * 64, np.int8)
    for start in range(64):
        for plane, (ranks, files) in enumerate(_steps()[:PROMOTIONS]):
            rank, file = start // 8 + ranks, start % 8 + files
            if _on_board(rank, file):
                found[64 * start + 8 * rank + file] = plane
    return found


def _reach(steps: Any, *, far: int) -> Any:
    """Return the squares that each square reaches by some steps, each made up to `far` times, on an empty board."""
    found = [0] * 64
    for square in range(64):
        for ranks, files in steps:
            for times in range(1, far + 1):
                rank, file = square // 8 + times * ranks, square % 8 + times * files
                if _on_board(rank, file):
                    found[square] |= 1 << (8 * rank + file)
    return np.array(found, np.uint64)


def _ranks() -> Any:
    """Return the attacks on a rank: [file * 64 + the occupied ones of the six inner squares]."""
    found = np.zeros(8 * 64, np.uint8)
    for file in range(8):
        for inner in range(64):
            for step in (-1, 1):
                at = file + step
                while 0 <= at < 8:
                    found[64 * file + inner] |= 1 << at
                    if inner << 1 >> at & 1:
                        break
                    at += step
    return found


AHEAD, TWO_AHEAD, AHEAD_LEFT, AHEAD_RIGHT = 0, 1, 49, 7  # planes of pawns
PAWN_PLANES = np.array([AHEAD, TWO_AHEAD, AHEAD_LEFT, AHEAD_RIGHT], np.int64)
DELTAS = np.array([8 * ranks + files for ranks, files in _steps()], np.int64)
PLANE = _planes()
KNIGHT, KING = _reach(JUMPS, far=1), _reach(DIRECTIONS, far=1)
RANKS = _ranks()
RISING, FALLING = _reach(((1, 1), (-1, -1)), far=7), _reach(((1, -1), (-1, 1)), far=7)
