"""Gymnasium environments as problems, and a search as a policy for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from treetop import checks
from treetop.adapters.clones import layers
from treetop.adapters.gym_layers import is_over, peel, time_left, without_passive
from treetop.adapters.gym_probes import (
    UNKNOWN,
    Snapshot,
    actions_of,
    check_snapshot,
    find_observation,
    five_parts,
    is_random,
    make_points,
    step_twice,
)
from treetop.adapters.options import SearchPolicy, option_names, refuse_unknown
from treetop.adapters.packages import load
from treetop.adapters.randomness import OwnRandomness, RandomStepError
from treetop.adapters.tables import Table
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, TerminalPositionError
from treetop.search.presets import puct, uct
from treetop.search.result import SearchResult
from treetop.search.search import Search
from treetop.types import CHANCE

gymnasium = load("gymnasium", "gym")

_UNKNOWN_RANGE = (-1e6, 1e6)  # wide, so that the rules normalise values by what was seen
_FADING = 0.97  # the discount of a policy whose leaves are evaluated by random actions
_UNLIKELY = 0.02  # the prior of an action that the table knows to be worse, where the best has 1
_CHECKED = ("discount", "horizon", "snapshot", "reward_range")
_WATCHED = 32  # steps and rollouts of a problem that are watched for chance, at first


class GymState:
    """A state of a deterministic environment: a snapshot, the steps since the search's root, the last observation, as
    the environment's wrappers show it, and whether it is over.

    >>> import gymnasium
    >>> env = gymnasium.make("CartPole-v1")
    >>> seen = env.reset(seed=1)
    >>> problem = GymProblem(env)
    >>> state, reward = problem.step(problem.initial(), 1)
    >>> state.time, state.over, state.observation.shape
    (1, False, (4,))
    """

    __slots__ = ("_observation", "over", "time", "token")

    def __init__(self, token: Any, time: int, observation: Any, *, over: bool) -> None:
        self.token, self.time, self._observation, self.over = token, time, observation, over

    @property
    def observation(self) -> Any:
        """The last observation; raise ConfigError at a root whose observation is not known."""
        if self._observation is UNKNOWN:
            raise ConfigError(
                "the present observation of the environment is not known: give it, as GymProblem(env, observation=...) "
                "or policy(env, observation)"
            )
        return self._observation

    def __repr__(self) -> str:
        seen = "an unknown observation" if self._observation is UNKNOWN else repr(self._observation)
        return f"<{'the end ' if self.over else ''}after {self.time} steps: {seen}>"


class GymProblem:
    """A Gymnasium environment in its present state as a problem to search. The environment itself is not stepped.

    The search never knows what the environment will draw: copies have their own random numbers. There are three kinds:

    - An environment with a table of transitions (`P` and `s`: FrozenLake, Taxi, CliffWalking) is searched by that
      table, with the exact outcomes of chance. States are tuples (s, steps since the root, whether it is over).
      `evaluate`, passed to a search as its evaluator, evaluates them by backward induction over the table.
    - One whose steps draw no random numbers is searched over copies of it; states are `GymState`s.
    - Any other is searched open-loop: a node is a sequence of actions, and every simulation plays it again with new
      random numbers. States are tuples of actions.

    `horizon` is the number of steps to look ahead, in the tree and beyond it; a time limit of the environment shortens
    it. A reward after n steps counts `discount` ** n: leave the search's own discount at 1. `stochastic` and `table`
    override what is otherwise detected. `observation` is what the last `reset` or `step` returned, for evaluators;
    without it, it is taken from the environment where that is possible. `reward_range` is the range of the discounted
    total; the default is very wide. `snapshot` is a pair of functions, save(env) and restore(env, token), for
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
        if is_over(env):
            raise TerminalPositionError(f"the episode of {env} is over: reset it")
        core = peel(env)
        found = core is core.unwrapped and Table.fits(core)
        if table and not found:
            raise ConfigError(f"{env} has no complete table of transitions (P and s)")
        if (found if table is None else table) and not stochastic and redraw is None:
            return super().__new__(_ByTable)
        snapshot = options.get("snapshot")
        if snapshot is not None:
            check_snapshot(core, snapshot, str(env), stochastic=stochastic)
        if stochastic is None:
            stochastic = redraw is not None or _hidden_of(core) is not None or is_random(core, snapshot)
        return super().__new__(_OpenLoop if stochastic else _ByCopies)

    def __init__(
        self, env: Any, *, discount: float = 1.0, horizon: int = 100, snapshot: Snapshot | None = None,
        stochastic: bool | None = None,  # noqa: ARG002 - these two have decided in __new__
        table: bool | None = None,  # noqa: ARG002
        redraw: Callable[[Any, Any], object] | None = None, reward_range: tuple[float, float] | None = None,
        observation: Any = None,
    ) -> None:  # fmt: skip
        self.env, self.reward_range = env, _UNKNOWN_RANGE if reward_range is None else reward_range
        self.core = peel(env)
        """The environment without the wrappers that only observe."""
        left = time_left(env)
        self.horizon = horizon if left is None else min(horizon, left)
        self.max_length = 2 * self.horizon + 2
        self.name = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
        self._actions = actions_of(env)
        self._redraw = _hidden_of(self.core) if redraw is None else redraw
        self.set_discount(discount)
        self._set_up(snapshot)
        self._observation = observation

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
        self._own, self._watched = OwnRandomness(), _WATCHED
        self._points = make_points(without_passive(self.env), self._own, snapshot)

    def initial(self) -> GymState:
        if self._observation is None:
            self._observation = find_observation(self._points, self._own, self.env)
        return GymState(self._points.take(), 0, self._observation, over=False)

    def step(self, state: GymState, action: int) -> tuple[GymState, float]:
        if self._is_watched():
            result, token = step_twice(self._points, self._own, state.token, action, self.name)
        else:
            self._own.seed(0)
            with self._points.at(state.token) as env, self._own.nothing_drawn(self.name):
                result = five_parts(env.step(action), env)
                token = self._points.save(env)
        observation, reward, terminated, truncated, _ = result
        following = GymState(token, state.time + 1, observation, over=bool(terminated or truncated))
        return following, float(reward) * self._factors[state.time]

    def _is_watched(self) -> bool:
        self._watched -= 1
        return self._watched >= 0

    def is_terminal(self, state: GymState) -> bool:
        return state.over or state.time >= self.horizon

    def rollout(self, state: GymState, rng: Rng) -> float:
        """Play random actions to the end of the episode or the horizon."""
        actions, count, total = self._actions, len(self._actions), 0.0
        self._own.seed(rng.bits())
        watched = self._is_watched()
        with self._points.at(state.token) as env, self._own.nothing_drawn(self.name, watched=watched):
            step = peel(env).step  # nobody needs the observations
            for time in range(state.time, self.horizon):
                _, reward, terminated, truncated, _ = step(actions[rng.below(count)])
                total += float(reward) * self._factors[time]
                if terminated or truncated:
                    break
        return total


