"""The prover of the embedded logic: what becomes of a sequent under a tactic. It knows nothing but the goal that it is given."""

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
    """ConfigError for a mode that does not exist."""
    if mode not in ("raw", "invertible"):
        raise ConfigError(f"the logic has the modes raw and invertible, not {mode!r}")


class LogicProver:
    """Stands before one statement. `raw`: the rules of the sequent calculus one by one; `invertible`: `treetop.prove.logic.choices`.

    `classical`: goals that do not even hold in classical logic are refused at once (only in the mode `invertible`).
    """

    def __init__(self, statement: Formula, mode: Mode = "invertible", classical: bool = True) -> None:
        check_mode(mode)
        self._root = _root(statement, mode).goal()
        self._raw = mode == "raw"
        self._classical = classical

    def root(self) -> Goal:
        """The statement, without hypotheses."""
        return self._root

    def attempt(self, place: Place, tactic: str, seconds: float | None = None) -> Attempt:  # noqa: ARG002 - it takes a moment
        """Apply a tactic. It fails where it does not apply, and where one of its subgoals is seen not to be provable."""
        sequent = place.goal.data
        if not isinstance(sequent, Sequent):
            return Attempt(None, f"this is no goal of the logic: {place.goal}")
        try:
            with deep():
                subgoals = self._plain(sequent, tactic) if self._raw else self._saturated(sequent, tactic)
                return Attempt(tuple(subgoal.goal() for subgoal in subgoals))
        except TacticFailsError as failure:
            return Attempt(None, str(failure))
        except RecursionError:
            return Attempt(None, "the formulas are nested too deep")

    def close(self) -> None:
        """Nothing was started."""

    def _plain(self, sequent: Sequent, tactic: str) -> list[Sequent]:
        return [Sequent(branch.hypotheses, branch.conclusion) for branch in rules.plan(sequent, tactic).branches]

    def _saturated(self, sequent: Sequent, tactic: str) -> list[Sequent]:
        found = []
        for branch in choices.plan(sequent, tactic).branches:
            left = saturate(branch.hypotheses, branch.conclusion)
            if left is None:
                continue
            if left == sequent:
                raise TacticFailsError("it leaves the goal as it is")
            if choices.hopeless(left):
                raise TacticFailsError(f"it leaves a goal to which nothing applies: {left.key}")
            if self._classical and counterexample(left.hypotheses, left.conclusion) is not None:
                raise TacticFailsError(f"it leaves a goal that is false in classical logic: {left.key}")
            found.append(left)
        return found


def _root(statement: Formula, mode: Mode) -> Sequent:
    """Where saturation would leave the statement as it is, that is already done."""
    root = Sequent((), statement)
    if mode == "invertible":
        with deep():
            left = saturate((), statement)
        if left == root:
            return left
    return root
