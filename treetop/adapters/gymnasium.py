"""Gymnasium environments as problems, and a search as a policy for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from treetop import checks
from treetop.adapters.clones import Clones, Hooks, OwnRandomness, RandomStepError, global_digest, layers
from treetop.adapters.options import SearchPolicy, option_names, refuse_unknown
from treetop.adapters.packages import load
from treetop.adapters.tables import Table
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError
from treetop.search.presets import puct, uct
from treetop.search.result import SearchResult
from treetop.search.search import Search
from treetop.types import CHANCE

gymnasium = load("gymnasium", "gym")

_UNKNOWN_RANGE = (-1e6, 1e6)  # wide, so that the rules normalise values by what was seen
_PASSIVE = (
    "TimeLimit",
    "OrderEnforcing",
    "PassiveEnvChecker",
    "RecordEpisodeStatistics",
    "RecordVideo",
    "HumanRendering",
    "RenderCollection",
)
_FADING = 0.97  # the discount of a policy whose leaves are evaluated by random actions
_UNLIKELY = 0.02  # the prior of an action that the table knows to be worse, where the best has 1
_CHECKED = ("discount", "horizon", "snapshot", "reward_range")
_PROBES = 16  # steps of a copy that show whether an environment is random

Snapshot = tuple[Callable[[Any], Any], Callable[[Any, Any], object]]
"""save(env) returns a token, restore(env, token) restores the environment to it."""


class GymState:
    """A state of a deterministic environment: a snapshot, the steps since the search's root, the last observation, and
    whether it is over.

    >>> import gymnasium
    >>> env = gymnasium.make("CartPole-v1")
    >>> seen = env.reset(seed=1)
    >>> problem = GymProblem(env)
    >>> state, reward = problem.step(problem.initial(), 1)
    >>> state.time, state.over, state.observation.shape
    (1, False, (4,))
    """

    __slots__ = ("observation", "over", "time", "token")

    def __init__(self, token: Any, time: int, observation: Any, *, over: bool) -> None:
        self.token, self.time, self.observation, self.over = token, time, observation, over

    def __repr__(self) -> str:
        return f"<{'the end ' if self.over else ''}after {self.time} steps: {self.observation!r}>"


class GymProblem:
    """A Gymnasium environment in its present state as a problem to search. The environment itself is not stepped.

    The search never knows what the environment will draw: copies have their own random numbers. There are three kinds:

    - An environment with a table of transitions (`P` and `s`: FrozenLake, Taxi, CliffWalking) is searched by that
      table, with the exact outcomes of chance. States are tuples. `evaluate`, passed to a search as its evaluator,
      evaluates them by backward induction over the table.
    - One whose steps draw no random numbers is searched over copies of it; states are `GymState`s.
    - Any other is searched open-loop: a node is a sequence of actions, and every simulation plays it again with new
      random numbers.

    `horizon` is the number of steps to look ahead, in the tree and beyond it; a time limit of the environment shortens
    it. A reward after n steps counts `discount` ** n: leave the search's own discount at 1. `stochastic` and `table`
    override what is otherwise detected. `snapshot` is a pair of functions, save(env) and restore(env, token), for
    environments that cannot be copied. `redraw(env, generator)` redraws the hidden information in a copy; Blackjack has
    one built in, for the dealer's second card.

    >>> import gymnasium, treetop as tt
    >>> env = gymnasium.make("CliffWalking-v1")
    >>> seen = env.reset(seed=1)
    >>> tt.Search(GymProblem(env, horizon=20), seed=1).run(tt.Limit(simulations=50)).action in range(4)
    True
    """

    num_players, step_rewards = 1, True
    outcomes: Callable[[Any], list[tuple[int, float]]]
    evaluate: Callable[[Any, Any], tuple[list[float], float]]

    def __new__(  # noqa: PYI034 - a subclass is chosen
        cls, env: Any, *, stochastic: bool | None = None, table: bool | None = None, redraw: Any = None, **options: Any
    ) -> GymProblem:
        """Return a problem of the kind that the environment needs."""
        if cls is not GymProblem:
            return super().__new__(cls)
        if not isinstance(env, gymnasium.Env):
            raise ConfigError(f"env must be a Gymnasium environment, not {env!r}")
        if not isinstance(env.action_space, gymnasium.spaces.Discrete):
            raise ConfigError(
                f"a search chooses between single actions: the action space must be Discrete, not {env.action_space}"
            )
        refuse_unknown("GymProblem", options, option_names(GymProblem))
        _check_options(**options)
        if any(getattr(layer, "_has_reset", True) is False for layer in layers(env)):
            raise ConfigError(f"{env} was not reset yet, so there is nothing to search from")
        core = peel(env)
        found = core is core.unwrapped and Table.fits(core)
        if table and not found:
            raise ConfigError(f"{env} has no complete table of transitions (P and s)")
        if (found if table is None else table) and not stochastic and redraw is None:
            return super().__new__(_ByTable)
        if stochastic is None:
            stochastic = redraw is not None or _hidden_of(core) is not None or is_random(core, options.get("snapshot"))
        return super().__new__(_OpenLoop if stochastic else _ByCopies)

    def __init__(
        self, env: Any, *, discount: float = 1.0, horizon: int = 100, snapshot: Snapshot | None = None,
        stochastic: bool | None = None,  # noqa: ARG002 - these two have decided in __new__
        table: bool | None = None,  # noqa: ARG002
        redraw: Callable[[Any, Any], object] | None = None, reward_range: tuple[float, float] | None = None,
    ) -> None:  # fmt: skip
        self.env, self.reward_range = env, _UNKNOWN_RANGE if reward_range is None else reward_range
        self.core = peel(env)
        """The environment without the wrappers that only observe."""
        left = time_left(env)
        self.horizon = horizon if left is None else max(1, min(horizon, left))
        self.max_length = 2 * self.horizon + 2
        self.name = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
        space = env.action_space
        self._actions = list(range(int(space.start), int(space.start) + int(space.n)))
        self._redraw = _hidden_of(self.core) if redraw is None else redraw
        self.set_discount(discount)
        self._set_up(snapshot)

    def set_discount(self, discount: float) -> None:
        """Set the discount per step; call this before the search begins."""
        self.discount = discount
        self._factors = [discount**time for time in range(self.horizon + 1)]

    def _set_up(self, snapshot: Snapshot | None) -> None:
        """Prepare what a kind of problem needs."""

    def initial(self) -> Any:
        """Return the present state of the environment."""
        raise NotImplementedError

    def actions(self, state: Any) -> Sequence[int]:  # noqa: ARG002 - the shape of a problem
        """Return all actions of the environment."""
        return self._actions

    def step(self, state: Any, action: int) -> Any:
        """Return the next state and the immediate reward."""
        raise NotImplementedError

    def is_terminal(self, state: Any) -> bool:
        """Return whether the episode or the search's horizon has ended."""
        raise NotImplementedError

    def rewards(self, state: Any) -> float:  # noqa: ARG002 - the shape of a problem
        """Return 0: all rewards are immediate."""
        return 0.0


