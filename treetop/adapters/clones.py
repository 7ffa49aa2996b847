"""Copies of an environment for a search to step. No copy shares random numbers with the original."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from treetop.adapters.randomness import OwnRandomness
from treetop.errors import ConfigError

SHARED = (
    "action_space", "observation_space", "spec", "P", "metadata",
    "_action_space", "_observation_space", "_cached_spec", "_metadata", "_saved_kwargs",
)  # fmt: skip
"""Attributes of environments and wrappers that no step changes and that are expensive to copy."""
_WINDOWS = ("screen", "window", "window_surface", "clock", "surf", "viewer", "renderer", "mujoco_renderer")
_MOST_OBJECTS = 20_000  # objects of an environment that are searched for generators
_ATOMS = frozenset(
    {int, float, bool, str, bytes, type(None), complex, np.float64, np.float32, np.int64, np.int32, np.bool_}
)


class Clones:
    """Snapshots by copying. Generators, spaces and windows are shared by all copies; anything else that cannot be
    copied is an error.

    An environment is copied attribute by attribute: its own `__deepcopy__` often makes a new environment instead.
    """

    def __init__(self, env: Any, own: OwnRandomness) -> None:
        self.own = own
        self._kept: list[Any] = []  # their ids are unique as long as they live
        first: dict[int, Any] = {}
        for layer in layers(env):
            for name, value in vars(layer).items():
                if name in SHARED or is_for_people(name, value):
                    first[id(value)] = value
                    self._kept.append(value)
        for generator in find_generators(env):
            first[id(generator)] = own.stands_for(generator)
            self._kept.append(generator)
        self._memo = {id(value): value for value in [*first.values(), own.generator] if value is not None}
        self.root = self._twin(env, first)
        inner = self.root.unwrapped
        if getattr(inner, "render_mode", None) is not None:
            inner.render_mode = None
        if isinstance(getattr(type(inner), "np_random", None), property):
            inner.np_random = own.generator

    def take(self) -> Any:
        """Return the present state of the environment."""
        return self.root

    @contextmanager
    def at(self, token: Any) -> Iterator[Any]:
        """Return an environment in the state of a snapshot."""
        yield self.copy(token)

    def copy(self, env: Any) -> Any:
        """Return a copy of a copy."""
        return self._twin(env, dict(self._memo))

    def _twin(self, env: Any, memo: dict[int, Any]) -> Any:
        if hasattr(type(env), "__deepcopy__"):
            return copy.deepcopy(env, memo)
        twin = memo[id(env)] = object.__new__(type(env))
        inside = vars(twin)
        for name, value in vars(env).items():
            if type(value) in _ATOMS:  # most of an environment, and slow to check one by one
                inside[name] = value
            elif name == "env":
                inside[name] = self._twin(value, memo)
            else:
                try:
                    inside[name] = copy.deepcopy(value, memo)
                except Exception as error:
                    raise ConfigError(
                        f"{type(env).__name__}.{name} cannot be copied ({error}): "
                        "give functions that save and restore it, as snapshot="
                    ) from error
        return twin

    def save(self, env: Any) -> Any:
        """Return a snapshot of an environment that `at` returned."""
        return env


class Hooks:
    """Snapshots by the caller's own functions. The environment itself is stepped, and restored each time.

    A snapshot is the caller's token and the environment as it is stepped, with wrappers around it. `renew` returns the
    same with copies of these wrappers.
    """

    def __init__(
        self,
        env: Any,
        own: OwnRandomness,
        save: Callable[[Any], Any],
        restore: Callable[[Any, Any], object],
        *,
        wrapped: Any,
        renew: Callable[[Any], Any],
    ) -> None:
        self.own, self._env, self._save, self._restore = own, env, save, restore
        self._wrapped, self._renew = wrapped, renew

    def take(self) -> Any:
        """Return the present state of the environment."""
        return self.save(self._wrapped)

    @contextmanager
    def at(self, token: Any) -> Iterator[Any]:
        """Return the environment, restored to a snapshot."""
        inner = self._env.unwrapped
        before, generator = self._save(self._env), getattr(inner, "np_random", None)
        self._restore(self._env, token[0])
        if generator is not None:
            inner.np_random = self.own.generator
        try:
            yield self._renew(token[1])
        finally:
            self._restore(self._env, before)
            if generator is not None:
                inner.np_random = generator

    def save(self, env: Any) -> Any:
        """Return a snapshot of an environment that `at` returned."""
        return self._save(self._env), env


def layers(env: Any) -> list[Any]:
    """Yield an environment and everything it wraps, from the outermost."""
    found = [env]
    while getattr(found[-1], "env", None) is not None:
        found.append(found[-1].env)
    return found


def find_generators(root: Any) -> list[Any]:
    """Yield all random generators that an object holds, at any depth."""
    found, seen, waiting = [], set[int](), [root]
    while waiting and len(seen) < _MOST_OBJECTS:
        value = waiting.pop()
        if id(value) in seen or isinstance(
            value, (str, bytes, int, float, np.ndarray, type, ModuleType, FunctionType, MethodType)
        ):
            continue
        seen.add(id(value))
        if OwnRandomness.is_one(value):
            found.append(value)
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, (list, tuple, set, frozenset)):
            waiting.extend(value)
        elif hasattr(value, "__dict__"):
            waiting.extend(inside for name, inside in vars(value).items() if name not in SHARED)
    return found


def is_for_people(name: str, value: Any) -> bool:
    """Return whether an object is for display only: windows, clocks, pictures."""
    return name in _WINDOWS or type(value).__module__.partition(".")[0] == "pygame"
