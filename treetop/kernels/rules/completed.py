"""Completed values: the rule of Gumbel AlphaZero and Gumbel MuZero below the root.

The priors are improved by the values; a move without visits gets a value that is completed from the node's own
evaluation and from the visited moves. The child that lags most behind its improved prior is followed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.compiler.functions import CompiledFunction, inline_kernel
from treetop.kernels.backups import MEAN
from treetop.kernels.parts import PROBLEMS, TREES, number
from treetop.kernels.rules.rule import Rule
from treetop.kernels.tables import inverse
from treetop.kernels.values import child_value, normalised
from treetop.types import FloatArray

_PRIOR_FLOOR = -1e9  # the logit of a move whose prior is 0


@inline_kernel
def _mean(control: Any, tree: Any, child: Any, mover: Any, visits: Any) -> float:
    """Return the mean of a child; 0 without visits."""
    return float(tree.stats[child].value_sum * inverse(max(visits, 1)))


@inline_kernel
def _value(control: Any, tree: Any, child: Any, mover: Any, visits: Any) -> float:
    """Return the value of a child with every option; 0 without visits."""
    return float(child_value(control, tree, child, mover, visits, 0.0))


def _make_gather(value_of: CompiledFunction[..., float]) -> CompiledFunction[..., Any]:
    @inline_kernel
    def gather(control: Any, tree: Any, work: Any, mover: Any, first: Any, count: Any, in_flight: bool) -> Any:
        """Write the value of each visited child to `work.scores`, and return what is needed of all of them.

        These are their visits, the most tries, the sums of P and of P * value, the lowest and the highest value, the
        highest of a child with P > 0, and the highest P of a child without visits.
        """
        total, most = np.int64(0), np.int64(0)
        mass, weighted, low, high, top, untried = 0.0, 0.0, np.inf, -np.inf, -np.inf, -1.0
        for index in range(count):  # without a branch: which children have visits cannot be predicted
            child = first + index
            visits, prior = np.int64(tree.stats[child].visits), np.float64(tree.stats[child].prior)
            value, seen = value_of(control, tree, child, mover, visits), visits > 0
            work.scores[index] = value
            total += visits
            most = max(most, visits + np.int64(tree.in_flight[child] if in_flight else 0))
            mass += abs(prior) if seen else 0.0
            weighted += abs(prior) * value if seen else 0.0
            low, high = min(low, value if seen else np.inf), max(high, value if seen else -np.inf)
            top = max(top, value if seen and prior > 0.0 else -np.inf)
            untried = max(untried, -1.0 if seen else abs(prior))
        return total, most, mass, weighted, low, high, top, untried

    return gather


_gather, _gather_means = _make_gather(_value), _make_gather(_mean)


@inline_kernel
def complete(
    control: Any, tree: Any, work: Any, node: Any, mover: Any, first: Any, count: Any, in_flight: bool
) -> tuple[float, float, float, float]:
    """Write the values of the visited children to `work.scores`; return what `scaled` needs to complete them.

    These are the value of children without visits, the lowest value, the scale, and the highest scaled value of a child
    with P > 0.
    """
    if control.normalise == 0 and control.backup == MEAN:
        found = _gather_means(control, tree, work, mover, first, count, in_flight)
    else:
        found = _gather(control, tree, work, mover, first, count, in_flight)
    total, most, mass, weighted, low, high, top, untried = found
    guess = 0.0
    if untried >= 0.0:
        own = tree.own_visits[node]  # none where a game has failed between expansion and evaluation
        guess = normalised(control, tree.own_sums[node, mover] * inverse(own) if own > 0 else control.middle)
        if mass > 0.0:
            guess = (guess + total * (weighted / mass)) * inverse(total + 1)
        low, high = min(low, guess), max(high, guess)
        if untried > 0.0:
            top = max(top, guess)
    scale = (control.completed_visits + most) * control.completed_scale / max(high - low, 1e-8)
    return guess, low, scale, scale * (top - low)


@inline_kernel
def scaled(tree: Any, work: Any, first: Any, index: Any, completed: Any) -> float:
    """Return the scaled completed value of a child, after `complete`; the lowest is 0."""
    guess, low, scale, _ = completed
    value = work.scores[index] if tree.stats[first + index].visits > 0 else guess
    return float(scale * (value - low))


@inline_kernel
def write_improved(tree: Any, work: Any, first: Any, count: Any, completed: Any) -> None:
    """Write the improved policy, P * exp(scaled completed value), normalised, to `work.scores`, after `complete`.

    Closed children get minus infinity.
    """
    guess, low, scale, top = completed
    usual = math.exp(scale * (guess - low) - top)  # of all children without visits
    mass = 0.0
    for index in range(count):
        prior = np.float64(tree.stats[first + index].prior)
        worth = usual if tree.stats[first + index].visits == 0 else math.exp(scale * (work.scores[index] - low) - top)
        share = float(prior * worth) if prior > 0.0 else 0.0
        mass += share
        work.scores[index] = share if prior >= 0.0 else -np.inf
    if mass > 0.0:  # else every open child has the prior 0
        part = 1.0 / mass
        for index in range(count):
            work.scores[index] *= part


@inline_kernel
def completed_scores(tree: Any, work: Any, first: Any, count: Any, total: Any, completed: Any, in_flight: bool) -> None:
    """Write the scores of all children, the improved policy - n / (1 + N), to `work.scores`, after `complete`."""
    write_improved(tree, work, first, count, completed)
    part = inverse(total + 1)
    for index in range(count):
        tries = np.int64(tree.stats[first + index].visits) + np.int64(tree.in_flight[first + index] if in_flight else 0)
        work.scores[index] -= tries * part


@inline_kernel
def logit(prior: Any) -> float:
    """Return the logit of a prior; very low for 0."""
    return math.log(np.float64(prior)) if prior > 0.0 else _PRIOR_FLOOR


@dataclass(frozen=True, kw_only=True)
class Completed(Rule):
    """Completed values, the rule of Gumbel search below the root. It needs an evaluator with priors.

    >>> import treetop as tt
    >>> statistics = {"A": tt.results.Statistics(9, 0.5, prior=0.2), "B": tt.results.Statistics(1, 0.5, prior=0.8)}
    >>> tt.explain(tt.SearchConfig(rule=tt.rules.Completed()), statistics).selected
    'B'
    """

    name = "completed"
    kinds = frozenset({TREES, PROBLEMS})
    formula = "completed values: score = P' - n / (1 + N), P' the prior improved by completed values"
    reads_priors = True

    completed_visits: float = number(50.0, "c_visit: visits that are added to those of the most visited move.", low=0.0)
    completed_scale: float = number(0.1, "c_scale: the weight of the values beside the priors.", low=0.0)

    def columns(self) -> frozenset[str]:
        """Return the columns of the tree that this part needs."""
        return frozenset({"own_sums", "own_visits"})

    def logits(self, own: float, visits: npt.NDArray[Any], means: FloatArray, priors: FloatArray) -> FloatArray:
        """Return logit(P) + the scaled completed value of each move; `own` is the node's own evaluation."""
        total = int(visits.sum())
        visited = visits > 0
        guess = own
        if visited.any() and priors[visited].sum() > 0:
            guess = (own + total * float((priors[visited] * means[visited]).sum() / priors[visited].sum())) / (
                1 + total
            )
        values = np.where(visited, means, guess)
        values = (values - values.min()) / max(values.max() - values.min(), 1e-8)
        with np.errstate(divide="ignore"):
            logits = np.maximum(np.log(priors), _PRIOR_FLOOR)
        return np.asarray(logits + (self.completed_visits + visits.max()) * self.completed_scale * values)
