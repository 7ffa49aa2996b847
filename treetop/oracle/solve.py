"""Solve a position: its exact value under perfect play, that of every move, and how long the game takes. Proven, or not told at all."""

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

_MOST_NODES = 100_000_000  # positions that are looked at where no time is given; a minute or some
_PROGRESS_SECONDS = 0.1


@dataclass(frozen=True)
class SolveProgress:
    """How far a proof has come."""

    nodes: int
    """Positions looked at."""
    elapsed: float
    """Seconds since the start."""
    moves: int
    """Moves whose exact value is known by now."""
    all_moves: int

    @property
    def rate(self) -> float:
        """Positions a second."""
        return self.nodes / self.elapsed if self.elapsed > 0 else 0.0


@dataclass(frozen=True)
class SolvedMove:
    """A move and what it leads to when both sides play perfectly from then on."""

    action: int
    move: str
    """The action as people write it."""
    value: float
    """What the player to move receives in the end."""
    distance: int | None
    """Moves until the end, this one included; the one who wins hurries, the one who loses delays. None where it is not known."""


@dataclass(frozen=True)
class Solution:
    """What was proven of a position."""

    position: Position
    moves: tuple[SolvedMove, ...]
    """Every legal move, in the order of their actions."""
    nodes: int
    """Positions looked at."""
    elapsed: float
    """Seconds."""
    method: str
    """`connect_four`, the solver for that game, or `exhaustive`, which takes any."""

    @property
    def player(self) -> int:
        """Who is to move."""
        return self.position.player

    @property
    def value(self) -> float:
        """What the player to move receives under perfect play."""
        return self.ranked()[0].value

    @property
    def values(self) -> tuple[float, ...]:
        """What each player receives."""
        if self.position.game.facts.players == 1:
            return (self.value,)
        return (self.value, -self.value) if self.player == 0 else (-self.value, self.value)

    @property
    def distance(self) -> int | None:
        """Moves until the end under perfect play; None where it is not known."""
        return self.ranked()[0].distance

    @property
    def action(self) -> int:
        """The action to play: of the best ones that which wins soonest or loses latest, and of several such the first."""
        return self.ranked()[0].action

    @property
    def best_actions(self) -> tuple[int, ...]:
        """All actions that keep the value of the position, however long they take."""
        return tuple(move.action for move in self.moves if move.value == self.value)

    def ranked(self) -> list[SolvedMove]:
        """The moves, the best first: by value, then by who hurries and who delays."""

        def rank(move: SolvedMove) -> tuple[float, float]:
            return -move.value, math.copysign(1.0, move.value) * (move.distance or 0)

        return sorted(self.moves, key=rank)

    def describe(self, move: SolvedMove) -> str:
        """What a move leads to, in words: `wins in 11 plies`, `draws`, or the reward in games that know more than that."""
        game = self.position.game
        low, high = game.facts.rewards
        words = {low: "loses", 0.0: "draws", high: "wins"} if game.facts.zero_sum else {}
        told = words.get(move.value, f"gives {move.value:g}")
        if move.distance is None or move.value == 0:
            return told
        return f"{told} in {move.distance} {'ply' if move.distance == 1 else 'plies'}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
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
        """The result in one sentence."""
        best = self.ranked()[0]
        return f"player {self.player}, who is to move, {self.describe(best)}: best is {best.move}"

    def effort(self) -> str:
        """What it took."""
        rate = f" ({self.nodes / self.elapsed:,.0f} a second)" if self.elapsed > 0 else ""
        return f"proven by {self.method}: {self.nodes:,} positions in {self.elapsed:.3g} s{rate}"


class _NotInTimeError(SearchError):
    """A limit was reached before the proof was complete."""


class _Clock:
    """Looks at the time between two slices of a search, and tells how far it is."""

    def __init__(
        self, name: str, moves: int, seconds: float | None, progress: Callable[[SolveProgress], None] | None
    ) -> None:
        self._name = name
        self._all_moves = moves
        self._seconds = seconds
        self._progress = progress
        self._start = self._told = time.perf_counter()
        self.moves = 0
        self.nodes = 0  # of the searches before the present one
        self.most_nodes: int | None = None

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self._start

    def restart(self) -> None:
        self._start = self._told = time.perf_counter()

    def watch(self, nodes: int) -> None:
        now = time.perf_counter()
        nodes += self.nodes
        if self._progress is not None and now - self._told >= _PROGRESS_SECONDS:
            self._told = now
            self._progress(SolveProgress(nodes, now - self._start, self.moves, self._all_moves))
        if self._seconds is not None and now - self._start >= self._seconds:
            raise _NotInTimeError(
                f"{self._name} is not solved within {self._seconds:g} s ({nodes:,} positions); nothing is claimed"
            )
        if self.most_nodes is not None and nodes >= self.most_nodes:
            raise _NotInTimeError(
                f"{self._name} is not solved within {nodes:,} positions; nothing is claimed. It may be too large; more seconds may help"
            )


def solve(
    position: str | Game | Position,
    *,
    seconds: float | None = None,
    progress: Callable[[SolveProgress], None] | None = None,
) -> Solution:
    """The exact value of a position and of each of its moves.

    Connect Four has a solver of its own; other games are searched exhaustively, so they must be small, or near their end. Where the proof
    is not complete within `seconds`, a SearchError says so; without a time, a game that has no solver of its own is given up after a
    hundred million positions. `progress` is called a few times a second.

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
"""For each action: what the player to move receives, and after how many moves."""


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
    """Values first; then distances, which take longer and are left out where there is no time for them."""
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
