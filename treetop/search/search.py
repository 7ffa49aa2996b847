"""The search: an object you can hold. Run it, ask and tell it, move on with it, stop it any time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, SearchError, TerminalPositionError, TreetopError
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.kernels import batch as batch_kernels
from treetop.kernels import loop
from treetop.kernels.control import ASK, COLLISION, CONTROL, DONE, FIRST, NEED_ROOM, PUCT, RANDOM, TIE, UCB1
from treetop.search.batch import Batch
from treetop.search.config import SearchConfig, uct
from treetop.search.evaluator import CompiledEvaluator, Evaluator, Rollout
from treetop.search.failures import game_failure
from treetop.search.interrupts import Interrupts
from treetop.search.limits import Budget, Limit, Pulse
from treetop.search.result import SearchResult
from treetop.search.scratch import Scratch
from treetop.tree.storage import Tree
from treetop.types import NONE

_DEFAULT_BATCH = 32
_FORCED_SIMULATIONS = 32  # what a position with one legal move gets: enough for a value, no time lost
_PROGRESS_SECONDS = 0.1
_MOST_VISITS = 2**31 - 2  # what a node can count


@dataclass(frozen=True)
class Progress:
    """How far a search has come; given to the callback of `Search.run` about ten times a second."""

    simulations: int
    elapsed: float
    best: str
    """The move that would be played now."""
    value: float
    """The root's value for the player to move."""
    limit: Limit

    @property
    def rate(self) -> float:
        """Simulations a second."""
        return self.simulations / self.elapsed if self.elapsed > 0 else 0.0


