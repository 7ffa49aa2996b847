"""Kripke models: worlds in which more and more atoms hold. A formula that fails in one of them is not provable.

This file is independent of how a model was found: it evaluates formulas in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from treetop.prove.logic.formula import AND, ATOM, FALSE, IMP, OR, TRUE, Formula, deep


@dataclass(frozen=True)
class World:
    """The atoms that hold in a world, and the numbers of the worlds directly above it."""

    atoms: frozenset[str]
    above: tuple[int, ...] = ()


@dataclass(frozen=True)
class KripkeModel:
    """A list of worlds. The first one is the root; a world comes before those above it."""

    worlds: tuple[World, ...]

    def flaw(self) -> str:
        """Return why this is not a model; empty if it is one."""
        if not self.worlds:
            return "a model needs a world"
        for number, world in enumerate(self.worlds):
            for other in world.above:
                if not number < other < len(self.worlds):
                    return f"world {number} lies below world {other}, which must come later in the list"
                lost = sorted(world.atoms - self.worlds[other].atoms)
                if lost:
                    return f"{lost[0]} holds in world {number} but not in world {other} above it"
        return ""

    def forces(self, formula: Formula, world: int = 0) -> bool:
        """Return whether a formula holds in a world."""
        with deep():
            return bool(_Forcing(self).holding(formula) >> world & 1)

    def refutes(self, formula: Formula) -> bool:
        """Return whether this is a model and the formula does not hold in its root."""
        return not self.flaw() and not self.forces(formula)

    def without(self, number: int) -> KripkeModel:
        """Return the model without one of its worlds, which is not the root.

        The worlds above it are linked to those below it.
        """
        left_out = self.worlds[number]

        def numbered(above: tuple[int, ...]) -> tuple[int, ...]:
            reached = {*above, *left_out.above} - {number} if number in above else set(above)
            return tuple(sorted(other - (other > number) for other in reached))

        return KripkeModel(
            tuple(
                World(world.atoms, numbered(world.above)) for place, world in enumerate(self.worlds) if place != number
            )
        )

    def to_dict(self) -> dict[str, list[dict[str, list[str] | list[int]]]]:
        """Return plain values: for each world its atoms, and the numbers of the worlds directly above it."""
        return {"worlds": [{"atoms": sorted(world.atoms), "above": list(world.above)} for world in self.worlds]}

    def __str__(self) -> str:
        lines: list[str] = []
        shown: set[int] = set()
        pending = [(0, 0)]
        while pending:
            number, depth = pending.pop()
            world = self.worlds[number]
            atoms = ", ".join(sorted(world.atoms)) or "no atom"
            again = number in shown and world.above
            lines.append(f"{'  ' * depth}world {number}: {atoms}{' (as above)' if again else ''}")
            if number not in shown:
                shown.add(number)
                pending += [(other, depth + 1) for other in reversed(world.above)]
        return "\n".join(lines)


class _Forcing:
    """Computes where each formula holds, as a number with one bit for each world."""

    def __init__(self, model: KripkeModel) -> None:
        count = len(model.worlds)
        self._reached = [0] * count
        for number in reversed(range(count)):
            self._reached[number] = 1 << number
            for other in model.worlds[number].above:
                self._reached[number] |= self._reached[other]
        self._model = model
        self._all = (1 << count) - 1
        self._found: dict[Formula, int] = {}

    def holding(self, formula: Formula) -> int:
        found = self._found.get(formula)
        if found is None:
            found = self._found[formula] = self._evaluate(formula)
        return found

    def _evaluate(self, formula: Formula) -> int:
        kind = formula.kind
        if kind == ATOM:
            return sum(1 << number for number, world in enumerate(self._model.worlds) if formula.name in world.atoms)
        if kind in (TRUE, FALSE):
            return self._all if kind == TRUE else 0
        left, right = self.holding(formula.left), self.holding(formula.right)
        if kind == AND:
            return left & right
        if kind == OR:
            return left | right
        if kind == IMP:
            return self._nowhere_above(left & ~right)
        return self._nowhere_above(left ^ right)

    def _nowhere_above(self, bad: int) -> int:
        """Return the worlds from which none of the bad ones is reachable."""
        return sum(1 << number for number, reached in enumerate(self._reached) if not reached & bad)
