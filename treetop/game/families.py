"""Families: functions that return a game, whose arguments are constants of the compiled code."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Generic, ParamSpec

from treetop.errors import ConfigError, GameDefinitionError, TreetopError, UnknownGameError
from treetop.game.definition import Game
from treetop.game.lines import users_line

P = ParamSpec("P")


class Family(Generic[P]):
    """The object that `@treetop.family` returns. A call with parameters returns a game; equal parameters, the same."""

    def __init__(self, function: Callable[P, Any]) -> None:
        self.function = function
        self.signature = inspect.signature(function)
        self._made: dict[tuple[Any, ...], Game] = {}
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Game:
        """Return the game with these parameters."""
        name = self.function.__name__
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise UnknownGameError(f"{name}: {error}; its parameters are {self.parameters()}") from None
        bound.apply_defaults()
        key = tuple((type(value), value) for value in bound.arguments.values())  # 8 and 8.0 are not the same parameter
        try:
            known = self._made.get(key)
        except TypeError:
            raise UnknownGameError(f"{name}: a parameter must be a plain value, not {key!r}") from None
        if known is not None:
            return known
        try:
            game = self.function(*bound.args, **bound.kwargs)
        except ConfigError as error:  # from treetop.checks: a parameter out of its range
            raise UnknownGameError(str(error)) from None
        except TreetopError:
            raise
        except (Exception, SystemExit) as error:
            raise GameDefinitionError(
                f"the family {name} failed with {bound.arguments!r}: {type(error).__name__}: {error}\n"
                f"  {users_line(error)}"
            ) from error
        if not isinstance(game, Game):
            raise GameDefinitionError(f"the family {name} must return a class under @treetop.game, not {game!r}")
        game.family, game.parameters = name, dict(bound.arguments)
        self._made[key] = game
        return game

    def parameters(self) -> str:
        """Return the parameters with their defaults, as text: `size=15, line=5`."""
        return ", ".join(
            str(parameter).split(":")[0] + _default(parameter) for parameter in self.signature.parameters.values()
        )

    def __repr__(self) -> str:
        return f"<family {self.function.__name__}({self.parameters()})>"


def _default(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty or parameter.annotation is inspect.Parameter.empty:
        return ""
    return f"={parameter.default!r}"


def family(function: Callable[P, Any]) -> Family[P]:
    """Turn a function that returns a game into a family of games, named by its arguments: `gomoku(size=9, line=5)`.

    >>> import treetop as tt
    >>> @tt.family
    ... def race(goal=10):
    ...     @tt.game(players=1, num_actions=2, max_length=goal)
    ...     class Race:
    ...         total = tt.field("i4")
    ...         def reset(self): self.total = 0
    ...         def legal_actions(self, out):
    ...             out[0], out[1] = 0, 1
    ...             return 2
    ...         def apply(self, action): self.total += action + 1
    ...         def is_terminal(self): return self.total >= goal
    ...         def rewards(self, out): out[0] = 1.0 if self.total == goal else -1.0
    ...     return Race
    >>> race(goal=5).facts.max_length
    5
    """
    return Family(function)


def require(condition: object, message: str) -> None:
    """Raise an `UnknownGameError` unless a condition of a family's parameters holds: `require(size >= 3, "...")`."""
    if not condition:
        raise UnknownGameError(message)
