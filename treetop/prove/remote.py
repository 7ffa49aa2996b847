"""What a worker of a proof search is: a prover with the theorem open, which carries out one task after the other."""

from __future__ import annotations

from collections.abc import Callable

from treetop.prove.abilities import Reopenable
from treetop.prove.prover import Attempt, Prover, Theorem
from treetop.prove.scheduling import Task, carry_out


def reopened(prover: Prover | None, theorem: Theorem) -> Prover:
    """Return a prover with the theorem open: the one given where the theorem's `reopen` can use it, else a new one; the old one is closed then."""
    if prover is None:
        return theorem.open()
    try:
        if isinstance(theorem, Reopenable) and theorem.reopen(prover):
            return prover
    except BaseException:
        prover.close()
        raise
    prover.close()
    return theorem.open()


class TheoremWorker:
    """A prover in a process of its own. It knows nothing of the search but its tasks."""

    def __init__(self, theorem: Theorem) -> None:
        self._prover = theorem.open()
        self._stop: Callable[[], bool] | None = None

    def renew(self, theorem: Theorem) -> None:
        """Open another theorem."""
        self._prover = reopened(self._prover, theorem)

    def heed(self, stop: Callable[[], bool]) -> None:
        """Begin no tactic of a task once `stop` says that it is not wanted any more."""
        self._stop = stop

    def __call__(self, task: Task) -> list[Attempt]:
        """Carry out a task."""
        return carry_out(self._prover, task, self._stop)

    def close(self) -> None:
        """End the prover."""
        self._prover.close()


def open_theorem(theorem: Theorem) -> TheoremWorker:
    """What each worker calls once."""
    return TheoremWorker(theorem)
