"""Workers of a proof search: a prover with the theorem open that runs one task after the other."""

from __future__ import annotations

from collections.abc import Callable

from treetop.prove.abilities import Reopenable
from treetop.prove.prover import Attempt, Prover, Theorem
from treetop.prove.scheduling import Task, carry_out


def reopened(prover: Prover | None, theorem: Theorem) -> Prover:
    """Return a prover with the theorem open: this one if the theorem can be reopened in it, else a new one after
    closing it.
    """
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
    """A prover in its own process. All it receives from the search are tasks."""

    def __init__(self, theorem: Theorem) -> None:
        self._prover = theorem.open()
        self._stop: Callable[[], bool] | None = None

    def renew(self, theorem: Theorem) -> None:
        """Open another theorem."""
        self._prover = reopened(self._prover, theorem)

    def heed(self, stop: Callable[[], bool]) -> None:
        """Start no further tactic of a task once `stop()` is true."""
        self._stop = stop

    def __call__(self, task: Task) -> list[Attempt]:
        """Run a task."""
        return carry_out(self._prover, task, self._stop)

    def close(self) -> None:
        """Close the prover."""
        self._prover.close()


def open_theorem(theorem: Theorem) -> TheoremWorker:
    """Return the worker. Each worker process calls this once."""
    return TheoremWorker(theorem)
