"""Random numbers from distributions that searches need."""

from __future__ import annotations

import math
from typing import Any

from treetop.compiler.functions import inline_kernel


@inline_kernel
def normal(rng: Any) -> float:
    """Draw from the standard normal distribution, by the polar method."""
    while True:
        x, y = 2.0 * rng.random() - 1.0, 2.0 * rng.random() - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return float(x * math.sqrt(-2.0 * math.log(square) / square))


@inline_kernel
def gumbel(rng: Any) -> float:
    """Draw from the standard Gumbel distribution."""
    while True:
        number = rng.random()
        if number > 0.0:
            return float(-math.log(-math.log(number)))


@inline_kernel
def gamma(rng: Any, shape: float) -> float:
    """Draw from the gamma distribution with scale 1, by Marsaglia and Tsang's method.

    A shape below 1 is drawn with shape + 1 and multiplied by a power of a uniform number.
    """
    factor = 1.0
    if shape < 1.0:
        factor = rng.random() ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(rng)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            number = rng.random()
            if number <= 0.0 or math.log(number) < 0.5 * x * x + d - d * v + d * math.log(v):
                return float(factor * d * v)
