"""Evaluation of Python states: by rollouts over the problem's methods, or by the user's evaluator."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from treetop.errors import ConfigError
from treetop.search.evaluator import CompiledEvaluator, Rollout, Uniform
from treetop.search.problems.checked import CheckedProblem, Weights
from treetop.search.problems.failing import ProblemError, refused_arguments, shown
from treetop.search.problems.stream import Stream
from treetop.search.problems.watch import WATCHED, unchanged
from treetop.search.solution import Trail
from treetop.types import CHANCE

ATTEMPTS = 4
"""Rollouts from one state, or draws of chance, that may fail in a row before its moves are searched one by one."""

Evaluation = tuple[list[float] | None, list[float]]
"""The priors of a state's actions, or None, and its value for each player."""


T = TypeVar("T")


class NoValueError(Exception):
    """All rollouts from a state, or all draws of chance there, failed, so it has no value."""


@dataclass(frozen=True)
class Drawn:
    """A state after draws of chance."""

    state: Any
    mover: int
    actions: list[Any]
    received: list[float]
    """The immediate rewards of the draws."""
    value: list[float] | None = None
    """Its value, if it is terminal."""


@runtime_checkable
class StateEvaluator(Protocol):
    """An evaluator of states, with an optional prior for each action. A function with the same arguments works too.

    >>> import treetop as tt
    >>> class Halfway:
    ...     def initial(self): return 5
    ...     def actions(self, state): return ["down", "up"]
    ...     def is_terminal(self, state): return state in (0, 10)
    ...     def step(self, state, action): return state + (1 if action == "up" else -1)
    ...     def rewards(self, state): return [state / 10]
    >>> def towards_ten(state, actions):
    ...     return None, [state / 10]
    >>> tt.Search(Halfway(), tt.puct(), evaluator=towards_ten, seed=1).run(tt.Limit(simulations=100)).action
    'up'
    """

    def evaluate(self, state: Any, actions: Sequence[Hashable]) -> Any:
        """Return (prior, value).

        The prior is a number for each action, or None. The value is a number for each player; for one player, and in
        zero-sum games, one number for the player to move is enough.
        """
        ...


