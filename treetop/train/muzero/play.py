"""Episodes of an environment, played by searches over a learned model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treetop.adapters.gym_copies import Copies
from treetop.search.presets import gumbel
from treetop.stats import Interval, mean_interval
from treetop.train.muzero.network import Network
from treetop.train.muzero.options import MuZeroOptions
from treetop.train.muzero.problem import LatentSearches
from treetop.train.muzero.replay import TERMINATED, TRUNCATED, Steps


class Playing:
    """Copies of an environment that are played for training: searches with noise, and their steps in a replay."""

    def __init__(self, copies: Copies, network: Network, options: MuZeroOptions, seed: int) -> None:
        self._copies, self._options = copies, options
        config = gumbel(completed_scale=options.completed_scale)
        self._searches = LatentSearches(network, config, slots=len(copies), simulations=options.simulations, seed=seed)
        self._rng = np.random.default_rng(seed)
        self._returns = np.zeros(len(copies))
        self._network = network
        self._next = len(copies)  # the number of the next episode

    def use(self, network: Network) -> None:
        """Search over other weights from now on."""
        self._network = network
        self._searches.use(network)

    def step(self, replay: Steps, *, at_random: bool) -> list[float]:
        """Take a step in each copy; return the returns of the episodes that have ended."""
        copies, seen = self._copies, self._copies.observations.copy()
        count, actions = len(copies), self._copies.actions
        if at_random:
            policies = np.full((count, actions), 1.0 / actions)
            values = self._network.values(seen)
            chosen = self._rng.integers(actions, size=count)
        else:
            found = self._searches.run(seen)
            policies, values, chosen = found.target, found.values[:, 0], found.actions
        rewards, ends, ended = np.zeros(count), np.zeros(count, np.int8), list[float]()
        for index, action in enumerate(chosen.tolist()):
            observation, rewards[index], terminated, truncated = copies.step(index, action)
            self._returns[index] += rewards[index]
            if terminated or truncated:
                ends[index] = TERMINATED if terminated else TRUNCATED
                ended.append(float(self._returns[index]))
                self._returns[index] = 0.0
                observation = copies.reset(index, self._next)
                self._next += 1
            copies.observations[index] = observation
        replay.add(observations=seen, actions=chosen, rewards=rewards, ends=ends, policies=policies, values=values)
        return ended

    def reanalyse(self, replay: Steps) -> None:
        """Search steps of a random moment again, and replace their policies and values."""
        moment = int(self._rng.integers(len(replay)))
        found = self._searches.run(replay["observations"][moment])
        replay["policies"][moment], replay["values"][moment] = found.target, found.values[:, 0]


class MuZeroPolicy:
    """A policy for an environment: a search over the learned model, without noise. `MuZeroRun.policy` returns one.

    >>> import tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     policy = tt.train.muzero("CartPole-v1", out=f"{folder}/run", steps=64).policy()
    ...     policy([0.0, 0.0, 0.1, 0.0]) in (0, 1)
    True
    """

    def __init__(self, copies: Copies, network: Network, options: MuZeroOptions) -> None:
        self._copies, self._searches = copies, _without_noise(network, options, slots=1, seed=options.seed)

    def __call__(self, observation: Any) -> int:
        """Return the action to take after an observation of the environment."""
        flat = self._copies.flat(observation)
        return int(self._searches.run(flat[None]).actions[0]) + self._copies.first_action


@dataclass(frozen=True)
class Episodes:
    """Episodes that were played to measure a model.

    >>> Episodes((1.0, 3.0), (10, 20)).mean
    2.0
    """

    returns: tuple[float, ...]
    """The total reward of each episode, not discounted."""
    lengths: tuple[int, ...]
    """The number of steps of each."""

    @property
    def mean(self) -> float:
        """The mean return."""
        return float(np.mean(self.returns))

    @property
    def interval(self) -> Interval:
        """The mean return with its 95% interval."""
        return mean_interval(self.returns)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"episodes": len(self.returns), **self.interval.to_dict(), "returns": list(self.returns)}


def play_episodes(copies: Copies, network: Network, options: MuZeroOptions, episodes: int, seed: int) -> Episodes:
    """Play episodes, each in some copy, by searches without noise; return what they have reached."""
    count = len(copies)
    searches = _without_noise(network, options, slots=count, seed=seed)
    returns, lengths = np.zeros(episodes), np.zeros(episodes, np.int64)
    playing = list(range(count))  # the number of the episode in each copy; beyond the last one: none
    begun = count
    while any(episode < episodes for episode in playing):
        for index, action in enumerate(searches.run(copies.observations).actions.tolist()):
            episode = playing[index]
            if episode >= episodes:
                continue
            copies.observations[index], reward, terminated, truncated = copies.step(index, action)
            returns[episode] += reward
            lengths[episode] += 1
            if terminated or truncated:
                playing[index] = begun
                copies.observations[index] = copies.reset(index, begun)
                begun += 1
    return Episodes(tuple(returns.tolist()), tuple(lengths.tolist()))


def _without_noise(network: Network, options: MuZeroOptions, *, slots: int, seed: int) -> LatentSearches:
    return LatentSearches(network, gumbel(gumbel_scale=0.0), slots=slots, simulations=options.simulations, seed=seed)
