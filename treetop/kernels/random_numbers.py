"""Random numbers from distributions that searches need."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel
from treetop.types import FloatArray

_TAIL = 3.6541528853610088  # where the tail of the normal distribution begins, for 256 layers


def _layers() -> tuple[FloatArray, FloatArray]:
    """Return the edges of 256 layers of equal area under exp(-x^2 / 2), the widest first, and its height there.

    The first layer includes the tail, and its edge is that of a rectangle of the same area.
    """
    area = _TAIL * math.exp(-0.5 * _TAIL**2) + math.sqrt(0.5 * math.pi) * math.erfc(_TAIL / math.sqrt(2.0))
    edges = [area / math.exp(-0.5 * _TAIL**2), _TAIL]
    while len(edges) < 256:
        edges.append(math.sqrt(-2.0 * math.log(area / edges[-1] + math.exp(-0.5 * edges[-1] ** 2))))
    return np.array([*edges, 0.0]), np.array([math.exp(-0.5 * edge**2) for edge in (*edges, 0.0)])


_EDGES, _HEIGHTS = _layers()


@inline_kernel
def normal(rng: Any) -> float:
    """Draw from the standard normal distribution, by the ziggurat method of Marsaglia and Tsang.

    Of 100 draws 99 need one random number and no function.
    """
    while True:
        bits = np.uint64(rng.bits())
        layer = np.uint64(bits & np.uint64(255))
        sign = 1.0 if bits & np.uint64(256) else -1.0
        x = np.float64(bits >> np.uint64(11)) * 2.0**-53 * _EDGES[layer]
        if x < _EDGES[layer + np.uint64(1)]:
            return float(sign * x)
        if layer == 0:
            return float(sign * _tail(rng))
        low, high = _HEIGHTS[layer], _HEIGHTS[layer + np.uint64(1)]
        if low + rng.random() * (high - low) < math.exp(-0.5 * x * x):
            return float(sign * x)


@inline_kernel
def _tail(rng: Any) -> float:
    """Draw from the normal distribution beyond `_TAIL`."""
    while True:
        beyond = -math.log(1.0 - rng.random()) / _TAIL
        if -2.0 * math.log(1.0 - rng.random()) > beyond * beyond:
            return float(_TAIL + beyond)


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
