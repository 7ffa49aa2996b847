"""The search: an object you can hold. Run it, ask and tell it, move on with it, stop it any time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy.typing as npt

from treetop.errors import ConfigError, IllegalMoveError, SearchError
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.kernels.chance.outcomes import SEAT
from treetop.kernels.rules.own import OwnRule
from treetop.search import root, snapshot
from treetop.search.batch import Batch
from treetop.search.config import SearchConfig
from treetop.search.evaluator import CompiledEvaluator, Evaluator, Rollout, evaluate_batch, in_python
from treetop.search.guard import exclusive
from treetop.search.interrupts import Interrupts
from treetop.search.limits import Budget, Limit
from treetop.search.machine import Machine
from treetop.search.machines import make_machine
from treetop.search.ponder import Pondering
from treetop.search.presets import uct
from treetop.search.progress import Progress
from treetop.search.refusals import check_arguments, chooser, refuse_chance, refuse_finished
from treetop.search.result import SearchResult
from treetop.search.session import MOST_VISITS, Session
from treetop.search.stopping import Stopper
from treetop.types import CHANCE, SIMULTANEOUS

_MOST_PONDERED = 10_000_000  # memory is finite, and the other side may have gone to bed


class Search(Session):
    """A Monte Carlo tree search of one position.

    >>> import treetop
    >>> search = treetop.Search("tic_tac_toe", seed=1)
    >>> result = search.run(treetop.Limit(simulations=1000))
    >>> result.simulations
    1000
    """

    _machine: Machine

    def __init__(
        self,
        game: str | Game | Family[...] | Position,
        config: SearchConfig | None = None,
        *,
        evaluator: Evaluator | CompiledEvaluator | None = None,
        seed: int = 0,
        player: int | None = None,
    ) -> None:
        super().__init__()
        self.position = game if isinstance(game, Position) else Position(load_game(game))
        self.config = uct() if config is None else config
        self.evaluator = Rollout() if evaluator is None else evaluator
        check_arguments(self.config, self.evaluator, seed)
        self.seed = seed
        self.game = self.position.game
        refuse_finished(self.position)
        refuse_chance(self.position)
        self.player = chooser(self.position, player)
        """For whom the search is made: the player to move, or one of those who choose at once."""
        self._machine = make_machine(self.position, self.config, self.evaluator, self.expand_after, seed, self.player)
        self._asked: Budget | None = None
        self._asked_from = (0, 0)  # simulations and nodes when the limit began to count

    @property
    def expand_after(self) -> int:
        """Visits that a leaf needs before it is expanded."""
        if self.config.growth.expand_after is not None:
            return self.config.growth.expand_after
        return int(getattr(self.evaluator, "expand_after", 0))

    @property
    def begins_anew(self) -> bool:
        """Whether nothing is kept after a move: where something is hidden, all choose at once, or actions are drawn."""
        return self._machine.begins_anew

    @property
    def moves_played(self) -> int:
        """How many moves led to the root."""
        return len(self.position.actions)

    @property
    def is_forced(self) -> bool:
        """Whether there is only one legal action."""
        return not self.game.facts.action_size and len(self.position.legal_actions(self.player)) <= 1

    @property
    def is_cheap(self) -> bool:
        """Whether leaves are evaluated by compiled code."""
        return in_python(self.evaluator) is None

    # Running.

    @exclusive
    def run(
        self, limit: Limit, *, progress: Callable[[Progress], object] | None = None, stopping: Sequence[Stopper] = (),
        include: Iterable[int | str] | None = None, exclude: Iterable[int | str] = (),
    ) -> SearchResult:  # fmt: skip
        """Search until the limit is reached, Ctrl-C is pressed, or there is nothing to decide; return what is known then.

        `stopping` may end it earlier or let it go on. `include` and `exclude` say which moves of the root are looked at in this run; the tree
        keeps what it knows of the others.
        """
        self._refuse_in_flight("run")
        wanted = self._wanted_moves(include, exclude)
        self._machine.face_mover()
        self._is_scheduled = False
        try:
            root.set_mask(self._machine, wanted)  # before the code is prepared: another build searches some moves only
            self._machine.prepare()
            self.tree.reserve(8 * (limit.simulations or 0))
            return self._run(limit, progress, stopping)
        finally:
            root.set_mask(self._machine, None)

    def _wanted_moves(self, include: Iterable[int | str] | None, exclude: Iterable[int | str]) -> list[int] | None:
        left_out = [self._action(move) for move in exclude]
        if include is None and not left_out:
            return None
        chosen = self.position.legal_actions() if include is None else [self._action(move) for move in include]
        wanted = [action for action in chosen if action not in left_out]
        if not wanted:
            raise ConfigError("include and exclude leave no move to look at")
        if self.config.graph.transpositions or self.begins_anew:
            raise ConfigError(
                "include and exclude are for one tree: they do not go with transpositions, nor with a search over what players see or over deals"
            )
        return wanted

    def _action(self, move: int | str) -> int:
        action = self.position.parse_move(move) if isinstance(move, str) else move
        if isinstance(action, bool) or action not in self.position.legal_actions():
            raise IllegalMoveError(f"{move!r} is not a legal action here\n{self.position}")
        return int(action)

    def visit(self, move: int | str, at_least: int) -> SearchResult:
        """Search on until a move of the root has so many visits, looking at no other; nothing of the tree is lost."""
        action = self._action(move)
        if isinstance(at_least, bool) or not isinstance(at_least, int) or at_least < 1:
            raise ConfigError(f"at_least must be a whole number of at least 1, not {at_least!r}")
        while True:
            child = self.tree.root.child(action)
            missing = at_least - (0 if child is None else child.visits)
            if missing <= 0 or (child is not None and child.is_closed):
                return self.result()
            held = self.simulations
            self.run(Limit(simulations=missing), include=[action])
            if self.simulations == held:
                return self.result()

    @exclusive
    def prepare(self) -> None:
        """Compile the kernels that `run` needs, or load them from the cache, so that no limit pays for it."""
        self._machine.prepare()

    def _advance_by(self, simulations: int, batch: int, interrupts: Interrupts) -> None:  # noqa: ARG002 - kernels stop by themselves
        """Run about so many simulations, or one batch of so many leaves where an evaluator in Python values them."""
        evaluator = in_python(self.evaluator)
        if evaluator is None:
            self._machine.run(simulations)
            return
        leaves = self._machine.gather(batch, batch)
        if len(leaves):
            try:
                logits, values = evaluate_batch(evaluator, leaves)
                self._absorb(leaves, logits, values)
            except BaseException:
                if leaves._open:
                    self._machine.drop(leaves)
                raise

    # Ask and tell.

    @exclusive
    def ask(self, size: int, limit: Limit | None = None) -> Batch:
        """Up to `size` leaves for you to evaluate; hand them back with `tell`, or give them up with `drop`.

        With a limit the batch is false when it is reached. It counts from the first call with it, until it is reached or the search advances.
        """
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ConfigError(f"a batch has at least one leaf, not {size!r}")
        refuse_finished(self.position)
        self._machine.face_mover()
        allowed = min(size, MOST_VISITS - self.simulations - self.in_flight)
        if limit is not None:
            allowed = min(allowed, self._left_to_ask(limit))
        if allowed <= 0 or self.solved:
            self._asked = None
            return self._machine.batch(0, more=False)
        if not self._prepare_root(
            None if limit is None or limit.simulations is None else limit.simulations - self._asked_already()
        ):
            allowed = 1 if not self.in_flight else 0  # the root itself is on its way
        return self._machine.gather(allowed, allowed)

    def _asked_already(self) -> int:
        """Simulations of the present limit that have been made or begun."""
        return self.simulations - self._asked_from[0] + self.in_flight

    def _left_to_ask(self, limit: Limit) -> int:
        """How many simulations a limit still allows to begin; what was dropped does not count."""
        if self._asked is None or self._asked.limit != limit:
            self._asked, self._asked_from = Budget(limit), (self.simulations, self.tree.size)
            self._is_scheduled = False
        simulations, size = self._asked_from
        begun = self.simulations - simulations + self.in_flight
        self._asked.spend(begun - self._asked.simulations, max(0, self.tree.size - size))
        self._asked_from = (simulations, self.tree.size)
        if self._asked.next_slice() == 0:
            return 0
        return MOST_VISITS if limit.simulations is None else limit.simulations - begun

    @exclusive
    def tell(self, batch: Batch, logits: npt.ArrayLike, values: npt.ArrayLike) -> None:
        """Absorb what an evaluator made of a batch: see `Evaluator` for the shapes."""
        self._absorb(batch, logits, values)

    @exclusive
    def drop(self, batch: Batch) -> None:
        """Give a batch up: nothing of it stays in the tree."""
        self._machine.drop(batch)

    @property
    def in_flight(self) -> int:
        """Leaves that were asked for and neither told nor dropped."""
        return self._machine.outstanding

    def _absorb(self, batch: Batch, logits: npt.ArrayLike, values: npt.ArrayLike) -> None:
        if not len(batch):
            batch.close(self.tree.generation)
            return
        rows, worth = batch.checked_logits(logits), batch.checked_values(values)
        batch.close(self.tree.generation)
        self._machine.absorb(batch, rows, worth)

    def pondering(self, limit: Limit | None = None) -> Pondering:
        """Search in the background, within `with`, while you wait for the other side's move; then `advance` keeps what was found.

        Without a limit it goes on until the block ends, or ten million simulations are made. Nothing is planned meanwhile: a search with
        root='gumbel' follows its rule at the root too.
        """
        return Pondering(self, Limit(simulations=_MOST_PONDERED) if limit is None else limit)

    def _refuse_in_flight(self, what: str) -> None:
        if what != "advance":
            refuse_finished(self.position)
            refuse_chance(self.position)
        if self.in_flight:
            raise SearchError(
                f"cannot {what} while {self.in_flight} evaluations are in flight: tell or drop them first"
            )

    # Moving on.

    @exclusive
    def advance(self, move: int | str) -> None:
        """Play a move and keep the part of the tree below it. A move that was never tried starts a fresh tree.

        It may end the game; then there is nothing left to search, and `run` and `result` say so.
        """
        self._refuse_in_flight("advance")
        action = self.position.parse_move(move) if isinstance(move, str) else move
        following = self.position.apply(action)
        if self.begins_anew:
            self._begin_anew(following)
            return
        child = self.tree.root.child(int(action))
        self._machine.move_on(following, child.index if child is not None and child.visits else None)
        self.position = following
        if not following.is_terminal:
            self.player = following.player
        self._machine.scratch.work.history[:] *= self.config.values.history_decay
        self._machine.control["arms"] = 0
        self._is_noisy = self._is_scheduled = False
        self._last = None
        self._asked = None

    def _begin_anew(self, position: Position) -> None:
        """What players see has changed, and with it what every simulation assumed: nothing of the old views is kept."""
        self.position, self._last = position, None
        if position.is_terminal:
            self.tree.clear()
            return
        if position.player != CHANCE:
            self.player = chooser(position, self.player if position.player == SIMULTANEOUS else None)
        self._machine.look_from(position, max(self.player, SEAT))  # type: ignore[attr-defined]

    def result(self) -> SearchResult:
        """What the search knows now. Costs a few microseconds a move; nothing is searched."""
        self._guard.refuse_other_threads("give a result")
        refuse_finished(self.position)
        if not self.simulations:
            raise SearchError("nothing has been searched yet: call run, or ask and tell")
        return snapshot.take(self)

    @exclusive
    def save(self, path: str | Path) -> None:
        """Write everything that the next simulation reads to a file; `Search.load` continues as if nothing had happened."""
        from treetop.search.saving import save

        self._refuse_in_flight("save")
        if self.begins_anew:
            raise SearchError(
                "a search over what players see, or over deals, cannot be saved: it belongs to one move and begins anew with the next"
            )
        save(self, Path(path))

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        game: str | Game | Family[...] | None = None,
        evaluator: Evaluator | CompiledEvaluator | None = None,
        tie_break: Callable[..., int] | None = None,
        rule: OwnRule | None = None,
    ) -> Search:
        """Read a search from a file. Give what a file cannot hold: an evaluator, rule or tie-break in Python, and a game that has no name."""
        from treetop.search.saving import load

        return load(cls, Path(path), game, evaluator, tie_break, rule)

    def __repr__(self) -> str:
        return (
            f"<search of {self.game.name} after {len(self.position.actions)} moves: {self.config}, "
            f"{self.simulations:,} simulations, {self.tree.size:,} nodes>"
        )


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
