"""A plain depth-first search for proofs on the interface of `treetop.prove.prover`: what a cleverer search is compared with."""

from __future__ import annotations

import time

from treetop.prove.prover import Attempt, Goal, Place, Proof, Theorem


class TimeIsUpError(Exception):
    """The deadline has passed."""


def depth_first(theorem: Theorem, seconds: float) -> Proof | None:
    """A proof, or None: there is none with the tactics that the theorem's provider suggests. TimeIsUpError: not known."""
    return _DepthFirst(theorem, time.monotonic() + seconds).run()


class _DepthFirst:
    """Tries the likeliest tactic first. Goals whose fate is known are looked up; one that is its own subgoal fails there, and there only."""

    def __init__(self, theorem: Theorem, deadline: float) -> None:
        self._prover = theorem.open()
        self._provider = theorem.provider(self._prover)
        self._deadline = deadline
        self._known: dict[str, Proof | None] = {}
        self._above: set[str] = set()
        self._cut = 0

    def run(self) -> Proof | None:
        return self._prove(self._prover.root())

    def _prove(self, goal: Goal) -> Proof | None:
        if goal.key in self._known:
            return self._known[goal.key]
        if goal.key in self._above:
            self._cut += 1
            return None
        cut = self._cut
        self._above.add(goal.key)
        proof = self._try_all(goal)
        self._above.discard(goal.key)
        if proof is not None or cut == self._cut:
            self._known[goal.key] = proof
        return proof

    def _try_all(self, goal: Goal) -> Proof | None:
        for tactic, _ in sorted(self._provider.suggest(goal), key=lambda suggestion: -suggestion.probability):
            if time.monotonic() > self._deadline:
                raise TimeIsUpError
            parts = self._parts(self._prover.attempt(Place(goal), tactic))
            if parts is not None:
                return Proof(goal, tactic, parts)
        return None

    def _parts(self, attempt: Attempt) -> tuple[Proof, ...] | None:
        parts = []
        for subgoal in attempt.subgoals or ():
            proof = self._prove(subgoal)
            if proof is None:
                return None
            parts.append(proof)
        return tuple(parts) if attempt.applied else None
