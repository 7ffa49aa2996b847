"""Determinization (perfect-information Monte Carlo): search many determinizations, and sum their roots.

Each of these searches knows everything, so it chooses as if the player knew the hidden information (strategy fusion),
and it does not bluff. In return it works with all options of games with perfect information. `information="sets"`
searches one tree of information sets instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from treetop.compiler.rng import Rng, mix
from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.kernels.information import Determinizations, PerfectInformation
from treetop.kernels.parts import DETERMINIZATIONS
from treetop.search.config import SearchConfig
from treetop.search.drivers.game import GameDriver
from treetop.search.drivers.information_sets import InformationSetDriver, needs_information_sets
from treetop.search.drivers.tree import TreeDriver
from treetop.search.evaluator import in_python
from treetop.search.plan import refuse_parts
from treetop.search.root import block
from treetop.tree.layout import MANY_OWN
from treetop.tree.storage import Tree
from treetop.types import NONE, ROOT

_SALT = 0x6465616C73  # a separate stream of random numbers


def needs_determinizations(game: Game, config: SearchConfig) -> bool:
    """Return whether a game is searched one determinization at a time."""
    return game.has("determinize") and config.information.name == "determinizations"


class DeterminizationDriver(GameDriver):
    """A driver with one driver for each determinization. Its own tree is a root with the sums of all their roots."""

    method = "determinized search"
    begins_anew = True
    no_batches = (
        "information='determinizations' evaluates by rollouts or by the game's heuristic: give Rollout(), Heuristic() "
        "or Uniform()"
    )

    def __init__(
        self, position: Position, config: SearchConfig, evaluator: Any, seed: int, player: int, tier: str | None = None
    ) -> None:
        super().__init__(position, config, evaluator, seed, player, tier)
        _check(config, evaluator, self.game)
        assert isinstance(config.information, Determinizations)
        self._count, bound = config.information.determinizations, config.growth.max_nodes
        growth = replace(config.growth, max_nodes=None if bound is None else bound // self._count)
        self._each = replace(config, information=PerfectInformation(), growth=growth)
        self._determinize(position)
        facts = self.game.facts
        self.tree = Tree(facts.players, zero_sum=bool(facts.zero_sum), columns=self.plan.columns & {"squares"})

    def start(self, position: Position) -> None:
        """Start a new search from a position, for `player`."""
        self._determinize(position)
        self.tree.clear()

    def _determinize(self, position: Position) -> None:
        """Draw determinizations, consistent with what `player` has seen, and make a driver for each."""
        self.position = position
        rng = Rng(mix(self.seed ^ _SALT))
        self.drivers = [self._search(position.determinize(self.player, rng), index) for index in range(self._count)]
        first = self.drivers[0]
        self.plan, self.build, self.control = first.plan, first.build, first.control.copy()

    def _search(self, position: Position, index: int) -> GameDriver:
        seed = mix(self.seed + index)
        kind = InformationSetDriver if needs_information_sets(self.game, self._each) else TreeDriver
        return kind(position, self._each, self.evaluator, seed, self.player, self.engine.tier)

    def use_tier(self, tier: str | None) -> None:
        """Use compiled code of a tier, in all determinizations."""
        super().use_tier(tier)
        for driver in getattr(self, "drivers", ()):
            driver.use_tier(tier)

    @property
    def trees(self) -> list[Tree]:
        """Return the trees of all determinizations."""
        return [driver.tree for driver in self.drivers]

    @property
    def from_cache(self) -> bool:
        """Return whether the compiled code came from an earlier process."""
        return self.drivers[0].from_cache

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache: one build serves all determinizations."""
        self.drivers[0].prepare()

    def prepare_advance(self) -> None:
        """Compile the kernels that `advance` needs, or load them from the cache."""
        self.drivers[0].prepare_advance()

    def run(self, simulations: int) -> int:
        """Run `simulations` simulations, divided evenly among the determinizations; return how many were run."""
        before = self.tree.root_visits
        try:
            for index, driver in enumerate(self.drivers):
                due = (before + simulations + len(self.drivers) - 1 - index) // len(self.drivers)
                driver.run(due - driver.tree.root_visits)
        finally:
            self._sum_roots()
        return self.tree.root_visits - before

    def _sum_roots(self) -> None:
        """Set the tree to the sum of the roots. The player's own moves are the same in every determinization."""
        tree, trees, moves = self.tree, self.trees, list[int]()
        for each in trees:
            moves += [action for action in _moves(each) if action not in moves]
        tree.ensure_capacity(len(moves) + 1)
        tree.size = len(moves) + 1
        columns = tree.columns
        tree.totals[:] = sum(each.totals for each in trees)
        own = sum(each.root_visits - int(each.columns.stats["visits"][block(each)].sum()) for each in trees)
        columns.stats[ROOT] = (0.0, sum(each.root_visits for each in trees), 1.0)
        columns.links[ROOT] = (NONE, NONE, 1 if moves else NONE, len(moves), 0, min(own, MANY_OWN))
        columns.stats[1 : tree.size] = (0.0, 0, 0.0)
        for name in ("returns", "squares"):
            getattr(columns, name)[: tree.size] = 0.0
        for each in trees:
            places, theirs = [1 + moves.index(action) for action in _moves(each)], block(each)
            columns.stats["visits"][places] += each.columns.stats["visits"][theirs]
            columns.stats["value_sum"][places] += each.columns.stats["value_sum"][theirs]
            columns.stats["prior"][places] = each.columns.stats["prior"][theirs]
            for name in ("returns", "squares"):
                if len(getattr(columns, name)):
                    getattr(columns, name)[places] += getattr(each.columns, name)[theirs]
        columns.links[1 : tree.size] = (NONE, ROOT, NONE, 0, 0, 0)
        columns.links["action"][1 : tree.size] = moves
        self.control["value_low"] = min(driver.control["value_low"][0] for driver in self.drivers)
        self.control["value_high"] = max(driver.control["value_high"][0] for driver in self.drivers)
        columns.links["own"][1 : tree.size] = np.minimum(columns.stats["visits"][1 : tree.size], MANY_OWN)


def _moves(tree: Tree) -> list[int]:
    """Return the actions of a tree's root."""
    return [int(action) for action in tree.columns.links["action"][block(tree)]]


def _check(config: SearchConfig, evaluator: Any, game: Game) -> None:
    what = "information='determinizations', which sums the roots of many trees,"
    refuse_parts(config, what, DETERMINIZATIONS, ("solver", "noise", "forced_playouts"))
    if game.facts.action_size:
        raise ConfigError(
            "information='determinizations' is for a fixed set of actions, because continuous ones differ between "
            "determinizations: leave it out"
        )
    if in_python(evaluator) is not None:
        raise ConfigError(DeterminizationDriver.no_batches)
