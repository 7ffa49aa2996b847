"""Record a saturation as a term."""

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
    """A `Record` that keeps a term for every hypothesis, and the function from the remaining conclusion to the first
    one.
    """

    def __init__(self, available: Mapping[Formula, Term], conclusion: Formula, names: Names) -> None:
        self.available: Available = dict(available)
        """Every formula that is known so far, with a term."""
        self.final: Term = Unit()
        """The term for the last conclusion, if the saturation closed the sequent."""
        self._conclusion = conclusion
        self._names = names
        self._frames: list[tuple[str, Formula, Term | None, Term | None]] = []  # name, type, and the value or body
        self._shared = Shared({}, {}, self._define)

    def finished(self, term: Term) -> Term:
        """Return a term for the first conclusion from a term for the remaining one."""
        for name, formula, value, body in reversed(self._frames):
            if value is not None:
                term = Let(name, formula, value, term)
            elif body is None:
                term = Fun(name, formula, term)
            else:
                term = body if formula.kind == TRUE else Let(name, formula, term, body)
        return term

    def rewritten(self, old: Formula, new: Formula, by: Normaliser, fact: bool) -> None:
        """Derive the new formula from the old one."""
        if new.kind != TRUE and new not in self.available:
            converter = Converter(by, self.available, self._names, self._shared, old if fact else None)
            self._have(new, converter.forward(old, self.available[old]))

    def concluded(self, old: Formula, new: Formula, by: Normaliser) -> None:
        """Derive the old conclusion from the new one."""
        name = self._names.new()
        body = Converter(by, self.available, self._names, self._shared).backward(
            old, Unit() if new.kind == TRUE else Var(name)
        )
        self._frames.append((name, new, None, body))
        self._conclusion = new

    def parted(self, whole: Formula) -> None:
        """Record the parts as projections."""
        term = self.available[whole]
        if whole.kind == AND:
            found = projections(term, whole)
        else:
            first, second = sides(whole)
            found = {first: First(term), second: Second(term)}
        for part, projection in found.items():
            self.available.setdefault(part, projection)

    def branched(self, implication: Formula, premise: Formula) -> None:
        """Record that each new implication passes its part on as the disjunction of the old one."""
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
        """Keep the equivalence as a fact."""

    def pure(self, values: Known) -> None:
        """Do nothing: `rewritten` and `concluded` record the effects."""

    def introduced(self, premises: Iterable[Formula]) -> None:
        """Name the premises."""
        for premise in premises:
            name = self._names.new()
            self._frames.append((name, premise, None, None))
            self.available.setdefault(premise, Var(name))
            self._conclusion = self._conclusion.right

    def closed(self, hypothesis: Formula | None) -> None:
        """Close the sequent by a term for False, or by the one for True."""
        if hypothesis is not None:
            absurd = self.available[false]
            self.final = absurd if self._conclusion is false else Abort(self._conclusion, absurd)

    def _have(self, formula: Formula, term: Term) -> None:
        self.available[formula] = term if is_cheap(term) else self._define(formula, term)

    def _define(self, formula: Formula, term: Term) -> Term:
        name = self._names.new()
        self._frames.append((name, formula, term, None))
        return Var(name)
