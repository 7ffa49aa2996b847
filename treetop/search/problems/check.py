"""The conformance check of Python problems: random games in which every answer is checked and every call repeated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from treetop.compiler.preparing import Pulse
from treetop.compiler.rng import Rng, mix
from treetop.errors import ConformanceError
from treetop.game.check import CheckReport
from treetop.game.notes import misspelt
from treetop.game.states import members
from treetop.search.limits import Budget, Limit
from treetop.search.problems.checked import CheckedProblem
from treetop.search.problems.failing import ProblemError, described, refused_arguments, shown
from treetop.search.problems.watch import ChangedStateError, is_same, unchanged
from treetop.types import CHANCE

REQUIREMENTS = {
    "methods": "the methods take the arguments of a problem's methods",
    "works": "no method fails",
    "pure": "no method changes a state, except step and rollout a copy of it; copy returns an equal state",
    "same": "a method that is asked twice answers the same, except initial, prior and rollout",
    "player": "the player to move is one of the players, or chance",
    "actions": "actions are hashable, all different, and at least one until the end",
    "chance": "outcomes of chance are hashable and all different, with probabilities that sum to 1",
    "step": "step returns a state, with step_rewards also the immediate rewards",
    "length": "no game is longer than max_length, unless there is a method rollout",
    "rewards": "rewards are finite, their totals are within reward_range and sum to zero in zero-sum problems",
    "prior": "prior returns finite numbers of at least 0, one for each action",
    "rollout": "rollout returns finite rewards within the range of values",
}
"""The requirements of a Python problem. The text of a violated one is the first line of the error."""

_METHOD_OF = {"chance": "outcomes", "prior": "prior", "rollout": "rollout"}
_ARGUMENTS = {
    "initial": 0, "actions": 1, "step": 2, "is_terminal": 1, "rewards": 1, "player": 1, "outcomes": 1, "copy": 1,
    "prior": 2, "rollout": 2, "key": 1, "text": 1, "render": 1,
}  # fmt: skip
_ATTRIBUTES = ("num_players", "reward_range", "zero_sum", "step_rewards", "max_length")
_PROGRESS_SECONDS = 0.1
_LISTED = 20  # actions that are shown


class _ViolationError(Exception):
    """A violated requirement."""

    def __init__(self, requirement: str, detail: str) -> None:
        super().__init__(detail)
        self.requirement = requirement


def check_problem(
    problem: Any,
    *,
    games: int,
    seed: int,
    seconds: float | None,
    progress: Callable[[int, int], object] | None,
    root: Any = None,
) -> CheckReport:
    """Play random games and raise a `ConformanceError` for the first violated requirement; return a report."""
    examiner = _Examiner(problem, root)
    budget = Budget(Limit(simulations=games, seconds=None if seconds == math.inf else seconds))
    moves, longest, done, pulse = 0, 0, 0, Pulse(_PROGRESS_SECONDS)
    while done < games and (done == 0 or budget.seconds_left != 0.0):
        played: list[Any] = []
        try:
            examiner.play(Rng(mix(seed) ^ mix(done + 1)), played, budget)
        except _ViolationError as violation:
            after = ", ".join(map(repr, played[-_LISTED:]))
            more = f"{len(played) - _LISTED} actions and then " if len(played) > _LISTED else ""
            found = f"found after {more}{after}" if played else "found at the start, before any action"
            raise ConformanceError(
                f"{examiner.name} violates a requirement: {REQUIREMENTS[violation.requirement]}.\n{violation}\n{found}"
            ) from violation.__cause__
        done, moves, longest = done + 1, moves + len(played), max(longest, len(played))
        if progress is not None and (pulse.due() or done == games):
            progress(done, games)
    ended = seconds if budget.seconds_left == 0.0 else None
    return CheckReport(examiner.name, done, moves, longest, examiner.requirements, ended, examiner.notes())


class _Examiner:
    """Plays a problem and examines its states."""

    def __init__(self, problem: Any, root: Any) -> None:
        self.checked = CheckedProblem(problem, whole=root is None, watched=math.inf)
        self.name, self._problem, self._root = self.checked.name, problem, root
        self._left_out: tuple[str, ...] = ()
        self._kind: type[Any] = type(root)  # of the state at which the game starts

    @property
    def requirements(self) -> tuple[str, ...]:
        """The texts of all requirements that apply to the problem."""
        return tuple(text for name, text in REQUIREMENTS.items() if self._has(_METHOD_OF.get(name, "step")))

    def notes(self) -> tuple[str, ...]:
        """Return what violates no requirement and is still likely to be wrong."""
        attributes = members(type(self._problem)) | getattr(self._problem, "__dict__", {})
        return self._left_out + misspelt(attributes, (*_ARGUMENTS, *_ATTRIBUTES))

    def _has(self, method: str) -> bool:
        return getattr(self._problem, method, None) is not None

    def play(self, rng: Rng, played: list[Any], budget: Budget) -> None:
        """Play one random game until its end or until the time is over; add its actions to `played`."""
        checked = self.checked
        self._arguments()
        state = self._root if self._root is not None else self._call("works", "initial", None, checked.initial)
        self._kind = type(state)
        received = [[0.0] * checked.players]
        while self.examine(state, received, rng):
            if len(played) >= checked.max_length:
                if checked.own_rollout is not None:  # which needs no end
                    return
                raise _ViolationError(
                    "length", f"the game is not over after max_length = {checked.max_length:,} moves{shown(state)}"
                )
            if budget.seconds_left == 0.0:
                return
            action = self._choose(state, rng)
            played.append(action)
            state, rewards = self._step(state, action)
            received += [] if rewards is None else [rewards]

    def _arguments(self) -> None:
        for method, count in _ARGUMENTS.items():
            if self._has(method) and (signature := refused_arguments(getattr(self._problem, method), count)):
                raise _ViolationError(
                    "methods", f"{self.name}.{method} takes {signature}; it is called with {count} arguments"
                )

    def examine(self, state: Any, received: list[list[float]], rng: Rng) -> bool:
        """Ask a state for everything; return whether the game goes on."""
        checked, problem = self.checked, self._problem
        for method in ("render", "key"):
            self._ask("works", method, state, partial(getattr(checked, method), state))
        if checked.copy is not None:
            copied = self._ask("works", "copy", state, lambda: problem.copy(state))
            if not is_same(copied, state):
                raise _ViolationError("pure", f"{self.name}.copy returned another state: {copied!r:.500}{shown(state)}")
        if self._ask("works", "is_terminal", state, lambda: bool(checked.is_terminal(state))):
            rewards = self._ask("rewards", "rewards", state, lambda: checked.rewards(state))
            if checked.has_step_rewards:
                self._ask("rewards", "rewards", state, lambda: checked.check_total([*received, rewards], state))
            return False
        mover = self._ask("player", "player", state, lambda: checked.player(state))
        if mover == CHANCE:
            self._ask("chance", "outcomes", state, lambda: checked.outcomes(state))
            return True
        actions = self._ask("actions", "actions", state, lambda: checked.actions(state))
        for action in actions:
            self._ask("works", "text", state, partial(checked.text, action))
        if checked.own_prior is not None:
            self._call("prior", "prior", state, lambda: self._prior(state, actions))
        if checked.own_rollout is not None:
            values = self._call("rollout", "rollout", state, lambda: checked.rollout(state, rng))
            self._call("rollout", "rollout", state, lambda: checked.check_value(values, "rollout", state, 1.0))
        return True

    def _prior(self, state: Any, actions: list[Any]) -> None:
        """Check the problem's own priors, and note the first action that they leave out."""
        given = self._problem.prior(state, list(actions))
        self.checked.weights(given, actions, state)
        if isinstance(given, Mapping) and not self._left_out:
            missing = [action for action in actions if action not in given]
            if missing and len(missing) < len(actions):
                self._left_out = (f"prior leaves out the action {missing[0]!r}: its prior is 0{shown(state)}",)

    def _choose(self, state: Any, rng: Rng) -> Any:
        """Draw an action; outcomes of chance are drawn uniformly too, so that rare ones are played."""
        if self.checked.player(state) == CHANCE:
            outcomes, probabilities = self.checked.outcomes(state)
            choices = [one for one, probability in zip(outcomes, probabilities, strict=True) if probability > 0.0]
        else:
            choices = self.checked.actions(state)
        return choices[rng.below(len(choices))]

    def _step(self, state: Any, action: Any) -> tuple[Any, list[float] | None]:
        """Step twice, compare, and return the next state."""
        checked, asked = self.checked, self._answers(state)
        first: tuple[Any, list[float] | None]
        first = self._call("step", "step", state, lambda: checked.step(state, action))
        if self._answers(state) != asked:
            raise _ViolationError(
                "pure", f"after {self.name}.step({action!r}) the state it was given has other actions{shown(state)}"
            )
        second = self._call("step", "step", state, lambda: checked.step(state, action))
        if not is_same(first[0], second[0]) or first[1] != second[1]:
            one, other = (first, second) if checked.has_step_rewards else (first[0], second[0])
            raise _ViolationError(
                "same",
                f"{self.name}.step({action!r}) returned {one!r:.500} and, asked again, {other!r:.500}: draw random "
                f"numbers by chance nodes, or by a seed in the state{shown(state)}",
            )
        return first

    def _answers(self, state: Any) -> object:
        """Return what a state answers, for comparisons of states without a text of their own."""
        if self.checked.player(state) == CHANCE:
            return self.checked.outcomes(state)
        return set(self.checked.actions(state))

    def _ask(self, requirement: str, method: str, state: Any, call: Callable[[], Any]) -> Any:
        """Return the answer of a method, which must be the same twice."""
        first, second = (self._call(requirement, method, state, call) for _ in range(2))
        if not is_same(first, second):
            raise _ViolationError(
                "same",
                f"{self.name}.{method} returned {first!r:.500} and, asked again, {second!r:.500}{shown(state)}",
            )
        return first

    def _call(self, requirement: str, method: str, state: Any, call: Callable[[], Any]) -> Any:
        """Return the answer of a method; raise _ViolationError if it fails, is invalid or changes the state."""
        try:
            with unchanged(state, f"{self.name}.{method} changes the state that it is given"):
                return call()
        except ChangedStateError as error:
            raise _ViolationError("pure", str(error)) from error
        except ProblemError as error:
            raise _ViolationError(requirement, str(error)) from error
        except Exception as error:
            hint = ""
            if self.checked.has_step_rewards and state is not None and type(state) is not self._kind:
                hint = "; with step_rewards, step must return (state, rewards)"
            what = f"{self.name}.{method} failed: {described(error)}{hint}{shown(state)}"
            raise _ViolationError("works", what) from error
