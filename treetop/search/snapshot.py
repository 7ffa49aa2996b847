"""Build a `SearchResult` from the root of a search."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from treetop.search.proof import ProvenValue
from treetop.search.report import Usage
from treetop.search.result import SearchResult
from treetop.search.root_block import Root
from treetop.tree.storage import Tree
from treetop.types import ROOT

if TYPE_CHECKING:
    from treetop.search.session import Session


def take(search: Session) -> SearchResult:
    """Return the result of a search as it stands; later simulations do not change it."""
    tree, position, player = search.tree, search.position, search.player
    result = SearchResult(
        position=position,
        config=search.config,
        seed=search.seed,
        _root=Root(search),
        totals=tree.totals.copy(),
        root_visits=tree.root_visits,
        own_value=_own_value(tree, player, position.game.facts.middle),
        scale=_scale(search._driver),
        proof=ProvenValue.of(search),
        player=player,
        tree=tree,
        usage=Usage.of(search),
        _search=search,
        _generation=tree.generation,
        **search._driver.extras(),
    )
    if not search._driver.is_game:
        result.complete()  # the states of a problem's nodes are gone with the nodes
    return result


def _scale(driver: Any) -> tuple[float, float] | None:
    """Return the lowest and the highest mean in the tree, where the rule uses the scale between them."""
    control = driver.control[0]
    if not driver.plan.normalise or control["value_low"] > control["value_high"]:
        return None
    return float(control["value_low"]), float(control["value_high"])


def _own_value(tree: Tree, player: int, middle: float) -> float:
    """Return the mean of the evaluations of the root itself; NaN where no rule needs it."""
    if tree.is_graph or not tree.has("own_visits"):
        return math.nan
    own = int(tree.columns.own_visits[ROOT])
    return float(tree.columns.own_sums[ROOT, player] / own) if own else middle  # the rule assumes the same
