"""A proof search as a task of the scheduler: it runs in slices, can be paused and continued, and is read meanwhile."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

from treetop.errors import ConfigError
from treetop.prove.abilities import CounterModel, Refutable
from treetop.prove.config import ProofConfig
from treetop.prove.graph import Status
from treetop.prove.logic import formula as formulas
from treetop.prove.prover import Theorem
from treetop.prove.result import ProofResult
from treetop.prove.search import ProofSearch
from treetop.search.limits import Limit
from treetop.serve.locks import FairLock
from treetop.serve.proof_trees import Part, path_to
from treetop.serve.schema import Answer

MOST_SIMULATIONS = 1_000_000
_MOST_SCRIPT = 100_000  # characters of a proof that is sent
_JUDGING = 1.0  # seconds: a third of it to shorten a proof, a little more than it to check the proof
_MODEL_SECONDS = 0.05, 1.6  # of the first and the last search for a counter-model; each is twice as long as the last


@dataclass(frozen=True)
class ProofLimits:
    """What clients may use of a server for proofs."""

    proofs: int = 50
    """Proofs that are kept; beyond them the least recently used one makes way."""
    running: int = 8
    """Proofs that are searched at a time."""
    seconds: float = 60.0
    """Time of the search that one request starts."""
    goals: int = 20_000
    """Goals of one proof, about 2 kB each."""
    total_goals: int = 200_000
    """Goals of all proofs; beyond them idle proofs make way."""
    formulas: int = 1_000_000
    """Different formulas of all proofs since the start of the server: they stay in memory."""


class BackgroundProof:
    """A proof search that runs in slices: a task of the scheduler, which can be started again.

    >>> from treetop.prove import LogicTheorem
    >>> proof = BackgroundProof("a", LogicTheorem.read("p & q -> q & p"), ProofConfig(), seed=0, limits=ProofLimits())
    >>> proof.start(simulations=100)
    >>> while proof.step(0.05): pass
    >>> proof.view()["status"]
    'proved'
    """

    def __init__(self, name: str, theorem: Theorem, config: ProofConfig, seed: int, limits: ProofLimits) -> None:
        self.name, self.theorem, self.limits = name, theorem, limits
        self.search = ProofSearch(theorem, config, seed=seed)
        self.result: ProofResult = self.search.result()
        self.lock = FairLock()
        self.used = time.monotonic()
        self.deadline = float("inf")
        self.running = False
        self._stopping = False
        self._doing: Literal["", "searching", "refuting"] = ""
        self._until, self._end, self._spent = 0, 0.0, 0.0
        self._pace = 1  # simulations of a slice
        self._facts = theorem.facts()
        self._judging = _JUDGING
        self._model: CounterModel | None = None
        self._model_seconds = _MODEL_SECONDS[0]
        self.note = ""
        """Why the last run ended, if it proved nothing."""

    @property
    def _refutable(self) -> bool:
        return isinstance(self.theorem, Refutable)

    @property
    def goals(self) -> int:
        """The number of goals in its graph."""
        return len(self.search.graph)

    def start(self, simulations: int = 0, seconds: float | None = None, *, refute: bool = False) -> None:
        """Continue the search, or search for a counter-model. It must then be given to the scheduler."""
        if self.running:
            raise ConfigError("this proof is being searched already: stop it first")
        with self.lock:
            if self.result.status in ("proved", "refused") or self._model is not None:
                raise ConfigError("this search is over: start another one")
            refute = refute or self.result.status == "exhausted"
            if refute and not self._refutable:
                raise ConfigError("counter-models are searched for formulas only")
            if not refute and self.search.graph.root.status is Status.open and self.goals >= self.limits.goals:
                raise ConfigError(f"a proof on this server has at most {self.limits.goals:,} goals")
            self._doing = "refuting" if refute else "searching"
            self._model_seconds = _MODEL_SECONDS[0]
            self._until = min(MOST_SIMULATIONS, self.search.simulations + simulations)
            self._end = self._spent + min(self.limits.seconds, seconds or self.limits.seconds)
            self._stopping, self.running, self.note = False, True, ""

    def stop(self) -> None:
        """End the search after its present slice."""
        self._stopping = True

    def close(self) -> None:
        """End the search, and wait for the end of its slice."""
        self.stop()
        with self.lock:
            self.search.close()

    def fail(self, error: BaseException) -> None:
        """Take an error of the search."""
        self.running, self._doing = False, ""
        self.note = f"the search failed: {error}".partition("\n")[0]

    def step(self, seconds: float) -> bool:
        """Search for a slice of time; return whether there is more to do."""
        with self.lock:
            if self._stopping:
                self.note = "stopped"
            else:
                before = time.monotonic()
                if self._doing == "searching":
                    self._search(seconds)
                else:
                    self._refute()
                self._spent += time.monotonic() - before
            if self.note or not self._doing:
                self.running, self._doing = False, ""
            return self.running

    def _search(self, seconds: float) -> None:
        """Run simulations: a number, not a time, so that equal seeds give equal searches."""
        search, before, start = self.search, self.search.simulations, time.monotonic()
        simulations = max(1, min(self._pace, self._until - before))
        room = max(1, self.limits.goals - self.goals)
        self.result = search.run(Limit(simulations=simulations, nodes=room, seconds=self._judging))
        elapsed = time.monotonic() - start
        if elapsed < seconds / 2:
            self._pace *= 2
        elif elapsed > seconds:
            self._pace = max(1, self._pace // 2)
        status, root = self.result.status, search.graph.root.status
        if status in ("proved", "refused"):
            self._doing = ""
        elif status == "exhausted":
            self._doing = "refuting" if self._refutable else ""
        elif root is Status.proved and self._spent < self._end:
            self._judging *= 2  # the check of the proof needs more time
        else:
            self.note = self._limit_reached(stuck=search.simulations == before)

    def _limit_reached(self, *, stuck: bool) -> str:
        if self.search.graph.root.status is Status.proved:
            return "a proof was found, but there was no time left to check it"
        if self.goals >= self.limits.goals:
            return f"a proof on this server has at most {self.limits.goals:,} goals"
        if self.search.simulations >= self._until:
            return f"{self.search.simulations:,} simulations are done"
        if self._spent >= self._end:
            return "the time is over"
        if formulas.count() >= self.limits.formulas:
            return "the server has no memory left for formulas"
        return "the policy selects no goal" if stuck else ""

    def _refute(self) -> None:
        """Search for a counter-model, for a longer time in each slice."""
        assert isinstance(self.theorem, Refutable)
        self._model = self.theorem.refute(self._model_seconds)
        if self._model is not None or self._model_seconds >= _MODEL_SECONDS[1]:
            self._doing = ""
            if self._model is None and self.result.status != "exhausted":
                self.note = "no counter-model was found"
        self._model_seconds *= 2

    def view(self) -> Answer:
        """Return everything but the graph, as plain values."""
        self.used = time.monotonic()
        with self.lock:
            return self._view()

    def _view(self) -> Answer:
        result, search, model = self.result, self.search, self._model
        verdict = result.verdict
        return {
            "proof": self.name,
            "theorem": self.theorem.name,
            "statement": str(self._facts.get("statement", "")),
            "mode": self._facts.get("mode"),
            "policy": search.config.policy,
            "c": search.config.c if search.config.policy in ("puct", "ucb1") else None,
            "seed": search.seed,
            "status": result.status,
            "running": self.running,
            "doing": self._doing,
            "note": self.note,
            "full": self.goals >= self.limits.goals,
            "simulations": search.simulations,
            "attempts": search.attempts,
            "seconds": round(self._spent, 3),
            "goals": result.counts(),
            "steps": result.steps,
            "script": result.script[:_MOST_SCRIPT],
            "checker": None if verdict is None else verdict.checker,
            "assumptions": [] if verdict is None else list(verdict.assumptions),
            "refutable": self._refutable,
            "model": None if model is None else {**model.to_dict(), "text": str(model)},
        }

    def part(self, goal: int, most: int) -> Answer:
        """Return the proof and the most visited nodes below a goal; raise KeyError where there is no such goal."""
        self.used = time.monotonic()
        with self.lock:
            graph = self.search.graph
            if goal >= len(graph):
                raise KeyError(goal)
            found = Part(graph, self.result.proof, goal, most)
            path = path_to(graph.goals[goal])
            return {"proof": self._view(), "goal": goal, "path": path, "nodes": found.nodes, "size": len(graph)}