class _ByTable(GymProblem):
    """A problem by a table. States are (s, time, over), and (s, time, action) at chance nodes."""

    def _set_up(self, snapshot: Snapshot | None) -> None:  # noqa: ARG002 - a table needs none
        self._table = Table.of(self.core)
        if self._table.is_random:
            self.player: Callable[[Any], int] = lambda state: CHANCE if len(state) == 4 else 0
            self.outcomes = lambda state: [
                (index, way[0]) for index, way in enumerate(self._table.ways[state[0]][state[3]])
            ]
        self.evaluate = self._evaluate

    def initial(self) -> Any:
        return (int(self.core.s), 0, False)

    def step(self, state: Any, action: int) -> tuple[Any, float]:
        if len(state) == 3:
            ways = self._table.ways[state[0]][action - self._actions[0]]
            if len(ways) > 1:
                return (*state, action - self._actions[0]), 0.0
            _, following, reward, over = ways[0]
        else:
            _, following, reward, over = self._table.ways[state[0]][state[3]][action]
        return (following, state[1] + 1, over), reward * self._factors[state[1]]

    def is_terminal(self, state: Any) -> bool:
        return len(state) == 3 and (state[2] or state[1] >= self.horizon)

    def rollout(self, state: Any, rng: Rng) -> float:
        """Play random actions to the end of the episode or the horizon."""
        ways, count, place, total = self._table.ways, len(self._actions), state[0], 0.0
        action = state[3] if len(state) == 4 else rng.below(count)
        for time in range(state[1], self.horizon):
            _, place, reward, over = self._table.draw(ways[place][action], rng)
            total += reward * self._factors[time]
            if over:
                break
            action = rng.below(count)
        return total

    def _evaluate(self, state: Any, actions: Any) -> tuple[list[float], float]:  # noqa: ARG002
        """Return the value of the best play of the remaining steps, from the table, and the actions that begin it."""
        values = self._table.values(state[0], self.horizon - state[1], self.discount)
        best = float(values.max())
        return [1.0 if value >= best - 1e-12 else _UNLIKELY for value in values], self._factors[state[1]] * best

    def key(self, state: Any) -> Any:
        return state


