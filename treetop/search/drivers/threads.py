"""Several threads that search one tree: their buffers, their calls, and what follows from a failure.

`Shared` lets all of them descend in the tree at the same time (`kernels.shared`). `Rounds` gives the same result for
any number of threads (`kernels.rounds`).
"""

from __future__ import annotations

import functools
import os
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treetop import checks
from treetop.compiler.functions import CompiledFunction
from treetop.compiler.packs import Packs
from treetop.compiler.rng import mix
from treetop.errors import ConfigError, MethodError
from treetop.kernels.build import Build, for_threads
from treetop.kernels.control import (
    FIRST_FAILURE,
    FIRST_ROW,
    LAST_ROW,
    LEFT,
    NEXT_ROW,
    PROOFS,
    READY,
    SIZE,
    SOLVED,
    STOP,
)
from treetop.kernels.record import CONTROL
from treetop.kernels.rounds import make_run_rounds
from treetop.kernels.shared import make_run_shared
from treetop.search.drivers.scratch import KEPT, Scratch, Sizes
from treetop.types import NONE, ROOT

if TYPE_CHECKING:
    from treetop.search.drivers.tree import TreeDriver

MOST_THREADS = 256
_LEAST_VISITS = 8  # of a subtree that is divided
_SUBTREES = 64  # for each thread, about: then two threads seldom want the same one


@functools.cache
def _workers() -> ThreadPoolExecutor:
    """Return the threads of this process, which all searches share; they are started when they are needed."""
    return ThreadPoolExecutor(MOST_THREADS, "treetop-search")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.cache_clear)  # threads do not survive a fork


class Threads:
    """The threads that search the tree of one driver."""

    deterministic: ClassVar[bool]
    """Whether the result is the same for any number of threads."""

    def __init__(self, driver: TreeDriver, count: int) -> None:
        self._driver = weakref.proxy(driver)  # not a cycle: a dropped search frees its tree at once
        self.count = count
        self._controls = np.zeros(count, CONTROL)  # [threads]
        self.yields = 0
        """For tests: how often a thread lets others run at places where they may meet."""
        self._use(driver.build)

    def _build_of(self, build: Build) -> tuple[Build, CompiledFunction[..., None]]:
        """Return the build of the threads, and their loop."""
        raise NotImplementedError

    def _use(self, build: Build) -> None:
        """Allocate the buffers of a build."""
        self._used = build
        own, self._kernel = self._build_of(build)
        sizes = Sizes.of(self._driver.game, 1)
        self._works = [Scratch.of(own, sizes).work for _ in range(self.count)]
        self._packs = Packs([(work,) for work in self._works])

    def _follow(self) -> None:
        """Use the build, the columns and the kept buffers of the driver."""
        driver = self._driver
        driver.tree.track_in_flight()
        if self._used is not driver.build:
            self._use(driver.build)
        kept = {name: getattr(driver.scratch.work, name) for name in KEPT}
        for index, work in enumerate(self._works):
            if any(getattr(work, name) is not array for name, array in kept.items()):
                self._works[index] = work._replace(**kept)
                self._packs.set_row(index, self._works[index])

    def _arguments(self, index: int) -> tuple[Any, ...]:
        """Return the last arguments of the loop of one thread."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Compile the loop, or load it from the cache."""
        driver = self._driver
        self._follow()
        driver.engine.entry(self._kernel).prepare(
            self._controls, driver.tree.pack, driver.position.record, self._packs, *self._arguments(0)
        )

    def _call_all(self) -> list[MethodError | None]:
        """Run all threads; return for each the error of a game's method."""
        pending = [_workers().submit(self._call, index) for index in range(1, self.count)]
        return [self._call(0), *(future.result() for future in pending)]

    def _call(self, index: int) -> MethodError | None:
        driver = self._driver
        try:
            driver.engine.entry(self._kernel)(
                self._controls, driver.tree.pack, driver.position.record, self._packs, *self._arguments(index)
            )
        except MethodError as error:
            driver.tree.shared[STOP] = 1
            return error
        except BaseException:
            driver.tree.shared[STOP] = 1
            raise
        return None


