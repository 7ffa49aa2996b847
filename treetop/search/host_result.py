"""What a search over Python objects found: the surface of every result, with the caller's own actions in it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from treetop.errors import StaleNodeError
from treetop.search.explain import Explanation
from treetop.search.host_machine import StandIn
from treetop.search.proof import Proof
from treetop.search.report import Report, Usage
from treetop.search.result import SearchResult
from treetop.search.variations import Line
from treetop.text import json_text
from treetop.tree.storage import Tree
from treetop.types import FloatArray, IntArray

if TYPE_CHECKING:
    from treetop.search.host import HostSearch

_TOLD = 5  # failures that are printed
NOTHING_OPEN = "every action is proven or has failed"
"""Why a search ended that can neither go on nor prove the root."""


@dataclass(frozen=True)
class Failure:
    """Code of the caller's that raised: at a node, which is never chosen again, or in a rollout from it, which was dropped."""

    path: tuple[Hashable, ...]
    """The actions that lead to it, from where the search began."""
    reason: str
    where: str = field(default="", compare=False)
    """The line of the caller's code that raised it, where that is known."""
    ends_node: bool = True
    """False where a rollout or a draw of chance failed: the node itself stays in the search."""

    def __str__(self) -> str:
        return f"after {', '.join(map(str, self.path)) or 'nothing'}: {self.reason}" + (
            f" ({self.where})" if self.where else ""
        )


@dataclass(frozen=True)
class LoggedCall:
    """An evaluation that was made elsewhere and has ended."""

    path: tuple[Hashable, ...]
    """The actions that lead to its node, from where the search began."""
    cost: float
    """What it cost, with all its attempts."""
    seconds: float
    attempts: int
    error: str | None
    """Why its last attempt failed; None where there is an answer."""
    note: Any
    """What the evaluator gave as a fourth part of its answer, as JSON holds it."""


class HostPosition:
    """The root as results and explanations see it. A node's number stands for the action that leads to it."""

    def __init__(self, search: HostSearch) -> None:
        machine = search._machine
        self.game = StandIn(search.view)
        self.state = machine.states[0]
        self.player = search.player
        self.actions = tuple(search.played)
        self.was_set_up = False
        self._search, self._generation = search, machine.tree.generation
        names = [search.view.text(action) for action in search.actions]
        if len(set(names)) < len(names):
            names = [repr(action) for action in search.actions]
        if len(set(names)) < len(names):
            names = [f"{name} #{index}" for index, name in enumerate(names)]
        first = search._first_child()
        self._names = {first + index: name for index, name in enumerate(names)}
        self.moves_at = {first + index: action for index, action in enumerate(search.actions)}

    def legal_actions(self, player: int | None = None) -> list[int]:  # noqa: ARG002 - the shape of a position
        """The root's children."""
        return list(self._names)

    def move(self, node: int) -> Any:
        """The action that leads to a node."""
        if node in self.moves_at:
            return self.moves_at[node]
        self._check()
        return self._search._machine.moves[node]

    def move_text(self, node: int) -> str:
        """The same for people."""
        return self._names.get(node) or self._search.view.text(self.move(node))

    def apply(self, node: int) -> HostPosition:  # noqa: ARG002 - nodes are numbered through, so names are found from anywhere
        """The position after a move, for who names moves one after the other."""
        return self

    def play(self, variation: list[int]) -> _Reached:
        """The position at the end of a variation."""
        self._check()
        return _Reached(int(self._search._machine.side.movers[variation[-1]]))

    def moves(self) -> list[str]:
        """What had been played."""
        return [self._search.view.text(action) for action in self.actions]

    def remember(self, nodes: tuple[int, ...]) -> None:
        """Keep the names of some nodes, wherever the tree goes."""
        for node in nodes:
            self.moves_at[node] = self.move(node)

    def _check(self) -> None:
        if self._search.tree.generation != self._generation:
            raise StaleNodeError("the search has moved on: ask it for its result again")

    def shown_to(self, player: int) -> str:  # noqa: ARG002 - the shape of a position
        """The state as it prints: who sees what is the problem's own affair."""
        return str(self)

    def __str__(self) -> str:
        return self._search.view.render(self.state)


@dataclass(frozen=True)
class _Reached:
    player: int


