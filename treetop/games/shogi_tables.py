"""The pieces, steps and squares of shogi on boards of two sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

# Kinds of pieces; a promoted one has 8 more. Generals of gold and kings do not promote.
LETTERS = "PLNSBRGK"
PAWN, LANCE, KNIGHT, SILVER, BISHOP, ROOK, GOLD, KING = range(8)
KINDS, UNPROMOTED = 14, 6  # kinds below UNPROMOTED can promote
WORTH = np.array([100, 300, 350, 500, 800, 1000, 550, 0, 500, 500, 500, 550, 1100, 1300])

# Directions as ranks and files, for a player who moves up; 7 - direction is the opposite one. The jumps of knights
# follow, and those of the opponent's knights: 19 - direction is the opposite one.
DIRECTIONS = [(1, 0), (1, 1), (1, -1), (0, 1), (0, -1), (-1, 1), (-1, -1), (-1, 0)]
DIRECTIONS += [(2, 1), (2, -1), (-2, 1), (-2, -1)]
_UP, _DIAGONAL, _LINES = 1 << 0, 1 << 1 | 1 << 2 | 1 << 5 | 1 << 6, 1 << 0 | 1 << 3 | 1 << 4 | 1 << 7
_GOLD = _LINES | 1 << 1 | 1 << 2
SLIDES = np.array([0, _UP, 0, 0, _DIAGONAL, _LINES, 0, 0, 0, 0, 0, 0, _DIAGONAL, _LINES])
STEPS = np.array(  # with the first step of those who slide
    [_UP, _UP, 3 << 8, _DIAGONAL | _UP, _DIAGONAL, _LINES, _GOLD, 255, _GOLD, _GOLD, _GOLD, _GOLD, 255, 255]
)


@dataclass(frozen=True)
class Variant:
    """A board with its pieces."""

    size: int
    start: str
    drops: tuple[int, ...]
    """The kinds that can be in hand."""
    amounts: tuple[int, ...]
    """How many pieces of each kind of `LETTERS` a game has."""
    zone: int
    """The number of ranks in which pieces promote."""

    @property
    def squares(self) -> int:
        """The number of squares."""
        return self.size * self.size

    @property
    def directions(self) -> int:
        """The number of directions of moves, with the jumps of knights if there are any."""
        return 10 if KNIGHT in self.drops else 8

    @cached_property
    def kinds(self) -> tuple[int, ...]:
        """All kinds of pieces, promoted ones last."""
        return (*self.drops, KING, *(kind + 8 for kind in self.drops if kind < UNPROMOTED))

    def reach(self) -> Any:
        """Return how far it is from each square to the edge in each direction: [12 * square + direction]."""
        found = np.zeros(12 * self.squares, np.int64)
        for square in range(self.squares):
            rank, file = divmod(square, self.size)
            for direction, (up, right) in enumerate(DIRECTIONS):
                rank_to, file_to = rank + up, file + right
                while 0 <= rank_to < self.size and 0 <= file_to < self.size:
                    found[12 * square + direction] += 1
                    rank_to, file_to = rank_to + up, file_to + right
                if direction >= 8:
                    found[12 * square + direction] = min(found[12 * square + direction], 1)
        return found

    def deltas(self) -> Any:
        """Return the difference of squares in each direction."""
        return np.array([self.size * up + right for up, right in DIRECTIONS])

    def words(self, chosen: Any) -> Any:
        """Return the set of the squares for which a function of rank and file holds, as two words."""
        found = [0, 0]
        for square in range(self.squares):
            if chosen(*divmod(square, self.size)):
                found[square // 64] |= 1 << square % 64
        return np.array(found, np.uint64)

    def regions(self) -> Any:
        """Return where a kind may be dropped by a player so that it has a later move: [player, kind, word]."""
        last = {PAWN: 1, LANCE: 1, KNIGHT: 2}  # ranks at the far side that are left out
        found = np.zeros((2, 7, 2), np.uint64)
        for kind in self.drops:
            depth = self.size - last.get(kind, 0)
            found[0, kind] = self.words(lambda rank, _, depth=depth: rank < depth)
            found[1, kind] = self.words(lambda rank, _, depth=depth: rank >= self.size - depth)
        return found

    def files(self) -> Any:
        """Return the squares of each file, as words."""
        return np.array([self.words(lambda _, file, at=at: file == at) for at in range(self.size)])

    def name(self, square: int) -> str:
        """Return the name of a square: files count from the right, ranks from the top."""
        return f"{self.size - square % self.size}{'abcdefghi'[self.size - 1 - square // self.size]}"


SHOGI = Variant(
    9,
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    (PAWN, LANCE, KNIGHT, SILVER, BISHOP, ROOK, GOLD),
    (18, 4, 4, 4, 2, 2, 4, 2),
    3,
)
MINISHOGI = Variant(5, "rbsgk/4p/5/P4/KGSBR b - 1", (PAWN, SILVER, BISHOP, ROOK, GOLD), (2, 0, 0, 2, 2, 2, 2, 2), 1)
