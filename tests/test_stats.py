"""Intervals hold the truth as often as they say, and are printed in one way."""

from __future__ import annotations

import math

import numpy as np
import pytest

from treetop.stats import (
    Interval,
    format_number,
    format_signed,
    mean_interval,
    normal_cdf,
    share_interval,
    student,
    sums_interval,
    wilson_interval,
)


def test_intervals_are_students():
    for freedom, quantile in ((1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (30, 2.042), (1000, 1.962)):
        assert student(freedom) == pytest.approx(quantile, rel=0.004)
    values = [1.0, 5.0, 2.0, 8.0]
    one, two = mean_interval(values), sums_interval(4, sum(values), sum(value**2 for value in values))
    assert (one.value, one.low, one.high) == pytest.approx((two.value, two.low, two.high))
    for nothing in (mean_interval([]), sums_interval(0, 0.0, 0.0)):
        assert nothing == Interval(0.0, -math.inf, math.inf)
    assert mean_interval([3.0]) == sums_interval(1, 3.0, 9.0) == Interval(3.0, -math.inf, math.inf)


def test_the_interval_of_a_mean_holds_the_truth_about_95_times_of_100():
    samples = np.random.default_rng(3).normal(2.0, 1.0, size=(2000, 6))
    found = [mean_interval(list(sample)) for sample in samples]
    assert 0.935 <= np.mean([interval.low <= 2.0 <= interval.high for interval in found]) <= 0.965


def test_the_interval_of_a_share_is_wilsons_and_never_leaves_0_to_1():
    found = share_interval(8, 10)
    assert (found.value, found.low, found.high) == pytest.approx((0.8, 0.490162, 0.943318), abs=1e-6)
    assert share_interval(0, 10).low == 0.0
    assert share_interval(10, 10).high == 1.0
    assert share_interval(0, 0) == Interval(0.0, 0.0, 1.0)
    assert wilson_interval(0.8, 10) == found


def test_the_normal_distribution_is_known_at_its_quantiles():
    assert normal_cdf(1.959963984540054) == pytest.approx(0.975)
    assert normal_cdf(-1.0) == pytest.approx(0.158655, abs=1e-6)


def test_numbers_are_printed_with_the_digits_that_mean_something():
    assert [format_signed(value) for value in (0.0, -3.04, 99.94, 100.2, -1234.5, math.inf, -math.inf)] == [
        "+0.0", "-3.0", "+99.9", "+100", "-1234", "+inf", "-inf"]  # fmt: skip
    assert [format_number(value) for value in (0.0, 0.123456, 12.3456, 1234.5, -98765.4)] == [
        "0", "0.1235", "12.35", "1,234", "-98,765"]  # fmt: skip


def test_an_interval_is_printed_and_written_in_one_way():
    assert str(Interval(1.0, -2.0, 200.0)) == "1 (-2 to 200)"
    assert Interval(1.0, -2.0, 200.0).signed() == "+1.0 (-2.0 to +200)"
    unknown = Interval(1.0, -math.inf, math.inf)
    assert str(unknown) == "1 (too few values for an interval)"
    assert unknown.bounds() == "unknown"
    assert unknown.to_dict() == {"value": 1.0, "low": None, "high": None}
