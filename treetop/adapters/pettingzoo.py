"""PettingZoo environments in which agents act in turn, as problems; and a search as a policy for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop import checks
from treetop.adapters.clones import Clones, layers
from treetop.adapters.options import SearchPolicy
from treetop.adapters.packages import load
from treetop.adapters.randomness import OwnRandomness
from treetop.errors import ConfigError
from treetop.search.problems.watch import is_same
from treetop.search.search import Search

_aec: Any = load("pettingzoo.utils.env", "gym").AECEnv
_parallel: Any = load("pettingzoo.utils.env", "gym").ParallelEnv

_PASSIVE = (
    "OrderEnforcingWrapper",
    "AssertOutOfBoundsWrapper",
    "TerminateIllegalWrapper",
    "CaptureStdoutWrapper",
    "ClipOutOfBoundsWrapper",
)
_WATCHED = 16  # steps of a problem that are watched for chance, at first


class PettingZooState:
    """A copy of an environment, what each agent has received since the search's root, and the number of steps.

    >>> from pettingzoo.classic.tictactoe import tictactoe
    >>> env = tictactoe.env()
    >>> env.reset(seed=1)
    >>> state = PettingZooProblem(env).initial()
    >>> state.time, state.received
    (0, [0.0, 0.0])
    """

    __slots__ = ("env", "received", "time")

    def __init__(self, env: Any, received: list[float], time: int) -> None:
        self.env, self.received, self.time = env, received, time

    def __repr__(self) -> str:
        return f"<{self.env} after {self.time} steps, {self.env.agent_selection} to act>"


class PettingZooProblem:
    """A PettingZoo environment (AEC) in its present state as a problem to search. The environment itself is not
    stepped.

    Actions are those of the `action_mask` in the observation or the info; without one, all of a Discrete space. Player
    n is the n-th of `possible_agents`. Immediate rewards are added up and given at the end.

    It is for deterministic games of perfect information: a step that draws random numbers raises a `RandomStepError`,
    and the search knows everything that a copy knows. `reward_range` is the range of an agent's whole return;
    `zero_sum` is assumed for two agents with a symmetric range.

    >>> from pettingzoo.classic.tictactoe import tictactoe
    >>> import treetop as tt
    >>> env = tictactoe.env()
    >>> env.reset(seed=1)
    >>> tt.Search(PettingZooProblem(env), seed=1).run(tt.Limit(simulations=50)).action in range(9)
    True
    """

    def __init__(
        self,
        env: Any,
        *,
        reward_range: tuple[float, float] = (-1.0, 1.0),
        zero_sum: bool | None = None,
        horizon: int = 10_000,
    ) -> None:
        check_kind(env)
        if not getattr(env.unwrapped, "agents", None) or any(
            vars(layer).get("_has_reset") is False for layer in layers(env)
        ):
            raise ConfigError(f"{env} was not reset yet, or is over: there is nothing to search from")
        checks.whole("horizon", horizon, 1)
        core = env
        while hasattr(core, "env") and type(core).__name__ in _PASSIVE:
            core = core.env
        self.name, self.reward_range, self.max_length = str(env), reward_range, horizon
        self._agents = list(env.possible_agents)
        self._numbers = {agent: number for number, agent in enumerate(self._agents)}
        self.num_players = len(self._agents)
        if zero_sum is not None:
            self.zero_sum = zero_sum
        self._own, self._watched = OwnRandomness("this adapter cannot search chance, see docs/adapters.md"), _WATCHED
        self._clones = Clones(core, self._own)

    def initial(self) -> PettingZooState:
        """Return the present state of the environment."""
        return self._past_the_dead(PettingZooState(self._clones.copy(self._clones.root), [0.0] * self.num_players, 0))

    def copy(self, state: PettingZooState) -> PettingZooState:
        """Return a copy of a state."""
        return PettingZooState(self._clones.copy(state.env), list(state.received), state.time)

    def player(self, state: PettingZooState) -> int:
        """Return the number of the agent to act."""
        return self._numbers[state.env.agent_selection]

    def actions(self, state: PettingZooState) -> list[int]:
        """Return the actions that the mask allows."""
        env, agent = state.env, state.env.agent_selection
        seen = env.observe(agent)
        mask = seen.get("action_mask") if isinstance(seen, dict) else None
        if mask is None:
            mask = env.infos[agent].get("action_mask")
        if mask is not None:
            return [int(action) for action in np.flatnonzero(mask)]
        space = env.action_space(agent)
        if not hasattr(space, "n"):
            raise ConfigError(
                f"a search chooses between single actions: the action space must be Discrete, not {space}"
            )
        return list(range(int(getattr(space, "start", 0)), int(getattr(space, "start", 0)) + int(space.n)))

    def step(self, state: PettingZooState, action: int) -> PettingZooState:
        """Apply an action to the given state."""
        self._watched -= 1
        twin = self.copy(state) if self._watched >= 0 else None
        self._take(state, action)
        if twin is not None and not is_same(one := _seen(self._take(twin, action)), other := _seen(state)):
            raise self._own.differing(self.name, one, other)
        return state

    def _take(self, state: PettingZooState, action: int) -> PettingZooState:
        self._own.seed(0)
        with self._own.nothing_drawn(self.name, watched=self._watched >= 0):
            self._act(state, action)
            self._past_the_dead(state)
        state.time += 1
        return state

    def _act(self, state: PettingZooState, action: int | None) -> None:
        state.env.step(action)
        for agent, reward in state.env.rewards.items():
            state.received[self._numbers[agent]] += float(reward)

    def _past_the_dead(self, state: PettingZooState) -> PettingZooState:
        """Let finished agents take their last step, as long as others are left."""
        env = state.env
        while not self.is_terminal(state) and _is_done(env, env.agent_selection):
            self._act(state, None)
        return state

    def is_terminal(self, state: PettingZooState) -> bool:
        """Return whether it is over for all agents, or the horizon is reached."""
        env = state.env
        return state.time >= self.max_length or all(_is_done(env, agent) for agent in env.agents)

    def rewards(self, state: PettingZooState) -> list[float]:
        """Return what each agent has received in all."""
        return state.received

    def render(self, state: PettingZooState) -> str:
        """Return the state as one line."""
        return repr(state)


class PettingZooPolicy(SearchPolicy):
    """A policy for loops with an environment: `policy(env)` searches for the agent to act and returns its action, or
    None if it is over for that agent.

    `limit` is the budget of a step, `config` and `evaluator` are those of the search, the other options those of
    `PettingZooProblem`.

    >>> from pettingzoo.classic.tictactoe import tictactoe
    >>> import treetop as tt
    >>> env = tictactoe.env()
    >>> env.reset(seed=1)
    >>> PettingZooPolicy(tt.Limit(simulations=50), seed=1)(env) in range(9)
    True
    """

    problem = PettingZooProblem

    def __call__(self, env: Any) -> int | None:
        """Return the action of the agent to act."""
        check_kind(env)
        if _is_done(env.unwrapped, env.agent_selection):
            return None
        problem = PettingZooProblem(env, **self.options)
        search = Search(problem, self.config, evaluator=self.evaluator, seed=self._next_seed())
        self.last_result = search.run(self.limit)
        return int(self.last_result.action)


def check_kind(env: Any) -> None:
    """Raise ConfigError unless agents act in turn in an environment."""
    if isinstance(env, _aec):
        return
    if isinstance(env, _parallel):
        raise ConfigError(
            f"{env} is a parallel environment, in which all agents act at the same time: use its AEC environment, "
            "env() instead of parallel_env(), or pettingzoo.utils.parallel_to_aec(env)"
        )
    raise ConfigError(f"env must be a PettingZoo environment in which agents act in turn (AEC), not {env!r}")


def _seen(state: PettingZooState) -> tuple[Any, ...]:
    """Return what the next agent observes, and what all have received."""
    agent = state.env.agent_selection
    return agent, state.env.observe(agent), state.received


def _is_done(env: Any, agent: str) -> bool:
    return bool(env.terminations.get(agent, True) or env.truncations.get(agent, True))
