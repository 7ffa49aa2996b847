"""Check lambda terms: does a term prove a formula? The checker knows natural deduction only, no tactics, sequents or
searches.
"""

from __future__ import annotations

from collections.abc import Iterable

from treetop.prove.logic.formula import AND, FALSE, IFF, IMP, OR, Formula, deep, imp, true
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

CHECKER = "treetop natural deduction"


class RejectedError(Exception):
    """A term that is not a proof, with the reason."""


def check(lemmas: Iterable[Lemma], statement: Formula) -> str:
    """Return why the lemmas do not prove the statement; empty if they do. The last lemma proves the statement."""
    known: dict[str, Formula] = {}
    found: Formula | None = None
    for lemma in lemmas:
        try:
            with deep():
                found = infer(lemma.term, known)
        except RejectedError as reason:
            return f"{lemma.name}: {reason}"
        except RecursionError:
            return f"{lemma.name}: the term is nested too deep to be checked"
        if found is not lemma.statement:
            return f"{lemma.name} proves {found.text}, not {lemma.statement.text}"
        if lemma.name in known:
            return f"{lemma.name} is defined twice"
        known[lemma.name] = found
    if found is not statement:
        return f"the terms prove {found.text if found is not None else 'nothing'}, not {statement.text}"
    return ""


def infer(term: Term, context: dict[str, Formula]) -> Formula:
    """Return the formula that a term proves under the hypotheses of the context."""
    if isinstance(term, Var):
        if term.name not in context:
            raise RejectedError(f"the name {term.name} is not defined here")
        return context[term.name]
    if isinstance(term, App):
        function = infer(term.function, context)
        if function.kind != IMP:
            raise RejectedError(f"{function.text} is not an implication")
        argument = infer(term.argument, context)
        if argument is not function.left:
            raise RejectedError(f"{function.text} cannot be applied to {argument.text}")
        return function.right
    if isinstance(term, Fun):
        return imp(term.type, _under(term.name, term.type, term.body, context))
    if isinstance(term, Let):
        value = infer(term.value, context)
        if value is not term.type:
            raise RejectedError(f"{term.name} is declared as {term.type.text} but is {value.text}")
        return _under(term.name, term.type, term.body, context)
    if isinstance(term, (First, Second)):
        first, second = _sides(infer(term.pair, context))
        return first if isinstance(term, First) else second
    if isinstance(term, Pair):
        found = infer(term.first, context), infer(term.second, context)
        if found != _sides(term.type):
            raise RejectedError(f"{found[0].text} and {found[1].text} are not the parts of {term.type.text}")
        return term.type
    if isinstance(term, Case):
        return _case(term, context)
    if isinstance(term, (InLeft, InRight)):
        if term.type.kind != OR:
            raise RejectedError(f"{term.type.text} is not a disjunction")
        side = term.type.left if isinstance(term, InLeft) else term.type.right
        body = infer(term.body, context)
        if body is not side:
            raise RejectedError(f"{body.text} is not that side of {term.type.text}")
        return term.type
    if isinstance(term, Abort):
        absurd = infer(term.body, context)
        if absurd.kind != FALSE:
            raise RejectedError(f"{absurd.text} is not False")
        return term.type
    if not isinstance(term, Unit):
        raise RejectedError(f"{term!r} is not a term")
    return true


def _case(term: Case, context: dict[str, Formula]) -> Formula:
    subject = infer(term.subject, context)
    if subject.kind != OR:
        raise RejectedError(f"{subject.text} is not a disjunction")
    left = _under(term.left_name, subject.left, term.left, context)
    right = _under(term.right_name, subject.right, term.right, context)
    if left is not right:
        raise RejectedError(f"the cases prove {left.text} and {right.text}")
    return left


def _under(name: str, formula: Formula, body: Term, context: dict[str, Formula]) -> Formula:
    """Return what a body proves with one more hypothesis. Names must be new, so that none is shadowed."""
    if name in context:
        raise RejectedError(f"the name {name} is taken")
    context[name] = formula
    try:
        return infer(body, context)
    finally:
        del context[name]


def _sides(pair: Formula) -> tuple[Formula, Formula]:
    if pair.kind == IFF:
        return imp(pair.left, pair.right), imp(pair.right, pair.left)
    if pair.kind != AND:
        raise RejectedError(f"{pair.text} is not a pair")
    return pair.left, pair.right
