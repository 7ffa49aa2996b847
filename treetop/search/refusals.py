"""What a search does not begin with: finished games, rolls of dice, settings that are none."""

from __future__ import annotations

from typing import Any

from treetop.errors import ConfigError, SearchError, TerminalPositionError
from treetop.game.position import Position
from treetop.search.config import SearchConfig
from treetop.search.evaluator import CompiledEvaluator, Evaluator
from treetop.types import CHANCE, SIMULTANEOUS


def chooser(position: Position, player: int | None) -> int:
    """For whom to search: the player to move; where all choose at once, one of them."""
    mover, players = position.player, position.game.facts.players
    if mover == SIMULTANEOUS:
        wanted = 0 if player is None else player
        if isinstance(wanted, bool) or not isinstance(wanted, int) or not 0 <= wanted < players:
            raise ConfigError(f"player must be one of 0 to {players - 1}, who choose at once; not {player!r}")
        return wanted
    if player is not None and player != mover:
        raise ConfigError(f"player {mover} is to move, not {player!r}")
    return mover


def refuse_finished(position: Position) -> None:
    """A finished game cannot be searched."""
    if position.is_terminal:
        raise TerminalPositionError(f"the game is over: there is nothing to search\n{position}")


def refuse_chance(position: Position) -> None:
    """Where chance decides there is nothing to search."""
    if position.player == CHANCE:
        raise SearchError(
            "chance decides here, so there is nothing to choose: "
            f"play an outcome first, or draw one by `resolve_chance`\n{position}"
        )


def check_arguments(config: Any, seed: Any) -> None:
    """Raise unless a search is given settings and a seed."""
    if not isinstance(config, SearchConfig):
        raise ConfigError(
            f"a search is configured by uct(...), puct(...), another preset or a SearchConfig, not {config!r}"
        )
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise ConfigError(f"a seed is a whole number, not {seed!r}")


def check_evaluator(evaluator: Any) -> None:
    """Raise unless it is an evaluator of games."""
    if not isinstance(evaluator, (CompiledEvaluator, Evaluator)):
        raise ConfigError(
            f"an evaluator has a method evaluate(batch), or is Rollout(), Uniform(), Heuristic() or Mixed(...); not {evaluator!r}"
        )
