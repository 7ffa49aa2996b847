"""The conformance check of everything that can be searched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treetop import checks
from treetop.errors import ConfigError
from treetop.game.check import CheckReport
from treetop.game.check import check as check_game
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.game.position import Position
from treetop.search.problems.check import check_problem
from treetop.search.problems.problem import Problem, is_problem, unsearchable


def check(
    game: str | Game | Family[...] | Problem,
    *,
    games: int = 2000,
    seed: int = 0,
    seconds: float | None = None,
    progress: Callable[[int, int], object] | None = None,
    root: Any = None,
) -> CheckReport:
    """Play random games and raise a `ConformanceError` for the first violated requirement; return a report.

    A game is played in both modes, interpreted and compiled. A Python problem is played from `root`, by default from
    its initial state; every call is made twice, to find methods that change a state or draw random numbers.

    With `seconds`, no game starts after so many seconds; the first game of a compiled game, during which the rules are
    compiled, is not counted. `progress` is called from time to time with the number of games played and the number of
    all games.

    >>> import treetop as tt
    >>> tt.check("tic_tac_toe", games=20, seed=1).games
    20

    >>> class Countdown:
    ...     def initial(self): return 4
    ...     def actions(self, state): return [1, 2]
    ...     def is_terminal(self, state): return state <= 0
    ...     def step(self, state, action): return state - action
    ...     def rewards(self, state): return 1.0 if state == 0 else -2.0
    >>> tt.check(Countdown(), seed=1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    treetop.errors.ConformanceError: Countdown violates a requirement: rewards are finite, ...
    Countdown.rewards gave [-2.0], outside of its reward_range (-1.0, 1.0): ...
    """
    if not is_problem(game):
        if root is not None:
            raise ConfigError("root is the state of a Python problem: leave it out for a game")
        if not isinstance(game, (str, type, Game, Family, Position)):
            raise unsearchable(game)
        return check_game(game, games=games, seed=seed, seconds=seconds, progress=progress)
    checks.whole("games", games, 1)
    checks.number("seconds", seconds, above=0, finite=False, optional=True)
    return check_problem(game, games=games, seed=seed, seconds=seconds, progress=progress, root=root)