class ProblemEvaluator:
    """An evaluator of a Python problem, with checked answers."""

    def __init__(self, evaluator: Any, problem: CheckedProblem, discount: float) -> None:
        self.problem, self._discount = problem, discount
        self.count = evaluator.count if isinstance(evaluator, Rollout) else 1
        self.own: Callable[[Any, Any], Any] | None = None
        """The user's function, if there is one."""
        self.failed: list[Exception] = []
        """Errors of rollouts and draws of chance; the caller of the evaluation removes them."""
        self.keeps_rollouts = problem.players == 1 and not problem.has_chance
        """Whether the best rollout of each evaluation is kept, because it is a solution."""
        self.best_rollout: Trail | None = None
        """The best rollout of the last evaluation; the caller removes it."""
        self.received: list[list[float]] = []
        """The immediate rewards before the state that is evaluated, of each player; the caller of the evaluation sets
        them.
        """
        self._middle: list[float] | None = None
        plain = not problem.has_chance and not problem.has_step_rewards
        self._play = (
            self._own_rollout if problem.own_rollout is not None else self._plain_rollout if plain else self._rollout
        )
        if isinstance(evaluator, Uniform):
            self._middle = [problem.facts.middle] * problem.players
        elif isinstance(evaluator, Rollout):
            if evaluator.policy != "random" or evaluator.depth is not None:
                raise ConfigError(
                    "rollouts of a Python problem are random and play to the end, or use the problem's own `rollout`: "
                    f"leave out the options of {evaluator!r}"
                )
        elif isinstance(evaluator, CompiledEvaluator):
            raise ConfigError(
                f"{evaluator!r} is for games: give a function of a state and its actions, Rollout() or Uniform()"
            )
        else:
            self.own = function_of(evaluator)
        # Without a copy an evaluator may keep something in a state, such as its own value.
        self._watched = WATCHED if self.own is None or problem.copy is not None else 0
        self._changed = (
            f"{problem.name}.rollout changes the state that it is given: copy the state first, or add a method "
            "copy(state)"
            if problem.copy is None
            else problem.shallow
        )

    @property
    def gives_priors(self) -> bool:
        """Whether evaluations have priors: then a leaf is expanded when it is evaluated."""
        return self.own is not None or self._middle is not None

    def __call__(self, state: Any, mover: int, actions: list[Any], rng: Stream) -> Evaluation:
        """Return the priors, if the evaluator has them, and a value for each player."""
        if self._watched:
            left, self._watched = self._watched - 1, 0
            try:
                with unchanged(state, self._changed):
                    return self(state, mover, actions, rng)
            finally:
                self._watched = left
        if self._middle is not None:
            return None, self._middle
        if self.own is None:
            return None, self._rollouts(state, mover, actions, rng)
        if mover == CHANCE:
            drawn = self.after_chance(state, rng)
            if drawn.value is not None:
                return None, drawn.value
            _, value = self.check_answer(
                self.own(drawn.state, list(drawn.actions)), drawn.mover, drawn.actions, drawn.state
            )
            return None, self.with_outcomes(drawn.received, value)
        # An evaluator may change its state: where states are mutable, it gets a copy.
        return self.check_answer(
            self.own(state if self.problem.copy is None else self.problem.copy(state), list(actions)),
            mover,
            actions,
            state,
        )

    def check_answer(self, answer: Any, mover: int, actions: list[Any], state: Any) -> Evaluation:
        """Return an evaluator's answer as numbers; raise ProblemError where it is invalid."""
        if not isinstance(answer, (tuple, list)) or len(answer) not in (2, 3, 4):
            raise ProblemError(f"an evaluator must return (prior, value), not {answer!r}{shown(state)}")
        prior: Weights = answer[0]
        values = self.problem.values(answer[1], mover, state)
        return self.problem.weights(prior, actions, state), self.problem.check_value(
            values, "the evaluator", state, self._discount
        )

    def check_total(self, rewards: list[list[float]], state: Any) -> None:
        """Raise ProblemError if immediate and final rewards, with those received before, are outside of the range."""
        if self.problem.has_step_rewards:
            self.problem.check_total([*self.received, *rewards], state)

    def after_chance(self, state: Any, rng: Stream) -> Drawn:
        """Draw outcomes until a player is to move or the state is terminal: evaluators do not see chance nodes."""
        return self._succeed(1, lambda: self._draw_on(state, rng))[0]

    def with_outcomes(self, received: list[float], value: list[float]) -> list[float]:
        """Return r + discount * V, the value of a chance node: r are the rewards of its outcomes, V the value after."""
        return [one + self._discount * more for one, more in zip(received, value, strict=True)]

    def _draw_on(self, state: Any, rng: Stream) -> Drawn:
        problem = self.problem
        received = [0.0] * problem.players
        while (mover := problem.player(state)) == CHANCE:
            state, step_rewards = problem.step(state, problem.draw(state, rng))
            if step_rewards is not None:
                received = [one + more for one, more in zip(received, step_rewards, strict=True)]
            if problem.is_terminal(state):
                rewards = problem.rewards(state)
                self.check_total([received, rewards], state)
                return Drawn(state, mover, [], received, self.with_outcomes(received, rewards))
        return Drawn(state, mover, problem.actions(state), received)

    def _rollouts(self, state: Any, mover: int, actions: list[Any], rng: Stream) -> list[float]:
        values = self._succeed(self.count, lambda: self._play(state, mover, actions, rng))
        if len(values) == 1:
            return values[0]
        return [sum(each) / len(values) for each in zip(*values, strict=True)]

    def _succeed(self, wanted: int, attempt: Callable[[], T]) -> list[T]:
        """Make `wanted` successful attempts, fewer after `ATTEMPTS` failures; raise NoValueError if all fail."""
        made: list[T] = []
        failures = 0
        while len(made) < wanted and failures < ATTEMPTS:
            try:
                made.append(attempt())
            except ProblemError:
                raise
            except Exception as error:  # noqa: BLE001 - any error of the user's code ends this attempt only
                self.failed.append(error)
                failures += 1
        if not made:
            raise NoValueError
        return made

    def _own_rollout(self, state: Any, mover: int, actions: list[Any], rng: Stream) -> list[float]:  # noqa: ARG002
        return self.problem.check_value(self.problem.rollout(state, rng), "rollout", state, self._discount)

    def _plain_rollout(self, state: Any, mover: int, actions: Sequence[Any], rng: Stream) -> list[float]:  # noqa: ARG002
        """Play random moves to the end, without chance and immediate rewards: most of a search's time is spent here."""
        problem, below = self.problem, rng.below
        is_terminal, list_actions, step = problem.is_terminal, problem.list_actions, problem.own_step
        if problem.copy is not None:
            state = problem.copy(state)
        made = 0
        trail = []
        while made < problem.max_length:
            made += 1
            action = actions[below(len(actions))]
            trail.append(action)
            following = step(state, action)
            state = problem.changed(state) if following is None else following
            if is_terminal(state):
                break
            actions = list_actions(state)
            if len(actions) == 0:
                raise self._stuck(state)
        else:
            raise self._too_long(state)
        rewards = problem.rewards(state)
        if self.keeps_rollouts:
            self._keep(trail, [], rewards, state)
        return self._discounted(rewards, made)

    def _keep(self, actions: list[Any], received: list[float], rewards: list[float], state: Any) -> None:
        """Keep a rollout if it is the best one of this evaluation."""
        best = self.best_rollout
        if best is None or sum(received) + rewards[0] > best.total:
            self.best_rollout = Trail(tuple(actions), tuple(received), rewards[0], state)

    def _rollout(self, state: Any, mover: int, actions: Sequence[Any], rng: Stream) -> list[float]:
        """Play random moves to the end; return the rewards, multiplied by the discount once for each earlier step.

        A step is an action with the outcomes of chance that follow it. A rollout that starts at a chance node starts
        within a step.
        """
        problem, below = self.problem, rng.below
        is_terminal, list_actions, step, knows_players = (
            problem.is_terminal,
            problem.list_actions,
            problem.step_in_place,
            problem.has_chance,
        )
        if problem.copy is not None:
            state = problem.copy(state)
        received = [0.0] * problem.players if problem.has_step_rewards else None
        steps: list[list[float]] = []
        factor, left = 1.0, problem.max_length
        trail: list[Any] = []
        while True:
            if mover != CHANCE and left < problem.max_length:
                factor *= self._discount
            action = problem.draw(state, rng) if mover == CHANCE else actions[below(len(actions))]
            state, step_rewards = step(state, action)
            trail.append(action)
            if received is not None and step_rewards is not None:
                steps.append(step_rewards)
                received = [one + factor * more for one, more in zip(received, step_rewards, strict=True)]
            if is_terminal(state):
                break
            left -= 1
            if left <= 0:
                raise self._too_long(state)
            if knows_players:
                mover = problem.player(state)
            if mover != CHANCE:
                actions = list_actions(state)
                if len(actions) == 0:
                    raise self._stuck(state)
        factor *= self._discount
        rewards = problem.rewards(state)
        self.check_total([*steps, rewards], state)
        if self.keeps_rollouts:
            self._keep(trail, [one[0] for one in steps], rewards, state)
        value = [factor * one for one in rewards]
        return value if received is None else [one + more for one, more in zip(received, value, strict=True)]

    def _discounted(self, value: list[float], moves: int) -> list[float]:
        if self._discount != 1.0:
            for _ in range(moves):
                value = [one * self._discount for one in value]
        return value

    def _stuck(self, state: Any) -> ProblemError:
        return ProblemError(f"{self.problem.name}.actions gave no action in a state that is not terminal{shown(state)}")

    def _too_long(self, state: Any) -> ProblemError:
        return ProblemError(
            f"a rollout of {self.problem.name} took more than max_length = {self.problem.max_length:,} moves: set "
            f"max_length, or give an evaluator{shown(state)}"
        )


def function_of(evaluator: Any) -> Any:
    """Return the function evaluate(state, actions) of an evaluator; raise ConfigError if there is none."""
    if isinstance(evaluator, type):
        raise ConfigError(
            f"evaluator must be an object, not the class {evaluator.__name__}: give {evaluator.__name__}(...)"
        )
    function = getattr(evaluator, "evaluate", evaluator)
    if not callable(function):
        raise ConfigError(
            "evaluator must be a function of a state and its actions, or an object with a method "
            f"evaluate(state, actions), not {evaluator!r}"
        )
    if signature := refused_arguments(function, 2):
        name = getattr(function, "__qualname__", repr(function))
        raise ConfigError(
            f"the evaluator of a Python problem takes (state, actions), but {name} takes {signature}; evaluators of "
            "batches are for games"
        )
    return function


def is_coroutine(function: Any) -> bool:
    """Return whether the result of a function has to be awaited."""
    return inspect.iscoroutinefunction(function) or (
        callable(function) and inspect.iscoroutinefunction(type(function).__call__)
    )
