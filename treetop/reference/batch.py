"""Simulations that wait for an evaluation from outside the search.

An in-flight simulation is counted at each node of its path. It is in no value sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from treetop.reference import rollouts
from treetop.reference.graph import GraphSearch
from treetop.reference.node import Node
from treetop.reference.search import EXHAUSTED, LEAF, REPEATED, ReferenceSearch


@dataclass(frozen=True)
class Leaf:
    """A path whose end waits for an evaluation, the state there, and the immediate rewards of its steps."""

    path: list[Node]
    state: Any
    steps: list[list[float]]


class BatchSearch(ReferenceSearch):
    """A search that stops after selection.

    A leaf is expanded when its evaluation arrives, because that has the priors.
    """

    expands_during_selection = False

    def ask(self, size: int, most: float = math.inf) -> list[Leaf]:
        """Return up to `size` distinct leaves that need an evaluation, by at most `most` simulations.

        Simulations that need none are finished at once, up to 16 for each leaf asked for, leaves included. A selection
        that ends at a leaf in flight ends the batch, and the random generator returns to its state before that
        selection.
        """
        leaves, done, most = list[Leaf](), 0, min(most, 16 * size)
        while len(leaves) < size and done + len(leaves) < most and not self.root.is_proven:
            word, state = self.rng.word, self.position.state
            path, ending = self.select(state)
            rewards = None if ending == EXHAUSTED and len(path) == 1 else self.known_value(path[-1], state, ending)
            if rewards is None and (ending == EXHAUSTED or path[-1].in_flight):
                self.rng.word = word
                break
            self.turn += 1
            if rewards is None:
                leaves.append(Leaf(path, state, self.steps))
                self.count_in_flight(path, 1)
            else:
                self.rollout_moves = []
                self.back_up(path, state, rewards, ending)
                done += 1
        return leaves

    def tell(self, leaves: list[Leaf], logits: list[list[float]], values: list[list[float]]) -> None:
        """Expand and back up leaves, in the order of `ask`.

        An evaluation has logits of all actions, and a value for each player.
        """
        for leaf, row, rewards in zip(leaves, logits, values, strict=True):
            path, ending, self.steps = leaf.path, LEAF, leaf.steps
            mixed = self.with_rollout(leaf.state, rewards)
            self.count_in_flight(path, -1)
            if (
                not path[-1].children
                and self.is_expandable(path[-1], len(path) - 1)
                and not self.expand(path, leaf.state, row)
            ):
                ending = REPEATED
                mixed = self.known_value(path[-1], leaf.state, ending) or mixed
            self.back_up(path, leaf.state, mixed, ending)

    def drop(self, leaves: list[Leaf]) -> None:
        """Discard leaves: remove their in-flight visits, and restart the root's schedule where it was."""
        self.turn -= len(leaves)
        self.passes = None
        for leaf in leaves:
            self.count_in_flight(leaf.path, -1)

    def with_rollout(self, state: Any, rewards: list[float]) -> list[float]:
        """Return weight * a rollout + (1 - weight) * the evaluation; the evaluation where the weight is 0 or 1."""
        weight = self.settings.rollout_weight
        self.rollout_moves = []
        if not 0.0 < weight < 1.0:
            return rewards
        returns = rollouts.rollout(self, state.copy())
        return [weight * rollout + (1.0 - weight) * value for rollout, value in zip(returns, rewards, strict=True)]

    def count_in_flight(self, path: list[Node], change: int) -> None:
        """Add `change` to the in-flight visits of each node of a path."""
        for node in path:
            node.in_flight += change


class GraphBatchSearch(BatchSearch, GraphSearch):
    """A search of a graph in batches."""
