"""The slots of a pool: the arrays of many searches, and calls of kernels on all of them.

Each slot is an ordinary driver of one tree, whose control record, root and buffers are rows of common arrays. Kernels
get those arrays; the driver serves for what is rare: growth, failures, results of one slot.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop import checks
from treetop.compiler.engine import TIERS
from treetop.compiler.functions import CompiledFunction
from treetop.compiler.packs import Packs
from treetop.compiler.rng import mix
from treetop.errors import ConfigError, IllegalMoveError, MethodError, TreetopError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.kernels.advance import COUNT, ILLEGAL, KEPT, OVER, PLAYER, SKIP, WRITTEN, advance, begin, resolve_chance
from treetop.kernels.batch import make_absorb, make_gather
from treetop.kernels.control import DONE, FIRST_FAILURE, NEED_CAPACITY, SOLVED
from treetop.kernels.loop import make_run
from treetop.kernels.no_game import NO_GAME
from treetop.kernels.pools import FAILED, NOTHING_LEFT, absorbed_slots, gathered_slots, open_slots
from treetop.kernels.record import CONTROL
from treetop.kernels.roots.prepare import prepare_roots
from treetop.search.batch import Batch
from treetop.search.config import SearchConfig
from treetop.search.drivers.determinizations import needs_determinizations
from treetop.search.drivers.information_sets import needs_information_sets
from treetop.search.drivers.tree import TreeDriver
from treetop.tree.layout import BOUNDED, PROVEN
from treetop.tree.storage import Tree
from treetop.types import NONE, ROOT

Counts = npt.NDArray[np.int64]
_UNTOUCHED = -1  # the status of a slot that a kernel has not come to
_CHANCE = 0x6368616E6365  # a separate stream of random numbers, for deals and outcomes
_SHARED = (
    "path", "movers", "actions", "rewards", "tied", "answers", "scores", "trail", "trial", "played", "probabilities",
    "steps", "gain", "times", "places", "counts", "starts", "offered", "joint", "vector", "sets",
)  # fmt: skip
"""The buffers that keep nothing from one call to the next: all slots of a thread use the same ones."""


class Rows:
    """The leaves of some slots that wait for an evaluation, each in a row."""

    def __init__(self, slots: Slots, first: int, last: int) -> None:
        self.first, self.last, self.leaves = first, last, slots.leaves
        size, length = (last - first) * slots.leaves, len(slots.drivers[first].scratch.work.path)
        self.paths, self.movers = np.zeros((size, length), np.int32), np.zeros((size, length), np.int32)
        self.depths, self.states = np.zeros(size, np.int32), np.zeros(size, slots.game.dtype)

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays, in the order of the kernels' arguments."""
        return self.paths, self.movers, self.depths, self.states

    def close_gaps(self, slots: Slots, ends: Sequence[tuple[int, int, int]]) -> int:
        """Move the rows of each thread behind those of the one before; return how many there are.

        `ends` has for each thread its first and last slot and the row after its last one.
        """
        used = 0
        for first, last, end in ends:
            start = (first - self.first) * self.leaves
            if start != used:
                for array in self.arrays:
                    array[used : used + end - start] = array[start:end]
                slots.controls["row"][first:last] -= start - used
            used += end - start
        return used


