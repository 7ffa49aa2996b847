"""Scores as Elo, with intervals that stay honest when there are few games.

Games come in pairs: one opening, both colours. The two games of a pair depend on each other (the opening may favour a colour), the pairs do
not. So the pair is what is counted, by its points for player A: a *pentanomial*, the number of pairs with 0, 1/2, 1, 3/2 and 2 points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treetop import checks
from treetop.errors import ConfigError
from treetop.stats import Interval, normal_cdf, wilson_interval

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The mean score a game of a pair, for each cell of the pentanomial."""

NORMALIZED = 800 / math.log(10)
"""Normalized Elo for a mean that lies one standard deviation of a game above one half."""

Pentanomial = tuple[int, int, int, int, int]


def elo_of(score: float) -> float:
    """The Elo difference that expects a score between 0 and 1; infinite at the ends.

    >>> round(elo_of(0.75))
    191
    """
    checks.share("score", score)
    if score in (0, 1):
        return math.inf if score else -math.inf
    return 400 * math.log10(score / (1 - score))


def score_of(elo: float) -> float:
    """The score that an Elo difference expects: the inverse of `elo_of`.

    >>> score_of(0)
    0.5
    """
    if elo == -math.inf:
        return 0.0
    return 1 / (1 + 10 ** (-elo / 400))


@dataclass(frozen=True)
class Rating:
    """What a pentanomial says of the difference between two players."""

    pairs: int
    score: Interval
    """Player A's mean score a game."""
    elo: Interval
    normalized_elo: Interval
    """How many standard deviations of a game the mean score lies above one half, on an Elo-like scale."""
    superiority: float
    """How likely it is that A is the stronger player, if nothing was known before."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "score": self.score.to_dict(),
            "elo": self.elo.to_dict(),
            "normalized_elo": self.normalized_elo.to_dict(),
            "superiority": self.superiority,
        }


def rate(pentanomial: Sequence[int]) -> Rating:
    """Score, Elo, normalized Elo and likelihood of superiority, from the pairs.

    The interval is Wilson's, with the variance that the pairs show instead of a coin's: it never leaves the possible scores, and a
    score of 100% has a finite lower end.

    >>> rate((2, 10, 40, 20, 8)).elo.signed()
    '+48.1 (+12.6 to +83.5)'
    """
    pairs, mean, spread = _summary(pentanomial)
    if not pairs:
        nothing = Interval(0.0, -math.inf, math.inf)
        return Rating(0, Interval(0.5, 0.0, 1.0), nothing, nothing, 0.5)
    score = wilson_interval(mean, pairs / spread)
    bounds = score.value, score.low, score.high
    elo = Interval(*map(elo_of, bounds))
    normalized = Interval(*(_normalized(bound, spread) for bound in bounds))
    return Rating(pairs, score, elo, normalized, normal_cdf((mean - 0.5) / math.sqrt(spread / (4 * pairs))))


def check_pentanomial(counts: Sequence[int]) -> Pentanomial:
    """Five counts that are not negative, or an error."""
    if len(counts) != 5 or any(isinstance(count, bool) or count < 0 or count != int(count) for count in counts):
        raise ConfigError(
            f"a pentanomial is five counts of pairs, with 0, 1/2, 1, 3/2 and 2 points; not {list(counts)!r}"
        )
    return tuple(int(count) for count in counts)  # type: ignore[return-value]


def _summary(pentanomial: Sequence[int]) -> tuple[int, float, float]:
    """How many pairs, their mean, and how wide they spread: 1 where each pair is won or lost as a whole, 0 where all are equal.

    With that mean, pairs of 0 and 2 points only would have the largest variance possible. The spread is the share of it that is
    seen; and since a few equal pairs do not prove that all are equal, one pair more of the largest variance is thought to be among them.
    """
    counts = check_pentanomial(pentanomial)
    pairs = sum(counts)
    if not pairs:
        return 0, 0.5, 1.0
    mean = math.fsum(count * score for count, score in zip(counts, PAIR_SCORES, strict=True)) / pairs
    largest = mean * (1 - mean)
    seen = _variance(counts, mean, pairs) / largest if largest > 0 else 1.0
    return pairs, mean, (pairs * seen + 1) / (pairs + 1)


def _variance(counts: Sequence[int], mean: float, pairs: int) -> float:
    if not pairs:
        return 0.0
    return math.fsum(count * (score - mean) ** 2 for count, score in zip(counts, PAIR_SCORES, strict=True)) / pairs


def _normalized(mean: float, spread: float) -> float:
    if mean in (0, 1):
        return math.inf if mean else -math.inf
    return (mean - 0.5) / math.sqrt(2 * spread * mean * (1 - mean)) * NORMALIZED