class _ByCopies(GymProblem):
    """A problem of deterministic steps, so a state is stepped once and kept."""

    def _set_up(self, snapshot: Snapshot | None) -> None:
        self._own = OwnRandomness()
        self._points = _points(self.core, self._own, snapshot)

    def initial(self) -> GymState:
        return GymState(self._points.take(), 0, None, over=False)

    def step(self, state: GymState, action: int) -> tuple[GymState, float]:
        own = self._own
        with own.guarded(), self._points.at(state.token) as env:
            own.seed(0)
            before = own.place()
            observation, reward, terminated, truncated, _ = env.step(action)
            self._expect_nothing_drawn(before)
            token = self._points.save(env)
        return GymState(token, state.time + 1, observation, over=bool(terminated or truncated)), float(
            reward
        ) * self._factors[state.time]

    def is_terminal(self, state: GymState) -> bool:
        return state.over or state.time >= self.horizon

    def rollout(self, state: GymState, rng: Rng) -> float:
        """Play random actions to the end of the episode or the horizon."""
        actions, count, total = self._actions, len(self._actions), 0.0
        with self._own.guarded(), self._points.at(state.token) as env:
            self._own.seed(rng.bits())
            before, step = self._own.place(), env.step
            for time in range(state.time, self.horizon):
                _, reward, terminated, truncated, _ = step(actions[rng.below(count)])
                total += float(reward) * self._factors[time]
                if terminated or truncated:
                    break
            self._expect_nothing_drawn(before)
        return total

    def _expect_nothing_drawn(self, before: Any) -> None:
        if self._own.place() != before:
            raise RandomStepError(
                f"a step of {self.name} draws random numbers, and none were expected: pass stochastic=True"
            )


