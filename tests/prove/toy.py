"""Theorems whose goals and tactics stand in a table: what becomes of a goal under a tactic is looked up. For tests of the search itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treetop.prove.prover import Attempt, Goal, Place, Proof, Prover, Suggestion, Verdict

Table = dict[str, dict[str, tuple[str, ...] | None]]
"""goal -> tactic -> its subgoals; None where it fails."""


class TableProver:
    """Looks answers up."""

    def __init__(self, table: Table, root: str) -> None:
        self._table, self._root = table, root
        self.asked: list[tuple[str, str]] = []

    def root(self) -> Goal:
        return Goal(self._root)

    def attempt(self, place: Place, tactic: str, seconds: float | None = None) -> Attempt:
        self.asked.append((place.goal.key, tactic))
        subgoals = self._table[place.goal.key].get(tactic)
        return Attempt(None, "it fails") if subgoals is None else Attempt(tuple(Goal(name) for name in subgoals))

    def close(self) -> None:
        pass


class TableProvider:
    """Suggests all that the table knows, each half as likely as the one before."""

    name = "table"

    def __init__(self, table: Table) -> None:
        self._table = table

    def suggest(self, goal: Goal) -> list[Suggestion]:
        return [Suggestion(tactic, 2.0**-index) for index, tactic in enumerate(self._table[goal.key])]


@dataclass(frozen=True)
class TableTheorem:
    """A theorem of the table's logic. Its checker walks through the proof with the table in hand."""

    table: Table
    root: str = "A"
    name: str = "toy"

    def open(self) -> TableProver:
        return TableProver(self.table, self.root)

    def provider(self, prover: Prover) -> TableProvider:
        return TableProvider(self.table)

    def script(self, proof: Proof) -> str:
        return " ".join(step.tactic for step in proof.walk())

    def verify(self, proof: Proof) -> Verdict:
        if proof.goal.key != self.root:
            return Verdict(False, "another theorem", checker="table")
        pending = [(proof, frozenset[str]())]
        while pending:
            part, above = pending.pop()
            subgoals = self.table[part.goal.key].get(part.tactic)
            if subgoals is None or tuple(below.goal.key for below in part.parts) != subgoals or part.goal.key in above:
                return Verdict(False, f"{part.tactic} does not prove {part.goal.key}", checker="table")
            pending.extend((below, above | {part.goal.key}) for below in part.parts)
        return Verdict(True, checker="table")

    def facts(self) -> dict[str, Any]:
        return {"prover": "table", "goals": len(self.table)}
