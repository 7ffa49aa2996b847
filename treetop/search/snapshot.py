"""Build a `SearchResult` from the root of a search: statistics of every action, in the game's order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treetop.errors import SearchError
from treetop.search.proof import ProvenValue
from treetop.search.report import Usage
from treetop.search.result import SearchResult
from treetop.search.root import block
from treetop.tree.layout import BOUNDED, FAILED, PROVEN
from treetop.tree.storage import Tree
from treetop.types import ROOT, FloatArray, IntArray, RecordArray

if TYPE_CHECKING:
    from treetop.search.session import Session


def take(search: Session) -> SearchResult:
    """Return the result of a search as it stands; later simulations do not change it."""
    tree, position, player = search.tree, search.position, search.player
    children = _children(search) if block(tree).stop else _unexpanded(search)
    result = SearchResult(
        position=position,
        config=search.config,
        seed=search.seed,
        **children,
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


def _unexpanded(search: Session) -> dict[str, Any]:
    """Return the columns of a root that is still a leaf: its legal actions, without visits."""
    if search.game.facts.action_size:
        raise SearchError("no action has been drawn yet: run more simulations")
    numbers = np.array(search.position.legal_actions(search.player), np.int32)
    count = len(numbers)
    low, high = search.game.facts.rewards
    unknown, none = np.full(count, math.nan), np.zeros(count, np.int32)
    solver = search.config.solver
    return {
        "numbers": numbers,
        "counts": none,
        "means": unknown,
        "priors": np.full(count, 1.0 / count),
        "deviations": unknown,
        "lower": np.full(count, low) if solver else None,
        "upper": np.full(count, high) if solver else None,
        "distances": none if solver else None,
        "failed": np.zeros(count, np.bool_),
        "unopened": np.zeros(count, np.bool_),
        "base": none,
        "gumbel": None,
        "strategies": None,
        "vectors": None,
    }


def _children(search: Session) -> dict[str, Any]:
    """Return the columns of the root's children."""
    columns, children = search.tree.columns, block(search.tree)
    stats, links = columns.stats[children], columns.links[children]
    order = _game_order(search, links["action"])  # a copy is made by an array of indices, else by `copy`
    stats, links = (stats.copy(), links.copy()) if order is None else (stats[order], links[order])
    numbers, flags, counts = links["action"], links["flags"], stats["visits"]

    def row(name: str) -> npt.NDArray[Any] | None:
        """Return an optional column, or None where the search does not keep it."""
        column = getattr(columns, name)
        if not len(column):
            return None
        kept: npt.NDArray[Any] = column[children].copy() if order is None else column[children][order]
        return kept

    def per_visit(sums: npt.NDArray[Any]) -> FloatArray:
        return np.asarray(np.divide(sums, counts, out=np.full(len(counts), math.nan), where=counts > 0))

    means = per_visit(stats["value_sum"])
    squares, backed_up = row("squares"), row("vectors")
    deviations = np.full(len(counts), math.nan)
    if squares is not None:
        deviations = np.sqrt(np.maximum(per_visit(squares) - means**2, 0.0))
    if backed_up is not None and search.config.backup.name in ("max", "mixed"):
        means = np.where(counts > 0, backed_up[:, search.player], math.nan)
    lower, upper, distances = _bounds(search, flags, row("bounds"), row("distances"))
    base, gumbel = np.zeros(len(numbers), np.int32), None
    if search.config.root.schedules and search._is_scheduled:
        work = search._driver.scratch.work
        base, gumbel = (buffer[: len(numbers)].copy() for buffer in (work.base, work.gumbel))
        if order is not None:
            base, gumbel = base[order], gumbel[order]
    return {
        "numbers": numbers,
        "counts": counts,
        "means": means,
        "priors": np.abs(stats["prior"].astype(np.float64)),
        "deviations": deviations,
        "lower": lower,
        "upper": upper,
        "distances": distances,
        "failed": (flags & FAILED) > 0,
        "unopened": _unopened(search, columns.stats[children], order),
        "base": base,
        "gumbel": gumbel,
        "strategies": row("strategies"),
        "vectors": row("action_values"),
    }


def _game_order(search: Session, actions: IntArray) -> npt.NDArray[np.int64] | None:
    """Return the order in which the game lists its actions; None: it is the order of the tree.

    Widening and information sets use another one.
    """
    if search.game.facts.action_size or (
        search.config.widening.actions is None and not search.tree.has_information_sets
    ):
        return None
    place = {action: index for index, action in enumerate(search.position.legal_actions(search.player))}
    return np.argsort([place[int(action)] for action in actions])


def _unopened(search: Session, stats: RecordArray, order: npt.NDArray[np.int64] | None) -> npt.NDArray[np.bool_]:
    """Return which children progressive widening has not opened, in the game's order; closed ones are not counted.

    `stats` are in the tree's order.
    """
    widening, actions = search.config.widening, search.config.widening.actions
    if actions is None or search.game.facts.action_size:
        return np.zeros(len(stats), np.bool_)
    allowed = max(1, math.ceil(actions * max(int(stats["visits"].sum()), 1) ** widening.power))
    unopened = np.asarray(np.cumsum(stats["prior"] >= 0) - (stats["prior"] >= 0) >= allowed)
    return unopened if order is None else unopened[order]


def _bounds(
    search: Session, flags: IntArray, bounds: FloatArray | None, distances: IntArray | None
) -> tuple[FloatArray | None, FloatArray | None, IntArray | None]:
    """Return the proven least and greatest value of each action for the player to move, and its distance."""
    if not search.config.solver or bounds is None or distances is None:
        return None, None, None
    player, players, (low, high) = search.player, search.game.facts.players, search.game.facts.rewards
    known, proven = (flags & BOUNDED) > 0, (flags & PROVEN) > 0
    lower, upper = np.where(known, bounds[:, player], low), np.where(known, bounds[:, players + player], high)
    return lower, upper, np.where(proven, distances, 0).astype(np.int32)


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
