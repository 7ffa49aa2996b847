"""What can be searched, and the driver that it needs."""

from __future__ import annotations

from typing import Any

from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.search.config import SearchConfig
from treetop.search.drivers import game_driver
from treetop.search.drivers.driver import Driver
from treetop.search.evaluator import Rollout
from treetop.search.problems.driver import ProblemDriver
from treetop.search.problems.problem import Problem, is_problem, unsearchable
from treetop.search.refusals import check_arguments, check_evaluator, chooser, refuse_chance, refuse_finished

Searchable = str | Game | Family[...] | Position | Problem
"""What can be searched: a game or its name, a position, or a Python problem."""


def make_driver(
    game: Any, config: SearchConfig, evaluator: Any, seed: int, player: int | None, root: Any, tier: str | None
) -> Driver:
    """Return the driver of a search: of a Python problem, or of a game."""
    check_arguments(config, seed)
    evaluator = Rollout() if evaluator is None else evaluator
    if is_problem(game):
        if player is not None:
            raise ConfigError("player is for games with simultaneous moves: leave it out for a Python problem")
        if tier is not None:
            raise ConfigError("tier is for compiled games: leave it out for a Python problem")
        return ProblemDriver(game, config, evaluator, seed, root)
    if not isinstance(game, (str, type, Game, Family, Position)):
        raise unsearchable(game)
    if root is not None:
        raise ConfigError("root is the state of a Python problem: search a Position to start elsewhere in a game")
    check_evaluator(evaluator)
    position = game if isinstance(game, Position) else Position(load_game(game))
    refuse_finished(position)
    refuse_chance(position)
    return game_driver(position, config, evaluator, seed, chooser(position, player), tier)
