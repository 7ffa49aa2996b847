"""The sequential probability ratio test for pairs of games: stop as soon as the games have decided.

Two hypotheses about player A's strength, H0 and H1, are compared by the log of their likelihood ratio (LLR). Wald's
bounds on it keep both error rates small, however often one looks. A hypothesis fixes only one number, and the
distribution of the pair scores has four; so each hypothesis is represented by the distribution that explains the pairs
best among all those that satisfy it: the *generalized* test.

In the *normalized* model a hypothesis fixes the t-value: how many standard deviations the mean score lies above one
half. That determines how many games a test needs, whatever the share of draws. In the *logistic* model it fixes the
mean itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from treetop import checks
from treetop.arena.elo import NORMALIZED, PAIR_SCORES, check_pentanomial, elo_of, score_of
from treetop.errors import ConfigError
from treetop.stats import format_signed

_UNSEEN = 1e-3  # the count of an empty cell: see `_shares`
_ROUNDS = 200
_CLOSE = 1e-9
_FAR = 0.25  # a t-value of a test whose bounds are far apart: about 60 normalized Elo
_STARTS = 8


class Model(StrEnum):
    """The unit of a test's bounds."""

    normalized = "normalized"
    logistic = "logistic"


class SprtVerdict(StrEnum):
    """The outcome of a test.

    >>> import treetop as tt
    >>> tt.arena.Sprt(0, 10).state((2, 10, 40, 20, 8)).verdict is tt.arena.SprtVerdict.go_on
    True
    """

    accept_h1 = "H1"
    accept_h0 = "H0"
    go_on = "undecided"


@dataclass(frozen=True)
class Sprt:
    """A test of H0 (A is `elo0` stronger) against H1 (A is `elo1` stronger).

    >>> test = Sprt(0, 10)
    >>> test.state((20, 1334, 3810, 1569, 35)).verdict.value
    'H1'
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    """The rate at which H1 may be accepted if H0 is true."""
    beta: float = 0.05
    """The rate at which H0 may be accepted if H1 is true."""
    model: Model | str = Model.normalized

    def __post_init__(self) -> None:
        for name in ("elo0", "elo1"):
            checks.number(name, getattr(self, name), -2000, 2000)
        if not self.elo0 < self.elo1:
            raise ConfigError(f"elo0 must be less than elo1, not {self.elo0:g} and {self.elo1:g}")
        for name in ("alpha", "beta"):
            checks.number(name, getattr(self, name), above=0, below=0.5)
        checks.one_of("model", self.model, [model.value for model in Model])
        object.__setattr__(self, "model", Model(self.model))

    @property
    def lower(self) -> float:
        """The LLR at which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The LLR at which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, pentanomial: Sequence[int]) -> float:
        """Return the log-likelihood ratio of H1 over H0, given the pairs."""
        counts = check_pentanomial(pentanomial)
        pairs = sum(counts)
        if not pairs:
            return 0.0
        shares = _shares(counts)
        first, second = (self._likeliest(shares, elo) for elo in (self.elo0, self.elo1))
        return pairs * math.fsum(share * math.log(q / p) for share, p, q in zip(shares, first, second, strict=True))

    def state(self, pentanomial: Sequence[int]) -> SprtState:
        """Return the state of the test after these pairs."""
        llr = self.llr(pentanomial)
        verdict = (
            SprtVerdict.accept_h1
            if llr >= self.upper
            else SprtVerdict.accept_h0
            if llr <= self.lower
            else SprtVerdict.go_on
        )
        return SprtState(self, llr, verdict, sum(pentanomial), self._in_the_other_model(check_pentanomial(pentanomial)))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"elo0": self.elo0, "elo1": self.elo1, "alpha": self.alpha, "beta": self.beta, "model": str(self.model)}

    def _likeliest(self, shares: Sequence[float], elo: float) -> list[float]:
        if self.model is Model.logistic:
            return likeliest_with_mean(shares, PAIR_SCORES, score_of(elo))
        return likeliest_with_t_value(shares, elo / NORMALIZED * math.sqrt(2))

    def _in_the_other_model(self, counts: Sequence[int]) -> tuple[float, float]:
        """Return the bounds in the other model, with the deviation of the observed pairs."""
        a_game = math.sqrt(2) * _mean_and_deviation(_shares(counts), PAIR_SCORES)[1]
        if self.model is Model.logistic:
            low, high = ((score_of(elo) - 0.5) / a_game * NORMALIZED for elo in (self.elo0, self.elo1))
            return low, high
        edge = 1e-9
        return tuple(
            elo_of(min(max(0.5 + elo / NORMALIZED * a_game, edge), 1 - edge)) for elo in (self.elo0, self.elo1)
        )  # type: ignore[return-value]


