"""The storage of a tree: growing its arrays, re-rooting, and folding at the bound `max_nodes`."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treetop.compiler.packs import Pack
from treetop.errors import SearchError
from treetop.tree.layout import (
    BOUNDED,
    BYTES_PER_NODE,
    DRAWN,
    FOLDED,
    MANY_OWN,
    OPTIONAL,
    PATH_DEPENDENT,
    PROVEN,
    SHARED,
    SHARED_WORDS,
    Columns,
    Sums,
    allocate,
)
from treetop.types import NONE, ROOT, FloatArray

if TYPE_CHECKING:
    from treetop.tree.node import Node

_FIRST_CAPACITY = 1024
_LARGE, _VAST = 2**19, 2**26
_FOLD_SHARE = 4  # a fold frees at least a quarter of the nodes, which spreads its cost over many simulations


class Tree:
    """A search tree as arrays, which the kernels write, and `Node` and `check` read.

    >>> import treetop as tt
    >>> tree = tt.search("tic_tac_toe", simulations=500, seed=1).tree
    >>> tree.size == sum(1 for node in tree.root.walk())
    True
    """

    def __init__(
        self,
        players: int,
        *,
        zero_sum: bool,
        max_nodes: int | None = None,
        columns: frozenset[str] = frozenset(),
        action_size: int = 0,
    ) -> None:
        if unknown := columns - set(OPTIONAL):
            raise ValueError(f"a tree has no column {', '.join(sorted(unknown))}")
        self.players = players
        self.zero_sum = zero_sum
        self.max_nodes = max_nodes
        self.action_size = action_size
        self.generation = 0
        """The number of times that nodes were moved; a node handle of an earlier generation is stale."""
        self.has_moved = False
        """Whether parts of the tree were removed since it was created."""
        self.opens_unevaluated = False
        """Whether some nodes were expanded without an evaluation, because no rollout from them succeeded."""
        self.size = 0
        self.totals: FloatArray = np.zeros(players)
        """The root's value sums, for every player."""
        capacity = _FIRST_CAPACITY if max_nodes is None else min(_FIRST_CAPACITY, max_nodes)
        # An information set has value sums only for the player who chooses there.
        one_sum = players == 1 or zero_sum or "available" in columns
        self._wanted = columns if one_sum else columns | {"returns"}
        self.columns = allocate(capacity, players, self._wanted, action_size)
        self.bytes_per_node = self._measure()
        """The memory of one node, in bytes."""
        self._sums = Sums(self.totals, np.zeros(SHARED_WORDS, np.int64))
        self._pack: Pack | None = None
        self.clear()

    @property
    def pack(self) -> Pack:
        """The arrays as an argument of kernels."""
        if self._pack is None:
            self._pack = Pack(*self.parts)
        return self._pack.refresh(*self.parts)

    @property
    def parts(self) -> tuple[Columns, Sums]:
        """The arrays, by name: what a pack is made of."""
        return self.columns, self._sums

    @property
    def shared(self) -> npt.NDArray[np.int64]:
        """What several threads on this tree share."""
        return self._sums.shared

    @property
    def is_graph(self) -> bool:
        """Whether transpositions share a node."""
        return "path_visits" in self._wanted

    @property
    def has_information_sets(self) -> bool:
        """Whether the nodes are information sets, which are found by their keys."""
        return "available" in self._wanted

    def has(self, column: str) -> bool:
        """Return whether this tree has an optional column."""
        return column in self._wanted

    def clear(self) -> None:
        """Remove everything but the root, and reset the root."""
        self.generation += 1
        self.has_moved = False
        self.size = 1
        self.totals[:] = 0.0
        columns = self.columns
        columns.stats[ROOT] = (0.0, 0, 1.0)
        columns.links[ROOT] = (NONE, NONE, NONE, 0, 0, 0)
        for name in OPTIONAL:
            getattr(columns, name)[:1] = 0

    @property
    def nbytes(self) -> int:
        """The memory of the nodes in use, in bytes."""
        return self.size * self.bytes_per_node

    def _measure(self) -> int:
        """Return the memory of one node, in bytes."""
        columns: list[npt.NDArray[Any]] = [getattr(self.columns, name) for name in self._wanted]
        return BYTES_PER_NODE + sum(column.nbytes // max(len(column), 1) for column in columns)

    @property
    def root_visits(self) -> int:
        """The number of simulations that went through the root."""
        return int(self.columns.stats.item(ROOT)[1])

    @property
    def root(self) -> Node:
        """The root, as a handle."""
        from treetop.tree.node import Node

        return Node(self)

    def check(self, rewards: tuple[float, float] = (-np.inf, np.inf)) -> None:
        """Raise a `SearchError` if this tree is inconsistent; `rewards` is the game's utility range."""
        from treetop.tree.checks import check

        check(self, rewards)

    def reserve(self, nodes: int) -> None:
        """Allocate memory for a search that adds about this number of nodes; unused pages cost nothing."""
        capacity, bound = self.columns.capacity, self.max_nodes
        wanted = self.size + min(nodes, _VAST)
        if wanted <= capacity or capacity == bound:
            return
        wanted = max(wanted, 2 * capacity)  # so that many small runs do not copy the tree each time
        with suppress(MemoryError):  # it is only an optimization
            self._resize(wanted if bound is None else min(wanted, bound))

    def ensure_capacity(self, needed: int) -> None:
        """Make sure that `needed` more nodes fit, by growing the arrays, or by folding at the bound."""
        if self.size + needed <= self.columns.capacity:
            return
        bound = self.max_nodes
        if bound is not None and self.size + needed > bound:
            self.fold(needed)
            if self.size + needed > bound:
                raise SearchError(
                    f"max_nodes={bound} is too small: {needed} nodes must be added together; allow more nodes"
                )
            if self.size + needed <= self.columns.capacity:
                return
        # Doubling copies each node about once. A large tree is copied one last time, to arrays that it will hardly
        # outgrow: untouched memory costs nothing, but copying millions of nodes during a search does.
        target = max(2 * self.columns.capacity, self.size + needed)
        if self.size > _LARGE:
            target = max(target, _VAST)
        try:
            self._resize(target if bound is None else min(target, bound))
        except MemoryError:
            self._resize(self.size + max(needed, self.size // 8))

    def _resize(self, capacity: int) -> None:
        old = self.columns
        new = allocate(capacity, self.players, self._wanted, self.action_size)
        for name in Columns._fields:
            before = getattr(old, name)
            getattr(new, name)[: min(self.size, len(before))] = before[: self.size]
        self.columns = new

    def track_in_flight(self) -> None:
        """Start to count in-flight visits."""
        self.add_column("in_flight")

    def add_column(self, name: str) -> None:
        """Add an optional column, with zeros for the existing nodes."""
        if name not in self._wanted:
            self._wanted |= {name}
            column = getattr(allocate(self.columns.capacity, self.players, frozenset({name})), name)
            column[: self.size] = np.zeros(1, column.dtype)[0]
            self.columns = self.columns._replace(**{name: column})
            self.bytes_per_node = self._measure()

    def reroot(self, node: int, player: int) -> None:
        """Make `node`, which `player` chose, the root, and keep only its subtree."""
        if (
            self.is_graph
            and not self.columns.links["num_children"][node]
            and self.columns.links["flags"][node] & PATH_DEPENDENT
        ):
            self.clear()  # the visits of this leaf depend on the path to it, which no longer exists
            return
        totals, visits = self._totals_of(node, player)
        self._keep(self._in_order(node, self.columns.links["num_children"]))
        self.totals[:] = totals
        stats, links = self.columns.stats, self.columns.links
        stats["value_sum"][ROOT], stats["visits"][ROOT], stats["prior"][ROOT] = 0.0, visits, 1.0
        links["action"][ROOT] = NONE
        links["flags"][ROOT] &= ~np.uint8(SHARED | PATH_DEPENDENT)
        if not links["num_children"][ROOT]:  # the proof was removed with the children: it must be found again
            links["flags"][ROOT] &= ~np.uint8(PROVEN)

    def resize_in_place(self, size: int, *, kept: bool) -> None:
        """Note that a kernel has moved nodes to the front of the arrays: a subtree, or (not `kept`) a new root."""
        self.generation += 1
        self.has_moved = kept
        self.size = size

    def _totals_of(self, node: int, player: int) -> tuple[FloatArray, int]:
        """Return a node's value sums for all players, and its visits; in a graph those of all edges to it."""
        columns = self.columns
        visits = int(columns.stats["visits"][node])
        if len(columns.returns):
            totals = np.array(columns.returns[node])
        else:
            totals = np.full(self.players, -float(columns.stats["value_sum"][node]))
            totals[player] *= -1.0
        if self.is_graph and columns.links["num_children"][node]:
            if columns.links["flags"][node] & PATH_DEPENDENT:
                totals -= columns.path_sums[node]
                visits -= int(columns.path_visits[node])
            every = int(self.visits_of_blocks(np.array([node]))[0])
            totals *= every / visits
            if columns.links["flags"][node] & BOUNDED:
                totals = np.clip(
                    totals, every * columns.bounds[node, : self.players], every * columns.bounds[node, self.players :]
                )
            visits = every
        return totals, visits

    def visits_of_blocks(self, edges: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return the visits of the positions at the end of some edges of a graph, by all edges to them."""
        first = self.columns.links["first_child"][edges].astype(np.int64)
        last = first + self.columns.links["num_children"][edges]
        running = np.concatenate(([0], np.cumsum(self.columns.stats["visits"][: self.size], dtype=np.int64)))
        return np.asarray(self.columns.own_visits[first] + running[last] - running[first])

    def fold(self, needed: int) -> None:
        """Remove the least visited subtrees: their roots keep their statistics and become leaves.

        Nodes have at least as many visits as the nodes below them, so there is one threshold: every expanded node with
        at most that number of visits loses its children.
        """
        if len(self.columns.in_flight) and self.columns.in_flight[ROOT]:
            raise SearchError(
                "the tree is full while evaluations are in flight; finish them by tell or drop, or allow more nodes"
            )
        links, visits = self.columns.links[: self.size], self.columns.stats["visits"][: self.size]
        wanted = max(needed, self.size // _FOLD_SHARE)
        inner = np.flatnonzero(links["num_children"])
        if self.is_graph:
            visits = visits.copy()
            visits[inner] = self.visits_of_blocks(inner)  # the visits of a block are those by all edges to it
        expanded = inner[(inner != ROOT) & ((links["flags"][inner] & SHARED) == 0)]
        order = expanded[np.argsort(visits[expanded], kind="stable")]
        freed = np.cumsum(links["num_children"][order], dtype=np.int64)
        enough = int(np.searchsorted(freed, wanted))
        if not len(order):
            raise SearchError(
                f"max_nodes={self.max_nodes} is too small: the root and its children fill it; allow more nodes"
            )
        threshold = visits[order[min(enough, len(order) - 1)]]
        kept_children = np.where((visits <= threshold) & (np.arange(self.size) != ROOT), 0, links["num_children"])
        folded = (kept_children == 0) & (links["num_children"] > 0)
        # An abandoned simulation may leave children below a node without visits, which is not marked.
        links["flags"][folded & (visits > 0)] |= FOLDED
        links["flags"][folded] &= ~np.uint8(SHARED | DRAWN | PATH_DEPENDENT)
        links["own"][folded] = np.minimum(self.columns.stats["visits"][: self.size][folded], MANY_OWN)
        links["num_children"] = kept_children
        self._keep(self._in_order(ROOT, kept_children))

    def _in_order(self, root: int, num_children: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return `root` and all nodes below it, level by level: siblings stay adjacent, parents come first."""
        first_child = self.columns.links["first_child"]
        level = np.array([root], np.int64)
        levels = [level]
        seen = np.zeros(self.size if self.is_graph else 0, bool)
        while True:
            inner = level[num_children[level] > 0]
            if self.is_graph:  # a block with several edges to it is kept once
                leaders, which = np.unique(first_child[inner], return_index=True)
                inner = inner[which[~seen[leaders]]]
                seen[leaders] = True
            counts = num_children[inner].astype(np.int64)
            if not len(inner):
                return np.concatenate(levels)
            starts = np.repeat(
                first_child[inner].astype(np.int64) - np.concatenate(([0], np.cumsum(counts)[:-1])), counts
            )
            level = starts + np.arange(int(counts.sum()))
            levels.append(level)

    def _keep(self, order: npt.NDArray[np.int64]) -> None:
        """Move the nodes in `order` to the front, in that order, and remove the others."""
        old = self.columns
        place = np.full(self.size, NONE, np.int64)
        place[order] = np.arange(len(order))
        new = allocate(
            max(_FIRST_CAPACITY if self.max_nodes is None else 1, old.capacity),
            self.players,
            self._wanted,
            self.action_size,
        )
        for name in Columns._fields:
            if len(getattr(new, name)):
                getattr(new, name)[: len(order)] = getattr(old, name)[order]
        links = new.links[: len(order)]
        inner = links["num_children"] > 0
        links["first_child"][inner] = place[links["first_child"][inner]]
        links["first_child"][~inner] = NONE
        if self.is_graph:
            _adopt_blocks(links, np.flatnonzero(inner))
        else:
            links["parent"][1:] = place[links["parent"][1:]]
        links["parent"][ROOT] = NONE
        self.generation += 1
        self.has_moved = True
        self.columns, self.size = new, len(order)

    def restore(self, stats: npt.NDArray[Any], links: npt.NDArray[Any], optional: dict[str, npt.NDArray[Any]]) -> None:
        """Copy the arrays of a saved tree into this one."""
        columns = allocate(len(stats), self.players, self._wanted, self.action_size)
        columns.stats[:], columns.links[:] = stats, links
        for name, array in optional.items():
            getattr(columns, name)[:] = array
        self.generation += 1
        self.has_moved = True
        self.columns, self.size = columns, len(stats)

    def __repr__(self) -> str:
        return f"<tree of {self.size:,} nodes, {self.root_visits:,} visits, {self.nbytes / 1e6:.1f} MB>"


def _adopt_blocks(links: npt.NDArray[Any], inner: npt.NDArray[Any]) -> None:
    """Set the parent of each block of a graph: the first edge to it. The other edges share it."""
    leaders, owners = np.unique(links["first_child"][inner], return_index=True)
    parents = inner[owners]
    links["flags"][inner] |= SHARED
    links["flags"][parents] &= ~np.uint8(SHARED)
    counts = links["num_children"][parents].astype(np.int64)
    children = np.repeat(leaders - np.concatenate(([0], np.cumsum(counts)[:-1])), counts) + np.arange(int(counts.sum()))
    links["parent"][children] = np.repeat(parents, counts)