class Search:
    """A Monte Carlo tree search of one position.

    >>> import treetop
    >>> search = treetop.Search("tic_tac_toe", seed=1)
    >>> result = search.run(treetop.Limit(simulations=1000))
    >>> result.simulations
    1000
    """

    def __init__(
        self,
        game: str | Game | Family[...] | Position,
        config: SearchConfig | None = None,
        *,
        evaluator: Evaluator | CompiledEvaluator | None = None,
        seed: int = 0,
    ) -> None:
        self.position = game if isinstance(game, Position) else Position(load_game(game))
        self.config = uct() if config is None else config
        self.evaluator = Rollout() if evaluator is None else evaluator
        _check(self.config, self.evaluator, seed)
        self.seed = seed
        self.game = self.position.game
        _refuse_finished(self.position)
        facts = self.game.facts
        if self.config.max_nodes is not None and self.config.max_nodes < 2 * facts.num_actions + 2:
            raise ConfigError(f"max_nodes must be at least {2 * facts.num_actions + 2} for {self.game.name}, so that the root and one "
                              f"more move fit; not {self.config.max_nodes}")
        self.tree = Tree(facts.players, zero_sum=bool(facts.zero_sum), max_nodes=self.config.max_nodes)
        self._engine = self.game.engine()
        self._control = self._settings()
        self._control["rng"] = Rng(seed).word
        self._scratch = Scratch(self.game)
        self._outstanding = 0
        self._asked: Budget | None = None
        self._asked_from = (0, 0)  # simulations and nodes when the limit began to count
        self._last: tuple[Limit, int, float, bool] | None = None  # limit, simulations, seconds, interrupted

    def _settings(self) -> npt.NDArray[Any]:
        config, facts = self.config, self.game.facts
        control = np.zeros(1, CONTROL)
        control["rule"] = PUCT if config.rule == "puct" else UCB1
        control["c"], control["c_base"] = config.c, config.c_base or 0.0
        control["middle"] = facts.middle
        control["first_play"] = facts.middle if config.first_play is None else config.first_play
        control["expand_after"] = self.expand_after
        control["evaluator"] = getattr(self.evaluator, "code", 0)
        control["tie_break"] = ASK if callable(config.tie_break) else FIRST if config.tie_break == "first" else RANDOM
        control["max_depth"] = np.iinfo(np.int32).max if config.max_depth is None else config.max_depth
        control["num_actions"], control["players"] = facts.num_actions, facts.players
        control["max_length"] = facts.max_length
        return control

    @property
    def expand_after(self) -> int:
        """Visits that a leaf needs before it is expanded."""
        if self.config.expand_after is not None:
            return self.config.expand_after
        return int(getattr(self.evaluator, "expand_after", 0))

    @property
    def simulations(self) -> int:
        """How many simulations the present tree holds."""
        return self.tree.root_visits

    # Running.

    def run(self, limit: Limit, *, progress: Callable[[Progress], object] | None = None) -> SearchResult:
        """Search until the limit is reached, Ctrl-C is pressed, or there is nothing to decide; return what is known then."""
        self._refuse_in_flight("run")
        self.prepare()
        self.tree.reserve(8 * (limit.simulations or 0))
        held = self.simulations
        budget = Budget(self._forced(limit))
        pulse = Pulse(_PROGRESS_SECONDS)
        with Interrupts() as interrupts:
            try:
                while not interrupts.seen and (wanted := min(budget.next_slice(), _MOST_VISITS - self.simulations)) > 0:
                    before = self.tree.size
                    budget.spend(self._advance_by(wanted), max(0, self.tree.size - before))
                    if progress is not None and pulse.due():
                        progress(self._progress(budget))
            except KeyboardInterrupt:
                interrupts.seen = True
        if interrupts.seen and not self.simulations:
            raise KeyboardInterrupt
        budget.simulations = self.simulations - held  # exact, also where an interrupt cut a slice short
        self._last = (limit, budget.simulations, budget.elapsed, interrupts.seen)
        if progress is not None and not interrupts.seen:
            progress(self._progress(budget))
        return self.result()

    def prepare(self) -> None:
        """Compile the kernels that `run` needs, or load them from the cache, so that no limit pays for it."""
        if isinstance(self.evaluator, CompiledEvaluator):
            self._enter(0)
            self._call(self._engine.entry(loop.run), self.position.record, *self._scratch.for_run())
        else:
            self._absorb_rows(self._gather(0, 0), np.zeros((0, self.game.facts.num_actions)), np.zeros((0, self.game.facts.players)))

    def _forced(self, limit: Limit) -> Limit:
        if not self.config.stop_when_forced or len(self.position.legal_actions()) > 1:
            return limit
        few = _FORCED_SIMULATIONS if isinstance(self.evaluator, CompiledEvaluator) else 1
        return Limit(min(few, limit.simulations or few), limit.seconds, limit.nodes)

    def _advance_by(self, simulations: int) -> int:
        """Run about so many simulations; how many it were."""
        if isinstance(self.evaluator, CompiledEvaluator):
            return self._run_kernel(simulations)
        batch = self._gather(min(simulations, _DEFAULT_BATCH), simulations)
        settled = int(self._control[0]["done"])
        if len(batch):
            try:
                logits, values = self.evaluator.evaluate(batch)
                return settled + self._absorb(batch, logits, values)
            except BaseException:
                if batch._open:
                    self.drop(batch)
                raise
        return settled

    def _run_kernel(self, simulations: int) -> int:
        done = 0
        self._scratch.answers[:] = NONE
        while done < simulations:
            hook = self._control[0]["tie_break"] == ASK
            self.tree.make_room(self.game.facts.num_actions)
            self._enter(1 if hook else simulations - done)
            self._call(self._engine.entry(loop.run), self.position.record, *self._scratch.for_run())
            done += int(self._control[0]["done"])
            self._leave()
        return done

    def _enter(self, budget: int) -> None:
        self._control["size"], self._control["capacity"] = self.tree.size, self.tree.columns.capacity
        self._control["budget"] = budget
        self._control["done"] = 0

    def _call(self, entry: Callable[..., object], *args: Any) -> None:
        columns = self.tree.columns
        try:
            entry(self._control, columns.stats, columns.links, columns.returns, columns.in_flight, self.tree.totals, *args)
        except TreetopError:
            raise
        except Exception as error:
            raise game_failure(self, error) from error
        finally:
            self.tree.size = int(self._control[0]["size"])

    def _leave(self) -> None:
        """See to what made a kernel come back."""
        status = int(self._control[0]["status"])
        if status == TIE:
            self._ask_hook()
        elif status not in (DONE, NEED_ROOM):
            raise game_failure(self)

    def _ask_hook(self) -> None:
        hook = cast(Callable[..., int], self.config.tie_break)
        nodes = self._scratch.tied[: int(self._control[0]["tied"])]
        actions = [int(action) for action in self.tree.columns.links["action"][nodes]]
        chosen = hook(actions)
        if isinstance(chosen, bool) or chosen not in actions:
            raise ConfigError(f"the tie-break returned {chosen!r}, which is not one of the tied actions {actions}")
        self._scratch.answers[int(self._control[0]["answered"]) - 1] = actions.index(chosen)

    def _progress(self, budget: Budget) -> Progress:
        result = self.result()
        return Progress(budget.simulations, budget.elapsed, result.move, result.value, budget.limit)

    # Ask and tell.

    def ask(self, size: int, limit: Limit | None = None) -> Batch:
        """Up to `size` leaves for you to evaluate; hand them back with `tell`, or give them up with `drop`.

        With a limit the batch is false when it is reached. It counts from the first call with it, until it is reached or the search advances.
        """
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ConfigError(f"a batch has at least one leaf, not {size!r}")
        allowed = min(size, _MOST_VISITS - self.simulations - self._outstanding)
        if limit is not None:
            allowed = min(allowed, self._left_to_ask(limit))
        if allowed <= 0:
            self._asked = None
            return self._batch(0, more=False)
        return self._gather(allowed, allowed)

    def _left_to_ask(self, limit: Limit) -> int:
        """How many simulations a limit still allows to begin; what was dropped does not count."""
        if self._asked is None or self._asked.limit != limit:
            self._asked, self._asked_from = Budget(limit), (self.simulations, self.tree.size)
        simulations, size = self._asked_from
        begun = self.simulations - simulations + self._outstanding
        self._asked.spend(begun - self._asked.simulations, max(0, self.tree.size - size))
        self._asked_from = (simulations, self.tree.size)
        if self._asked.next_slice() == 0:
            return 0
        return _MOST_VISITS if limit.simulations is None else limit.simulations - begun

    def tell(self, batch: Batch, logits: npt.ArrayLike, values: npt.ArrayLike) -> None:
        """Absorb what an evaluator made of a batch: see `Evaluator` for the shapes."""
        self._absorb(batch, logits, values)

    def drop(self, batch: Batch) -> None:
        """Give a batch up: nothing of it stays in the tree."""
        batch.close(self.tree.generation)
        self._release(batch)
        self._outstanding -= len(batch)

    @property
    def in_flight(self) -> int:
        """Leaves that were asked for and neither told nor dropped."""
        return self._outstanding

    def _gather(self, size: int, budget: int) -> Batch:
        self.tree.track_in_flight()
        size = self._make_room_for(size)
        self._scratch.answers[:] = NONE
        self._scratch.prepare_batch(size)
        self._enter(budget)
        self._control["gathered"] = 0
        while True:
            self._call(self._engine.entry(batch_kernels.gather), self.position.record, *self._scratch.for_gather())
            status = int(self._control[0]["status"])
            if status != TIE:
                break
            self._ask_hook()
        gathered = int(self._control[0]["gathered"])
        self._outstanding += gathered
        batch = self._batch(gathered, more=True)
        if status not in (DONE, COLLISION):
            self.drop(batch)
            raise game_failure(self)
        return batch

    def _make_room_for(self, size: int) -> int:
        """Room for the children of all leaves in flight and of `size` more, or of as many as a bounded tree allows."""
        actions, bound = self.game.facts.num_actions, self.config.max_nodes
        if bound is not None:
            size = min(size, (bound - 1 - actions) // actions - self._outstanding)
            if self._outstanding and self.tree.size + (self._outstanding + size) * actions > bound:
                size = (bound - self.tree.size) // actions - self._outstanding  # nothing can be folded now
        size = max(size, 0)
        if size:
            self.tree.make_room((self._outstanding + size) * actions)
        return size

    def _batch(self, size: int, *, more: bool) -> Batch:
        scratch = self._scratch
        scratch.prepare_batch(size)
        parts = (scratch.paths, scratch.movers, scratch.depths)
        paths, movers, depths = (part[:size].copy() for part in parts)
        return Batch(self.game, scratch.leaves[:size].copy(), more, paths, movers, depths, self.tree.generation)

    def _absorb(self, batch: Batch, logits: npt.ArrayLike, values: npt.ArrayLike) -> int:
        if not len(batch):
            batch.close(self.tree.generation)
            return 0
        rows, worth = batch.checked_logits(logits), batch.checked_values(values)
        batch.close(self.tree.generation)
        return self._absorb_rows(batch, rows, worth)

    def _absorb_rows(self, batch: Batch, rows: npt.NDArray[np.float64], worth: npt.NDArray[np.float64]) -> int:
        self._enter(0)
        try:
            self._call(self._engine.entry(batch_kernels.absorb), batch._paths, batch._movers, batch._depths, batch.states,
                       rows, worth, self._scratch.actions)
        finally:
            self._outstanding -= len(batch)
            done = int(self._control[0]["done"])
            if done < len(batch):  # a game that failed: the rest of the batch is let go
                self._release(batch, done)
        self._leave()
        return len(batch)

    def _release(self, batch: Batch, start: int = 0) -> None:
        self._engine.entry(batch_kernels.release)(self.tree.columns.in_flight, batch._paths[start:], batch._depths[start:])

    def _refuse_in_flight(self, what: str) -> None:
        if self._outstanding:
            raise SearchError(f"cannot {what} while {self._outstanding} evaluations are in flight: tell or drop them first")

    # Moving on.

    def advance(self, move: int | str) -> None:
        """Play a move and keep the part of the tree below it. A move that was never tried starts a fresh tree."""
        self._refuse_in_flight("advance")
        action = self.position.parse_move(move) if isinstance(move, str) else move
        following = self.position.apply(action)
        _refuse_finished(following)
        child = self.tree.root.child(int(action))
        if child is None or not child.visits:
            self.tree.clear()
        else:
            self.tree.reroot(child.index, self.position.player)
        self.position = following
        self._last = None
        self._asked = None

    def result(self) -> SearchResult:
        """What the search knows now. Costs a few microseconds a move; nothing is searched."""
        if not self.simulations:
            raise SearchError("nothing has been searched yet: call run, or ask and tell")
        return SearchResult.of(self)

    def save(self, path: str | Path) -> None:
        """Write everything that the next simulation reads to a file; `Search.load` continues as if nothing had happened."""
        from treetop.search.saving import save

        self._refuse_in_flight("save")
        save(self, Path(path))

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        game: str | Game | Family[...] | None = None,
        evaluator: Evaluator | CompiledEvaluator | None = None,
        tie_break: Callable[..., int] | None = None,
    ) -> Search:
        """Read a search from a file. Give what a file cannot hold: an evaluator or tie-break in Python, and a game that has no name."""
        from treetop.search.saving import load

        return load(cls, Path(path), game, evaluator, tie_break)

    def __repr__(self) -> str:
        return (f"<search of {self.game.name} after {len(self.position.actions)} moves: {self.config}, "
                f"{self.simulations:,} simulations, {self.tree.size:,} nodes>")


