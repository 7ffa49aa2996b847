"""Translate a proof, a tree of tactics, into lambda terms for the statement.

Only the statement and the tactics are used: the goals of the proof are recomputed. A goal that is needed several times
becomes a lemma, so that a proof with shared goals stays small.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from treetop.prove.logic import choice_terms, choices, rule_terms, rules
from treetop.prove.logic.conversions import Available, Names, functions
from treetop.prove.logic.formula import Formula, deep
from treetop.prove.logic.plans import Branch, Plan, TacticFailsError
from treetop.prove.logic.recording import TermRecord
from treetop.prove.logic.saturation import saturate
from treetop.prove.logic.sequents import Sequent
from treetop.prove.logic.terms import Lemma, Term, Var, apply
from treetop.prove.prover import Proof


class TranslationError(Exception):
    """A tree of tactics that does not prove the statement: a tactic does not apply, or parts are missing.

    The message says where.
    """


class OutOfTimeError(Exception):
    """The translation did not finish in time."""


class _Step(NamedTuple):
    """A tactic at a sequent, and the resulting sequents."""

    plan: Plan
    subgoals: list[Sequent]


def translate(statement: Formula, proof: Proof, raw: bool = False, end: float | None = None) -> Iterator[Lemma]:
    """Yield the lemmas of the proof in order; the last one is the statement.

    Raise TranslationError if it is not a proof.

    `end` is a time of `time.monotonic`; after it, OutOfTimeError is raised.
    """
    root = Sequent((), statement)
    try:
        with deep():
            translation = Translation(_steps(root, proof, raw, end), raw, end)
        for sequent in translation.order(root):
            with deep():
                lemma = translation.lemma(sequent)
            yield lemma
    except RecursionError as error:
        raise TranslationError("the proof is nested too deep") from error


def _check_time(end: float | None) -> None:
    if end is not None and time.monotonic() > end:
        raise OutOfTimeError


def _steps(root: Sequent, proof: Proof, raw: bool, end: float | None) -> dict[Sequent, _Step]:
    """Return the step at each sequent, after those of its subgoals.

    If a subgoal has several proofs, the first complete one is used.
    """
    done: dict[Sequent, _Step] = {}
    pending: list[tuple[Sequent, Proof, _Step | None]] = [(root, proof, None)]
    while pending:
        sequent, part, step = pending.pop()
        if sequent in done:
            continue
        if step is not None:
            done[sequent] = step
            continue
        _check_time(end)
        step = _step(sequent, part.tactic, raw)
        if len(step.subgoals) != len(part.parts):
            raise TranslationError(
                f"`{part.tactic}` leaves {len(step.subgoals)} goals, but {len(part.parts)} are proved: {sequent.key}"
            )
        pending.append((sequent, part, step))
        pending += [(subgoal, inner, None) for subgoal, inner in zip(step.subgoals, part.parts, strict=True)]
    return done


def _step(sequent: Sequent, tactic: str, raw: bool) -> _Step:
    try:
        plan = (rules if raw else choices).plan(sequent, tactic)
    except TacticFailsError as failure:
        raise TranslationError(f"`{tactic}` does not apply: {failure}") from failure
    found = [Sequent(*branch) if raw else saturate(*branch) for branch in plan.branches]
    return _Step(plan, [subgoal for subgoal in found if subgoal is not None])


class Translation:
    """Writes the terms, given the step at each sequent."""

    def __init__(self, steps: dict[Sequent, _Step], raw: bool, end: float | None = None) -> None:
        self._end = end
        self.names = Names()
        """Generates the names of all variables."""
        self._steps = steps
        self._raw = raw
        self._found: dict[Sequent, str] = {}
        self._uses: dict[Sequent, int] = {}
        for step in steps.values():
            for subgoal in step.subgoals:
                self._uses[subgoal] = self._uses.get(subgoal, 0) + 1

    def order(self, root: Sequent) -> list[Sequent]:
        """Return the sequents that become lemmas: those that are used several times, and the statement at the end."""
        return [*(sequent for sequent in self._steps if self._uses.get(sequent, 0) > 1 and sequent != root), root]

    def lemma(self, sequent: Sequent) -> Lemma:
        """Return the lemma of a sequent. The lemmas before it exist already."""
        given = sequent.hypotheses
        term = functions(given, self.names, lambda terms: self._term(sequent, dict(zip(given, terms, strict=True))))
        name = f"lemma{len(self._found) + 1}"
        self._found[sequent] = name
        return Lemma(name, sequent.formula, term)

    def branch(self, branch: Branch, available: Available) -> Term:
        """Return a term for what a branch of a plan proves."""
        _check_time(self._end)
        if self._raw:
            return self._term(Sequent(*branch), available)
        record = TermRecord(available, branch.conclusion, self.names)
        left = saturate(branch.hypotheses, branch.conclusion, record)
        return record.finished(record.final if left is None else self._term(left, record.available))

    def _term(self, sequent: Sequent, available: Available) -> Term:
        """Return a term for the conclusion from terms for the hypotheses."""
        name = self._found.get(sequent)
        if name is not None:
            return apply(Var(name), *(available[given] for given in sequent.hypotheses))
        plan = self._steps[sequent].plan
        terms = rule_terms.TERMS if self._raw else choice_terms.TERMS
        return terms[plan.word](self, sequent, plan, available)