class Shared(Threads):
    """Threads that descend in one tree at the same time. Results depend on their timing."""

    deterministic = False

    def __init__(self, driver: TreeDriver, count: int) -> None:
        super().__init__(driver, count)
        self._words = [mix(driver.seed + 1 + index) for index in range(count)]
        self._locked, self._reach, self._split_after = NONE, 0, 0  # a generation, the most nodes, the last limit

    def _build_of(self, build: Build) -> tuple[Build, CompiledFunction[..., None]]:
        own = for_threads(build)
        return own, make_run_shared(own)

    def _follow(self) -> None:
        self._driver.tree.add_column("locks")
        super()._follow()

    def _arguments(self, index: int) -> tuple[Any, ...]:
        return index, index + 1

    def run(self, simulations: int, stuck: int) -> int:
        """Run simulations until they are done or a thread needs the caller; return the status."""
        driver, tree, controls = self._driver, self._driver.tree, self._controls
        self._follow()
        slack = self.count * driver.most_children  # what each thread may still add when the tree is full
        tree.ensure_capacity(driver.most_children * max(1, stuck) + slack)
        driver.enter(simulations)
        self._reset_locks()
        tree.shared[[SIZE, LEFT, STOP, PROOFS]] = tree.size, simulations, 0, 0
        controls[:] = driver.control
        controls["rng"], controls["capacity"] = self._words, tree.columns.capacity - slack
        controls["yields"], controls["yielded"] = self.yields, np.arange(self.count)
        controls["split_after"], controls["finished"], controls["proven"] = self._split_after, 0, 0
        failures = self._call_all()
        self._words = controls["rng"].tolist()
        return self._collect(failures)

    def _reset_locks(self) -> None:
        """Unite all subtrees where nodes have moved, and when they have become small for the tree."""
        tree = self._driver.tree
        split_after = max(_LEAST_VISITS, tree.root_visits // (_SUBTREES * self.count))
        if self._locked != tree.generation or split_after > 2 * self._split_after:
            tree.columns.locks[: max(self._reach, tree.size)] = 0
            self._locked, self._split_after = tree.generation, split_after
        self._reach = max(self._reach, tree.size)

    def _collect(self, failures: list[MethodError | None]) -> int:
        """Write what the threads found to the driver's control record; return the status."""
        driver, tree, controls = self._driver, self._driver.tree, self._controls
        tree.size = int(tree.shared[SIZE])
        self._reach = max(self._reach, tree.size)
        broken = [index for index, error in enumerate(failures) if error is not None]
        for index in broken:
            self._complete(index)
        statuses = np.where([error is None for error in failures], controls["status"], FIRST_FAILURE)
        worst = int(np.argmax(np.where(statuses == SOLVED, FIRST_FAILURE - 1, statuses)))
        control = driver.control
        for name in ("depth", "culprit", "bad_value", "ending"):
            control[name] = controls[name][worst]
        control["size"], control["done"], control["status"] = tree.size, controls["done"].sum(), statuses[worst]
        control["turn"] += control["done"]
        control["value_low"], control["value_high"] = controls["value_low"].min(), controls["value_high"].max()
        driver.scratch.work.path[:] = self._works[worst].path
        self._correct_proven()
        if broken:
            tree.columns.in_flight[: tree.size] = 0
            self._locked = NONE
            error = failures[broken[0]]
            assert error is not None
            raise driver.failure(error.__cause__) from error.__cause__
        return int(statuses[worst])

    def _complete(self, index: int) -> None:
        """Count the simulations of a subtree, in which the game failed then, at the nodes above it too."""
        control, work, tree = self._controls[index], self._works[index], self._driver.tree
        finished = int(control["finished"])
        if not finished:
            return
        stats, floor = tree.columns.stats, int(control["floor"])
        for step in range(1, floor + 1):
            stats["visits"][work.path[step]] += finished
            stats["value_sum"][work.path[step]] += work.returned[work.movers[step - 1]]
            if len(tree.columns.returns):
                tree.columns.returns[work.path[step]] += work.returned
        stats["visits"][ROOT] += finished
        tree.totals += work.returned
        control["done"] += finished

    def _correct_proven(self) -> None:
        """Set the sums of shared nodes that were proven: other threads may have added to them meanwhile."""
        tree, columns, players = self._driver.tree, self._driver.tree.columns, self._driver.tree.players
        for control, work in zip(self._controls, self._works, strict=True):
            for node, chooser in work.proven[: int(control["proven"])].tolist():
                visits = int(columns.stats["visits"][node])
                exact = 0.5 * (columns.bounds[node, :players] + columns.bounds[node, players:]) * visits
                if node == ROOT:
                    tree.totals[:] = exact
                    continue
                columns.stats["value_sum"][node] = exact[chooser]
                if len(columns.returns):
                    columns.returns[node] = exact
                if len(columns.squares):
                    columns.squares[node] = exact[chooser] ** 2 / max(visits, 1)


class Rounds(Threads):
    """Threads that evaluate the leaves of a round. The result is the same for any number of them."""

    deterministic = True

    def __init__(self, driver: TreeDriver, count: int) -> None:
        super().__init__(driver, count)
        facts, length = driver.game.facts, len(driver.scratch.work.path)
        self._width = driver.config.batch_size
        bound = driver.config.growth.max_nodes
        if bound is not None:
            self._width = max(1, min(self._width, (bound - 1) // driver.most_children // 2 - 1))
        rows = self._width
        self._rows = (
            np.zeros((rows, length), np.int32),
            np.zeros((rows, length), np.int32),
            np.zeros(rows, np.int32),
            np.zeros(rows, driver.game.dtype),
            np.full((rows, facts.num_actions), -np.inf),  # the priors of the kernel stand
            np.zeros((rows, facts.players)),
        )
        self._least = 0

    def _build_of(self, build: Build) -> tuple[Build, CompiledFunction[..., None]]:
        return build, make_run_rounds(build)

    def _arguments(self, index: int) -> tuple[Any, ...]:
        return index, self._least, *self._rows

    def run(self, simulations: int, left: int) -> None:
        """Run rounds until about this number of simulations is done, of at most `left`."""
        driver, tree, controls = self._driver, self._driver.tree, self._controls
        driver.gathers = False
        stuck = 0
        while simulations > 0:
            self._follow()
            tree.ensure_capacity((self._width + 1 + stuck) * driver.most_children)
            driver.enter(left)
            start = int(driver.control[0]["streams"])
            tree.shared[[STOP, FIRST_ROW, LAST_ROW, NEXT_ROW, READY]] = 0, start, start, start, start
            controls[:] = driver.control
            controls["status"], self._least = 0, simulations
            failures = self._call_all()
            driver.control[0] = controls[0]
            tree.size = int(controls[0]["size"])
            done, status = int(controls[0]["done"]), int(controls[0]["status"])
            broken = next((index for index, error in enumerate(failures) if error is not None), None)
            if broken is not None or status >= FIRST_FAILURE:
                self._fail(broken, failures)
            if status == SOLVED:
                return
            simulations, left, stuck = simulations - done, left - done, 0 if done else stuck + 1

    def _fail(self, broken: int | None, failures: list[MethodError | None]) -> None:
        """Drop the leaves in flight, and raise the error of a game."""
        driver, controls = self._driver, self._controls
        control = controls[0 if broken is None else broken]
        row, gathered = int(control["failed_row"]), int(controls[0]["gathered"])
        driver.tree.columns.in_flight[: driver.tree.size] = 0
        driver.control["turn"] -= gathered
        driver.control["arms"] = driver.control["gathered"] = 0
        if 0 <= row < self._width:
            driver.scratch.work.path[:] = self._rows[0][row]
            if broken is not None and row < gathered:
                driver.control["depth"], driver.control["culprit"] = self._rows[2][row], control["culprit"]
        error = None if broken is None else failures[broken]
        cause = None if error is None else error.__cause__
        raise driver.failure(cause) from cause


def use_threads(driver: Any, threads: int, deterministic: bool) -> None:
    """Let several threads search the tree of a driver; raise ConfigError where that is not possible."""
    checks.whole("threads", threads, 1, MOST_THREADS)
    checks.flag("deterministic", deterministic)
    if threads == 1 and not deterministic:
        return
    reasons = list(_refusals(driver, deterministic))
    if reasons:
        option = "deterministic=True" if deterministic else f"threads={threads}"
        raise ConfigError(f"{option} does not work here: {reasons[0]}")
    if deterministic:
        driver.threads = Rounds(driver, threads)
    else:
        driver.threads = Shared(driver, threads)
        bound, least = driver.config.growth.max_nodes, (threads + 2) * driver.most_children + 2
        if bound is not None and bound < least:
            raise ConfigError(
                f"max_nodes must be at least {least} for {driver.game.name} and {threads} threads, each of which may "
                f"expand a node; not {bound}"
            )


def _refusals(driver: Any, deterministic: bool) -> Any:
    """Give each reason why several threads cannot search for a driver."""
    if driver.method != "tree search" or not driver.is_game:
        yield "information-set search, determinizations and Python problems have one thread: leave it out"
        return
    config = driver.config
    if not driver.is_cheap:
        yield (
            "an evaluator in Python has one thread: leave it out, and evaluate batches (batch_size), or many games by "
            "SearchPool(threads=...)"
        )
    if config.graph.transpositions:
        yield "transpositions need one thread: leave them out"
    if callable(config.tie_break):
        yield "a tie_break function needs one thread: leave it out"
    if deterministic:
        if "amaf" in driver.plan.columns:
            yield "RAVE and GRAVE need the moves of each rollout: leave deterministic out"
        if driver.control[0]["keeps_history"]:
            yield "a table of past moves (MAST, progressive history) needs the moves of each rollout: leave it out"
        return
    if config.root.name != "rule":
        yield f"root={config.root.name!r} gives out simulations in order: use deterministic=True, or leave it out"
    if config.chance.name == "expected":
        yield "chance='expected' recomputes sums that other threads add to: use chance='sampled'"