@dataclass(frozen=True)
class SprtState:
    """A test and its state."""

    sprt: Sprt
    llr: float
    verdict: SprtVerdict
    pairs: int
    """The number of pairs it is based on."""
    other_bounds: tuple[float, float]
    """The test's bounds in the other model, estimated from the pairs."""

    @property
    def decided(self) -> bool:
        """Whether the test is over."""
        return self.verdict is not SprtVerdict.go_on

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        test = self.sprt
        other = Model.normalized if test.model is Model.logistic else Model.logistic
        return {
            **test.to_dict(),
            "llr": self.llr,
            "lower": test.lower,
            "upper": test.upper,
            "verdict": str(self.verdict),
            "pairs": self.pairs,
            f"{other}_bounds": list(self.other_bounds),
        }

    def __str__(self) -> str:
        test = self.sprt
        names = ("Elo", "normalized Elo") if test.model is Model.logistic else ("normalized Elo", "Elo")
        here = f"[{test.elo0:g}, {test.elo1:g}] {names[0]}" + (
            f", here about [{format_signed(self.other_bounds[0])}, {format_signed(self.other_bounds[1])}] {names[1]}"
            if self.pairs
            else ""
        )
        said = {
            SprtVerdict.accept_h1: f"H1 accepted after {self.pairs:,} pairs",
            SprtVerdict.accept_h0: f"H0 accepted after {self.pairs:,} pairs",
            SprtVerdict.go_on: f"undecided after {self.pairs:,} pairs",
        }[self.verdict]
        return f"{said}; LLR {self.llr:+.2f} in ({test.lower:.2f}, {test.upper:.2f}); {here}"


def likeliest_with_mean(shares: Sequence[float], scores: Sequence[float], mean: float) -> list[float]:
    """Return the distribution over the scores with a given mean that makes the observed shares most likely.

    Lagrange's condition gives p = share / (1 + x (score - mean)) with one unknown x. The mean of p falls as x grows,
    from the highest score to the lowest, so there is exactly one x. Newton's method finds it, within a bracket.
    """
    distances = [score - mean for score in scores]
    lowest, highest = min(distances), max(distances)
    if not lowest < 0 < highest:
        raise ConfigError(f"no distribution over scores from {min(scores):g} to {max(scores):g} has the mean {mean:g}")
    left, right = -1 / highest, -1 / lowest
    width, x = right - left, 0.0
    for _ in range(_ROUNDS):
        pull = slope = 0.0
        for share, distance in zip(shares, distances, strict=True):
            part = distance / (1 + x * distance)
            pull += share * part
            slope -= share * part * part
        left, right = (x, right) if pull > 0 else (left, x)
        last, x = x, x - pull / slope
        if not left < x < right:
            x = (left + right) / 2
        if abs(x - last) <= 1e-12 * width:
            break
    weights = [share / (1 + x * distance) for share, distance in zip(shares, distances, strict=True)]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def likeliest_with_t_value(shares: Sequence[float], t: float, scores: Sequence[float] = PAIR_SCORES) -> list[float]:
    """Return the distribution whose mean lies t deviations above one half that makes the observed shares most likely.

    The condition mean - t * deviation = 1/2 is not linear in the probabilities. But near a distribution with mean m and
    deviation s it is, to first order: then it is a condition on the mean of bent scores, score - t s / 2 * (1 + ((score
    - m) / s)**2), which is solved as above. The solution gives a better m and s; this is repeated until they no longer
    change, and there both conditions agree, in value and in slope.

    For positive t the bent condition is the stricter one, since (v / s + s) / 2 is never below the root of v. So every
    round ends with a t-value of at least t, and the next one has a solution too; and no round makes the shares less
    likely than the one before. It converges to a local optimum, so a t far above the observed one is approached from
    several starts.
    """
    if t < 0:
        mirrored = [1 - score for score in reversed(scores)]
        return likeliest_with_t_value(list(reversed(shares)), -t, mirrored)[::-1]
    seen = _mean_and_deviation(shares, scores)
    starts = [seen] if _has_solution(_bent(scores, t, *seen)) else []
    if not starts or (t > _FAR and seen[0] - t * seen[1] < 0.5):
        widest = 0.5 / math.sqrt(1 + t * t)  # no distribution between 0 and 1 with this t-value has a larger deviation
        starts += [
            (0.5 + t * deviation, deviation)
            for deviation in (widest * part / _STARTS for part in range(1, _STARTS + 1))
        ]
    found = [_iterate(shares, t, scores, start) for start in starts if _has_solution(_bent(scores, t, *start))]
    return max(
        found,
        key=lambda probabilities: math.fsum(
            share * math.log(p) for share, p in zip(shares, probabilities, strict=True)
        ),
    )


def _iterate(shares: Sequence[float], t: float, scores: Sequence[float], start: tuple[float, float]) -> list[float]:
    """Solve the bent condition until mean and deviation no longer change."""
    here, current = start, list(shares)
    for _ in range(_ROUNDS):
        current = likeliest_with_mean(shares, _bent(scores, t, *here), 0.5)
        before, here = here, _mean_and_deviation(current, scores)
        if abs(here[0] - before[0]) + abs(here[1] - before[1]) < _CLOSE:
            break
    return current


def _has_solution(bent: Sequence[float]) -> bool:
    return min(bent) < 0.5 < max(bent)


def _bent(scores: Sequence[float], t: float, mean: float, deviation: float) -> list[float]:
    return [score - t * deviation / 2 * (1 + ((score - mean) / deviation) ** 2) for score in scores]


def _shares(counts: Sequence[int]) -> list[float]:
    """Return the observed distribution, with a thousandth of a pair in each empty cell.

    A result that was not seen may still happen. Without this, ten drawn pairs could be explained only by an exact
    balance, and the ratio would not exist; with it an unseen result is merely unlikely. A thousandth has no weight
    beside the pairs themselves.
    """
    filled = [max(float(count), _UNSEEN) for count in counts]
    total = math.fsum(filled)
    return [count / total for count in filled]


def _mean_and_deviation(shares: Sequence[float], scores: Sequence[float]) -> tuple[float, float]:
    mean = math.fsum(share * score for share, score in zip(shares, scores, strict=True))
    return mean, math.sqrt(math.fsum(share * (score - mean) ** 2 for share, score in zip(shares, scores, strict=True)))
