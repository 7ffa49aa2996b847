"""Plans: the effect of a tactic on a sequent.

The prover turns a plan into subgoals, the translation turns it into a term.
"""

from __future__ import annotations

from typing import NamedTuple

from treetop.prove.logic.formula import Formula
from treetop.prove.logic.sequents import Sequent


class TacticFailsError(Exception):
    """A tactic that does not apply, with the reason. It is raised within the prover only."""


class Branch(NamedTuple):
    """A subgoal before it is saturated."""

    hypotheses: list[Formula]
    conclusion: Formula


class Plan(NamedTuple):
    """A tactic's word, the formula that it works on, and the subgoals."""

    word: str
    focus: Formula
    branches: list[Branch]


def hypothesis(sequent: Sequent, text: str) -> Formula:
    """Return the hypothesis that a tactic names."""
    found = sequent.find(text)
    if found is None:
        raise TacticFailsError(f"there is no hypothesis {text!r}")
    return found


def without(sequent: Sequent, given: Formula) -> list[Formula]:
    """Return all hypotheses but one."""
    return [other for other in sequent.hypotheses if other is not given]


def no_argument(word: str, argument: str) -> None:
    """Raise TacticFailsError if an argument is given to a tactic that takes none."""
    if argument:
        raise TacticFailsError(f"{word} takes no formula")
