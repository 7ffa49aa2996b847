"""The steps of several copies of an environment, in the order in which they were made, and batches of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import SaveError

Floats = npt.NDArray[np.float32]
GOES_ON, TERMINATED, TRUNCATED = 0, 1, 2
"""What a step did: the episode goes on, it has ended, or it was cut off."""
_ROWS = 8192  # observations that a network evaluates at once


@dataclass(frozen=True)
class Unrolled:
    """A batch: sequences of steps with their targets. Weights are 0 where there is nothing to learn."""

    observations: Floats
    """The first observation of each sequence: (batch, observation)."""
    actions: npt.NDArray[np.int64]
    """(batch, unroll)."""
    rewards: Floats
    """The reward after each action: (batch, unroll)."""
    reward_weights: Floats
    values: Floats
    """The value of each state: (batch, unroll + 1)."""
    value_weights: Floats
    policies: Floats
    """The improved policy in each state: (batch, unroll + 1, actions)."""
    policy_weights: Floats


class Steps:
    """The newest steps: arrays with a row for each moment, and in it one entry for each copy of the environment."""

    def __init__(self, copies: int, observation: int, actions: int, window: int) -> None:
        self._most = max(2, -(-window // copies))
        shape = (2 * self._most, copies)
        self._arrays: dict[str, npt.NDArray[Any]] = {
            "observations": np.zeros((*shape, observation), np.float32),
            "actions": np.zeros(shape, np.int32),
            "rewards": np.zeros(shape, np.float32),
            "ends": np.zeros(shape, np.int8),
            "policies": np.zeros((*shape, actions), np.float32),
            "values": np.zeros(shape, np.float32),  # those of the search, later those of the network
        }
        self._size = 0
        self._targets = np.zeros((0, copies), np.float32)

    def __len__(self) -> int:
        """Return the number of moments."""
        return min(self._size, self._most)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return an array of the newest moments: (moments, copies, ...)."""
        return self._arrays[name][self._size - len(self) : self._size]

    def add(self, **rows: npt.NDArray[Any]) -> None:
        """Add a moment, given as a row of each array."""
        if self._size == 2 * self._most:  # the older half is not used any more
            for array in self._arrays.values():
                array[: self._most] = array[self._most :]
            self._size = self._most
        for name, array in self._arrays.items():
            array[self._size] = rows[name]
        self._size += 1

    def refresh(self, value_of: Callable[[Floats], npt.NDArray[Any]]) -> None:
        """Replace all values by those of a newer network, a function of observations."""
        observations, values = self["observations"], self["values"]
        rows = max(1, _ROWS // values.shape[1])
        for first in range(0, len(self), rows):
            part = observations[first : first + rows]
            values[first : first + rows] = value_of(part.reshape(-1, part.shape[2])).reshape(part.shape[:2])

    def set_targets(self, discount: float, bootstrap: int) -> None:
        """Compute the targets of all values: `bootstrap` rewards, then the value of the state that follows.

        The newest moments have fewer rewards. A terminated episode has no further value. In a truncated one the last
        state has its own value as the target, so that the cut is not taken for an end.
        """
        rewards, ends, values = self["rewards"][:-1], self["ends"][:-1], self["values"]
        found = values.copy()
        for _ in range(bootstrap):
            ahead = rewards + np.float32(discount) * np.where(ends == TERMINATED, np.float32(0.0), found[1:])
            found[:-1] = np.where(ends == TRUNCATED, values[:-1], ahead)
        self._targets = found

    def draw(self, rng: np.random.Generator, size: int, unroll: int) -> Unrolled:
        """Return sequences that begin at random steps, after `set_targets`."""
        moments, copies = self._targets.shape
        first = rng.integers(moments - unroll, size=size)
        copy = rng.integers(copies, size=size)[:, None]
        places = first[:, None] + np.arange(unroll + 1)  # [batch, unroll + 1]
        ends = self["ends"][places[:, :-1], copy]
        none = np.zeros((size, 1), np.bool_)
        over = np.hstack([none, np.logical_or.accumulate(ends != GOES_ON, axis=1)])  # before each state
        cut = np.hstack([none, np.logical_or.accumulate(_is_first(ends, TRUNCATED), axis=1)])
        over_before, cut_before = over[:, :-1], cut[:, :-1]
        return Unrolled(
            self["observations"][first, copy[:, 0]],
            self["actions"][places[:, :-1], copy].astype(np.int64),
            np.where(over_before, np.float32(0.0), self["rewards"][places[:, :-1], copy]),
            (~cut_before).astype(np.float32),
            np.where(over, np.float32(0.0), self._targets[places, copy]),
            (~cut).astype(np.float32),
            self["policies"][places, copy],
            (~over).astype(np.float32),
        )

    # Saving.

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the newest moments, as arrays."""
        return {name: self[name].copy() for name in self._arrays}

    def restore(self, state: dict[str, npt.NDArray[Any]], source: str) -> None:
        """Take moments from a file. Episodes that were not over are cut off at their last step."""
        count = len(state["ends"]) if "ends" in state and state["ends"].ndim else 0
        if sorted(state) != sorted(self._arrays) or count > self._most:
            raise SaveError(f"{source} holds no steps of this run")
        for name, array in self._arrays.items():
            given = state[name]
            if given.shape != (count, *array.shape[1:]) or given.dtype != array.dtype or not np.isfinite(given).all():
                raise SaveError(f"{source}: {name} are {given.dtype} {given.shape}, or not finite")
            array[:count] = given
        self._size = count
        if count:
            last = self._arrays["ends"][count - 1]
            last[last == GOES_ON] = TRUNCATED


def _is_first(ends: npt.NDArray[np.int8], kind: int) -> npt.NDArray[np.bool_]:
    """Return where an episode ends in a certain way, unless another one in the same sequence has ended before."""
    before = np.cumsum(ends != GOES_ON, axis=1) - (ends != GOES_ON)
    return np.asarray((ends == kind) & (before == 0))
