"""The search for a proof: an object that can be held, run on, watched and asked.

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
from treetop.search.limits import Budget, Limit, Pulse
from treetop.workers.units import Unit

_SHORTENING = Limit(calls=200, seconds=5.0)
_CHECKING = 1.0, 0.25  # seconds, and a share of the limit, that a check may take beyond the limit
_SHOWING = Limit(calls=500, seconds=10.0)
_GRACE = (
    60.0  # seconds beyond what a task may take, before its worker counts as hung: its prover may have to begin anew
)
_WATCHED = 0.1  # seconds between two looks at the progress


@dataclass(frozen=True)
class ProofProgress:
    """Where a search stands, for those who watch."""

    simulations: int
    attempts: int
    elapsed: float
    open: int
    proved: int
    dead: int
    best: tuple[str, ...]
    """The tactics on the way to the deepest goal under the most promising ones: the best partial proof."""
    checking: bool = False
    """Whether a proof was found, and is being shortened and checked."""

    @property
    def rate(self) -> float:
        """Attempts a second."""
        return self.attempts / self.elapsed if self.elapsed > 0 else 0.0


class ProofSearch:
    """Looks for a proof of a theorem. Use it within `with`, or close it: provers are processes.

    `seed=None` is a search without chance: ties go to the first, and `blind_uniform` is refused. With several `workers` each has a prover of its
    own, in a process of its own, and all work on the one graph. `trace` is called with every event, in order, as JSON can hold it.
    `allow_easy=False` keeps out the tactics that search for whole proofs themselves, whoever suggests them. `prover` is one that has the theorem
    open already; whoever opened it closes it. `session` keeps provers and workers for the next search; whoever made it closes it. When a search
    has been made all provers are ready, so that limits in seconds count the search alone.
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
    ) -> None:
        if session is not None and workers not in (1, session.workers):
            raise ConfigError(
                f"the session has {session.workers} workers, not {workers}: leave out `workers`, or make another session"
            )
        self._session = ProverSession(workers) if session is None else session
        self._owner = session is None
        self.theorem = theorem
        self.config = settled(config or ProofConfig(), theorem)
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
        """End the provers, unless they belong to a session."""
        if self._owner:
            self._session.close()

    @property
    def simulations(self) -> int:
        """How many there were in all."""
        return self._scheduler.simulations

    @property
    def attempts(self) -> int:
        """How many tactics were tried in all."""
        return self._scheduler.attempts

    def run(self, limit: Limit, *, progress: Callable[[ProofProgress], None] | None = None) -> ProofResult:
        """Search until the theorem is proved, nothing is left to try, a limit is reached or Ctrl-C is pressed. A later call continues with the same graph.

        Of the limit, `calls` counts the tactics tried, and `nodes` the goals added to the graph.
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
        """Search by budget tiers, each a number of simulations counted from the start, until one of them decides. Each goes on with the same graph."""
        if not tiers or any(late <= early for early, late in pairwise(tiers)) or tiers[0] < 1:
            raise ConfigError(f"tiers are growing numbers of simulations, not {tiers!r}")
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
        """Return what is known now."""
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
        """The search as an indented text, as `ProofResult.tree` gives it, with goals in the notation that the prover's users know."""
        return self.result().tree(lines=lines, everything=everything, show=self._sights())

    def _sights(self) -> Show | None:
        """How to show a goal. Going there takes time, so after a while goals are shown as they are kept."""
        prover = self._prover
        if not isinstance(prover, GoalPrinter):
            return None
        budget = Budget(_SHOWING, elsewhere=True)

        def sight(node: GoalNode) -> str:
            budget.calls += 1
            try:
                return str(node.goal) if budget.spent else prover.show(node.place())
            except ProverError:  # a way that cannot be gone again
                return str(node.goal)

        return sight

    def report(self) -> ProofReport:
        """All that is needed to run the search again and to judge what is claimed of it."""
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
        """Shorten and check, once. Where the shorter proof is refused, the one that the search found may still stand."""
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
        """Let the checker judge a proof. Where equal goals may differ in what their keys do not show, the theorem runs it through the prover first.

        None: a checker that looks at the clock did not finish before the end.
        """
        theorem = self.theorem
        try:
            final = theorem.retrace(self._prover, proof) if isinstance(theorem, Retraceable) else proof
        except ProverError as error:
            return proof, Verdict(False, str(error), checker="the prover")
        verdict = theorem.verify_before(final, end) if isinstance(theorem, TimedVerifier) else theorem.verify(final)
        return None if verdict is None else (final, verdict)

    def _work(self, budget: Budget, stop: Callable[[], bool]) -> Generator[None]:
        """Let tasks be carried out, here or by the workers; gives the word after each of them. Those that are carried out here heed `stop`."""
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
                    break  # what workers have at hand is not begun any more
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
    """Tasks for the pool, reserved when a worker is free. An end is not for ever: what is reported meanwhile may make new work."""

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


def settled(config: ProofConfig, theorem: Theorem) -> ProofConfig:
    """The settings with the exploration that suits the theorem's prover, where they leave that open."""
    if config.c is not None:
        return config
    return replace(config, c=theorem.exploration if isinstance(theorem, Tuned) else 1.0)


def _name(hook: Any) -> str | None:
    return None if hook is None else getattr(hook, "__qualname__", type(hook).__qualname__)
