"""Solve a position: its exact value under perfect play, that of every move, and the length of the game. Results are
proven.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from treetop import checks
from treetop.errors import GameError, SearchError, TerminalPositionError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.oracle.connect_four import GAME as CONNECT_FOUR
from treetop.oracle.connect_four import ConnectFourSolver, fitting_table_bits, plies_to_end
from treetop.oracle.solve_any import ExactSearch, refuse_what_has_no_exact_value

_MOST_NODES = 100_000_000  # the limit of positions without a limit of time; about a minute
_PROGRESS_SECONDS = 0.1


@dataclass(frozen=True)
class SolveProgress:
    """The progress of a proof."""

    nodes: int
    """Positions searched."""
    elapsed: float
    """Seconds since the start."""
    moves: int
    """Moves whose exact value is known."""
    all_moves: int

    @property
    def rate(self) -> float:
        """Positions per second."""
        return self.nodes / self.elapsed if self.elapsed > 0 else 0.0


@dataclass(frozen=True)
class SolvedMove:
    """A move and its result under perfect play."""

    action: int
    move: str
    """The text of the action."""
    value: float
    """The final return of the player to move."""
    distance: int | None
    """Moves until the end, this one included; the winner hurries, the loser delays. None if unknown."""


@dataclass(frozen=True)
class Solution:
    """The proven result of a position.

    >>> import treetop as tt
    >>> solution = tt.solve("nim(stones=5)")
    >>> solution.value, solution.distance, [solution.describe(move) for move in solution.moves]
    (1.0, 3, ['wins in 3 plies', 'loses in 2 plies', 'loses in 2 plies'])
    """

    position: Position
    moves: tuple[SolvedMove, ...]
    """Every legal move, in the order of their actions."""
    nodes: int
    """Positions searched."""
    elapsed: float
    """Seconds."""
    method: str
    """`connect_four`, the solver for that game, or `exhaustive`, for any game."""

    @property
    def player(self) -> int:
        """The player to move."""
        return self.position.player

    @property
    def value(self) -> float:
        """The return of the player to move under perfect play."""
        return self.ranked()[0].value

    @property
    def values(self) -> tuple[float, ...]:
        """The return of each player."""
        if self.position.game.facts.players == 1:
            return (self.value,)
        return (self.value, -self.value) if self.player == 0 else (-self.value, self.value)

    @property
    def distance(self) -> int | None:
        """Moves until the end under perfect play; None if unknown."""
        return self.ranked()[0].distance

    @property
    def action(self) -> int:
        """The action to play: of the best ones the one that wins soonest or loses latest, and of several such the
        first.
        """
        return self.ranked()[0].action

    @property
    def best_actions(self) -> tuple[int, ...]:
        """All actions that keep the value of the position, however long they take."""
        return tuple(move.action for move in self.moves if move.value == self.value)

    def ranked(self) -> list[SolvedMove]:
        """Return the moves, the best first: by value, then by distance."""

        def rank(move: SolvedMove) -> tuple[float, float]:
            return -move.value, math.copysign(1.0, move.value) * (move.distance or 0)

        return sorted(self.moves, key=rank)

    def describe(self, move: SolvedMove) -> str:
        """Describe the result of a move: `wins in 11 plies`, `draws`, or the reward in games with other rewards."""
        game = self.position.game
        low, high = game.facts.rewards
        words = {low: "loses", 0.0: "draws", high: "wins"} if game.facts.zero_sum else {}
        outcome = words.get(move.value, f"gives {move.value:g}")
        if move.distance is None or move.value == 0:
            return outcome
        return f"{outcome} in {move.distance} {'ply' if move.distance == 1 else 'plies'}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "game": self.position.game.name,
            "history": self.position.moves(),
            "player": self.player,
            "value": self.value,
            "values": list(self.values),
            "distance": self.distance,
            "action": self.action,
            "best_actions": list(self.best_actions),
            "moves": [
                {"action": move.action, "move": move.move, "value": move.value, "distance": move.distance}
                for move in self.moves
            ],
            "nodes": self.nodes,
            "elapsed": self.elapsed,
            "method": self.method,
        }

    def __str__(self) -> str:
        ranked = self.ranked()
        width = max(len(move.move) for move in ranked)
        rows = [f"{move.move.rjust(width)}: {self.describe(move)}" for move in ranked]
        return "\n".join([str(self.position), "", *rows, "", self.summary(), self.effort()])

    def summary(self) -> str:
        """Return the result in one sentence."""
        result = self.describe(self.ranked()[0])
        best = [move.move for move in self.moves if self.describe(move) == result]
        which = f"best is {best[0]}" if len(best) == 1 else f"best are {', '.join(best)}"
        if len(best) == len(self.moves) > 1:
            which = "all moves are equal"
        return f"player {self.player}, who is to move, {result}: {which}"

    def effort(self) -> str:
        """Return the effort in one sentence."""
        rate = f" ({self.nodes / self.elapsed:,.0f} a second)" if self.elapsed > 0 else ""
        return f"proven by {self.method}: {self.nodes:,} positions in {self.elapsed:.3g} s{rate}"


class _NotInTimeError(SearchError):
    """A limit was reached before the proof was complete."""


class _Clock:
    """Checks the time between two slices of a search, and reports progress."""

    def __init__(
        self, name: str, moves: int, seconds: float | None, progress: Callable[[SolveProgress], None] | None
    ) -> None:
        self._name = name
        self._all_moves = moves
        self._seconds = seconds
        self._progress = progress
        self._start = self._reported = time.perf_counter()
        self.moves = 0
        self.nodes = 0  # of the searches before the present one
        self.most_nodes: int | None = None

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self._start

    def restart(self) -> None:
        self._start = self._reported = time.perf_counter()

    def watch(self, nodes: int) -> None:
        now = time.perf_counter()
        nodes += self.nodes
        if self._progress is not None and now - self._reported >= _PROGRESS_SECONDS:
            self._reported = now
            self._progress(SolveProgress(nodes, now - self._start, self.moves, self._all_moves))
        if self._seconds is not None and now - self._start >= self._seconds:
            raise _NotInTimeError(
                f"{self._name} is not solved within {self._seconds:g} s ({nodes:,} positions); nothing is proven"
            )
        if self.most_nodes is not None and nodes >= self.most_nodes:
            raise _NotInTimeError(
                f"{self._name} is not solved within {nodes:,} positions; nothing is proven. "
                "It may be too large; more seconds may help"
            )


def solve(
    position: str | Game | Position,
    *,
    seconds: float | None = None,
    progress: Callable[[SolveProgress], None] | None = None,
) -> Solution:
    """Return the exact value of a position and of each of its moves.

    Connect Four has its own solver; other games are searched exhaustively, so they must be small, or near their end.
    Raise SearchError if the proof is not complete within `seconds`, or without a limit of time after a hundred million
    positions. `progress` is called a few times per second.

    >>> print(solve("nim").summary())
    player 0, who is to move, wins in 11 plies: best is 1
    """
    start = position if isinstance(position, Position) else Position(load_game(position))
    checks.number("seconds", seconds, above=0, optional=True)
    refuse_what_has_no_exact_value(start)
    if start.is_terminal:
        raise TerminalPositionError(f"the game is over, so there is nothing to solve\n{start}")
    actions = start.legal_actions()
    if not actions:
        raise GameError(f"{start.game.name} has a position without a legal action that is not over\n{start}")
    clock = _Clock(start.game.name, len(actions), seconds, progress)
    if start.game is CONNECT_FOUR:
        method, outcomes = "connect_four", _connect_four(start, actions, clock)
    else:
        clock.most_nodes = None if seconds is not None else _MOST_NODES
        method, outcomes = "exhaustive", _exhaustive(start, actions, clock)
    moves = tuple(SolvedMove(action, start.move_text(action), *outcomes[action]) for action in actions)
    return Solution(start, moves, clock.nodes, clock.elapsed, method)


_Outcomes = dict[int, tuple[float, int | None]]
"""Return for each action the return of the player to move, and the number of moves."""


def _connect_four(start: Position, actions: list[int], clock: _Clock) -> _Outcomes:
    discs = int(start.record["discs"][0]).bit_count()
    solver = ConnectFourSolver(fitting_table_bits(discs), watch=clock.watch)
    solver.prepare()
    clock.restart()
    outcomes: _Outcomes = {}
    for action in actions:
        score = solver.score_of(start, action)
        outcomes[action] = float((score > 0) - (score < 0)), plies_to_end(score, discs)
        clock.moves += 1
    clock.nodes += solver.nodes
    return outcomes


def _exhaustive(start: Position, actions: list[int], clock: _Clock) -> _Outcomes:
    """Compute values first, then distances, which take longer and are left out if the time is up."""
    sign = 1.0 if start.player == 0 else -1.0
    search = ExactSearch(start, timed=False, watch=clock.watch)
    search.prepare()
    clock.restart()
    values: dict[int, float] = {}
    for action in actions:
        values[action], _ = search.outcome(start.apply(action))
        clock.moves += 1
    clock.nodes += search.nodes
    outcomes: _Outcomes = {action: (sign * value + 0.0, None) for action, value in values.items()}
    decided = [action for action in actions if values[action] != 0] if start.game.facts.players == 2 else []
    search = ExactSearch(start, timed=True, watch=clock.watch)
    timed: _Outcomes = {}
    try:
        for action in decided:
            _, distance = search.outcome(start.apply(action), values[action])
            timed[action] = outcomes[action][0], distance + 1
    except _NotInTimeError:
        timed = {}
    clock.nodes += search.nodes
    return outcomes | timed
