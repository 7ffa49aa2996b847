"""The driver of one tree of positions: it calls the compiled loop and handles its requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, MethodError
from treetop.game.position import Position
from treetop.kernels.advance import WRITTEN, advance
from treetop.kernels.build import Build
from treetop.kernels.chance.outcomes import SEAT
from treetop.kernels.control import ASK, DONE, NEED_CAPACITY, SOLVED, TIE
from treetop.kernels.graph import FIRST_TABLE, fill_table
from treetop.kernels.loop import make_run
from treetop.search.batch import Batch
from treetop.search.config import SearchConfig
from treetop.search.drivers.game import GameDriver
from treetop.search.drivers.leaves import Leaves
from treetop.search.drivers.scratch import Scratch, Sizes
from treetop.search.drivers.threads import Rounds, Shared
from treetop.search.interrupts import Interrupts
from treetop.search.plan import prepared
from treetop.search.root import prepare_kernel
from treetop.tree.storage import Tree
from treetop.types import CHANCE, NONE

_NEVER = np.iinfo(np.int32).max  # more visits than a leaf can have
_UNBOUNDED = np.iinfo(np.int64).max


class TreeDriver(GameDriver):
    """A driver of one tree of positions, or of a graph with transpositions."""

    def __init__(
        self, position: Position, config: SearchConfig, evaluator: Any, seed: int, player: int, tier: str | None = None
    ) -> None:
        super().__init__(position, config, evaluator, seed, player, tier)
        facts = self.game.facts
        self.most_children = facts.most_children
        least = (3 if facts.num_outcomes else 2) * self.most_children + 2
        if config.growth.max_nodes is not None and config.growth.max_nodes < least:
            raise ConfigError(
                f"max_nodes must be at least {least} for {self.game.name}, the size of a root and one more expanded "
                f"node; not {config.growth.max_nodes}"
            )
        self.plan, self.control = prepared(config, evaluator, self.expand_after, self.game)
        self.build = self.plan.build
        self.tree = Tree(
            facts.players, zero_sum=bool(facts.zero_sum), max_nodes=config.growth.max_nodes, columns=self.plan.columns
        )
        self.control["rng"], self.control["seed"] = Rng(seed).word, seed & (2**64 - 1)
        first_table = min(FIRST_TABLE, self.plan.table_size)
        self.scratch = Scratch.of(self.build, Sizes.of(self.game, first_table))
        self.control["table_capacity"] = first_table // 2 if first_table < self.plan.table_size else _UNBOUNDED
        if config.values.opponents == "paranoid":
            self.control["paranoid_target"] = position.player
        self.leaves = Leaves(self)
        self.gathers = False
        """Whether the last descent ended at a leaf of a batch."""
        self._generation = self.tree.generation
        self.threads: Shared | Rounds | None = None
        """The threads that search this tree, if there are several."""

    def path(self) -> npt.NDArray[np.int32]:
        """Return the nodes of the last descent."""
        return self.leaves.path if self.gathers else super().path()

    @property
    def in_flight(self) -> int:
        """Return how many leaves were gathered and neither absorbed nor dropped."""
        return self.leaves.in_flight

    def gather(self, size: int, budget: int) -> Batch:
        """Return up to `size` distinct leaves to evaluate, within a budget of simulations."""
        return self.leaves.gather(size, budget)

    def tell(self, batch: Batch, logits: Any, values: Any) -> None:
        """Absorb the evaluations of a batch."""
        self.leaves.absorb(batch, logits, values)

    def drop(self, batch: Batch) -> None:
        """Discard a batch, and remove its in-flight visits."""
        self.leaves.drop(batch)

    @property
    def from_cache(self) -> bool:
        """Return whether the compiled code came from an earlier process."""
        return self.engine.entry(make_run(self.build)).from_cache

    def use(self, build: Build) -> None:
        """Switch to another build."""
        if build is not self.build:
            kept = self.scratch.work
            self.scratch = Scratch.of(build, Sizes.of(self.game, len(kept.table)))
            self.scratch.replace(table=kept.table, answers=kept.answers)
            self.build = build

    def restore(self, kept: dict[str, npt.NDArray[Any]]) -> None:
        """Restore the buffers of a saved search; raise ValueError where one does not fit."""
        for name, array in kept.items():
            current = getattr(self.scratch.work, name)
            fits = (
                array.dtype == current.dtype
                and array.ndim == current.ndim
                and (name in ("schedule", "table") or array.shape == current.shape)
            )
            if not fits or (
                name == "table" and (len(array) & (len(array) - 1) or not 1 <= len(array) <= self.plan.table_size)
            ):
                raise ValueError(f"its buffer {name} does not fit")
        self.scratch.replace(**{name: np.array(array) for name, array in kept.items()})
        self._generation = self.tree.generation  # the saved table fits the saved tree

    def advance(self, move: int | str) -> None:
        """Play a move, and keep the part of the tree below it."""
        action = self.position.parse_move(move) if isinstance(move, str) else move
        following = self._advance_compiled(action)
        if following is None:
            following = self.position.apply(action)
            child = self.tree.root.child(int(action))
            self._reroot(following, child.index if child is not None and child.visits else None)
        self.position = following
        if not following.is_terminal:
            self.player = following.player
        self.scratch.work.history[:] *= self.config.values.history_decay
        self.control["arms"] = 0

    def _advance_compiled(self, action: Any) -> Position | None:
        """Play a legal action or outcome, and re-root the tree, in compiled code; return the next position.

        Return None, and change nothing, where that is not possible: in a graph, with a wrong action or a game that
        fails.
        """
        position = self.position
        if self.tree.is_graph or action not in position.legal_actions():
            return None
        record, written = position.record.copy(), np.zeros((1, WRITTEN), np.int64)
        self.control["size"] = self.tree.size
        places, actions = np.empty(self.tree.size, np.int32), np.array([action], np.int64)
        try:
            self.engine.entry(advance)(
                self.control, self.tree.pack, record, self.scratch.pack, places, actions, written, 0, 1
            )
        except MethodError:
            return None
        over, player, count, kept = written[0].tolist()
        if kept < 0 or self.control[0]["status"] != DONE:
            return None
        self.tree.resize_in_place(int(self.control[0]["size"]), kept=bool(kept))
        legal = self.scratch.work.actions[:count].tolist() if count > 0 else None
        return position.followed_by(int(action), record, bool(over), player, legal)

    def _reroot(self, following: Position, child: int | None) -> None:
        """Make a child of the root the root, or start a new tree. The totals lose the reward of the step to it."""
        discount = 1.0 if not following.is_terminal and following.player == CHANCE else self.config.values.discount
        paranoid = int(self.control[0]["paranoid_target"])
        if child is None or discount == 0.0:
            self.tree.clear()
            return
        self.tree.reroot(child, max(self.position.player, SEAT))
        if self.game.has("step_rewards"):
            received = np.array(following.step_rewards)
            if paranoid != NONE:
                received = np.where(np.arange(len(received)) == paranoid, received, -received[paranoid])
            self.tree.totals -= self.tree.root_visits * received
        self.tree.totals /= discount

    def retarget(self) -> None:
        """Clear the tree of a paranoid search if its target player is no longer the player to move."""
        if self.config.values.opponents == "paranoid" and self.control[0]["paranoid_target"] != self.position.player:
            self.tree.clear()
            self.control["paranoid_target"] = self.position.player

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        if self._prepared is self.build:
            return
        if self.threads is not None:
            self.threads.prepare()
        elif self.is_cheap:
            self.prepare_kernel(make_run(self.build), self.position.record, self.scratch.pack, 0, 1)
        else:
            self.leaves.prepare()
        if self.tree.is_graph:
            self.prepare_kernel(fill_table, self.scratch.pack)
        prepare_kernel(self)
        self._prepared = self.build

    def prepare_advance(self) -> None:
        """Compile the kernels that `advance` needs, or load them from the cache."""
        if not self.tree.is_graph:
            places, written = np.empty(1, np.int32), np.zeros((1, WRITTEN), np.int64)
            actions = np.zeros(1, np.int64)
            self.prepare_kernel(advance, self.position.record, self.scratch.pack, places, actions, written, 0, 1)

    def advance_by(self, simulations: int, left: int, interrupts: Interrupts) -> None:
        """Run about `simulations` simulations, or one batch, or whole rounds of several threads, of at most `left`."""
        if isinstance(self.threads, Rounds):
            self.threads.run(simulations, left)
        else:
            super().advance_by(simulations, left, interrupts)

    def run(self, simulations: int) -> int:
        """Run `simulations` simulations, or until the root is proven; return how many were run."""
        done, hook, stuck = 0, self.control[0]["tie_break"] == ASK, 0
        while done < simulations:
            status = self._run_asking() if hook else self._run_some(simulations - done, stuck)
            stuck = self.stuck(stuck)
            done += int(self.control[0]["done"])
            if status == SOLVED:
                break
            if status not in (DONE, NEED_CAPACITY):
                raise self.failure()
        return done

    def stuck(self, before: int) -> int:
        """Return how many times in a row one simulation has run out of nodes for outcomes of chance.

        Each time more nodes are requested: those that were freed for the last outcomes do not suffice for the next
        ones.
        """
        control = self.control[0]
        if control["status"] != NEED_CAPACITY or control["depth"] < 0:
            return 0
        return 1 if control["done"] else before + 1

    def _run_some(self, budget: int, stuck: int = 0) -> int:
        """Run simulations until the kernel returns; return its status."""
        self.gathers = False
        if isinstance(self.threads, Shared):
            return self.threads.run(budget, stuck)
        self.tree.ensure_capacity(self.most_children * max(1, stuck))
        self.enter(budget)
        self.call(make_run(self.build), self.position.record, self.scratch.pack, 0, 1)
        return int(self.control[0]["status"])

    def _run_asking(self) -> int:
        """Run one simulation with a tie-break in Python; return its status.

        After each tie-break the simulation starts again at the root, with all answers so far, and expands no second
        leaf.
        """
        self.scratch.work.answers[:] = NONE
        expand_after, stuck = int(self.control[0]["expand_after"]), 0
        try:
            while True:
                status = self._run_some(1, stuck)
                stuck = self.stuck(stuck)
                if status == TIE:
                    self.ask_hook()
                    if self.control[0]["expanded"]:
                        self.control["expand_after"] = _NEVER
                elif not stuck:
                    return status
        finally:
            self.control["expanded"], self.control["resumed"], self.control["expand_after"] = 0, 0, expand_after

    def enter(self, budget: int) -> None:
        """Update the control record before a kernel is called."""
        moved = False
        if self._generation != self.tree.generation:
            self._generation = self.tree.generation
            self.scratch.clear_indices()
            self.control["resumed"] = 0
            moved = True
        if self.tree.is_graph:
            self._fit_table(moved=moved)
        self.control["size"], self.control["capacity"] = self.tree.size, self.tree.columns.capacity
        self.control["budget"] = budget
        self.control["done"] = 0

    def update_table(self) -> None:
        """Update the table of a graph, before it is saved."""
        self.enter(0)

    def _fit_table(self, *, moved: bool) -> None:
        """Enlarge the table of a graph, up to its bound, and fill it again after nodes have moved."""
        size, bound = len(self.scratch.work.table), self.plan.table_size
        grown = size
        while grown < bound and 2 * int(self.control[0]["blocks"]) >= grown:
            grown *= 4
        grown = min(grown, bound)
        if grown > size or moved:
            self.scratch.replace(table=np.zeros(grown, np.uint64))
            self.control["table_capacity"] = grown // 2 if grown < bound else _UNBOUNDED
            self.control["size"] = self.tree.size
            self.call(fill_table, self.scratch.pack)

    def ask_hook(self) -> None:
        """Call the user's tie-break function, and keep its answer."""
        hook = cast(Callable[..., int], self.config.tie_break)
        work = self.scratch.work
        nodes = work.tied[: int(self.control[0]["tied"])]
        actions = [int(action) for action in self.tree.columns.links["action"][nodes]]
        chosen = hook(actions)
        if isinstance(chosen, bool) or chosen not in actions:
            raise ConfigError(f"the tie-break returned {chosen!r}, which is not one of the tied actions {actions}")
        work.answers[int(self.control[0]["answered"]) - 1] = actions.index(chosen)
