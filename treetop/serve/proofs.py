"""Proof searches in the background: formulas of the embedded logic, their AND/OR graphs, proofs and counter-models.

A formula is parsed, never evaluated. A search runs in slices on the scheduler of the server, like a search of a game; a
client asks for the graph as often as it likes. The server may also have a theorem of its own, such as a lemma of a Coq
file: its tactics and its check may take long, so its slices have a thread of their own.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from typing import Annotated, Literal

from fastapi import FastAPI, HTTPException, Query
from fastapi import Request as HttpRequest
from fastapi.responses import JSONResponse
from pydantic import Field

from treetop.errors import ConfigError, FormulaError
from treetop.prove.config import ProofConfig
from treetop.prove.logic import formula as formulas
from treetop.prove.logic.theorem import LogicTheorem
from treetop.prove.prover import Theorem
from treetop.serve.limits import TooManyError
from treetop.serve.proof_tasks import MOST_SIMULATIONS, BackgroundProof, ProofLimits
from treetop.serve.proof_trees import MOST_NODES
from treetop.serve.schema import Answer, Request, Seed
from treetop.serve.tasks import Scheduler

_MOST_TEXT = 1000  # characters of a formula
_IDLE = 10.0  # seconds after which a proof that nobody reads makes way


class Proofs:
    """All proofs of a server, the least recently used first. `theorem` is proved for clients that give no formula."""

    def __init__(
        self, scheduler: Scheduler, limits: ProofLimits | None = None, *, theorem: Theorem | None = None
    ) -> None:
        self.limits = ProofLimits() if limits is None else limits
        self.theorem = theorem
        self._scheduler = scheduler
        self._apart = None if theorem is None else Scheduler()
        self._proofs: OrderedDict[str, BackgroundProof] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._proofs)

    def create(
        self, formula: str | None, *, policy: str, mode: Literal["raw", "invertible"], seed: int
    ) -> BackgroundProof:
        """Return a new proof of a formula, or of the theorem of the server.

        Raise a FormulaError where the formula cannot be read.
        """
        if formula is None:
            theorem = self._free_theorem()
        elif len(formula) > _MOST_TEXT:
            raise FormulaError(f"a formula has at most {_MOST_TEXT:,} characters", position=_MOST_TEXT)
        elif formulas.count() >= self.limits.formulas:
            raise TooManyError("this server has no memory left for formulas: restart it")
        else:
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

    def _free_theorem(self) -> Theorem:
        """Return the theorem of the server, and end its last search: its prover is a process."""
        if self.theorem is None:
            raise ConfigError("give a formula: this server has no theorem of its own (treetop serve --prove)")
        with self._lock:
            last = [one for one in self._proofs.values() if one.theorem is self.theorem]
            if any(_in_use(one) for one in last):
                raise TooManyError(f"{self.theorem.name} is being searched already: stop that search first")
            for one in last:
                del self._proofs[one.name]
        for one in last:
            one.close()
        return self.theorem

    def _oldest(self) -> BackgroundProof:
        """Return the proof that was not used for the longest time. The caller holds the lock."""
        idle = [one for one in self._proofs.values() if not _in_use(one)]
        if not idle:
            raise TooManyError(f"this server has {self.limits.proofs} proofs in progress: stop one of them")
        return min(idle, key=lambda one: one.used)

    def start(self, proof: BackgroundProof, simulations: int, seconds: float | None, *, refute: bool = False) -> None:
        """Search in the background; raise TooManyError where enough proofs are being searched."""
        with self._lock:
            others = [one for one in self._proofs.values() if one is not proof]
            if sum(one.running for one in others) >= self.limits.running:
                raise TooManyError(f"{self.limits.running} proofs are being searched on this server: wait, or stop one")
            total, dropped = proof.goals + sum(one.goals for one in others), list[BackgroundProof]()
            for old in sorted((one for one in others if not one.running), key=lambda one: one.used):
                if total > self.limits.total_goals:
                    dropped.append(self._proofs.pop(old.name))
                    total -= old.goals
            if total <= self.limits.total_goals:
                proof.start(simulations, seconds, refute=refute)
        for old in dropped:
            old.close()
        if total > self.limits.total_goals:
            raise TooManyError("all proofs of this server together are too large: stop one of them")
        apart = self._apart if proof.theorem is self.theorem else None
        (apart or self._scheduler).add(proof)

    def find(self, name: str) -> BackgroundProof:
        """Return a proof by its name; raise KeyError where there is none."""
        with self._lock:
            self._proofs.move_to_end(name)
            return self._proofs[name]

    def remove(self, name: str) -> None:
        """End a proof, and free its memory, if there is one of this name."""
        with self._lock:
            proof = self._proofs.pop(name, None)
        if proof is not None:
            proof.close()

    def close(self) -> None:
        """End all proofs."""
        with self._lock:
            proofs = list(self._proofs.values())
            self._proofs.clear()
        for proof in proofs:
            proof.close()
        if self._apart is not None:
            self._apart.close()


def _in_use(proof: BackgroundProof) -> bool:
    """Return whether a proof is being searched, and somebody reads it."""
    return proof.running and time.monotonic() - proof.used <= _IDLE


Simulations = Annotated[int, Field(ge=1, le=MOST_SIMULATIONS)]
Seconds = Annotated[float, Field(gt=0, le=3600)]


class NewProof(Request):
    """Search for a proof of a formula, or of the theorem of the server."""

    formula: Annotated[str, Field(min_length=1, max_length=_MOST_TEXT)] | None = Field(
        None, description="As in p & q -> q & p. Without it: the theorem of the command line."
    )
    policy: Literal["puct", "ucb1", "best_first", "blind_uniform"] = "puct"
    mode: Literal["raw", "invertible"] = Field("raw", description="raw: every rule is a tactic; or choices only.")
    seed: Seed = 0
    simulations: Annotated[int, Field(ge=0, le=MOST_SIMULATIONS)] = Field(10_000, description="0: do not start yet.")
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
