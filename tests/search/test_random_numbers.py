"""Normal random numbers have the distribution that they are named after, tail included."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

import treetop as tt
from treetop.kernels.random_numbers import normal
from treetop.reference import noise

NORMAL = NormalDist()


def test_draws_are_normal():
    rng, count = tt.Rng(1), 200_000
    draws = np.sort([noise.normal(rng) for _ in range(count)])
    expected = np.array([NORMAL.cdf(draw) for draw in draws])
    assert np.abs(expected - np.arange(count) / count).max() < 1.63 / math.sqrt(count)  # Kolmogorov-Smirnov, 1%
    for edge in (3.0, 3.66, 4.0):  # before, at and after the beginning of the tail
        share = 2.0 * NORMAL.cdf(-edge)
        assert abs((np.abs(draws) > edge).mean() - share) < 4.0 * math.sqrt(share / count)


def test_kernels_draw_the_numbers_of_the_definition():
    one, other = tt.Rng(2), tt.Rng(2)
    assert [normal(one) for _ in range(20_000)] == [noise.normal(other) for _ in range(20_000)]
