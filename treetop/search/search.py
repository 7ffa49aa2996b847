"""The search class: run it, ask it for leaves, advance it by a move, stop and resume it at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from treetop import checks
from treetop.compiler.engine import TIERS
from treetop.errors import ConfigError, IllegalMoveError, SearchError
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.kernels.rules.own import OwnRule
from treetop.search import root
from treetop.search.batch import Batch
from treetop.search.config import SearchConfig
from treetop.search.drivers.game import GameDriver
from treetop.search.drivers.threads import use_threads
from treetop.search.drivers.tree import TreeDriver
from treetop.search.evaluator import CompiledEvaluator, Evaluator
from treetop.search.guard import exclusive
from treetop.search.interrupts import Interrupts
from treetop.search.limits import MOST_WORKERS, Budget, Limit, require_limit
from treetop.search.ponder import Pondering
from treetop.search.presets import uct
from treetop.search.problems.driver import ProblemDriver
from treetop.search.problems.outcomes import Failure
from treetop.search.progress import Progress
from treetop.search.result import SearchResult
from treetop.search.searchable import Searchable, make_driver
from treetop.search.session import MOST_VISITS, Session
from treetop.search.stopping import Stopper

_MOST_PONDERED = 10_000_000  # simulations of a pondering search without a limit


class Search(Session):
    """A Monte Carlo tree search of a game, a position or a Python problem.

    A game by its name:

    >>> import treetop
    >>> search = treetop.Search("tic_tac_toe", seed=1)
    >>> result = search.run(treetop.Limit(simulations=1000))
    >>> result.simulations
    1000

    A Python problem is any object with the methods of `treetop.Problem`; its states and actions are of any kind:

    >>> class Count:
    ...     "Add 1 or 2 in turn; the player who says 10 wins."
    ...     num_players = 2
    ...     def initial(self): return (0, 0)
    ...     def player(self, state): return state[1]
    ...     def actions(self, state): return ["one", "two"] if state[0] < 9 else ["one"]
    ...     def step(self, state, action): return (state[0] + 1 + (action == "two"), 1 - state[1])
    ...     def is_terminal(self, state): return state[0] == 10
    ...     def rewards(self, state): return (1, -1) if state[1] == 1 else (-1, 1)
    >>> treetop.Search(Count(), seed=1).run(treetop.Limit(simulations=500)).action
    'one'
    """

    def __init__(
        self,
        game: Searchable,
        config: SearchConfig | None = None,
        *,
        evaluator: Any = None,
        seed: int = 0,
        player: int | None = None,
        root: Any = None,
        tier: str | None = None,
        threads: int = 1,
        deterministic: bool = False,
    ) -> None:
        """Prepare a search, without running it.

        `evaluator` is an `Evaluator` for a game, and for a Python problem a function of a state and its actions; by
        default leaves are evaluated by rollouts. `player` selects one of several players who move simultaneously.
        `root` is the state at which the search of a Python problem starts, by default its `initial()`; for a game give
        a `Position` instead. `tier` selects compiled code: "direct" waits for code that is specialised for the game,
        "indirect" never compiles it, "auto" (the default) starts without it and uses it as soon as it is ready.
        `threads` search the tree at the same time; then results depend on their timing. With `deterministic` they do
        not: the result is the same for any number of threads, and only evaluations run in parallel (docs/threads.md).
        """
        if tier is not None:
            checks.one_of("tier", tier, TIERS)
        driver = make_driver(game, uct() if config is None else config, evaluator, seed, player, root, tier)
        use_threads(driver, threads, deterministic)
        super().__init__(driver)
        self._asked: Budget | None = None
        self._asked_from = (0, 0)  # simulations and nodes at the start of the limit

    @property
    def together(self) -> dict[str, Any]:
        """The options of its threads, as `Search` takes them."""
        threads = self._driver.threads if isinstance(self._driver, TreeDriver) else None
        return {} if threads is None else {"threads": threads.count, "deterministic": threads.deterministic}

    @property
    def begins_anew(self) -> bool:
        """Whether no tree is kept after a move: in information-set search and with determinizations."""
        return self._driver.begins_anew

    # Running.

    @exclusive
    def run(
        self, limit: Limit, *, progress: Callable[[Progress], object] | None = None, stopping: Sequence[Stopper] = (),
        include: Iterable[int | str] | None = None, exclude: Iterable[int | str] = (),
    ) -> SearchResult:  # fmt: skip
        """Search until the limit is reached, Ctrl-C is pressed, or there is nothing to decide; return the result.

        `stopping` rules may end it earlier or extend its limit. `include` and `exclude` restrict the moves of the root
        in this run; the tree keeps its statistics of the others.
        """
        require_limit(limit, "run")
        driver = self._driver
        driver.refuse("run")
        wanted = self._wanted_moves(include, exclude)
        driver.retarget()
        self._is_scheduled = False
        try:
            if isinstance(driver, TreeDriver) and wanted is not None:
                root.set_mask(driver, wanted)  # before the code is prepared: a restricted search needs another build
            driver.begin_run()
            if isinstance(driver, GameDriver):
                self.tree.reserve(8 * (limit.simulations or 0))
            return self._run(limit, progress, stopping)
        finally:
            if isinstance(driver, TreeDriver) and wanted is not None:
                root.set_mask(driver, None)

    def _wanted_moves(self, include: Iterable[int | str] | None, exclude: Iterable[int | str]) -> list[int] | None:
        left_out = [self._action(move) for move in exclude]
        if include is None and not left_out:
            return None
        chosen = self.position.legal_actions() if include is None else [self._action(move) for move in include]
        wanted = [action for action in chosen if action not in left_out]
        if not wanted:
            raise ConfigError("include and exclude leave no move to search")
        if self.config.graph.transpositions or not isinstance(self._driver, TreeDriver):
            raise ConfigError(
                "include and exclude are for one tree of positions: they do not work with transpositions, "
                "information-set search, determinizations or Python problems"
            )
        return wanted

    def _action(self, move: int | str) -> int:
        """Return the action of a move at the root of a game."""
        if not isinstance(self._driver, GameDriver):
            raise ConfigError(
                "single moves can be searched in games, not in Python problems: leave out include, exclude and visit"
            )
        action = self.position.parse_move(move) if isinstance(move, str) else move
        if isinstance(action, bool) or action not in self.position.legal_actions():
            raise IllegalMoveError(f"{move!r} is not a legal action here\n{self.position}")
        return int(action)

    def visit(self, move: int | str, at_least: int) -> SearchResult:
        """Search one move of the root until it has `at_least` visits; return the result.

        The rest of the tree is kept.
        """
        action = self._action(move)
        checks.whole("at_least", at_least, 1)
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
    def prepare(self, *, advance: bool = True) -> None:
        """Compile the kernels that `run` and, if wished, `advance` need, or load them from the cache."""
        self._driver.prepare()
        if advance and isinstance(self._driver, GameDriver):
            self._driver.prepare_advance()

    def pondering(self, limit: Limit | None = None) -> Pondering:
        """Return a context in which the search runs in the background, on the opponent's time.

        After it, `advance` keeps the tree.

        Without a limit it runs until the block ends, or for ten million simulations. No schedule is planned: a search
        with root='gumbel' follows its rule at the root.
        """
        return Pondering(self, Limit(simulations=_MOST_PONDERED) if limit is None else limit)

    # Leaves that the caller evaluates.

    @exclusive
    def ask(self, size: int, limit: Limit | None = None) -> Batch:
        """Return up to `size` leaves for you to evaluate; return them with `tell`, or discard them with `drop`.

        With a limit, the batch is false when the limit is reached. A limit counts from the first call with it until it
        is reached or the search advances.
        """
        checks.whole("size", size, 1)
        driver = self._driver
        driver.refuse_finished()
        if not isinstance(driver, TreeDriver):
            raise ConfigError(driver.no_batches)
        driver.retarget()
        most = MOST_VISITS - self.simulations - self.in_flight
        if limit is not None:
            require_limit(limit, "ask")
            most = min(most, self._left_to_ask(limit))
        if most <= 0 or self.solved:
            self._asked = None
            return driver.leaves.batch(0, more=False)
        left = None
        if limit is not None and limit.simulations is not None:
            left = limit.simulations - (self.simulations - self._asked_from[0] + self.in_flight)
        if not self._prepare_root(left):
            most = 1 if not self.in_flight else 0  # the root itself must be evaluated first
        return driver.gather(min(size, most), most)

    def _left_to_ask(self, limit: Limit) -> int:
        """Return how many simulations a limit still allows to start; dropped ones do not count."""
        if self._asked is None or self._asked.limit != limit:
            self._asked, self._asked_from = Budget(limit), (self.simulations, self.tree.size)
            self._is_scheduled = False
        simulations, size = self._asked_from
        started = self.simulations - simulations + self.in_flight
        self._asked.spend(started - self._asked.simulations, max(0, self.tree.size - size))
        self._asked_from = (simulations, self.tree.size)
        if self._asked.next_slice() == 0:
            return 0
        return MOST_VISITS if limit.simulations is None else limit.simulations - started

    @exclusive
    def tell(self, batch: Batch, logits: npt.ArrayLike, values: npt.ArrayLike) -> None:
        """Absorb the evaluations of a batch: see `Evaluator` for the shapes."""
        self._batches().tell(batch, logits, values)

    @exclusive
    def drop(self, batch: Batch) -> None:
        """Discard a batch, and remove its in-flight visits."""
        self._batches().drop(batch)

    def _batches(self) -> TreeDriver:
        if not isinstance(self._driver, TreeDriver):
            raise ConfigError(self._driver.no_batches)
        return self._driver

    # Evaluations of Python problems made elsewhere.

    async def arun(
        self,
        limit: Limit,
        evaluate: Any = None,
        *,
        in_flight: int = 32,
        timeout: float | None = None,
        retries: int = 0,
        backoff: float = 0.5,
        processes: int = 0,
        record: str | Path | None = None,
        replay: str | Path | None = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> SearchResult:
        """Search a Python problem with evaluations made elsewhere, up to `in_flight` at a time; return the result.

        `evaluate(state, actions)` is a coroutine function, or a plain one that runs in threads, or in `processes`
        processes. It returns (prior, value), (prior, value, cost) or (prior, value, cost, note). Default: the search's
        own evaluator. An attempt may take `timeout` seconds. A call that fails is retried `retries` times, after
        `backoff` seconds and then twice as many each time; after that its node has failed and is listed in
        `result.failures`. All answers are written to the file `record`, if given. With `replay` they are read from such
        a file: the search is then the same, bit for bit.
        """
        from treetop.search.problems.calls import RemoteOptions
        from treetop.search.problems.remote import Remote

        driver = self._problem_driver("arun")
        require_limit(limit, "arun")
        with self._guard("arun"):
            self.complete_results()
            driver.refuse("run")
            self._is_scheduled = False
            evaluate = self.evaluator if evaluate is None and callable(driver.evaluate.own) else evaluate
            if evaluate is None and replay is None:
                raise ConfigError(
                    "give evaluate, a function of a state and its actions; for rollouts in this process use run"
                )
            remote = Remote(
                self,
                driver,
                limit,
                RemoteOptions(in_flight, timeout, retries, backoff, processes),
                evaluate,
                None if record is None else Path(record),
                None if replay is None else Path(replay),
                None if progress is None else lambda budget: progress(self._progress(budget)),
            )
            return await self._run_remote(limit, driver, remote)

    def run_remote(self, limit: Limit, evaluate: Any = None, **options: Any) -> SearchResult:
        """Call `arun`, with the same options, from a program without an event loop.

        Ctrl-C ends it with the result so far.
        """
        import asyncio

        self._problem_driver("run_remote")
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            try:
                with Interrupts() as self._interrupts:
                    return asyncio.run(self.arun(limit, evaluate, **options))
            finally:
                self._interrupts = Interrupts()  # the flag may be set
        raise SearchError("an event loop is running already: use `await search.arun(...)`")

    def _problem_driver(self, what: str) -> ProblemDriver:
        if not isinstance(self._driver, ProblemDriver):
            raise ConfigError(f"{what} is for Python problems: for a game pass an evaluator, or use ask and tell")
        return self._driver

    @property
    def problem(self) -> Any:
        """The Python problem that is searched."""
        return self._problem_driver("problem").problem

    @property
    def start(self) -> Any:
        """The state at which the search of a Python problem started."""
        return self._problem_driver("start").start

    @property
    def state(self) -> Any:
        """The state at the root."""
        return self._driver.state if isinstance(self._driver, ProblemDriver) else self.position.state

    @property
    def actions(self) -> list[Any]:
        """The legal actions at the root."""
        return (
            self._driver.actions
            if isinstance(self._driver, ProblemDriver)
            else self.position.legal_actions(self.player)
        )

    @property
    def played(self) -> list[Any]:
        """The actions that led to the root."""
        return self._driver.played if isinstance(self._driver, ProblemDriver) else list(self.position.actions)

    @property
    def failures(self) -> list[Failure]:
        """In a Python problem: the nodes that failed and are skipped, and the failed rollouts, since the start."""
        return self._driver.failures if isinstance(self._driver, ProblemDriver) else []

    def action_of(self, node: int) -> Any:
        """Return the action that leads to a node of the tree, by the node's index."""
        if isinstance(self._driver, ProblemDriver):
            return self._driver.nodes.moves[node]
        return int(self.tree.columns.links["action"][node])

    def state_of(self, node: int) -> Any:
        """Return the state of a node of a Python problem, by its index; None where no simulation has reached it."""
        return self._problem_driver("state_of").nodes.states[node]

    # Moves, saving and loading.

    @exclusive
    def advance(self, move: Any) -> None:
        """Play a move and keep the part of the tree below it. A move that was never searched starts a new tree.

        The move may end the game: then nothing is left to search, and `run` and `result` raise an error that says so.
        """
        self._driver.refuse("advance")
        self._driver.advance(move)
        self._is_noisy = self._is_scheduled = False
        self._last = self._asked = None

    @exclusive
    def save(self, path: str | Path) -> None:
        """Write everything that the next simulation reads to a file; `Search.load` continues with the same results."""
        from treetop.search.saving import save

        driver = self._driver
        driver.refuse("save")
        if not isinstance(driver, TreeDriver):
            raise SearchError(
                "only a search of one tree of positions can be saved: information-set search and determinizations "
                "start a new tree with every move, and states of a Python problem cannot be written to a file (record "
                "its evaluations with run_remote(record=...))"
            )
        save(self, driver, Path(path))

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        game: str | Game | Family[...] | None = None,
        evaluator: Evaluator | CompiledEvaluator | None = None,
        tie_break: Callable[..., int] | None = None,
        rule: OwnRule | None = None,
        tier: str | None = None,
        threads: int = 1,
        deterministic: bool = False,
    ) -> Search:
        """Return a search from a file.

        Give what a file cannot hold: an evaluator, rule or tie-break in Python, and a game that is not bundled.
        """
        from treetop.search.saving import load

        search = load(cls, Path(path), game, evaluator, tie_break, rule, tier)
        use_threads(search._driver, threads, deterministic)
        return search

    def __repr__(self) -> str:
        return (
            f"<search of {self.game.name} after {self._driver.moves_played} moves: {self.config}, "
            f"{self.simulations:,} simulations, {self.tree.size:,} nodes>"
        )


