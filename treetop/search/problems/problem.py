"""Your own Python objects as a problem: what a class has to offer so that its states can be searched. docs/own-objects.md shows one."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, GameError
from treetop.game.facts import Facts
from treetop.tree.layout import MAX_CHILDREN
from treetop.types import CHANCE

Weights = Sequence[float] | Mapping[Any, float] | None
"""How likely each action is: one number an action, in the order of the actions or by the action. They need not sum to 1. None: all alike."""

_LONGEST = 10_000  # moves of a rollout, where the problem does not say
_SURE = 1e-6  # how far probabilities may be from 1


class ProblemError(GameError):
    """A problem or an evaluator said what cannot be. Other errors of the caller's code end a node; this one is told at once."""


@runtime_checkable
class Problem(Protocol):
    """What is searched: states of any kind, actions of any hashable kind. Your class need not inherit from this; what it lacks has a default.

    Optional, as attributes: `num_players` (1), `reward_range` ((-1, 1), of a whole game), `zero_sum` (for two players: yes where the range is
    symmetric), `step_rewards` (False), `max_length` (of a rollout, 10,000), `name`. Optional, as methods:

    - `initial()`: the state to search, where none is given;
    - `player(state)`: who is to move, 0 where there is no such method; `treetop.CHANCE` where chance decides;
    - `outcomes(state)`: where chance decides, pairs of an outcome and its probability;
    - `copy(state)`: needed if `step` changes the state that it is given;
    - `prior(state, actions)`: how likely each action is to be good;
    - `rollout(state, rng)`: the rewards of one game played on from here; the state is yours to change if there is a `copy`;
    - `key(state)`: something that names the state, for records; `text(action)`, `render(state)`: for people.

    With `step_rewards = True`, `step` returns the next state and what each player received on the way; `rewards` says what the end adds.
    """

    def actions(self, state: Any) -> Sequence[Hashable]:
        """What may be done in a state that is not terminal: at least one action, none of them twice."""
        ...

    def step(self, state: Any, action: Any) -> Any:
        """The state after an action."""
        ...

    def is_terminal(self, state: Any) -> bool:
        """Whether nothing is left to do."""
        ...

    def rewards(self, state: Any) -> Any:
        """What a terminal state brings: one number a player; for one player a number will do."""
        ...


