"""What a state in Python is worth: a rollout over the problem's own methods, or whatever the caller's evaluator says."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from treetop.errors import ConfigError
from treetop.search.evaluator import CompiledEvaluator, Rollout, Uniform
from treetop.search.problems.problem import ProblemError, ProblemView, Weights, shown
from treetop.search.problems.stream import Stream
from treetop.types import CHANCE

ATTEMPTS = 4
"""Rollouts from one state, or draws of chance, that may fail in a row before its moves are tried one by one."""

Told = tuple[list[float] | None, list[float]]
"""Priors of a state's actions, or None, and its value for every player."""


T = TypeVar("T")


class NoValueError(Exception):
    """All rollouts from a state, or all draws of chance there, failed: nothing is known of its value."""


@dataclass(frozen=True)
class Drawn:
    """What chance has led to."""

    state: Any
    mover: int
    actions: list[Any]
    received: list[float]
    """What the players received on the way."""
    value: list[float] | None = None
    """What it is worth, where it is the end."""


@runtime_checkable
class StateEvaluator(Protocol):
    """Says what a state is worth and how likely its actions are to be good. A plain function of the same shape will do."""

    def evaluate(self, state: Any, actions: Sequence[Hashable]) -> Any:
        """(prior, value): a number for each action, or None; and a number for each player, or one for the player to move if that says it all."""
        ...


