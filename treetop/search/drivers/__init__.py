"""Drivers run simulations: on trees of positions, information sets, determinizations or Python problems."""

from __future__ import annotations

from typing import Any

from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.search.config import SearchConfig
from treetop.search.drivers.determinizations import DeterminizationDriver, needs_determinizations
from treetop.search.drivers.game import GameDriver
from treetop.search.drivers.information_sets import InformationSetDriver, needs_information_sets
from treetop.search.drivers.tree import TreeDriver


def game_driver(
    position: Position, config: SearchConfig, evaluator: Any, seed: int, player: int, tier: str | None = None
) -> GameDriver:
    """Return the driver that a game and its settings need."""
    if needs_determinizations(position.game, config):
        return DeterminizationDriver(position, config, evaluator, seed, player, tier)
    if needs_information_sets(position.game, config):
        return InformationSetDriver(position, config, evaluator, seed, player, tier)
    return TreeDriver(position, config, evaluator, seed, player, tier)


def begins_anew(game: Game, config: SearchConfig) -> bool:
    """Return whether a search keeps no tree after a move.

    Then each move needs its own seed, else all draw the same numbers.
    """
    return needs_determinizations(game, config) or needs_information_sets(game, config)
