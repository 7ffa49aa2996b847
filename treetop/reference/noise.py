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


def _normal(rng: Rng) -> float:
    while True:
        x, y = 2.0 * rng.random() - 1.0, 2.0 * rng.random() - 1.0
        if 0.0 < (square := x * x + y * y) < 1.0:
            return x * math.sqrt(-2.0 * math.log(square) / square)


def _gamma(rng: Rng, shape: float) -> float:
    """Return a gamma variate by rejection (Marsaglia and Tsang 2000)."""
    if shape < 1.0:
        power = rng.random() ** (1.0 / shape)
        return power * _gamma(rng, shape + 1.0)
    d = shape - 1.0 / 3.0
    while True:
        x = _normal(rng)
        if (v := 1.0 + x * (1.0 / math.sqrt(9.0 * d))) > 0.0:
            v = v * v * v
            number = rng.random()
            if number <= 0.0 or math.log(number) < 0.5 * x * x + d - d * v + d * math.log(v):
                return d * v
