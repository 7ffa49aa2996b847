"""The learner in a thread of its own, beside self-play and ratings."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from treetop.train.learner import Learner, Losses
from treetop.train.replay import Replay

_STEPS_AT_ONCE = 4  # between two looks at whether to stop


class Learning:
    """Steps of a learner in a thread, as long as positions were not used `reuse` times on average.

    `progress` returns the share of the run that is over.
    """

    def __init__(self, learner: Learner, replay: Replay, reuse: float, progress: Callable[[], float]) -> None:
        self._learner, self._replay, self._reuse, self._progress = learner, replay, reuse, progress
        self._stop, self._losses = threading.Event(), list[Losses]()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._learn, name="treetop-learner", daemon=True)
        self._thread.start()

    def _learn(self) -> None:
        most = self._reuse * self._replay.total / self._learner.batch
        try:
            while not self._stop.is_set() and self._learner.steps < most:
                self._losses.append(self._learner.train(self._replay, _STEPS_AT_ONCE, self._progress()))
        except BaseException as error:  # noqa: BLE001 - it is raised by the thread that waits
            self._error = error

    def end(self) -> Losses | None:
        """Wait for the current steps; return the mean losses, or None if there was no step."""
        self._stop.set()
        self._thread.join()
        if self._error is not None:
            raise self._error
        if not self._losses:
            return None
        return Losses(*(float(np.mean([getattr(one, name) for one in self._losses])) for name in ("policy", "value")))
