"""A Python problem with all defaults filled in and every answer checked."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from treetop.compiler.rng import Rng
from treetop.errors import ConfigError
from treetop.game.facts import Facts
from treetop.search.problems.failing import ProblemError, described, shown
from treetop.search.problems.watch import WATCHED, ChangedStateError, changes, unchanged
from treetop.tree.layout import MAX_CHILDREN
from treetop.types import CHANCE

Weights = Sequence[float] | Mapping[Any, float] | None
"""A prior for each action, in the order of the actions or by action; they need not sum to 1. None: equal priors."""

_LONGEST = 10_000  # the default max_length of a rollout
_TOLERANCE = 1e-6  # of the sum of probabilities
_LISTS = (list, tuple, range)  # the usual ones, which need no slower check
_ROUNDING = 1e-9  # of rewards and their sums, for each unit of the range


class CheckedProblem:
    """A problem with all defaults filled in and every answer checked."""

    def __init__(self, problem: Any, *, whole: bool = True, watched: float = WATCHED) -> None:
        """Check a problem. `whole` says whether it is searched from its initial state, before any reward; `watched` is
        the number of steps that are watched for changes of the given state.
        """
        for method in ("actions", "step", "is_terminal", "rewards"):
            if not callable(getattr(problem, method, None)):
                raise ConfigError(f"a Python problem has a method {method}, but {problem!r} has none: add it")
        if isinstance(problem, type) and inspect.isfunction(inspect.getattr_static(problem, "actions")):
            raise ConfigError(f"give an object, not the class {problem.__name__}: {problem.__name__}(...)")
        self.problem = problem
        self.name = str(
            getattr(problem, "name", None)
            or (problem.__name__ if isinstance(problem, type) else type(problem).__name__)
        )
        self.facts = _facts(problem)
        self.players = self.facts.players
        self.has_step_rewards = bool(getattr(problem, "step_rewards", False))
        self.max_length = self.facts.max_length
        self.list_actions: Callable[[Any], Any] = problem.actions
        self.is_terminal: Callable[[Any], bool] = problem.is_terminal
        self.copy: Callable[[Any], Any] | None = getattr(problem, "copy", None)
        self.own_prior: Callable[[Any, Any], Weights] | None = getattr(problem, "prior", None)
        self.own_rollout: Callable[[Any, Rng], Any] | None = getattr(problem, "rollout", None)
        self.own_player: Callable[[Any], int] | None = getattr(problem, "player", None)
        self.own_outcomes: Callable[[Any], Iterable[tuple[Any, float]]] | None = getattr(problem, "outcomes", None)
        self.own_step: Callable[[Any, Any], Any] = self._watched_step if self.copy is None else problem.step
        self._watched = watched
        self._rewards = problem.rewards
        # Where a part of the total was received before the search, the rest may lie elsewhere.
        part = self.has_step_rewards and not whole
        low, high = self.facts.value_range(step_rewards=True) if part else self.facts.rewards
        self._slack = _ROUNDING * max(1.0, abs(low), abs(high))
        self._low, self._high = low - self._slack, high + self._slack

    def has(self, method: str) -> bool:
        """Return whether a game of this kind would have a compiled method, for the plan of the search."""
        kinds = {"chance_outcomes": self.has_chance, "step_rewards": self.has_step_rewards}
        return kinds.get(method, False)

    @property
    def has_chance(self) -> bool:
        """Whether the problem has chance nodes."""
        return self.own_outcomes is not None

    def initial(self) -> Any:
        """Return the problem's initial state."""
        method = getattr(self.problem, "initial", None)
        if method is None:
            raise ConfigError(f"{self.name} has no method initial: give the search the state to start with, as root=")
        state = method()
        if state is None:
            raise ConfigError(f"{self.name}.initial must return a state, not None")
        return state

    def player(self, state: Any) -> int:
        """Return the player to move, or CHANCE."""
        if self.own_player is None:
            return 0
        player = self.own_player(state)
        if player == CHANCE and self.own_outcomes is not None:
            return CHANCE
        try:
            valid = not isinstance(player, bool) and 0 <= player < self.players and player == int(player)
        except (TypeError, ValueError):
            valid = False
        if not valid:
            more = "; a problem with chance nodes needs a method outcomes" if player == CHANCE else ""
            raise ProblemError(
                f"{self.name}.player gave {player!r}; players are 0 to {self.players - 1}{more}{shown(state)}"
            )
        return int(player)

    def actions(self, state: Any) -> list[Any]:
        """Return the actions of a state."""
        given = self.list_actions(state)
        if type(given) not in _LISTS and not isinstance(given, Sequence):
            if not isinstance(given, Iterable):
                raise ProblemError(f"{self.name}.actions must return a list of actions, not {given!r}{shown(state)}")
            self.list_actions = lambda state: list(self.problem.actions(state))  # rollouts draw by an index
        actions = list(given)
        self._check_actions(actions, "actions", state)
        return actions

    def _check_actions(self, actions: list[Any], method: str, state: Any) -> None:
        try:
            different = len(set(actions))
        except TypeError:
            culprit = next(action for action in actions if not _is_hashable(action))
            raise ProblemError(
                f"{self.name}.{method} gave {culprit!r}, which cannot be hashed: use numbers, texts, tuples or frozen "
                f"objects{shown(state)}"
            ) from None
        if not actions:
            raise ProblemError(f"{self.name}.{method} gave no action in a state that is not terminal{shown(state)}")
        if different != len(actions):
            culprit = next(action for index, action in enumerate(actions) if action in actions[:index])
            raise ProblemError(f"{self.name}.{method} gave {culprit!r} twice{shown(state)}")
        if len(actions) > MAX_CHILDREN:
            raise ProblemError(
                f"{self.name}.{method} gave {len(actions):,} actions; "
                f"a node holds at most {MAX_CHILDREN:,}{shown(state)}"
            )

    def outcomes(self, state: Any) -> tuple[list[Any], list[float]]:
        """Return the outcomes of chance and their probabilities."""
        assert self.own_outcomes is not None
        pairs = list(self.own_outcomes(state))
        try:
            actions, probabilities = [pair[0] for pair in pairs], [float(pair[1]) for pair in pairs]
        except (TypeError, ValueError, IndexError):
            raise ProblemError(
                f"{self.name}.outcomes must return pairs of an outcome and its probability, not {pairs!r}{shown(state)}"
            ) from None
        self._check_actions(actions, "outcomes", state)
        if (
            not all(probability >= 0.0 for probability in probabilities)
            or not abs(math.fsum(probabilities) - 1.0) <= _TOLERANCE
        ):
            raise ProblemError(
                f"{self.name}.outcomes gave probabilities that do not sum to 1: {probabilities}{shown(state)}"
            )
        return actions, probabilities

    def draw(self, state: Any, rng: Rng) -> Any:
        """Return an outcome of chance, drawn by its probability."""
        actions, probabilities = self.outcomes(state)
        left = rng.random()
        for action, probability in zip(actions, probabilities, strict=True):
            left -= probability
            if left < 0.0 and probability > 0.0:
                return action
        return next(
            action
            for action, probability in zip(reversed(actions), reversed(probabilities), strict=True)
            if probability > 0.0
        )

    def step(self, state: Any, action: Any) -> tuple[Any, list[float] | None]:
        """Return the next state, and the immediate rewards if the problem has them. The given state does not change."""
        if self.copy is None:
            return self.step_in_place(state, action)
        if self._watched <= 0:
            return self.step_in_place(self.copy(state), action)
        self._watched -= 1
        with unchanged(state, self.shallow):
            return self.step_in_place(self.copy(state), action)

    @property
    def shallow(self) -> str:
        """The error for a copy that shares what a call changes."""
        return (
            f"a state changes where only its copy should: {self.name}.copy must copy everything that changes, also "
            "lists and objects inside a state"
        )

    def _watched_step(self, state: Any, action: Any) -> Any:
        """Call the problem's `step` without a copy; raise ChangedStateError if it changes the given state.

        Only the first calls are watched, in the tree and in rollouts.
        """
        step = self.problem.step
        self._watched -= 1
        if self._watched < 0:
            self.own_step = step
            return step(state, action)
        wrong = (
            f"{self.name}.step changes the state that it is given, by the action {action!r}: return a new state, or "
            "add a method copy(state)"
        )
        with unchanged(state, wrong):
            following = step(state, action)
        reached = following[0] if self.has_step_rewards and isinstance(following, tuple) else following
        if reached is state and changes(state, lambda: step(state, action)):
            raise ChangedStateError(f"{wrong}{shown(state)}")
        return following

    def step_in_place(self, state: Any, action: Any) -> tuple[Any, list[float] | None]:
        """Return the same; the given state may change."""
        following = self.own_step(state, action)
        if not self.has_step_rewards:
            return (self.changed(state) if following is None else following), None
        if not isinstance(following, tuple) or len(following) != 2:
            raise ProblemError(f"with step_rewards, {self.name}.step must return (state, rewards), not {following!r}")
        return (self.changed(state) if following[0] is None else following[0]), self._numbers(
            following[1], "step", state
        )

    def changed(self, state: Any) -> Any:
        """Return the given state after a step that returned None; raise ProblemError unless states are copied."""
        if self.copy is None:
            raise ProblemError(
                f"{self.name}.step returned None: it must return the next state, or the problem needs a method copy"
                f"{shown(state)}"
            )
        return state

    def rewards(self, state: Any) -> list[float]:
        """Return the rewards of a terminal state, one for each player."""
        rewards = self._numbers(self._rewards(state), "rewards", state)
        if not self.has_step_rewards:
            self._check_range(rewards, f"{self.name}.rewards gave", state)
        return rewards

    def check_total(self, parts: Iterable[Sequence[float]], state: Any) -> None:
        """Raise ProblemError if the sum of immediate and final rewards is outside of the range."""
        total = [math.fsum(each) for each in zip(*parts, strict=True)]
        self._check_range(total, f"the immediate and final rewards of {self.name} add up to", state)

    def _check_range(self, rewards: list[float], what: str, state: Any) -> None:
        if min(rewards) < self._low or max(rewards) > self._high:
            raise ProblemError(
                f"{what} {rewards}, outside of its reward_range {self.facts.rewards}: set "
                f"reward_range = (lowest, highest){shown(state)}"
            )
        if self.facts.zero_sum and abs(rewards[0] + rewards[1]) > self._slack:
            raise ProblemError(f"{what} {rewards}, which do not sum to zero: set zero_sum = False{shown(state)}")

    def rollout(self, state: Any, rng: Rng) -> list[float]:
        """Return the rewards of the problem's own rollout."""
        assert self.own_rollout is not None
        return self._numbers(self.own_rollout(state if self.copy is None else self.copy(state), rng), "rollout", state)

    def check_value(self, values: list[float], what: str, state: Any, discount: float) -> list[float]:
        """Return the values of a state; raise ProblemError outside of the range: see `Facts.value_range`."""
        least, greatest = self.facts.allowed_values(step_rewards=self.has_step_rewards, discount=discount)
        if min(values) < least or max(values) > greatest:
            low, high = self.facts.value_range(step_rewards=self.has_step_rewards, discount=discount)
            raise ProblemError(
                f"{self.name}: {what} gave {values}, outside of the range {low:g} to {high:g} by reward_range = "
                f"{self.facts.rewards}: scale it, or set reward_range = (lowest, highest){shown(state)}"
            )
        if self.facts.zero_sum and abs(values[0] + values[1]) > _TOLERANCE * max(1.0, abs(values[0])):
            raise ProblemError(
                f"{self.name}: {what} gave {values}, which do not sum to zero: give one number for the player to move, "
                f"or set zero_sum = False{shown(state)}"
            )
        return values

    def values(self, given: Any, mover: int, state: Any = None) -> list[float]:
        """Return an evaluator's value for each player; with zero sums one number for the player to move is enough."""
        if self.facts.zero_sum and isinstance(given, (int, float)):
            value = float(given)
            given = [value if player == mover else -value for player in (0, 1)]
        return self._numbers(given, "value", state)

    def priors(self, state: Any, actions: list[Any]) -> list[float] | None:
        """Return the problem's own priors; None if it has none, or if they are equal."""
        return None if self.own_prior is None else self.weights(self.own_prior(state, list(actions)), actions, state)

    def weights(self, given: Weights, actions: list[Any], state: Any) -> list[float] | None:
        """Return the given priors of a state, one for each action; None for equal priors."""
        if given is None:
            return None
        if isinstance(given, Mapping):
            missing, unknown = (
                [one for one in actions if one not in given],
                [one for one in given if one not in actions],
            )
            if missing and unknown:
                raise ProblemError(
                    f"priors name {unknown[0]!r}, which is not an action here, and leave out the action {missing[0]!r}"
                    f"{shown(state)}"
                )
            given = [given.get(action, 0.0) for action in actions]
        try:
            weights = [float(weight) for weight in given]
        except (TypeError, ValueError):
            raise ProblemError(f"priors must be one number for each action, not {given!r}{shown(state)}") from None
        if len(weights) != len(actions):
            raise ProblemError(
                f"priors must be one number for each action: {len(weights)} for {len(actions)} actions{shown(state)}"
            )
        total = sum(weights)
        if not all(weight >= 0.0 for weight in weights) or not math.isfinite(total):
            raise ProblemError(f"priors must be finite numbers of at least 0, not {weights}{shown(state)}")
        return weights if total > 0.0 else None

    def _numbers(self, given: Any, method: str, state: Any) -> list[float]:
        try:
            numbers = (
                [float(given)] if self.players == 1 and not _is_list(given) else [float(number) for number in given]
            )
        except (TypeError, ValueError):
            raise ProblemError(
                f"{self.name}: {method} must return one number for each player, not {given!r}{shown(state)}"
            ) from None
        if len(numbers) != self.players:
            raise ProblemError(
                f"{self.name}: {method} must return one number for each of {self.players} players, not {given!r}"
                f"{shown(state)}"
            )
        if not all(map(math.isfinite, numbers)):
            raise ProblemError(
                f"{self.name}: {method} gave {given!r}: rewards and values must be finite numbers{shown(state)}"
            )
        return numbers

    def text(self, action: Any) -> str:
        """Return an action as text."""
        return self._text("text", action, f"\nfor the action {action!r}")

    def render(self, state: Any) -> str:
        """Return a state as text."""
        return self._text("render", state, shown(state))

    def _text(self, method: str, thing: Any, what: str) -> str:
        """Return an action or a state as text, by the problem's own method if it has one."""
        own = getattr(self.problem, method, None)
        try:
            return str(thing if own is None else own(thing))
        except Exception as error:
            raise ProblemError(f"{self.name}.{method} failed: {described(error)}{what}") from error

    def key(self, state: Any) -> Any:
        """Return the problem's own key of a state; None if it has none."""
        method = getattr(self.problem, "key", None)
        return None if method is None else method(state)


def _facts(problem: Any) -> Facts:
    players = getattr(problem, "num_players", 1)
    longest = getattr(problem, "max_length", None)
    try:
        return Facts(
            players,
            1,
            _LONGEST if longest is None else longest,
            getattr(problem, "reward_range", (-1.0, 1.0)),
            getattr(problem, "zero_sum", None),
        )
    except ValueError as error:
        raise ConfigError(
            f"{problem!r}: {str(error).replace('players', 'num_players').replace('rewards', 'reward_range')}"
        ) from None


def _is_list(given: Any) -> bool:
    return hasattr(given, "__len__") and not (hasattr(given, "ndim") and given.ndim == 0)


def _is_hashable(action: Any) -> bool:
    try:
        hash(action)
    except TypeError:
        return False
    return True
