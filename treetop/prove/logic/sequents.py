"""Sequents: hypotheses and a conclusion that is to follow from them. They are the goals of this logic."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from treetop.errors import FormulaError
from treetop.prove.logic.formula import Formula, implies
from treetop.prove.logic.syntax import parse
from treetop.prove.prover import Goal

by_text = attrgetter("text")
"""Return the sort key of hypotheses and of the parts of a formula in normal form: the same in every process."""


class Sequent:
    """The `Goal.data` of this logic: a set of hypotheses, sorted by their texts, and a conclusion."""

    __slots__ = ("conclusion", "hypotheses", "saturated")

    def __init__(self, hypotheses: Iterable[Formula], conclusion: Formula, saturated: bool = False) -> None:
        self.hypotheses = tuple(sorted(set(hypotheses), key=by_text))
        self.conclusion = conclusion
        self.saturated = saturated
        """Whether it is a result of `saturate`, which would not change it."""

    @property
    def key(self) -> str:
        """The sequent as text: `p, p -> q |- q`."""
        return f"{', '.join(given.text for given in self.hypotheses)} |- {self.conclusion.text}".lstrip()

    @property
    def formula(self) -> Formula:
        """Return the equivalent implication."""
        return implies(self.hypotheses, self.conclusion)

    def goal(self) -> Goal:
        """Return the goal for the search."""
        return Goal(self.key, data=self)

    def find(self, text: str) -> Formula | None:
        """Return the hypothesis with this text, or None."""
        for given in self.hypotheses:
            if given.text == text:
                return given
        return None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequent) and self.conclusion is other.conclusion and self.hypotheses == other.hypotheses
        )

    def __hash__(self) -> int:
        return hash((self.hypotheses, self.conclusion))

    def __repr__(self) -> str:
        return f"read_sequent({self.key!r})"

    def __reduce__(self) -> tuple[object, tuple[tuple[str, ...], str, bool]]:
        return _rebuild, (tuple(given.text for given in self.hypotheses), self.conclusion.text, self.saturated)


def read_sequent(text: str) -> Sequent:
    """Return the sequent of a text such as `p, p -> q |- q`."""
    before, turnstile, after = text.partition("|-")
    if not turnstile:
        raise FormulaError(
            f"a sequent consists of hypotheses, |- and a conclusion, as in `p, p -> q |- q`; there is no |- in {text!r}"
        )
    return Sequent([parse(given) for given in before.split(",")] if before.strip() else [], parse(after))


def _rebuild(hypotheses: tuple[str, ...], conclusion: str, saturated: bool) -> Sequent:
    return Sequent([parse(text) for text in hypotheses], parse(conclusion), saturated)