class ProblemView:
    """A problem as the search sees it: every default in its place, and every answer checked."""

    def __init__(self, problem: Any) -> None:
        for method in ("actions", "step", "is_terminal", "rewards"):
            if not callable(getattr(problem, method, None)):
                raise ConfigError(f"a problem has a method {method}, which {problem!r} does not have")
        self.problem = problem
        self.name = str(
            getattr(problem, "name", None)
            or (problem.__name__ if isinstance(problem, type) else type(problem).__name__)
        )
        self.facts = _facts(problem)
        self.players = self.facts.players
        self.has_step_rewards = bool(getattr(problem, "step_rewards", False))
        self.max_length = self.facts.max_length
        self.list_actions: Callable[[Any], Sequence[Any]] = problem.actions
        self.is_terminal: Callable[[Any], bool] = problem.is_terminal
        self.copy: Callable[[Any], Any] | None = getattr(problem, "copy", None)
        self.own_prior: Callable[[Any, Any], Weights] | None = getattr(problem, "prior", None)
        self.own_rollout: Callable[[Any, Rng], Any] | None = getattr(problem, "rollout", None)
        self.own_player: Callable[[Any], int] | None = getattr(problem, "player", None)
        self.own_outcomes: Callable[[Any], Iterable[tuple[Any, float]]] | None = getattr(problem, "outcomes", None)
        self.own_step: Callable[[Any, Any], Any] = problem.step
        self._rewards = problem.rewards
        low, high = self.facts.rewards
        slack = 1e-9 * max(1.0, abs(low), abs(high))
        self._low, self._high = low - slack, high + slack

    def has(self, method: str) -> bool:
        """Return whether a game of this kind would have a compiled method: for the plan of the search."""
        kinds = {"chance_outcomes": self.has_chance, "step_rewards": self.has_step_rewards}
        return kinds.get(method, False)

    @property
    def has_chance(self) -> bool:
        """Whether chance may decide."""
        return self.own_outcomes is not None

    def initial(self) -> Any:
        """The state to begin with, where the caller gives none."""
        method = getattr(self.problem, "initial", None)
        if method is None:
            raise ConfigError(f"{self.name} has no method initial: give the search the state to begin with, as root=")
        state = method()
        if state is None:
            raise ConfigError(f"{self.name}.initial returned None, which is no state")
        return state

    def player(self, state: Any) -> int:
        """Who is to move."""
        if self.own_player is None:
            return 0
        player = self.own_player(state)
        if player == CHANCE and self.own_outcomes is not None:
            return CHANCE
        if isinstance(player, bool) or not 0 <= player < self.players or player != int(player):
            more = "; where chance decides, a problem has a method outcomes" if player == CHANCE else ""
            raise ProblemError(
                f"{self.name}.player gave {player!r}; players are 0 to {self.players - 1}{more}{shown(state)}"
            )
        return int(player)

    def actions(self, state: Any) -> list[Any]:
        """What may be done in a state."""
        actions = list(self.list_actions(state))
        self._check_actions(actions, "actions", state)
        return actions

    def _check_actions(self, actions: list[Any], method: str, state: Any) -> None:
        try:
            different = len(set(actions))
        except TypeError:
            culprit = next(action for action in actions if not _is_hashable(action))
            raise ProblemError(
                f"{self.name}.{method} gave {culprit!r}, which cannot be hashed: use numbers, texts, tuples or frozen objects{shown(state)}"
            ) from None
        if not actions:
            raise ProblemError(f"{self.name}.{method} gave nothing in a state that is not terminal{shown(state)}")
        if different != len(actions):
            culprit = next(action for index, action in enumerate(actions) if action in actions[:index])
            raise ProblemError(f"{self.name}.{method} gave {culprit!r} twice{shown(state)}")
        if len(actions) > MAX_CHILDREN:
            raise ProblemError(
                f"{self.name}.{method} gave {len(actions):,} actions; a node holds at most {MAX_CHILDREN:,}{shown(state)}"
            )

    def outcomes(self, state: Any) -> tuple[list[Any], list[float]]:
        """What chance may do, and how likely it is."""
        assert self.own_outcomes is not None
        pairs = list(self.own_outcomes(state))
        try:
            actions, probabilities = [pair[0] for pair in pairs], [float(pair[1]) for pair in pairs]
        except (TypeError, ValueError, IndexError):
            raise ProblemError(
                f"{self.name}.outcomes gives pairs of an outcome and its probability, not {pairs!r}{shown(state)}"
            ) from None
        self._check_actions(actions, "outcomes", state)
        if (
            not all(probability >= 0.0 for probability in probabilities)
            or not abs(math.fsum(probabilities) - 1.0) <= _SURE
        ):
            raise ProblemError(
                f"{self.name}.outcomes gave probabilities that do not sum to 1: {probabilities}{shown(state)}"
            )
        return actions, probabilities

    def draw(self, state: Any, rng: Rng) -> Any:
        """One outcome of chance."""
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
        """The next state, and what the players received on the way, where the problem tells. The given state stays as it is."""
        return self.step_in_place(state if self.copy is None else self.copy(state), action)

    def step_in_place(self, state: Any, action: Any) -> tuple[Any, list[float] | None]:
        """The same for a state that nobody else needs."""
        following = self.own_step(state, action)
        if not self.has_step_rewards:
            return (self.changed(state) if following is None else following), None
        if not isinstance(following, tuple) or len(following) != 2:
            raise ProblemError(f"with step_rewards, {self.name}.step returns (state, rewards), not {following!r}")
        return (self.changed(state) if following[0] is None else following[0]), self._numbers(
            following[1], "step", state
        )

    def changed(self, state: Any) -> Any:
        """The state after a step that returned nothing: it has changed the state that it was given."""
        if self.copy is None:
            raise ProblemError(
                f"{self.name}.step returned None: it returns the next state; if it changes the one it is given, a problem has a method copy{shown(state)}"
            )
        return state

    def rewards(self, state: Any) -> list[float]:
        """What a terminal state brings to each player."""
        rewards = self._numbers(self._rewards(state), "rewards", state)
        if not self.has_step_rewards:
            self._check_range(rewards, "rewards", state)
        return rewards

    def _check_range(self, rewards: list[float], method: str, state: Any) -> None:
        if min(rewards) < self._low or max(rewards) > self._high:
            raise ProblemError(
                f"{self.name}.{method} gave {rewards}, outside of its reward_range {self.facts.rewards}: say reward_range = (lowest, highest){shown(state)}"
            )
        if self.facts.zero_sum and abs(rewards[0] + rewards[1]) > 1e-9:
            raise ProblemError(
                f"{self.name}.{method} gave {rewards}, which do not add up to zero: say zero_sum = False{shown(state)}"
            )

    def rollout(self, state: Any, rng: Rng) -> list[float]:
        """The problem's own rollout."""
        assert self.own_rollout is not None
        return self._numbers(self.own_rollout(state if self.copy is None else self.copy(state), rng), "rollout", state)

    def check_value(self, values: list[float], what: str, state: Any, discount: float) -> list[float]:
        """Return the values of a state; raise where one lies outside of the range that `reward_range` allows (see `Facts.value_range`)."""
        least, greatest = self.facts.allowed_values(step_rewards=self.has_step_rewards, discount=discount)
        if min(values) < least or max(values) > greatest:
            low, high = self.facts.value_range(step_rewards=self.has_step_rewards, discount=discount)
            raise ProblemError(
                f"{self.name}: {what} gave {values}, outside of the range {low:g} to {high:g} by reward_range = {self.facts.rewards}: "
                f"scale it, or say reward_range = (lowest, highest){shown(state)}"
            )
        return values

    def values(self, told: Any, mover: int, state: Any = None) -> list[float]:
        """What an evaluator says, for every player: it may give one number for each, or one for the player to move where that says it all."""
        if self.facts.zero_sum and isinstance(told, (int, float)):
            value = float(told)
            told = [value if player == mover else -value for player in (0, 1)]
        return self._numbers(told, "value", state)

    def weights(self, told: Weights, actions: list[Any]) -> list[float] | None:
        """Priors as they were told, one number an action; None where nothing is preferred."""
        if told is None:
            return None
        if isinstance(told, Mapping):
            told = [told.get(action, 0.0) for action in actions]
        try:
            weights = [float(weight) for weight in told]
        except (TypeError, ValueError):
            raise ProblemError(f"priors are one number an action, not {told!r}") from None
        if len(weights) != len(actions):
            raise ProblemError(f"priors are one number an action: {len(weights)} for {len(actions)} actions")
        total = math.fsum(weights)
        if not all(weight >= 0.0 for weight in weights) or not math.isfinite(total):
            raise ProblemError(f"priors are finite numbers of at least 0, not {weights}")
        return weights if total > 0.0 else None

    def _numbers(self, told: Any, method: str, state: Any) -> list[float]:
        try:
            numbers = [float(told)] if self.players == 1 and not _is_list(told) else [float(number) for number in told]
        except (TypeError, ValueError):
            raise ProblemError(f"{self.name}: {method} gives one number a player, not {told!r}{shown(state)}") from None
        if len(numbers) != self.players:
            raise ProblemError(
                f"{self.name}: {method} gives one number a player, {self.players} in all, not {told!r}{shown(state)}"
            )
        if not math.isfinite(math.fsum(numbers)):
            raise ProblemError(
                f"{self.name}: {method} gave {told!r}: a reward or value is a finite number{shown(state)}"
            )
        return numbers

    def text(self, action: Any) -> str:
        """An action as people read it."""
        method = getattr(self.problem, "text", None)
        return str(action) if method is None else str(method(action))

    def render(self, state: Any) -> str:
        """A state as people read it."""
        method = getattr(self.problem, "render", None)
        return str(state) if method is None else str(method(state))

    def key(self, state: Any) -> Any:
        """What names a state, where the problem can tell."""
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


def _is_list(told: Any) -> bool:
    return hasattr(told, "__len__") and not (hasattr(told, "ndim") and told.ndim == 0)


def _is_hashable(action: Any) -> bool:
    try:
        hash(action)
    except TypeError:
        return False
    return True


def shown(state: Any) -> str:
    """A state at the end of an error's text."""
    if state is None:
        return ""
    try:
        text = repr(state)
    except Exception:  # noqa: BLE001 - a state that cannot be printed must not hide what went wrong with it
        return ""
    return f"\nin the state {text[:500]}"
