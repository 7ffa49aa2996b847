"""A selection rule of the caller's own: a small Python function, compiled into the search loop like a game."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from treetop.compiler.functions import CompiledFunction
from treetop.errors import ConfigError

ARGUMENTS = ("value", "visits", "prior", "variance", "total", "c")


class Rule:
    """What `@treetop.rule` returns: give it as the `rule` of a search's settings."""

    def __init__(self, function: Callable[..., float]) -> None:
        names = tuple(inspect.signature(function).parameters)
        if names != ARGUMENTS:
            raise ConfigError(f"a rule takes the arguments ({', '.join(ARGUMENTS)}), not ({', '.join(names)})")
        self.name = function.__name__
        self.compiled: CompiledFunction[..., float] = CompiledFunction(function, inline=True)
        self.__doc__ = function.__doc__

    def __call__(self, value: float, visits: int, prior: float, variance: float, total: int, c: float) -> float:
        """The score in plain Python."""
        return self.compiled(value, visits, prior, variance, total, c)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<rule {self.name}>"


def rule(function: Callable[..., float]) -> Rule:
    """Make a selection rule of a function that scores one move; the move with the highest score is followed.

    `value` is the move's mean for the player to move, or what is assumed of a move that nobody has tried; `visits` its visits; `prior` its prior;
    `variance` that of its returns; `total` the visits of all moves; `c` the search's exploration factor.

    >>> @rule
    ... def careful(value, visits, prior, variance, total, c):
    ...     return value + c * prior / (1 + visits)
    >>> careful(0.5, 1, 0.5, 0.0, 10, 1.0)
    0.75
    """
    return Rule(function)
