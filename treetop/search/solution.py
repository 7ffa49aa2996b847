"""The best complete solution that a search of one player has seen: of a tree of positions, or of a Python problem."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from treetop.game.position import Position
from treetop.tree.layout import TERMINAL
from treetop.types import ROOT, FloatArray

if TYPE_CHECKING:
    from treetop.search.problems.driver import ProblemDriver
    from treetop.search.session import Session

_REPLAYED = 500  # terminal nodes of a game that are replayed
_SHOWN = 20  # moves that are printed


@dataclass(frozen=True)
class CompleteSolution:
    """A solution from the position that was searched to the end, with its total reward.

    >>> import treetop as tt
    >>> tt.search("cliff_walking(horizon=3)", simulations=500, seed=1).best.total_reward
    -3.0
    """

    total_reward: float
    """The return: the sum of immediate and final rewards from the searched position on, without discount."""
    actions: tuple[Any, ...]
    """The actions that lead to the end from the searched position."""
    moves: tuple[str, ...]
    """The same as text."""
    state: Any = field(repr=False, compare=False)
    """The final state."""
    position: Position | None = field(default=None, repr=False)
    """The final position; None in a Python problem."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"return": self.total_reward, "moves": list(self.moves)}

    def __str__(self) -> str:
        more = len(self.moves) - _SHOWN
        shown = [*self.moves[:_SHOWN], *([f"... and {more} more"] if more > 0 else [])]
        return f"{' '.join(shown)}, return {self.total_reward:.6g}"


@dataclass(frozen=True)
class Trail:
    """A solution of a Python problem as it was seen: each action, its reward, and the end."""

    actions: tuple[Any, ...]
    rewards: tuple[float, ...]
    """The immediate reward of each action; empty in a problem without immediate rewards."""
    final: float
    """The final reward."""
    state: Any

    @property
    def total(self) -> float:
        """The total reward."""
        return sum(self.rewards) + self.final

    def after(self, action: Any) -> Trail | None:
        """Return the rest after its first action; None if another action was played, or nothing is left."""
        if len(self.actions) < 2 or self.actions[0] != action:
            return None
        return Trail(self.actions[1:], self.rewards[1:], self.final, self.state)


@dataclass(frozen=True)
class Seen:
    """What a search has seen of complete solutions, at the time of a result."""

    paths: tuple[tuple[int, ...], ...] = ()
    """The paths to terminal nodes of a game's tree; the best come first if there are no immediate rewards."""
    trail: Trail | None = None
    """The best solution of a Python problem."""

    @classmethod
    def by(cls, search: Session) -> Seen:
        """Return what a search has seen; nothing for several players, chance or information sets."""
        driver: Any = search._driver
        if not driver.is_game:
            problem: ProblemDriver = driver
            return cls(trail=problem.explorer.best)
        game = driver.game
        if game.facts.players > 1 or game.has("chance_outcomes") or driver.tree.has_information_sets:
            return cls()
        return cls(_terminal_paths(search))

    def best(self, position: Any) -> CompleteSolution | None:
        """Return the solution with the greatest total reward, replayed from the searched position."""
        if self.trail is not None:
            moves = tuple(map(position.game.text, self.trail.actions))
            return CompleteSolution(self.trail.total, self.trail.actions, moves, self.trail.state)
        found = _best_of(position, self.paths)
        if found is None:
            return None
        total, path = found
        end, count = position.play(path), len(position.actions)
        return CompleteSolution(total, path, tuple(end.moves()[count:]), end.state, end)


def _best_of(position: Position, paths: tuple[tuple[int, ...], ...]) -> tuple[float, tuple[int, ...]] | None:
    """Return the greatest total reward of some paths, and the path; None where no path leads to the end.

    In a graph, a path may miss the end that another one reached. Neighbouring paths share the states of their common
    beginning.
    """
    game = position.game
    steps, out = game.has("step_rewards"), np.zeros(1)
    best: tuple[float, tuple[int, ...]] | None = None
    states, totals, before = [position.state], [0.0], tuple[int, ...]()
    for path in sorted(paths) if steps else paths:
        shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(path, before, strict=False)))
        del states[shared + 1 :], totals[shared + 1 :]
        for action in path[shared:]:
            if states[-1].is_terminal():
                break
            state = states[-1].copy()
            state.apply(action)
            states.append(state)
            totals.append(totals[-1] + (_reward(state.step_rewards, out) if steps else 0.0))
        before = path[: len(states) - 1]
        if states[-1].is_terminal():
            total = totals[-1] + _reward(states[-1].rewards, out)
            if best is None or total > best[0]:
                best = total, before
            if not steps:
                break
    return best


def _reward(method: Callable[[Any], object], out: FloatArray) -> float:
    """Return the reward that a method of a state writes."""
    out[0] = 0.0
    method(out)
    return float(out[0])


def _terminal_paths(search: Session) -> tuple[tuple[int, ...], ...]:
    """Return the actions that lead to terminal nodes; if there are too many, to the best or most visited ones."""
    tree = search.tree
    links, stats = tree.columns.links[: tree.size], tree.columns.stats[: tree.size]
    nodes = np.flatnonzero(((links["flags"] & TERMINAL) > 0) & (stats["visits"] > 0))
    nodes = nodes[nodes != ROOT]
    visits = stats["visits"][nodes]
    # The mean of a terminal node is its final reward: one path suffices, and more only if ends depend on the path.
    rank = visits if search.game.has("step_rewards") else stats["value_sum"][nodes] / visits
    paths = []
    for node in nodes[np.argsort(-rank, kind="stable")[:_REPLAYED]].tolist():
        path: list[int] = []
        while node != ROOT:
            path.append(int(links["action"][node]))
            node = int(links["parent"][node])
        paths.append(tuple(reversed(path)))
    return tuple(paths)