class Slots:
    """The arrays of many searches."""

    def __init__(
        self, game: Game, config: SearchConfig, evaluator: Any, count: int, threads: int, leaves: int, tier: str | None
    ) -> None:
        _refuse(game, config)
        self.game, self.config, self.evaluator, self.leaves = game, config, evaluator, leaves
        position = Position(game)
        self.drivers = [TreeDriver(position, config, evaluator, 0, 0) for _ in range(count)]
        model = self.drivers[0]
        if tier is not None:
            model.use_tier(checks.one_of("tier", tier, TIERS))
        self.engine, self.build, self.most_children = model.engine, model.build, model.most_children
        self._template = model.control.tobytes()
        self.controls = np.frombuffer(bytearray(self._template * count), CONTROL)  # [slots]
        self.roots = np.zeros(count, game.dtype)  # [slots]
        self.written = np.zeros((count, WRITTEN), np.int64)  # [slots, what kernels say of a root]
        self._streams = np.zeros(count, np.uint64)  # [slots]: generators of deals and outcomes
        self._moves: list[list[int]] = [[] for _ in range(count)]
        self._starts = np.zeros(count, game.dtype)  # [slots]: where the moves start
        self.parts = _split(0, count, threads)
        self._threads = ThreadPoolExecutor(threads, "treetop-pool") if threads > 1 else None
        self._share_buffers()
        self.trees: list[Tree] = [driver.tree for driver in self.drivers]
        for tree in self.trees:
            tree.track_in_flight()
        self.capacities = np.array([tree.columns.capacity for tree in self.trees], np.int64)
        self.tree_packs = Packs([tree.parts for tree in self.trees])
        self.work_packs = Packs([(driver.scratch.work,) for driver in self.drivers])
        self._is_prepared = False

    def _share_buffers(self) -> None:
        """Let all slots of a thread use one set of buffers, and let control records be rows of one array."""
        for first, last in self.parts:
            work = self.drivers[first].scratch.work
            shared = {name: getattr(work, name) for name in _SHARED}
            for slot in range(first, last):
                driver = self.drivers[slot]
                driver.scratch.replace(**shared)
                driver.control, driver.engine = self.controls[slot : slot + 1], self.engine

    # What is in the slots.

    @property
    def over(self) -> npt.NDArray[np.bool_]:
        """Whether the game in each slot is over."""
        return np.asarray(self.written[:, OVER] != 0)

    @property
    def players(self) -> Counts:
        """The player to move in each slot; NONE where the game is over."""
        return self.written[:, PLAYER]

    @property
    def playing(self) -> npt.NDArray[np.bool_]:
        """Whether a player chooses in each slot."""
        return np.asarray((self.written[:, OVER] == 0) & (self.written[:, PLAYER] >= 0))

    @property
    def forced(self) -> npt.NDArray[np.bool_]:
        """Whether there is only one legal action in each slot."""
        return np.asarray(self.written[:, COUNT] == 1)

    def solved(self) -> npt.NDArray[np.bool_]:
        """Return whether the root of each slot is proven."""
        trees = self.trees if self.config.solver else []
        found = [bool(tree.columns.links["flags"][ROOT] & PROVEN) and tree.root_visits > 0 for tree in trees]
        return np.array(found or [False] * len(self.drivers))

    def bounded(self) -> npt.NDArray[np.bool_]:
        """Return whether something is proven about a move of each slot's root."""
        found = []
        for links in (tree.columns.links for tree in self.trees if self.config.solver):
            first = int(links["first_child"][ROOT])
            flags = links["flags"][first : first + int(links["num_children"][ROOT])]
            found.append(bool((flags & (PROVEN | BOUNDED)).any()))
        return np.array(found or [False] * len(self.drivers))

    def driver(self, slot: int) -> TreeDriver:
        """Return the driver of a slot, up to date."""
        driver = self.drivers[slot]
        driver.seed = int(self.controls["seed"][slot])
        driver.tree.size = int(self.controls["size"][slot])
        moves = tuple(self._moves[slot])
        record = self.roots[slot : slot + 1]
        if driver.position.actions != moves or driver.position.record.tobytes() != record.tobytes():
            driver.position = Position(self.game, record.copy(), moves, self._starts[slot : slot + 1].copy())
        driver.player = max(int(self.players[slot]), 0)
        return driver

    def batch(self, states: npt.NDArray[Any]) -> Batch:
        """Return states as a batch for an evaluator."""
        none = np.zeros(0, np.int32)
        return Batch(
            self.game, states, True, none, none, none, 0, rules=self.engine.blueprint.digest,
            discount=self.config.values.discount, engine=self.engine,
        )  # fmt: skip

    # Games.

    def begin(self, chosen: Sequence[int], seeds: Sequence[int], position: Position | None) -> None:
        """Begin new games in some slots, from a position or from the start of the game, with these seeds."""
        slots = np.array(chosen, np.int64)
        rows = self.controls.view(np.uint8).reshape(len(self.controls), -1)
        rows[slots] = np.frombuffer(self._template, np.uint8)
        self.controls["seed"][slots] = np.array(seeds, np.uint64)
        self._streams[slots] = np.array([mix(seed ^ _CHANCE) for seed in seeds], np.uint64)
        if position is not None:
            self.roots[slots] = position.record
        for slot in slots.tolist():
            self.drivers[slot].scratch.clear_kept()
        self._call_once(
            begin, self.roots, self.work_packs, slots, self.written, self._streams, position is None,
            failed=lambda: int(slots[0]),
        )  # fmt: skip
        self._starts[slots] = self.roots[slots] if position is None else position.start
        for slot in slots.tolist():
            self._moves[slot] = [] if position is None else [int(action) for action in position.actions]
        self.controls["moves"][slots] = 0 if position is None else len(position.actions)
        self._note_trees(slots)
        self._resolve_chance()
        if self.config.noise.fraction > 0:
            self.controls["noise_due"][slots] = 1

    def advance(self, actions: Counts) -> None:
        """Play an action in each slot, or SKIP."""
        places = np.empty(int(self.controls["size"].max()), np.int32)
        self.written[:, KEPT] = 0
        legal = self._call_once(
            advance, self.roots, self.work_packs, places, actions, self.written, 0, len(self.drivers),
            failed=lambda: int(np.argmax((self.written[:, KEPT] == 0) & (actions != SKIP))),
        )  # fmt: skip
        if not legal:
            slot = int(np.argmax((self.written[:, KEPT] == ILLEGAL) & (actions != SKIP)))
            self.written[:, KEPT] = 0
            self.driver(slot).position.apply(int(actions[slot]))  # raises, with the legal moves
            raise IllegalMoveError(f"{int(actions[slot])} is not a legal action in slot {slot}")
        played = np.flatnonzero(actions != SKIP)
        for slot in played.tolist():
            self._moves[slot].append(int(actions[slot]))
        self._decay_history(played)
        self._note_trees(played)
        self._resolve_chance()
        if self.config.noise.fraction > 0:
            self.controls["noise_due"][played] = 1

    def _resolve_chance(self) -> None:
        """Draw outcomes until a player chooses in each slot, or its game is over."""
        if not self.game.has("chance_outcomes"):
            return
        outcomes = np.full(len(self.drivers), SKIP, np.int64)
        for _ in range(self.game.facts.max_length + 1):
            places = np.empty(int(self.controls["size"].max()), np.int32)
            outcomes[:] = _UNTOUCHED - 1  # the kernel writes SKIP or an outcome
            drawn = self._call_once(
                resolve_chance, self.roots, self.work_packs, places, outcomes, self.written, self._streams, 0,
                len(self.drivers), failed=lambda: int(np.flatnonzero(outcomes >= SKIP)[-1]),
            )  # fmt: skip
            failed = np.flatnonzero(self.controls["status"] != DONE)
            if len(failed):
                raise self.failure(int(failed[0]))
            if not drawn:
                return
            slots = np.flatnonzero(outcomes != SKIP)
            for slot in slots.tolist():
                self._moves[slot].append(int(outcomes[slot]))
            self._note_trees(slots)
            if self.config.noise.fraction > 0:
                self.controls["noise_due"][slots] = 1

    def _decay_history(self, slots: npt.NDArray[np.int64]) -> None:
        if len(self.drivers[0].scratch.work.history.ravel()):
            for slot in slots.tolist():
                self.drivers[slot].scratch.work.history[:] *= self.config.values.history_decay

    def _note_trees(self, slots: npt.NDArray[np.int64]) -> None:
        """Note that kernels have moved nodes: indices of nodes in buffers are void."""
        unmoved = [slot for slot in slots.tolist() if self.written[slot, KEPT] == NONE]
        for slot in slots.tolist():
            self.trees[slot].resize_in_place(int(self.controls["size"][slot]), kept=bool(self.written[slot, KEPT]))
            self.drivers[slot].scratch.clear_indices()
        self.controls["resumed"][slots] = 0
        assert not unmoved, "a tree of a pool has a parent after its child"

    # Simulations.

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        if not self._is_prepared:
            driver = self.drivers[0]
            driver.prepare()
            driver.prepare_advance()
            self._is_prepared = True

    def begin_run(self, left: Counts) -> None:
        """Plan the schedules of a run, and set the share of noise by the moves played."""
        noise, moves = self.config.noise, self.controls["moves"]
        self.controls["noise_share"] = [noise.at(int(played)) for played in moves] if noise.fraction > 0 else 0.0
        self.controls["noise_alpha"] = noise.alpha or 0.0
        if self.config.root.schedules:
            self.controls["schedule_due"] = left > 0
            if len(self.drivers[0].scratch.work.schedule) < left.max():
                schedules = np.zeros((len(self.drivers), int(left.max())), np.int32)
                for slot, driver in enumerate(self.drivers):
                    driver.scratch.replace(schedule=schedules[slot])
                    self.work_packs.set_row(slot, driver.scratch.work)

    def prepare_roots(self, left: Counts) -> npt.NDArray[np.bool_]:
        """Add noise and plan schedules of `left` simulations; return the slots whose root has no children yet."""
        due = (self.controls["noise_due"] | self.controls["schedule_due"]) != 0
        due &= left > 0
        if not due.any():
            return np.asarray(due)
        if self.config.root.schedules:
            self.controls["planned"] = np.where(self.controls["schedule_due"], left, self.controls["planned"])
        NO_GAME.entry(prepare_roots)(self.controls, self.tree_packs, self.work_packs, 0, len(self.drivers))
        waiting = (self.controls["noise_due"] | self.controls["schedule_due"]) != 0
        return np.asarray(waiting & (left > 0))

    def run(self, budget: Counts) -> tuple[Counts, npt.NDArray[np.bool_]]:
        """Run simulations in each slot; return how many were run, and which slots are solved."""
        left, total, stuck = budget.copy(), np.zeros_like(budget), np.zeros_like(budget)
        ended = np.zeros(len(budget), np.bool_)
        while left.any():
            self.controls["budget"], self.controls["capacity"] = left, self.capacities
            self._call_parts(make_run(self.build), self.parts, ())
            status, done = self.controls["status"], np.where(left > 0, self.controls["done"], 0)
            total += done
            left -= done
            ended |= (status == SOLVED) & (budget > 0)
            left[ended] = 0
            self._refuse_failures(budget > 0)
            full = np.flatnonzero((status == NEED_CAPACITY) & (left > 0))
            stuck = np.where(done > 0, 0, stuck + 1)
            for slot in full.tolist():
                self._grow(slot, self.most_children * max(1, int(stuck[slot])))
        return total, ended

    def set_budget(self, budget: Counts) -> None:
        """Set how many simulations `gather` may start in each slot."""
        self.controls["budget"], self.controls["done"], self.controls["gathered"] = budget, 0, 0
        self.controls["status"] = DONE
        self._closed = np.zeros(len(budget), np.bool_)

    def gather(self, rows: Rows) -> Batch:
        """Gather leaves of the slots of `rows`; return them as a batch. It is empty when their budgets are used up."""
        span, reserve, most = (rows.first, rows.last), self.leaves * self.most_children, self.most_children
        slot, opened = rows.first, NO_GAME.entry(open_slots)
        while (slot := opened(self.controls, self._closed, self.capacities, reserve, most, slot, rows.last)) != NONE:
            self._grow(slot, reserve + most)  # what `gather` leaves is for the children of the leaves
        parts = [(max(a, rows.first), min(b, rows.last)) for a, b in self.parts if a < rows.last and b > rows.first]
        stuck = 0
        while True:
            used = self._gather(rows, parts)
            left = NO_GAME.entry(gathered_slots)(self.controls, self._closed, *span)
            if left == FAILED:
                self._refuse_failures(slice(*span))
            if used or left == NOTHING_LEFT:
                break
            # Nothing was gathered: all simulations ended games, or one that expands many chance nodes needs more space.
            controls = self.controls[slice(*span)]
            going = (controls["done"] < controls["budget"]) & ~self._closed[slice(*span)]
            full = np.flatnonzero(going & (controls["status"] == NEED_CAPACITY))
            stuck = stuck + 1 if len(full) else 0
            for slot in full.tolist():
                self._grow(rows.first + slot, reserve + most * (1 + stuck))
            controls["capacity"] = self.capacities[slice(*span)] - reserve
        return self.batch(rows.states[:used].copy())  # an evaluator may keep it

    def _gather(self, rows: Rows, parts: Sequence[tuple[int, int]]) -> int:
        ends = self._call_parts(
            make_gather(self.build), parts, (),
            lambda first, _: (self.leaves, (first - rows.first) * self.leaves, *rows.arrays),
        )  # fmt: skip
        found = [(first, last, int(end)) for (first, last), end in zip(parts, ends, strict=True)]
        return rows.close_gaps(self, found)

    def absorb(self, rows: Rows, logits: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
        """Expand and back up the leaves in some rows by their evaluations."""
        slots = slice(rows.first, rows.last)
        self.controls["capacity"][slots] = self.capacities[slots]
        parts = [(max(a, rows.first), min(b, rows.last)) for a, b in self.parts if a < rows.last and b > rows.first]
        self._call_parts(make_absorb(self.build), parts, (), lambda *_: (*rows.arrays, logits, values))
        if NO_GAME.entry(absorbed_slots)(self.controls, rows.first, rows.last) == FAILED:
            self._refuse_failures(slots)

    def drop(self) -> None:
        """Forget all leaves in flight, after an error."""
        for slot in np.flatnonzero(self.controls["gathered"]).tolist():
            self.trees[slot].columns.in_flight[: int(self.controls["size"][slot])] = 0
        self.controls["turn"] -= self.controls["gathered"]  # the schedules of the roots continue where they were
        self.controls["arms"] = np.where(self.controls["gathered"] > 0, 0, self.controls["arms"])
        self.controls["gathered"] = 0

    @property
    def done(self) -> Counts:
        """The simulations that each slot has finished since `set_budget`."""
        return np.array(self.controls["done"])

    @property
    def closed(self) -> npt.NDArray[np.bool_]:
        """Which slots were solved since `set_budget`."""
        return self._closed

    def _grow(self, slot: int, needed: int) -> None:
        """Make space for more nodes in the tree of a slot: its arrays grow, or at their bound it folds."""
        tree, driver = self.trees[slot], self.drivers[slot]
        tree.size = int(self.controls["size"][slot])
        generation = tree.generation
        tree.ensure_capacity(needed)
        if tree.generation != generation:
            driver.scratch.clear_indices()
            self.controls["size"][slot], self.controls["resumed"][slot] = tree.size, 0
        self.capacities[slot] = tree.columns.capacity
        self.tree_packs.set_row(slot, *tree.parts)

    # Calls of kernels.

    def _call_parts(
        self,
        kernel: CompiledFunction[..., Any],
        parts: Sequence[tuple[int, int]],
        before: tuple[Any, ...],
        after: Callable[[int, int], tuple[Any, ...]] = lambda *_: (),
    ) -> list[Any]:
        """Call a kernel on some ranges of slots, in as many threads; return what each call returns."""
        entry = self.engine.entry(kernel)

        def call(part: tuple[int, int]) -> Any:
            self.controls["status"][slice(*part)] = _UNTOUCHED
            try:
                return entry(self.controls, self.tree_packs, self.roots, self.work_packs, *before, *part, *after(*part))
            except MethodError as error:
                return error

        if self._threads is None or len(parts) == 1:
            found = [call(part) for part in parts]
        else:
            found = _all_results([self._threads.submit(call, part) for part in parts])
        for part, one in zip(parts, found, strict=True):
            if isinstance(one, MethodError):
                # A kernel goes from slot to slot: the last one that it has touched is the one that failed.
                slot = int(np.flatnonzero(self.controls["status"][slice(*part)] != _UNTOUCHED)[-1]) + part[0]
                raise self.failure(slot, one.__cause__)
        return found

    def _call_once(self, kernel: CompiledFunction[..., Any], *args: Any, failed: Callable[[], int]) -> Any:
        """Call a kernel on all slots, in this thread; `failed` returns the slot in which the game has failed."""
        try:
            return self.engine.entry(kernel)(self.controls, self.tree_packs, *args)
        except MethodError as error:
            raise self.failure(failed(), error.__cause__) from error.__cause__

    def _refuse_failures(self, which: Any) -> None:
        if (self.controls["status"][which] >= FIRST_FAILURE).any():
            raise self.failure(int(np.argmax(self.controls["status"] >= FIRST_FAILURE)))

    def failure(self, slot: int, error: BaseException | None = None) -> TreetopError:
        """Return the error to raise after a kernel has reported a failure of the game in a slot."""
        found = self.driver(slot).failure(error)
        return type(found)(f"in slot {slot}: {found}")


def _all_results(futures: Sequence[Future[Any]]) -> list[Any]:
    """Return the results of all calls. A Ctrl-C is raised after they have ended: they write to the trees."""
    interrupted = False
    while not all(future.done() for future in futures):
        try:
            wait(futures)
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        raise KeyboardInterrupt
    return [future.result() for future in futures]


def _split(first: int, last: int, parts: int) -> list[tuple[int, int]]:
    """Return ranges of about equal size."""
    edges = [first + (last - first) * index // parts for index in range(parts + 1)]
    return [(a, b) for a, b in itertools.pairwise(edges) if b > a]


def _refuse(game: Game, config: SearchConfig) -> None:
    """Raise ConfigError for what works in single searches only."""
    if needs_determinizations(game, config) or needs_information_sets(game, config):
        raise ConfigError(
            f"a pool searches trees of positions; {game.name} with these settings needs information-set search or "
            "determinizations: use Search"
        )
    if config.graph.transpositions:
        raise ConfigError("a pool has no transpositions: leave them out, or use Search")
    if config.values.opponents == "paranoid":
        raise ConfigError("a pool has no paranoid search: leave opponents out, or use Search")
    if callable(config.tie_break):
        raise ConfigError("a pool breaks ties at random or by order: leave out the tie_break function, or use Search")
