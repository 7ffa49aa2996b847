"""Sound search of a graph: a position that is reached by several paths is one node.

A `Node` is then an edge. Edges to one position share a block: its children, and the evaluations of the position itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from treetop.game.position import Position
from treetop.reference import solver
from treetop.reference.arithmetic import added, legal_actions, plus
from treetop.reference.node import Node
from treetop.reference.search import ENDED, REPEATED, ReferenceSearch
from treetop.reference.settings import Settings


@dataclass(eq=False)
class Block:
    """A position: the edges that leave it, and its own evaluations."""

    children: list[Node]
    visits: int = 0
    sums: list[float] = field(default_factory=list)


class GraphSearch(ReferenceSearch):
    """A search in which equal positions are one node."""

    def __init__(self, position: Position, settings: Settings, seed: int = 0) -> None:
        super().__init__(position, settings, seed)
        self.blocks: dict[tuple[int, int, tuple[int, ...]], Block] = {}
        """By the game's key, the player to move and the legal actions: other actions make another block."""
        self.block_of: dict[Node, Block] = {}

    def expand(self, path: list[Node], state: Any, logits: list[float] | None = None) -> bool:
        """Link the end of a path to the block of its position; the block gets the evaluations of the edge."""
        edge = path[-1]
        key = (int(state.key()), int(state.current_player()), tuple(legal_actions(self.position, state)))
        if key in self.blocks and self._passes_through(path, self.blocks[key]):
            return False
        if key not in self.blocks:
            self.blocks[key] = Block(self.new_children(state, logits), sums=[0.0] * self.facts.players)
        block = self.block_of[edge] = self.blocks[key]
        block.visits += edge.own_visits
        block.sums = plus(block.sums, edge.own_sums)
        edge.children = block.children
        edge.is_terminal = False  # the game may have ended here on another path
        return True

    def is_on_path(self, path: list[Node]) -> bool:
        """Return whether the last position of a path occurs on it before."""
        return path[-1] in self.block_of and self._passes_through(path, self.block_of[path[-1]])

    def _passes_through(self, path: list[Node], block: Block) -> bool:
        return any(self.block_of.get(edge) is block for edge in path[:-1])

    def back_up(self, path: list[Node], state: Any, rewards: list[float], ending: str) -> None:  # noqa: ARG002
        """Add one visit to each edge of a path, and recompute each position on it from its edges.

        A visit that repeats a position of its path depends on that path and does not evaluate the position: the last
        edge keeps it apart. The same is true of a game that ended in a position where other games continued: the end
        follows from something that is not in the key, and proves nothing.
        """
        end = path[-1]
        ended_apart = ending == ENDED and end in self.block_of
        if ending == REPEATED or ended_apart:
            end.path_visits += 1
            end.path_sums = plus(end.path_sums, rewards)
        elif self.settings.solver and ending == ENDED:
            solver.prove_terminal(end, rewards)
        if end in self.block_of and not ended_apart:
            if ending != REPEATED:
                block = self.block_of[end]
                block.visits += 1
                block.sums = plus(block.sums, rewards)
            self.refresh(end)
        else:
            if ending != REPEATED and not ended_apart:
                end.evaluate(rewards)
            end.add(rewards)
        for edge in reversed(path[:-1]):
            self.refresh(edge)

    def refresh(self, edge: Node) -> None:
        """Add one visit to an edge, and set its sums to S + (E - e) * V.

        E is the number of its visits; e and S are the number and the sum of those that depend on the path. V = (U +
        sums of all edges below) / (u + their visits), with U the sum and u the number of the position's own
        evaluations. V and the mean of the edge are clipped to the bounds that the edges below prove.
        """
        if self.settings.solver:
            solver.update(self.facts, edge)
        block = self.block_of[edge]
        visits = block.visits + sum(child.visits for child in block.children)
        totals = [
            added([own, *(child.sums[player] for child in block.children)]) for player, own in enumerate(block.sums)
        ]
        by_products = self.facts.players == 1 or self.facts.zero_sum
        value = solver.clip(edge, [total * (1.0 / visits) if by_products else total / visits for total in totals])
        edge.visits += 1
        if edge.path_visits:
            mixed = [
                (apart + (edge.visits - edge.path_visits) * share) / edge.visits
                for apart, share in zip(edge.path_sums, value, strict=True)
            ]
            value = solver.clip(edge, mixed)
        edge.sums = [share * edge.visits for share in value]
