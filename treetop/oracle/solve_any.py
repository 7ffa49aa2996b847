"""Exact outcomes in any game for one player, or any two-player zero-sum game: the compiled search with its memory, from
Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import ConfigError, GameError, MethodError
from treetop.game.position import Position
from treetop.game.replay import failing_line
from treetop.oracle.solve_line import solve_last
from treetop.oracle.solve_search import (
    ANSWERED,
    CONTROL,
    ENTRY,
    FRAME,
    NO_ACTION,
    PAUSED,
    TOO_LONG,
    WRONG_PLAYER,
    WRONG_REWARDS,
    explore,
)

_SLICE = 20_000  # positions (some hundredths of a second) between two checks of clocks and Ctrl-C
_FIRST_ENTRIES, _MOST_EXPECTED = 1 << 14, 1 << 18
_TABLE_BYTES = 1 << 28  # the largest size of the table
_LINE_BYTES = 1 << 30
_FOREVER = 1 << 40  # moves: later than any game ends
_BROKEN = {
    NO_ACTION: "has a position without a legal action that is not over, or one with an illegal list of actions",
    WRONG_PLAYER: "has a position in which neither player is to move",
    TOO_LONG: "takes more moves than its max_length",
    WRONG_REWARDS: "gives rewards out of its range, or that do not add up to zero",
}
_NOT_SOLVABLE = {
    "chance_outcomes": "it has chance",
    "determinize": "it has imperfect information",
    "step_rewards": "it has immediate rewards",
    "apply_joint": "it has simultaneous moves",
    "sample_action": "it has continuous actions",
}


def refuse_what_has_no_exact_value(position: Position) -> None:
    """Raise an error unless the game has exact values: one player or two-player zero-sum, deterministic, perfect
    information.
    """
    game = position.game
    for method, reason in _NOT_SOLVABLE.items():
        if game.has(method):
            raise ConfigError(f"{game.name} cannot be solved exactly: {reason}")
    if game.facts.players > 2 or (game.facts.players == 2 and not game.facts.zero_sum):
        raise ConfigError(
            f"{game.name} cannot be solved exactly: that needs one player, or two players and zero-sum rewards"
        )


class ExactSearch:
    """Finds the exact outcome of positions of one game, and remembers what it found for the next ones.

    Without `timed` it finds only values, which is faster. With it, it also finds the length of the game, where the
    winner hurries and the loser delays. `expected` is about how many positions will be searched; the memory grows with
    more.
    """

    def __init__(
        self,
        position: Position,
        *,
        timed: bool,
        watch: Callable[[int], None] | None = None,
        expected: int | None = None,
    ) -> None:
        game = position.game
        facts, depth = game.facts, game.facts.max_length + 2
        if depth * (game.dtype.itemsize + 4 * facts.num_actions + FRAME.itemsize) > _LINE_BYTES:
            raise GameError(
                f"{game.name} is too large to be solved: a line of {facts.max_length:,} moves does not fit into memory"
            )
        self._game = game
        self._watch = watch
        self.nodes = 0
        """The number of positions searched."""
        self._control = np.zeros(1, CONTROL)
        self._control["players"], self._control["timed"] = facts.players, timed
        self._control["lowest"], self._control["highest"] = facts.rewards
        self._states = np.zeros(depth, game.dtype)
        self._frames = np.zeros(depth, FRAME)
        self._actions = np.zeros((depth, facts.num_actions), np.int32)
        self._history = np.zeros((facts.players, facts.num_actions), np.int64)
        self._rewards = np.zeros(facts.players)
        self._table = np.zeros(1 << max(1, min(expected or _FIRST_ENTRIES, _MOST_EXPECTED) - 1).bit_length(), ENTRY)
        word = next(size for size in (8, 4, 2, 1) if game.dtype.itemsize % size == 0)
        self._words = self._states.view(f"u{word}").reshape(depth, -1)
        self._kept = np.zeros((len(self._table), self._words.shape[1]), self._words.dtype)
        engine = game.engine()
        self._explore, self._solve_last = engine.entry(explore), engine.entry(solve_last)

    @property
    def _memory(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays of the compiled search, in the order of its arguments."""
        return (
            self._states, self._words, self._actions, self._frames, self._history, self._rewards, self._table,
            self._kept,
        )  # fmt: skip

    def prepare(self) -> None:
        """Compile or load the code, so that a clock that starts afterwards measures the search alone."""
        self._run(0, self._explore, *self._memory)

    def _run(self, budget: int, entry: Callable[..., Any], *args: Any) -> int:
        """Call compiled code that searches so many positions at most; return how it ends."""
        self._control["budget"] = budget
        try:
            status = int(entry(self._control, *args))
        except MethodError as error:
            raise GameError(
                f"{error}{failing_line(Position(self._game, self._states[:1].copy()))}"
            ) from error.__cause__
        self.nodes = int(self._control[0]["nodes"])
        return status

    def _grow_table(self) -> None:
        """Make the table four times as large, if it fits into memory. Each entry moves to a slot of its own."""
        old, kept, places = self._table, self._kept, 4 * len(self._table)
        if places * (ENTRY.itemsize + self._game.dtype.itemsize) > _TABLE_BYTES:
            return
        used = np.flatnonzero(old["work"])
        moved = (old["hashed"][used] & np.uint64(places - 2)).astype(np.int64) + used % 2
        self._table = np.zeros(places, ENTRY)
        self._kept = np.zeros((places, kept.shape[1]), kept.dtype)
        self._table[moved], self._kept[moved] = old[used], kept[used]

    def outcome(self, position: Position, value: float | None = None) -> tuple[float, int]:
        """Return what player 0 receives, and after how many moves (0 in a draw, or if not timed). A value that is
        already known helps.
        """
        self._states[0] = position.record[0]
        self._begin(*((-math.inf, math.inf) if value is None else (value, value, _FOREVER)))
        while not self._continue(_SLICE):
            pass
        return float(self._control[0]["value"]), abs(int(self._control[0]["timing"]))

    def last_values(
        self, states: npt.NDArray[Any], nodes: int
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Return what player 0 receives in the last states of a game, the last one first, and which actions keep that.

        It solves as many as a search of `nodes` positions can, which remembers nothing of earlier searches; `states`
        are in the order in which they were played. If no action of the first one of them keeps the value, its actions
        are not all solved.

        >>> import treetop as tt
        >>> start = tt.position("nim(stones=2)")
        >>> line = np.concatenate([start.record, start.apply(0).record])
        >>> values, best = ExactSearch(start, timed=False).last_values(line, 1000)
        >>> values.tolist(), best.tolist()
        ([-1.0, 1.0], [[True, False, False], [False, True, False]])
        """
        self._table.view(np.uint8).fill(0)
        self._history.fill(0)
        actions = self._game.facts.num_actions
        values, best = np.zeros(len(states)), np.zeros((len(states), actions), np.bool_)
        listed, found = np.zeros(actions, np.int32), np.zeros(actions)
        self._refuse_broken(self._run(nodes, self._solve_last, states, listed, found, *self._memory, values, best))
        solved = int(self._control[0]["solved"])
        return values[:solved], best[:solved]

    def _begin(self, low: float, high: float, timing: int = 0) -> None:
        """Begin a search of the first position of the line, for an outcome between two: one early, one late."""
        frame, control = self._frames[0], self._control[0]
        frame["low"], frame["low_timing"] = low, -timing
        frame["high"], frame["high_timing"] = high, timing
        control["depth"] = 0

    def _continue(self, budget: int) -> bool:
        """Search so many positions at most; return whether the outcome is known."""
        status = self._run(budget, self._explore, *self._memory)
        if self.nodes > len(self._table):
            self._grow_table()
        if self._watch is not None:
            self._watch(self.nodes)
        self._refuse_broken(status)
        return status == ANSWERED

    def _refuse_broken(self, status: int) -> None:
        """Raise GameError if the game broke its contract."""
        if status not in (ANSWERED, PAUSED):
            broken = self._game.view(self._states.copy(), int(self._control[0]["depth"]))
            raise GameError(
                f"{self._game.name} {_BROKEN[status]}: see `treetop check`\n{Position(self._game, broken._states)}"
            )
