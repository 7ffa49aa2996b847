"""Turn scores into Elo, with intervals that hold for few games too.

Games come in pairs: one opening, both colours. The two games of a pair depend on each other (the opening may favour a
colour), the pairs do not. So pairs are counted, by their points for player A: a *pentanomial* is the number of pairs
with 0, 1/2, 1, 3/2 and 2 points.
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
"""The mean score per game of a pair, for each cell of the pentanomial."""

NORMALIZED = 800 / math.log(10)
"""Normalized Elo of a mean that lies one standard deviation of a game above one half."""

Pentanomial = tuple[int, int, int, int, int]


def elo_of(score: float) -> float:
    """Return the Elo difference whose expected score this is (0 to 1); infinite at the ends.

    >>> round(elo_of(0.75))
    191
    """
    checks.share("score", score)
    if score in (0, 1):
        return math.inf if score else -math.inf
    return 400 * math.log10(score / (1 - score))


def score_of(elo: float) -> float:
    """Return the expected score of an Elo difference: the inverse of `elo_of`.

    >>> score_of(0)
    0.5
    """
    if elo == -math.inf:
        return 0.0
    return 1 / (1 + 10 ** (-elo / 400))


@dataclass(frozen=True)
class Rating:
    """The difference between two players, estimated from a pentanomial.

    >>> import treetop as tt
    >>> rating = tt.arena.rate((2, 10, 40, 20, 8))
    >>> rating.pairs, round(rating.score.value, 3), round(rating.superiority, 3)
    (80, 0.569, 0.996)
    """

    pairs: int
    score: Interval
    """Player A's mean score per game."""
    elo: Interval
    normalized_elo: Interval
    """How many standard deviations of a game the mean score lies above one half, on an Elo-like scale."""
    superiority: float
    """The likelihood of superiority: how probable it is that A is the stronger player, without prior knowledge."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "score": self.score.to_dict(),
            "elo": self.elo.to_dict(),
            "normalized_elo": self.normalized_elo.to_dict(),
            "superiority": self.superiority,
        }


def rate(pentanomial: Sequence[int]) -> Rating:
    """Return score, Elo, normalized Elo and likelihood of superiority of a pentanomial.

    The interval is Wilson's, with the variance of the observed pairs instead of a coin's: it stays within the possible
    scores, and a score of 100% has a finite lower end.

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
    """Return five counts that are not negative, or raise ConfigError."""
    if len(counts) != 5 or any(isinstance(count, bool) or count < 0 or count != int(count) for count in counts):
        raise ConfigError(
            f"a pentanomial must be five counts of pairs, with 0, 1/2, 1, 3/2 and 2 points, not {list(counts)!r}"
        )
    return tuple(int(count) for count in counts)  # type: ignore[return-value]


def _summary(pentanomial: Sequence[int]) -> tuple[int, float, float]:
    """Return the number of pairs, their mean, and their spread: 1 if each pair is won or lost as a whole, 0 if all are
    equal.

    With that mean, pairs of 0 and 2 points only would have the largest possible variance. The spread is the observed
    share of it. Since a few equal pairs do not prove that all are equal, one more pair of the largest variance is
    added.
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
