"""Saturation: everything that can be done to a sequent without a choice and without branching.

Hypotheses are decomposed, known formulas are replaced by True and False in all others, and atoms that occur with one
polarity only are replaced by a constant. Each step preserves provability in both directions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from treetop.prove.logic.formula import (
    AND,
    ATOM,
    FALSE,
    IFF,
    IMP,
    OR,
    TRUE,
    Formula,
    atom_of_bit,
    bits,
    false,
    implies,
    sides,
    true,
)
from treetop.prove.logic.normal import Known, Normaliser
from treetop.prove.logic.sequents import Sequent


class Record(Protocol):
    """Receives every step, for uses that need more than the result: a proof as a term, or the values of atoms in a
    model.
    """

    def rewritten(self, old: Formula, new: Formula, by: Normaliser, fact: bool) -> None:
        """A hypothesis was brought into normal form; `fact`: it was itself in the table."""

    def concluded(self, old: Formula, new: Formula, by: Normaliser) -> None:
        """The conclusion was brought into normal form."""

    def parted(self, whole: Formula) -> None:
        """A conjunction or an equivalence was decomposed."""

    def branched(self, implication: Formula, premise: Formula) -> None:
        """`a | b -> c` became `a -> c` and `b -> c`; the premise is the disjunction."""

    def equal(self, equivalence: Formula) -> None:
        """Two atoms are equal: the second one is replaced by the first."""

    def pure(self, values: Known) -> None:
        """Atoms that occur with one polarity only are replaced by these constants everywhere."""

    def introduced(self, premises: Sequence[Formula]) -> None:
        """The premises of the conclusion became hypotheses."""

    def closed(self, hypothesis: Formula | None) -> None:
        """The sequent was closed: by the hypothesis False, or (None) because the conclusion is True."""


def saturate(hypotheses: Iterable[Formula], conclusion: Formula, record: Record | None = None) -> Sequent | None:
    """Return the remaining sequent, or None if it is proved."""
    return _Saturation(hypotheses, conclusion, record).run()


def derived(implication: Formula, premise: Formula) -> list[Formula]:
    """Return the parts that `a | b -> c` is decomposed into."""
    others = [other for other in implication.premises if other is not premise]
    return [implies((part, *others), implication.head) for part in premise.parts]


class _Saturation:
    def __init__(self, hypotheses: Iterable[Formula], conclusion: Formula, record: Record | None) -> None:
        self._agenda = list(hypotheses)
        self._conclusion = conclusion
        self._record = record
        self._facts: dict[Formula, None] = {}
        self._known: Known = {}
        self._normaliser = Normaliser(self._known)

    def run(self) -> Sequent | None:
        agenda, record = self._agenda, self._record
        while True:
            while agenda:
                if not self._add(agenda.pop()):
                    return None
            self._refresh(list(self._facts))
            if agenda:
                continue
            self._conclude()
            conclusion = self._conclusion
            if conclusion is true:
                if record:
                    record.closed(None)
                return None
            if conclusion.kind == IMP:
                if record:
                    record.introduced(conclusion.premises)
                agenda.extend(conclusion.premises)
                self._conclusion = conclusion.head
            elif not self._purify():
                return Sequent(self._facts, conclusion, saturated=True)

    def _conclude(self) -> None:
        """Repeat while something changes: a formula may be known in its new form."""
        while (new := self._normaliser.normal(old := self._conclusion)) is not old:
            if self._record:
                self._record.concluded(old, new, self._normaliser)
            self._conclusion = new

    def _add(self, given: Formula) -> bool:
        """Add a hypothesis; return False if it closes the sequent."""
        formula, record = self._normaliser.normal(given), self._record
        if record and formula is not given:
            record.rewritten(given, formula, self._normaliser, False)
        kind = formula.kind
        if kind == FALSE:
            if record:
                record.closed(formula)
            return False
        if kind == AND:
            if record:
                record.parted(formula)
            self._agenda.extend(formula.parts)
        elif kind == IFF:
            self._equivalence(formula)
        elif kind == IMP:
            premise = _disjunctive_premise(formula)
            if premise is None:
                self._insert(formula)
            else:
                if record:
                    record.branched(formula, premise)
                self._known[formula] = true
                self._agenda.extend(derived(formula, premise))
        elif kind != TRUE:
            self._insert(formula)
        return True

    def _equivalence(self, formula: Formula) -> None:
        if formula.left.kind == formula.right.kind == ATOM:
            if self._record:
                self._record.equal(formula)
            self._known[formula.right] = formula.left
            self._touch(formula.right.positive, 0)
            return
        if self._record:
            self._record.parted(formula)
        self._known[formula] = true
        self._agenda.extend(sides(formula))

    def _insert(self, fact: Formula) -> None:
        self._known[fact] = true
        inner = fact
        if fact.kind == IMP and fact.right is false:
            inner = fact.left
            self._known[inner] = false
        self._touch(inner.positive | inner.negative, inner.size)
        self._facts[fact] = None

    def _touch(self, mask: int, size: int) -> None:
        """Recheck the facts in which a newly known formula may occur."""
        touched = [fact for fact in self._facts if fact.size > size and mask & ~(fact.positive | fact.negative) == 0]
        if touched:
            self._refresh(touched)
        elif size <= 1:
            self._normaliser.forget()

    def _refresh(self, facts: list[Formula]) -> None:
        normaliser = self._normaliser
        normaliser.forget()
        for fact in facts:
            new = normaliser.refreshed(fact)
            if new is not fact:
                if self._record:
                    self._record.rewritten(fact, new, normaliser, True)
                self._drop(fact)
                self._agenda.append(new)
                normaliser.forget()

    def _drop(self, fact: Formula) -> None:
        del self._facts[fact]
        self._known.pop(fact, None)
        if fact.kind == IMP and fact.right is false:
            self._known.pop(fact.left, None)

    def _purify(self) -> bool:
        """Replace atoms that help to prove nothing by False, and atoms that nothing needs by True."""
        positive, negative = self._conclusion.positive, self._conclusion.negative
        for fact in self._facts:
            positive |= fact.negative
            negative |= fact.positive
        once = positive ^ negative
        if not once:
            return False
        values = {atom_of_bit(index): false if positive >> index & 1 else true for index in bits(once)}
        if self._record:
            self._record.pure(values)
        normaliser = Normaliser(values)
        for fact in [fact for fact in self._facts if (fact.positive | fact.negative) & once]:
            new = normaliser.normal(fact)
            if self._record:
                self._record.rewritten(fact, new, normaliser, False)
            self._drop(fact)
            self._agenda.append(new)
        self._normaliser.forget()
        old = self._conclusion
        self._conclusion = normaliser.normal(old)
        if self._record and self._conclusion is not old:
            self._record.concluded(old, self._conclusion, normaliser)
        return True


def _disjunctive_premise(implication: Formula) -> Formula | None:
    """Return the disjunction to decompose.

    While an atom is missing, the implication cannot be used anyway and stays whole.
    """
    found = None
    for premise in implication.premises:
        if premise.kind == ATOM:
            return None
        if premise.kind == OR and found is None:
            found = premise
    return found
