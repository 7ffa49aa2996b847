"""Proof searches in the background: formulas of the embedded logic, their AND/OR graphs, proofs and counter-models.

A formula is parsed, never evaluated. A search runs in slices on the scheduler of the server, like a search of a game; a
client asks for the graph as often as it likes.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from fastapi import FastAPI, HTTPException, Query
from fastapi import Request as HttpRequest
from fastapi.responses import JSONResponse
from pydantic import Field

from treetop.errors import ConfigError, FormulaError
from treetop.prove.abilities import CounterModel
from treetop.prove.config import ProofConfig
from treetop.prove.graph import Status
from treetop.prove.logic import formula as formulas
from treetop.prove.logic.theorem import LogicTheorem
from treetop.prove.result import ProofResult
from treetop.prove.search import ProofSearch
from treetop.search.limits import Limit
from treetop.serve.proof_trees import MOST_NODES, Part, path_to
from treetop.serve.schema import Answer, Request, Seed
from treetop.serve.sessions import TooManyError
from treetop.serve.tasks import Scheduler

_MOST_TEXT = 1000  # characters of a formula
_MOST_SCRIPT = 100_000  # characters of a proof that is sent
_MOST_SIMULATIONS = 1_000_000
_JUDGING = 1.0  # seconds: a third of it to shorten a proof, a little more than it to check the proof
_MODEL_SECONDS = 0.05, 1.6  # of the first and the last search for a counter-model; each is twice as long as the last
_IDLE = 10.0  # seconds after which a proof that nobody reads makes way
_INTERRUPTED = "stopped"


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


class Turns:
    """A lock that is given in the order in which it was asked for, so that slices of a search let readers in.

    >>> with Turns():
    ...     pass
    """

    def __init__(self) -> None:
        self._next, self._held = threading.Lock(), threading.Lock()

    def __enter__(self) -> Self:
        with self._next:
            self._held.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.release()


class BackgroundProof:
    """A proof search that runs in slices: a task of the scheduler, which can be started again.

    >>> from treetop.prove import LogicTheorem
    >>> proof = BackgroundProof("a", LogicTheorem.read("p & q -> q & p"), ProofConfig(), seed=0, limits=ProofLimits())
    >>> proof.start(simulations=100)
    >>> while proof.step(0.05): pass
    >>> proof.view()["status"]
    'proved'
    """

    def __init__(self, name: str, theorem: LogicTheorem, config: ProofConfig, seed: int, limits: ProofLimits) -> None:
        self.name, self.theorem, self.limits = name, theorem, limits
        self.search = ProofSearch(theorem, config, seed=seed)
        self.result: ProofResult = self.search.result()
        self.lock = Turns()
        self.used = time.monotonic()
        self.deadline = float("inf")
        self.running = False
        self._stopping = False
        self._doing: Literal["", "searching", "refuting"] = ""
        self._until, self._end, self._spent = 0, 0.0, 0.0
        self._pace = 1  # simulations of a slice
        self._judging = _JUDGING
        self._model: CounterModel | None = None
        self._model_seconds = _MODEL_SECONDS[0]
        self.note = ""
        """Why the last run ended, if it proved nothing."""

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
            if not refute and self.search.graph.root.status is Status.open and self.goals >= self.limits.goals:
                raise ConfigError(f"a proof on this server has at most {self.limits.goals:,} goals")
            self._doing = "refuting" if refute else "searching"
            self._model_seconds = _MODEL_SECONDS[0]
            self._until = min(_MOST_SIMULATIONS, self.search.simulations + simulations)
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
                self.note = _INTERRUPTED
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
            self._doing = "refuting"
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
        checked = None if result.verdict is None else result.verdict.checker
        return {
            "proof": self.name,
            "formula": self.theorem.statement.text,
            "mode": self.theorem.mode,
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
            "checker": checked,
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


class Proofs:
    """All proofs of a server, the least recently used first."""

    def __init__(self, scheduler: Scheduler, limits: ProofLimits | None = None) -> None:
        self.limits = ProofLimits() if limits is None else limits
        self._scheduler = scheduler
        self._proofs: OrderedDict[str, BackgroundProof] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._proofs)

    def create(self, formula: str, *, policy: str, mode: Literal["raw", "invertible"], seed: int) -> BackgroundProof:
        """Return a new proof of a formula; raise a FormulaError where it cannot be read."""
        if len(formula) > _MOST_TEXT:
            raise FormulaError(f"a formula has at most {_MOST_TEXT:,} characters", position=_MOST_TEXT)
        if formulas.count() >= self.limits.formulas:
            raise TooManyError("this server has no memory left for formulas: restart it")
        theorem = LogicTheorem.read(formula, mode=mode)
        proof = BackgroundProof(secrets.token_urlsafe(9), theorem, ProofConfig(policy=policy), seed, self.limits)
        old = None
        with self._lock:
            if len(self._proofs) >= self.limits.proofs:
                old = self._oldest()
                del self._proofs[old.name]
            self._proofs[proof.name] = proof
        if old is not None:
            old.close()
        return proof

    def _oldest(self) -> BackgroundProof:
        """Return the proof that was not used for the longest time. The caller holds the lock."""
        now = time.monotonic()
        idle = [one for one in self._proofs.values() if not one.running or now - one.used > _IDLE]
        if not idle:
            raise TooManyError(f"this server has {self.limits.proofs} proofs in progress: stop one of them")
        return min(idle, key=lambda one: one.used)

    def start(self, proof: BackgroundProof, simulations: int, seconds: float | None, *, refute: bool = False) -> None:
        """Search in the background; raise TooManyError where enough proofs are being searched."""
        with self._lock:
            others = [one for one in self._proofs.values() if one is not proof]
            if sum(one.running for one in others) >= self.limits.running:
                raise TooManyError(f"{self.limits.running} proofs are being searched on this server: wait, or stop one")
            total = proof.goals + sum(one.goals for one in others)
            for old in sorted((one for one in others if not one.running), key=lambda one: one.used):
                if total > self.limits.total_goals:
                    del self._proofs[old.name]
                    total -= old.goals
            if total > self.limits.total_goals:
                raise TooManyError("all proofs of this server together are too large: stop one of them")
            proof.start(simulations, seconds, refute=refute)
        self._scheduler.add(proof)

    def find(self, name: str) -> BackgroundProof:
        """Return a proof by its name; raise KeyError where there is none."""
        with self._lock:
            self._proofs.move_to_end(name)
            return self._proofs[name]

    def remove(self, name: str) -> None:
        """End a proof, and free its memory."""
        with self._lock:
            proof = self._proofs.pop(name)
        proof.close()

    def close(self) -> None:
        """End all proofs."""
        with self._lock:
            proofs = list(self._proofs.values())
            self._proofs.clear()
        for proof in proofs:
            proof.close()


Simulations = Annotated[int, Field(ge=1, le=_MOST_SIMULATIONS)]
Seconds = Annotated[float, Field(gt=0, le=3600)]


class NewProof(Request):
    """Search for a proof of a formula."""

    formula: Annotated[str, Field(min_length=1, max_length=_MOST_TEXT, description="As in p & q -> q & p.")]
    policy: Literal["puct", "ucb1", "best_first", "blind_uniform"] = "puct"
    mode: Literal["raw", "invertible"] = Field("raw", description="raw: every rule is a tactic; or choices only.")
    seed: Seed = 0
    simulations: Annotated[int, Field(ge=0, le=_MOST_SIMULATIONS)] = Field(10_000, description="0: do not start yet.")
    seconds: Seconds | None = None


class ContinueProof(Request):
    """Continue the search for a proof."""

    simulations: Simulations = 10_000
    seconds: Seconds | None = None


def add_proofs(app: FastAPI, proofs: Proofs) -> None:
    """Add the requests for proofs to the server."""

    def find(name: str) -> BackgroundProof:
        try:
            return proofs.find(name)
        except KeyError:
            raise HTTPException(404, "there is no such proof on this server: start it again") from None

    @app.exception_handler(FormulaError)
    async def bad_formula(_: HttpRequest, error: FormulaError) -> JSONResponse:
        first, shown = (*str(error).split("\n", 1), "")[:2]
        return JSONResponse({"error": first, "field": "formula", "position": error.position, "shown": shown}, 400)

    @app.post("/api/proofs", status_code=201)
    def new_proof(given: NewProof) -> Answer:
        """Search for a proof of a formula of intuitionistic propositional logic, in the background."""
        proof = proofs.create(given.formula, policy=given.policy, mode=given.mode, seed=given.seed)
        if given.simulations:
            try:
                proofs.start(proof, given.simulations, given.seconds)
            except BaseException:
                proofs.remove(proof.name)
                raise
        return proof.view()

    @app.get("/api/proofs/{name}")
    def show_proof(name: str) -> Answer:
        """Return the state of the search, the proof or the counter-model."""
        return find(name).view()

    @app.delete("/api/proofs/{name}")
    def close_proof(name: str) -> Answer:
        """End a search, and free its memory."""
        find(name)
        proofs.remove(name)
        return {"closed": name}

    @app.post("/api/proofs/{name}/run", status_code=202)
    def continue_proof(name: str, given: ContinueProof) -> Answer:
        """Continue the search with the same graph."""
        proof = find(name)
        proofs.start(proof, given.simulations, given.seconds)
        return proof.view()

    @app.post("/api/proofs/{name}/refute", status_code=202)
    def refute(name: str) -> Answer:
        """Search for a counter-model of a formula that is not proved."""
        proof = find(name)
        proofs.start(proof, 0, None, refute=True)
        return proof.view()

    @app.post("/api/proofs/{name}/stop")
    def stop_proof(name: str) -> Answer:
        """End the search after its present slice; it can be continued."""
        proof = find(name)
        proof.stop()
        return proof.view()

    @app.get("/api/proofs/{name}/graph")
    def graph(
        name: str, goal: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
        nodes: Annotated[int, Query(ge=1, le=MOST_NODES)] = 200,
    ) -> Answer:  # fmt: skip
        """Return goals and tactics below a goal: those of the proof, then the most visited ones."""
        proof = find(name)
        try:
            return proof.part(goal, nodes)
        except KeyError:
            raise HTTPException(404, f"there is no goal {goal} in this proof") from None
