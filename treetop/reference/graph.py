"""A position that is reached by several ways is one node: sound search of a graph.

A `Node` is then an edge. Edges to one position share a block: its children, and the evaluations made at the position itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from treetop.game.position import Position
from treetop.reference import solver
from treetop.reference.arithmetic import added, legal_actions, plus
from treetop.reference.node import Node
from treetop.reference.search import ENDED, EXHAUSTED, REPEATED, ReferenceSearch
from treetop.reference.settings import Settings


@dataclass(eq=False)
class Block:
    """A position: the edges that leave it, and its own evaluations."""

    children: list[Node]
    visits: int = 0
    sums: list[float] = field(default_factory=list)


class GraphSearch(ReferenceSearch):
    """The same four phases where equal positions are one."""

    def __init__(self, position: Position, settings: Settings, seed: int = 0) -> None:
        super().__init__(position, settings, seed)
        self.blocks: dict[tuple[int, int, tuple[int, ...]], Block] = {}
        """By the game's key, whose turn it is, and the legal moves: equal keys of positions with other moves are not the same."""
        self.block_of: dict[Node, Block] = {}

    def expand(self, path: list[Node], state: Any, logits: list[float] | None = None) -> bool:
        """Let the end of a path lead to its position's block. What the edge learned as a leaf belongs to the position from now on."""
        edge = path[-1]
        key = (int(state.key()), int(state.current_player()), tuple(legal_actions(self.position, state)))
        if key in self.blocks and self._passed(path, self.blocks[key]):
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
        """Whether the last position of a path stood on it before."""
        return path[-1] in self.block_of and self._passed(path, self.block_of[path[-1]])

    def _passed(self, path: list[Node], block: Block) -> bool:
        return any(self.block_of.get(edge) is block for edge in path[:-1])

    def back_up(self, path: list[Node], state: Any, rewards: list[float], ending: str) -> None:  # noqa: ARG002 - the mean needs no state
        """One more visit for each edge of a path, and for each position on it the value that its edges now give it.

        A visit that ended because a position came back on its path is told to that edge alone, and is no evaluation of the position. The same
        goes for an end of the game that others did not meet in that position: it comes from what the key leaves out, and proves nothing.
        """
        end = path[-1]
        of_this_path = ending == REPEATED or (ending == ENDED and end in self.block_of)
        if self.settings.solver and ending in (ENDED, EXHAUSTED) and not of_this_path:
            solver.settle(self.facts, path, rewards, ending == ENDED, sets_exact=False)
        if end in self.block_of and not of_this_path:
            block = self.block_of[end]
            block.visits += 1
            block.sums = plus(block.sums, rewards)
            self.refresh(end)
        else:
            if ending != REPEATED:
                end.evaluate(rewards)
            end.add(rewards)
        for edge in reversed(path[:-1]):
            self.refresh(edge)

    def refresh(self, edge: Node) -> None:
        """One more visit for an edge, and E * V for its sums: E its visits, V = (U + sum of the sums of all edges below) / (u + their visits).

        U is the sum of the position's own evaluations and u their number. V is clipped to what is proven.
        """
        block = self.block_of[edge]
        visits = block.visits + sum(child.visits for child in block.children)
        totals = [added([own, *(child.sums[player] for child in block.children)]) for player, own in enumerate(block.sums)]
        by_products = self.facts.players == 1 or self.facts.zero_sum
        value = [total * (1.0 / visits) if by_products else total / visits for total in totals]
        edge.visits += 1
        edge.sums = [share * edge.visits for share in solver.clip(edge, value)]
