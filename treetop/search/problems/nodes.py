"""The nodes of a Python problem: compiled statistics, and beside each node its state, action and parent."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.compiler.rng import Rng
from treetop.errors import ConfigError
from treetop.kernels.build import Build
from treetop.kernels.control import Work
from treetop.kernels.host import DEEPEST, ENGINE, EXPANDS, GO, NODE, UNKNOWN, WIDEST, Side, SmallWork, make_simulate
from treetop.search.config import SearchConfig
from treetop.search.evaluator import Uniform
from treetop.search.plan import make_control, make_plan
from treetop.search.problems.problem import ProblemView
from treetop.search.problems.stream import Stream
from treetop.tree.layout import CLOSED, FAILED
from treetop.tree.storage import Tree
from treetop.types import NONE, ROOT

_FIRST_LENGTH, _FIRST_WIDTH = 64, 16
_ROWS = ("movers", "counts", "ends", "steps")


class Scratch:
    """The buffers that the kernels work in; they grow with the widest node and the deepest path."""

    def __init__(self, players: int, *, full: bool) -> None:
        self._players, self._full = players, full
        self.length, self.width = _FIRST_LENGTH, _FIRST_WIDTH
        self.work: Any = None
        self._allocate()

    def replace(self, **buffers: npt.NDArray[Any]) -> None:
        """Put other arrays in the place of some buffers."""
        self.work = self.work._replace(**buffers)

    def grow(self, length: int, width: int) -> None:
        """Room for paths of this length and nodes of this width; what the next simulation reads is kept."""
        if length > self.length or width > self.width:
            self.length, self.width = max(length, self.length), max(width, self.width)
            self._allocate()

    def _allocate(self) -> None:
        players, length, width = self._players, self.length, self.width
        small: dict[str, npt.NDArray[Any]] = {
            "path": np.zeros(length, np.int32),
            "movers": np.zeros(length, np.int32),
            "actions": np.zeros(width, np.int32),
            "rewards": np.zeros(players),
            "tied": np.zeros(width, np.int32),
            "answers": np.full(1, NONE, np.int32),
            "scores": np.zeros(width),
            "trial": np.zeros(players),
        }
        before, self.work = self.work, SmallWork(**small)
        if self._full:
            kept = {
                name: np.zeros(width, kind)
                for name, kind in (("mask", np.int32), ("gumbel", np.float64), ("base", np.int32), ("arms", np.int32))
            }
            self.work = Work(
                **small,
                trail=np.zeros((2, 1), np.int32),
                played=np.zeros((players, 1), np.uint64),
                lookup=np.zeros((players, 1), np.int32),
                lookup_block=np.full((3, players), NONE, np.int32),
                history=np.zeros((2, players, 1)),
                schedule=np.zeros(0, np.int32),
                table=np.zeros(1, np.uint64),
                probabilities=np.zeros(1),
                steps=np.zeros((length, players)),
                gain=np.zeros((2, players)),
                times=np.zeros(0, np.int32),
                places=np.zeros(0, np.int32),
                counts=np.zeros(0, np.int32),
                starts=np.zeros(0, np.int32),
                offered=np.zeros(0, np.int32),
                joint=np.zeros(players, np.int64),
                vector=np.zeros(0),
                views=np.zeros(players, np.int32),
                **kept,  # type: ignore[arg-type]
            )
        if before is not None:  # a path may be on its way
            for name in ("path", "movers", "rewards", "gumbel", "base", "arms", "schedule"):
                if hasattr(before, name):
                    old, new = getattr(before, name), getattr(self.work, name)
                    self.replace(schedule=old) if name == "schedule" else new.__setitem__(slice(len(old)), old)


class ProblemNodes:
    """The tree, its kernel, and lists with an entry for each node."""

    def __init__(self, view: ProblemView, config: SearchConfig, expand_after: int, seed: int, *, priors: bool) -> None:
        self.view, self.config = view, config
        game: Any = view  # what plans ask of a game, a problem's view answers
        self.plan = make_plan(config, Uniform(), game)
        self.full = self.plan.build.full
        self.build = Build("host full", full=True, rule=self.plan.build.rule) if self.full else Build("host fast")
        facts = view.facts
        # Where chance decides nobody chooses, so what a node is worth must be kept for all players.
        self.tree = Tree(
            facts.players,
            zero_sum=bool(facts.zero_sum) and not view.has_chance,
            max_nodes=config.growth.max_nodes,
            columns=self.plan.columns,
        )
        self.control = make_control(config, Uniform(), expand_after, game, self.plan)
        self.control["rng"] = Rng(seed).word
        self.stream = Stream(seed)
        self.scratch = Scratch(facts.players, full=self.full)
        self.engine = ENGINE
        self.expands_down = not priors
        self.numbers = np.zeros(4, np.int64)
        self._widest = 1
        self.numbers[EXPANDS] = int(self.expands_down)
        self.side = self._side(0)
        self.states: list[Any] = []
        """The state of each node, once somebody was there."""
        self.moves: list[Any] = []
        """The action that leads to each node."""
        self.parents: list[int] = []
        self.listed: list[list[Any] | None] = []
        """The actions of each leaf that was looked at."""
        self.dead: dict[int, str] = {}
        """Nodes that failed, and why."""
        self.waiting: dict[int, list[float]] = {}
        """For leaves that are not ripe yet: how likely their actions are."""
        self._generation = self.tree.generation
        self.prepare_kernel(in_flight=False)

    def _side(self, rows: int) -> Side:
        players = self.view.players
        return Side(np.full(rows, UNKNOWN, np.int32), np.zeros(rows, np.int32), np.zeros((rows, players)),
                    np.zeros((rows if self.view.has_step_rewards else 0, players)), self.numbers)  # fmt: skip

    def prepare_kernel(self, *, in_flight: bool) -> None:
        """Choose the loop for one leaf at a time, or for many in flight."""
        self.in_flight = in_flight
        self._simulate = self.engine.entry(make_simulate(self.build, in_flight=in_flight))

    @property
    def from_cache(self) -> bool:
        """Return whether the compiled code came from an earlier process."""
        return self._simulate.from_cache

    def start(self, state: Any) -> None:
        """Begin anew with a bare root."""
        self.tree.clear()
        self._generation = self.tree.generation
        self.states, self.moves, self.parents, self.listed = [state], [None], [NONE], [None]
        self.dead, self.waiting = {}, {}
        self.numbers[DEEPEST] = 0
        self.numbers[WIDEST] = self._widest = 1
        self._fit()
        self.side.movers[ROOT], self.side.counts[ROOT] = UNKNOWN, 0

    def _fit(self) -> None:
        """All that lies beside the tree is as long as it; buffers fit the widest node and the deepest path."""
        capacity, side, size = self.tree.columns.capacity, self.side, self.tree.size
        if len(side.movers) < capacity:
            self.side = self._side(capacity)
            for name in _ROWS:
                before = getattr(side, name)
                getattr(self.side, name)[: min(size, len(before))] = before[:size]
        self.scratch.grow(2 * int(self.numbers[DEEPEST]) + _FIRST_LENGTH, max(_FIRST_WIDTH, self._widest))
        self.control["size"], self.control["capacity"] = size, capacity

    def begin(self, budget: int) -> None:
        """A new call for simulations: how many may be made."""
        self.control["budget"], self.control["done"] = budget, 0

    def ensure_capacity(self, needed: int) -> None:
        """Room for the next expansion, of `needed` children or as many as any node had. At its bound the tree folds, and nodes move."""
        self.expect(needed)
        widest = self._widest
        self.sync()
        if self.tree.max_nodes is not None and self.tree.max_nodes < 2 * widest + 2:
            raise ConfigError(
                f"max_nodes must be at least {2 * widest + 2}, so that the root and one more move fit; not {self.tree.max_nodes}"
            )
        self.tree.ensure_capacity(widest)
        self.follow()
        self._fit()

    def sync(self) -> None:
        """Take over what the kernel has added: every node gets its place in the lists."""
        size = self.tree.size = int(self.control["size"][0])
        if len(self.moves) < size:
            for beside in (self.states, self.listed):
                beside.extend([None] * (size - len(beside)))
            parents = self.tree.columns.links["parent"]
            while len(self.moves) < size:  # the moves come last: were this interrupted, it would begin again
                parent = int(parents[len(self.moves)])
                actions = self.listed[parent]
                assert actions is not None
                del self.parents[len(self.moves) :]
                self.parents.extend([parent] * len(actions))
                self.moves.extend(actions)
                self.listed[parent] = None

    def follow(self) -> None:
        """After nodes have moved: states and moves go with them."""
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
        self.dead = {new[node]: why for node, why in self.dead.items() if node in new}
        self.waiting = {new[node]: weights for node, weights in self.waiting.items() if node in new}
        side, self.side = self.side, self._side(max(self.tree.columns.capacity, len(places)))
        for name in _ROWS:
            if len(getattr(side, name)):
                getattr(self.side, name)[: len(places)] = getattr(side, name)[order]
        links["action"] = np.arange(len(places))
        links["action"][ROOT] = NONE

    _old_root = ROOT

    def reroot(self, node: int) -> None:
        """Make a child of the root the root, with all that is below."""
        self.sync()
        self._old_root = node
        try:
            self.tree.reroot(node, max(int(self.side.movers[ROOT]), 0))
            self.follow()
        finally:
            self._old_root = ROOT
        self._fit()

    # The kernel.

    def simulate(
        self, mode: int = GO, leaf: int = 0, mover: int = UNKNOWN, count: int = 0, later: int = 0, weighted: int = 0
    ) -> int:
        """One call of the kernel: see there."""
        tree = self.tree
        return int(
            self._simulate(
                self.control,
                tree.columns,
                tree.totals,
                self.scratch.work,
                self.side,
                mode,
                leaf,
                mover,
                count,
                later,
                weighted,
            )
        )

    @property
    def node(self) -> int:
        """The node that the last call was about."""
        return int(self.numbers[NODE])

    def depth_of(self, node: int) -> int:
        """How many moves lead to a node."""
        depth = 0
        while node != ROOT:
            node, depth = self.parents[node], depth + 1
        return depth

    def path(self, node: int) -> list[Any]:
        """The actions that lead to a node."""
        moves = []
        while node != ROOT:
            moves.append(self.moves[node])
            node = self.parents[node]
        return moves[::-1]

    def write_weights(self, weights: list[float]) -> None:
        """Priors for the children that are opened by the next call."""
        self.scratch.work.scores[: len(weights)] = weights

    def expect(self, count: int) -> None:
        """A node with so many children will be opened one day."""
        if count > self._widest:
            self._widest = count
            self.numbers[WIDEST] = count
            self.scratch.grow(0, count)  # the kernel may find room for them in the tree and open them without asking

    def ensure(self, count: int) -> bool:
        """Make room for children without moving a node, since paths are on their way; false where the tree would have to be folded first."""
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
        """Whether the buffers of the path have to grow before a walk may go on."""
        return int(self.numbers[DEEPEST]) + 3 > len(self.scratch.work.path)

    # Nodes in flight, and dead ones.

    def release(self, leaf: int) -> None:
        """Let go of a leaf that was handed out."""
        self.control["turn"] -= 1
        if self.in_flight:
            self.count_in_flight(leaf, -1)

    def count_in_flight(self, leaf: int, change: int) -> None:
        """Evaluations in flight are counted on the whole path, the leaf included."""
        in_flight, node = self.tree.columns.in_flight, leaf
        while node != NONE:
            in_flight[node] += change
            node = self.parents[node]

    def bury(self, node: int, why: str) -> list[int]:
        """Close a node that failed, and each node above it whose children have all failed; return them. The root may be among them.

        For the solver the value of a failed node is unknown: its bounds stay what is proven of it.
        """
        buried = []
        links, stats = self.tree.columns.links, self.tree.columns.stats
        while True:
            self.dead[node] = why
            buried.append(node)
            if node == ROOT:
                return buried
            links["flags"][node] |= FAILED
            prior = stats["prior"][node]
            stats["prior"][node] = -prior if prior > 0 else CLOSED if prior == 0 else prior
            parent = self.parents[node]
            first, count = int(links["first_child"][parent]), int(links["num_children"][parent])
            if any(child not in self.dead for child in range(first, first + count)):
                return buried
            node, why = parent, f"all {count} actions failed; the last: {why}"

    def write_rewards(self, rewards: list[float]) -> None:
        """What the leaf that is taken in next is worth, for every player."""
        self.scratch.work.rewards[:] = rewards
