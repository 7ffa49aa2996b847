"""The prover of the embedded logic: the subgoals of a sequent under a tactic. It uses nothing but the goal."""

from __future__ import annotations

from typing import Literal

from treetop.errors import ConfigError
from treetop.prove.logic import choices, rules
from treetop.prove.logic.classical import counterexample
from treetop.prove.logic.formula import Formula, deep
from treetop.prove.logic.plans import TacticFailsError
from treetop.prove.logic.saturation import saturate
from treetop.prove.logic.sequents import Sequent
from treetop.prove.prover import Attempt, Goal, Place

Mode = Literal["raw", "invertible"]


def check_mode(mode: str) -> None:
    """Raise ConfigError for an unknown mode."""
    if mode not in ("raw", "invertible"):
        raise ConfigError(f"mode must be raw or invertible, not {mode!r}")


class LogicProver:
    """A prover with one statement open.

    `raw`: the rules of the sequent calculus one by one; `invertible`: `treetop.prove.logic.choices`.

    `classical`: refuse goals at once that do not hold in classical logic (in the mode `invertible` only).
    """

    def __init__(self, statement: Formula, mode: Mode = "invertible", classical: bool = True) -> None:
        check_mode(mode)
        self._root = _root(statement, mode).goal()
        self._raw = mode == "raw"
        self._classical = classical

    def root(self) -> Goal:
        """Return the statement, without hypotheses."""
        return self._root

    def attempt(self, place: Place, tactic: str, seconds: float | None = None) -> Attempt:  # noqa: ARG002 - fast
        """Apply a tactic. It fails if it does not apply, or if one of its subgoals is found not to be provable."""
        sequent = place.goal.data
        if not isinstance(sequent, Sequent):
            return Attempt(None, f"this is not a goal of the logic: {place.goal}")
        try:
            with deep():
                subgoals = self._plain(sequent, tactic) if self._raw else self._saturated(sequent, tactic)
                return Attempt(tuple(subgoal.goal() for subgoal in subgoals))
        except TacticFailsError as failure:
            return Attempt(None, str(failure))
        except RecursionError:
            return Attempt(None, "the formulas are nested too deep")

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _plain(self, sequent: Sequent, tactic: str) -> list[Sequent]:
        return [Sequent(branch.hypotheses, branch.conclusion) for branch in rules.plan(sequent, tactic).branches]

    def _saturated(self, sequent: Sequent, tactic: str) -> list[Sequent]:
        found = []
        for branch in choices.plan(sequent, tactic).branches:
            left = saturate(branch.hypotheses, branch.conclusion)
            if left is None:
                continue
            if left == sequent:
                raise TacticFailsError("it does not change the goal")
            if choices.hopeless(left):
                raise TacticFailsError(f"it leaves a goal to which no tactic applies: {left.key}")
            if self._classical and counterexample(left.hypotheses, left.conclusion) is not None:
                raise TacticFailsError(f"it leaves a goal that is false in classical logic: {left.key}")
            found.append(left)
        return found


def _root(statement: Formula, mode: Mode) -> Sequent:
    """Return the sequent of the statement, marked as saturated if saturation does not change it."""
    root = Sequent((), statement)
    if mode == "invertible":
        with deep():
            left = saturate((), statement)
        if left == root:
            return left
    return root
