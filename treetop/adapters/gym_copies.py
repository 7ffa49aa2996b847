"""Several copies of a Gymnasium environment, stepped one after the other; their observations are flat vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.adapters.gym_probes import five_parts
from treetop.adapters.packages import load
from treetop.compiler.rng import mix
from treetop.errors import ConfigError

_LARGEST = 4096  # features of an observation
Floats = npt.NDArray[np.float32]


class Copies:
    """Copies of an environment with discrete actions and observations that are a vector, or whole numbers.

    Actions are counted from 0. Whole numbers of an observation become one feature for each of their values. An episode
    that ends is followed by a new one; `seed` makes them the same again.
    """

    def __init__(self, env: str | Callable[[], Any], count: int, seed: int) -> None:
        self._gym = load("gymnasium", "gym")
        self.name, make = _maker(self._gym, env)
        self._envs = [make()]
        self._check()
        self._envs += [make() for _ in range(count - 1)]
        first = self._envs[0]
        self._space = first.observation_space
        self.first_action = int(first.action_space.start)
        """The number that the environment gives its first action."""
        self.actions = int(first.action_space.n)
        """The number of actions."""
        self.features = int(self._gym.spaces.flatdim(self._space))
        """The length of an observation."""
        self.continuous = np.full(self.features, isinstance(self._space, self._gym.spaces.Box))
        """Which features of an observation are numbers, not marks of whole numbers."""
        self._seed = seed
        self.observations = np.array([self.reset(index, index) for index in range(count)])  # [copies, features]
        """The present observation of each copy."""

    def __len__(self) -> int:
        return len(self._envs)

    def _check(self) -> None:
        spaces, env = self._gym.spaces, self._envs[0]
        if not isinstance(env, self._gym.Env):
            raise ConfigError(f"env must be the name of a Gymnasium environment or a function that makes one; {env!r}")
        if not isinstance(env.action_space, spaces.Discrete):
            raise ConfigError(
                f"{self.name} has the action space {env.action_space}: a search chooses between single actions, so it "
                "must be Discrete. Wrap the environment so that it has a few actions to choose from"
            )
        space = env.observation_space
        flat = isinstance(space, spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary) or (
            isinstance(space, spaces.Box) and len(space.shape) <= 1
        )
        if not flat or spaces.flatdim(space) > _LARGEST:
            raise ConfigError(
                f"{self.name} has the observation space {str(space)[:200]}: it must be a vector (Box with one axis) or "
                f"whole numbers, of at most {_LARGEST:,} features, and no image. Wrap the environment: "
                "gymnasium.wrappers.FlattenObservation makes vectors of small arrays"
            )

    def reset(self, index: int, episode: int) -> Floats:
        """Begin the episode with this number in a copy; return the first observation."""
        observation, _ = self._envs[index].reset(seed=mix(self._seed * 1_000_003 + episode) >> 33)
        return self.flat(observation)

    def step(self, index: int, action: int) -> tuple[Floats, float, bool, bool]:
        """Step a copy; return the observation, the reward, and whether the episode was terminated or truncated."""
        env = self._envs[index]
        observation, reward, terminated, truncated, _ = five_parts(env.step(action + self.first_action), env)
        flat, number = self.flat(observation), float(reward)
        if not np.isfinite(number) or not np.isfinite(flat).all():
            raise ConfigError(f"{self.name} returned a reward or an observation that is not finite: {reward}, {flat}")
        return flat, number, bool(terminated), bool(truncated)

    def flat(self, observation: Any) -> Floats:
        """Return an observation as a vector."""
        return np.asarray(self._gym.spaces.flatten(self._space, observation), np.float32).reshape(-1)

    def close(self) -> None:
        """Close all copies."""
        for env in self._envs:
            env.close()


def _maker(gym: Any, env: str | Callable[[], Any]) -> tuple[str, Callable[[], Any]]:
    """Return the name of an environment, and a function that makes one."""
    if callable(env):
        return getattr(env, "__name__", type(env).__name__), env
    if not isinstance(env, str):
        raise ConfigError(
            f"env must be the name of a Gymnasium environment or a function that makes one, not {env!r:.200}"
        )

    def make() -> Any:
        try:
            return gym.make(env)
        except (gym.error.Error, ImportError) as error:
            raise ConfigError(f"Gymnasium cannot make the environment {env!r}: {error}") from error

    return env, make
