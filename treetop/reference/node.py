"""The nodes of the plain search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from treetop.reference.arithmetic import plus


@dataclass(eq=False)
class Node:
    """A node, with the statistics of the edge that leads to it.

    Values are kept for every player, so no sign is flipped.
    """

    action: int = -1
    prior: float = 1.0
    chooser: int = -1
    """The player who chooses this node at its parent; -1 at the root."""
    sums: list[float] = field(default_factory=list)
    """The sum of the returns, for each player."""
    visits: int = 0
    squares: float = 0.0
    """The sum of the squared returns to the chooser."""
    own_sums: list[float] = field(default_factory=list)
    """The sum of the evaluations of this node itself, for each player."""
    own_visits: int = 0
    path_sums: list[float] = field(default_factory=list)
    path_visits: int = 0
    """Of an edge in a graph: the visits that depend on the path, and in `path_sums` their returns."""
    vector: list[float] = field(default_factory=list)
    """A value for each player by a backup other than the mean: see values.py."""
    in_flight: int = 0
    """The number of in-flight visits."""
    amaf_sum: float = 0.0
    amaf_visits: int = 0
    """The statistics of all moves as first, for the chooser: see amaf.py."""
    bounds: list[tuple[float, float]] | None = None
    """For each player the proven least and greatest return: see solver.py."""
    distance: int = 0
    is_proven: bool = False
    is_closed: bool = False
    is_terminal: bool = False
    is_chance: bool = False
    """Whether this is a chance node.

    The priors of its children are probabilities, and their sums are those of player 0.
    """
    children: list[Node] = field(default_factory=list)

    @classmethod
    def new(cls, players: int, action: int = -1, prior: float = 1.0, chooser: int = -1) -> Node:
        """Return a node without visits."""
        return cls(
            action,
            prior,
            chooser,
            sums=[0.0] * players,
            own_sums=[0.0] * players,
            path_sums=[0.0] * players,
            vector=[0.0] * players,
        )

    @property
    def value_sum(self) -> float:
        """Return the sum of the returns to the chooser."""
        return self.sums[self.chooser] if self.chooser >= 0 else 0.0

    @property
    def tries(self) -> int:
        """Return the visits, in-flight visits included."""
        return self.visits + self.in_flight

    def add(self, rewards: list[float]) -> None:
        """Add a visit."""
        self.visits += 1
        self.sums = plus(self.sums, rewards)

    def evaluate(self, rewards: list[float]) -> None:
        """Add an evaluation of the node itself."""
        self.own_visits += 1
        self.own_sums = plus(self.own_sums, rewards)

    def walk(self) -> Iterator[Node]:
        """Yield this node and all nodes below it."""
        yield self
        for child in self.children:
            yield from child.walk()
