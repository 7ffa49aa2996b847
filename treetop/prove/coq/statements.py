"""Compare statements, up to the order of their quantifiers and premises and the names in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from treetop.prove.coq.goals import CoqGoal, Premise
from treetop.prove.coq.syntax import Term, parse
from treetop.prove.coq.terms import Binder, arguments, canonical, free_names, head, match, name, peel, substitute

_TURNED = {"ge": "le", "gt": "lt"}
_SYMMETRIC = frozenset(("eq", "iff"))


class _Parts(NamedTuple):
    variables: tuple[Binder, ...]
    premises: tuple[Term, ...]
    stated: Term


def same_statement(one: str | Term, other: str | Term) -> bool:
    """Return whether two statements are equal up to names, the order of quantifiers and premises, and the direction of
    equations and equivalences.

    `~ A` is read as `A -> False`, `a > b` as `b < a`. Statements that cannot be parsed are equal if their texts are.
    """
    first, second = _parts(one, "x"), _parts(other, "y")
    if len(first.variables) != len(second.variables) or len(first.premises) != len(second.premises):
        return False
    variables = frozenset(binder.name for binder in first.variables)
    return any(
        _premises_fit(first, second, first.premises, second.premises, found)
        for found in _ways(first.stated, second.stated, variables, {})
    )


def _parts(statement: str | Term, mark: str) -> _Parts:
    binders, stated = peel(parse(statement) if isinstance(statement, str) else statement)
    while head(stated) == "not" and len(arguments(stated)) == 1:
        binders, stated = (*binders, Binder("_", arguments(stated)[0])), name("False")
    renamed: dict[str, Term] = {}
    variables, premises = [], []
    for place, binder in enumerate(binders):
        kind = _turned(substitute(binder.type, renamed))
        if binder.name == "_":
            premises.append(kind)
        else:
            fresh = f"{mark}#{place}"
            renamed[binder.name] = name(fresh)
            variables.append(Binder(fresh, kind))
    return _Parts(tuple(variables), tuple(premises), _turned(substitute(stated, renamed)))


def _turned(statement: Term) -> Term:
    given = arguments(statement)
    if head(statement) in _TURNED and len(given) == 2:
        return Term("app", "", (name(_TURNED[head(statement)]), given[1], given[0]))
    return statement


def _ways(left: Term, right: Term, variables: frozenset[str], found: dict[str, Term]) -> Iterator[dict[str, Term]]:
    """Yield the substitutions of the left side's variables that make both sides equal."""
    sides = [left]
    if head(left) in _SYMMETRIC and left.kind == "app":
        sides.append(Term("app", "", (*left.parts[:-2], left.parts[-1], left.parts[-2])))
    for side in sides:
        values = match(side, right, variables, dict(found))
        if values is not None:
            yield values


def _premises_fit(
    first: _Parts, second: _Parts, left: tuple[Term, ...], right: tuple[Term, ...], found: dict[str, Term]
) -> bool:
    if not left:
        return _variables_fit(first, second, found)
    variables = frozenset(binder.name for binder in first.variables)
    return any(
        _premises_fit(first, second, left[1:], (*right[:place], *right[place + 1 :]), values)
        for place, premise in enumerate(right)
        for values in _ways(left[0], premise, variables, found)
    )


def _variables_fit(first: _Parts, second: _Parts, found: dict[str, Term]) -> bool:
    """Return whether every variable is mapped to a different variable and the types agree: then the statements are
    equal.
    """
    theirs = {binder.name: binder.type for binder in second.variables}
    taken = {term.label for term in found.values()}
    free = [label for label in theirs if label not in taken]
    values = {
        **{binder.name: name(free.pop(0)) for binder in first.variables if binder.name not in found and free},
        **found,
    }
    if len({term.label for term in values.values()}) != len(theirs) or any(
        term.label not in theirs for term in values.values()
    ):
        return False
    if any(
        canonical(substitute(binder.type, values)) != canonical(theirs[values[binder.name].label])
        for binder in first.variables
    ):
        return False
    ours = sorted(_undirected(substitute(premise, values)) for premise in (*first.premises, first.stated))
    return ours == sorted(_undirected(premise) for premise in (*second.premises, second.stated))


def _undirected(statement: Term) -> str:
    """Return a text that is equal for both directions of an equation."""
    term = canonical(statement)
    if head(term) in _SYMMETRIC and term.kind == "app":
        return repr((term.parts[:-2], sorted(map(repr, term.parts[-2:]))))
    return repr(term)


def restated(goal: CoqGoal, search: Callable[[str], list[Premise]]) -> str:
    """Return the name of a lemma in scope that states the same as a goal; empty if there is none.

    What is before the colon of a lemma (`Lemma foo n : ...`) is among the hypotheses of its goal, and so is what a
    section declares. The two cannot be distinguished, so the last hypotheses are taken for quantifiers: none, one, two,
    and so on.
    """
    given = goal.hypotheses
    symbols = sorted(free_names(parse(goal.conclusion)) - {hypothesis.name for hypothesis in given})
    closed = []
    for count in range(len(given) + 1):
        binders = " ".join(f"({one.name} : {one.type})" for one in given[len(given) - count :])
        closed.append(parse(f"forall {binders}, {goal.conclusion}" if count else goal.conclusion))
    found = search(" ".join(symbols)) if symbols else []
    return next(
        (premise.name for premise in found if any(same_statement(parse(premise.statement), term) for term in closed)),
        "",
    )
