"""Determinised ensembles: what is hidden is drawn so many times, each deal is searched by itself, and the roots are added up.

In each deal everybody sees everything, so its search may hide and bluff nothing, and chooses as if it knew what it will never know. That is the price of
trees in which all that works for open games works; `information="sets"` searches one tree of information sets instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from treetop.compiler.rng import Rng, mix
from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.kernels.information import Determinizations, PerfectInformation
from treetop.search.batch import Batch
from treetop.search.config import SearchConfig
from treetop.search.evaluator import in_python
from treetop.search.machine import Machine
from treetop.search.plan import refuse_parts
from treetop.search.root import block
from treetop.search.view_machine import ViewMachine, needs_views
from treetop.tree.layout import MANY_OWN
from treetop.tree.storage import Tree
from treetop.types import NONE, ROOT

_DEALS = 0x6465616C73  # deals come from numbers of their own
_WORKS_WITH = {
    "rule": ("ucb1", "puct", "ucb1_tuned", "ucb_v", "thompson", "uniform"),
    "backup": ("mean",),
    "root": ("rule",),
}


def needs_deals(game: Game, config: SearchConfig) -> bool:
    """Whether a game is searched deal by deal."""
    return game.has("determinize") and config.information.name == "determinizations"


class DealsMachine(Machine):
    """A machine for each deal. Its own tree is a root and its moves: the sums over all deals."""

    begins_anew = True

    def __init__(
        self, position: Position, config: SearchConfig, evaluator: Any, expand_after: int, seed: int, player: int
    ) -> None:
        _check(config, evaluator, position.game)
        assert isinstance(config.information, Determinizations)
        self._count, bound = config.information.determinizations, config.growth.max_nodes
        unbounded = replace(config, information=PerfectInformation(), growth=replace(config.growth, max_nodes=None))
        each = replace(
            unbounded, growth=replace(config.growth, max_nodes=None if bound is None else bound // self._count)
        )
        super().__init__(position, unbounded, evaluator, expand_after, seed)
        self.tree = Tree(
            self.game.facts.players, zero_sum=bool(self.game.facts.zero_sum), columns=self.plan.columns & {"squares"}
        )
        self.config, self._each, self._evaluator, self._expand_after = config, each, evaluator, expand_after
        self.look_from(position, player)

    def look_from(self, position: Position, player: int) -> None:
        """Draw new deals: what the player may have before it, by what it has seen."""
        self.position = position
        rng = Rng(mix(self.seed ^ _DEALS))
        self.deals = [self._search_of(position.seen_by(player, rng), index, player) for index in range(self._count)]
        self.tree.clear()

    def _search_of(self, deal: Position, index: int, player: int) -> Machine:
        seed = mix(self.seed + index)
        if needs_views(self.game, self._each):
            return ViewMachine(deal, self._each, self._evaluator, seed, player)
        return Machine(deal, self._each, self._evaluator, self._expand_after, seed)

    @property
    def trees(self) -> list[Tree]:
        """The trees of all deals."""
        return [deal.tree for deal in self.deals]

    @property
    def from_cache(self) -> bool:
        """Whether the code came from an earlier process."""
        return self.deals[0].from_cache

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache: the same for all deals."""
        self.deals[0].prepare()

    def run(self, simulations: int) -> int:
        """Run so many simulations, shared out evenly: no deal is more than one ahead."""
        before = self.tree.root_visits
        try:
            for index, deal in enumerate(self.deals):
                due = (before + simulations + len(self.deals) - 1 - index) // len(self.deals)
                deal.run(due - deal.tree.root_visits)
        finally:
            self._add_up()
        return self.tree.root_visits - before

    def gather(self, size: int, budget: int) -> Batch:  # noqa: ARG002 - refused
        """Refused: a batch belongs to one tree."""
        _refuse_batches()

    def _add_up(self) -> None:
        """The roots of all deals, as one. The player's own moves are the same in every deal."""
        tree, trees, moves = self.tree, self.trees, list[int]()
        for each in trees:
            moves += [action for action in _moves(each) if action not in moves]
        tree.make_room(len(moves) + 1)
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
        self.control["value_low"] = min(deal.control["value_low"][0] for deal in self.deals)
        self.control["value_high"] = max(deal.control["value_high"][0] for deal in self.deals)
        columns.links["own"][1 : tree.size] = np.minimum(columns.stats["visits"][1 : tree.size], MANY_OWN)


def _moves(tree: Tree) -> list[int]:
    """The actions of a tree's root."""
    return [int(action) for action in tree.columns.links["action"][block(tree)]]


def _check(config: SearchConfig, evaluator: Any, game: Game) -> None:
    what = "information='determinizations', which adds up the roots of many trees,"
    refuse_parts(config, what, _WORKS_WITH, ("solver", "noise", "forced_playouts"))
    if game.facts.action_size:
        raise ConfigError(
            "information='determinizations' is for a fixed set of actions: continuous ones differ from one determinization to the next"
        )
    if in_python(evaluator) is not None:
        _refuse_batches()


def _refuse_batches() -> NoReturn:
    raise ConfigError(
        "information='determinizations' evaluates by rollouts or by the game's heuristic: give Rollout(), Heuristic() or Uniform()"
    )
