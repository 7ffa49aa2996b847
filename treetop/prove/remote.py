"""What a worker of a proof search is: a prover with the theorem open, which carries out one task after the other."""

from __future__ import annotations

from treetop.prove.prover import Attempt, Theorem
from treetop.prove.scheduling import Task, carry_out


class TheoremWorker:
    """A prover in a process of its own. It knows nothing of the search but its tasks."""

    def __init__(self, theorem: Theorem) -> None:
        self._prover = theorem.open()
        self._prover.root()

    def __call__(self, task: Task) -> list[Attempt]:
        """Carry out a task."""
        return carry_out(self._prover, task)

    def close(self) -> None:
        """End the prover."""
        self._prover.close()


def open_theorem(theorem: Theorem) -> TheoremWorker:
    """What each worker calls once."""
    return TheoremWorker(theorem)