class _OpenLoop(GymProblem):
    """An open-loop problem. States are tuples of actions; each simulation plays them from the root, so its value is
    that of the whole path.
    """

    step_rewards = False

    def _set_up(self, snapshot: Snapshot | None) -> None:
        self._own = OwnRandomness()
        self._points = _points(self.core, self._own, snapshot)
        self._own.uses_global = _draws_globally(self._points, self._own, self._actions)
        self._token = self._points.take()

    def initial(self) -> tuple[int, ...]:
        return ()

    def actions(self, state: tuple[int, ...]) -> Sequence[int]:
        return (
            self._actions if len(state) < self.horizon else self._actions[:1]
        )  # beyond the horizon there is nothing to choose

    def step(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (*state, action)

    def is_terminal(self, state: tuple[int, ...]) -> bool:  # noqa: ARG002 - the same actions may end an episode or not
        return False

    def rollout(self, state: tuple[int, ...], rng: Rng) -> float:
        """Play the state's actions and then random ones, with new random numbers."""
        actions, count, total, known = self._actions, len(self._actions), 0.0, len(state)
        with self._own.guarded(), self._points.at(self._token) as env:
            self._own.seed(rng.bits())
            if self._redraw is not None:
                self._redraw(env.unwrapped, self._own.generator)
            for time in range(self.horizon):
                action = state[time] if time < known else actions[rng.below(count)]
                _, reward, terminated, truncated, _ = env.step(action)
                total += float(reward) * self._factors[time]
                if terminated or truncated:
                    break
        return total


class GymPolicy(SearchPolicy):
    """A policy for loops with an environment: `policy(env)` searches from its present state and returns the action to
    take.

    `limit` is the budget of a step, `config` and `evaluator` are those of the search, the other options those of
    `GymProblem`. An environment with a table is evaluated by it (`GymProblem.evaluate`), others by random actions.
    `evaluator=treetop.Rollout()` asks for random actions there too. Random actions say little about the far future, so
    `discount` is then 0.97 by default, and 1 otherwise.

    >>> import gymnasium
    >>> env = gymnasium.make("FrozenLake-v1")
    >>> seen = env.reset(seed=1)
    >>> GymPolicy(seed=1)(env) in range(4)
    True
    """

    problem = GymProblem

    _is_random = False

    def _check(self, options: Mapping[str, Any]) -> None:
        _check_options(**{name: options[name] for name in _CHECKED if name in options})

    def __call__(self, env: Any) -> int:
        """Return the action to take in the present state of the environment."""
        seed = self._next_seed()
        try:
            self.last_result = self._search(env, seed)
        except RandomStepError:
            if self.options.get("stochastic") is not None:
                raise
            self._is_random = True  # detected late, and remembered
            self.last_result = self._search(env, seed)
        return int(self.last_result.action)

    def _search(self, env: Any, seed: int) -> SearchResult:
        options = {**self.options, "stochastic": True} if self._is_random else self.options
        problem = GymProblem(env, **options)
        by_table = self.evaluator is None and hasattr(problem, "evaluate")
        if self.evaluator is None and not by_table and "discount" not in options:
            problem.set_discount(_FADING)
        evaluator = problem.evaluate if by_table else self.evaluator
        config = (puct() if by_table else uct()) if self.config is None else self.config
        return Search(problem, config, evaluator=evaluator, seed=seed).run(self.limit)


def _check_options(
    *,
    discount: float = 1.0,
    horizon: int = 100,
    snapshot: Any = None,
    reward_range: Any = None,  # noqa: ARG001
) -> None:
    checks.whole("horizon", horizon, 1)
    checks.number("discount", discount, above=0, high=1)
    if snapshot is not None and (
        not isinstance(snapshot, tuple) or len(snapshot) != 2 or not all(map(callable, snapshot))
    ):
        raise ConfigError(f"snapshot must be a pair of functions, save(env) and restore(env, token), not {snapshot!r}")


def peel(env: Any) -> Any:
    """Return an environment without the outer wrappers that change neither actions nor rewards."""
    while hasattr(env, "env") and (type(env).__name__ in _PASSIVE or isinstance(env, gymnasium.ObservationWrapper)):
        env = env.env
    return env


def time_left(env: Any) -> int | None:
    """Return the steps until the outermost time limit, or None."""
    while hasattr(env, "env"):
        most, elapsed = getattr(env, "_max_episode_steps", None), getattr(env, "_elapsed_steps", None)
        if type(env).__name__ == "TimeLimit" and most is not None:
            return int(most) - int(elapsed or 0)
        env = env.env
    return None


def is_random(core: Any, snapshot: Snapshot | None) -> bool:
    """Return whether a few steps of a copy draw random numbers. A step that does so later raises a
    `RandomStepError`.
    """
    own = OwnRandomness()
    points = _points(core, own, snapshot)
    space = core.action_space
    actions = list(range(int(space.start), int(space.start) + int(space.n)))
    if _draws_globally(points, own, actions):
        return True
    rng, token = Rng(0), points.take()
    for _ in range(_PROBES):
        with points.at(token) as env:
            own.seed(rng.bits())
            before = own.place()
            _, _, terminated, truncated, _ = env.step(actions[rng.below(len(actions))])
            if own.place() != before:
                return True
            token = points.take() if terminated or truncated else points.save(env)
    return False


def _draws_globally(points: Clones | Hooks, own: OwnRandomness, actions: list[int]) -> bool:
    """Return whether steps draw from the global generators, which are restored."""
    own.uses_global = True
    with own.guarded():
        for action in actions[:_PROBES]:
            with points.at(points.take()) as env:
                own.seed(action)
                before = global_digest()
                env.step(action)
                if global_digest() != before:
                    return True
    own.uses_global = False
    return False


def _points(core: Any, own: OwnRandomness, snapshot: Snapshot | None) -> Clones | Hooks:
    return Clones(core, own) if snapshot is None else Hooks(core, own, *snapshot)


def _hidden_of(core: Any) -> Callable[[Any, Any], object] | None:
    """Return a function that redraws hidden information, for the environments of Gymnasium that have some."""
    return _second_card if type(core.unwrapped).__name__ == "BlackjackEnv" else None


def _second_card(env: Any, generator: Any) -> None:
    """Redraw the dealer's hidden card: cards are drawn with replacement; ten and the pictures count ten."""
    env.dealer[1] = min(int(generator.integers(1, 14)), 10)