def search(
    game: Searchable,
    config: SearchConfig | None = None,
    *,
    simulations: int | None = None,
    seconds: float | None = None,
    nodes: int | None = None,
    evaluator: Any = None,
    seed: int = 0,
    root: Any = None,
    progress: Callable[[Progress], object] | None = None,
    tier: str | None = None,
    threads: int = 1,
    deterministic: bool = False,
    workers: int | None = None,
    on: str | None = None,
) -> SearchResult:
    """Search a game, a position or a Python problem, and return the result. Default: 10,000 simulations.

    `root` is the state at which the search of a Python problem starts, by default its initial one. With several
    `workers`, each searches the same position of a game up to the limit, with a seed of its own, and the roots are
    merged: visits are added up. They are processes; with `on="ray"` or `on="ray://host:port"` they are on a Ray
    cluster.

    >>> import treetop
    >>> treetop.search("nim(stones=5)", simulations=2000, seed=1).move
    '1'
    """
    if simulations is None and seconds is None and nodes is None:
        simulations = 10_000
    limit = Limit(simulations, seconds, nodes)
    checks.whole("workers", workers, 1, MOST_WORKERS, optional=True)
    made = Search(
        game, config, evaluator=evaluator, seed=seed, root=root, tier=tier, threads=threads, deterministic=deterministic
    )
    if on in (None, "processes") and workers in (None, 1):
        return made.run(limit, progress=progress)
    from treetop.search.parallel import run_parallel

    return run_parallel(made, limit, workers=workers, on=on, tier=tier, progress=progress)
