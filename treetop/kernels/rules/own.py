"""A selection rule of the user's own: a small Python function, compiled into the search loop like a game."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from treetop.compiler.functions import CompiledFunction, inline_kernel
from treetop.errors import ConfigError
from treetop.kernels.parts import TREES, anything, number
from treetop.kernels.rules.rule import FpuRule
from treetop.kernels.values import child_variance

ARGUMENTS = ("value", "visits", "prior", "variance", "total", "c")


@inline_kernel
def no_rule(value: float, visits: int, prior: float, variance: float, total: int, c: float) -> float:
    """Stand for a rule of the user's own in builds without one."""
    return 0.0


def make_score(function: CompiledFunction[..., Any]) -> CompiledFunction[..., float]:
    """Return the score of a child by a function of the user's own."""

    @inline_kernel
    def score(
        control: Any, tree: Any, work: Any, child: Any, mover: Any, value: float, tries: Any, prior: float, total: Any,
        node: float, fpu: float, rng: Any,
    ) -> float:  # fmt: skip
        """Return the function's number. The lowest one stands for minus infinity, which is what a closed child has."""
        variance = child_variance(control, tree, child)
        own = function(value, tries, prior, variance, total, control.c)
        return max(float(own), -1.7e308)

    return score


@dataclass(frozen=True, kw_only=True)
class OwnRule(FpuRule):
    """What `@treetop.rule` returns: give it as the `rule` of a search.

    >>> import treetop as tt
    >>> @tt.rule
    ... def greedy(value, visits, prior, variance, total, c):
    ...     return value
    >>> isinstance(greedy, tt.rules.OwnRule), greedy(0.5, 1, 0.5, 0.0, 10, 1.0)
    (True, 0.5)
    """

    kinds = frozenset({TREES})
    formula = "score by a rule of your own"

    compiled: CompiledFunction[..., float] = anything(no_rule, "The function.", flat="rule_function")
    c: float = number(math.sqrt(2), "The exploration factor.", low=0.0)
    reads_priors = True

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the function."""
        return self.compiled.function.__name__

    def builds(self) -> frozenset[str]:
        """Return what a build must have."""
        return frozenset({"full"})

    def columns(self) -> frozenset[str]:
        """Return the columns of the tree that this part needs."""
        return frozenset({"squares"})

    def __call__(self, value: float, visits: int, prior: float, variance: float, total: int, c: float) -> float:
        """Return the score in plain Python."""
        return self.compiled(value, visits, prior, variance, total, c)

    def describe(self, total: int, simulations: int) -> str:
        """Return the formula with its numbers; `total` is N and `simulations` those of the root."""
        return f"{self.name}: {super().describe(total, simulations)}"

    def __repr__(self) -> str:
        return f"<rule {self.name}>"


def rule(function: Callable[..., float]) -> OwnRule:
    """Make a selection rule of a function that scores one move. The move with the highest score is followed.

    `value` is the move's mean for the player to move, or the first-play urgency of a move without visits; `visits`
    its visits; `prior` its
    prior; `variance` that of its returns; `total` the visits of all moves; `c` the search's exploration factor.

    >>> @rule
    ... def careful(value, visits, prior, variance, total, c):
    ...     return value + c * prior / (1 + visits)
    >>> careful(0.5, 1, 0.5, 0.0, 10, 1.0)
    0.75
    """
    names = tuple(inspect.signature(function).parameters)
    if names != ARGUMENTS:
        raise ConfigError(f"a rule takes the arguments ({', '.join(ARGUMENTS)}), not ({', '.join(names)})")
    made = OwnRule(compiled=CompiledFunction(function, inline=True))
    object.__setattr__(made, "__doc__", function.__doc__)
    return made
