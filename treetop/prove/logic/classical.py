"""Decide whether a sequent holds in classical logic.

If it does not, it is not provable here either, and this is much faster to find out.
"""

from __future__ import annotations

from collections.abc import Iterable

from treetop.prove.logic.formula import AND, ATOM, IMP, OR, Formula, atom_of_bit, bits, deep, false, true
from treetop.prove.logic.normal import Normaliser

_TABLE = 10  # atoms of a truth table: 1,024 rows, which are the bits of one number
_DEAD_ENDS = 4  # dead ends before the search is given up


def counterexample(
    hypotheses: Iterable[Formula], conclusion: Formula, dead_ends: int = _DEAD_ENDS
) -> dict[Formula, bool] | None:
    """Return values of atoms under which all hypotheses hold and the conclusion does not; omitted atoms may have any
    value.

    None: there is no such assignment, or it was not found within the limit of dead ends.
    """
    with deep():
        return _Halving(dead_ends).run([*hypotheses], conclusion, {})


class _Halving:
    """Assigns values to atoms until few enough are left for a table."""

    def __init__(self, dead_ends: int) -> None:
        self._left = dead_ends

    def run(
        self, hypotheses: list[Formula], conclusion: Formula, values: dict[Formula, bool]
    ) -> dict[Formula, bool] | None:
        mask = conclusion.positive | conclusion.negative
        for given in hypotheses:
            mask |= given.positive | given.negative
        indices = list(bits(mask))
        if len(indices) <= _TABLE:
            found = _row(hypotheses, conclusion, [atom_of_bit(index) for index in indices])
            if found is None:
                self._left -= 1
                return None
            return {**values, **found}
        chosen, wanted = _next(hypotheses, conclusion)
        for value in (wanted, not wanted):
            if self._left <= 0:
                break
            assigned = {**values, chosen: value}
            reduced = _assign(hypotheses, conclusion, chosen, value, assigned)
            if reduced is None:
                self._left -= 1
                continue
            found = self.run(*reduced, assigned)
            if found is not None:
                return found
        return None


def _assign(
    hypotheses: list[Formula], conclusion: Formula, chosen: Formula, value: bool, assigned: dict[Formula, bool]
) -> tuple[list[Formula], Formula] | None:
    """Return the sequent with that value and everything that follows at once; None if it holds then."""
    known = {chosen: true if value else false}
    while known:
        normaliser = Normaliser(known)
        conclusion = _without_double_negation(normaliser.normal(conclusion))
        if conclusion is true:
            return None
        kept: set[Formula] = set()
        following: dict[Formula, Formula] = {}
        for given in hypotheses:
            reduced = _without_double_negation(normaliser.normal(given))
            for part in reduced.parts if reduced.kind == AND else (reduced,):
                literal = part.left if part.kind == IMP and part.right is false else part
                if part is false:
                    return None
                if literal.kind == ATOM:
                    wanted = true if literal is part else false
                    if following.setdefault(literal, wanted) is not wanted:
                        return None
                elif part is not true:
                    kept.add(part)
        if conclusion.kind == ATOM and following.setdefault(conclusion, false) is true:
            return None
        assigned.update((literal, wanted is true) for literal, wanted in following.items())
        hypotheses, known = list(kept), following
    return hypotheses, conclusion


def _without_double_negation(formula: Formula) -> Formula:
    while formula.kind == IMP and formula.right is false and formula.left.kind == IMP and formula.left.right is false:
        formula = formula.left.left
    return formula


def _next(hypotheses: list[Formula], conclusion: Formula) -> tuple[Formula, bool]:
    """Return the leftmost atom of the shortest hypothesis, with the value that helps it to hold; without hypotheses,
    one that makes the conclusion fail.
    """
    if hypotheses:
        formula, value = min(hypotheses, key=_length), True
    else:
        formula, value = conclusion, False
    while formula.kind != ATOM:
        if formula.left.positive | formula.left.negative:
            value ^= formula.kind == IMP
            formula = formula.left
        else:
            formula = formula.right
    return formula, value


def _length(formula: Formula) -> tuple[int, str]:
    return formula.size, formula.text


def _row(hypotheses: list[Formula], conclusion: Formula, variables: list[Formula]) -> dict[Formula, bool] | None:
    """Return a row of the truth table in which the hypotheses hold and the conclusion does not."""
    rows = 1 << len(variables)
    full = (1 << rows) - 1
    columns = {true: full, false: 0}
    for index, variable in enumerate(variables):
        block = 1 << index
        columns[variable] = full // ((1 << block) + 1) << block
    column = full ^ _column(conclusion, columns, full)
    for given in hypotheses:
        if not column:
            return None
        column &= _column(given, columns, full)
    if not column:
        return None
    row = (column & -column).bit_length() - 1
    return {variable: bool(row >> index & 1) for index, variable in enumerate(variables)}


def _column(formula: Formula, columns: dict[Formula, int], full: int) -> int:
    """Return the truth of a formula in all rows, one bit each."""
    found = columns.get(formula)
    if found is None:
        left, right = _column(formula.left, columns, full), _column(formula.right, columns, full)
        kind = formula.kind
        if kind == AND:
            found = left & right
        elif kind == OR:
            found = left | right
        elif kind == IMP:
            found = full ^ left | right
        else:
            found = full ^ left ^ right
        columns[formula] = found
    return found
