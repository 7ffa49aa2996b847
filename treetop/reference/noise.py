"""Random numbers of the root: Dirichlet noise and Gumbel numbers, by their definitions."""

from __future__ import annotations

import math

from treetop.compiler.rng import Rng, mix

_NOISE, _GUMBEL = 0x6E6F697365, 0x67756D62656C
_WORD = 2**64 - 1


def dirichlet(seed: int, moves: int, alpha: float, count: int) -> list[float]:
    """Return a point of the Dirichlet distribution: gamma variates, divided by their sum.

    It is the noise of a root after `moves` moves in a search with this seed.
    """
    rng = _stream(seed, moves, _NOISE)
    drawn = [_gamma(rng, alpha) for _ in range(count)]
    total = sum(drawn)
    if not total > 0.0:
        chosen = rng.below(count)
        return [1.0 if index == chosen else 0.0 for index in range(count)]
    return [number / total for number in drawn]


def gumbels(seed: int, moves: int, count: int) -> list[float]:
    """Return the Gumbel numbers of a root: -log(-log(u)), u uniform."""
    rng, drawn = _stream(seed, moves, _GUMBEL), list[float]()
    while len(drawn) < count:
        number = rng.random()
        if number > 0.0:
            drawn.append(-math.log(-math.log(number)))
    return drawn


def _stream(seed: int, moves: int, salt: int) -> Rng:
    return Rng.from_word(mix(mix((seed & _WORD) ^ salt) + moves))


def normal(rng: Rng) -> float:
    """Return a draw from the standard normal distribution, by the ziggurat method (Marsaglia and Tsang 2000).

    The area under exp(-x^2 / 2) is cut into 256 layers of equal size. The lowest bits of a random number choose a layer
    and a sign, the others a point x of it. x is returned where the next layer lies below it, or where a random height
    within the layer is below the curve. The widest layer has the tail from its edge on.
    """
    while True:
        bits = rng.bits()
        layer, sign = bits & 255, 1.0 if bits & 256 else -1.0
        x = (bits >> 11) * 2.0**-53 * _EDGES[layer]
        if x < _EDGES[layer + 1]:
            return sign * x
        if layer == 0:
            while True:
                beyond = -math.log(1.0 - rng.random()) / _EDGES[1]
                if -2.0 * math.log(1.0 - rng.random()) > beyond * beyond:
                    return sign * (_EDGES[1] + beyond)
        low, high = _curve(_EDGES[layer]), _curve(_EDGES[layer + 1])
        if low + rng.random() * (high - low) < math.exp(-0.5 * x * x):
            return sign * x


def _curve(x: float) -> float:
    return math.exp(-0.5 * x**2)


def _edges(layers: int, tail: float) -> list[float]:
    """Return the edges of layers of equal area, the widest first; `tail` is where the tail begins."""
    area = tail * _curve(tail) + math.sqrt(0.5 * math.pi) * math.erfc(tail / math.sqrt(2.0))
    edges = [area / _curve(tail), tail]
    while len(edges) < layers:
        edges.append(math.sqrt(-2.0 * math.log(area / edges[-1] + _curve(edges[-1]))))
    return [*edges, 0.0]


_EDGES = _edges(256, 3.6541528853610088)


def _gamma(rng: Rng, shape: float) -> float:
    """Return a gamma variate by rejection (Marsaglia and Tsang 2000)."""
    if shape < 1.0:
        power = rng.random() ** (1.0 / shape)
        return power * _gamma(rng, shape + 1.0)
    d = shape - 1.0 / 3.0
    while True:
        x = normal(rng)
        if (v := 1.0 + x * (1.0 / math.sqrt(9.0 * d))) > 0.0:
            v = v * v * v
            number = rng.random()
            if number <= 0.0 or math.log(number) < 0.5 * x * x + d - d * v + d * math.log(v):
                return d * v
