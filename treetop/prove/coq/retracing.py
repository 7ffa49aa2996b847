"""Retrace a proof in Coq.

Goals that print alike may differ in what is not printed: the names that `intros` will choose for `forall _ : A, B`. So
a proof made of parts that were found in different places may use a hypothesis `H0` that is named `H` here. Retracing
finds and corrects such names.
"""

from __future__ import annotations

import re

from treetop.errors import ProverError
from treetop.prove.coq.goals import CoqGoal
from treetop.prove.prover import Goal, Place, Proof, Prover, Step

_NAME = re.compile(r"(?<![\w'.?])[^\W\d][\w']*")
_STRING = re.compile(r'("[^"]*")')


def retrace(prover: Prover, proof: Proof, seconds: float | None = None) -> Proof:
    """Run a proof from the lemma on, renaming hypotheses where needed; raise ProverError if it fails."""
    return _retrace(prover, Place(prover.root()), proof, {}, seconds)


def _retrace(prover: Prover, place: Place, proof: Proof, names: dict[str, str], seconds: float | None) -> Proof:
    tactic = renamed_tactic(proof.tactic, names)
    attempt = prover.attempt(place, tactic, seconds)
    if attempt.subgoals is None:
        raise ProverError(f"the proof does not run as it was found: {tactic}: {attempt.reason}")
    if len(attempt.subgoals) != len(proof.parts):
        raise ProverError(
            f"the proof does not run as it was found: {tactic} leaves {len(attempt.subgoals)} goals, "
            f"not {len(proof.parts)}"
        )
    parts = []
    for number, (goal, part) in enumerate(zip(attempt.subgoals, proof.parts, strict=True)):
        new_names = {} if goal == part.goal else _renaming(part.goal, goal)
        if new_names is None:
            raise ProverError(
                f"the proof does not run as it was found: {tactic} leaves another goal: {' '.join(goal.key.split())}"
            )
        parts.append(_retrace(prover, Place(goal, (*place.path, Step(tactic, number))), part, new_names, seconds))
    return Proof(place.goal, tactic, tuple(parts))


def renamed_tactic(tactic: str, names: dict[str, str]) -> str:
    """Return a tactic with hypotheses renamed, except in its strings."""
    if not names:
        return tactic
    return "".join(part if part.startswith('"') else _renamed(part, names) for part in _STRING.split(tactic))


def _renaming(found: Goal, reached: Goal) -> dict[str, str] | None:
    """Return the names by which two goals differ; None if they differ in more than names."""
    here, there = found.data, reached.data
    if not isinstance(here, CoqGoal) or not isinstance(there, CoqGoal) or len(here.hypotheses) != len(there.hypotheses):
        return None
    names = {
        one.name: other.name
        for one, other in zip(here.hypotheses, there.hypotheses, strict=True)
        if one.name != other.name
    }
    return names if _renamed(found.key, names) == reached.key else None


def _renamed(text: str, names: dict[str, str]) -> str:
    return _NAME.sub(lambda match: names.get(match.group(), match.group()), text)
