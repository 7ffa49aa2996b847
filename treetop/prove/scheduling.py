"""Schedule the work of a proof search: goals are reserved, tactics are tried on them, and the results are recorded in
the graph.

The scheduler does not know where tactics are tried. A reservation is a small task that can be sent anywhere. Whoever
runs it reports the result; a task that is never reported is given back at no other cost.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from treetop.errors import ConfigError
from treetop.prove.config import ProofConfig
from treetop.prove.graph import Change, GoalNode, Graph, Status
from treetop.prove.policies import Policy, Selection
from treetop.prove.prover import Attempt, Goal, Place, Prover, Provider, Suggestion
from treetop.prove.providers import check_ranking, checked
from treetop.prove.values import Values

Ranker = Callable[[Goal, list[Suggestion]], list[Suggestion]]
"""Reorders the suggestions for a goal; it must return the same pairs."""
Evaluate = Callable[[Goal], float]
"""Estimates the probability, from 0 to 1, that a goal can be proved."""
TraceSink = Callable[[dict[str, Any]], None]

MOST_TACTICS = 16  # in one task: a task checks the clock itself, but other workers may be waiting for the goal


@dataclass(frozen=True)
class Task:
    """Tactics to be tried on a goal, one after the other."""

    id: int
    goal: int
    place: Place
    tactics: tuple[str, ...]
    applied: int | None
    """Stop after this many tactics have applied. A tactic that proves the goal always ends the task."""
    tactic_seconds: float
    seconds: float | None
    """Start no tactic after this many seconds."""


def carry_out(prover: Prover, task: Task, stop: Callable[[], bool] | None = None) -> list[Attempt]:
    """Try the tactics of a task until `stop()` is true.

    If the prover raises, that tactic has failed and the next one is tried.
    """
    attempts: list[Attempt] = []
    applied = 0
    started = time.perf_counter()
    for tactic in task.tactics:
        now = time.perf_counter()
        left = None if task.seconds is None else task.seconds - (now - started)
        if (left is not None and left <= 0) or (stop is not None and stop()):
            break
        seconds = task.tactic_seconds if left is None else min(task.tactic_seconds, left)
        try:
            attempt = prover.attempt(task.place, tactic, seconds)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this tactic's failure
            attempt = Attempt(None, f"{type(error).__name__}: {error}", time.perf_counter() - now)
        if (
            attempt.subgoals is None
            and task.seconds is not None
            and seconds < task.tactic_seconds
            and time.perf_counter() - started >= task.seconds
        ):
            break  # cut short by the end of the search: it stays untried
        attempts.append(attempt)
        applied += attempt.applied
        if attempt.subgoals == () or applied == task.applied:
            break
    return attempts


class Scheduler:
    """Reserves goals for workers, and records what they report."""

    def __init__(
        self, graph: Graph, policy: Policy, provider: Provider, config: ProofConfig, *,
        ranker: Ranker | None = None, evaluate: Evaluate | None = None, trace: TraceSink | None = None,
    ) -> None:  # fmt: skip
        self.graph, self._policy, self._provider, self._config = graph, policy, provider, config
        self._ranker = ranker if config.policy != "blind_uniform" else None
        self._evaluate = evaluate if config.policy != "blind_uniform" else None
        self._values = Values(config.backup)
        self._trace = trace
        self._events = 0
        self._tasks = 0
        self._under_way: dict[int, tuple[Task, Selection]] = {}
        self.simulations = 0
        self.attempts = 0
        self.expansions = 0
        self._length = max(1, len(graph.root.goal.key))
        graph.root.value = graph.root.estimate = self._estimate(graph.root.goal)

    @property
    def tasks_under_way(self) -> int:
        """How many tasks are in flight."""
        return len(self._under_way)

    @property
    def attempts_under_way(self) -> int:
        """The largest number of tactics that the tasks in flight may try."""
        return sum(len(task.tactics) for task, _ in self._under_way.values())

    def reserve(self, *, attempts: int | None = None, seconds: float | None = None, worker: int = 0) -> Task | None:
        """Return the next task, of at most this many attempts and seconds; None if there is none at present."""
        while attempts != 0 and (selection := self._policy.select()) is not None:
            goal = selection.goal
            if not goal.expanded and not self._ask(goal):
                self._count(selection, success=False)
                continue
            assert goal.suggestions is not None
            most = MOST_TACTICS if attempts is None else min(MOST_TACTICS, attempts)
            tactics = tuple(suggestion.tactic for suggestion in goal.suggestions[goal.tried : goal.tried + most])
            self._tasks += 1
            task = Task(
                self._tasks, goal.id, goal.place(), tactics, self._config.width, self._config.tactic_seconds, seconds
            )
            goal.reserved = True
            for node in _on_way(selection):
                node.in_flight += 1
            self._under_way[task.id] = task, selection
            self._emit("reserve", goal=goal.id, task=task.id, worker=worker, tactics=len(tactics))
            return task
        return None

    def report(self, task: Task, attempts: Sequence[Attempt]) -> None:
        """Record the result of a task. Tactics that it did not reach stay untried."""
        selection = self._end(task)
        goal = selection.goal
        assert goal.suggestions is not None
        self.simulations += 1
        self.attempts += len(attempts)
        open_before = goal.status is Status.open
        for attempt in attempts:
            if goal.status is Status.proved:
                break
            suggestion = goal.suggestions[goal.tried]
            self._enter(goal, suggestion, attempt, task)
        self._change(self.graph.release(goal), goal)
        self._policy.offer(goal)
        self._count(selection, success=open_before and goal.status is Status.proved)

    def give_back(self, task: Task, reason: str) -> None:
        """Release the goal of a task that will not be reported."""
        goal = self._end(task).goal
        goal.reserved = False
        self._policy.offer(goal)
        self._emit("lost", goal=goal.id, task=task.id, reason=reason)

    def drop(self, task: Task, reason: str) -> None:
        """Record the tactics of a task as failed: they ended the process that tried them more than once."""
        self.report(task, [Attempt(None, reason)] * len(task.tactics))

    def _end(self, task: Task) -> Selection:
        _, selection = self._under_way.pop(task.id)
        for node in _on_way(selection):
            node.in_flight -= 1
        return selection

    def _ask(self, goal: GoalNode) -> bool:
        """Request tactics for a goal, and return whether there are any.

        If the provider or the ranker raises, there are none.
        """
        self.expansions += 1
        try:
            suggestions = self._provider.suggest(goal.goal)
        except Exception as error:  # noqa: BLE001 - a provider may be anything
            return self._kill(goal, f"the provider failed: {type(error).__name__}: {error}")
        ordered = self._policy.order(checked(suggestions, self._provider.name))
        if self._ranker is not None:
            try:
                ranked = self._ranker(goal.goal, list(ordered))
            except Exception as error:  # noqa: BLE001 - a ranker may be anything
                return self._kill(goal, f"the ranker failed: {type(error).__name__}: {error}")
            check_ranking(ordered, ranked)
            ordered = ranked
        self._emit("suggest", goal=goal.id, tactics=[suggestion.tactic for suggestion in ordered])
        self._change(self.graph.expand(goal, ordered), goal)
        return goal.expandable

    def _kill(self, goal: GoalNode, reason: str) -> bool:
        self._change(self.graph.kill(goal, reason), goal)
        return False

    def _enter(self, goal: GoalNode, suggestion: Suggestion, attempt: Attempt, task: Task) -> None:
        known = len(self.graph)
        change = self.graph.record(goal, suggestion, attempt)
        tactic = change.tactic
        assert tactic is not None
        share = goal.share(suggestion)
        for below in dict.fromkeys(tactic.subgoals):
            if below.id >= known:
                below.estimate = below.value = self._estimate(below.goal)
            below.log_prior = _better_way(goal, below, share, new=below.id >= known)
            if below.status is Status.open:
                self._policy.offer(below)
        self._values.enter(tactic)
        subgoals = None if attempt.subgoals is None else [below.id for below in tactic.subgoals]
        self._emit(
            "attempt",
            goal=goal.id,
            task=task.id,
            tactic=tactic.tactic,
            subgoals=subgoals,
            reason=attempt.reason,
            seconds=round(attempt.seconds, 4),
        )
        self._change(change, goal)

    def _change(self, change: Change, goal: GoalNode) -> None:
        self._values.refresh([*change.proved, *change.dead, goal])
        for proved in change.proved:
            self._emit("proved", goal=proved.id)
        for dead in change.dead:
            self._emit("dead", goal=dead.id, reason=dead.reason)
        for relevant in change.relevant:
            self._policy.offer(relevant)

    def _count(self, selection: Selection, *, success: bool) -> None:
        """Add a visit to everything on the path."""
        for node in _on_way(selection):
            node.visits += 1
            node.successes += success
        self._values.credit(selection.goal, selection.way)

    def _estimate(self, goal: Goal) -> float:
        """Return the estimate of a goal. If the `evaluate` hook raises, the built-in estimate is used."""
        usual = (
            self._config.leaf_value
            if self._config.estimate == "constant"
            else 1.0 / (1.0 + len(goal.key) / self._length)
        )
        if self._evaluate is None:
            return usual
        try:
            value = self._evaluate(goal)
        except Exception as error:  # noqa: BLE001 - it may be anything
            self._emit("no estimate", reason=f"{type(error).__name__}: {error}")
            return usual
        if not 0.0 <= value <= 1.0:
            raise ConfigError(f"the estimate of a goal must be a number from 0 to 1, not {value!r}")
        return value

    def _emit(self, event: str, **facts: Any) -> None:
        if self._trace is not None:
            self._events += 1
            self._trace({"n": self._events, "event": event, "simulation": self.simulations, **facts})


def _on_way(selection: Selection) -> list[Any]:
    return [node for pair in selection.way for node in pair] + [selection.goal]


def _better_way(goal: GoalNode, below: GoalNode, share: float, *, new: bool) -> float:
    way = goal.log_prior + math.log(max(share, 1e-12))
    return way if new else max(below.log_prior, way)
