"""The nodes of a Python problem: compiled statistics, and lists with the state, action and parent of each node."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.rng import Rng
from treetop.errors import ConfigError
from treetop.kernels.build import PROBLEM, PROBLEM_FULL
from treetop.kernels.control import Work
from treetop.kernels.domain import BESIDE, UNKNOWN
from treetop.kernels.no_game import NO_GAME
from treetop.kernels.problem import GO, make_exchange
from treetop.search.config import SearchConfig
from treetop.search.drivers.scratch import Scratch, Sizes, buffers
from treetop.search.evaluator import Uniform
from treetop.search.plan import make_control, make_plan
from treetop.search.problems.checked import CheckedProblem
from treetop.search.problems.stream import Stream
from treetop.tree.layout import CLOSED, FAILED
from treetop.tree.storage import Tree
from treetop.types import NONE, ROOT, IntArray

_FIRST_LENGTH, _FIRST_WIDTH = 64, 16
_NEVER = np.iinfo(np.int32).max  # more visits than a leaf can have
_KEPT = ("path", "movers", "rewards", "gumbel", "logits", "base", "arms")
"""The buffers that the next call reads."""


class ProblemNodes:
    """The tree, its kernel, and lists with an entry for each node."""

    def __init__(
        self, problem: CheckedProblem, config: SearchConfig, expand_after: int, seed: int, *, priors: bool
    ) -> None:
        self.problem, self.config = problem, config
        game: Any = problem  # a checked problem has what plans need of a game
        self.plan = make_plan(config, Uniform(), game)
        self.build = PROBLEM_FULL if self.plan.build.full else PROBLEM
        facts = problem.facts
        # The children of a chance node have no chooser, so values must be kept for all players.
        self.tree = Tree(
            facts.players,
            zero_sum=bool(facts.zero_sum) and not problem.has_chance,
            max_nodes=config.growth.max_nodes,
            columns=self.plan.columns,
        )
        self.control = make_control(config, Uniform(), expand_after, game, self.plan)
        self.control["rng"], self.control["seed"] = Rng(seed).word, seed & (2**64 - 1)
        self.expand_in_selection(None if priors else expand_after)
        self.stream = Stream(seed)
        self._length, self._width, self._widest = _FIRST_LENGTH, _FIRST_WIDTH, 1
        self.scratch = Scratch(self._buffers(0))
        self.states: list[Any] = []
        """The state of each node; None before its first visit."""
        self.moves: list[Any] = []
        """The action that leads to each node."""
        self.parents: list[int] = []
        self.listed: list[list[Any] | None] = []
        """The actions of each leaf that was inspected."""
        self.failed: dict[int, str] = {}
        """Nodes that failed, and the reasons."""
        self.pending_priors: dict[int, list[float]] = {}
        """Priors of the actions of leaves that are expanded later."""
        self._generation = self.tree.generation
        self.prepare_kernel(in_flight=False)

    def expand_in_selection(self, after: int | None) -> None:
        """Expand leaves during selection after so many visits; None: they are expanded with their evaluation."""
        self.expands_in_selection = after is not None
        self.control["expand_after"] = _NEVER if after is None else after

    def _buffers(self, rows: int) -> Work:
        """Return buffers for the current length of paths and width of nodes, with `rows` rows for the nodes."""
        steps = self.problem.has_step_rewards
        sizes = Sizes(self.problem.players, self._length, self._width, self._width, rows=rows, step_rewards=steps)
        return Work(**buffers(self.build, sizes))

    def _grow(self, *, rows: int, length: int = 0, width: int = 0) -> None:
        """Enlarge the buffers: more rows, longer paths or wider nodes. Their contents are kept."""
        before = self.scratch.work
        self._length, self._width = max(self._length, length), max(self._width, width)
        if (rows, self._length, self._width) == (len(before.node_movers), len(before.path), len(before.tied)):
            return
        self.scratch.work = self._buffers(rows)
        for name in (*BESIDE, *_KEPT):
            old, new = getattr(before, name), getattr(self.scratch.work, name)
            kept = min(len(old), len(new))
            new[:kept] = old[:kept]
        self.scratch.replace(schedule=before.schedule)

    @property
    def movers(self) -> IntArray:
        """Return the player to move at each node, as far as it is known."""
        movers: IntArray = self.scratch.work.node_movers
        return movers

    def prepare_kernel(self, *, in_flight: bool) -> None:
        """Select the loop for one leaf at a time, or for many in flight."""
        self.in_flight = in_flight
        self._exchange = NO_GAME.entry(make_exchange(self.build, in_flight=in_flight))

    @property
    def from_cache(self) -> bool:
        """Return whether the compiled code came from an earlier process."""
        return self._exchange.from_cache

    def start(self, state: Any) -> None:
        """Start a new tree with a bare root."""
        self.tree.clear()
        self._generation = self.tree.generation
        self.states, self.moves, self.parents, self.listed = [state], [None], [NONE], [None]
        self.failed, self.pending_priors = {}, {}
        self.control["deepest"] = 0
        self.control["most_children"] = self._widest = 1
        self._fit()
        self.movers[ROOT], self.scratch.work.node_counts[ROOT] = UNKNOWN, 0

    def _fit(self) -> None:
        """Fit the buffers to the tree's capacity, its widest node and its deepest path."""
        deepest, capacity = int(self.control["deepest"][0]), self.tree.columns.capacity
        rows = max(capacity, len(self.movers))
        self._grow(rows=rows, length=2 * deepest + _FIRST_LENGTH, width=self._widest)
        self.control["size"], self.control["capacity"] = self.tree.size, capacity

    def set_budget(self, budget: int) -> None:
        """Set how many simulations the next calls may run."""
        self.control["budget"], self.control["done"] = budget, 0

    def ensure_capacity(self, needed: int) -> None:
        """Reserve nodes for the next expansion, of `needed` children or of the widest node.

        At its bound the tree folds, and nodes move.
        """
        self.expect(needed)
        widest = self._widest
        self.sync()
        if self.tree.max_nodes is not None and self.tree.max_nodes < 2 * widest + 2:
            raise ConfigError(
                f"max_nodes must be at least {2 * widest + 2}, the size of a root and one more expanded node; "
                f"not {self.tree.max_nodes}"
            )
        self.tree.ensure_capacity(widest)
        self.follow()
        self._fit()

    def sync(self) -> None:
        """Add the nodes that the kernel has added to the lists."""
        size = self.tree.size = int(self.control["size"][0])
        if len(self.moves) < size:
            for beside in (self.states, self.listed):
                beside.extend([None] * (size - len(beside)))
            parents = self.tree.columns.links["parent"]
            while len(self.moves) < size:  # the moves come last, so that an interrupted call is repeated
                parent = int(parents[len(self.moves)])
                actions = self.listed[parent]
                assert actions is not None
                del self.parents[len(self.moves) :]
                self.parents.extend([parent] * len(actions))
                self.moves.extend(actions)
                self.listed[parent] = None

    def follow(self) -> None:
        """Move states and actions with their nodes, after nodes have moved."""
        if self._generation == self.tree.generation:
            return
        self._generation = self.tree.generation
        links = self.tree.columns.links[: self.tree.size]
        order = links["action"].astype(np.int64)
        order[ROOT] = self._old_root
        places = order.tolist()
        self.states, self.moves, self.listed = (
            [beside[place] for place in places] for beside in (self.states, self.moves, self.listed)
        )
        self.parents = links["parent"].tolist()
        new = {place: index for index, place in enumerate(places)}
        self.failed = {new[node]: why for node, why in self.failed.items() if node in new}
        self.pending_priors = {new[node]: weights for node, weights in self.pending_priors.items() if node in new}
        for name in BESIDE:
            rows = getattr(self.scratch.work, name)
            if len(rows):
                rows[: len(places)] = rows[order]
        links["action"] = np.arange(len(places))
        links["action"][ROOT] = NONE

    _old_root = ROOT

    def reroot(self, node: int) -> None:
        """Make a child of the root the root, and keep the nodes below it."""
        self.sync()
        self._old_root = node
        try:
            self.tree.reroot(node, max(int(self.movers[ROOT]), 0))
            self.follow()
        finally:
            self._old_root = ROOT
        self._fit()

    # The kernel.

    def simulate(
        self, mode: int = GO, leaf: int = 0, mover: int = UNKNOWN, count: int = 0, later: int = 0, weighted: int = 0
    ) -> int:
        """Call the kernel, and return the next leaf or a code: see `make_exchange`."""
        found = self._exchange(
            self.control, self.tree.pack, self.scratch.pack,
            mode, leaf, mover, count, later, weighted,
        )  # fmt: skip
        return int(found)

    @property
    def node(self) -> int:
        """The node at which the last call ended."""
        return int(self.scratch.work.path[int(self.control["depth"][0])])

    def depth_of(self, node: int) -> int:
        """Return the depth of a node."""
        depth = 0
        while node != ROOT:
            node, depth = self.parents[node], depth + 1
        return depth

    def path(self, node: int) -> list[Any]:
        """Return the actions that lead to a node."""
        moves = []
        while node != ROOT:
            moves.append(self.moves[node])
            node = self.parents[node]
        return moves[::-1]

    def rewards_to(self, node: int) -> list[list[float]]:
        """Return the immediate rewards on the path to a node, of each player."""
        steps, rewards = self.scratch.work.node_steps, []
        while node != ROOT:
            rewards.append(steps[node].tolist())
            node = self.parents[node]
        return rewards[::-1]

    def write_weights(self, weights: list[float]) -> None:
        """Write the priors of the children that the next call adds."""
        self.scratch.work.scores[: len(weights)] = weights

    def expect(self, count: int) -> None:
        """Fit the buffers to a node with `count` children."""
        if count > self._widest:
            self.control["most_children"] = self._widest = count
            self._grow(rows=len(self.movers), width=count)  # the kernel may add them by itself

    def ensure(self, count: int) -> bool:
        """Reserve nodes for `count` children without moving a node; return False if the tree would have to fold."""
        self.expect(count)
        if int(self.control["size"][0]) + count <= int(self.control["capacity"][0]):
            return True
        self.sync()
        if self.tree.max_nodes is not None and self.tree.size + count > self.tree.max_nodes:
            return False
        self.ensure_capacity(count)
        return True

    @property
    def path_is_full(self) -> bool:
        """Whether the buffers of the path have to grow before a simulation can continue."""
        return int(self.control["deepest"][0]) + 3 > len(self.scratch.work.path)

    # Nodes in flight, and failed ones.

    def release(self, leaf: int) -> None:
        """Remove the in-flight visit of a leaf."""
        self.control["turn"] -= 1
        if self.in_flight:
            self.count_in_flight(leaf, -1)

    def count_in_flight(self, leaf: int, change: int) -> None:
        """Add `change` to the in-flight visits of each node of a path."""
        in_flight, node = self.tree.columns.in_flight, leaf
        while node != NONE:
            in_flight[node] += change
            node = self.parents[node]

    def mark_failed(self, node: int, why: str) -> list[int]:
        """Close a node that failed, and each node above it whose children have all failed; return them.

        The root may be among them. For the solver the value of a failed node is unknown: its proven bounds stay.
        """
        failed = []
        links, stats = self.tree.columns.links, self.tree.columns.stats
        while True:
            self.failed[node] = why
            failed.append(node)
            if node == ROOT:
                return failed
            links["flags"][node] |= FAILED
            prior = stats["prior"][node]
            stats["prior"][node] = -prior if prior > 0 else CLOSED if prior == 0 else prior
            parent = self.parents[node]
            first, count = int(links["first_child"][parent]), int(links["num_children"][parent])
            if any(child not in self.failed for child in range(first, first + count)):
                return failed
            node, why = parent, f"all {count} actions failed; the last: {why}"

    def write_rewards(self, rewards: list[float]) -> None:
        """Write the value of the leaf that is absorbed next, for each player."""
        self.scratch.work.rewards[:] = rewards
