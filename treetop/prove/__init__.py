"""Theorem proving: a search for proofs over goals and tactics, an embedded logic, and Coq.

>>> import treetop as tt
>>> from treetop.prove import *
>>> result = tt.prove("p & q -> q & p")
>>> result.proved
True
>>> isinstance(result, ProofResult) and isinstance(result.proof, Proof) and isinstance(result.verdict, Verdict)
True
>>> isinstance(result.proof.goal, Goal)
True

A `Theorem` opens a `Prover`, and a `Provider` suggests tactics, which the prover tries at a place:

>>> theorem: Theorem = LogicTheorem.read("p & q -> q", mode="raw")
>>> prover: Prover = theorem.open()
>>> provider: Provider = theorem.provider(prover)
>>> root = prover.root()
>>> first = provider.suggest(root)[0]
>>> isinstance(first, Suggestion)
True
>>> attempt = prover.attempt(Place(root), first.tactic, 1.0)
>>> isinstance(attempt, Attempt)
True
>>> Place(attempt.subgoals[0], (Step(first.tactic, 0),)).path[0].index
0
>>> steps = []
>>> def show(progress: ProofProgress) -> None: steps.append(progress.attempts)
>>> with ProofSearch(theorem) as search:
...     search.run(tt.Limit(simulations=20), progress=show).proved
True

A lemma of a Coq file is a `CoqTheorem`; it is read without Coq, and opening it starts Coq:

>>> import tempfile, pathlib
>>> with tempfile.TemporaryDirectory() as folder:
...     file = pathlib.Path(folder) / "small.v"
...     size = file.write_text("Lemma same : forall n : nat, n = n. Admitted.")
...     CoqTheorem(file, "same").name
'same'

`treetop.prove` is this package and can be called; `treetop.prove.prove` is the same function.

Public names are imported on first use, so the Coq modules are loaded only where Coq is used.
"""

from typing import TYPE_CHECKING

from treetop.lazy import exports, make_callable

if TYPE_CHECKING:
    from treetop.prove.config import ProofConfig as ProofConfig
    from treetop.prove.coq.theorem import CoqTheorem as CoqTheorem
    from treetop.prove.logic.theorem import LogicTheorem as LogicTheorem
    from treetop.prove.prover import Attempt as Attempt
    from treetop.prove.prover import Goal as Goal
    from treetop.prove.prover import Place as Place
    from treetop.prove.prover import Proof as Proof
    from treetop.prove.prover import Prover as Prover
    from treetop.prove.prover import Provider as Provider
    from treetop.prove.prover import Step as Step
    from treetop.prove.prover import Suggestion as Suggestion
    from treetop.prove.prover import Theorem as Theorem
    from treetop.prove.prover import Verdict as Verdict
    from treetop.prove.providers import FilteredProvider as FilteredProvider
    from treetop.prove.providers import FixedProvider as FixedProvider
    from treetop.prove.providers import is_easy as is_easy
    from treetop.prove.result import ProofResult as ProofResult
    from treetop.prove.search import ProofProgress as ProofProgress
    from treetop.prove.search import ProofSearch as ProofSearch
    from treetop.prove.sessions import ProverSession as ProverSession
    from treetop.prove.theorems import prove as prove

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "config": "ProofConfig",
        "coq.theorem": "CoqTheorem",
        "logic.theorem": "LogicTheorem",
        "prover": "Attempt Goal Place Proof Prover Provider Step Suggestion Theorem Verdict",
        "providers": "FilteredProvider FixedProvider is_easy",
        "result": "ProofResult",
        "search": "ProofProgress ProofSearch",
        "sessions": "ProverSession",
        "theorems": "prove",
    },
)
make_callable(__name__, "treetop.prove.theorems", "prove")
