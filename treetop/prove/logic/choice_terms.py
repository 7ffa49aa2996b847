"""The terms for the tactics of the mode `invertible`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from treetop.prove.logic.choices import obligations
from treetop.prove.logic.conversions import Available, Names, assemble, by_cases, functions, inject
from treetop.prove.logic.formula import IFF, Formula, implies, neg, sides
from treetop.prove.logic.plans import Branch, Plan
from treetop.prove.logic.sequents import Sequent
from treetop.prove.logic.terms import Fun, Let, Pair, Term, Var, apply


class Writer(Protocol):
    """Writes the term for a branch of a plan, given terms for all its hypotheses."""

    names: Names

    def branch(self, branch: Branch, available: Available) -> Term:
        """Return a term for the branch's conclusion."""
        ...


def _saturate(writer: Writer, _: Sequent, plan: Plan, available: Available) -> Term:
    return writer.branch(plan.branches[0], available)


def _split(writer: Writer, _: Sequent, plan: Plan, available: Available) -> Term:
    terms = {branch.conclusion: writer.branch(branch, available) for branch in plan.branches}
    if plan.focus.kind == IFF:
        first, second = sides(plan.focus)
        return Pair(plan.focus, terms[first], terms[second])
    return assemble(plan.focus, terms)


def _cases(writer: Writer, _: Sequent, plan: Plan, available: Available) -> Term:
    branches = dict(zip(plan.focus.parts, plan.branches, strict=True))
    return by_cases(
        available[plan.focus],
        plan.focus,
        writer.names,
        lambda term, part: writer.branch(branches[part], {**available, part: term}),
    )


def _decide(writer: Writer, _: Sequent, plan: Plan, available: Available) -> Term:
    """Return a proof of ~p from a proof of False under p."""
    held, denied, denial = writer.names.new(), writer.names.new(), neg(plan.focus)
    positive = writer.branch(plan.branches[0], {**available, plan.focus: Var(held)})
    negative = writer.branch(plan.branches[1], {**available, denial: Var(denied)})
    return Let(denied, denial, Fun(held, plan.focus, positive), negative)


def _show(writer: Writer, sequent: Sequent, plan: Plan, available: Available) -> Term:
    return inject(writer.branch(plan.branches[0], available), plan.focus, sequent.conclusion)


def _use(writer: Writer, _: Sequent, plan: Plan, available: Available) -> Term:
    given, owed = plan.focus, obligations(plan.focus)
    terms: Available = {}
    for index, one in enumerate(owed):
        if one not in terms:
            terms[one] = _obligation(writer, plan, index, available)
    name = writer.names.new()
    body = writer.branch(plan.branches[-1], {**available, given.head: Var(name)})
    return Let(name, given.head, apply(available[given], *_arguments(given, terms)), body)


def _obligation(writer: Writer, plan: Plan, index: int, available: Available) -> Term:
    """Return a premise of the used hypothesis, by the same hypothesis with only the premise's head as premise."""
    given, owed = plan.focus, obligations(plan.focus)
    premise, others = owed[index], (*owed[:index], *owed[index + 1 :])
    asked = (premise.head, *others)

    def weakened(terms: list[Term]) -> Term:
        known = dict(zip(others, terms[1:], strict=True))
        known[premise] = functions(premise.premises, writer.names, lambda _: terms[0])
        return apply(available[given], *_arguments(given, known))

    name, weaker = writer.names.new(), implies(asked, given.head)
    body = functions(
        premise.premises,
        writer.names,
        lambda terms: writer.branch(
            plan.branches[index], {**available, weaker: Var(name), **dict(zip(premise.premises, terms, strict=True))}
        ),
    )
    return Let(name, weaker, functions(asked, writer.names, weakened), body)


def _arguments(given: Formula, terms: Mapping[Formula, Term]) -> list[Term]:
    """Return the premise of a hypothesis from terms for its obligations."""
    found: list[Term] = []
    for premise in given.premises:
        if premise.kind == IFF:
            first, second = sides(premise)
            found.append(Pair(premise, terms[first], terms[second]))
        else:
            found.append(terms[premise])
    return found


TERMS: dict[str, Callable[[Writer, Sequent, Plan, Available], Term]] = {
    "saturate": _saturate,
    "split": _split,
    "cases": _cases,
    "decide": _decide,
    "show": _show,
    "use": _use,
}
"""The function that writes the term, for each tactic's word."""
