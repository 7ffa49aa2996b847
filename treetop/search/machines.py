"""Which machine a search runs on."""

from __future__ import annotations

from typing import Any

from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.search.config import SearchConfig
from treetop.search.deals_machine import DealsMachine, needs_deals
from treetop.search.machine import Machine
from treetop.search.view_machine import ViewMachine, needs_views


def make_machine(
    position: Position, config: SearchConfig, evaluator: Any, expand_after: int, seed: int, player: int
) -> Machine:
    """One tree of positions; one of what players see; or a tree for each deal."""
    if needs_deals(position.game, config):
        return DealsMachine(position, config, evaluator, expand_after, seed, player)
    if needs_views(position.game, config):
        return ViewMachine(position, config, evaluator, seed, player)
    return Machine(position, config, evaluator, expand_after, seed)


def begins_anew(game: Game, config: SearchConfig) -> bool:
    """Whether a search keeps nothing after a move: then each must have a seed of its own, else all would draw the same lot."""
    return needs_deals(game, config) or needs_views(game, config)
