"""The provider of the embedded logic: all tactics that apply, with probabilities from the form of the goal alone."""

from __future__ import annotations

from treetop.prove.logic import rules
from treetop.prove.logic.choices import forced, obligations, usable
from treetop.prove.logic.formula import FALSE, IMP, OR, Formula, deep
from treetop.prove.logic.prover import Mode, check_mode
from treetop.prove.logic.sequents import Sequent
from treetop.prove.prover import Goal, Suggestion

_WEIGHTS = {
    "assumption": 1e4,
    "absurd": 1e4,
    "trivial": 1e4,
    "take": 60.0,
    "apply": 60.0,
    "curry": 40.0,
    "branch": 40.0,
    "intro": 50.0,
    "split": 12.0,
    "cases": 10.0,
    "left": 2.0,
    "right": 2.0,
    "use": 2.0,
}


class LogicProvider:
    """Suggests every tactic that applies. It is complete: a goal whose suggestions are all dead is not provable."""

    def __init__(self, mode: Mode = "invertible") -> None:
        check_mode(mode)
        self.name = f"logic-{mode}"
        self._raw = mode == "raw"

    def suggest(self, goal: Goal) -> list[Suggestion]:
        """Return what applies; if a tactic loses nothing (mode `invertible`), that one alone."""
        sequent = goal.data
        if not isinstance(sequent, Sequent):
            return []
        with deep():
            weighted = _raw(sequent) if self._raw else _invertible(sequent)
        total = sum(weight for _, weight in weighted)
        return [Suggestion(tactic, weight / total) for tactic, weight in weighted]


def _raw(sequent: Sequent) -> list[tuple[str, float]]:
    return [
        (rules.tactic(word, focus), _WEIGHTS[word] * _raw_factor(sequent, word, focus))
        for word, focus in rules.applicable(sequent)
    ]


def _raw_factor(sequent: Sequent, word: str, focus: Formula) -> float:
    if word == "use":
        return _use_factor(sequent, focus)
    if word in ("left", "right"):
        side = focus.left if word == "left" else focus.right
        return 1000.0 if side in sequent.hypotheses else 1.0 / (1.0 + side.size)
    return 1.0


def _invertible(sequent: Sequent) -> list[tuple[str, float]]:
    only = forced(sequent)
    if only is not None:
        return [(only, 1.0)]
    found = []
    if sequent.conclusion.kind == OR:
        found = [(f"show {part.text}", 1.0 / (1.0 + part.size)) for part in sequent.conclusion.parts]
    return found + [(f"use {given.text}", _use_factor(sequent, given)) for given in sequent.hypotheses if usable(given)]


def _use_factor(sequent: Sequent, given: Formula) -> float:
    """Return a higher weight for a hypothesis whose head proves the goal and whose premises are small."""
    head = given.head
    conclusion = sequent.conclusion
    ends = (
        head is conclusion
        or head.kind == FALSE
        or conclusion in head.parts
        or (conclusion.kind == OR and head in conclusion.parts)
    )
    gain = 1.0 if ends else 0.2
    owed = obligations(given)
    cost = 1.0
    for one in owed:
        cost += 1.0 + 0.1 * one.size + (0.5 if one.head.kind == IMP else 0.0)
    return gain / cost
