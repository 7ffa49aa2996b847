"""The memory layout of a node: 32 bytes in two records. docs/the-trees-memory.md gives the reasons, with a picture.

Selection reads the statistics of all children of a node but the links of only one, so they are separate: a block of
seven children is scored from 112 adjacent bytes. The statistics of an edge are in the child's slot.

Data that only some options need is in optional columns, which have no rows unless such an option is used.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treetop.types import FloatArray, IntArray, RecordArray

STATS = np.dtype(
    [
        ("value_sum", "f8"),  # of the returns to the player who chose this node at its parent; unused at the root
        ("visits", "i4"),
        ("prior", "f4"),  # negative: the child is closed; its absolute value remains the prior
    ]
)
LINKS = np.dtype(
    [
        ("action", "i4"),  # the action that leads here from the parent
        ("parent", "i4"),
        ("first_child", "i4"),  # children are contiguous
        ("num_children", "u2"),  # 0: a leaf
        ("flags", "u1"),
        ("own", "u1"),  # the number of evaluations of this node itself; MANY_OWN means this number or more
    ]
)
AMAF = np.dtype(
    [
        ("value_sum", "f8"),  # of the returns when the move that leads here was played at its parent or any time later
        ("visits", "i4"),
        ("action", "i4"),  # a copy of the action, so that the AMAF backup does not read the links
    ]
)
BYTES_PER_NODE = STATS.itemsize + LINKS.itemsize

MAX_CHILDREN = 2**16 - 1
MANY_OWN = 2**8 - 1

TERMINAL = 1
"""Flag: the game is over here."""
FOLDED = 2
"""Flag: the children of this node were removed to bound memory."""
PROVEN = 4
"""Flag: no further visit is needed; if the bounds are equal, the value is proven."""
BOUNDED = 8
"""Flag: the row in `bounds` is filled in; without it the bounds are the game's utility range."""
SHARED = 16
"""Flag of an edge in a graph: its block of children was created by another edge."""

DRAWN = 32
"""Flag: this is a chance node; the priors of the children are the probabilities."""

PATH_DEPENDENT = 128
"""Flag of an edge in a graph: some of its visits depend on the path; `path_visits` and `path_sums` are filled in."""

SPARE = 64
"""Flag: an unused slot, reserved for a later action of an information set, or left after its actions were moved."""

FAILED = 64
"""Flag in a search over Python objects, which has no spare slots: the caller's code failed here. The node is never
selected again, and its value is unknown: no proof uses it."""

CLOSED = np.float32(-1e-45)
"""The prior of a closed child whose prior was zero: the greatest negative number."""


SHARED_WORDS = 64
"""The words of `Sums.shared`."""


class Columns(NamedTuple):
    """All arrays of a tree. They are replaced together, so that an interrupt never leaves a tree half moved."""

    stats: RecordArray
    links: RecordArray
    returns: FloatArray
    """Value sums for every player, one row a node; no rows in games with one player or zero-sum rewards."""
    in_flight: IntArray
    """In-flight visits; empty until the first batch."""
    locks: IntArray
    """Which subtrees belong to one of several threads, see `kernels.shared`; empty in a search by one thread."""
    squares: FloatArray
    """Sums of squared returns to the player who chose the node, for variances."""
    vectors: FloatArray
    """Values for every player that are not means: maxima, or heuristics backed up by minimax."""
    bounds: FloatArray
    """Proven lower bounds of the value for every player, then the upper bounds: two numbers a player."""
    distances: IntArray
    """The number of moves to the end, if the value is proven."""
    amaf: RecordArray
    """AMAF statistics."""
    keys: np.ndarray[Any, np.dtype[np.uint64]]
    """In a graph, at the first child of each block: the position's key."""
    own_sums: FloatArray
    """The returns of evaluations of a position itself: in a graph at the first child of its block, else at the node."""
    own_visits: IntArray
    """The number of those evaluations."""
    path_visits: IntArray
    """In a graph, at each edge flagged PATH_DEPENDENT: the visits whose result depends on the path (a repetition, or an
    end that the key does not distinguish)."""
    path_sums: FloatArray
    """The returns of those visits, for every player."""

    available: IntArray
    """The availability of an action: how often it could have been chosen in its information set."""
    regrets: FloatArray
    """Regret matching: the cumulative regret of an action."""
    strategies: FloatArray
    """Regret matching: the sum of the probabilities of an action."""
    action_values: FloatArray
    """The vectors of continuous actions."""

    @property
    def capacity(self) -> int:
        """The number of nodes that fit into the arrays."""
        return len(self.stats)


class Sums(NamedTuple):
    """What belongs to the tree as a whole."""

    totals: FloatArray
    """The value sums of the root."""
    shared: np.ndarray[Any, np.dtype[np.int64]]
    """What several threads on one tree share, see `kernels.shared`."""


OPTIONAL = (
    "returns",
    "in_flight",
    "locks",
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
"""The names of the optional columns."""
TRANSIENT = ("in_flight", "locks")
"""The optional columns that are of no use after a call, so that they are not saved."""


def allocate(capacity: int, players: int, wanted: frozenset[str], action_size: int = 0) -> Columns:
    """Return arrays for this number of nodes. They are not zeroed: a node is filled in when it is created."""

    def column(name: str, dtype: Any, *shape: int) -> Any:
        return np.empty((capacity if name in wanted else 0, *shape), dtype)

    # Zeroed, because they are not written when a node is created.
    in_flight = np.zeros(capacity if "in_flight" in wanted else 0, np.int32)
    locks = np.zeros(capacity if "locks" in wanted else 0, np.int32)
    return Columns(
        np.empty(capacity, STATS),
        np.empty(capacity, LINKS),
        column("returns", np.float64, players),
        in_flight,
        locks,
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
