"""The driver of a Python problem: the user's code steps and evaluates states, compiled code selects and backs up."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from treetop.errors import ConfigError, IllegalMoveError, SearchError, TerminalPositionError, TreetopError
from treetop.kernels.parts import PROBLEMS
from treetop.search.config import SearchConfig
from treetop.search.drivers.driver import Driver
from treetop.search.interrupts import Interrupts
from treetop.search.plan import refuse_parts
from treetop.search.problems.checked import CheckedProblem
from treetop.search.problems.evaluator import ProblemEvaluator, is_coroutine
from treetop.search.problems.explorer import Explorer
from treetop.search.problems.failing import described, shown
from treetop.search.problems.nodes import ProblemNodes
from treetop.search.problems.outcomes import NOTHING_OPEN, Failure, LoggedCall
from treetop.search.problems.position import ProblemPosition
from treetop.types import CHANCE, ROOT


class ProblemDriver(Driver):
    """A driver over the states of a Python problem."""

    is_game = False
    nothing_open = NOTHING_OPEN
    no_batches = (
        "ask and tell are for games, whose leaves are arrays; for a Python problem give the search an evaluator, or "
        "use arun with evaluations made elsewhere"
    )

    def __init__(self, problem: Any, config: SearchConfig, evaluator: Any, seed: int, start: Any) -> None:
        self.problem, self.checked = problem, CheckedProblem(problem, whole=start is None)
        self.config, self.evaluator, self.seed = config, evaluator, seed
        _check(config, self.checked)
        self.game = self.checked
        self.evaluate = ProblemEvaluator(evaluator, self.checked, config.values.discount)
        nodes = ProblemNodes(self.checked, config, self.expand_after, seed, priors=self.evaluate.gives_priors)
        self.nodes, self.tree, self.control = nodes, nodes.tree, nodes.control
        self.scratch, self.plan = nodes.scratch, nodes.plan
        self.explorer = Explorer(nodes, self.checked, config, self.evaluate, self.expand_after)
        self.start = self.checked.initial() if start is None else start
        """The state at which the search started."""
        self.cost, self.calls = 0.0, 0
        self.log: list[LoggedCall] = []
        self.open_calls = 0
        """The number of evaluations that are being made elsewhere."""
        nodes.start(self.start)
        self._read_root()
        self.refuse_finished()

    # The root.

    def _read_root(self) -> None:
        """Read the player to move and the actions of a new root."""
        state, links = self.state, self.tree.columns.links
        try:
            self.finished = bool(self.checked.is_terminal(state))
            self._listed: list[Any] = []
            self.player = 0 if self.finished else self.checked.player(state)
            if self.finished:
                return
            if not links["num_children"][ROOT]:
                self._listed = self.checked.outcomes(state)[0] if self.player == CHANCE else self.checked.actions(state)
        except TreetopError:
            raise
        except Exception as error:
            raise SearchError(f"the root itself failed: {described(error)}{shown(state)}") from error

    @property
    def actions(self) -> list[Any]:
        """Return the actions at the root in the order of its children: widening puts the likeliest first."""
        count = int(self.tree.columns.links["num_children"][ROOT])
        self.nodes.sync()
        return self.nodes.moves[self.first_child : self.first_child + count] if count else self._listed

    @property
    def state(self) -> Any:
        """Return the state at the root."""
        return self.nodes.states[ROOT]

    @property
    def first_child(self) -> int:
        """Return the number of the root's first child, also before it exists."""
        return max(1, int(self.tree.columns.links["first_child"][ROOT]))

    @property
    def position(self) -> ProblemPosition:
        """Return the root with the methods of a position."""
        return ProblemPosition(self)

    @property
    def played(self) -> list[Any]:
        """Return the actions that led from the start to the root."""
        return self.explorer.played

    @property
    def failures(self) -> list[Failure]:
        """Return the nodes that failed, and the failed rollouts, since the search started."""
        return self.explorer.failures

    @property
    def expand_after(self) -> int:
        """Return how many visits a leaf needs before it is expanded."""
        if self.config.growth.expand_after is not None:
            return self.config.growth.expand_after
        return 0 if self.evaluate.gives_priors else 1

    @property
    def moves_played(self) -> int:
        """Return how many actions led to the root."""
        return len(self.played)

    @property
    def is_forced(self) -> bool:
        """Return whether there is only one action."""
        return len(self.actions) <= 1

    @property
    def is_cheap(self) -> bool:
        """Return whether states are evaluated by rollouts, and not by an evaluator with priors."""
        return not self.evaluate.gives_priors

    @property
    def in_flight(self) -> int:
        """Return how many evaluations are being made elsewhere."""
        return self.open_calls

    def refuse(self, what: str) -> None:
        """Raise where the root cannot be searched, or evaluations are in flight."""
        if self.in_flight:
            raise SearchError(f"cannot {what} while {self.in_flight} evaluations are in flight: wait for arun to end")
        if what != "advance":
            self.refuse_finished()
            self._refuse_chance()

    def refuse_finished(self) -> None:
        """Raise TerminalPositionError where the state is terminal, so that there is no result."""
        if self.finished:
            raise TerminalPositionError(f"the state is terminal: there is nothing to search{shown(self.state)}")

    def _refuse_chance(self) -> None:
        if self.player == CHANCE:
            raise SearchError("chance decides in this state, so there is nothing to search: advance by an outcome")

    def advance(self, move: Hashable) -> None:
        """Play an action or an outcome of chance, and keep the part of the tree below it.

        A failed action is tried again.
        """
        self.refuse_finished()
        if move not in self.actions:
            raise IllegalMoveError(
                f"{move!r} is not an action here; "
                f"there are {', '.join(map(repr, self.actions[:20]))}{shown(self.state)}"
            )
        nodes = self.nodes
        nodes.sync()
        node = self.first_child + self.actions.index(move)
        known = node < self.tree.size and self.tree.columns.stats["visits"][node] > 0 and node not in nodes.failed
        if known:
            state = nodes.states[node]
            received = nodes.rewards_to(node)[0] if self.checked.has_step_rewards else None
        else:
            state, received = self.checked.step(self.state, move)
        self.checked.is_terminal(state)  # may raise, before anything changes
        if known:
            nodes.reroot(node)
        else:
            nodes.start(state)
        self.played.append(move)
        if received is not None:
            self.explorer.received = [one + more for one, more in zip(self.explorer.received, received, strict=True)]
        self.explorer.best = None if self.explorer.best is None else self.explorer.best.after(move)
        self.control["arms"] = 0
        self._read_root()

    # Simulations.

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        self.nodes.prepare_kernel(in_flight=False)
        self.nodes.set_budget(0)
        self.nodes.simulate()

    @property
    def from_cache(self) -> bool:
        """Return whether the compiled code came from an earlier process."""
        return self.nodes.from_cache

    def begin_run(self) -> None:
        """Prepare a run: the kernels, and the counters of each run."""
        if is_coroutine(self.evaluate.own):
            raise ConfigError("the evaluator is a coroutine: use arun or run_remote")
        self.cost, self.calls, self.log = 0.0, 0, []
        self.prepare()

    def advance_by(self, simulations: int, left: int, interrupts: Interrupts) -> None:  # noqa: ARG002
        """Run about `simulations` simulations."""
        try:
            self.explorer.advance_by(simulations, interrupts)
        finally:
            self.nodes.sync()

    # For results.

    def labels(self, position: Any, numbers: Sequence[int]) -> Callable[[int], Any]:
        """Return a function from the numbers of a result to its actions."""
        position.keep(numbers)
        action: Callable[[int], Any] = position.action
        return action

    def origin(self) -> dict[str, str]:
        """Return the rules digest, the start and the evaluator, for a report."""
        own = self.evaluator
        name = getattr(own, "name", None) or getattr(own, "__name__", None) or type(own).__name__
        digest = "none: states live in Python"
        return {"rules_digest": digest, "start": repr(self.start)[:1000], "evaluator": str(name)}

    def extras(self) -> dict[str, Any]:
        """Return fields of the result that only Python problems have."""
        return {
            "failures": tuple(self.failures),
            "failed_rollouts": self.explorer.failed_rollouts,
            "cost": self.cost,
            "calls": self.calls,
            "call_log": tuple(self.log),
        }


def _check(config: SearchConfig, problem: CheckedProblem) -> None:
    """Raise ConfigError for settings that do not work with Python problems."""
    what = "the search of a Python problem"
    refuse_parts(config, what, PROBLEMS, ("opponents", "chance_widening"))
    if callable(config.tie_break):
        raise ConfigError(f"{what} breaks ties at random or by order: leave out the tie_break function")
    if config.solver and (problem.has_chance or problem.has_step_rewards):
        why = "chance" if problem.has_chance else "immediate rewards"
        raise ConfigError(f"{what} has no solver for {why}: leave solver out")
