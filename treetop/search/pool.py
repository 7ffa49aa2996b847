"""Many searches at once: one compiled loop walks many trees, and one batch holds the leaves of all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop import checks
from treetop.compiler.rng import mix
from treetop.errors import ConfigError, SearchError
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.kernels.advance import SKIP
from treetop.search.batch import Batch
from treetop.search.config import SearchConfig
from treetop.search.evaluator import Rollout, evaluate_batch, in_python
from treetop.search.guard import Guard, exclusive
from treetop.search.interrupts import Interrupts
from treetop.search.pool_results import PoolResult, read, result_of
from treetop.search.presets import uct
from treetop.search.refusals import check_arguments, check_evaluator
from treetop.search.result import SearchResult
from treetop.search.session import FORCED_SIMULATIONS
from treetop.search.slots import Counts, Rows, Slots

_SLICE = 65_536  # simulations of all slots between two looks at Ctrl-C
_MOST_THREADS = 256
_MOST_SLOTS = 2**20
Evaluation = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


@dataclass(frozen=True)
class FinishedGame:
    """A game that has ended in a slot of a pool.

    >>> import treetop as tt
    >>> pool = tt.SearchPool("nim(stones=1)", slots=1, seed=1)
    >>> pool.run(simulations=10)
    >>> game = pool.advance(pool.results().actions)[0]
    >>> game.slot, game.position.moves(), game.returns
    (0, ['1'], [1.0, -1.0])
    """

    slot: int
    position: Position
    """The final position, with all moves."""
    seed: int
    """The seed of its search."""

    @property
    def returns(self) -> list[float]:
        """The total reward of each player."""
        return self.position.returns


class SearchPool:
    """Many searches of one game, each in a slot of its own, in one compiled loop.

    Each slot has a tree, a position and a seed. `run` searches all of them, `results` returns arrays with a row for
    each slot, `advance` plays a move in each and keeps the trees below the moves; games that end are replaced by new
    ones. With an evaluator in Python the leaves of all slots form one batch. The tree of a slot is that of a single
    `Search` of its position with its seed (`seeds`) and `batch_size=leaves`, bit for bit, for any number of slots and
    threads.

    >>> import treetop as tt
    >>> pool = tt.SearchPool("connect_four", tt.gumbel(), slots=4, evaluator=tt.evaluators.Uniform(), seed=1)
    >>> pool.run(simulations=32)
    >>> results = pool.results()
    >>> results.visits.shape, results.values.shape
    ((4, 7), (4, 2))
    >>> finished = pool.advance(results.actions)
    >>> pool.moves_played.tolist(), finished
    ([1, 1, 1, 1], [])
    """

    def __init__(
        self,
        game: str | Game | Family[...] | Position,
        config: SearchConfig | None = None,
        *,
        slots: int,
        evaluator: Any = None,
        seed: int = 0,
        leaves: int = 1,
        threads: int = 1,
        overlap: bool = True,
        tier: str | None = None,
    ) -> None:
        """Prepare a pool, with a game in each slot.

        All games start from `game`: a game (dealt by the slot's seed, if it deals) or a position. `leaves` is how many
        leaves of one tree a batch may hold. `threads` search at the same time, each some of the slots. With `overlap`
        one half of the slots is searched while the other half is in the evaluator, which then runs in a thread of its
        own. `tier` selects compiled code, as in `Search`.
        """
        config = uct() if config is None else config
        check_arguments(config, seed)
        evaluator = Rollout() if evaluator is None else evaluator
        check_evaluator(evaluator)
        count = checks.whole("slots", slots, 1, _MOST_SLOTS)
        checks.whole("threads", threads, 1, _MOST_THREADS)
        checks.whole("leaves", leaves, 1, checks.INT32_MAX)
        checks.flag("overlap", overlap)
        self._start = game if isinstance(game, Position) else None
        known = game.game if isinstance(game, Position) else load_game(game)
        self._slots = Slots(known, config, evaluator, count, threads, leaves, tier)
        self._seed, self._games = seed, 0
        self._guard = Guard()
        halves = [(0, count // 2), (count // 2, count)] if overlap and count > 1 else [(0, count)]
        self._halves = [Rows(self._slots, *half) for half in halves] if in_python(evaluator) is not None else []
        self._thread = ThreadPoolExecutor(1, "treetop-evaluator") if len(self._halves) > 1 else None
        self._begin(range(count), self._start, None)

    def complete_results(self) -> None:
        """Do nothing: the results of a pool are arrays of their own."""

    # What is in the slots.

    @property
    def game(self) -> Game:
        """The game."""
        return self._slots.game

    @property
    def config(self) -> SearchConfig:
        """The settings of every search."""
        return self._slots.config

    @property
    def evaluator(self) -> Any:
        """The evaluator of leaves."""
        return self._slots.evaluator

    @property
    def seeds(self) -> npt.NDArray[np.uint64]:
        """The seed of each slot's search."""
        return np.array(self._slots.controls["seed"])

    @property
    def players(self) -> npt.NDArray[np.int64]:
        """The player to move in each slot; NONE where the game is over."""
        return np.array(self._slots.players)

    @property
    def is_terminal(self) -> npt.NDArray[np.bool_]:
        """Whether the game in each slot is over."""
        return self._slots.over

    @property
    def moves_played(self) -> npt.NDArray[np.int64]:
        """The number of actions of each slot's game, outcomes of chance included."""
        return np.array(self._slots.controls["moves"])

    def position(self, slot: int) -> Position:
        """Return the position in a slot, with its moves."""
        return self._slots.driver(self._slot(slot)).position

    def batch(self) -> Batch:
        """Return the positions of all slots as a batch, for its `observations`, `legal_mask`, `players` and `keys`."""
        return self._slots.batch(self._slots.roots.copy())

    def __len__(self) -> int:
        return len(self._slots.drivers)

    def __repr__(self) -> str:
        return f"<pool of {len(self)} searches of {self.game.name}: {self.config}>"

    def _slot(self, slot: int) -> int:
        return checks.whole("slot", slot, 0, len(self) - 1)

    # Searching.

    @exclusive
    def run(self, simulations: int | Sequence[int] | npt.NDArray[Any]) -> None:
        """Search every slot whose game is not over, with this number of simulations each, or a number for each slot.

        A slot ends earlier if its root is proven, and after a few simulations if there is one legal move. Ctrl-C ends
        the run with KeyboardInterrupt; simulations that are finished are kept. An error in the evaluator or in the game
        ends it too, and the leaves in flight are dropped.
        """
        slots, wanted = self._slots, self._wanted(simulations)
        slots.prepare()
        left = np.where(slots.playing & ~slots.solved(), wanted, 0).astype(np.int64)
        if self.config.stop_when_forced:
            few = FORCED_SIMULATIONS if not self._halves else 1
            left = np.where(slots.forced, np.minimum(left, few), left)
        slots.begin_run(left)
        search = self._run_batches if self._halves else self._run_compiled
        with Interrupts() as interrupts:
            while (waiting := slots.prepare_roots(left)).any() and not interrupts.seen:
                left -= search(np.where(waiting, 1, 0), left, interrupts)
            left -= search(left.copy(), left, interrupts)
        if interrupts.seen:
            raise KeyboardInterrupt

    def _wanted(self, simulations: Any) -> Counts:
        """Return the simulations of each slot; raise ConfigError where they are not whole numbers of at least 1."""
        if not isinstance(simulations, Sequence | np.ndarray):
            return np.full(len(self), checks.whole("simulations", simulations, 1, checks.INT32_MAX), np.int64)
        given = np.array(simulations)
        if given.shape != (len(self),) or given.dtype.kind not in "iu":
            raise ConfigError(f"simulations must be a whole number, or {len(self)} of them, one for each slot")
        for slot in np.flatnonzero((given < 1) | (given > checks.INT32_MAX)).tolist():
            checks.whole(f"simulations[{slot}]", int(given[slot]), 1, checks.INT32_MAX)
        return given.astype(np.int64)

    def _run_compiled(self, budget: Counts, left: Counts, interrupts: Interrupts) -> Counts:
        """Run `budget` simulations of each slot that compiled code evaluates; return how many were run.

        `left` becomes what was run where a root is proven, so that nothing is left of it.
        """
        total = np.zeros_like(budget)
        while budget.any() and not interrupts.seen:
            done, solved = self._slots.run(np.minimum(budget, max(1, _SLICE // len(self))))
            budget -= done
            total += done
            budget[solved] = 0
            left[solved] = total[solved]
        return total

    def _run_batches(self, budget: Counts, left: Counts, interrupts: Interrupts) -> Counts:
        """Do the same with leaves that are evaluated in Python: some wait for that while others are searched."""
        slots, waiting = self._slots, deque[tuple[Rows, Future[Evaluation]]]()
        slots.set_budget(budget)
        try:
            if self._thread is None:
                self._run_in_turn(interrupts)
            else:
                for rows in self._halves:
                    self._gather(rows, waiting, self._thread)
            while waiting:
                rows, future = waiting.popleft()
                slots.absorb(rows, *future.result())
                if not interrupts.seen and self._thread is not None:
                    self._gather(rows, waiting, self._thread)
        except BaseException:
            wait([future for _, future in waiting])  # the evaluator must not be called twice at a time
            slots.drop()
            raise
        done: Counts = np.where(budget > 0, slots.done, 0)
        left[slots.closed] = done[slots.closed]
        return done

    def _run_in_turn(self, interrupts: Interrupts) -> None:
        """Gather leaves, evaluate them and absorb their evaluations, one batch after the other."""
        for rows in self._halves:
            while len(batch := self._slots.gather(rows)):
                self._slots.absorb(rows, *self._evaluate(batch))
                if interrupts.seen:
                    return

    def _gather(self, rows: Rows, waiting: deque[tuple[Rows, Future[Evaluation]]], thread: ThreadPoolExecutor) -> None:
        """Gather leaves, and start their evaluation."""
        batch = self._slots.gather(rows)
        if len(batch):
            waiting.append((rows, thread.submit(self._evaluate, batch)))

    def _evaluate(self, batch: Batch) -> Evaluation:
        evaluator = in_python(self.evaluator)
        assert evaluator is not None
        logits, values = evaluate_batch(evaluator, batch)
        return batch.checked(logits, values)

    @exclusive
    def results(self) -> PoolResult:
        """Return what the searches of all slots have found, as arrays."""
        found = read(self._slots)
        if self._slots.playing.any() and not found.simulations.any():
            raise SearchError("no slot was searched yet, so there are no results: call run first")
        return found

    @exclusive
    def result(self, slot: int) -> SearchResult:
        """Return the result of one slot as a single search reports it, with explanation and variation."""
        if not self._slots.playing[self._slot(slot)]:
            raise SearchError(f"the game in slot {slot} is over: there is no result")
        return result_of(self._slots, slot)

    # Playing.

    @exclusive
    def advance(self, actions: Sequence[int] | npt.NDArray[Any], *, restart: bool = True) -> list[FinishedGame]:
        """Play an action in each slot, and keep the trees below the actions; return the games that have ended.

        With `restart`, a new game with a new seed begins where one has ended; else the slot stays as it is until
        `replace`. An action of NONE leaves a slot as it is, which a finished game needs. Outcomes of chance are drawn
        by the slot's seed. If an action is not legal, nothing is played.
        """
        given = np.array(actions)
        if given.shape != (len(self),) or given.dtype.kind not in "iu" or (given > checks.INT32_MAX).any():
            raise ConfigError(
                f"actions must be {len(self)} whole numbers, one for each slot, not an array of {given.dtype} with the "
                f"shape {given.shape}"
            )
        slots = self._slots
        finished_before = slots.over & (given != SKIP)
        if finished_before.any():
            raise ConfigError(
                f"the game in slot {int(np.argmax(finished_before))} is over: give NONE (-1) as its action, or replace "
                "the game"
            )
        slots.prepare()
        slots.advance(given.astype(np.int64))
        ended = np.flatnonzero(slots.over & (given != SKIP)).tolist()
        finished = [FinishedGame(slot, self.position(slot), int(slots.controls["seed"][slot])) for slot in ended]
        if restart and ended:
            self._begin(ended, self._start, None)
        return finished

    @exclusive
    def replace(self, slot: int | Iterable[int], position: Position | None = None, *, seed: int | None = None) -> None:
        """Begin another game in a slot, or in several: from a position, or from where all games of the pool start.

        Its search has a new seed, unless one is given.
        """
        chosen = [self._slot(each) for each in (slot if isinstance(slot, Iterable) else [slot])]
        if position is not None:
            if not isinstance(position, Position) or position.game is not self.game:
                raise ConfigError(f"position must be a position of {self.game.name}, not {position!r}")
            if position.is_terminal:
                raise ConfigError(f"the game is over in this position: there is nothing to search\n{position}")
        if seed is not None:
            checks.whole("seed", seed)
        if chosen:
            self._begin(chosen, self._start if position is None else position, seed)

    def _begin(self, chosen: Sequence[int], position: Position | None, seed: int | None) -> None:
        seeds = []
        for _ in chosen:
            seeds.append((mix(self._seed + self._games) if seed is None else seed) & (2**64 - 1))
            self._games += 1
        self._slots.begin(chosen, seeds, position)