@dataclass(frozen=True)
class HostResult:
    """A snapshot of the root. Later simulations do not change it."""

    _told: SearchResult = field(repr=False)
    _position: HostPosition = field(repr=False)
    failures: tuple[Failure, ...]
    """Nodes whose step, actions or evaluation failed, and rollouts that did (the first 1,000 of them), since the search began."""
    failed_rollouts: int
    """How many rollouts and draws of chance failed and were made anew, since the search began."""
    cost: float
    """What the last run's evaluations cost, where they tell."""
    calls: int
    """Evaluations of the last run that were made elsewhere."""
    call_log: tuple[LoggedCall, ...] = field(repr=False)
    """The same one by one, as far as they have ended, in the order in which the tree took them in."""

    @classmethod
    def of(cls, search: HostSearch) -> HostResult:
        """The result of a search, as it stands."""
        told = SearchResult.of(cast(Any, search))
        position = cast(HostPosition, told.position)
        position.remember(told.pv_actions)
        return cls(
            told,
            position,
            tuple(search.failures),
            search._explorer.failed_rollouts,
            search._cost,
            search._calls,
            tuple(search._log),
        )

    @property
    def action(self) -> Any:
        """The action to take, by the final rule of the search."""
        return self._position.move(self._told.action)

    @property
    def move(self) -> str:
        """The same as people read it."""
        return self._told.move

    @property
    def state(self) -> Any:
        """The state that was searched."""
        return self._position.state

    @property
    def player(self) -> int:
        """The player to move."""
        return self._told.player

    @property
    def value(self) -> float:
        """The mean return to the player to move."""
        return self._told.value

    @property
    def values(self) -> list[float]:
        """The mean return to each player."""
        return self._told.values

    @property
    def actions(self) -> list[Any]:
        """All actions; the arrays follow their order."""
        return [self._position.move(int(node)) for node in self._told.actions]

    @property
    def counts(self) -> IntArray:
        """Visits of each action."""
        return self._told.counts

    @property
    def means(self) -> FloatArray:
        """Mean value of each action for the player to move; NaN where nobody was."""
        return self._told.means

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        """Whether each action has failed: its value is unknown, and it is not played."""
        return self._told.failed

    @property
    def lower(self) -> FloatArray | None:
        """Where the solver is on: the least that each action is proven to be worth."""
        return self._told.lower

    @property
    def upper(self) -> FloatArray | None:
        """Where the solver is on: the most that each action is proven to be worth."""
        return self._told.upper

    @property
    def priors(self) -> FloatArray:
        """The prior of each action."""
        return self._told.priors

    @property
    def visits(self) -> dict[Any, int]:
        """Visits of each action."""
        return dict(zip(self.actions, self.counts.tolist(), strict=True))

    def policy(self, temperature: float = 1.0) -> dict[Any, float]:
        """A probability for each action, from the visits: 0 is greedy, 1 proportional, infinity uniform."""
        return dict(zip(self.actions, self._told.shares(temperature).tolist(), strict=True))

    @property
    def pv(self) -> list[str]:
        """The principal variation: the most visited actions, one after the other, as people read them."""
        return self._told.pv

    @property
    def pv_actions(self) -> list[Any]:
        """The principal variation's actions."""
        return [self._position.move(node) for node in self._told.pv_actions]

    def lines(self, count: int = 3) -> list[Line]:
        """The principal variations of the most visited actions; only while the search stands at the same root."""
        return self._told.lines(count)

    @property
    def simulations(self) -> int:
        """How many simulations the last run made."""
        return self._told.simulations

    @property
    def elapsed(self) -> float:
        """Seconds that the last run took."""
        return self._told.elapsed

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the last run."""
        return self._told.interrupted

    @property
    def stopped(self) -> str:
        """Why the last run ended."""
        return self._told.usage.stopped

    @property
    def usage(self) -> Usage:
        """What the search had used up."""
        return self._told.usage

    @property
    def proof(self) -> Proof | None:
        """What the solver has proven of the state."""
        return self._told.proof

    @property
    def solved(self) -> bool:
        """Whether the value of the state is proven."""
        return self._told.solved

    @property
    def tree(self) -> Tree:
        """The tree itself, which goes on with its search."""
        return self._told.tree

    @property
    def uncertainties(self) -> npt.NDArray[np.float64]:
        """The standard error of each mean; NaN where the search keeps no squares."""
        return self._told.uncertainties

    def explain(self) -> Explanation:
        """For each action its visits, value, prior, exploration term and score; and why the chosen one was chosen."""
        return self._told.explain()

    def report(self) -> Report:
        """All that is needed to run this again and to judge it."""
        search: Any = self._told._search
        named = (
            getattr(search.evaluator, "name", None)
            or getattr(search.evaluator, "__name__", None)
            or type(search.evaluator).__name__
        )
        return replace(
            self._told.report(),
            rules_digest="none: states live in Python",
            start=repr(search.start)[:1000],
            evaluator=str(named),
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; actions are told as people read them."""
        plain = self._told.to_dict()
        plain |= {"action": self.move, "report": self.report().to_dict(), "cost": self.cost, "calls": self.calls}
        failures = [
            {
                "path": [str(action) for action in one.path],
                "reason": one.reason,
                "where": one.where,
                "ends_node": one.ends_node,
            }
            for one in self.failures
        ]
        return {**plain, "failures": failures, "failed_rollouts": self.failed_rollouts}

    def json(self) -> str:
        """The same as a JSON text."""
        return json_text(self.to_dict())

    def _more(self) -> list[str]:
        lines = (
            [f"{self.calls:,} evaluations elsewhere" + (f", cost {self.cost:g}" if self.cost else "")]
            if self.calls
            else []
        )
        nodes = [failure for failure in self.failures if failure.ends_node]
        rollouts = [failure for failure in self.failures if not failure.ends_node]
        return [
            *lines,
            *_listed(f"nodes that failed and are left out: {len(nodes):,}", nodes, len(nodes)),
            *_listed(
                f"rollouts that failed and were made again: {self.failed_rollouts:,}", rollouts, self.failed_rollouts
            ),
        ]

    def __str__(self) -> str:
        return "\n".join([str(self._told), *self._more()])

    def _repr_html_(self) -> str:
        from html import escape

        return self._told._repr_html_() + "".join(f"<div>{escape(line)}</div>" for line in self._more())


def _listed(heading: str, failures: list[Failure], count: int) -> list[str]:
    more = [f"  ... and {count - _TOLD:,} more"] if count > _TOLD else []
    return [f"{heading}:", *(f"  {failure}" for failure in failures[:_TOLD]), *more] if count else []
