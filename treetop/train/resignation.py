"""Resignation: end games of self-play that are lost, and check how often they were not."""

from __future__ import annotations

from collections import deque

import numpy as np

_THRESHOLDS = np.linspace(-0.99, -0.70, 30)
_CHECKED = 0.1  # the share of the games that are played on
_LEAST, _MOST = 40, 2000  # checked players that a threshold is chosen from


class Resignation:
    """Chooses the value below which a player resigns, so that few of those who would resign save the game.

    A tenth of the games are played on to the end. The threshold is the highest one at which at most `rate` of the
    players of these games who fell below it did not lose; without enough such players nobody resigns.

    >>> rule = Resignation(0.05)
    >>> for _ in range(100):
    ...     rule.add([-0.95, 0.3], [-1.0, 1.0])
    >>> round(rule.threshold, 2), rule.false_rate
    (-0.7, 0.0)
    """

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.threshold = -np.inf
        """The value, from -1 to 1, below which a player resigns."""
        self.false_rate: float | None = None
        """The share of checked players below the threshold who did not lose; None without enough of them."""
        self._seen: deque[tuple[float, bool]] = deque(maxlen=_MOST)

    def is_checked(self, rng: np.random.Generator) -> bool:
        """Return whether a new game is played on to its end, whatever its values."""
        return bool(rng.random() < _CHECKED)

    def add(self, lowest: list[float], returns: list[float]) -> None:
        """Take the lowest value that each player of a checked game saw, and the returns of the game."""
        for value, result in zip(lowest, returns, strict=True):
            self._seen.append((value, result >= max(returns)))
        self.threshold, self.false_rate = -np.inf, None
        values, saved = np.array([value for value, _ in self._seen]), np.array([one for _, one in self._seen])
        for threshold in _THRESHOLDS:
            below = values < threshold
            if below.sum() < _LEAST:
                continue
            share = float(saved[below].mean())
            if share > self.rate:
                break
            self.threshold, self.false_rate = float(threshold), share
