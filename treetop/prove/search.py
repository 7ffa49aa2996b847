"""The search for a proof of one theorem: an object that can be run, watched, continued and queried.

::

    with ProofSearch(LogicTheorem("p & q -> q & p"), seed=1) as search:
        result = search.run(Limit(seconds=10))
        print(result)
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from types import TracebackType
from typing import Any, Self

from treetop.compiler.preparing import Pulse
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, ProverError
from treetop.prove.abilities import GoalPrinter, Retraceable, TimedVerifier, Tuned
from treetop.prove.config import ProofConfig
from treetop.prove.extract import extract, shorten
from treetop.prove.graph import GoalNode, Graph, Status
from treetop.prove.outline import LINES, Outline, Show
from treetop.prove.policies import TieBreak, make_policy
from treetop.prove.prover import Attempt, Place, Proof, Prover, Provider, Theorem, Verdict
from treetop.prove.providers import FilteredProvider
from treetop.prove.report import ProofReport, report_on
from treetop.prove.result import ProofResult
from treetop.prove.scheduling import MOST_TACTICS, Evaluate, Ranker, Scheduler, Task, TraceSink, carry_out
from treetop.prove.sessions import ProverSession
from treetop.search.interrupts import Interrupts
from treetop.search.limits import Budget, Limit
from treetop.workers.units import Unit

_SHORTENING = Limit(calls=200, seconds=5.0)
_CHECKING = 1.0, 0.25  # seconds, and a share of the limit, that a check may take in addition to the limit
_SHOWING = Limit(calls=500, seconds=10.0)
_GRACE = 60.0  # seconds that a task may take too long before its worker counts as hung: its prover may have to restart
_WATCHED = 0.1  # seconds between two progress reports


@dataclass(frozen=True)
class ProofProgress:
    """The progress of a search.

    >>> import treetop as tt
    >>> reports = []
    >>> with tt.prove.ProofSearch(tt.prove.LogicTheorem.read("p | q -> q | p", mode="raw"), seed=1) as search:
    ...     result = search.run(tt.Limit(simulations=20), progress=reports.append)
    >>> reports[-1].checking, reports[-1].attempts == result.attempts
    (True, True)
    """

    simulations: int
    attempts: int
    elapsed: float
    open: int
    proved: int
    dead: int
    best: tuple[str, ...]
    """The tactics on the path of the best values: the best partial proof."""
    checking: bool = False
    """Whether a proof was found and is being shortened and checked."""

    @property
    def rate(self) -> float:
        """Attempts per second."""
        return self.attempts / self.elapsed if self.elapsed > 0 else 0.0


class ProofSearch:
    """Searches for a proof of a theorem. Use it as a context manager or close it: provers are processes.

    `seed=None` is a search without randomness: ties go to the first option, and `blind_uniform` is refused. With
    several `workers`, each has its own prover in its own process, and all work on one graph; with `on="ray"` or
    `on="ray://host:port"` the processes are on a Ray cluster. `trace` is called with every event, in order, as a dict
    ready for JSON. `allow_easy=False` removes tactics that search for whole proofs themselves, whichever provider
    suggests them. `prover` is one that has the theorem open already; its owner closes it. `session` keeps provers and
    workers for the next search; its owner closes it. All provers are ready when the search has been constructed, so
    limits in seconds count the search alone.

    >>> from treetop.prove import LogicTheorem
    >>> with ProofSearch(LogicTheorem.read("p -> p"), seed=1) as search:
    ...     search.run(Limit(simulations=10)).proved
    True
    """

    def __init__(
        self,
        theorem: Theorem,
        config: ProofConfig | None = None,
        *,
        seed: int | None = 0,
        provider: Provider | None = None,
        ranker: Ranker | None = None,
        evaluate: Evaluate | None = None,
        tie_break: TieBreak | None = None,
        workers: int = 1,
        trace: TraceSink | None = None,
        allow_easy: bool = True,
        prover: Prover | None = None,
        session: ProverSession | None = None,
        on: str | None = None,
    ) -> None:
        if session is not None and on is not None:
            raise ConfigError("the session decides where its workers are: give `on` to the session")
        if session is not None and workers not in (1, session.workers):
            raise ConfigError(
                f"the session has {session.workers} workers, not {workers}: omit `workers`, or use another session"
            )
        self._session = ProverSession(workers, on=on) if session is None else session
        self._owner = session is None
        self.theorem = theorem
        self.config = with_exploration(config or ProofConfig(), theorem)
        self.seed, self.workers, self.allow_easy = seed, self._session.workers, allow_easy
        self._interrupted = False
        self.seconds = 0.0
        self._tier: int | None = None
        self._tiers: tuple[int, ...] = ()
        self._limits: dict[str, Any] = {}
        self._decided: tuple[Proof, Verdict] | None = None
        rng = None if seed is None else Rng(seed)
        self._prover = self._session.open(theorem, prover)
        try:
            self.graph = Graph(self._prover.root())
            suggesting = theorem.provider(self._prover) if provider is None else provider
            self.provider = suggesting if allow_easy else FilteredProvider(suggesting)
            policy = make_policy(self.graph, self.config, rng, tie_break)
            self._scheduler = Scheduler(
                self.graph, policy, self.provider, self.config, ranker=ranker, evaluate=evaluate, trace=trace
            )
        except BaseException:
            self.close()
            raise
        self._pool = self._session.pool
        if self._pool is not None:
            self._pool.deadline = self.config.tactic_seconds * 2 * MOST_TACTICS + _GRACE
        self._hooks = {"ranker": _name(ranker), "evaluate": _name(evaluate), "tie_break": _name(tie_break)}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the provers, unless they belong to a session."""
        if self._owner:
            self._session.close()

    @property
    def simulations(self) -> int:
        """The number of simulations so far."""
        return self._scheduler.simulations

    @property
    def attempts(self) -> int:
        """The number of tactics tried so far."""
        return self._scheduler.attempts

    def run(self, limit: Limit, *, progress: Callable[[ProofProgress], None] | None = None) -> ProofResult:
        """Search until the theorem is proved, nothing is left to try, a limit is reached or Ctrl-C is pressed.

        A later call continues with the same graph. Of the limit, `calls` counts the tactics tried, and `nodes` the
        goals added to the graph.
        """
        if limit.cost is not None:
            raise ConfigError("a proof search has no cost to limit: limit simulations, calls, nodes or seconds")
        budget = Budget(limit, elsewhere=True)
        self._limits = {name: value for name, value in asdict(limit).items() if value is not None}
        self._interrupted = False
        pulse = Pulse(_WATCHED)
        with Interrupts() as interrupts, contextlib.closing(self._work(budget, lambda: interrupts.seen)) as work:
            for _ in work:
                if progress is not None and pulse.due():
                    progress(self._standing(budget))
                if interrupts.seen:
                    self._interrupted = True
                    break
        self.seconds += budget.elapsed
        if self.graph.root.status is Status.proved:
            if progress is not None:
                progress(self._standing(budget, checking=True))
            self._judge(budget)
        return self.result()

    def run_tiers(
        self,
        tiers: tuple[int, ...],
        *,
        seconds: float | None = None,
        progress: Callable[[ProofProgress], None] | None = None,
    ) -> ProofResult:
        """Search by budget tiers until one of them decides.

        A tier is a number of simulations, counted from the start; each continues with the same graph.
        """
        if not tiers or any(late <= early for early, late in pairwise(tiers)) or tiers[0] < 1:
            raise ConfigError(f"tiers must be increasing numbers of simulations, not {tiers!r}")
        self._tiers = tuple(tiers)
        for tier in tiers:
            self._tier = tier
            left = None if seconds is None else seconds - self.seconds
            if self.simulations >= tier or (left is not None and left <= 0):
                continue
            self.run(Limit(simulations=tier - self.simulations, seconds=left), progress=progress)
            if self.graph.root.status is not Status.open or self._interrupted:
                break
        return self.result()

    def result(self) -> ProofResult:
        """Return the current result."""
        root = self.graph.root
        status, proof, script, verdict, refused = (
            "open" if root.status is Status.open else "exhausted",
            None,
            "",
            None,
            "",
        )
        if root.status is Status.proved and self._decided is None:
            status = "open"
        elif self._decided is not None:
            found, verdict = self._decided
            status = "proved" if verdict.accepted else "refused"
            if verdict.accepted:
                proof, script = found, self.theorem.script(found)
            else:
                refused = self.theorem.script(found)
        tier = self._tier if status != "open" else None
        return ProofResult(
            self.theorem.name,
            status,
            proof,
            script,
            verdict,
            self.simulations,
            self.attempts,
            self._scheduler.expansions,
            self.seconds,
            tier,
            self.report(),
            self.graph,
            self._interrupted and status == "open",
            refused,
        )

    def tree(self, *, lines: int | None = LINES, everything: bool = False) -> Outline:
        """Return the search as indented text, as `ProofResult.tree` does, with goals in the notation of the prover's
        users.
        """
        return self.result().tree(lines=lines, everything=everything, show=self._sights())

    def _sights(self) -> Show | None:
        """Return the function that shows a goal.

        Replaying the path to a goal takes time, so after a while the stored text is shown.
        """
        prover = self._prover
        if not isinstance(prover, GoalPrinter):
            return None
        budget = Budget(_SHOWING, elsewhere=True)

        def sight(node: GoalNode) -> str:
            budget.calls += 1
            try:
                return str(node.goal) if budget.spent else prover.show(node.place())
            except ProverError:  # the path cannot be replayed
                return str(node.goal)

        return sight

    def report(self) -> ProofReport:
        """Return everything that is needed to repeat the search and to assess its claims."""
        return report_on(
            {self.theorem.name: self.theorem.facts()},
            self.config,
            self.provider.name,
            allow_easy=self.allow_easy,
            hooks=self._hooks,
            tiers=self._tiers,
            seeds=() if self.seed is None else (self.seed,),
            limits={**self._limits, "workers": self.workers},
        )

    def _judge(self, budget: Budget) -> None:
        """Shorten and check the proof, once. If the shorter proof is refused, the original one is checked."""
        if self._decided is not None:
            return
        found = extract(self.graph)
        left = budget.seconds_left
        shortening = Budget(
            _SHORTENING if left is None else replace(_SHORTENING, seconds=min(5.0, max(0.1, left / 3))), elsewhere=True
        )

        def attempt(place: Place, tactic: str) -> Attempt:
            shortening.calls += 1
            return self._prover.attempt(place, tactic, self.config.tactic_seconds)

        shorter = shorten(self.graph, attempt, lambda: not shortening.spent)
        limit = budget.limit.seconds
        end = (
            None
            if limit is None
            else time.monotonic() + max(budget.seconds_left or 0.0, _CHECKING[0] + _CHECKING[1] * limit)
        )
        self._decided = self._check(shorter, end)
        if self._decided is not None and not self._decided[1].accepted and shorter.size != found.size:
            self._decided = self._check(found, end) or self._decided

    def _check(self, proof: Proof, end: float | None) -> tuple[Proof, Verdict] | None:
        """Check a proof. If the theorem is `Retraceable`, the proof is run in the prover first.

        Returns None if a checker with a deadline did not finish in time.
        """
        theorem = self.theorem
        try:
            final = theorem.retrace(self._prover, proof) if isinstance(theorem, Retraceable) else proof
        except ProverError as error:
            return proof, Verdict(False, str(error), checker="the prover")
        verdict = theorem.verify_before(final, end) if isinstance(theorem, TimedVerifier) else theorem.verify(final)
        return None if verdict is None else (final, verdict)

    def _work(self, budget: Budget, stop: Callable[[], bool]) -> Generator[None]:
        """Run tasks, here or by the workers, and yield after each of them.

        Tasks that run here stop when `stop()` is true.
        """
        scheduler = self._scheduler
        simulations, attempts, goals = scheduler.simulations, scheduler.attempts, len(self.graph)

        def count() -> None:
            budget.simulations = scheduler.simulations - simulations
            budget.calls = scheduler.attempts - attempts
            budget.nodes = len(self.graph) - goals

        if self._pool is None:
            while (task := self._next_task(budget)) is not None:
                self._scheduler.report(task, carry_out(self._prover, task, stop))
                count()
                yield
            return
        tasks: dict[str, Task] = {}
        try:
            for outcome in self._pool.run(_Reservations(lambda: self._next_task(budget), tasks)):
                task = tasks.pop(outcome.unit.id)
                if outcome.ok:
                    self._scheduler.report(task, outcome.value)
                else:
                    self._scheduler.drop(task, f"the prover was lost: {outcome.reason}")
                count()
                yield
                if self.graph.root.status is not Status.open or budget.seconds_left == 0.0:
                    break  # tasks that wait at the workers are not started any more
        finally:
            for task in tasks.values():
                self._scheduler.give_back(task, "the search stopped")

    def _next_task(self, budget: Budget) -> Task | None:
        if budget.spent or self.graph.root.status is not Status.open:
            return None
        limit, scheduler = budget.limit, self._scheduler
        if limit.simulations is not None and budget.simulations + scheduler.tasks_under_way >= limit.simulations:
            return None
        left = None if limit.calls is None else max(0, limit.calls - budget.calls - scheduler.attempts_under_way)
        return scheduler.reserve(attempts=left, seconds=budget.seconds_left)

    def _standing(self, budget: Budget, *, checking: bool = False) -> ProofProgress:
        counts = dict.fromkeys(Status, 0)
        for goal in self.graph.goals:
            counts[goal.status] += 1
        return ProofProgress(
            budget.simulations,
            budget.calls,
            budget.elapsed,
            counts[Status.open],
            counts[Status.proved],
            counts[Status.dead],
            self._best_way(),
            checking,
        )

    def _best_way(self) -> tuple[str, ...]:
        best: list[str] = []
        goal, seen = self.graph.root, {0}
        while True:
            options = [tactic for tactic in goal.tactics if tactic.status is not Status.dead and tactic.subgoals]
            if not options:
                return tuple(best)
            tactic = max(options, key=lambda option: (option.value, option.visits))
            best.append(tactic.tactic)
            below = next(
                (below for below in tactic.subgoals if below.status is Status.open and below.id not in seen), None
            )
            if below is None:
                return tuple(best)
            seen.add(below.id)
            goal = below


class _Reservations:
    """Tasks for the pool, reserved when a worker is free. StopIteration is not final: a report may create new work."""

    def __init__(self, next_task: Callable[[], Task | None], tasks: dict[str, Task]) -> None:
        self._next_task, self._tasks = next_task, tasks

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Unit:
        task = self._next_task()
        if task is None:
            raise StopIteration
        unit = Unit(f"task {task.id}", (task,))
        self._tasks[unit.id] = task
        return unit


def with_exploration(config: ProofConfig, theorem: Theorem) -> ProofConfig:
    """Return the configuration with the exploration constant of the theorem's prover, if it has none."""
    if config.c is not None:
        return config
    return replace(config, c=theorem.exploration if isinstance(theorem, Tuned) else 1.0)


def _name(hook: Any) -> str | None:
    return None if hook is None else getattr(hook, "__qualname__", type(hook).__qualname__)
