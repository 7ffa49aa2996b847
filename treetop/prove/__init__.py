"""Theorem proving: a search for proofs over goals and tactics, an embedded logic, and Coq.

>>> from treetop.prove import prove
>>> prove("p & q -> q & p").proved
True

Public names are imported on first use, so the Coq modules are loaded only where Coq is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treetop.prove.config import ProofConfig
    from treetop.prove.coq.theorem import CoqTheorem
    from treetop.prove.logic.theorem import LogicTheorem
    from treetop.prove.prover import Attempt, Goal, Place, Proof, Prover, Provider, Step, Suggestion, Theorem, Verdict
    from treetop.prove.providers import FilteredProvider, FixedProvider, is_easy
    from treetop.prove.result import ProofResult
    from treetop.prove.search import ProofProgress, ProofSearch
    from treetop.prove.sessions import ProverSession
    from treetop.prove.theorems import prove

__all__ = [
    "Attempt",
    "CoqTheorem",
    "FilteredProvider",
    "FixedProvider",
    "Goal",
    "LogicTheorem",
    "Place",
    "Proof",
    "ProofConfig",
    "ProofProgress",
    "ProofResult",
    "ProofSearch",
    "Prover",
    "ProverSession",
    "Provider",
    "Step",
    "Suggestion",
    "Theorem",
    "Verdict",
    "is_easy",
    "prove",
]

_MODULES = {
    "config": "ProofConfig",
    "coq.theorem": "CoqTheorem",
    "logic.theorem": "LogicTheorem",
    "prover": "Attempt Goal Place Proof Prover Provider Step Suggestion Theorem Verdict",
    "providers": "FilteredProvider FixedProvider is_easy",
    "result": "ProofResult",
    "search": "ProofProgress ProofSearch",
    "sessions": "ProverSession",
    "theorems": "prove",
}
_HOMES = {name: f"treetop.prove.{module}" for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