class _OpenLoop(GymProblem):
    """An open-loop problem. States are tuples of actions; each simulation plays them from the root, so its value is
    that of the whole path.
    """

    step_rewards = False

    def _set_up(self, snapshot: Snapshot | None) -> None:
        self._own = OwnRandomness()
        self._own.uses_program = True
        self._points = make_points(self.core, self._own, snapshot)
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
                _, reward, terminated, truncated, _ = five_parts(env.step(action), env)
                total += float(reward) * self._factors[time]
                if terminated or truncated:
                    break
        return total


class GymPolicy(SearchPolicy):
    """A policy for loops with an environment: `policy(env)` searches from its present state and returns the action to
    take.

    `limit` is the budget of a step, `config` and `evaluator` are those of the search, the other options those of
    `GymProblem`. An environment with a table is evaluated by it (`GymProblem.evaluate`) and searched by PUCT, others by
    random actions and UCB1, unless you give them. `evaluator=treetop.Rollout()` asks for random actions there too.
    Random actions say little about the far future, so `discount` is then 0.97 by default, and 1 otherwise.

    Each call searches anew: no tree is kept. `policy(env, observation)` passes on what the environment's last `reset`
    or `step` returned, for evaluators that read `GymState.observation`.

    >>> import gymnasium
    >>> env = gymnasium.make("FrozenLake-v1")
    >>> seen = env.reset(seed=1)
    >>> GymPolicy(seed=1)(env) in range(4)
    True
    """

    problem = GymProblem
    default = "puct() with a table, else uct()"

    _is_random = False

    def _check(self, options: Mapping[str, Any]) -> None:
        if "observation" in options:
            raise ConfigError("each step has its own observation: give it to each call, policy(env, observation)")
        _check_options(**{name: options[name] for name in _CHECKED if name in options})

    def __call__(self, env: Any, observation: Any = None) -> int:
        """Return the action to take in the present state of the environment."""
        seed = self._next_seed()
        try:
            self.last_result = self._search(env, observation, seed)
        except RandomStepError:
            if self.options.get("stochastic") is not None:
                raise
            self._is_random = True  # detected late, and remembered
            self.last_result = self._search(env, observation, seed)
        return int(self.last_result.action)

    def _search(self, env: Any, observation: Any, seed: int) -> SearchResult:
        options = {**self.options, "stochastic": True} if self._is_random else self.options
        problem = GymProblem(env, observation=observation, **options)
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
    observation: Any = None,  # noqa: ARG001
) -> None:
    checks.whole("horizon", horizon, 1)
    checks.number("discount", discount, above=0, high=1)
    if snapshot is not None and (
        not isinstance(snapshot, tuple) or len(snapshot) != 2 or not all(map(callable, snapshot))
    ):
        raise ConfigError(f"snapshot must be a pair of functions, save(env) and restore(env, token), not {snapshot!r}")


def _hidden_of(core: Any) -> Callable[[Any, Any], object] | None:
    """Return a function that redraws hidden information, for the environments of Gymnasium that have some."""
    return _second_card if type(core.unwrapped).__name__ == "BlackjackEnv" else None


def _second_card(env: Any, generator: Any) -> None:
    """Redraw the dealer's hidden card: cards are drawn with replacement; ten and the pictures count ten."""
    env.dealer[1] = min(int(generator.integers(1, 14)), 10)
