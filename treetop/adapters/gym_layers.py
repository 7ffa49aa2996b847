"""The layers of a Gymnasium environment: its wrappers, its time limit, and the end of its episode."""

from __future__ import annotations

import copy
from typing import Any

from treetop.adapters.clones import SHARED, layers
from treetop.adapters.packages import load
from treetop.adapters.tables import Table

gymnasium = load("gymnasium", "gym")

_PASSIVE = (
    "TimeLimit",
    "OrderEnforcing",
    "PassiveEnvChecker",
    "RecordEpisodeStatistics",
    "RecordVideo",
    "HumanRendering",
    "RenderCollection",
    "AddRenderObservation",  # copies have no pictures
)


def peel(env: Any) -> Any:
    """Return an environment without the outer wrappers that change neither actions nor rewards."""
    while hasattr(env, "env") and (_is_passive(env) or isinstance(env, gymnasium.ObservationWrapper)):
        env = env.env
    return env


def without_passive(env: Any) -> Any:
    """Return an environment with those of the outer wrappers only that transform observations."""
    if env is peel(env):
        return env
    inner = without_passive(env.env)
    if _is_passive(env):
        return inner
    twin = object.__new__(type(env))
    kept = {name: value if name in SHARED else _copied(value) for name, value in vars(env).items() if name != "env"}
    vars(twin).update(kept, env=inner)
    return twin


def _is_passive(env: Any) -> bool:
    return type(env).__name__ in _PASSIVE


def _copied(value: Any) -> Any:
    """Return a copy, so that a wrapper's own statistics do not change; the value itself where that is impossible."""
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001 - functions with handles, for example, do not change
        return value


def transformed(env: Any, seen: Any) -> Any:
    """Return an observation of the innermost environment as all wrappers transform it."""
    for layer in reversed(layers(env)):
        seen = layer.observation(seen) if isinstance(layer, gymnasium.ObservationWrapper) else seen
    return seen


def time_left(env: Any) -> int | None:
    """Return the steps until the outermost time limit, or None."""
    while hasattr(env, "env"):
        most, elapsed = getattr(env, "_max_episode_steps", None), getattr(env, "_elapsed_steps", None)
        if type(env).__name__ == "TimeLimit" and most is not None:
            return int(most) - int(elapsed or 0)
        env = env.env
    return None


def is_over(env: Any) -> bool:
    """Return whether the episode has ended, where that can be known.

    It can by a time limit, by the mark of CartPole, and by a table, for states that only the end of an episode reaches.
    """
    inner, left = env.unwrapped, time_left(env)
    if (left is not None and left <= 0) or getattr(inner, "steps_beyond_terminated", None) is not None:
        return True
    starts = getattr(inner, "initial_state_distrib", None)
    return (
        Table.fits(inner) and int(inner.s) in Table.of(inner).ends and (starts is None or not starts[int(inner.s)] > 0)
    )
