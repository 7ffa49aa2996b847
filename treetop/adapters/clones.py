"""Copies of an environment for a search to step. No copy shares random numbers with the original, so the search cannot
foresee them.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from treetop.errors import ConfigError
from treetop.search.problems.failing import ProblemError

_SHARED = (
    "action_space",
    "observation_space",
    "spec",
    "P",
    "metadata",
)  # objects that no step changes and that are expensive to copy
_WINDOWS = ("screen", "window", "window_surface", "clock", "surf", "viewer", "renderer", "mujoco_renderer")
_MOST_OBJECTS = 20_000  # objects of an environment that are searched for generators
_WORD = (1 << 64) - 1
_ATOMS = frozenset(
    {int, float, bool, str, bytes, type(None), complex, np.float64, np.float32, np.int64, np.int32, np.bool_}
)


class RandomStepError(ProblemError):
    """A step has drawn random numbers although all steps were taken to be deterministic: pass stochastic=True.

    >>> import gymnasium
    >>> from treetop.adapters import GymProblem
    >>> env = gymnasium.make("Blackjack-v1")
    >>> seen = env.reset(seed=1)
    >>> problem = GymProblem(env, stochastic=False)
    >>> problem.step(problem.initial(), 1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    treetop.adapters.clones.RandomStepError: a step of Blackjack-v1 draws random numbers, ...: pass stochastic=True
    """


class OwnRandomness:
    """The random numbers of all copies: one generator of each kind, reseeded before every step."""

    def __init__(self) -> None:
        self.generator = np.random.Generator(np.random.PCG64(0))
        self._old = np.random.RandomState(0)
        self._plain = random.Random(0)
        self.has_other = False
        """Whether an environment uses more than the generator that Gymnasium gives it."""
        self.uses_global = False
        """Whether an environment draws from the global generators."""

    def stands_for(self, original: Any) -> Any:
        """The generator that replaces an environment's own."""
        if isinstance(original, np.random.Generator):
            return self.generator
        self.has_other = True
        return self._old if isinstance(original, np.random.RandomState) else self._plain

    @staticmethod
    def is_one(value: Any) -> bool:
        """Whether anything draws random numbers."""
        return isinstance(value, (np.random.Generator, np.random.RandomState, random.Random))

    def seed(self, bits: int) -> None:
        """Reseed all generators."""
        word = bits & _WORD
        self.generator.bit_generator.state = {
            "bit_generator": "PCG64", "state": {"state": (word << 64) | (word ^ 0x5DEECE66D), "inc": (word << 1) | 1},
            "has_uint32": 0, "uinteger": 0,
        }  # fmt: skip
        if self.has_other:
            self._old.seed(word & 0xFFFFFFFF)
            self._plain.seed(word)
        if self.uses_global:
            np.random.seed(word & 0xFFFFFFFF)  # noqa: NPY002 - restored afterwards
            random.seed(word)

    def place(self) -> Any:
        """Return the states of all generators: equal states mean that nothing was drawn."""
        state = self.generator.bit_generator.state
        place = (state["state"]["state"], state["has_uint32"])
        if not self.has_other:
            return place
        return (*place, *_place_of(self._old), self._plain.getstate())

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Restore the global generators after copies have drawn from them."""
        if not self.uses_global:
            yield
            return
        before = global_place()
        try:
            yield
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])  # noqa: NPY002


def _place_of(generator: np.random.RandomState) -> tuple[Any, ...]:
    state: Any = generator.get_state()
    return (state[1].tobytes(), state[2])


def global_place() -> tuple[Any, Any]:
    """Return the states of the global generators."""
    return random.getstate(), np.random.get_state()  # noqa: NPY002


def global_digest() -> tuple[Any, ...]:
    """Return the same in a form that can be compared."""
    plain, old = global_place()
    return (plain, old[1].tobytes(), old[2])


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
                if name in _SHARED or is_for_people(name, value):
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
    """Snapshots by the caller's own functions. The environment itself is stepped, and restored each time."""

    def __init__(
        self, env: Any, own: OwnRandomness, save: Callable[[Any], Any], restore: Callable[[Any, Any], object]
    ) -> None:
        self.own, self._env, self._save, self._restore = own, env, save, restore

    def take(self) -> Any:
        """Return the present state of the environment."""
        return self._save(self._env)

    @contextmanager
    def at(self, token: Any) -> Iterator[Any]:
        """Return the environment, restored to a snapshot."""
        inner = self._env.unwrapped
        before, generator = self._save(self._env), getattr(inner, "np_random", None)
        self._restore(self._env, token)
        if generator is not None:
            inner.np_random = self.own.generator
        try:
            yield self._env
        finally:
            self._restore(self._env, before)
            if generator is not None:
                inner.np_random = generator

    def save(self, env: Any) -> Any:
        """Return a snapshot of an environment that `at` returned."""
        return self._save(env)


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
            waiting.extend(inside for name, inside in vars(value).items() if name not in _SHARED)
    return found


def is_for_people(name: str, value: Any) -> bool:
    """Return whether an object is for display only: windows, clocks, pictures."""
    return name in _WINDOWS or type(value).__module__.partition(".")[0] == "pygame"
