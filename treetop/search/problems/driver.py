"""Search of a Python problem: the caller's code steps and evaluates states, compiled code selects and backs up."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from treetop.errors import ConfigError, IllegalMoveError, SearchError, TerminalPositionError, TreetopError
from treetop.kernels.parts import PROBLEMS
from treetop.search.config import SearchConfig
from treetop.search.drivers.driver import Driver
from treetop.search.interrupts import Interrupts
from treetop.search.plan import refuse_parts
from treetop.search.problems.evaluator import ProblemEvaluator, is_coroutine
from treetop.search.problems.explorer import Explorer, reason_of
from treetop.search.problems.nodes import ProblemNodes
from treetop.search.problems.outcomes import NOTHING_OPEN, Failure, LoggedCall
from treetop.search.problems.position import ProblemPosition
from treetop.search.problems.problem import ProblemView, shown
from treetop.types import CHANCE, ROOT


class ProblemDriver(Driver):
    """Runs simulations over the states of a Python problem."""

    is_game = False
    nothing_open = NOTHING_OPEN
    no_batches = (
        "ask and tell are for games, whose leaves are arrays; for a Python problem give an evaluator to run, or use arun with "
        "an evaluator that works elsewhere"
    )

    def __init__(self, problem: Any, config: SearchConfig, evaluator: Any, seed: int, start: Any) -> None:
        self.problem, self.view = problem, ProblemView(problem)
        self.config, self.evaluator, self.seed = config, evaluator, seed
        _check(config, self.view)
        self.game = self.view
        self.evaluate = ProblemEvaluator(evaluator, self.view, config.values.discount)
        nodes = ProblemNodes(self.view, config, self.expand_after, seed, priors=self.evaluate.gives_priors)
        self.nodes, self.tree, self.control, self.scratch, self.plan = (
            nodes, nodes.tree, nodes.control, nodes.scratch, nodes.plan,
        )  # fmt: skip
        self.explorer = Explorer(nodes, self.view, config, self.evaluate, self.expand_after)
        self.start = self.view.initial() if start is None else start
        """The state that the search started with."""
        self.cost, self.calls = 0.0, 0
        self.log: list[LoggedCall] = []
        self.open_calls = 0
        """Evaluations that are being made elsewhere."""
        nodes.start(self.start)
        self._read_root()
        self.refuse_finished()

    # The root.

    def _read_root(self) -> None:
        """Ask the problem who is to move at a new root, and what the actions are."""
        state, links = self.state, self.tree.columns.links
        try:
            self.finished = bool(self.view.is_terminal(state))
            self.actions: list[Any] = []
            if self.finished:
                return
            self.player = self.view.player(state)
            if count := int(links["num_children"][ROOT]):
                self.actions = self.nodes.moves[self.first_child : self.first_child + count]
            else:
                self.actions = self.view.outcomes(state)[0] if self.player == CHANCE else self.view.actions(state)
        except TreetopError:
            raise
        except Exception as error:
            raise SearchError(f"the root itself failed: {reason_of(error)}{shown(state)}") from error

    @property
    def state(self) -> Any:
        """Return the state at the root."""
        return self.nodes.states[ROOT]

    @property
    def first_child(self) -> int:
        """Return the number of the root's first child, also where it does not exist yet."""
        return max(1, int(self.tree.columns.links["first_child"][ROOT]))

    @property
    def position(self) -> ProblemPosition:
        """Return the root in the shape of a position."""
        return ProblemPosition(self)

    @property
    def played(self) -> list[Any]:
        """Return the actions that led from the start to the root."""
        return self.explorer.played

    @property
    def failures(self) -> list[Failure]:
        """Return the nodes that failed, and the rollouts that did, since the search started."""
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
        """Raise where the root cannot be searched, or an action is to be taken while evaluations are in flight."""
        if self.in_flight:
            raise SearchError(f"cannot {what} while {self.in_flight} evaluations are in flight")
        if what != "advance":
            self.refuse_finished()
            self._refuse_chance()

    def refuse_finished(self) -> None:
        """Raise where the state is terminal, so that there is no result."""
        if self.finished:
            raise TerminalPositionError(f"the state is terminal: there is nothing to search{shown(self.state)}")

    def _refuse_chance(self) -> None:
        if self.player == CHANCE:
            raise SearchError("chance decides in this state, so there is nothing to choose: advance by the outcome")

    def advance(self, move: Hashable) -> None:
        """Take an action, or an outcome of chance, and keep the part of the tree below it. An action that failed is tried again."""
        self.refuse_finished()
        if move not in self.actions:
            raise IllegalMoveError(
                f"{move!r} is not an action here; there are {', '.join(map(repr, self.actions[:20]))}{shown(self.state)}"
            )
        nodes = self.nodes
        nodes.sync()
        node = self.first_child + self.actions.index(move)
        known = node < self.tree.size and self.tree.columns.stats["visits"][node] > 0 and node not in nodes.dead
        state = nodes.states[node] if known else self.view.step(self.state, move)[0]
        self.view.is_terminal(state)  # where it raises, nothing has changed yet
        if known:
            nodes.reroot(node)
        else:
            nodes.start(state)
        self.played.append(move)
        self.control["arms"] = 0
        self._read_root()

    # Simulations.

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        self.nodes.prepare_kernel(in_flight=False)
        self.nodes.begin(0)
        self.nodes.simulate()

    @property
    def from_cache(self) -> bool:
        """Return whether the compiled code came from an earlier process."""
        return self.nodes.from_cache

    def begin_run(self) -> None:
        """Prepare a run: the kernels, and what is counted for each run."""
        if is_coroutine(self.evaluate.own):
            raise ConfigError("the evaluator is a coroutine: use arun or run_remote")
        self.cost, self.calls, self.log = 0.0, 0, []
        self.prepare()

    def advance_by(self, simulations: int, batch: int, interrupts: Interrupts) -> None:  # noqa: ARG002 - one leaf at a time
        """Run about so many simulations."""
        try:
            self.explorer.advance_by(simulations, interrupts)
        finally:
            self.nodes.sync()

    # For results.

    def labels(self, position: Any, numbers: Sequence[int]) -> Callable[[int], Any]:
        """Return a function from the numbers of a result to its actions."""
        position.remember(numbers)
        action: Callable[[int], Any] = position.action
        return action

    def origin(self) -> dict[str, str]:
        """Return what a report says of the rules, of the start and of the evaluator."""
        own = self.evaluator
        name = getattr(own, "name", None) or getattr(own, "__name__", None) or type(own).__name__
        return {
            "rules_digest": "none: states live in Python", "start": repr(self.start)[:1000], "evaluator": str(name),
        }  # fmt: skip

    def extras(self) -> dict[str, Any]:
        """Return fields of the result that only Python problems have."""
        return {
            "failures": tuple(self.failures),
            "failed_rollouts": self.explorer.failed_rollouts,
            "cost": self.cost,
            "calls": self.calls,
            "call_log": tuple(self.log),
        }


def _check(config: SearchConfig, view: ProblemView) -> None:
    """Refuse settings that a search over Python objects does not have."""
    what = "a search over Python objects"
    refuse_parts(config, what, PROBLEMS, ("opponents", "chance_widening"))
    if callable(config.tie_break):
        raise ConfigError(f"{what} breaks ties at random or by order, not by a function of yours")
    if config.solver and (view.has_chance or view.has_step_rewards):
        why = "chance" if view.has_chance else "immediate rewards"
        raise ConfigError(f"{what} has no solver for problems with {why}")
