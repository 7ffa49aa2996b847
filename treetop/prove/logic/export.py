"""Write lambda terms in Coq's language, so that a second proof assistant can check them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from treetop.prove.logic.formula import AND, ATOM, FALSE, IFF, IMP, OR, TRUE, Formula, atoms, deep, sides
from treetop.prove.logic.terms import (
    Abort,
    App,
    Case,
    First,
    Fun,
    InLeft,
    InRight,
    Lemma,
    Let,
    Pair,
    Second,
    Term,
    Unit,
    Var,
)

_KEYWORDS = (
    "_ as at cofix else end exists exists2 fix for forall fun if IF in let match mod Prop return Set SProp then Type "
    "using where with"
)
_GLOBALS = "I True False conj proj1 proj2 or_introl or_intror False_ind and or iff not"
_TAKEN = frozenset([*_KEYWORDS.split(), *_GLOBALS.split()])
_OURS = re.compile(r"(h|lemma)\d+")
_SIGNS = {AND: "/\\", OR: r"\/", IMP: "->", IFF: "<->"}


def to_coq(name: str, statement: Formula, lemmas: Sequence[Lemma]) -> str:
    """Return `Definition name : forall p q : Prop, ... := fun p q : Prop => ...`, with lemmas as local definitions."""
    with deep():
        return _Writer(statement).definition(name, statement, lemmas)


class _Writer:
    def __init__(self, statement: Formula) -> None:
        self._names: dict[str, str] = {}
        for name in atoms(statement):
            written = name
            while written in _TAKEN or _OURS.fullmatch(written) or written in self._names.values():
                written = f"p{written}"
            self._names[name] = written

    def definition(self, name: str, statement: Formula, lemmas: Sequence[Lemma]) -> str:
        names = " ".join(self._names.values())
        before, bound = (f"forall {names} : Prop, ", f"fun {names} : Prop =>\n") if names else ("", "")
        *helpers, last = lemmas
        local = "".join(
            f"let {lemma.name} : {self._type(lemma.statement)} :=\n {self._term(lemma.term)} in\n" for lemma in helpers
        )
        safe = re.sub(r"[^A-Za-z0-9_]", "_", name)
        title = safe if re.match(r"[A-Za-z]", safe) and safe not in _TAKEN else f"theorem_{safe}"
        return f"Definition {title} : {before}{self._type(statement)} :=\n{bound}{local}{self._term(last.term)}.\n"

    def _type(self, formula: Formula) -> str:
        if formula.kind == ATOM:
            return self._names[formula.name]
        if formula.kind in (TRUE, FALSE):
            return formula.name
        return f"({self._type(formula.left)} {_SIGNS[formula.kind]} {self._type(formula.right)})"

    def _term(self, term: Term) -> str:
        write = self._term
        if isinstance(term, Var):
            return term.name
        if isinstance(term, App):
            return f"({write(term.function)} {write(term.argument)})"
        if isinstance(term, Fun):
            return f"(fun {term.name} : {self._type(term.type)} => {write(term.body)})"
        if isinstance(term, Let):
            return f"(let {term.name} : {self._type(term.type)} := {write(term.value)} in {write(term.body)})"
        if isinstance(term, (First, Second)):
            return f"({'proj1' if isinstance(term, First) else 'proj2'} {write(term.pair)})"
        if isinstance(term, Pair):
            first, second = sides(term.type)
            return f"(@conj {self._type(first)} {self._type(second)} {write(term.first)} {write(term.second)})"
        if isinstance(term, Case):
            cases = (
                f"or_introl {term.left_name} => {write(term.left)} | or_intror {term.right_name} => {write(term.right)}"
            )
            return f"(match {write(term.subject)} with {cases} end)"
        if isinstance(term, (InLeft, InRight)):
            which = "or_introl" if isinstance(term, InLeft) else "or_intror"
            return f"(@{which} {self._type(term.type.left)} {self._type(term.type.right)} {write(term.body)})"
        if isinstance(term, Abort):
            return f"(False_ind {self._type(term.type)} {write(term.body)})"
        if isinstance(term, Unit):
            return "I"
        raise AssertionError(f"{term!r} is not a term")
