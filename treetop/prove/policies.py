"""Which goal is worked on next. `ucb1` and `puct` walk down from the theorem by scores; `best_first` and `blind_uniform` look at all open goals at once.

A policy also decides in what order the suggested tactics are tried: by probability, or, for the blind one, shuffled.
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
"""Chooses among options with the same score: tactics that are open, the suggestion that would be tried next, or None for a goal at which nobody was asked yet."""


@dataclass(frozen=True)
class Selection:
    """The goal to work on, and the way that led to it: each goal above it with the tactic taken there."""

    goal: GoalNode
    way: tuple[tuple[GoalNode, TacticNode], ...]


class Policy(Protocol):
    """Chooses goals, and the order of the tactics at a goal."""

    def select(self) -> Selection | None:
        """The goal to work on; None where all that could be worked on is reserved."""
        ...

    def order(self, suggestions: list[Suggestion]) -> list[Suggestion]:
        """The suggestions of a goal in the order in which they are to be tried."""
        ...

    def offer(self, goal: GoalNode) -> None:
        """A goal matters from now on, or again; there is a better way to it; or it may be worked on again."""
        ...


def make_policy(graph: Graph, config: ProofConfig, rng: Rng | None, tie_break: TieBreak | None) -> Policy:
    """The policy that the settings name."""
    if config.policy == "blind_uniform":
        if rng is None:
            raise ConfigError("blind_uniform draws goals at random: give it a seed")
        return Blind(graph, rng)
    if config.policy == "best_first":
        return BestFirst(graph)
    return Walk(graph, config, rng, tie_break)


class Walk:
    """UCB1 or PUCT from the theorem down.

    At a goal the options are its open tactics and, as one more, to try what comes next among the suggestions. UCB1 gives what was never visited
    an infinite score, so it opens everything before it goes deeper (unless widening forbids); PUCT weighs it by its probability.
    A tactic with a subgoal that stands on the way already is no option there: its proof would need what it is meant to prove.
    """

    def __init__(self, graph: Graph, config: ProofConfig, rng: Rng | None, tie_break: TieBreak | None) -> None:
        self._graph, self._config, self._rng, self._tie_break = graph, config, rng, tie_break
        self._score = self._puct if config.policy == "puct" else self._ucb1
        self._c = 1.0 if config.c is None else config.c

    def order(self, suggestions: list[Suggestion]) -> list[Suggestion]:
        """By probability."""
        return by_probability(suggestions)

    def offer(self, goal: GoalNode) -> None:
        """Nothing to remember: every walk begins at the theorem."""

    def select(self) -> Selection | None:
        """Walk down; where a way turns out to be closed, the next best option is taken."""
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
        """The options at a goal, best first: a tactic with a subgoal to go on with, or None to work on the goal itself."""
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
            option = tied[0] if len(tied) == 1 else self._settle(goal, tied)
            options.remove(option)
            if option is None:
                yield None, goal
            else:
                for below in self._subgoals(option):
                    yield option, below
        if goal.expandable:
            yield None, goal  # widening forbids it, and there is no other way on

    def _too_wide(self, goal: GoalNode, opened: int) -> bool:
        widening = self._config.widening
        return widening is not None and opened >= widening[0] * max(1, goal.visits) ** widening[1]

    def _settle(self, goal: GoalNode, tied: list[TacticNode | None]) -> TacticNode | None:
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
                f"the tie-break chose {chosen!r}, which is not among the {len(tied)} options it was given"
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
        """A tactic's value, each expansion under way below it counted as fruitless."""
        lost = self._config.virtual_loss * tactic.in_flight
        return tactic.value * tactic.visits / (tactic.visits + lost) if lost and tactic.visits else tactic.value

    def _bias(self, goal: GoalNode, tactic: TacticNode) -> float:
        return self._config.depth_bias * goal.depth + self._config.path_bias * tactic.in_flight

    def _subgoals(self, tactic: TacticNode) -> list[GoalNode]:
        """The open subgoals of a tactic, the one to go on with first."""
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
        """The way that is there if any is: that of the witnesses, which never leads in a circle."""
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
    """A goal with the way that led to it first."""
    way: list[tuple[GoalNode, TacticNode]] = []
    below = goal
    while below.origin is not None:
        tactic = below.origin[0]
        way.append((tactic.goal, tactic))
        below = tactic.goal
    return Selection(goal, tuple(reversed(way)))


class Blind:
    """Any open goal that matters, each as likely; tactics in a random order. It knows nothing of probabilities and values."""

    def __init__(self, graph: Graph, rng: Rng) -> None:
        self._rng = rng
        self._open: list[GoalNode] = [graph.root]
        self._known: set[int] = {graph.root.id}

    def offer(self, goal: GoalNode) -> None:
        """Remember it."""
        if goal.id not in self._known:
            self._known.add(goal.id)
            self._open.append(goal)

    def order(self, suggestions: list[Suggestion]) -> list[Suggestion]:
        """Shuffled: whatever order the provider gave, all orders are as likely."""
        return self._rng.shuffled(suggestions)

    def select(self) -> Selection | None:
        """Draw until one may be worked on. Those that may not are forgotten, until somebody offers them again."""
        while self._open:
            index = self._rng.below(len(self._open))
            goal = self._open[index]
            if goal.expandable and goal.matters:
                return _first_way(goal)
            self._open[index] = self._open[-1]
            self._open.pop()
            self._known.discard(goal.id)
        return None


class BestFirst:
    """The goal whose next tactic has the likeliest way to it: the product of the shares of all tactics on it."""

    def __init__(self, graph: Graph) -> None:
        self._heap: list[tuple[float, int, GoalNode]] = [(0.0, 0, graph.root)]
        self._count = 0

    def order(self, suggestions: list[Suggestion]) -> list[Suggestion]:
        """By probability."""
        return by_probability(suggestions)

    def offer(self, goal: GoalNode) -> None:
        """Put it in its place."""
        if goal.expandable:
            self._count += 1
            heapq.heappush(self._heap, (-_promise(goal), self._count, goal))

    def select(self) -> Selection | None:
        """The best one that may be worked on. Those that may not are forgotten, until somebody offers them again."""
        while self._heap:
            rank, _, goal = self._heap[0]
            if goal.expandable and goal.matters and rank == -_promise(goal):
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
