"""A session: how any search runs. It owns the budget, slices, Ctrl-C, stopping rules, progress and the preparation of the root.

A kind of search (a game, a Python problem) subclasses `Session` and says how to run some simulations; it repeats nothing of this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treetop.errors import ConfigError
from treetop.kernels.control import SOLVED
from treetop.kernels.roots.gumbel import Gumbel
from treetop.search import root
from treetop.search.config import SearchConfig
from treetop.search.evaluator import name_of
from treetop.search.guard import Guard
from treetop.search.interrupts import Interrupts
from treetop.search.limits import Budget, Limit, Pulse
from treetop.search.progress import Progress
from treetop.search.result import SearchResult
from treetop.search.stopping import Standing, Stopper, Together, Verdict
from treetop.tree.storage import Tree

FORCED_SIMULATIONS = 32  # what a position with one legal move gets: enough for a value, no time lost
MOST_VISITS = 2**31 - 2  # what a node can count
_PROGRESS_SECONDS = 0.1


class Session:
    """The part of a search that is the same for games and for Python problems."""

    game: Any
    """The game; of a Python problem what stands for it."""
    position: Any
    """The root: a `Position`; of a Python problem what stands for it."""
    config: SearchConfig
    evaluator: Any
    seed: int
    player: int
    _machine: Any
    nothing_open = "every move that was asked for is proven"
    """Why a search ends that can neither continue nor prove the root."""

    def __init__(self) -> None:
        self._last: tuple[Limit, int, float, str] | None = None  # limit, simulations, seconds, why it stopped
        self._is_noisy = False  # whether the root's priors hold their noise
        self._is_scheduled = False  # whether the root's schedule was planned for the present limit
        self._pondering = False
        self._guard = Guard()

    # What a kind of search says of itself.

    @property
    def tree(self) -> Tree:
        """The tree, as arrays and nodes."""
        tree: Tree = self._machine.tree
        return tree

    @property
    def simulations(self) -> int:
        """How many simulations the present tree holds."""
        return self.tree.root_visits

    @property
    def solved(self) -> bool:
        """Whether the solver has proven the root."""
        return bool(self._machine.solved)

    @property
    def expand_after(self) -> int:
        """Visits that a leaf needs before it is expanded."""
        raise NotImplementedError

    @property
    def moves_played(self) -> int:
        """How many moves led to the root: noise and Gumbel numbers differ from move to move."""
        raise NotImplementedError

    @property
    def is_forced(self) -> bool:
        """Whether there is only one action."""
        raise NotImplementedError

    @property
    def is_cheap(self) -> bool:
        """Whether simulations cost so little that a forced move gets some."""
        raise NotImplementedError

    def result(self) -> Any:
        """Return what the search knows now."""
        raise NotImplementedError

    def _advance_by(self, simulations: int, batch: int, interrupts: Interrupts) -> None:
        """Run about so many simulations, or one batch of so many leaves where an evaluator in Python values them."""
        raise NotImplementedError

    # What the result of a game does not have.

    is_game = True

    def _labels(self, position: Any, numbers: Sequence[int]) -> Callable[[int], Any]:  # noqa: ARG002 - for Python problems
        """Return a function from the numbers of a result to its actions."""
        return int

    def _origin(self) -> dict[str, str]:
        """Return what a report says of the rules, of the start and of the evaluator."""
        was_set_up, game = self.position.was_set_up, self.position.game
        return {
            "rules_digest": self._machine.engine.blueprint.digest,
            "start": repr(game.view(self.position.start.copy())) if was_set_up else "the game's start",
            "evaluator": name_of(self.evaluator),
        }

    def _extras(self) -> dict[str, Any]:
        """Return fields of the result that only Python problems have."""
        return {}

    # What follows from it.

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
        budget.simulations = self.simulations - held  # exact, also where an interrupt cut a slice short
        self._last = (limit, budget.simulations, budget.elapsed, why)
        if progress is not None and not interrupts.seen:
            progress(self._progress(budget))
        result: SearchResult = self.result()
        return result

    def _run_slices(
        self,
        budget: Budget,
        interrupts: Interrupts,
        progress: Callable[[Progress], object] | None,
        stopping: Sequence[Stopper],
    ) -> str:
        """Run slice after slice; return why it ended."""
        pulse, together, limit = Pulse(_PROGRESS_SECONDS), Together(stopping), budget.limit
        together.reset()
        wait = MOST_VISITS  # simulations until the next look at the root
        while not interrupts.seen:
            if self.solved and self.simulations:
                return "solved"
            size = min(budget.next_slice(), MOST_VISITS - self.simulations, wait)
            if size <= 0:
                return "the limit was reached"
            done = self._run_slice(budget, size, interrupts)
            if not done and self._machine.control[0]["status"] == SOLVED:
                return "solved" if self.solved else self.nothing_open
            if progress is not None and self.simulations and pulse.due():
                progress(self._progress(budget))
            wait -= done
            if stopping and self.simulations and (wait <= 0 or wait > MOST_VISITS // 2):
                verdict = self._look(together, budget, limit)
                if verdict.reason is not None:
                    return verdict.reason
                budget.limit, wait = verdict.limit, verdict.wait
        return "interrupted"

    def _run_slice(self, budget: Budget, size: int, interrupts: Interrupts) -> int:
        """Run one slice and account for it; return how many simulations it made."""
        nodes, held, left = self._machine.nodes, self.simulations, budget.left
        # The size of a batch changes what is searched, so it must not come from a slice, which is cut by the clock.
        batch = self.config.batch_size if left is None else min(left, self.config.batch_size)
        size, batch = (size, batch) if self._prepare_root(left) else (1, 1)
        self._advance_by(size, batch, interrupts)
        done = self.simulations - held
        budget.spend(done, max(0, self._machine.nodes - nodes))
        return done

    def _look(self, together: Together, budget: Budget, limit: Limit) -> Verdict:
        """Ask the stopping rules. What has failed leads nobody."""
        result: SearchResult = self.result()
        counts = np.where(result.failed, 0, result.counts)
        means = np.where(result.failed, math.nan, result.means)
        standing = Standing(
            counts, means, result.priors, budget.simulations, limit, budget.elapsed, self.config.final.name,
            result.lower, result.upper,
        )  # fmt: skip
        return together.look(standing)

    def _prepare_root(self, left: int | None) -> bool:
        """Add noise and plan schedules; return false while the root has no children, when simulations must come one at a time."""
        gumbel = self.config.root if isinstance(self.config.root, Gumbel) else None
        noisy = self.config.noise.fraction > 0 and not self._is_noisy
        scheduled = gumbel is not None and not self._is_scheduled and not self._pondering
        if scheduled and left is None:
            raise ConfigError(
                "root='gumbel' plans a known number of simulations: give the limit simulations, or use root='halving'"
            )
        if (noisy or scheduled) and not root.block(self.tree).stop:
            return False
        if noisy:
            root.add_noise(self._machine, self.moves_played)
            self._is_noisy = True
        if gumbel is not None and scheduled and left is not None:
            root.warn_of_rollouts(self.evaluator, left)
            root.begin_schedule(self._machine, gumbel, self.moves_played, left)
            self._is_scheduled = True
        return True

    def _forced(self, limit: Limit, *, elsewhere: bool = False) -> Limit:
        """Return the limit for a position with one action: a few simulations, or one where evaluations are costly."""
        if not self.config.stop_when_forced or not self.is_forced:
            return limit
        few = 1 if elsewhere or not self.is_cheap else FORCED_SIMULATIONS
        return replace(limit, simulations=min(few, limit.simulations or few))

    def _progress(self, budget: Budget) -> Progress:
        result = self.result()
        return Progress(budget.simulations, budget.elapsed, result.move, result.value, budget.limit)
