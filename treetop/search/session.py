"""A session runs any kind of search.

It owns the budget, slices, Ctrl-C, stopping rules, progress and the preparation of the root. A driver runs the
simulations: of a tree, of information sets, of determinizations or of a Python problem.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from treetop.compiler.preparing import Pulse
from treetop.errors import ConfigError, SearchError
from treetop.kernels.control import SOLVED
from treetop.kernels.roots.gumbel import Gumbel
from treetop.search import root, snapshot
from treetop.search.config import SearchConfig
from treetop.search.drivers.driver import Driver
from treetop.search.guard import Guard
from treetop.search.interrupts import Interrupts
from treetop.search.limits import Budget, Limit
from treetop.search.progress import Progress
from treetop.search.result import SearchResult
from treetop.search.stopping import Decision, Standing, Stopper, Stoppers
from treetop.tree.storage import Tree

if TYPE_CHECKING:
    from treetop.search.problems.driver import ProblemDriver
    from treetop.search.problems.remote import Remote

FORCED_SIMULATIONS = 32  # the simulations of a position with one legal move: enough for a value
MOST_VISITS = 2**31 - 2  # the most visits that a node can count
_PROGRESS_SECONDS = 0.1


class Session:
    """The part of a search that is the same for every driver."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._last: tuple[Limit, int, float, str] | None = None  # limit, simulations, seconds, why it stopped
        self._is_noisy = False  # whether the root's priors include noise
        self._is_scheduled = False  # whether the root's schedule was planned for the current limit
        self._pondering = False
        self._guard = Guard()
        self._interrupts = Interrupts()
        self._results: list[weakref.ref[SearchResult]] = []  # which still read parts of the tree on demand

    def complete_results(self) -> None:
        """Let results read the rest of what they may need, before the tree changes."""
        for reference in self._results:
            if (result := reference()) is not None:
                result.complete()
        self._results.clear()

    @property
    def config(self) -> SearchConfig:
        """The settings."""
        return self._driver.config

    @property
    def evaluator(self) -> Any:
        """The evaluator of leaves."""
        return self._driver.evaluator

    @property
    def seed(self) -> int:
        """The seed of all random numbers."""
        return self._driver.seed

    @property
    def game(self) -> Any:
        """The game; for a Python problem, an object with the same facts."""
        return self._driver.game

    @property
    def position(self) -> Any:
        """The root: a `Position`; for a Python problem, an object with the same methods."""
        return self._driver.position

    @property
    def player(self) -> int:
        """The player for whom the search is made: the player to move, or one of several who move simultaneously."""
        return self._driver.player

    @property
    def together(self) -> dict[str, Any]:
        """The options of its threads, as `Search` takes them; empty where one thread searches."""
        return {}

    @property
    def tree(self) -> Tree:
        """The tree, as arrays and nodes."""
        return self._driver.tree

    @property
    def simulations(self) -> int:
        """The number of simulations in the current tree."""
        return self.tree.root_visits

    @property
    def nodes(self) -> int:
        """The number of nodes of all its trees."""
        return self._driver.node_count

    def allow_nodes(self, most: int) -> None:
        """Let its trees have up to `most` nodes together from the next run on, instead of the setting `max_nodes`.

        Beyond them the least visited subtrees are folded. Memory that a tree has already is not given back.

        >>> import treetop as tt
        >>> search = tt.Search("connect_four", tt.uct(max_nodes=5000), seed=1)
        >>> search.allow_nodes(500)
        >>> _ = search.run(tt.Limit(simulations=2000))
        >>> search.nodes <= 500
        True
        """
        self._guard.refuse_other_threads("allow nodes")
        trees = self._driver.trees
        for tree in trees:
            tree.max_nodes = max(1, most // len(trees))

    @property
    def solved(self) -> bool:
        """Whether the solver has proven the root."""
        return self._driver.solved

    @property
    def expand_after(self) -> int:
        """Visits that a leaf needs before it is expanded."""
        return self._driver.expand_after

    @property
    def in_flight(self) -> int:
        """The number of in-flight evaluations: leaves that were asked for and neither absorbed nor dropped."""
        return self._driver.in_flight

    def result(self) -> SearchResult:
        """Return the current result. It takes a few microseconds for each move; nothing is searched."""
        self._guard.refuse_other_threads("give a result")
        self._driver.refuse_finished()
        if not self.simulations:
            raise SearchError("nothing has been searched yet: call run, or ask and tell")
        result = snapshot.take(self)
        self._results = [known for known in self._results if known() is not None]
        self._results.append(weakref.ref(result))
        return result

    def _run(
        self, limit: Limit, progress: Callable[[Progress], object] | None, stopping: Sequence[Stopper]
    ) -> SearchResult:
        """Search until the limit is reached, Ctrl-C is pressed, or there is nothing to decide."""
        held, why = self.simulations, ""
        budget = Budget(self._forced(limit))
        with Interrupts() as interrupts:
            try:
                why = self._run_slices(budget, interrupts, progress, stopping)
            except KeyboardInterrupt:
                interrupts.seen = True
        if interrupts.seen:
            why = "interrupted"
            if not self.simulations:
                raise KeyboardInterrupt
        budget.simulations = self.simulations - held  # exact, also after an interrupted slice
        self._last = (limit, budget.simulations, budget.elapsed, why)
        if progress is not None and not interrupts.seen:
            progress(self._progress(budget))
        return self.result()

    async def _run_remote(self, limit: Limit, driver: ProblemDriver, remote: Remote) -> SearchResult:
        """Search with evaluations made elsewhere; return the result."""
        held, why = self.simulations, ""
        try:
            why = await remote.run()
        finally:
            driver.cost, driver.calls, driver.log = remote.budget.cost, remote.budget.calls, remote.log
            self._last = (limit, self.simulations - held, remote.budget.elapsed, why)
        if why == "interrupted" and not self.simulations:
            raise KeyboardInterrupt
        return self.result()

    def _run_slices(
        self,
        budget: Budget,
        interrupts: Interrupts,
        progress: Callable[[Progress], object] | None,
        stopping: Sequence[Stopper],
    ) -> str:
        """Run slice after slice; return why it ended."""
        pulse, stoppers, limit = Pulse(_PROGRESS_SECONDS), Stoppers(stopping), budget.limit
        stoppers.reset()
        wait = MOST_VISITS  # simulations until the next check of the stopping rules
        while not interrupts.seen:
            if self.solved and self.simulations:
                return "solved"
            size = min(budget.next_slice(), MOST_VISITS - self.simulations, wait)
            if size <= 0:
                return "the limit was reached"
            done = self._run_slice(budget, size, interrupts)
            if not done and self._driver.control[0]["status"] == SOLVED:
                return "solved" if self.solved else self._driver.nothing_open
            if progress is not None and self.simulations and pulse.due():
                progress(self._progress(budget))
            wait -= done
            if stopping and self.simulations and (wait <= 0 or wait > MOST_VISITS // 2):
                decision = self._check_stopping(stoppers, budget, limit)
                if decision.reason is not None:
                    return decision.reason
                budget.limit, wait = decision.limit, decision.wait
        return "interrupted"

    def _run_slice(self, budget: Budget, size: int, interrupts: Interrupts) -> int:
        """Run one slice and count it; return how many simulations were run."""
        self.complete_results()  # of a callback
        nodes, held, left = self._driver.node_count, self.simulations, budget.left
        most = MOST_VISITS - held if left is None else left
        size, most = (size, most) if self._prepare_root(left) else (1, 1)
        self._driver.advance_by(size, most, interrupts)
        done = self.simulations - held
        budget.spend(done, max(0, self._driver.node_count - nodes))
        return done

    def _check_stopping(self, stoppers: Stoppers, budget: Budget, limit: Limit) -> Decision:
        """Return the decision of the stopping rules. Failed moves have no visits for them."""
        result = self.result()
        counts = np.where(result.failed, 0, result.counts)
        means = np.where(result.failed, math.nan, result.means)
        standing = Standing(
            counts, means, result.priors, budget.simulations, limit, budget.elapsed, self.config.final.name,
            result.lower, result.upper,
        )  # fmt: skip
        return stoppers.decide(standing)

    def _prepare_root(self, left: int | None) -> bool:
        """Add noise and plan schedules; return False while the root has no children and needs a simulation first."""
        gumbel = self.config.root if isinstance(self.config.root, Gumbel) else None
        noisy = self.config.noise.fraction > 0 and not self._is_noisy
        scheduled = gumbel is not None and not self._is_scheduled and not self._pondering
        if scheduled and left is None:
            raise ConfigError(
                "root='gumbel' plans a known number of simulations: give the limit simulations, or use root='halving'"
            )
        if (noisy or scheduled) and not root.block(self.tree).stop:
            return False
        if noisy or scheduled:
            if scheduled and left is not None:
                root.warn_of_rollouts(self.evaluator, left)
            root.prepare(self._driver, noise=noisy, simulations=left if scheduled else None)
            self._is_noisy, self._is_scheduled = self._is_noisy or noisy, self._is_scheduled or scheduled
        return True

    def _forced(self, limit: Limit, *, elsewhere: bool = False) -> Limit:
        """Return the limit for a position with one action: a few simulations, or one where evaluations are costly."""
        if not self.config.stop_when_forced or not self._driver.is_forced:
            return limit
        few = 1 if elsewhere or not self._driver.is_cheap else FORCED_SIMULATIONS
        return replace(limit, simulations=min(few, limit.simulations or few))

    def _progress(self, budget: Budget) -> Progress:
        result = self.result()
        return Progress(budget.simulations, budget.elapsed, result.move, result.value, budget.limit)
