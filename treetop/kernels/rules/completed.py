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

from treetop.compiler.functions import inline_kernel
from treetop.kernels.parts import PROBLEMS, TREES, number
from treetop.kernels.rules.rule import Rule
from treetop.kernels.values import child_value, normalised
from treetop.types import FloatArray

_PRIOR_FLOOR = -1e9  # the logit of a move whose prior is 0


@inline_kernel
def write_completed(
    control: Any, tree: Any, work: Any, node: Any, mover: Any, first: Any, count: Any, in_flight: bool
) -> float:
    """Write the scaled completed value of each child to `work.scores`, the lowest as 0; return that without visits."""
    total, visited_mass, visited_value = 0.0, 0.0, 0.0
    most: Any = np.int64(0)
    low, high, unvisited = np.inf, -np.inf, 0
    for index in range(count):
        child = first + index
        visits = np.int64(tree.stats[child].visits)
        most = max(most, visits + np.int64(tree.in_flight[child] if in_flight else 0))
        if visits > 0:
            value = child_value(control, tree, child, mover, visits, 0.0)
            prior = np.float64(abs(tree.stats[child].prior))
            total += visits
            visited_mass += prior
            visited_value += prior * value
            low, high = min(low, value), max(high, value)
            work.scores[index] = value
        else:
            unvisited += 1
    own = tree.own_visits[node]  # none where a game has failed between expansion and evaluation
    guess = normalised(control, tree.own_sums[node, mover] / own if own > 0 else control.middle)
    if visited_mass > 0.0:
        guess = (guess + total * visited_value / visited_mass) / (1.0 + total)
    if unvisited > 0:
        low, high = min(low, guess), max(high, guess)
    scale = (control.completed_visits + most) * control.completed_scale / max(high - low, 1e-8)
    guess = scale * (guess - low)
    for index in range(count):
        if tree.stats[first + index].visits > 0:
            work.scores[index] = scale * (work.scores[index] - low)
        else:
            work.scores[index] = guess
    return float(guess)


@inline_kernel
def write_improved(tree: Any, work: Any, first: Any, count: Any, guess: float) -> bool:
    """Turn the completed values in `work.scores` into the improved policy, P * exp(value), normalised.

    Closed children get minus infinity. Return whether any child is open.
    """
    highest, mass, is_open = -np.inf, 0.0, False
    for index in range(count):
        prior = tree.stats[first + index].prior
        is_open = is_open or prior >= 0.0
        if prior > 0.0:
            highest = max(highest, work.scores[index])
    usual = math.exp(guess - highest)  # of all children without visits
    for index in range(count):
        prior = np.float64(tree.stats[first + index].prior)
        if prior > 0.0:
            untried = tree.stats[first + index].visits == 0
            work.scores[index] = prior * (usual if untried else math.exp(work.scores[index] - highest))
            mass += work.scores[index]
        else:
            work.scores[index] = 0.0 if prior == 0.0 else -np.inf
    if mass > 0.0:  # else every open child has the prior 0
        for index in range(count):
            work.scores[index] /= mass
    return is_open


@inline_kernel
def completed_scores(tree: Any, work: Any, first: Any, count: Any, total: Any, guess: float, in_flight: bool) -> None:
    """Turn the completed values in `work.scores` into scores: the improved policy - n / (1 + N)."""
    write_improved(tree, work, first, count, guess)
    for index in range(count):
        tries = tree.stats[first + index].visits + (tree.in_flight[first + index] if in_flight else 0)
        work.scores[index] -= tries / (1.0 + total)


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
