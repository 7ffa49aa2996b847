"""Queries that providers make to Coq: which lemmas mention a symbol, and the definition of a constant.

The answers are valid where the lemma is stated, so they are requested once and cached.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Protocol

from treetop.errors import ProverError
from treetop.prove.coq.goals import Premise
from treetop.prove.coq.neighbours import NeighbourProvider
from treetop.prove.coq.premises import Lookup, Premises
from treetop.prove.coq.recording import Example
from treetop.prove.coq.recursion import Constant, Definition
from treetop.prove.coq.scope import premises_in_scope
from treetop.prove.coq.suggest import CoqProvider
from treetop.prove.prover import Provider
from treetop.prove.providers import Combined

_VALUE = re.compile(r"^[\w'.@]+ =\s+(.*?)\n\s+: ", re.DOTALL)
_INDUCTIVE = re.compile(r"(?:Inductive|CoInductive|Variant|Record)\b")
_CONSTRUCTOR = re.compile(r"(?::=|\|)\s*([^\W\d][\w']*)\s*(?=:[^=]|\{)")
_LONGEST = 20_000  # characters; the value of a proof may be much longer and is useless here


class Askable(Protocol):
    """The queries that a prover must answer so that tactics can be suggested."""

    def search(self, pattern: str) -> list[Premise]:
        """Return what `Search` finds."""
        ...

    def query(self, command: str) -> list[str]:
        """Return what Coq prints for a command."""
        ...


def provider_for(
    prover: Askable, *, examples: Iterable[Example] = (), width: int = 48, unlike: str | None = None
) -> Provider:
    """Return the provider for the lemma that a prover has open: by the form of goals and the lemmas in scope, and by
    examples if there are any.

    `unlike`: a statement that no lemma may restate.
    """
    premises = Premises(lookup_from(prover.search), premises_in_scope(prover.query, prover.search), unlike=unlike)
    by_form = CoqProvider(premises, definition_from(prover.query), width=width, missing=missing_from(prover.query))
    known = list(examples)
    return Combined([by_form, NeighbourProvider(known)]) if known else by_form


def lookup_from(search: Callable[[str], list[Premise]]) -> Lookup:
    """Return a lookup of lemmas by symbol, from a prover's `search`. A symbol that Coq no longer knows has none."""

    def lookup(label: str) -> list[Premise]:
        try:
            return search(label)
        except ProverError:
            return []

    return lookup


def read_constant(printed: str) -> Constant | None:
    """Return what `Print` says about a name; None for axioms and variables, and for values that are too long."""
    if len(printed) > _LONGEST:
        return None
    if _INDUCTIVE.match(printed):
        return Constant(None, tuple(_CONSTRUCTOR.findall(printed.partition("\n\nArguments ")[0])))
    found = _VALUE.match(printed)
    return None if found is None else Constant(" ".join(found[1].split()))


def definition_from(query: Callable[[str], list[str]]) -> Definition:
    """Return a lookup of constants' values and of the constructors of inductive types, from a prover's `query`."""

    def definition(label: str) -> Constant | None:
        try:
            printed = query(f"Print {label}.")
        except ProverError:
            return None
        return read_constant(printed[0]) if printed else None

    return definition


def missing_from(query: Callable[[str], list[str]], tactics: tuple[str, ...] = ("lia", "nia")) -> frozenset[str]:
    """Return those of the tactics that the loaded libraries do not have, and `auto with arith` if there are no such
    hints.
    """
    found = set()
    try:
        query("Print HintDb arith.")
    except ProverError:
        found.add("auto with arith")
    for tactic in tactics:
        try:
            printed = " ".join(query(f"Locate Ltac {tactic}."))
        except ProverError:
            printed = ""
        entries = [] if printed.startswith("No ") else printed.split("Ltac ")[1:]
        if all("shorter name" in entry for entry in entries):  # it exists, but not under this name
            found.add(tactic)
    return frozenset(found)
