"""PUCT: the mean value, and a bonus by the prior. The choice where an evaluator gives priors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from treetop.compiler.functions import inline_kernel
from treetop.kernels.parts import EVERY_KIND, Composition, choice, number
from treetop.kernels.rules.rule import FpuRule
from treetop.kernels.tables import inverse
from treetop.types import ROOT

SCHEDULES = ("constant", "alphazero", "katago", "divided")
_CONSTANT, _ALPHAZERO, _KATAGO, _DIVIDED = range(4)
_VARIANCE_PRIOR, _SPREAD_PRIOR = 2.0, 0.4  # visits, and spread in half reward ranges, that are assumed beforehand


@inline_kernel
def at_node(
    control: Any, tree: Any, work: Any, node: Any, mover: Any, depth: Any, first: Any, count: Any, total: Any
) -> float:
    """Return c(N) * sqrt(N), by the schedule, and by the spread of the values with `variance_scale`."""
    c, root = control.c, math.sqrt(total)
    if control.c_schedule == _ALPHAZERO:
        c += math.log((1.0 + total + control.c_base) / control.c_base)
    elif control.c_schedule == _KATAGO:
        c += control.c_log * math.log((total + control.c_base) / control.c_base)
        root = math.sqrt(total + 0.01)
    elif control.c_schedule == _DIVIDED:
        c *= math.log(tree.stats[ROOT].visits + 1.0) + control.c_log
    if control.variance_scale > 0.0 and len(tree.squares) > 0:
        weight, mean, square = 0.0, 0.0, 0.0
        for child in range(first, first + count):
            weight += tree.stats[child].visits
            mean += tree.stats[child].value_sum
            square += tree.squares[child]
        if weight > 0.0:
            mean, square = mean / weight, square / weight
            usual = _SPREAD_PRIOR * 0.5 * (control.high - control.low)
            assumed = (mean * mean + usual * usual) * _VARIANCE_PRIOR
            seen = (assumed + square * weight) / (_VARIANCE_PRIOR + weight - 1.0) - mean * mean
            c *= 1.0 + control.variance_scale * (math.sqrt(max(seen, 0.0)) / usual - 1.0)
    return float(c * root)


@inline_kernel
def score(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, value: float, tries: Any, prior: float, total: Any,
    node: float, fpu: float, rng: Any,
) -> float:  # fmt: skip
    """Return Q + c(N) * P * sqrt(N) / (1 + n), divided by 1 + n once more in the schedule of that name."""
    share = inverse(tries + 1)
    bonus = node * prior * share
    return float(value + (bonus * share if control.c_schedule == _DIVIDED else bonus))


@inline_kernel
def fast_scale(control: Any, total: Any) -> float:
    """Return c(N) * sqrt(N), for a constant c and for AlphaZero's schedule."""
    c = control.c
    if control.c_base > 0.0:
        c += math.log((1.0 + total + control.c_base) / control.c_base)
    return float(c * math.sqrt(total))


@inline_kernel
def fast_score(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, total: Any, scale: float, fpu: float
) -> float:
    """Return Q + c(N) * P * sqrt(N) / (1 + n)."""
    visits = tree.stats[child].visits
    value = fpu if visits == 0 else tree.stats[child].value_sum * inverse(visits)
    return float(value + scale * tree.stats[child].prior * inverse(visits + 1))


@inline_kernel
def fast_score_in_flight(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, total: Any, scale: float, fpu: float
) -> float:
    """Return the same with evaluations in flight counted as visits in the bonus, and in nothing else."""
    visits = tree.stats[child].visits
    value = fpu if visits == 0 else tree.stats[child].value_sum * inverse(visits)
    return float(value + scale * tree.stats[child].prior * inverse(visits + tree.in_flight[child] + 1))


