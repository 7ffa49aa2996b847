"""A search over the caller's own Python objects: the same tree, rules and results; the states are stepped by the caller's code."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treetop.errors import ConfigError, IllegalMoveError, SearchError, TerminalPositionError, TreetopError
from treetop.search import snapshot
from treetop.search.config import SearchConfig
from treetop.search.evaluator import Rollout
from treetop.search.guard import exclusive
from treetop.search.host_evaluator import HostEvaluator, StateEvaluator, is_coroutine
from treetop.search.host_explorer import Explorer, reason_of
from treetop.search.host_machine import HostMachine, StandIn
from treetop.search.host_position import HostPosition
from treetop.search.interrupts import Interrupts
from treetop.search.limits import Limit
from treetop.search.presets import uct
from treetop.search.problem import Problem, ProblemView, shown
from treetop.search.problem_result import NOTHING_OPEN, Failure, LoggedCall
from treetop.search.progress import Progress
from treetop.search.result import SearchResult
from treetop.search.session import Session
from treetop.search.stopping import Stopper
from treetop.types import CHANCE, ROOT

if TYPE_CHECKING:
    from treetop.search.calls import RemoteOptions


class HostSearch(Session):
    """A Monte Carlo tree search of a `Problem`.

    >>> class Count:
    ...     "Add 1 or 2 in turn; whoever says 10 wins."
    ...     num_players = 2
    ...     def initial(self): return (0, 0)
    ...     def player(self, state): return state[1]
    ...     def actions(self, state): return ["one", "two"] if state[0] < 9 else ["one"]
    ...     def step(self, state, action): return (state[0] + 1 + (action == "two"), 1 - state[1])
    ...     def is_terminal(self, state): return state[0] == 10
    ...     def rewards(self, state): return (1, -1) if state[1] == 1 else (-1, 1)
    >>> HostSearch(Count(), seed=1).run(Limit(simulations=500)).action
    'one'
    """

    _machine: HostMachine
    nothing_open = NOTHING_OPEN

    def __init__(
        self,
        problem: Problem,
        config: SearchConfig | None = None,
        *,
        evaluator: StateEvaluator | Callable[..., Any] | Rollout | Any = None,
        seed: int = 0,
        root: Any = None,
    ) -> None:
        super().__init__()
        self.config = uct() if config is None else config
        if not isinstance(self.config, SearchConfig):
            raise ConfigError(
                f"a search is configured by uct(...), puct(...), another preset or a SearchConfig, not {config!r}"
            )
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise ConfigError(f"a seed is a whole number, not {seed!r}")
        self.problem, self.view, self.seed = problem, ProblemView(problem), seed
        self.evaluator = Rollout() if evaluator is None else evaluator
        self._evaluate = HostEvaluator(self.evaluator, self.view, self.config.values.discount)
        self.game = StandIn(self.view)
        self._machine = HostMachine(self.view, self.config, self.expand_after, seed, priors=self._evaluate.gives_priors)
        self._explorer = Explorer(self._machine, self.view, self.config, self._evaluate, self.expand_after)
        self.start = self.view.initial() if root is None else root
        """The state that the search began with."""
        self._cost, self._calls = 0.0, 0
        self._log: list[LoggedCall] = []
        self._in_flight = 0
        self._interrupts = Interrupts()
        self._finished = False
        self._machine.start(self.start)
        self._look_at_root()
        self._refuse_finished()

    def _look_at_root(self) -> None:
        """Take in who is to move at a new root, and what may be done."""
        state = self._machine.states[ROOT]
        self._is_noisy = self._is_scheduled = False
        self._last = None
        try:
            self._finished = bool(self.view.is_terminal(state))
            if self._finished:
                self.actions: list[Any] = []
                return
            self.player = self.view.player(state)
            if self._machine.tree.columns.links["num_children"][ROOT]:
                first, count = self._first_child(), int(self._machine.tree.columns.links["num_children"][ROOT])
                self.actions = self._machine.moves[first : first + count]
            else:
                self.actions = self.view.outcomes(state)[0] if self.player == CHANCE else self.view.actions(state)
        except TreetopError:
            raise
        except Exception as error:
            raise SearchError(f"the root itself failed: {reason_of(error)}{shown(state)}") from error

    def _first_child(self) -> int:
        first = int(self._machine.tree.columns.links["first_child"][ROOT])
        return first if first > 0 else 1  # where the root's children will be

    @property
    def state(self) -> Any:
        """The state that is searched."""
        return self._machine.states[ROOT]

    @property
    def position(self) -> HostPosition:
        """The root as results see it."""
        return HostPosition(self)

    @property
    def expand_after(self) -> int:
        """Visits that a leaf needs before it is expanded."""
        if self.config.growth.expand_after is not None:
            return self.config.growth.expand_after
        return 0 if self._evaluate.gives_priors else 1

    @property
    def moves_played(self) -> int:
        """How many actions `advance` was given."""
        return len(self.played)

    @property
    def is_forced(self) -> bool:
        """Whether there is only one action."""
        return len(self.actions) <= 1

    @property
    def is_cheap(self) -> bool:
        """Whether states are evaluated by rollouts, and not by an evaluator with priors."""
        return not self._evaluate.gives_priors

    @property
    def in_flight(self) -> int:
        """Evaluations that have begun and not ended."""
        return self._in_flight

    @property
    def played(self) -> list[Any]:
        """The actions that `advance` was given."""
        return self._explorer.played

    @property
    def failures(self) -> list[Failure]:
        """Nodes that failed and are left out, and rollouts that failed, since the search began."""
        return self._explorer.failures

    def action_of(self, node: int) -> Any:
        """The action that leads to a node of the tree, by the node's index."""
        return self._machine.moves[node]

    def state_of(self, node: int) -> Any:
        """The state of a node of the tree, by its index; None where nobody was yet."""
        return self._machine.states[node]

    # Running.

    @exclusive
    def run(
        self, limit: Limit, *, progress: Callable[[Progress], object] | None = None, stopping: Sequence[Stopper] = ()
    ) -> SearchResult:
        """Search until the limit is reached, Ctrl-C is pressed, or there is nothing to decide; return what is known then.

        `stopping` may end it earlier or let it go on.
        """
        self._refuse_nothing_to_search("run")
        if is_coroutine(self._evaluate.own):
            raise ConfigError("the evaluator is a coroutine: use arun or run_remote")
        self._is_scheduled = False
        self._cost, self._calls, self._log = 0.0, 0, []
        self._prepare()
        return self._run(limit, progress, stopping)

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
        """Search with evaluations that are made elsewhere, up to `in_flight` of them at once; return what is known when the limit is reached.

        `evaluate(state, actions)` is a coroutine function, or a plain one that runs in threads, or in so many `processes`. It gives
        (prior, value), (prior, value, cost) or (prior, value, cost, note). Not given, it is the search's own evaluator. An attempt may take `timeout` seconds; a call that fails
        is tried `retries` times more, after `backoff` seconds and then twice as many; then its node is dead, and told in `result.failures`.
        `record` names a file that all answers are written to; `replay` one that they are read from: the search is the same, bit for bit.
        """
        from treetop.search.calls import RemoteOptions

        with self._guard("arun"):
            options = RemoteOptions(in_flight, timeout, retries, backoff, processes)
            return await self._arun(limit, evaluate, options, record, replay, progress)

    async def _arun(
        self, limit: Limit, evaluate: Any, options: RemoteOptions, record: str | Path | None, replay: str | Path | None,
        progress: Callable[[Progress], object] | None,
    ) -> SearchResult:  # fmt: skip
        from treetop.search.remote import Remote

        self._refuse_nothing_to_search("run")
        held, self._is_scheduled = self.simulations, False
        evaluate = self.evaluator if evaluate is None and callable(self._evaluate.own) else evaluate
        if evaluate is None and replay is None:
            raise ConfigError("give evaluate, a function of a state and its actions: rollouts are made here, by run")
        remote = Remote(
            self,
            limit,
            options,
            evaluate,
            None if record is None else Path(record),
            None if replay is None else Path(replay),
            None if progress is None else lambda budget: progress(self._progress(budget)),
        )
        try:
            why = await remote.run()
        finally:
            self._cost, self._calls, self._log = remote.budget.cost, remote.budget.calls, remote.log
            self._last = (limit, self.simulations - held, remote.budget.elapsed, "")
        self._last = (*self._last[:3], why)
        if why == "interrupted" and not self.simulations:
            raise KeyboardInterrupt
        return self.result()

    def run_remote(self, limit: Limit, evaluate: Any = None, **options: Any) -> SearchResult:
        """`arun` for programs without an event loop; its options are the same. Ctrl-C ends it with the result so far."""
        import asyncio

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            try:
                with Interrupts() as self._interrupts:
                    return asyncio.run(self.arun(limit, evaluate, **options))
            finally:
                self._interrupts = Interrupts()  # this one may have been pressed
        raise SearchError("an event loop is running already: use `await search.arun(...)`")

    @exclusive
    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache, so that no limit pays for it."""
        self._prepare()

    def _prepare(self) -> None:
        self._machine.prepare_kernel(in_flight=False)
        self._machine.begin(0)
        self._machine.simulate()

    is_game = False

    def _labels(self, position: Any, numbers: Sequence[int]) -> Callable[[int], Any]:
        position.remember(numbers)
        move: Callable[[int], Any] = position.move
        return move

    def _origin(self) -> dict[str, str]:
        own = self.evaluator
        named = getattr(own, "name", None) or getattr(own, "__name__", None) or type(own).__name__
        return {
            "rules_digest": "none: states live in Python",
            "start": repr(self.start)[:1000],
            "evaluator": str(named),
        }

    def _extras(self) -> dict[str, Any]:
        return {
            "failures": tuple(self.failures),
            "failed_rollouts": self._explorer.failed_rollouts,
            "cost": self._cost,
            "calls": self._calls,
            "call_log": tuple(self._log),
        }

    def _advance_by(self, simulations: int, batch: int, interrupts: Interrupts) -> None:  # noqa: ARG002 - one leaf at a time
        """Run about so many simulations."""
        try:
            self._explorer.advance_by(simulations, interrupts)
        finally:
            self._machine.sync()

    def _refuse_in_flight(self, what: str) -> None:
        if self._in_flight:
            raise SearchError(f"cannot {what} while {self._in_flight} evaluations are in flight")

    def _refuse_nothing_to_search(self, what: str) -> None:
        self._refuse_in_flight(what)
        self._refuse_finished()
        self._refuse_chance()

    def _refuse_finished(self) -> None:
        if self._finished:
            raise TerminalPositionError(f"the state is terminal: there is nothing to search{shown(self.state)}")

    def _refuse_chance(self) -> None:
        if self.player == CHANCE:
            raise SearchError("chance decides in this state, so there is nothing to choose: advance by the outcome")

    # Moving on.

    @exclusive
    def advance(self, action: Hashable) -> None:
        """Take an action, or an outcome of chance, and keep the part of the tree below it.

        An action that was never tried starts a fresh tree; so does one that failed, which is tried again. The action may lead to a terminal
        state; then there is nothing left to search, and `run` and `result` say so.
        """
        self._refuse_in_flight("advance")
        self._refuse_finished()
        if action not in self.actions:
            raise IllegalMoveError(
                f"{action!r} is not an action here; there are {', '.join(map(repr, self.actions[:20]))}{shown(self.state)}"
            )
        machine = self._machine
        machine.sync()
        node = self._first_child() + self.actions.index(action)
        known = node < self.tree.size and self.tree.columns.stats["visits"][node] > 0 and node not in machine.dead
        state = machine.states[node] if known else self.view.step(self.state, action)[0]
        self.view.is_terminal(state)  # where it raises, nothing has changed yet
        if known:
            machine.reroot(node)
        else:
            machine.start(state)
        self.played.append(action)
        machine.control["arms"] = 0
        self._look_at_root()

    def result(self) -> SearchResult:
        """What the search knows now; nothing is searched."""
        self._guard.refuse_other_threads("give a result")
        self._refuse_finished()
        self._refuse_chance()
        if not self.simulations:
            raise SearchError("nothing has been searched yet: call run")
        return snapshot.take(self)

    def __repr__(self) -> str:
        return (
            f"<search of {self.view.name} after {len(self.played)} actions: {self.config}, {self.simulations:,} simulations, "
            f"{self.tree.size:,} nodes>"
        )
