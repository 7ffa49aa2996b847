"""What those who suggest tactics may ask of Coq: which lemmas mention a symbol, and what a constant stands for.

The answers hold for the place where the lemma is stated, so they are asked once and kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from treetop.errors import ProverError
from treetop.prove.coq.goals import Premise
from treetop.prove.coq.premises import Lookup
from treetop.prove.coq.recursion import Definition

_VALUE = re.compile(r"^[\w'.@]+ =\s+(.*?)\n\s+: ", re.DOTALL)
_LONGEST = 20_000  # characters; the value of a proof may be much longer, and nobody wants it


def lookup_from(search: Callable[[str], list[Premise]]) -> Lookup:
    """Lemmas by symbol, from a prover's `search`. A symbol that Coq does not know any more has none."""

    def lookup(label: str) -> list[Premise]:
        try:
            return search(label)
        except ProverError:
            return []

    return lookup


def definition_from(query: Callable[[str], list[str]]) -> Definition:
    """The values of constants, from a prover's `query`. None for inductive types, constructors, axioms, and what is too long to be looked at."""

    def definition(label: str) -> str | None:
        try:
            said = query(f"Print {label}.")
        except ProverError:
            return None
        found = _VALUE.match(said[0]) if said else None
        return None if found is None or len(found[1]) > _LONGEST else " ".join(found[1].split())

    return definition
