"""Selection policies: which goal is expanded next.

`ucb1` and `puct` descend from the theorem by scores; `best_first` and `blind_uniform` choose among all open goals.

A policy also decides the order in which the suggested tactics are tried: by probability, or shuffled for
`blind_uniform`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from treetop.compiler.rng import Rng
from treetop.errors import ConfigError
from treetop.prove.config import ProofConfig
from treetop.prove.graph import GoalNode, Graph, Status, TacticNode
from treetop.prove.prover import Suggestion
from treetop.prove.providers import by_probability

TieBreak = Callable[[Sequence[TacticNode | Suggestion | None]], TacticNode | Suggestion | None]
"""Chooses among options with equal scores: open tactics, the suggestion that would be tried next, or None for a goal
whose provider was not asked yet."""


@dataclass(frozen=True)
class Selection:
    """The goal to expand, and the path to it: each goal above it with the tactic chosen there."""

    goal: GoalNode
    way: tuple[tuple[GoalNode, TacticNode], ...]


class Policy(Protocol):
    """Selects goals, and orders the tactics at a goal."""

    def select(self) -> Selection | None:
        """Return the goal to expand; None if all candidates are reserved."""
        ...

    def order(self, suggestions: list[Suggestion]) -> list[Suggestion]:
        """Return the suggestions of a goal in the order in which they are tried."""
        ...

    def offer(self, goal: GoalNode) -> None:
        """Add a goal to the candidates: it is relevant now, has a better path, or may be expanded again."""
        ...


def make_policy(graph: Graph, config: ProofConfig, rng: Rng | None, tie_break: TieBreak | None) -> Policy:
    """Return the policy that the configuration names."""
    if config.policy == "blind_uniform":
        if rng is None:
            raise ConfigError("blind_uniform draws goals at random and needs a seed")
        return Blind(graph, rng)
    if config.policy == "best_first":
        return BestFirst(graph)
    return Walk(graph, config, rng, tie_break)


class Walk:
    """UCB1 or PUCT, descending from the theorem.

    The options at a goal are its open tactics and trying the next suggestions. UCB1 gives unvisited options an infinite
    score, so it opens everything before it descends (unless widening prevents it); PUCT weights them by probability. A
    tactic is no option if one of its subgoals is already on the path: its proof would need what it is meant to prove.
    """

    def __init__(self, graph: Graph, config: ProofConfig, rng: Rng | None, tie_break: TieBreak | None) -> None:
        self._graph, self._config, self._rng, self._tie_break = graph, config, rng, tie_break
        self._score = self._puct if config.policy == "puct" else self._ucb1
        self._c = 1.0 if config.c is None else config.c

    def order(self, suggestions: list[Suggestion]) -> list[Suggestion]:
        """Sort by probability."""
        return by_probability(suggestions)

    def offer(self, goal: GoalNode) -> None:
        """Do nothing: every descent starts at the theorem."""

    def select(self) -> Selection | None:
        """Descend to a goal; where a path turns out to be closed, take the next best option."""
        root = self._graph.root
        if root.status is not Status.open:
            return None
        way: list[tuple[GoalNode, TacticNode]] = []
        on_way, closed = {root.id}, set[int]()
        here = [root]
        levels = [self._ways_on(root, on_way)]
        while levels:
            chosen = next(levels[-1], None)
            if chosen is None:
                goal = here.pop()
                levels.pop()
                on_way.discard(goal.id)
                closed.add(goal.id)
                if way:
                    way.pop()
                continue
            tactic, below = chosen
            if tactic is None:
                return Selection(here[-1], tuple(way))
            if below.id in closed:
                continue
            way.append((here[-1], tactic))
            here.append(below)
            on_way.add(below.id)
            levels.append(self._ways_on(below, on_way))
        return self._by_witnesses()

    def _ways_on(self, goal: GoalNode, on_way: set[int]) -> Iterator[tuple[TacticNode | None, GoalNode]]:
        """Yield the options at a goal, best first: a tactic with the subgoal to descend to, or None to expand the goal
        itself.
        """
        options: list[TacticNode | None] = [
            tactic
            for tactic in goal.tactics
            if tactic.status is Status.open
            and not any(below.id in on_way and below.status is Status.open for below in tactic.subgoals)
        ]
        if goal.expandable and not (goal.expanded and self._too_wide(goal, len(options))):
            options.append(None)
        scores = {id(option): self._score(goal, option) for option in options}
        while options:
            best = max(scores[id(option)] for option in options)
            tied = [option for option in options if scores[id(option)] == best]
            option = tied[0] if len(tied) == 1 else self._break_tie(goal, tied)
            options.remove(option)
            if option is None:
                yield None, goal
            else:
                for below in self._subgoals(option):
                    yield option, below
        if goal.expandable:
            yield None, goal  # widening prevents it, but there is no other option

    def _too_wide(self, goal: GoalNode, opened: int) -> bool:
        widening = self._config.widening
        return widening is not None and opened >= widening[0] * max(1, goal.visits) ** widening[1]

    def _break_tie(self, goal: GoalNode, tied: list[TacticNode | None]) -> TacticNode | None:
        if self._tie_break is not None:
            upcoming = goal.suggestions[goal.tried] if goal.suggestions and goal.tried < len(goal.suggestions) else None
            candidates: list[TacticNode | Suggestion | None] = [
                upcoming if option is None else option for option in tied
            ]
            chosen = self._tie_break(tuple(candidates))
            for option, candidate in zip(tied, candidates, strict=True):
                if chosen is candidate:
                    return option
            raise ConfigError(
                f"the tie-break returned {chosen!r}, which is not one of the {len(tied)} options it was given"
            )
        return tied[0 if self._rng is None else self._rng.below(len(tied))]

    def _ucb1(self, goal: GoalNode, tactic: TacticNode | None) -> float:
        if tactic is None:
            return math.inf
        weight = self._config.virtual_loss
        visits = tactic.visits + weight * tactic.in_flight
        if visits == 0:
            return math.inf
        parent = max(1.0, goal.visits + weight * goal.in_flight)
        return self._exploited(tactic) + self._c * math.sqrt(math.log(parent) / visits) - self._bias(goal, tactic)

    def _puct(self, goal: GoalNode, tactic: TacticNode | None) -> float:
        weight = self._config.virtual_loss
        parent = math.sqrt(max(1.0, goal.visits + weight * goal.in_flight))
        if tactic is None:
            suggestions = goal.suggestions
            share = 1.0 if suggestions is None else goal.share(suggestions[goal.tried])
            return goal.estimate + self._c * share * parent - self._config.depth_bias * goal.depth
        visits = tactic.visits + weight * tactic.in_flight
        return self._exploited(tactic) + self._c * goal.share(tactic) * parent / (1 + visits) - self._bias(goal, tactic)

    def _exploited(self, tactic: TacticNode) -> float:
        """Return a tactic's value, with every expansion in flight below it counted as unsuccessful."""
        lost = self._config.virtual_loss * tactic.in_flight
        return tactic.value * tactic.visits / (tactic.visits + lost) if lost and tactic.visits else tactic.value

    def _bias(self, goal: GoalNode, tactic: TacticNode) -> float:
        return self._config.depth_bias * goal.depth + self._config.path_bias * tactic.in_flight

    def _subgoals(self, tactic: TacticNode) -> list[GoalNode]:
        """Return the open subgoals of a tactic, the one to descend to first."""
        found = [below for below in dict.fromkeys(tactic.subgoals) if below.status is Status.open]
        rule = self._config.subgoals
        if rule == "hardest":
            found.sort(key=lambda below: below.value)
        elif rule == "easiest":
            found.sort(key=lambda below: -below.value)
        elif rule == "score":
            visits = 1.0 + tactic.visits
            found.sort(
                key=lambda below: (
                    -(below.value + self._c * math.sqrt(math.log(visits) / (1 + below.visits + below.in_flight)))
                )
            )
        return found

    def _by_witnesses(self) -> Selection | None:
        """Return the path of the witnesses, which never form a cycle; None if it ends at a reserved goal."""
        goal = self._graph.root
        way: list[tuple[GoalNode, TacticNode]] = []
        while goal.witness is not None:
            tactic = goal.witness
            below = next((below for below in tactic.subgoals if below.status is Status.open), None)
            if below is None:
                return None
            way.append((goal, tactic))
            goal = below
        return Selection(goal, tuple(way)) if goal.expandable else None


