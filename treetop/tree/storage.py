"""The arrays of a tree: how they grow, move under a new root, and stay within a bound."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treetop.errors import SearchError
from treetop.tree.layout import BYTES_PER_NODE, FOLDED, LINKS, MANY_OWN, STATS
from treetop.types import NONE, ROOT, FloatArray, IntArray, RecordArray

if TYPE_CHECKING:
    from treetop.tree.node import Node

_FIRST_CAPACITY = 1024
_LARGE, _VAST = 2**19, 2**26
_FOLD_SHARE = 4  # a fold frees at least one node in four, so that its cost is spread over many simulations


@dataclass(frozen=True)
class Columns:
    """All arrays of a tree. Replaced as a whole, so that an interrupt never finds a tree half moved."""

    stats: RecordArray
    links: RecordArray
    returns: FloatArray
    """Value sums for every player, one row a node; no rows where the value sums of two players say it all."""
    in_flight: IntArray
    """Evaluations begun and not finished, for each node; empty until somebody asks for a batch."""

    @property
    def capacity(self) -> int:
        """How many nodes there is room for."""
        return len(self.stats)


class Tree:
    """A search tree as arrays. The kernels write them; `Node` and `check` read them."""

    def __init__(self, players: int, *, zero_sum: bool, max_nodes: int | None = None) -> None:
        self.players = players
        self.zero_sum = zero_sum
        self.max_nodes = max_nodes
        self.generation = 0
        """Counts the times that nodes changed their place; a node handle of an earlier generation is stale."""
        self.size = 0
        self.totals: FloatArray = np.zeros(players)
        """The root's value sums, for every player."""
        capacity = _FIRST_CAPACITY if max_nodes is None else min(_FIRST_CAPACITY, max_nodes)
        self.columns = _allocate(capacity, self._columns_per_player(), in_flight=False)
        self.clear()

    def _columns_per_player(self) -> int:
        return 0 if self.players == 1 or self.zero_sum else self.players

    def clear(self) -> None:
        """Forget everything but the bare root."""
        self.generation += 1
        self.size = 1
        self.totals[:] = 0.0
        columns = self.columns
        columns.stats[ROOT] = (0.0, 0, 1.0)
        columns.links[ROOT] = (NONE, NONE, NONE, 0, 0, 0)
        columns.returns[:1] = 0.0
        columns.in_flight[:1] = 0

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the nodes in use take."""
        columns = self.columns
        return self.size * BYTES_PER_NODE + sum(int(column[: self.size].nbytes) for column in (columns.returns, columns.in_flight))

    @property
    def root_visits(self) -> int:
        """How many simulations went through the root."""
        return int(self.columns.stats["visits"][ROOT])

    @property
    def root(self) -> Node:
        """The root, as a handle."""
        from treetop.tree.node import Node

        return Node(self)

    def check(self, rewards: tuple[float, float] = (-np.inf, np.inf)) -> None:
        """Raise a `SearchError` if anything is wrong with this tree; `rewards` is the game's utility range."""
        from treetop.tree.checks import check

        check(self, rewards)

    def reserve(self, nodes: int) -> None:
        """Take room for a search that will add about so many nodes, at once: what is not used costs nothing."""
        capacity, bound = self.columns.capacity, self.max_nodes
        wanted = self.size + min(nodes, _VAST)
        if wanted <= capacity or capacity == bound:
            return
        wanted = max(wanted, 2 * capacity)  # many small runs must not copy the tree each time
        with suppress(MemoryError):  # it was only a wish
            self._resize(wanted if bound is None else min(wanted, bound))

    def make_room(self, needed: int) -> None:
        """Room for `needed` more nodes: by growing, or at the bound by folding."""
        if self.size + needed <= self.columns.capacity:
            return
        bound = self.max_nodes
        if bound is not None and self.size + needed > bound:
            self.fold(needed)
            if self.size + needed > bound:
                raise SearchError(f"max_nodes={bound} is too small for what is to be added at once")
            if self.size + needed <= self.columns.capacity:
                return
        # Doubling copies each node about once in its life. A large tree is moved one last time, to a room that it will hardly
        # outgrow: memory that is not touched costs nothing, and a copy of millions of nodes in the middle of a search would.
        target = max(2 * self.columns.capacity, self.size + needed)
        if self.size > _LARGE:
            target = max(target, _VAST)
        try:
            self._resize(target if bound is None else min(target, bound))
        except MemoryError:
            self._resize(self.size + max(needed, self.size // 8))

    def _resize(self, capacity: int) -> None:
        old = self.columns
        new = _allocate(capacity, self._columns_per_player(), in_flight=len(old.in_flight) > 0)
        for before, after in zip(_each(old), _each(new), strict=True):
            after[: min(self.size, len(before))] = before[: self.size]
        self.columns = new

    def track_in_flight(self) -> None:
        """Begin to count evaluations in flight."""
        if not len(self.columns.in_flight):
            columns = self.columns
            self.columns = Columns(columns.stats, columns.links, columns.returns, np.zeros(columns.capacity, np.int32))

    def reroot(self, node: int, player: int) -> None:
        """Make `node`, which `player` chose, the root: keep its subtree and nothing else."""
        totals = self._totals_of(node, player)
        self._keep(self._in_order(node, self.columns.links["num_children"]))
        self.totals[:] = totals
        self.columns.stats["value_sum"][ROOT] = 0.0
        self.columns.links["action"][ROOT] = NONE

    def _totals_of(self, node: int, player: int) -> FloatArray:
        if len(self.columns.returns):
            return np.array(self.columns.returns[node])
        totals = np.full(self.players, -float(self.columns.stats["value_sum"][node]))
        totals[player] *= -1.0
        return totals

    def fold(self, needed: int) -> None:
        """Give up the least visited subtrees: their roots keep their counts and become leaves again.

        A node with few visits has only nodes with fewer below it, so one threshold decides: every expanded node with at most that
        many visits loses its children.
        """
        if len(self.columns.in_flight) and self.columns.in_flight[ROOT]:
            raise SearchError("the tree is full while evaluations are in flight; tell or drop them, or allow more nodes")
        links, visits = self.columns.links[: self.size], self.columns.stats["visits"][: self.size]
        wanted = max(needed, self.size // _FOLD_SHARE)
        expanded = np.flatnonzero(links["num_children"])
        expanded = expanded[expanded != ROOT]
        order = expanded[np.argsort(visits[expanded], kind="stable")]
        freed = np.cumsum(links["num_children"][order], dtype=np.int64)
        enough = int(np.searchsorted(freed, wanted))
        if not len(order):
            raise SearchError(f"max_nodes={self.max_nodes} is too small: the root and its children alone fill it")
        threshold = visits[order[min(enough, len(order) - 1)]]
        kept_children = np.where((visits <= threshold) & (np.arange(self.size) != ROOT), 0, links["num_children"])
        folded = (kept_children == 0) & (links["num_children"] > 0)
        links["flags"][folded] |= FOLDED
        links["own"][folded] = np.minimum(visits[folded], MANY_OWN)
        links["num_children"] = kept_children
        self._keep(self._in_order(ROOT, kept_children))

    def _in_order(self, root: int, num_children: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """All nodes below `root` and itself, level by level: siblings stay together, parents come first."""
        first_child = self.columns.links["first_child"]
        level = np.array([root], np.int64)
        levels = [level]
        while True:
            inner = level[num_children[level] > 0]
            counts = num_children[inner].astype(np.int64)
            if not len(inner):
                return np.concatenate(levels)
            starts = np.repeat(first_child[inner].astype(np.int64) - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
            level = starts + np.arange(int(counts.sum()))
            levels.append(level)

    def _keep(self, order: npt.NDArray[np.int64]) -> None:
        """Move the nodes in `order` to the front, in that order, and forget the others."""
        old = self.columns
        place = np.full(self.size, NONE, np.int64)
        place[order] = np.arange(len(order))
        new = _allocate(max(_FIRST_CAPACITY if self.max_nodes is None else 1, old.capacity), self._columns_per_player(),
                        in_flight=len(old.in_flight) > 0)
        for before, after in zip(_each(old), _each(new), strict=True):
            if len(after):
                after[: len(order)] = before[order]
        links = new.links[: len(order)]
        inner = links["num_children"] > 0
        links["first_child"][inner] = place[links["first_child"][inner]]
        links["first_child"][~inner] = NONE
        links["parent"][1:] = place[links["parent"][1:]]
        links["parent"][ROOT] = NONE
        self.generation += 1
        self.columns, self.size = new, len(order)

    def __repr__(self) -> str:
        return f"<tree of {self.size:,} nodes, {self.root_visits:,} visits, {self.nbytes / 1e6:.1f} MB>"


def _allocate(capacity: int, players: int, *, in_flight: bool) -> Columns:
    # Not zeroed: a node is filled in when it is made, and pages that an earlier tree used are warm.
    return Columns(
        np.empty(capacity, STATS),
        np.empty(capacity, LINKS),
        np.empty((capacity if players else 0, players)),
        np.zeros(capacity if in_flight else 0, np.int32),
    )


def _each(columns: Columns) -> tuple[npt.NDArray[Any], ...]:
    return (columns.stats, columns.links, columns.returns, columns.in_flight)
