"""Terms that convert a formula to its normal form and back.

Every rule of `normal.py` has one here that proves it right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from treetop.prove.logic.formula import AND, FALSE, IFF, IMP, OR, TRUE, Formula, false, iff, imp, neg
from treetop.prove.logic.normal import Normaliser
from treetop.prove.logic.terms import (
    Abort,
    App,
    Case,
    First,
    Fun,
    InLeft,
    InRight,
    Let,
    Pair,
    Second,
    Term,
    Unit,
    Var,
    apply,
)

Available = dict[Formula, Term]
"""Formulas with the terms that prove them."""
_UNIT = Unit()
_LARGE = 12  # formulas of this size are converted by a named function
_LONG = 8  # in disjunctions of this length, parts are injected by named functions


class Names:
    """Generates new names."""

    def __init__(self, prefix: str = "h") -> None:
        self._prefix = prefix
        self._count = 0

    def new(self) -> str:
        """Return a new name."""
        self._count += 1
        return f"{self._prefix}{self._count}"


def is_cheap(term: Term) -> bool:
    """Return whether a term is small enough to be repeated instead of being named."""
    while isinstance(term, (First, Second)):
        term = term.pair
    return isinstance(term, (Var, Unit))


def projections(term: Term, whole: Formula) -> Available:
    """Return the parts of a conjunction, each extracted from the term for the whole. Others are their own part."""
    found: Available = {}
    pending = [(term, whole)]
    while pending:
        term, formula = pending.pop()
        if formula.kind == AND:
            pending += [(Second(term), formula.right), (First(term), formula.left)]
        else:
            found.setdefault(formula, term)
    return found


def assemble(whole: Formula, available: Mapping[Formula, Term]) -> Term:
    """Return a proof of a conjunction from its parts."""
    if whole.kind == TRUE:
        return _UNIT
    if whole.kind == AND:
        return Pair(whole, assemble(whole.left, available), assemble(whole.right, available))
    return available[whole]


def inject(term: Term, part: Formula, whole: Formula) -> Term:
    """Return a proof of a disjunction from one of its parts, at the first position of the part."""
    if whole is part:
        return term
    if part in whole.left.parts if whole.left.kind == OR else part is whole.left:
        return InLeft(whole, inject(term, part, whole.left))
    return InRight(whole, inject(term, part, whole.right))


def by_cases(term: Term, whole: Formula, names: Names, branch: Callable[[Term, Formula], Term]) -> Term:
    """Return a case distinction with one branch for each part of a disjunction."""
    if whole.kind != OR:
        return branch(term, whole)
    left, right = names.new(), names.new()
    return Case(
        term,
        left,
        by_cases(Var(left), whole.left, names, branch),
        right,
        by_cases(Var(right), whole.right, names, branch),
    )


def functions(premises: Iterable[Formula], names: Names, body: Callable[[list[Term]], Term]) -> Term:
    """Assume the premises, one after the other."""
    named = [(names.new(), premise) for premise in premises]
    term = body([Var(name) for name, _ in named])
    for name, premise in reversed(named):
        term = Fun(name, premise, term)
    return term


class Shared(NamedTuple):
    """Conversions that are stored, and the function that names them."""

    found: dict[tuple[Formula, Formula], Term]
    places: dict[Formula, dict[Formula, tuple[Formula, Term]]]
    define: Callable[[Formula, Term], Term]


class Converter:
    """Conversions under the facts of one normaliser.

    `evidence` holds the terms for the facts, unless pure atoms were replaced.

    `fact`: this formula is itself in the normaliser's table and was refreshed. `shared`: where conversions of large
    formulas are stored, because a formula may occur in many others, and twice in each equivalence around it.
    """

    def __init__(
        self,
        by: Normaliser,
        evidence: Mapping[Formula, Term],
        names: Names,
        shared: Shared,
        fact: Formula | None = None,
    ) -> None:
        self._by = by
        self._evidence = evidence
        self._names = names
        self._shared = shared
        self._fact = fact
        self._denied = fact.left if fact is not None and fact.kind == IMP and fact.right is false else None

    def forward(self, formula: Formula, term: Term) -> Term:
        """Return a term for the normal form from a term for the formula."""
        target = self._target(formula)
        if target is formula:
            return term
        if target.kind == TRUE:
            return _UNIT
        if self._is_known(formula, target):
            if target.kind == FALSE:
                return App(self._evidence[neg(formula)], term)
            return App(Second(self._evidence[iff(target, formula)]), term)
        if formula.size < _LARGE or formula is self._fact or formula is self._denied:
            return _FORWARD[formula.kind](self, formula, target, term)
        return App(self._function(formula, target, _FORWARD[formula.kind], True), term)

    def backward(self, formula: Formula, term: Term) -> Term:
        """Return a term for the formula from a term for the normal form."""
        target = self._target(formula)
        if target is formula:
            return term
        if target.kind == FALSE:
            return Abort(formula, term)
        if self._is_known(formula, target):
            return (
                self._evidence[formula]
                if target.kind == TRUE
                else App(First(self._evidence[iff(target, formula)]), term)
            )
        if formula.size < _LARGE or formula is self._fact or formula is self._denied:
            return _BACKWARD[formula.kind](self, formula, target, term)
        return App(self._function(formula, target, _BACKWARD[formula.kind], False), term)

    def _function(self, formula: Formula, target: Formula, convert: _Convert, there: bool) -> Term:
        source, goal = (formula, target) if there else (target, formula)
        found = self._shared.found.get((source, goal))
        if found is None:
            name = self._names.new()
            function = Fun(name, source, convert(self, formula, target, Var(name)))
            found = self._shared.found[source, goal] = self._shared.define(imp(source, goal), function)
        return found

    def _target(self, formula: Formula) -> Formula:
        if formula is self._fact:
            return self._by.refreshed(formula)
        if formula is self._denied:
            return formula if formula.kind <= FALSE else self._by.inside(formula)
        return self._by.normal(formula)

    def _is_known(self, formula: Formula, target: Formula) -> bool:
        """Ignore facts that were learned after a normal form was found."""
        return formula is not self._fact and formula is not self._denied and self._by.known.get(formula) is target

    def _named(self, term: Term, formula: Formula, body: Callable[[Term], Term]) -> Term:
        if is_cheap(term):
            return body(term)
        name = self._names.new()
        return Let(name, formula, term, body(Var(name)))

    def _with_parts(self, found: list[tuple[Formula, Term]], body: Callable[[Available], Term]) -> Term:
        """Continue with the parts of the normal forms of all these, which are read as conjunctions."""
        available: Available = {}

        def step(index: int) -> Term:
            if index == len(found):
                return body(available)
            formula, term = found[index]

            def go_on(named: Term) -> Term:
                for part, projection in projections(named, formula).items():
                    available.setdefault(part, projection)
                return step(index + 1)

            return self._named(term, formula, go_on) if formula.kind == AND else go_on(term)

        return step(0)

    # conjunctions

    def _and_forward(self, formula: Formula, target: Formula, term: Term) -> Term:
        def body(whole: Term) -> Term:
            leaves = projections(whole, formula)
            found = [(self._target(leaf), self.forward(leaf, one)) for leaf, one in leaves.items()]
            if target.kind == FALSE:
                return next(one for normal, one in found if normal.kind == FALSE)
            return self._with_parts(found, lambda available: assemble(target, available))

        return self._named(term, formula, body)

    def _and_backward(self, formula: Formula, target: Formula, term: Term) -> Term:
        def body(whole: Term) -> Term:
            available = projections(whole, target)
            leaves = {
                leaf: self.backward(leaf, assemble(self._target(leaf), available))
                for leaf in dict.fromkeys(formula.parts)
            }
            return assemble(formula, leaves)

        return self._named(term, target, body)

    # disjunctions

    def _or_forward(self, formula: Formula, target: Formula, term: Term) -> Term:
        def leaf_branch(one: Term, leaf: Formula) -> Term:
            normal = self._target(leaf)
            if normal.kind == FALSE:
                return self._aborted(target, self.forward(leaf, one))
            return by_cases(
                self.forward(leaf, one), normal, self._names, lambda inner, part: self._inject(inner, part, target)
            )

        return by_cases(term, formula, self._names, leaf_branch)

    def _or_backward(self, formula: Formula, target: Formula, term: Term) -> Term:
        normals = {leaf: self._target(leaf) for leaf in formula.parts}
        if target.kind == TRUE:
            leaf = next(leaf for leaf, normal in normals.items() if normal.kind == TRUE)
            return inject(self.backward(leaf, _UNIT), leaf, formula)
        home = {
            part: leaf
            for leaf, normal in normals.items()
            for part in (normal.parts if normal.kind == OR else (normal,))
        }

        def part_branch(one: Term, part: Formula) -> Term:
            leaf = home[part]
            return self._inject(self.backward(leaf, self._inject(one, part, normals[leaf])), leaf, formula)

        return by_cases(term, target, self._names, part_branch)

    def _inject(self, term: Term, part: Formula, whole: Formula) -> Term:
        """Return `inject`; in a long chain each step to the right is a named function, so that distant parts cost no
        more.
        """
        if len(whole.parts) < _LONG:
            return inject(term, part, whole)
        places = self._shared.places.get(whole)
        if places is None:
            places = self._shared.places[whole] = self._places(whole)
        rest, there = places[part]
        return apply(there, term if rest is part else InLeft(rest, inject(term, part, rest.left)))

    def _places(self, whole: Formula) -> dict[Formula, tuple[Formula, Term]]:
        """Return, for each part of a long chain, the rest that begins there and the function from this rest to the
        whole.
        """
        found: dict[Formula, tuple[Formula, Term]] = {}
        rest, there = (
            whole,
            self._shared.define(imp(whole, whole), functions((whole,), self._names, lambda terms: terms[0])),
        )
        while rest.kind == OR:
            for part in rest.left.parts if rest.left.kind == OR else (rest.left,):
                found.setdefault(part, (rest, there))
            name = self._names.new()
            step = Fun(name, rest.right, App(there, InRight(rest, Var(name))))
            there = self._shared.define(imp(rest.right, whole), step)
            rest = rest.right
        found.setdefault(rest, (rest, there))
        return found

    # implications

    def _imp_forward(self, formula: Formula, target: Formula, term: Term) -> Term:
        premises = target.premises

        def body(given: list[Term]) -> Term:
            available = dict(zip(premises, given, strict=True))
            arguments = [
                self.backward(premise, assemble(self._target(premise), available)) for premise in formula.premises
            ]
            head = self.forward(formula.head, apply(term, *arguments))
            return self._reduced(head, self._target(formula.head), target.head, available)

        return functions(premises, self._names, body)

    def _reduced(self, term: Term, formula: Formula, wanted: Formula, available: Available) -> Term:
        """Return the head after `make_imp` shortened it, from the head before."""
        if formula is wanted:
            return term
        if formula.kind == IMP:
            return self._reduced(
                apply(term, *(available[premise] for premise in formula.premises)), formula.head, wanted, available
            )

        def body(whole: Term) -> Term:
            parts = projections(whole, formula)
            left = [part for part in parts if part not in available]
            if len(left) == 1:
                return self._reduced(parts[left[0]], left[0], wanted, available)
            return assemble(wanted, parts)

        return self._named(term, formula, body)

    def _imp_backward(self, formula: Formula, target: Formula, term: Term) -> Term:
        def body(given: list[Term]) -> Term:
            found = [
                (self._target(premise), self.forward(premise, one))
                for premise, one in zip(formula.premises, given, strict=True)
            ]
            absurd = next((one for normal, one in found if normal.kind == FALSE), None)
            if absurd is not None:
                return Abort(formula.head, absurd)
            head = self._target(formula.head)
            return self._with_parts(
                found, lambda available: self.backward(formula.head, self._restored(head, available, term, target))
            )

        return functions(formula.premises, self._names, body)

    def _restored(self, formula: Formula, available: Available, term: Term, target: Formula) -> Term:
        """Return the head before `make_imp` shortened it, from the premises and the resulting implication."""
        if formula in available:
            return available[formula]
        if formula.kind == TRUE:
            return _UNIT
        if formula.kind == IMP:
            premises = formula.premises
            return functions(
                premises,
                self._names,
                lambda given: self._restored(
                    formula.head, {**available, **dict(zip(premises, given, strict=True))}, term, target
                ),
            )
        if formula.kind == OR:
            for part in formula.parts:
                if part in available:
                    return inject(available[part], part, formula)
        if formula.kind == AND and formula is not target.head:
            return assemble(formula, {part: self._restored(part, available, term, target) for part in formula.parts})
        result = apply(term, *(available[premise] for premise in target.premises))
        return result if formula is target.head else projections(result, target.head)[formula]

    # equivalences

    def _iff_forward(self, formula: Formula, target: Formula, term: Term) -> Term:
        def body(both: Term) -> Term:
            directions = ((formula.left, formula.right, First(both)), (formula.right, formula.left, Second(both)))
            for source, goal, way in directions:
                if self._target(source).kind == TRUE:
                    return self.forward(goal, App(way, self.backward(source, _UNIT)))
            for source, goal, way in directions:
                if self._target(goal).kind == FALSE:
                    return self._denial(source, goal, way, target)
            found = {}
            for source, goal, way in directions:
                name = self._names.new()
                there = self.forward(goal, App(way, self.backward(source, Var(name))))
                found[self._target(source)] = Fun(name, self._target(source), there)
            return Pair(target, found[target.left], found[target.right])

        return self._named(term, formula, body)

    def _denial(self, source: Formula, goal: Formula, way: Term, target: Formula) -> Term:
        """Convert `a <-> False`, which became `a -> False`, with a conjunction a curried."""
        normal = self._target(source)

        def body(given: list[Term]) -> Term:
            available = dict(zip(target.premises, given, strict=True))
            return self.forward(goal, App(way, self.backward(source, assemble(normal, available))))

        return functions(target.premises, self._names, body)

    def _iff_backward(self, formula: Formula, target: Formula, term: Term) -> Term:
        def direction(source: Formula, goal: Formula) -> Term:
            name = self._names.new()
            return Fun(name, source, self._across(source, goal, self.forward(source, Var(name)), target, term))

        return Pair(formula, direction(formula.left, formula.right), direction(formula.right, formula.left))

    def _across(self, source: Formula, goal: Formula, there: Term, target: Formula, term: Term) -> Term:
        """Return the other side from the normal form of one side."""
        normal, other = self._target(source), self._target(goal)
        if normal is other:
            return self.backward(goal, there)
        if other.kind == TRUE:
            return self.backward(goal, _UNIT)
        if normal.kind == TRUE:
            return self.backward(goal, term)
        if normal.kind == FALSE:
            return Abort(goal, there)
        if other.kind == FALSE:
            return self._with_parts(
                [(normal, there)],
                lambda parts: self.backward(goal, apply(term, *(parts[premise] for premise in target.premises))),
            )
        return self.backward(goal, App(First(term) if target.left is normal else Second(term), there))

    @staticmethod
    def _aborted(target: Formula, term: Term) -> Term:
        return term if target.kind == FALSE else Abort(target, term)


_Convert = Callable[[Converter, Formula, Formula, Term], Term]
_FORWARD: dict[int, _Convert] = {
    AND: Converter._and_forward,
    OR: Converter._or_forward,
    IMP: Converter._imp_forward,
    IFF: Converter._iff_forward,
}
_BACKWARD: dict[int, _Convert] = {
    AND: Converter._and_backward,
    OR: Converter._or_backward,
    IMP: Converter._imp_backward,
    IFF: Converter._iff_backward,
}