class ProblemEvaluator:
    """One way to evaluate, ready for the search."""

    def __init__(self, evaluator: Any, view: ProblemView, discount: float) -> None:
        self.view, self._discount = view, discount
        self.count = evaluator.count if isinstance(evaluator, Rollout) else 1
        self.own: Callable[[Any, Any], Any] | None = None
        """The caller's function, where there is one."""
        self.failed: list[Exception] = []
        """Rollouts and draws of chance that failed; whoever asked for the evaluation takes them out."""
        self._middle: list[float] | None = None
        plain = not view.has_chance and not view.has_step_rewards
        self._play = (
            self._own_rollout if view.own_rollout is not None else self._plain_rollout if plain else self._rollout
        )
        if isinstance(evaluator, Uniform):
            self._middle = [view.facts.middle] * view.players
        elif isinstance(evaluator, Rollout):
            if evaluator.policy != "random" or evaluator.depth is not None:
                raise ConfigError(
                    f"rollouts over Python objects are random ones to the end, or the problem's own `rollout`; not {evaluator!r}"
                )
        elif isinstance(evaluator, CompiledEvaluator):
            raise ConfigError(
                f"{evaluator!r} works on compiled games; give a function of a state and its actions, Rollout() or Uniform()"
            )
        elif isinstance(evaluator, StateEvaluator):
            self.own = evaluator.evaluate
        elif callable(evaluator):
            self.own = evaluator
        else:
            raise ConfigError(
                f"an evaluator is a function of a state and its actions, or has a method evaluate(state, actions); not {evaluator!r}"
            )

    @property
    def gives_priors(self) -> bool:
        """Whether priors come with the evaluation: then a leaf is expanded when it is evaluated."""
        return self.own is not None or self._middle is not None

    def __call__(self, state: Any, mover: int, actions: list[Any], rng: Stream) -> Told:
        """Priors, where the evaluator has them, and a value for every player."""
        if self._middle is not None:
            return None, self._middle
        if self.own is None:
            return None, self._rollouts(state, mover, actions, rng)
        if mover == CHANCE:
            drawn = self.after_chance(state, rng)
            if drawn.value is not None:
                return None, drawn.value
            _, value = self.told(self.own(drawn.state, drawn.actions), drawn.mover, drawn.actions, drawn.state)
            return None, self.with_outcomes(drawn.received, value)
        # An evaluator may do with a state what it likes; where states change in place, it gets one of its own.
        return self.told(
            self.own(state if self.view.copy is None else self.view.copy(state), actions), mover, actions, state
        )

    def told(self, answer: Any, mover: int, actions: list[Any], state: Any) -> Told:
        """An evaluator's answer, checked."""
        if not isinstance(answer, (tuple, list)) or len(answer) not in (2, 3, 4):
            raise ProblemError(f"an evaluator gives (prior, value), not {answer!r}")
        prior: Weights = answer[0]
        values = self.view.values(answer[1], mover, state)
        return self.view.weights(prior, actions), self.view.check_value(values, "the evaluator", state, self._discount)

    def after_chance(self, state: Any, rng: Stream) -> Drawn:
        """Draw outcomes until a player is to move, or it is the end: evaluators are not asked about states where chance decides."""
        return self._succeed(1, lambda: self._draw_on(state, rng))[0]

    def with_outcomes(self, received: list[float], value: list[float]) -> list[float]:
        """Return r + discount * V: the value of a state where chance decides, from what its outcomes brought and the value of the state after them."""
        return [one + self._discount * more for one, more in zip(received, value, strict=True)]

    def _draw_on(self, state: Any, rng: Stream) -> Drawn:
        view = self.view
        received = [0.0] * view.players
        while (mover := view.player(state)) == CHANCE:
            state, on_the_way = view.step(state, view.draw(state, rng))
            if on_the_way is not None:
                received = [one + more for one, more in zip(received, on_the_way, strict=True)]
            if view.is_terminal(state):
                return Drawn(state, mover, [], received, self.with_outcomes(received, view.rewards(state)))
        return Drawn(state, mover, view.actions(state), received)

    def _rollouts(self, state: Any, mover: int, actions: list[Any], rng: Stream) -> list[float]:
        values = self._succeed(self.count, lambda: self._play(state, mover, actions, rng))
        if len(values) == 1:
            return values[0]
        return [sum(each) / len(values) for each in zip(*values, strict=True)]

    def _succeed(self, wanted: int, attempt: Callable[[], T]) -> list[T]:
        """Make so many successful attempts, or as many as come before `ATTEMPTS` failures; raise NoValueError where there is none."""
        made: list[T] = []
        failures = 0
        while len(made) < wanted and failures < ATTEMPTS:
            try:
                made.append(attempt())
            except ProblemError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever the caller's code raises costs this attempt, and nothing else
                self.failed.append(error)
                failures += 1
        if not made:
            raise NoValueError
        return made

    def _own_rollout(self, state: Any, mover: int, actions: list[Any], rng: Stream) -> list[float]:  # noqa: ARG002 - the shape of a rollout
        return self.view.check_value(self.view.rollout(state, rng), "rollout", state, self._discount)

    def _plain_rollout(self, state: Any, mover: int, actions: Sequence[Any], rng: Stream) -> list[float]:  # noqa: ARG002 - the shape of a rollout
        """Random moves to the end, where there is no chance and no reward on the way: most of a search's time is spent here."""
        view, below = self.view, rng.below
        is_terminal, list_actions, step = view.is_terminal, view.list_actions, view.own_step
        if view.copy is not None:
            state = view.copy(state)
        made = 0
        while made < view.max_length:
            made += 1
            following = step(state, actions[below(len(actions))])
            state = view.changed(state) if following is None else following
            if is_terminal(state):
                break
            actions = list_actions(state)
            if not actions:
                raise self._stuck(state)
        else:
            raise self._too_long(state)
        return self._discounted(view.rewards(state), made)

    def _rollout(self, state: Any, mover: int, actions: Sequence[Any], rng: Stream) -> list[float]:
        """Play random moves to the end; return the rewards, multiplied by the discount once for each earlier step.

        A step is an action with the outcomes of chance that follow it. A rollout that begins where chance decides is within a step.
        """
        view, below = self.view, rng.below
        is_terminal, list_actions, step, knows_players = (
            view.is_terminal,
            view.list_actions,
            view.step_in_place,
            view.has_chance,
        )
        if view.copy is not None:
            state = view.copy(state)
        received = [0.0] * view.players if view.has_step_rewards else None
        factor, left = 1.0, view.max_length
        while True:
            if mover != CHANCE and left < view.max_length:
                factor *= self._discount
            action = view.draw(state, rng) if mover == CHANCE else actions[below(len(actions))]
            state, on_the_way = step(state, action)
            if received is not None and on_the_way is not None:
                received = [one + factor * more for one, more in zip(received, on_the_way, strict=True)]
            if is_terminal(state):
                break
            left -= 1
            if left <= 0:
                raise self._too_long(state)
            if knows_players:
                mover = view.player(state)
            if mover != CHANCE:
                actions = list_actions(state)
                if not actions:
                    raise self._stuck(state)
        factor *= self._discount
        value = [factor * one for one in view.rewards(state)]
        return value if received is None else [one + more for one, more in zip(received, value, strict=True)]

    def _discounted(self, value: list[float], moves: int) -> list[float]:
        if self._discount != 1.0:
            for _ in range(moves):
                value = [one * self._discount for one in value]
        return value

    def _stuck(self, state: Any) -> ProblemError:
        return ProblemError(f"{self.view.name}.actions gave nothing in a state that is not terminal{shown(state)}")

    def _too_long(self, state: Any) -> ProblemError:
        return ProblemError(
            f"a rollout of {self.view.name} took more than max_length = {self.view.max_length:,} moves: say max_length, or give an "
            f"evaluator{shown(state)}"
        )


def is_coroutine(function: Any) -> bool:
    """Whether what a function returns has to be awaited."""
    return inspect.iscoroutinefunction(function) or (
        callable(function) and inspect.iscoroutinefunction(type(function).__call__)
    )
