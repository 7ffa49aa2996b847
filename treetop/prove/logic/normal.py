"""Normal forms of formulas under known facts: chains are flat, sorted and without repetition, constants are removed,
implications are curried.

Formulas that differ in the order or nesting of such parts become equal, so that equivalent goals are one goal. The
facts are a table of replacements: True for a formula that holds, False for one whose negation holds, an atom for an
equal atom.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from treetop.prove.logic.formula import AND, ATOM, FALSE, IFF, IMP, OR, TRUE, Formula, chain, false, iff, implies, true
from treetop.prove.logic.sequents import by_text

Known = dict[Formula, Formula]
"""The replacements of formulas."""


class Normaliser:
    """Brings formulas into normal form under one table of facts. Results are cached until `forget`."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self._memo: Known = {}
        self._atoms = -1  # the atoms that occur in the facts; all of them until that is computed
        self._least = 0  # the size of the smallest known formula with a connective

    def forget(self) -> None:
        """Clear the cache. Call it when the table has changed."""
        self._memo.clear()
        self._atoms = -1

    def normal(self, formula: Formula) -> Formula:
        """Return the normal form. The formula itself or parts of it may be known."""
        found = self._memo.get(formula)
        if found is None:
            found = self.known.get(formula)
            if found is None:
                found = formula if formula.kind <= FALSE else self.inside(formula)
            self._memo[formula] = found
        return found

    def _survey(self) -> None:
        self._atoms, self._least = 0, sys.maxsize
        for formula in self.known:
            if formula.kind == ATOM:
                self._atoms |= formula.positive
            elif formula.size < self._least:
                self._least = formula.size

    def refreshed(self, fact: Formula) -> Formula:
        """Return the normal form of a formula that is itself in the table: it is not replaced by True, nor what it
        denies by False.
        """
        if fact.kind <= FALSE:
            return fact
        if fact.kind == IMP and fact.right is false:
            denied = fact.left
            return make_imp((denied if denied.kind <= FALSE else self.inside(denied),), false)
        return self.inside(fact)

    def inside(self, formula: Formula) -> Formula:
        """Return the normal form of a formula with connectives: only its parts are replaced."""
        if formula.tidy:
            if self._atoms < 0:
                self._survey()
            if formula.size <= self._least and not (formula.positive | formula.negative) & self._atoms:
                return formula  # too small to contain known formulas but atoms, and it contains none of those
        kind = formula.kind
        if kind in (AND, OR):
            old = formula.parts
            new = [self.normal(part) for part in old]
            if formula.tidy and _same(old, new):
                return formula
            return make_and(new) if kind == AND else make_or(new)
        if kind == IFF:
            return make_iff(self.normal(formula.left), self.normal(formula.right))
        old, head = formula.premises, self.normal(formula.head)
        new = [self.normal(premise) for premise in old]
        if formula.tidy and head is formula.head and _same(old, new):
            return formula
        return make_imp(new, head)


def _same(old: tuple[Formula, ...], new: list[Formula]) -> bool:
    for one, other in zip(old, new, strict=True):  # noqa: SIM110 - this is faster
        if one is not other:
            return False
    return True


def make_and(parts: Iterable[Formula]) -> Formula:
    """Return the conjunction of normal formulas, in normal form."""
    found: set[Formula] = set()
    for part in parts:
        if part.kind == AND:
            found.update(part.parts)
        elif part.kind == FALSE:
            return false
        elif part.kind != TRUE:
            found.add(part)
    return _tidy(chain(AND, sorted(found, key=by_text))) if found else true


def make_or(parts: Iterable[Formula]) -> Formula:
    """Return the disjunction of normal formulas, in normal form."""
    found: set[Formula] = set()
    for part in parts:
        if part.kind == OR:
            found.update(part.parts)
        elif part.kind == TRUE:
            return true
        elif part.kind != FALSE:
            found.add(part)
    return _tidy(chain(OR, sorted(found, key=by_text))) if found else false


def make_imp(premises: Iterable[Formula], head: Formula) -> Formula:
    """Return an implication between normal formulas, in normal form: `a & b -> c` is `a -> b -> c`."""
    if head.kind == TRUE:
        return true
    found: set[Formula] = set(head.premises)
    head = head.head
    for premise in premises:
        if premise.kind == AND:
            found.update(premise.parts)
        elif premise.kind == FALSE:
            return true
        elif premise.kind != TRUE:
            found.add(premise)
    if not found:
        return head
    if head in found or (head.kind == OR and not found.isdisjoint(head.parts)):
        return true
    if head.kind == AND and not found.isdisjoint(head.parts):
        head = make_and(part for part in head.parts if part not in found)
        if head.kind == TRUE:
            return true
        if head.kind == IMP:
            return make_imp(found, head)
    return _tidy(implies(sorted(found, key=by_text), head))


def make_iff(left: Formula, right: Formula) -> Formula:
    """Return an equivalence of normal formulas, in normal form."""
    if left is right:
        return true
    if right.kind in (TRUE, FALSE):
        left, right = right, left
    if left.kind == TRUE:
        return right
    if left.kind == FALSE:
        return make_imp((right,), false)
    return _tidy(iff(left, right) if left.text < right.text else iff(right, left))


def _tidy(formula: Formula) -> Formula:
    formula.tidy = True
    return formula