def search(
    game: str | Game | Family[...] | Position,
    config: SearchConfig | None = None,
    *,
    simulations: int | None = None,
    seconds: float | None = None,
    nodes: int | None = None,
    evaluator: Evaluator | CompiledEvaluator | None = None,
    seed: int = 0,
    progress: Callable[[Progress], object] | None = None,
) -> SearchResult:
    """Search a game or a position and return what to play, and why. Without a limit: 10,000 simulations.

    >>> import treetop
    >>> treetop.search("nim(stones=5)", simulations=2000, seed=1).move
    '1'
    """
    if simulations is None and seconds is None and nodes is None:
        simulations = 10_000
    limit = Limit(simulations, seconds, nodes)
    return Search(game, config, evaluator=evaluator, seed=seed).run(limit, progress=progress)


def _refuse_finished(position: Position) -> None:
    if position.is_terminal:
        raise TerminalPositionError(f"the game is over: there is nothing to search\n{position}")


def _check(config: Any, evaluator: Any, seed: Any) -> None:
    if not isinstance(config, SearchConfig):
        raise ConfigError(f"a search is configured by uct(...), puct(...) or a SearchConfig, not {config!r}")
    if not isinstance(evaluator, (CompiledEvaluator, Evaluator)):
        raise ConfigError(f"an evaluator has a method evaluate(batch), or is Rollout() or Uniform(); not {evaluator!r}")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise ConfigError(f"a seed is a whole number, not {seed!r}")
