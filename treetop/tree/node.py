"""A read-only handle of a node, for people and tests."""

from __future__ import annotations

from collections.abc import Iterator

from treetop.errors import StaleNodeError
from treetop.tree.layout import FOLDED, TERMINAL
from treetop.tree.storage import Tree
from treetop.types import NONE, ROOT


class Node:
    """One node of a tree. Reading it after the tree was re-rooted, folded or loaded raises a `StaleNodeError`.

    >>> import treetop as tt
    >>> node = tt.search("tic_tac_toe", simulations=500, seed=1).tree.root
    >>> node.visits, len(node.children), node.child(4).visits
    (500, 9, 207)
    """

    __slots__ = ("_generation", "_tree", "index")

    def __init__(self, tree: Tree, index: int = ROOT) -> None:
        self._tree = tree
        self._generation = tree.generation
        self.index = index

    def _own(self) -> Tree:
        if self._tree.generation != self._generation:
            raise StaleNodeError(
                f"node {self.index} belongs to an earlier state of its tree; get the root from the search again"
            )
        return self._tree

    @property
    def visits(self) -> int:
        """The number of simulations that went through this node."""
        return int(self._own().columns.stats["visits"][self.index])

    @property
    def value_sum(self) -> float:
        """The sum of the returns to the player who chose this node at its parent."""
        return float(self._own().columns.stats["value_sum"][self.index])

    @property
    def value(self) -> float | None:
        """The mean return to the player who chose this node at its parent; None at the root and without visits."""
        visits = self.visits
        return self.value_sum / visits if visits and self.index != ROOT else None

    @property
    def prior(self) -> float:
        """The prior probability of choosing this node at its parent."""
        return abs(float(self._own().columns.stats["prior"][self.index]))

    @property
    def action(self) -> int:
        """The action that leads here; NONE at the root."""
        return int(self._own().columns.links["action"][self.index])

    @property
    def parent(self) -> Node | None:
        """The parent, or None at the root."""
        parent = int(self._own().columns.links["parent"][self.index])
        return None if parent == NONE else Node(self._tree, parent)

    @property
    def children(self) -> list[Node]:
        """The children, in the order of the game's legal actions; empty for a leaf."""
        link = self._own().columns.links[self.index]
        first = int(link["first_child"])
        return [Node(self._tree, first + offset) for offset in range(int(link["num_children"]))]

    @property
    def is_leaf(self) -> bool:
        """Whether the node has no children."""
        return int(self._own().columns.links["num_children"][self.index]) == 0

    @property
    def is_terminal(self) -> bool:
        """Whether the game is over here, as found by a simulation."""
        return bool(self._own().columns.links["flags"][self.index] & TERMINAL)

    @property
    def is_closed(self) -> bool:
        """Whether selection skips this node: it is proven, or cannot be better than a proven sibling."""
        return bool(self._own().columns.stats["prior"][self.index] < 0)

    @property
    def is_folded(self) -> bool:
        """Whether the children of this node were removed to bound memory."""
        return bool(self._own().columns.links["flags"][self.index] & FOLDED)

    @property
    def own_visits(self) -> int:
        """The number of evaluations of this node itself: its visits minus those of its children."""
        return self.visits - sum(child.visits for child in self.children)

    def child(self, action: int) -> Node | None:
        """Return the child of an action, or None."""
        return next((child for child in self.children if child.action == action), None)

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it, parents first."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and (self._tree, self._generation, self.index) == (
            other._tree,
            other._generation,
            other.index,
        )

    def __hash__(self) -> int:
        return hash((id(self._tree), self._generation, self.index))

    def __repr__(self) -> str:
        value = self.value
        text = "" if value is None else f", value {value:+.4f}"
        return f"<node {self.index}: action {self.action}, {self.visits:,} visits{text}, {len(self.children)} children>"
