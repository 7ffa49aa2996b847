"""Players of your own: functions under `@treetop.player`, the only ones that a spec can name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

from treetop.errors import ConfigError

P = ParamSpec("P")
R = TypeVar("R")


class PlayerMaker(Generic[P, R]):
    """The result of `@treetop.player`: the function, marked as one that a spec such as `module:function` may call."""

    def __init__(self, function: Callable[P, R]) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<player maker {getattr(self.function, '__name__', self.function)!s}>"


def player(function: Callable[P, R]) -> PlayerMaker[P, R]:
    """Mark a function that makes a player, so that the spec `module:function(option=value)` can name it.

    It takes the game and any options, and returns a player. Functions without this mark are never called because of a
    spec.

    >>> from treetop.players.baselines import RandomPlayer
    >>> @player
    ... def careless(game, name="careless"):
    ...     return RandomPlayer(name)
    >>> careless(None).name
    'careless'
    """
    if not callable(function):
        raise ConfigError(f"@treetop.player decorates a function, not {function!r}")
    return PlayerMaker(function)
