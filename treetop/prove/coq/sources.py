"""What those who suggest tactics may ask of Coq: which lemmas mention a symbol, and what a constant stands for.

The answers hold for the place where the lemma is stated, so they are asked once and kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from treetop.errors import ProverError
from treetop.prove.coq.goals import Premise
from treetop.prove.coq.premises import Lookup
from treetop.prove.coq.recursion import Constant, Definition

_VALUE = re.compile(r"^[\w'.@]+ =\s+(.*?)\n\s+: ", re.DOTALL)
_INDUCTIVE = re.compile(r"(?:Inductive|CoInductive|Variant|Record)\b")
_CONSTRUCTOR = re.compile(r"(?::=|\|)\s*([^\W\d][\w']*)\s*(?=:[^=]|\{)")
_LONGEST = 20_000  # characters; the value of a proof may be much longer, and nobody wants it


def lookup_from(search: Callable[[str], list[Premise]]) -> Lookup:
    """Lemmas by symbol, from a prover's `search`. A symbol that Coq does not know any more has none."""

    def lookup(label: str) -> list[Premise]:
        try:
            return search(label)
        except ProverError:
            return []

    return lookup


def read_constant(printed: str) -> Constant | None:
    """What `Print` says of a name. None for axioms and variables, and for values too long to be looked at."""
    if len(printed) > _LONGEST:
        return None
    if _INDUCTIVE.match(printed):
        return Constant(None, tuple(_CONSTRUCTOR.findall(printed.partition("\n\nArguments ")[0])))
    found = _VALUE.match(printed)
    return None if found is None else Constant(" ".join(found[1].split()))


def definition_from(query: Callable[[str], list[str]]) -> Definition:
    """The values of constants and the constructors of inductive types, from a prover's `query`."""

    def definition(label: str) -> Constant | None:
        try:
            said = query(f"Print {label}.")
        except ProverError:
            return None
        return read_constant(said[0]) if said else None

    return definition


def missing_from(query: Callable[[str], list[str]], tactics: tuple[str, ...] = ("lia", "nia")) -> frozenset[str]:
    """Those of the tactics that the libraries loaded at present do not have."""
    found = set()
    for tactic in tactics:
        try:
            said = " ".join(query(f"Locate Ltac {tactic}."))
        except ProverError:
            said = ""
        entries = [] if said.startswith("No ") else said.split("Ltac ")[1:]
        if all("shorter name" in entry for entry in entries):  # it is there, but cannot be called so
            found.add(tactic)
    return frozenset(found)
