"""An exact solver for Connect Four: who wins, and how soon, with proof. Ideas and figures: docs/exact-answers.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from treetop import checks
from treetop.errors import ConfigError, TerminalPositionError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.games.connect_four import connect_four
from treetop.oracle import connect_four_bits as bits
from treetop.oracle.connect_four_search import CELLS, CONTROL, FRAME, LEAST_TABLE_BITS, prove

GAME: Game = connect_four  # type: ignore[assignment]  # mypy does not see what a class decorator returns
_MOST_TABLE_BITS = 32
_SLICE = 200_000  # positions (some hundredths of a second) between two checks of clocks and Ctrl-C

Watch = Callable[[int], None]
"""Called every few hundredths of a second with the number of positions searched; it ends the search by raising an
error.
"""


class Board(NamedTuple):
    """A position of Connect Four for the solver: bit 7 * column + row is a cell."""

    own: int
    """The discs of the player to move."""
    taken: int
    """The discs of both players."""

    @property
    def discs(self) -> int:
        """The number of discs."""
        return self.taken.bit_count()

    @property
    def won(self) -> bool:
        """Whether the player who moved last has four in a row."""
        return bits.has_four(np.uint64(self.own ^ self.taken))

    @property
    def can_win_at_once(self) -> bool:
        """Whether the player to move has a winning move."""
        return bool(self.free & int(bits.winning_cells(np.uint64(self.own), np.uint64(int(bits.BOARD) & ~self.taken))))

    @property
    def free(self) -> int:
        """Return the cells where the next disc can be placed."""
        return (self.taken + int(bits.BOTTOM)) & int(bits.BOARD)

    def drop(self, column: int) -> Board:
        """Return the board after a disc of the player to move."""
        return Board(self.own ^ self.taken, self.taken | (self.free & 0x3F << 7 * column))

    @property
    def mirrored(self) -> Board:
        """Return the mirrored board."""
        return Board(int(bits.mirrored(np.uint64(self.own))), int(bits.mirrored(np.uint64(self.taken))))

    @classmethod
    def of(cls, position: Position) -> Board:
        """Return the board of a position of the bundled game."""
        if position.game is not GAME:
            raise ConfigError(f"this solver plays only the bundled connect_four, not {position.game.name}")
        record = position.record[0]
        mine, discs = int(record["mine"]), int(record["discs"])
        return cls(
            *(
                sum(1 << 7 * column + row for row in range(6) for column in range(7) if cells >> (8 * row + column) & 1)
                for cells in (mine, discs)
            )
        )


class ConnectFourSolver:
    """Proves scores of positions, and remembers what it found for the next ones.

    A score is 22 minus the number of discs that the winner will have played, positive if the player to move wins,
    negative if the other one does, 0 for a draw: a higher score is an earlier win or a later loss. `plies_to_end`
    converts it to a number of moves.
    """

    def __init__(self, table_bits: int = 20, watch: Watch | None = None) -> None:
        checks.whole("table_bits", table_bits, LEAST_TABLE_BITS, _MOST_TABLE_BITS)
        self.nodes = 0
        """The number of positions searched."""
        self._watch = watch
        self._table_bits = table_bits
        self._table = np.zeros(1 << table_bits, np.uint64)
        self._control = np.zeros(1, CONTROL)
        self._frames = np.zeros(CELLS, FRAME)
        self._children = np.zeros((CELLS, 7), np.uint64)
        self._hashes = np.zeros(7, np.uint64)
        self._prove = GAME.engine(tier="direct").entry(prove)

    def prepare(self) -> None:
        """Compile or load the code, so that a clock that starts afterwards measures the search alone."""
        self._run(0)

    def score(self, position: Position) -> int:
        """Return the exact score for the player to move."""
        return self._score(_unfinished(position))

    def scores(self, position: Position) -> dict[int, int]:
        """Return the exact score of every legal action, for the player to move."""
        return {action: self.score_of(position, action) for action in position.legal_actions()}

    def score_of(self, position: Position, action: int) -> int:
        """Return the exact score of one action, for the player to move."""
        return -self._score(_unfinished(position).drop(action))

    def values(self, position: Position) -> dict[int, int]:
        """Return whether each legal action wins (1), draws (0) or loses (-1), for the player to move; faster than the
        scores.
        """
        board = _unfinished(position)
        return {action: -self._sign(board.drop(action)) for action in position.legal_actions()}

    def _score(self, board: Board) -> int:
        low, high = _bounds(board)
        while low < high:
            # Early ends need the shallowest searches, so they are tried first: each question halves the larger side,
            # towards a draw.
            middle = (low + high) // 2
            target = 1 + (max(middle, high // 2) if middle > 0 else min(middle, -(-low // 2)))
            low, high = self._ask(board, target, low, high)
        return low

    def _sign(self, board: Board) -> int:
        low, high = _bounds(board)
        while low <= 0 <= high and low < high:
            low, high = self._ask(board, 1 if high > 0 else 0, low, high)
        return (low > 0) - (high < 0)

    def _ask(self, board: Board, target: int, low: int, high: int) -> tuple[int, int]:
        """Return narrower bounds of a score, by the answer to whether it is at least the target."""
        threats = bits.winning_cells(np.uint64(board.own ^ board.taken), np.uint64(int(bits.BOARD) & ~board.taken))
        self._control[0] = (target, board.discs, 0, self.nodes, 0, 0, board.discs, board.own, board.taken, threats)
        answered = False
        while not answered:
            answered = self._run(_SLICE)
            if self._watch is not None:
                self._watch(self.nodes)
        value = int(self._control["value"][0])
        return (value, high) if value >= target else (low, value)

    def _run(self, budget: int) -> bool:
        """Continue for some positions. Return whether the question is answered."""
        self._control["budget"] = budget
        answered = self._prove(self._control, self._table, self._table_bits, self._frames, self._children, self._hashes)
        self.nodes = int(self._control["nodes"][0])
        return bool(answered)


def fitting_table_bits(discs: int) -> int:
    """Return a table size that fits the work from so many discs on: a larger table only waits for memory."""
    return min(25, max(16, 30 - discs))


def plies_to_end(score: int, discs: int) -> int:
    """Return how many more moves a game takes under perfect play, given the score for the player to move and the discs
    on the board.
    """
    if score == 0:
        return CELLS - discs
    if score > 0:
        return 2 * (22 - score - discs // 2) - 1
    return 2 * (22 + score - (discs + 1) // 2)


def _unfinished(position: Position) -> Board:
    if position.is_terminal:
        raise TerminalPositionError(f"the game is over, so there is nothing to solve\n{position}")
    return Board.of(position)


def _bounds(board: Board) -> tuple[int, int]:
    """Return bounds of a score that follow from the rules without a search; equal bounds decide it."""
    discs = board.discs
    if board.won:
        return (-((CELLS + 2 - discs) // 2),) * 2
    if discs == CELLS:
        return 0, 0
    if board.can_win_at_once:
        return ((CELLS + 1 - discs) // 2,) * 2
    return -((CELLS - discs) // 2), (CELLS - 1 - discs) // 2
