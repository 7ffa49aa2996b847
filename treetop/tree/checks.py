"""What must hold of every tree at rest. Called after every test's search; cheap enough to call any time."""

from __future__ import annotations

import numpy as np

from treetop.errors import SearchError
from treetop.tree.layout import FOLDED, MANY_OWN, TERMINAL
from treetop.tree.storage import Tree
from treetop.types import NONE, ROOT


def check(tree: Tree, rewards: tuple[float, float] = (-np.inf, np.inf)) -> None:
    """Raise a `SearchError` that names the first thing wrong with a tree."""
    columns, size = tree.columns, tree.size
    stats, links = columns.stats[:size], columns.links[:size]
    visits, counts = stats["visits"].astype(np.int64), links["num_children"].astype(np.int64)
    inner = np.flatnonzero(counts)
    parent = links["parent"]

    _require(tree.max_nodes is None or size <= tree.max_nodes, "more nodes than max_nodes")
    _require(parent[ROOT] == NONE, "the root has a parent")
    _require(bool(np.all((parent[1:] >= 0) & (parent[1:] < size))), "a node has no parent")
    _require(int(counts.sum()) == size - 1, "some nodes are nobody's children, or somebody's twice")
    first = links["first_child"][inner].astype(np.int64)
    owners = np.repeat(inner, counts[inner])
    children = np.repeat(first - np.concatenate(([0], np.cumsum(counts[inner])[:-1])), counts[inner]) + np.arange(size - 1)
    _require(bool(np.all((children > 0) & (children < size))), "a child lies outside the tree")
    _require(len(np.unique(children)) == size - 1, "a node is the child of two parents")
    _require(bool(np.all(parent[children] == owners)), "a child does not know its parent")

    below = np.bincount(owners, visits[children], minlength=size).astype(np.int64)
    own = visits - below
    _require(bool(np.all(visits >= 0)), "negative visits")
    _require(bool(np.all(own >= 0)), "a node has fewer visits than its children together")
    _require(bool(np.all(np.minimum(own, MANY_OWN) == links["own"])), "a node's visits are not its own and its children's")
    reached = inner[visits[inner] > 0]
    _require(bool(np.all(own[reached] >= 1)), "an expanded node was never evaluated itself")
    terminal = (links["flags"] & TERMINAL) > 0
    _require(not np.any(terminal & (counts > 0)), "a terminal node has children")
    _require(not np.any((counts == 0) & (visits == 0) & ((links["flags"] & FOLDED) > 0)), "a folded node lost its visits")

    low, high = rewards
    slack = 1e-9 * (1 + np.abs(stats["value_sum"][1:]))
    _require(bool(np.all(np.isfinite(stats["value_sum"]))), "a value sum is not finite")
    _require(bool(np.all(stats["value_sum"][1:] <= high * visits[1:] + slack)) if np.isfinite(high) else True, "a value above the range")
    _require(bool(np.all(stats["value_sum"][1:] >= low * visits[1:] - slack)) if np.isfinite(low) else True, "a value below the range")
    _require(bool(np.all((stats["prior"] >= 0) & (stats["prior"] <= 1 + 1e-5))), "a prior outside of 0 to 1")
    mass = np.bincount(owners, stats["prior"][children].astype(float), minlength=size)[inner]
    _require(bool(np.all(np.abs(mass - 1) < 1e-3)), "the priors of some children do not sum to 1")
    if len(columns.in_flight):
        _require(not columns.in_flight[:size].any(), "evaluations are in flight; check a tree at rest")


def _require(condition: object, what: str) -> None:
    if not condition:
        raise SearchError(f"the tree is broken: {what}")
