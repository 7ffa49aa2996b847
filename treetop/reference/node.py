"""A node of the plain search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from treetop.reference.arithmetic import plus


@dataclass(eq=False)
class Node:
    """A node, with the statistics of the edge that leads to it. Values are kept for every player, so no sign is ever flipped."""

    action: int = -1
    prior: float = 1.0
    chooser: int = -1
    """The player who chose this node at its parent; nobody chose the root."""
    sums: list[float] = field(default_factory=list)
    """Of the returns to every player."""
    visits: int = 0
    squares: float = 0.0
    """The sum of squared returns to the chooser."""
    own_sums: list[float] = field(default_factory=list)
    """Of the evaluations made at this node itself."""
    own_visits: int = 0
    path_sums: list[float] = field(default_factory=list)
    path_visits: int = 0
    """Of an edge in a graph: visits that depend on the path, and their returns to every player."""
    vector: list[float] = field(default_factory=list)
    """A value for every player that is not a mean: see values.py."""
    in_flight: int = 0
    """Evaluations begun and not finished."""
    amaf_sum: float = 0.0
    amaf_visits: int = 0
    """What the move that leads here is worth to its chooser whenever it is played: see amaf.py."""
    bounds: list[tuple[float, float]] | None = None
    """What every player is sure to receive at least and at most, as far as it is proven: see solver.py."""
    distance: int = 0
    is_proven: bool = False
    is_closed: bool = False
    is_terminal: bool = False
    is_drawn: bool = False
    """Whether chance decides here: then the priors of the children are their probabilities, and their sums are told for the first player."""
    children: list[Node] = field(default_factory=list)

    @classmethod
    def new(cls, players: int, action: int = -1, prior: float = 1.0, chooser: int = -1) -> Node:
        """A fresh node, in a game of so many players."""
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
        """The sum of the returns to the player who chose this node."""
        return self.sums[self.chooser] if self.chooser >= 0 else 0.0

    @property
    def begun(self) -> int:
        """Visits, those in flight included."""
        return self.visits + self.in_flight

    def add(self, rewards: list[float]) -> None:
        """One more visit."""
        self.visits += 1
        self.sums = plus(self.sums, rewards)

    def evaluate(self, rewards: list[float]) -> None:
        """One more evaluation of the node itself."""
        self.own_visits += 1
        self.own_sums = plus(self.own_sums, rewards)

    def walk(self) -> Iterator[Node]:
        """This node and all below."""
        yield self
        for child in self.children:
            yield from child.walk()
