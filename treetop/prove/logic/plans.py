"""What a tactic comes to once it is understood. The prover makes subgoals of it, the translation makes a term of it."""

from __future__ import annotations

from typing import NamedTuple

from treetop.prove.logic.formula import Formula
from treetop.prove.logic.sequents import Sequent


class TacticFailsError(Exception):
    """A tactic that does not apply, with the reason. It never leaves the prover."""


class Branch(NamedTuple):
    """What is to be proved: a subgoal, before it is brought into any form."""

    hypotheses: list[Formula]
    conclusion: Formula


class Plan(NamedTuple):
    """A tactic's word, the formula that it works on, and what is to be proved then."""

    word: str
    focus: Formula
    branches: list[Branch]


def hypothesis(sequent: Sequent, text: str) -> Formula:
    """The hypothesis that a tactic names."""
    found = sequent.find(text)
    if found is None:
        raise TacticFailsError(f"there is no hypothesis {text!r}")
    return found


def without(sequent: Sequent, given: Formula) -> list[Formula]:
    """All hypotheses but one."""
    return [other for other in sequent.hypotheses if other is not given]


def no_argument(word: str, argument: str) -> None:
    """For tactics that take none."""
    if argument:
        raise TacticFailsError(f"{word} takes no formula")
