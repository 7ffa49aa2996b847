"""Checks of the arguments of a search."""

from __future__ import annotations

from typing import Any

from treetop import checks
from treetop.errors import ConfigError, SearchError, TerminalPositionError
from treetop.game.position import Position
from treetop.search.config import SearchConfig
from treetop.search.evaluator import CompiledEvaluator, Evaluator
from treetop.types import CHANCE, SIMULTANEOUS


def chooser(position: Position, player: int | None) -> int:
    """Return the player for whom to search: the player to move; with simultaneous moves, one of the players."""
    mover, players = position.player, position.game.facts.players
    if mover == SIMULTANEOUS:
        wanted = 0 if player is None else player
        if isinstance(wanted, bool) or not isinstance(wanted, int) or not 0 <= wanted < players:
            raise ConfigError(f"player must be one of 0 to {players - 1}, who move simultaneously; not {player!r}")
        return wanted
    if player is not None and player != mover:
        raise ConfigError(f"player {mover} is to move, not {player!r}: leave player out")
    return mover


def refuse_finished(position: Position) -> None:
    """Raise TerminalPositionError at the end of a game."""
    if position.is_terminal:
        raise TerminalPositionError(f"the game is over: there is nothing to search\n{position}")


def refuse_chance(position: Position) -> None:
    """Raise SearchError at a chance node."""
    if position.player == CHANCE:
        raise SearchError(
            "chance decides here, so there is nothing to search: "
            f"apply an outcome first, or draw one by `position.resolve_chance(seed)`\n{position}"
        )


def check_arguments(config: Any, seed: Any) -> None:
    """Raise ConfigError unless the settings are a SearchConfig and the seed is a whole number."""
    if not isinstance(config, SearchConfig):
        raise ConfigError(f"config must be uct(...), puct(...), another preset or a SearchConfig, not {config!r}")
    checks.whole("seed", seed)


def check_evaluator(evaluator: Any) -> None:
    """Raise ConfigError unless the argument is an evaluator of games."""
    if not isinstance(evaluator, (CompiledEvaluator, Evaluator)):
        raise ConfigError(
            "evaluator must be Rollout(), Uniform(), Heuristic(), Mixed(...) or an object with a method "
            f"evaluate(batch), not {evaluator!r}"
        )
