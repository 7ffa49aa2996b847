"""Means with 95% intervals, for returns of any size."""

from __future__ import annotations

import math
from collections.abc import Sequence

from treetop.arena.elo import Interval

_Z95 = 1.959963984540054  # 95% of a normal distribution lie within this many standard deviations
_FEW = {
    1: 12.706204736,
    2: 4.302652730,
    3: 3.182446305,
}  # Student's quantile for so few degrees of freedom that the series below is not good enough


def mean_interval(values: Sequence[float]) -> Interval:
    """The mean, and where the true one lies in 95 of 100 samples of this size (Student's interval). Without two values nothing is known of that.

    >>> print(mean_interval([1.0, 2.0, 3.0, 4.0]))
    +2.5 (+0.4 to +4.6)
    """
    count = len(values)
    if not count:
        return Interval(0.0, -math.inf, math.inf)
    mean = math.fsum(values) / count
    if count == 1:
        return Interval(mean, -math.inf, math.inf)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    half = student(count - 1) * deviation / math.sqrt(count)
    return Interval(mean, mean - half, mean + half)


def spread_interval(count: int, total: float, squares: float) -> Interval:
    """The same from how many values there are, their sum, and the sum of their squares."""
    if not count:
        return Interval(0.0, -math.inf, math.inf)
    mean = total / count
    if count == 1:
        return Interval(mean, -math.inf, math.inf)
    half = student(count - 1) * math.sqrt(max(0.0, squares - count * mean * mean) / (count - 1) / count)
    return Interval(mean, mean - half, mean + half)


def share_interval(count: int, among: int) -> Interval:
    """A share, and where the true one lies (Wilson's interval, which never leaves 0 to 1 and knows that none of ten is not never).

    >>> low, high = share_interval(0, 10).low, share_interval(0, 10).high
    >>> round(low, 3), round(high, 3)
    (0.0, 0.278)
    """
    if not among:
        return Interval(0.0, 0.0, 1.0)
    share, square = count / among, _Z95 * _Z95 / among
    middle = (share + square / 2) / (1 + square)
    half = _Z95 * math.sqrt(share * (1 - share) / among + square / among / 4) / (1 + square)
    return Interval(share, max(0.0, middle - half), min(1.0, middle + half))


def student(freedom: int) -> float:
    """The 97.5% quantile of Student's distribution, by its expansion around the normal one.

    >>> round(student(10), 3)
    2.228
    """
    if freedom in _FEW:
        return _FEW[freedom]
    z = _Z95
    terms = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + terms[0] / freedom + terms[1] / freedom**2 + terms[2] / freedom**3


def told(interval: Interval) -> str:
    """An interval of plain numbers, with as many digits as it deserves: an infinite end is told as unknown."""
    if not math.isfinite(interval.low):
        return f"{number(interval.value)} (one is not enough for an interval)"
    return f"{number(interval.value)} ({number(interval.low)} to {number(interval.high)})"


def number(value: float) -> str:
    """A number as it is printed: four digits, and all those before the point."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"
