"""Means, shares and their 95% intervals, and the numbers as they are printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z95 = 1.959963984540054
"""95% of a normal distribution lie within this many standard deviations of its mean."""

_STUDENT = {1: 12.706204736, 2: 4.302652730, 3: 3.182446305}  # for few degrees of freedom, where the series is inexact


@dataclass(frozen=True)
class Interval:
    """A value and the 95% interval around it. An end is infinite where the data do not bound it.

    >>> print(Interval(2.5, 0.4, 4.6))
    2.5 (0.4 to 4.6)
    """

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """Return plain values for JSON, with None for an infinite end."""
        return {
            name: number if math.isfinite(number) else None
            for name, number in (("value", self.value), ("low", self.low), ("high", self.high))
        }

    def bounds(self) -> str:
        """Return the ends as text.

        >>> Interval(2.5, 0.4, 4.6).bounds()
        '0.4 to 4.6'
        """
        return f"{format_number(self.low)} to {format_number(self.high)}" if math.isfinite(self.low) else "unknown"

    def signed_bounds(self) -> str:
        """Return the ends of an Elo difference as text.

        >>> Interval(48.06, 12.6, 183.5).signed_bounds()
        '+12.6 to +184'
        """
        return f"{format_signed(self.low)} to {format_signed(self.high)}"

    def signed(self) -> str:
        """Return the text of an Elo difference.

        >>> Interval(48.06, 12.6, 183.5).signed()
        '+48.1 (+12.6 to +184)'
        """
        return f"{format_signed(self.value)} ({self.signed_bounds()})"

    def __str__(self) -> str:
        known = self.bounds() if math.isfinite(self.low) else "too few values for an interval"
        return f"{format_number(self.value)} ({known})"


def mean_interval(values: Sequence[float]) -> Interval:
    """Return the mean with Student's interval, which is infinite for fewer than two values.

    >>> print(mean_interval([1.0, 2.0, 3.0, 4.0]))
    2.5 (0.4457 to 4.554)
    """
    count = len(values)
    mean = math.fsum(values) / count if count else 0.0
    return _student_interval(count, mean, math.fsum((value - mean) ** 2 for value in values))


def sums_interval(count: int, total: float, squares: float) -> Interval:
    """Return the same interval as `mean_interval` from the number of values, their sum and the sum of their squares.

    >>> print(sums_interval(4, 10.0, 30.0))
    2.5 (0.4457 to 4.554)
    """
    mean = total / count if count else 0.0
    return _student_interval(count, mean, max(0.0, squares - count * mean * mean))


def share_interval(count: int, among: int) -> Interval:
    """Return a share with Wilson's interval, which stays within 0 to 1 and has a positive width for 0 of 10 too.

    >>> share = share_interval(0, 10)
    >>> round(share.low, 3), round(share.high, 3)
    (0.0, 0.278)
    """
    if not among:
        return Interval(0.0, 0.0, 1.0)
    return wilson_interval(count / among, among)


def wilson_interval(mean: float, trials: float) -> Interval:
    """Return all means m within 1.96 standard deviations of the observed one, where the variance is m (1 - m) / trials.

    >>> wilson_interval(1.0, 10).high
    1.0
    """
    z2 = Z95**2
    centre = (mean + z2 / (2 * trials)) / (1 + z2 / trials)
    half = math.sqrt(mean * (1 - mean) / trials + z2 / (4 * trials**2)) * Z95 / (1 + z2 / trials)
    # At 0 and 1 the formula is exact on paper only.
    low = 0.0 if mean == 0 else max(0.0, centre - half)
    high = 1.0 if mean == 1 else min(1.0, centre + half)
    return Interval(mean, low, high)


def student(freedom: int) -> float:
    """Return the 97.5% quantile of Student's distribution, by its expansion around the normal distribution.

    >>> round(student(10), 3)
    2.228
    """
    if freedom in _STUDENT:
        return _STUDENT[freedom]
    z = Z95
    terms = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + terms[0] / freedom + terms[1] / freedom**2 + terms[2] / freedom**3


def normal_cdf(z: float) -> float:
    """Return the probability that a standard normal variable is below z.

    >>> normal_cdf(0.0)
    0.5
    """
    return 0.5 * math.erfc(-z / math.sqrt(2))


def format_number(value: float) -> str:
    """Return a number with four digits, or with all digits before the point.

    >>> format_number(0.123456), format_number(123456.7)
    ('0.1235', '123,457')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def format_signed(value: float) -> str:
    """Return an Elo number with its sign, and with one decimal below 100.

    >>> format_signed(12.34), format_signed(-123.4), format_signed(math.inf)
    ('+12.3', '-123', '+inf')
    """
    return f"{value:+.1f}" if abs(value) < 99.95 else f"{value:+.0f}"


def _student_interval(count: int, mean: float, squares: float) -> Interval:
    """Return the interval from the number of values, their mean and the sum of the squared differences from it."""
    if count < 2:
        return Interval(mean, -math.inf, math.inf)
    half = student(count - 1) * math.sqrt(squares / (count - 1) / count)
    return Interval(mean, mean - half, mean + half)
