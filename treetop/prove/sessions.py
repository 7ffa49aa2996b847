"""Provers that stay open from one theorem to the next, in this process and in worker processes.

::

    with ProverSession(workers=2) as session:
        for name in ("app_nil", "rev_app"):
            with ProofSearch(CoqTheorem("Lists.v", name), session=session) as search:
                print(search.run(Limit(seconds=10)))
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

from treetop import checks
from treetop.prove.prover import Prover, Theorem
from treetop.prove.remote import open_theorem, reopened
from treetop.workers.places import in_this_process
from treetop.workers.pool import Pool

_AHEAD = 1  # tasks that wait at a worker, so that it is not idle while the next goal is selected


class ProverSession:
    """Keeps one prover in this process and, with several `workers`, one in each worker process.

    With `on="ray"` or `on="ray://host:port"` the workers are on a Ray cluster. Close it: provers are processes.

    The next theorem is opened in the same provers if it is `Reopenable`, for example another lemma of the same file;
    else the provers are replaced.

    >>> from treetop.prove import LogicTheorem, ProofSearch
    >>> from treetop.search.limits import Limit
    >>> with ProverSession() as session:
    ...     for text in ("p -> p", "p & q -> p"):
    ...         with ProofSearch(LogicTheorem.read(text), session=session) as search:
    ...             search.run(Limit(simulations=10)).proved
    True
    True
    """

    def __init__(self, workers: int = 1, *, on: str | None = None) -> None:
        self.workers = checks.whole("workers", workers, 1)
        self._on = on
        self._elsewhere = not in_this_process(on, workers)
        self.pool: Pool | None = None
        """The worker processes; None with one worker, which is this process."""
        self._prover: Prover | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self, theorem: Theorem, prover: Prover | None = None) -> Prover:
        """Open a theorem in all provers, and return the one of this process when all are ready.

        `prover`: one that has it open already.
        """
        try:
            if self._elsewhere:
                self.pool = self.pool or Pool(open_theorem, workers=self.workers, ahead=_AHEAD, on=self._on)
                self.pool.set_up(theorem)
            if prover is None:
                kept, self._prover = self._prover, None
                prover = self._prover = reopened(kept, theorem)
            if self.pool is not None:
                self.pool.wait_until_ready()
        except BaseException:
            self.close()
            raise
        return prover

    def close(self) -> None:
        """Close the provers. If another theorem is opened later, new ones are started."""
        prover, self._prover = self._prover, None
        pool, self.pool = self.pool, None
        if prover is not None:
            prover.close()
        if pool is not None:
            pool.close()