@dataclass(frozen=True, kw_only=True)
class Puct(FpuRule):
    """PUCT, the rule of AlphaZero and of the engines after it.

    >>> import treetop as tt
    >>> statistics = {"A": tt.results.Statistics(9, 0.5, prior=0.2), "B": tt.results.Statistics(0, prior=0.8)}
    >>> tt.explain(tt.SearchConfig(rule=tt.rules.Puct(c=1.5)), statistics).selected
    'B'
    """

    name = "puct"
    formula = "PUCT: score = value + c * P * sqrt(N) / (1 + n)"
    at_node, score = at_node, score
    fast_scale, fast_score, fast_score_in_flight = fast_scale, fast_score, fast_score_in_flight
    reads_priors = True
    kinds = EVERY_KIND

    c: float = number(1.25, "The exploration factor.", low=0.0)
    c_schedule: str | None = choice(
        None,
        "How c grows with the visits N: alphazero, c + ln((1 + N + c_base) / c_base); katago, "
        "c + c_log * ln((N + c_base) / c_base); divided, c * (ln(t + 1) + c_log) / (1 + n) after t simulations. "
        "Default: alphazero with a c_base, else constant.",
        SCHEDULES,
    )
    c_base: float | None = number(None, "The visits at which c begins to grow.", above=0.0)
    c_log: float = number(0.45, "The factor of the logarithm in the schedules katago and divided.", low=0.0)
    variance_scale: float = number(0.0, "How far c follows the spread of the values: 0 is not at all.", low=0.0)
    forced_playouts: float = number(
        0.0,
        "A visited move of the root gets at least sqrt(forced_playouts * P * N) visits; `result.target()` removes "
        "them.",
        low=0.0,
    )

    @property
    def schedule(self) -> str:
        """The schedule of c, given or implied."""
        return self.c_schedule or ("alphazero" if self.c_base is not None else "constant")

    def control(self) -> dict[str, float]:
        """Return the numbers that the kernels read."""
        return super().control() | {"c_schedule": SCHEDULES.index(self.schedule)}

    def builds(self) -> frozenset[str]:
        """Return what a build must have."""
        fast = self.schedule in ("constant", "alphazero") and not self.variance_scale and not self.forced_playouts
        fixed = not isinstance(self.fpu, str)
        return frozenset() if fast and fixed else frozenset({"full"})

    def columns(self) -> frozenset[str]:
        """Return the columns of the tree that this part needs."""
        return frozenset({"squares"} if self.variance_scale else ())

    def c_at(self, visits: int, simulations: int | None = None) -> float:
        """Return c(N), the factor of P * sqrt(N) / (1 + n); `simulations` are the root's, for the divided schedule."""
        base = self.c_base or 1.0
        if self.schedule == "alphazero":
            return self.c + math.log((1 + visits + base) / base)
        if self.schedule == "katago":
            return (self.c + self.c_log * math.log((visits + base) / base)) * math.sqrt(
                (visits + 0.01) / max(visits, 1)
            )
        if self.schedule == "divided":
            return self.c * (math.log((visits if simulations is None else simulations) + 1) + self.c_log)
        return self.c

    @property
    def growth(self) -> str:
        """How c grows, as text; empty where it is constant."""
        base = f"{self.c_base or 0:g}"
        return {
            "alphazero": f"{self.c:g} + ln((1 + N + {base}) / {base})",
            "katago": f"{self.c:g} + {self.c_log:g} * ln((N + {base}) / {base})",
            "divided": f"{self.c:g} * (ln(t + 1) + {self.c_log:g}) / (1 + n)",
        }.get(self.schedule, "")

    def describe(self, total: int, simulations: int) -> str:
        """Return the formula with its numbers; `total` is N and `simulations` those of the root."""
        names = {"alphazero": "AlphaZero's", "katago": "KataGo's", "divided": "the divided"}
        growing = f" ({names[self.schedule]} schedule {self.growth})" if self.growth else ""
        return f"{self.formula}; c = {self.c_at(total, simulations):.6g}{growing}, N = {total:,}"

    def refusals(self, config: Composition) -> Iterator[str]:
        """Give each reason why this rule does not go with the other parts."""
        yield from super().refusals(config)
        if self.c_schedule in ("alphazero", "katago") and self.c_base is None:
            yield f"the schedule {self.c_schedule!r} needs a c_base"
        if self.c_schedule in ("constant", "divided") and self.c_base is not None:
            yield f"the schedule {self.c_schedule!r} has no c_base"
        if self.forced_playouts and config.root.name != "rule":
            yield f"forced_playouts is for root='rule', not for root={config.root.name!r}"
