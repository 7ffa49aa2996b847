"""The kernels of one search, with the arrays that they work on and what they ask of Python in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from treetop.compiler.functions import CompiledFunction
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, MethodError, TreetopError
from treetop.game.position import Position
from treetop.kernels.batch import make_absorb, make_gather, release
from treetop.kernels.build import Build
from treetop.kernels.chance.outcomes import SEAT
from treetop.kernels.control import ASK, COLLISION, DONE, NEED_ROOM, SOLVED, TIE
from treetop.kernels.graph import FIRST_TABLE, fill_table
from treetop.kernels.loop import make_run
from treetop.search.batch import Batch
from treetop.search.config import SearchConfig
from treetop.search.evaluator import in_python
from treetop.search.failures import failure
from treetop.search.plan import make_control, make_plan
from treetop.search.scratch import Scratch
from treetop.tree.layout import PROVEN
from treetop.tree.storage import Tree
from treetop.types import CHANCE, NONE, ROOT

_NEVER = np.iinfo(np.int32).max  # more visits than a leaf can have


class Machine:
    """Runs simulations on a tree. It knows no limits and no results: those are the search's."""

    begins_anew = False
    """Whether nothing is kept after a move, because what every simulation assumed has changed."""

    def __init__(self, position: Position, config: SearchConfig, evaluator: Any, expand_after: int, seed: int) -> None:
        self.game, self.config, self.seed = position.game, config, seed
        facts = self.game.facts
        self.most_children = facts.most_children
        least = (3 if facts.num_outcomes else 2) * self.most_children + 2
        if config.growth.max_nodes is not None and config.growth.max_nodes < least:
            raise ConfigError(
                f"max_nodes must be at least {least} for {self.game.name}, so that the root and one more move fit; "
                f"not {config.growth.max_nodes}"
            )
        self.plan = make_plan(config, evaluator, self.game)
        self.tree = Tree(
            facts.players, zero_sum=bool(facts.zero_sum), max_nodes=config.growth.max_nodes, columns=self.plan.columns
        )
        self.control = make_control(config, evaluator, expand_after, self.game, self.plan)
        self.control["rng"] = Rng(seed).word
        first_table = min(FIRST_TABLE, self.plan.table_size)
        self.scratch = Scratch(self.game, self.plan.build, first_table)
        self.control["table_room"] = first_table // 2 if first_table < self.plan.table_size else np.iinfo(np.int64).max
        self.build = self.plan.build
        self.engine = self.game.engine()
        self.position = position
        if config.values.opponents == "paranoid":
            self.control["paranoid_target"] = position.player
        self.outstanding = 0
        """Leaves that were gathered and neither absorbed nor released."""
        self.gathers = False
        """Whether the last way down was one to a leaf of a batch."""
        self._compiled = in_python(evaluator) is None
        self._generation = self.tree.generation

    @property
    def solved(self) -> bool:
        """Whether nothing is left to search: the root is proven, or every move is."""
        return bool(self.tree.columns.links["flags"][ROOT] & PROVEN)

    @property
    def trees(self) -> list[Tree]:
        """All trees that it searches."""
        return [self.tree]

    @property
    def nodes(self) -> int:
        """How many nodes it holds."""
        return sum(tree.size for tree in self.trees)

    @property
    def from_cache(self) -> bool:
        """Whether the code came from an earlier process."""
        return self.engine.entry(make_run(self.build)).from_cache

    def use(self, build: Build) -> None:
        """Go on with another build that can do more."""
        if build is not self.build:
            kept = self.scratch.work
            self.scratch = Scratch(self.game, build, len(kept.table))
            self.scratch.replace(table=kept.table, answers=kept.answers)
            self.build = build

    def restore(self, kept: dict[str, npt.NDArray[Any]]) -> None:
        """Take over the buffers of a search that was saved."""
        for name, array in kept.items():
            usual = getattr(self.scratch.work, name)
            fits = (
                array.dtype == usual.dtype
                and array.ndim == usual.ndim
                and (name in ("schedule", "table") or array.shape == usual.shape)
            )
            if not fits or (
                name == "table" and (len(array) & (len(array) - 1) or not 1 <= len(array) <= self.plan.table_size)
            ):
                raise ValueError(f"its buffer {name} does not fit")
        self.scratch.replace(**{name: np.array(array) for name, array in kept.items()})
        self._generation = self.tree.generation  # the saved table fits the saved tree

    def move_on(self, following: Position, child: int | None) -> None:
        """Let the child of the root that leads to a position be the root; without one, begin anew. What the step there brought lies behind."""
        fade = 1.0 if not following.is_terminal and following.player == CHANCE else self.config.values.discount
        paranoid = int(self.control[0]["paranoid_target"])
        if child is None or fade == 0.0:
            self.tree.clear()
        else:
            self.tree.reroot(child, max(self.position.player, SEAT))
            if self.game.has("step_rewards"):
                brought = np.array(following.step_rewards)
                if paranoid != NONE:
                    brought = np.where(np.arange(len(brought)) == paranoid, brought, -brought[paranoid])
                self.tree.totals -= self.tree.root_visits * brought
            self.tree.totals /= fade
        self.position = following

    def face_mover(self) -> None:
        """Where all others are taken to play against whoever is to move: what was found against another one is of no use."""
        if self.config.values.opponents == "paranoid" and self.control[0]["paranoid_target"] != self.position.player:
            self.tree.clear()
            self.control["paranoid_target"] = self.position.player

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        if self._compiled:
            self._enter(0)
            self._call(make_run(self.build), self.position.record, self.scratch.work)
        else:
            nothing = np.zeros((0, self.game.facts.num_actions)), np.zeros((0, self.game.facts.players))
            batch = self.gather(0, 0)
            self.absorb(batch, *nothing)
            self._release(batch)
        if self.tree.is_graph:
            self._prepare_table(fill_table)

    def _prepare_table(self, fill: CompiledFunction[..., Any]) -> None:
        """Compile what fills a table that has grown, on an empty one: else the first growth in the middle of a run pays for it."""
        entry = self.engine.entry(fill)
        if not entry.is_ready:
            control = self.control.copy()
            control["size"] = 0
            entry(
                control, self.tree.columns, self.tree.totals, self.scratch.work._replace(table=np.zeros(1, np.uint64))
            )

    def run(self, simulations: int) -> int:
        """Run so many simulations, or until the root is solved; how many it were."""
        done, hook, stuck = 0, self.control[0]["tie_break"] == ASK, 0
        while done < simulations:
            status = self._run_asking() if hook else self._run_some(simulations - done, stuck)
            stuck = self._stuck(stuck)
            done += int(self.control[0]["done"])
            if status == SOLVED:
                break
            if status not in (DONE, NEED_ROOM):
                raise self.failure()
        return done

    def _stuck(self, before: int) -> int:
        """How many times in a row one simulation has come to outcomes of chance for which there was no room.

        Each time more is asked for: what was given up to make room for the last ones is not enough for them and those that follow.
        """
        control = self.control[0]
        if control["status"] != NEED_ROOM or control["depth"] < 0:
            return 0
        return 1 if control["done"] else before + 1

    def _run_some(self, budget: int, stuck: int = 0) -> int:
        """Run simulations until the kernel needs somebody; its status then."""
        self.gathers = False
        self.tree.make_room(self.most_children * max(1, stuck))
        self._enter(budget)
        self._call(make_run(self.build), self.position.record, self.scratch.work)
        return int(self.control[0]["status"])

    def _run_asking(self) -> int:
        """One simulation. After each tie-break it comes down from the root again, with all answers so far, and expands no second leaf."""
        self.scratch.work.answers[:] = NONE
        expand_after, stuck = int(self.control[0]["expand_after"]), 0
        try:
            while True:
                status = self._run_some(1, stuck)
                stuck = self._stuck(stuck)
                if status == TIE:
                    self._ask_hook()
                    if self.control[0]["expanded"]:
                        self.control["expand_after"] = _NEVER
                elif not stuck:
                    return status
        finally:
            self.control["expanded"], self.control["resumed"], self.control["expand_after"] = 0, 0, expand_after

    def _enter(self, budget: int) -> None:
        moved = False
        if self._generation != self.tree.generation:
            self._generation = self.tree.generation
            self.scratch.forget_places()
            self.control["resumed"] = 0
            moved = True
        if self.tree.is_graph:
            self._fit_table(moved=moved)
        self.control["size"], self.control["capacity"] = self.tree.size, self.tree.columns.capacity
        self.control["budget"] = budget
        self.control["done"] = 0

    def update_table(self) -> None:
        """Bring a graph's table up to date, so that it can be saved."""
        self._enter(0)

    def _fit_table(self, *, moved: bool) -> None:
        """A graph's table grows with it, up to its bound; after nodes have moved it is filled anew."""
        size, bound = len(self.scratch.work.table), self.plan.table_size
        grown = size
        while grown < bound and 2 * int(self.control[0]["blocks"]) >= grown:
            grown *= 4
        grown = min(grown, bound)
        if grown > size or moved:
            self.scratch.replace(table=np.zeros(grown, np.uint64))
            self.control["table_room"] = grown // 2 if grown < bound else np.iinfo(np.int64).max
            self.control["size"] = self.tree.size
            self._call(fill_table, self.scratch.work)

    def _call(self, kernel: CompiledFunction[..., Any], *args: Any) -> None:
        try:
            self.engine.entry(kernel)(self.control, self.tree.columns, self.tree.totals, *args)
        except MethodError as error:
            raise self.failure(error.__cause__) from error.__cause__
        finally:
            self.tree.size = int(self.control[0]["size"])

    def failure(self, error: BaseException | None = None) -> TreetopError:
        """The error to raise after a kernel came back with bad news."""
        return failure(self, error)

    def _ask_hook(self) -> None:
        hook = cast(Callable[..., int], self.config.tie_break)
        work = self.scratch.work
        nodes = work.tied[: int(self.control[0]["tied"])]
        actions = [int(action) for action in self.tree.columns.links["action"][nodes]]
        chosen = hook(actions)
        if isinstance(chosen, bool) or chosen not in actions:
            raise ConfigError(f"the tie-break returned {chosen!r}, which is not one of the tied actions {actions}")
        work.answers[int(self.control[0]["answered"]) - 1] = actions.index(chosen)

    # Batches.

    def gather(self, size: int, budget: int) -> Batch:
        """Up to `size` distinct leaves, within a budget of simulations; those that need no evaluation are settled at once."""
        self.gathers = True
        self.tree.track_in_flight()
        size = self._make_room_for(size)
        scratch = self.scratch
        scratch.work.answers[:] = NONE
        scratch.prepare_batch(size)
        self._enter(budget)
        self._keep_room(size)
        self.control["gathered"] = self.control["resumed"] = 0
        stuck = 0
        try:
            while True:
                self._call(make_gather(self.build), self.position.record, scratch.work, *scratch.for_gather())
                status = int(self.control[0]["status"])
                if status == TIE:
                    self._ask_hook()
                    continue
                stuck = self._stuck(stuck)
                if status != NEED_ROOM or not self._make_more_room(size, stuck):
                    break
            if status not in (DONE, COLLISION, SOLVED, NEED_ROOM):
                raise self.failure()
        except BaseException:
            self.drop(self._gathered())
            raise
        return self._gathered()

    def _make_more_room(self, size: int, stuck: int) -> bool:
        """Room for outcomes of chance, met while gathering; false where a bounded tree allows none before the leaves in flight are told."""
        waiting = self.outstanding + int(self.control[0]["gathered"])
        needed = (self.outstanding + size + stuck) * self.most_children
        if (
            self.config.growth.max_nodes is not None
            and waiting
            and self.tree.size + needed > self.config.growth.max_nodes
        ):
            return False
        budget, done = int(self.control[0]["budget"]), int(self.control[0]["done"])
        self.tree.make_room(needed)
        self._enter(budget)
        self._keep_room(size)
        self.control["done"] = done
        return True

    def _keep_room(self, size: int) -> None:
        """Outcomes of chance, met on the way to the leaves of a batch, leave room for the children of all leaves in flight."""
        self.control["capacity"] -= (self.outstanding + size) * self.most_children

    def _gathered(self) -> Batch:
        size = int(self.control[0]["gathered"])
        self.outstanding += size
        return self.batch(size, more=True)

    def _make_room_for(self, size: int) -> int:
        """Room for the children of all leaves in flight and of `size` more, or of as many as a bounded tree allows."""
        actions, bound = self.most_children, self.config.growth.max_nodes
        if bound is not None:
            most = (bound - 1 - actions) // actions
            if self.game.facts.num_outcomes:
                most = max(1, most // 2)  # the other half is for outcomes of chance
            size = min(size, most - self.outstanding)
            if self.outstanding and self.tree.size + (self.outstanding + size) * actions > bound:
                size = (bound - self.tree.size) // actions - self.outstanding  # nothing can be folded now
        size = max(size, 0)
        if size:
            self.tree.make_room((self.outstanding + size) * actions)
        return size

    def batch(self, size: int, *, more: bool) -> Batch:
        """The first leaves in the buffers, as a batch of their own."""
        scratch = self.scratch
        scratch.prepare_batch(size)
        paths, movers, depths = (part[:size].copy() for part in (scratch.paths, scratch.movers, scratch.depths))
        digest = self.engine.blueprint.digest
        return Batch(
            self.game,
            scratch.leaves[:size].copy(),
            more,
            paths,
            movers,
            depths,
            self.tree.generation,
            rules=digest,
            discount=self.config.values.discount,
        )

    def absorb(self, batch: Batch, logits: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> int:
        """Take in what a batch is worth; how many simulations that ended."""
        self.gathers = False
        self._enter(0)
        try:
            # The kernel corrects the values on their way up: that is no business of the caller's own array.
            self._call(
                make_absorb(self.build),
                self.position.record,
                self.scratch.work,
                batch._paths,
                batch._movers,
                batch._depths,
                batch.states,
                logits,
                values.copy(),
            )
        finally:
            self.outstanding -= len(batch)
            done = int(self.control[0]["done"])
            if done < len(batch):  # a game that failed: the rest of the batch is let go
                self._release(batch, done)
        if int(self.control[0]["status"]) not in (DONE, NEED_ROOM):
            raise self.failure()
        return len(batch)

    def drop(self, batch: Batch) -> None:
        """Let a batch go without a trace."""
        batch.close(self.tree.generation)
        self._release(batch)
        self.outstanding -= len(batch)
        self.control["turn"] -= len(batch)  # the root's plans begin again where they were
        self.control["arms"] = 0

    def _release(self, batch: Batch, start: int = 0) -> None:
        self.engine.entry(release)(self.tree.columns.in_flight, batch._paths[start:], batch._depths[start:])
