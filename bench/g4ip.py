"""A plain prover for intuitionistic propositional logic, as a baseline: Dyckhoff's calculus, depth first.

    python bench/g4ip.py "p & q -> q & p"

It shares only the formulas and their parser with the package.
"""

from __future__ import annotations

import sys
import time

from treetop.prove.logic.formula import AND, ATOM, FALSE, IFF, IMP, OR, TRUE, Formula, imp, sides
from treetop.prove.logic.syntax import parse


class TimeIsUpError(Exception):
    """An error that is raised when the deadline has passed."""


class G4ip:
    """A prover that applies invertible rules first, then tries each choice. It terminates: all premises are smaller."""

    def __init__(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds
        self.sequents = 0

    def prove(self, statement: Formula) -> bool:
        """Return whether the statement is a theorem. Raise TimeIsUpError if that is unknown at the deadline."""
        return self._right([], frozenset(), [], statement)

    def _right(self, fresh: list[Formula], atoms: frozenset[Formula], waiting: list[Formula], goal: Formula) -> bool:
        """Prove a sequent. `fresh` are new hypotheses, `waiting` implications that need an atom or a choice."""
        self.sequents += 1
        if self.sequents % 1000 == 0 and time.monotonic() > self._deadline:
            raise TimeIsUpError
        if goal.kind == IMP:
            return self._right([*fresh, goal.left], atoms, waiting, goal.right)
        if goal.kind in (AND, IFF):
            return all(self._right(fresh, atoms, waiting, side) for side in sides(goal))
        return self._left(list(fresh), atoms, list(waiting), goal)

    def _left(self, fresh: list[Formula], atoms: frozenset[Formula], waiting: list[Formula], goal: Formula) -> bool:
        while fresh:
            given = fresh.pop()
            if given is goal or given.kind == FALSE:
                return True
            if given.kind == ATOM:
                atoms |= {given}
                fresh += [other.right for other in waiting if other.left is given]
                waiting = [other for other in waiting if other.left is not given]
            elif given.kind in (AND, IFF):
                fresh += sides(given)
            elif given.kind == OR:
                return all(self._right([*fresh, side], atoms, waiting, goal) for side in (given.left, given.right))
            elif given.kind == IMP:
                self._implication(given, fresh, atoms, waiting)
        return goal.kind == TRUE or goal in atoms or self._choose(atoms, waiting, goal)

    def _implication(
        self, given: Formula, fresh: list[Formula], atoms: frozenset[Formula], waiting: list[Formula]
    ) -> None:
        premise, head = given.left, given.right
        if premise.kind == TRUE or premise in atoms:
            fresh.append(head)
        elif premise.kind in (AND, IFF):
            first, second = sides(premise)
            fresh.append(imp(first, imp(second, head)))
        elif premise.kind == OR:
            fresh += [imp(premise.left, head), imp(premise.right, head)]
        elif premise.kind != FALSE and given not in waiting:
            waiting.append(given)

    def _choose(self, atoms: frozenset[Formula], waiting: list[Formula], goal: Formula) -> bool:
        if goal.kind == OR and any(self._right([], atoms, waiting, side) for side in (goal.left, goal.right)):
            return True
        for given in waiting:
            if given.left.kind == IMP:
                others = [other for other in waiting if other is not given]
                premise, head = given.left, given.right
                if self._right([premise.left, imp(premise.right, head)], atoms, others, premise.right):
                    return self._right([head], atoms, others, goal)
        return False


def main() -> None:
    """Decide the statements of the command line."""
    sys.setrecursionlimit(100_000)
    for text in sys.argv[1:]:
        prover = G4ip(60.0)
        try:
            answer = "theorem" if prover.prove(parse(text)) else "no theorem"
        except TimeIsUpError:
            answer = "not known after a minute"
        print(f"{answer}: {text} ({prover.sequents:,} sequents)")


if __name__ == "__main__":
    main()
