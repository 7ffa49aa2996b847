"""Simulations that wait for somebody else's evaluation. One in flight is counted on its whole path, and nowhere in the value sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treetop.reference import rollouts
from treetop.reference.graph import GraphSearch
from treetop.reference.node import Node
from treetop.reference.search import EXHAUSTED, LEAF, REPEATED, ReferenceSearch


@dataclass(frozen=True)
class Leaf:
    """A path whose end waits for an evaluation, the state there, and what the steps to it brought."""

    path: list[Node]
    state: Any
    steps: list[list[float]]


class BatchSearch(ReferenceSearch):
    """The same four phases, with a pause after the first. A leaf is expanded when its evaluation comes, which brings the priors."""

    expands_on_the_way_down = False

    def ask(self, size: int) -> list[Leaf]:
        """Up to `size` simulations: distinct leaves to be evaluated, and what needs no evaluation, which is settled at once.

        A way down that meets a leaf in flight ends the batch, and the random numbers begin again where it began.
        """
        leaves, done = list[Leaf](), 0
        while done + len(leaves) < size and not self.root.is_proven:
            word, state = self.rng.word, self.position.state
            path, ending = self.select(state)
            rewards = None if ending == EXHAUSTED and len(path) == 1 else self.finish(path[-1], state, ending)
            if rewards is None and (ending == EXHAUSTED or path[-1].in_flight):
                self.rng.word = word
                break
            self.turn += 1
            if rewards is None:
                leaves.append(Leaf(path, state, self.steps))
                self.count_in_flight(path, 1)
            else:
                self.trail = []
                self.back_up(path, state, rewards, ending)
                done += 1
        return leaves

    def tell(self, leaves: list[Leaf], logits: list[list[float]], worth: list[list[float]]) -> None:
        """Expand and back up leaves, in the order in which they were asked for: logits of all actions and a value for every player."""
        for leaf, row, rewards in zip(leaves, logits, worth, strict=True):
            path, ending, self.steps = leaf.path, LEAF, leaf.steps
            mixed = self.with_rollout(leaf.state, rewards)
            self.count_in_flight(path, -1)
            if (
                not path[-1].children
                and self.is_ripe(path[-1], len(path) - 1)
                and not self.expand(path, leaf.state, row)
            ):
                ending = REPEATED
                mixed = self.finish(path[-1], leaf.state, ending) or mixed
            self.back_up(path, leaf.state, mixed, ending)

    def drop(self, leaves: list[Leaf]) -> None:
        """Give leaves up: nothing of them stays, and the root's plans begin again where they were."""
        self.turn -= len(leaves)
        self.passes = None
        for leaf in leaves:
            self.count_in_flight(leaf.path, -1)

    def with_rollout(self, state: Any, rewards: list[float]) -> list[float]:
        """The mix: weight * a rollout + (1 - weight) * the evaluation. A search by rollouts alone takes what it is told."""
        weight = self.settings.rollout_weight
        self.trail = []
        if not 0.0 < weight < 1.0:
            return rewards
        returns = rollouts.rollout(self, state.copy())
        return [weight * mine + (1.0 - weight) * its for mine, its in zip(returns, rewards, strict=True)]

    def count_in_flight(self, path: list[Node], change: int) -> None:
        """One evaluation more or less, on the whole path."""
        for node in path:
            node.in_flight += change


class GraphBatchSearch(BatchSearch, GraphSearch):
    """Batches in a graph."""
