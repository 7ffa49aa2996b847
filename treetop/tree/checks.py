"""Check the invariants of a tree without in-flight visits. Tests call it after every search; it is cheap."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import SearchError
from treetop.tree.layout import BOUNDED, DRAWN, FOLDED, MANY_OWN, PATH_DEPENDENT, PROVEN, SHARED, SPARE, TERMINAL
from treetop.tree.storage import Tree
from treetop.types import NONE, ROOT


def check(tree: Tree, rewards: tuple[float, float] = (-np.inf, np.inf)) -> None:
    """Raise a `SearchError` for the first invariant that a tree violates."""
    if tree.has_information_sets:
        check_information_sets(tree)
        return
    columns, size = tree.columns, tree.size
    stats, links = columns.stats[:size], columns.links[:size]
    visits, counts = stats["visits"].astype(np.int64), links["num_children"].astype(np.int64)
    flags, parent = links["flags"], links["parent"]
    inner = np.flatnonzero((counts > 0) & ((flags & SHARED) == 0))

    _require(tree.max_nodes is None or size <= tree.max_nodes, "more nodes than max_nodes")
    _require(parent[ROOT] == NONE, "the root has a parent")
    _require(bool(np.all((parent[1:] >= 0) & (parent[1:] < size))), "a node has no parent")
    _require(int(counts[inner].sum()) == size - 1, "some nodes are children of no node, or twice of one")
    first = links["first_child"][inner].astype(np.int64)
    owners = np.repeat(inner, counts[inner])
    children = np.repeat(first - np.concatenate(([0], np.cumsum(counts[inner])[:-1])), counts[inner]) + np.arange(
        size - 1
    )
    _require(bool(np.all((children > 0) & (children < size))), "a child lies outside the tree")
    _require(len(np.unique(children)) == size - 1, "a node is the child of two parents")
    _require(bool(np.all(parent[children] == owners)), "the parent of a child is another node")

    _require(bool(np.all(visits >= 0)), "negative visits")
    if tree.is_graph:
        _check_flow(tree, visits, counts)
    else:
        _check_counts(visits, links, inner, owners, children, evaluated=not tree.opens_unevaluated)
        if tree.has("own_visits"):
            own = columns.own_visits[:size]
            reached = (visits > 0) & ((flags & (DRAWN | FOLDED)) == 0)  # a folded node may be one of chance
            _require(
                bool(np.all((own <= visits) & (((own > 0) >= reached) | tree.opens_unevaluated))),
                "a node's own evaluations do not fit its visits",
            )
    terminal = (flags & TERMINAL) > 0
    _require(not np.any(terminal & (counts > 0)), "a terminal node has children")
    _require(not np.any((counts == 0) & (visits == 0) & ((flags & FOLDED) > 0)), "a folded node lost its visits")
    _check_values(stats, visits, rewards)
    priors = np.abs(stats["prior"])
    _require(bool(np.all(priors <= 1 + 1e-5)), "a prior above 1")
    mass = np.bincount(owners, priors[children].astype(float), minlength=size)[inner]
    _require(bool(np.all(np.abs(mass - 1) < 1e-3)), "the priors of some children do not sum to 1")
    if len(columns.bounds):
        _check_bounds(tree, flags, rewards)
    if len(columns.in_flight):
        _require(not columns.in_flight[:size].any(), "there are in-flight visits; check the tree without them")


def _check_counts(
    visits: npt.NDArray[np.int64], links: npt.NDArray[Any], inner: npt.NDArray[np.int64],
    owners: npt.NDArray[np.int64], children: npt.NDArray[np.int64], *, evaluated: bool,
) -> None:  # fmt: skip
    below = np.bincount(owners, visits[children], minlength=len(visits)).astype(np.int64)
    own = visits - below
    _require(bool(np.all(own >= 0)), "a node has fewer visits than its children together")
    _require(
        bool(np.all(np.minimum(own, MANY_OWN) == links["own"])),
        "a node's visits are not the sum of its own and its children's",
    )
    reached = inner[(visits[inner] > 0) & ((links["flags"][inner] & DRAWN) == 0)]
    _require(not evaluated or bool(np.all(own[reached] >= 1)), "an expanded node was never evaluated itself")


def _check_flow(tree: Tree, visits: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> None:
    """Check that the visits into a position by all edges equal its own evaluations plus the visits of its children."""
    links = tree.columns.links[: tree.size]
    edges = np.flatnonzero(counts)
    leaders, which, inverse = np.unique(links["first_child"][edges], return_index=True, return_inverse=True)
    _require(
        bool(np.all(counts[edges] == counts[edges[which]][inverse])), "edges to one position disagree on its moves"
    )
    makers = np.bincount(inverse, (links["flags"][edges] & SHARED) == 0)
    _require(bool(np.all(makers == 1)), "a position has no first edge, or two of them")
    # Visits that depend on the path are not those of the position.
    apart = np.where(links["flags"] & PATH_DEPENDENT, tree.columns.path_visits[: tree.size], 0)
    _require(
        bool(np.all((apart >= 0) & (apart <= visits))), "an edge has more visits that depend on the path than visits"
    )
    into = np.bincount(inverse, (visits - apart)[edges]).astype(np.int64)
    through = tree.visits_of_blocks(edges[which])
    _require(
        bool(np.all(tree.columns.own_visits[leaders] >= 0)) and bool(np.all(through >= 1)),
        "an expanded position was never visited",
    )
    if tree.has_moved:  # edges to a position may have been removed with the nodes that are not below the root
        below = leaders != links["first_child"][ROOT]  # edges that lead back to the root are older than the root
        _require(
            bool(np.all(into[below] <= through[below])), "a position has fewer visits than the edges that lead to it"
        )
    else:
        _require(bool(np.all(into == through)), "visits were lost or counted twice")
    leaves = np.flatnonzero(counts == 0)
    evaluated = np.minimum((visits - apart)[leaves], MANY_OWN)
    _require(
        bool(np.all(evaluated == links["own"][leaves])),
        "a leaf's visits are not its own evaluations and those that depend on the path",
    )


def _check_values(stats: npt.NDArray[Any], visits: npt.NDArray[np.int64], rewards: tuple[float, float]) -> None:
    low, high = rewards
    sums = stats["value_sum"][1:]
    slack = 1e-9 * (1 + np.abs(sums)) * np.maximum(np.log2(1 + visits[1:]), 1)
    _require(bool(np.all(np.isfinite(sums))), "a value sum is not finite")
    _require(bool(np.all(sums <= high * visits[1:] + slack)) if np.isfinite(high) else True, "a value above the range")
    _require(bool(np.all(sums >= low * visits[1:] - slack)) if np.isfinite(low) else True, "a value below the range")


def _check_bounds(tree: Tree, flags: npt.NDArray[np.uint8], rewards: tuple[float, float]) -> None:
    bounded = np.flatnonzero((flags & BOUNDED) > 0)
    low, high = tree.columns.bounds[bounded, : tree.players], tree.columns.bounds[bounded, tree.players :]
    _require(bool(np.all(low <= high)), "a lower bound above the upper one")
    _require(bool(np.all((low >= rewards[0]) & (high <= rewards[1]))), "a bound outside of the utility range")
    proven = (flags & PROVEN) > 0
    _require(bool(np.all((flags[proven] & BOUNDED) > 0)), "a proven node without bounds")
    closed = tree.columns.stats["prior"][: tree.size] < 0
    _require(bool(np.all(closed[1:] | ~proven[1:])), "a proven node is not closed")


def check_information_sets(tree: Tree) -> None:
    """Check a tree of information sets: the visits of an information set are those of its actions."""
    stats, links = tree.columns.stats[: tree.size], tree.columns.links[: tree.size]
    visits, counts = stats["visits"].astype(np.int64), links["num_children"].astype(np.int64)
    sets = np.flatnonzero(tree.columns.keys[: tree.size] != 0)
    _require(bool(np.all(visits >= 0)), "negative visits")
    _require(bool(np.all(counts[sets] <= links["action"][sets])), "an information set has more actions than slots")
    first = links["first_child"][sets].astype(np.int64)
    owners = np.repeat(sets, counts[sets])
    children = np.repeat(first - np.concatenate(([0], np.cumsum(counts[sets])[:-1])), counts[sets]) + np.arange(
        len(owners)
    )
    _require(bool(np.all((children > 0) & (children < tree.size))), "an action lies outside the tree")
    _require(len(np.unique(children)) == len(children), "an action belongs to two information sets")
    _require(bool(np.all(links["parent"][children] == owners)), "the parent of an action is another information set")
    _require(bool(np.all((links["flags"][children] & SPARE) == 0)), "an action is in a spare slot")
    below = np.bincount(owners, visits[children], minlength=tree.size).astype(np.int64)
    _require(bool(np.all(below[sets] == visits[sets])), "the visits of an information set are not those of its actions")
    drawn = (links["flags"][owners] & DRAWN) > 0  # outcomes of chance may have more visits than draws
    _require(
        bool(np.all(drawn | (tree.columns.available[children] >= visits[children]))),
        "an action was chosen more often than it was available",
    )
    _require(
        bool(np.all(~drawn | (visits[children] == 0) | (tree.columns.available[children] > 0))),
        "an outcome that was never drawn has visits",
    )
    _require(bool(np.all(np.isfinite(stats["value_sum"][children]))), "a value sum is not finite")


def _require(condition: object, what: str) -> None:
    if not condition:
        raise SearchError(f"the tree is inconsistent: {what}")
