"""The table of transitions of some environments: P[state][action] is a list of (probability, next state, reward,
ends).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from treetop.compiler.rng import Rng
from treetop.types import FloatArray

Way = tuple[float, int, float, bool]
"""The probability, the next state, the reward, and whether the episode ends."""


class Table:
    """A table of transitions, with equal transitions merged."""

    def __init__(self, env: Any) -> None:
        self.ways: list[list[list[Way]]] = [
            [_merged(env.P[state][action]) for action in sorted(env.P[state])] for state in sorted(env.P)
        ]
        self.is_random = any(len(ways) > 1 for actions in self.ways for ways in actions)
        self._values: dict[float, list[FloatArray]] = {}  # by discount and steps: a value for each state and action

    @classmethod
    def of(cls, env: Any) -> Table:
        """Return the table of an environment, made once."""
        known = _KNOWN.get(env)
        if known is None or known[0] is not env.P:
            known = _KNOWN[env] = (env.P, cls(env))
        return known[1]

    @staticmethod
    def fits(env: Any) -> bool:
        """Return whether an environment has a complete table: states are numbered, and nothing is drawn beside it."""
        table, state = getattr(env, "P", None), getattr(env, "s", None)
        if (
            not isinstance(table, dict)
            or not isinstance(state, (int, np.integer))
            or getattr(env, "fickle_passenger", False)
        ):
            return False
        return sorted(table) == list(range(len(table))) and state in table

    @cached_property
    def ends(self) -> frozenset[int]:
        """The states in which every way ends the episode that leads there."""
        reached: dict[bool, set[int]] = {False: set(), True: set()}
        for _, target, _, over in (way for actions in self.ways for ways in actions for way in ways):
            reached[over].add(target)
        return frozenset(reached[True] - reached[False])

    @staticmethod
    def draw(ways: list[Way], rng: Rng) -> Way:
        """Draw one of several transitions."""
        if len(ways) == 1:
            return ways[0]
        left = rng.random()
        for way in ways:
            left -= way[0]
            if left < 0.0:
                return way
        return ways[-1]

    def values(self, state: int, steps: int, discount: float) -> FloatArray:
        """Return the value of each action with the best play of so many remaining steps: backward induction, kept for
        the next call.
        """
        known = self._values.setdefault(discount, [np.zeros((len(self.ways), 1))])
        if len(known) <= steps:
            chances, targets, rewards, goes_on = self._arrays()
            while len(known) <= steps:
                known.append((chances * (rewards + discount * goes_on * known[-1].max(axis=1)[targets])).sum(axis=2))
        return np.asarray(known[steps][state])

    def _arrays(self) -> tuple[FloatArray, Any, FloatArray, FloatArray]:
        shape = (len(self.ways), len(self.ways[0]), max(len(ways) for actions in self.ways for ways in actions))
        chances, targets, rewards, goes_on = (
            np.zeros(shape),
            np.zeros(shape, np.int64),
            np.zeros(shape),
            np.zeros(shape),
        )
        for state, actions in enumerate(self.ways):
            for action, ways in enumerate(actions):
                for index, (chance, target, reward, over) in enumerate(ways):
                    place = (state, action, index)
                    chances[place], targets[place], rewards[place], goes_on[place] = (
                        chance,
                        target,
                        reward,
                        float(not over),
                    )
        return chances, targets, rewards, goes_on


_KNOWN: WeakKeyDictionary[Any, tuple[Any, Table]] = WeakKeyDictionary()


def _merged(ways: list[tuple[Any, ...]]) -> list[Way]:
    found: dict[tuple[int, float, bool], float] = {}
    for chance, target, reward, over in ways:
        if chance > 0:
            key = (int(target), float(reward), bool(over))
            found[key] = found.get(key, 0.0) + float(chance)
    return [(chance, *key) for key, chance in found.items()]
