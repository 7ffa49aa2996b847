"""How a node lies in memory: 32 bytes in two records. The reasons, with a picture: docs/the-trees-memory.md.

Selection reads the statistics of all children of a node but follows the links of one, so the two live apart: a block of seven
children is scored from 112 adjacent bytes. An edge's statistics live in the child's slot.

All that only some options need stands in columns of its own, which have no rows until such an option asks for them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treetop.types import FloatArray, IntArray, RecordArray

STATS = np.dtype(
    [
        ("value_sum", "f8"),  # of the returns to the player who chose this node at its parent; unused at the root
        ("visits", "i4"),
        ("prior", "f4"),  # below zero: proven, or never to be chosen again; its size stays the prior
    ]
)
LINKS = np.dtype(
    [
        ("action", "i4"),  # what leads here from the parent
        ("parent", "i4"),
        ("first_child", "i4"),  # children are contiguous
        ("num_children", "u2"),  # 0: a leaf
        ("flags", "u1"),
        ("own", "u1"),  # evaluations made at this node itself; MANY_OWN stands for as many or more
    ]
)
AMAF = np.dtype(
    [
        ("value_sum", "f8"),  # of the returns when the move that leads here was played at its parent or any time later
        ("visits", "i4"),
        ("action", "i4"),  # the move once more: who counts them all need not touch the links
    ]
)
BYTES_PER_NODE = STATS.itemsize + LINKS.itemsize

MAX_CHILDREN = 2**16 - 1
MANY_OWN = 2**8 - 1

TERMINAL = 1
"""Flag: the game is over here."""
FOLDED = 2
"""Flag: this node had children that were given up to keep memory bounded."""
PROVEN = 4
"""Flag: nothing below is worth another visit; where its bounds meet, the value is proven."""
BOUNDED = 8
"""Flag: the row in `bounds` is filled in; without it the bounds are the game's utility range."""
SHARED = 16
"""Flag of an edge in a graph: its block of children was made by another edge."""

DRAWN = 32
"""Flag: chance decides here; the priors of the children are the probabilities."""

PATH_DEPENDENT = 128
"""Flag of an edge in a graph: some of its visits depend on the path; `path_visits` and `path_sums` are filled in."""

SPARE = 64
"""Flag: nobody's place, kept for an action that may come, or left behind by those that have moved."""

FAILED = 64
"""Flag in a search over Python objects, which has no spare places: the caller's code failed here. The node is never chosen again, and its
value is unknown: no proof rests on it."""

CLOSED = np.float32(-1e-45)
"""The prior of a closed child whose prior was zero: the smallest number below it."""


class Columns(NamedTuple):
    """All arrays of a tree. Replaced as a whole, so that an interrupt never finds a tree half moved."""

    stats: RecordArray
    links: RecordArray
    returns: FloatArray
    """Value sums for every player, a row a node; no rows where the value sums of two players say it all."""
    in_flight: IntArray
    """Evaluations begun and not finished; empty until somebody asks for a batch."""
    squares: FloatArray
    """Sums of squared returns to the player who chose the node: for variances."""
    vectors: FloatArray
    """A value for every player that is not a mean: backed up by maximum, or a heuristic seen through minimax."""
    bounds: FloatArray
    """What every player is sure to receive at least, and then at most: proven, two numbers a player."""
    distances: IntArray
    """Moves to the end, where the value is proven."""
    amaf: RecordArray
    """All moves as first: what the move is worth whenever it is played."""
    keys: np.ndarray[Any, np.dtype[np.uint64]]
    """In a graph, at the first child of each block: the position's key."""
    own_sums: FloatArray
    """The returns of evaluations made at a position itself: in a graph at the first child of its block, in a tree at the node."""
    own_visits: IntArray
    """How many those are."""
    path_visits: IntArray
    """In a graph, at each edge flagged PATH_DEPENDENT: visits that depend on the path (a repetition, an end that the key leaves out)."""
    path_sums: FloatArray
    """The returns of those visits, for every player."""

    available: IntArray
    """How often an action could have been chosen: where players see different things, not all actions are there each time."""
    regrets: FloatArray
    """Regret matching: how much better an action would have done than what was played."""
    strategies: FloatArray
    """Regret matching: the sum of the shares that an action had."""
    action_values: FloatArray
    """Actions of real numbers: the numbers themselves."""

    @property
    def capacity(self) -> int:
        """How many nodes there is room for."""
        return len(self.stats)


OPTIONAL = (
    "returns",
    "in_flight",
    "squares",
    "vectors",
    "bounds",
    "distances",
    "amaf",
    "keys",
    "own_sums",
    "own_visits",
    "path_visits",
    "path_sums",
    "available",
    "regrets",
    "strategies",
    "action_values",
)
"""Columns that a tree may do without."""


def allocate(capacity: int, players: int, wanted: frozenset[str], action_size: int = 0) -> Columns:
    """Room for so many nodes. Not zeroed: a node is filled in when it is made, and pages that an earlier tree used are warm."""

    def column(name: str, dtype: Any, *shape: int) -> Any:
        return np.empty((capacity if name in wanted else 0, *shape), dtype)

    in_flight = np.zeros(
        capacity if "in_flight" in wanted else 0, np.int32
    )  # never written for nodes that nobody waits for
    return Columns(
        np.empty(capacity, STATS),
        np.empty(capacity, LINKS),
        column("returns", np.float64, players),
        in_flight,
        column("squares", np.float64),
        column("vectors", np.float64, players),
        column("bounds", np.float64, 2 * players),
        column("distances", np.int32),
        column("amaf", AMAF),
        column("keys", np.uint64),
        column("own_sums", np.float64, players),
        column("own_visits", np.int32),
        column("path_visits", np.int32),
        column("path_sums", np.float64, players),
        column("available", np.int32),
        column("regrets", np.float64),
        column("strategies", np.float64),
        column("action_values", np.float64, action_size),
    )