def _first_way(goal: GoalNode) -> Selection:
    """Return a goal with the path that reached it first."""
    way: list[tuple[GoalNode, TacticNode]] = []
    below = goal
    while below.origin is not None:
        tactic = below.origin[0]
        way.append((tactic.goal, tactic))
        below = tactic.goal
    return Selection(goal, tuple(reversed(way)))


class Blind:
    """Draws any open relevant goal, and tries tactics in random order. It uses neither probabilities nor values."""

    def __init__(self, graph: Graph, rng: Rng) -> None:
        self._rng = rng
        self._open: list[GoalNode] = [graph.root]
        self._known: set[int] = {graph.root.id}

    def offer(self, goal: GoalNode) -> None:
        """Add the goal to the candidates."""
        if goal.id not in self._known:
            self._known.add(goal.id)
            self._open.append(goal)

    def order(self, suggestions: list[Suggestion]) -> list[Suggestion]:
        """Shuffle the suggestions uniformly."""
        return self._rng.shuffled(suggestions)

    def select(self) -> Selection | None:
        """Draw until a goal may be expanded. Goals that may not be are dropped until they are offered again."""
        while self._open:
            index = self._rng.below(len(self._open))
            goal = self._open[index]
            if goal.expandable and goal.relevant:
                return _first_way(goal)
            self._open[index] = self._open[-1]
            self._open.pop()
            self._known.discard(goal.id)
        return None


class BestFirst:
    """The goal whose next tactic has the most probable path: the product of the shares of all tactics on it."""

    def __init__(self, graph: Graph) -> None:
        self._heap: list[tuple[float, int, GoalNode]] = [(0.0, 0, graph.root)]
        self._count = 0

    def order(self, suggestions: list[Suggestion]) -> list[Suggestion]:
        """Sort by probability."""
        return by_probability(suggestions)

    def offer(self, goal: GoalNode) -> None:
        """Add the goal to the heap."""
        if goal.expandable:
            self._count += 1
            heapq.heappush(self._heap, (-_promise(goal), self._count, goal))

    def select(self) -> Selection | None:
        """Return the best goal that may be expanded. Goals that may not be are dropped until they are offered again."""
        while self._heap:
            rank, _, goal = self._heap[0]
            if goal.expandable and goal.relevant and rank == -_promise(goal):
                return _first_way(goal)
            heapq.heappop(self._heap)
        return None


def _promise(goal: GoalNode) -> float:
    suggestions = goal.suggestions
    if suggestions is None:
        return goal.log_prior
    return (
        goal.log_prior + math.log(max(goal.share(suggestions[goal.tried]), 1e-12))
        if goal.tried < len(suggestions)
        else -math.inf
    )
