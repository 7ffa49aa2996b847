"""The terms for the tactics of the mode `raw`."""

from __future__ import annotations

from collections.abc import Callable

from treetop.prove.logic.choice_terms import Writer
from treetop.prove.logic.conversions import Available, functions
from treetop.prove.logic.formula import TRUE, Formula, false, imp, sides
from treetop.prove.logic.plans import Plan
from treetop.prove.logic.sequents import Sequent
from treetop.prove.logic.terms import Abort, App, Case, First, Fun, InLeft, InRight, Let, Pair, Second, Term, Unit, Var


def _assumption(_: Writer, __: Sequent, plan: Plan, available: Available) -> Term:
    return available[plan.focus]


def _absurd(_: Writer, sequent: Sequent, __: Plan, available: Available) -> Term:
    return available[false] if sequent.conclusion is false else Abort(sequent.conclusion, available[false])


def _trivial(_: Writer, __: Sequent, ___: Plan, ____: Available) -> Term:
    return Unit()


def _intro(writer: Writer, _: Sequent, plan: Plan, available: Available) -> Term:
    name, premise = writer.names.new(), plan.focus.left
    return Fun(name, premise, writer.branch(plan.branches[0], {**available, premise: Var(name)}))


def _split(writer: Writer, _: Sequent, plan: Plan, available: Available) -> Term:
    return Pair(plan.focus, writer.branch(plan.branches[0], available), writer.branch(plan.branches[1], available))


def _left(writer: Writer, _: Sequent, plan: Plan, available: Available) -> Term:
    return InLeft(plan.focus, writer.branch(plan.branches[0], available))


def _right(writer: Writer, _: Sequent, plan: Plan, available: Available) -> Term:
    return InRight(plan.focus, writer.branch(plan.branches[0], available))


def _take(writer: Writer, _: Sequent, plan: Plan, available: Available) -> Term:
    first, second = sides(plan.focus)
    pair = available[plan.focus]
    return writer.branch(plan.branches[0], {first: First(pair), second: Second(pair), **available})


def _cases(writer: Writer, _: Sequent, plan: Plan, available: Available) -> Term:
    left, right = writer.names.new(), writer.names.new()
    first = writer.branch(plan.branches[0], {**available, plan.focus.left: Var(left)})
    second = writer.branch(plan.branches[1], {**available, plan.focus.right: Var(right)})
    return Case(available[plan.focus], left, first, right, second)


def _apply(writer: Writer, _: Sequent, plan: Plan, available: Available) -> Term:
    premise = plan.focus.left
    argument = available[premise] if premise in available or premise.kind != TRUE else Unit()
    return _having(writer, plan, 0, {plan.focus.right: App(available[plan.focus], argument)}, available)


def _curry(writer: Writer, _: Sequent, plan: Plan, available: Available) -> Term:
    given, both = plan.focus, plan.focus.left
    first, second = sides(both)
    term = functions((first, second), writer.names, lambda terms: App(available[given], Pair(both, terms[0], terms[1])))
    return _having(writer, plan, 0, {imp(first, imp(second, given.right)): term}, available)


def _branch(writer: Writer, _: Sequent, plan: Plan, available: Available) -> Term:
    given, either = plan.focus, plan.focus.left
    left, right = writer.names.new(), writer.names.new()
    found: Available = {
        imp(either.left, given.right): Fun(left, either.left, App(available[given], InLeft(either, Var(left)))),
        imp(either.right, given.right): Fun(right, either.right, App(available[given], InRight(either, Var(right)))),
    }
    return _having(writer, plan, 0, found, available)


def _use(writer: Writer, _: Sequent, plan: Plan, available: Available) -> Term:
    given, premise = plan.focus, plan.focus.left
    weaker = functions(
        (premise.right,),
        writer.names,
        lambda terms: App(available[given], Fun(writer.names.new(), premise.left, terms[0])),
    )
    assumed = writer.names.new()
    inner = _having(
        writer, plan, 0, {imp(premise.right, given.right): weaker}, {**available, premise.left: Var(assumed)}
    )
    return _having(writer, plan, 1, {given.right: App(available[given], Fun(assumed, premise.left, inner))}, available)


def _having(writer: Writer, plan: Plan, index: int, found: dict[Formula, Term], available: Available) -> Term:
    """Return a branch with some more hypotheses, each with a name."""
    named = [(writer.names.new(), formula, term) for formula, term in found.items()]
    body = writer.branch(plan.branches[index], {**available, **{formula: Var(name) for name, formula, _ in named}})
    for name, formula, term in reversed(named):
        body = Let(name, formula, term, body)
    return body


TERMS: dict[str, Callable[[Writer, Sequent, Plan, Available], Term]] = {
    "assumption": _assumption,
    "absurd": _absurd,
    "trivial": _trivial,
    "intro": _intro,
    "split": _split,
    "left": _left,
    "right": _right,
    "take": _take,
    "cases": _cases,
    "apply": _apply,
    "curry": _curry,
    "branch": _branch,
    "use": _use,
}
"""The function that writes the term, for each tactic's word."""
