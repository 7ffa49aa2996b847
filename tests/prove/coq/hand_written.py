"""Goals written by hand, in the words of `Set Printing All`."""

from __future__ import annotations

from treetop.prove.coq.goals import CoqGoal, Hypothesis
from treetop.prove.prover import Goal


def coq_goal(*lines: str) -> Goal:
    """A goal from its hypotheses (`n : nat`) and, last, its conclusion."""
    hypotheses = []
    for line in lines[:-1]:
        label, _, kind = line.partition(" : ")
        hypotheses.append(Hypothesis(label, kind))
    data = CoqGoal(tuple(hypotheses), lines[-1])
    return Goal(data.key, data=data)
