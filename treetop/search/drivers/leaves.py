"""Leaves of a tree that are evaluated elsewhere: gathered in batches, then absorbed or dropped."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treetop.kernels.batch import make_absorb, make_gather, release
from treetop.kernels.control import COLLISION, DONE, NEED_CAPACITY, SOLVED, TIE
from treetop.search.batch import Batch
from treetop.types import NONE, FloatArray

if TYPE_CHECKING:
    from treetop.search.drivers.tree import TreeDriver


class Leaves:
    """The in-flight leaves of one driver."""

    def __init__(self, driver: TreeDriver) -> None:
        self._driver = weakref.proxy(driver)  # not a cycle: a dropped search frees its tree at once
        self.in_flight = 0
        """Leaves that were gathered and neither absorbed nor dropped."""
        self._allocate(0)

    def _allocate(self, size: int) -> tuple[npt.NDArray[Any], ...]:
        """Allocate the rows of a batch: paths, movers, depths and states, in the order of the kernel's arguments."""
        shape = size, len(self._driver.scratch.work.path)
        self._rows = (
            np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(size, np.int32),
            np.empty(size, self._driver.game.dtype),
        )  # fmt: skip
        return self._rows

    @property
    def path(self) -> npt.NDArray[np.int32]:
        """The nodes of the last descent."""
        path: npt.NDArray[np.int32] = self._rows[0][int(self._driver.control[0]["gathered"])]
        return path

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        driver, facts = self._driver, self._driver.game.facts
        root, work, leaves = driver.position.record, driver.scratch.pack, self._allocate(0)
        driver.prepare_kernel(make_gather(driver.build), root, work, 0, 1, 0, 0, *leaves)
        evaluated = np.zeros((0, facts.num_actions)), np.zeros((0, facts.players))
        driver.prepare_kernel(make_absorb(driver.build), root, work, 0, 1, *leaves, *evaluated)
        driver.engine.entry(release).prepare(driver.tree.columns.in_flight, leaves[0], leaves[2])

    def gather(self, size: int, budget: int) -> Batch:
        """Return up to `size` distinct leaves, within a budget of simulations.

        Simulations that need no evaluation are finished.
        """
        driver, scratch = self._driver, self._driver.scratch
        driver.gathers = True
        driver.tree.track_in_flight()
        size = self._reserve(size)
        scratch.work.answers[:] = NONE
        rows = self._allocate(size)
        driver.enter(budget)
        self._keep_capacity(size)
        driver.control["gathered"] = driver.control["resumed"] = 0
        stuck = 0
        try:
            while True:
                driver.call(make_gather(driver.build), driver.position.record, scratch.pack, 0, 1, size, 0, *rows)
                status = int(driver.control[0]["status"])
                if status == TIE:
                    driver.ask_hook()
                    continue
                stuck = driver.stuck(stuck)
                if status != NEED_CAPACITY or not self._reserve_more(size, stuck):
                    break
            if status not in (DONE, COLLISION, SOLVED, NEED_CAPACITY):
                raise driver.failure()
        except BaseException:
            self.drop(self._gathered())
            raise
        return self._gathered()

    def _gathered(self) -> Batch:
        size = int(self._driver.control[0]["gathered"])
        self.in_flight += size
        return self.batch(size, more=True)

    def batch(self, size: int, *, more: bool) -> Batch:
        """Return the first leaves that were gathered, as a batch."""
        driver = self._driver
        paths, movers, depths, leaves = (column[:size] for column in self._rows)
        return Batch(
            driver.game, leaves, more, paths, movers, depths, driver.tree.generation,
            rules=driver.engine.blueprint.digest, discount=driver.config.values.discount, engine=driver.engine,
        )  # fmt: skip

    def absorb(self, batch: Batch, logits: npt.ArrayLike, values: npt.ArrayLike) -> None:
        """Expand and back up the leaves of a batch by their evaluations."""
        if not len(batch):
            batch.close(self._driver.tree.generation)
            return
        checked = batch.checked(logits, values)
        batch.close(self._driver.tree.generation)
        self._absorb(batch, *checked)

    def _absorb(self, batch: Batch, logits: FloatArray, values: FloatArray) -> None:
        driver = self._driver
        driver.gathers = False
        driver.enter(0)
        driver.control["gathered"], driver.control["row"] = len(batch), 0
        leaves = (batch._paths, batch._movers, batch._depths, batch.states)
        try:
            call = (make_absorb(driver.build), driver.position.record, driver.scratch.pack)
            driver.call(*call, 0, 1, *leaves, logits, values)
        finally:
            self.in_flight -= len(batch)
            done = int(driver.control[0]["done"])
            if done < len(batch):  # the game failed: the rest of the batch is dropped
                self._release(batch, done)
        if int(driver.control[0]["status"]) not in (DONE, NEED_CAPACITY):
            raise driver.failure()

    def drop(self, batch: Batch) -> None:
        """Discard a batch, and remove its in-flight visits."""
        batch.close(self._driver.tree.generation)
        self._release(batch)
        self.in_flight -= len(batch)
        self._driver.control["turn"] -= len(batch)  # the root's schedule continues where it was
        self._driver.control["arms"] = 0

    def _release(self, batch: Batch, start: int = 0) -> None:
        in_flight = self._driver.tree.columns.in_flight
        self._driver.engine.entry(release)(in_flight, batch._paths[start:], batch._depths[start:])

    # The capacity of the tree: nodes must not move while leaves are in flight.

    def _reserve(self, size: int) -> int:
        """Reserve nodes for the children of in-flight leaves and of `size` more; return how many more are allowed."""
        driver = self._driver
        actions, bound = driver.most_children, driver.tree.max_nodes
        if bound is not None:
            most = (bound - 1 - actions) // actions
            if driver.game.facts.num_outcomes:
                most = max(1, most // 2)  # the other half is for the outcomes of chance
            size = min(size, most - self.in_flight)
            if self.in_flight and driver.tree.size + (self.in_flight + size) * actions > bound:
                size = (bound - driver.tree.size) // actions - self.in_flight  # folding would move nodes
        size = max(size, 0)
        if size:
            driver.tree.ensure_capacity((self.in_flight + size) * actions)
        return size

    def _reserve_more(self, size: int, stuck: int) -> bool:
        """Reserve nodes for outcomes of chance; return False if a bounded tree must absorb in-flight leaves first."""
        driver, bound = self._driver, self._driver.tree.max_nodes
        waiting = self.in_flight + int(driver.control[0]["gathered"])
        needed = (self.in_flight + size + stuck) * driver.most_children
        if bound is not None and waiting and driver.tree.size + needed > bound:
            return False
        budget, done = int(driver.control[0]["budget"]), int(driver.control[0]["done"])
        driver.tree.ensure_capacity(needed)
        driver.enter(budget)
        self._keep_capacity(size)
        driver.control["done"] = done
        return True

    def _keep_capacity(self, size: int) -> None:
        """Keep outcomes of chance from taking the nodes reserved for the children of leaves."""
        self._driver.control["capacity"] -= (self.in_flight + size) * self._driver.most_children
