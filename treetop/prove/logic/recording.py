"""Follows a saturation and makes a term of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from treetop.prove.logic.conversions import (
    Available,
    Converter,
    Names,
    Shared,
    functions,
    inject,
    is_cheap,
    projections,
)
from treetop.prove.logic.formula import AND, TRUE, Formula, false, sides
from treetop.prove.logic.normal import Known, Normaliser
from treetop.prove.logic.saturation import derived
from treetop.prove.logic.terms import Abort, First, Fun, Let, Second, Term, Unit, Var, apply


class TermRecord:
    """A `Record` that keeps a term for every hypothesis, and what leads from the conclusion that is left to the first one."""

    def __init__(self, available: Mapping[Formula, Term], conclusion: Formula, names: Names) -> None:
        self.available: Available = dict(available)
        """Every formula that is known by now, with a term."""
        self.final: Term = Unit()
        """The term for the last conclusion, where the saturation has closed the sequent."""
        self._conclusion = conclusion
        self._names = names
        self._frames: list[
            tuple[str, Formula, Term | None, Term | None]
        ] = []  # name, type, and the value or the body that goes with it
        self._shared = Shared({}, {}, self._define)

    def finished(self, term: Term) -> Term:
        """From a term for the conclusion that is left: one for the first conclusion."""
        for name, formula, value, body in reversed(self._frames):
            if value is not None:
                term = Let(name, formula, value, term)
            elif body is None:
                term = Fun(name, formula, term)
            else:
                term = body if formula.kind == TRUE else Let(name, formula, term, body)
        return term

    def rewritten(self, old: Formula, new: Formula, by: Normaliser, fact: bool) -> None:
        """The new formula follows from the old one."""
        if new.kind != TRUE and new not in self.available:
            converter = Converter(by, self.available, self._names, self._shared, old if fact else None)
            self._have(new, converter.forward(old, self.available[old]))

    def concluded(self, old: Formula, new: Formula, by: Normaliser) -> None:
        """The old conclusion follows from the new one."""
        name = self._names.new()
        body = Converter(by, self.available, self._names, self._shared).backward(
            old, Unit() if new.kind == TRUE else Var(name)
        )
        self._frames.append((name, new, None, body))
        self._conclusion = new

    def parted(self, whole: Formula) -> None:
        """The parts are projections."""
        term = self.available[whole]
        if whole.kind == AND:
            found = projections(term, whole)
        else:
            first, second = sides(whole)
            found = {first: First(term), second: Second(term)}
        for part, projection in found.items():
            self.available.setdefault(part, projection)

    def branched(self, implication: Formula, premise: Formula) -> None:
        """Each new implication gives its part as the disjunction that the old one asks for."""
        for part, new in zip(premise.parts, derived(implication, premise), strict=True):
            if new in self.available:
                continue
            self._have(new, self._branch(implication, premise, part))

    def _branch(self, implication: Formula, premise: Formula, part: Formula) -> Term:
        def body(given: list[Term]) -> Term:
            others = iter(given[1:])
            arguments = [
                inject(given[0], part, premise) if one is premise else next(others) for one in implication.premises
            ]
            return apply(self.available[implication], *arguments)

        asked = (part, *(other for other in implication.premises if other is not premise))
        return functions(asked, self._names, body)

    def equal(self, equivalence: Formula) -> None:
        """The equivalence stays at hand."""

    def pure(self, values: Known) -> None:
        """What is made of it is told by `rewritten` and `concluded`."""

    def introduced(self, premises: Iterable[Formula]) -> None:
        """The premises get names."""
        for premise in premises:
            name = self._names.new()
            self._frames.append((name, premise, None, None))
            self.available.setdefault(premise, Var(name))
            self._conclusion = self._conclusion.right

    def closed(self, hypothesis: Formula | None) -> None:
        """By a term for False, or by the one for True."""
        if hypothesis is not None:
            absurd = self.available[false]
            self.final = absurd if self._conclusion is false else Abort(self._conclusion, absurd)

    def _have(self, formula: Formula, term: Term) -> None:
        self.available[formula] = term if is_cheap(term) else self._define(formula, term)

    def _define(self, formula: Formula, term: Term) -> Term:
        name = self._names.new()
        self._frames.append((name, formula, term, None))
        return Var(name)
