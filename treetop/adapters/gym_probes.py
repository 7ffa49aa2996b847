"""Trials with a Gymnasium environment before its search: whether it is random, can be restored, and what it shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treetop.adapters.clones import Clones, Hooks
from treetop.adapters.gym_layers import peel, transformed, without_passive
from treetop.adapters.randomness import OwnRandomness, RandomStepError
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, TreetopError
from treetop.search.problems.failing import described
from treetop.search.problems.watch import is_same, picture

Snapshot = tuple[Callable[[Any], Any], Callable[[Any, Any], object]]
"""save(env) returns a token, restore(env, token) restores the environment to it."""

_PROBES = 16  # steps that show whether an environment is random
_RESTORED = 3  # steps that show whether a snapshot restores an environment
UNKNOWN = object()
"""The observation of a root that is not known."""


def make_points(env: Any, own: OwnRandomness, snapshot: Snapshot | None) -> Clones | Hooks:
    """Return snapshots of an environment: by copies, or by the caller's own functions."""
    if snapshot is None:
        return Clones(env, own)
    return Hooks(peel(env), own, *snapshot, wrapped=env, renew=without_passive)


def actions_of(env: Any) -> list[int]:
    """Return the actions of an environment with a Discrete space."""
    start = int(env.action_space.start)
    return list(range(start, start + int(env.action_space.n)))


def step_twice(
    points: Clones | Hooks, own: OwnRandomness, token: Any, action: int, name: str
) -> tuple[tuple[Any, ...], Any]:
    """Step from a snapshot twice; return what the step returned, and the next snapshot.

    Raise RandomStepError if the results differ, or if a step draws random numbers.
    """
    made = []
    for _ in range(2):
        own.seed(0)
        with points.at(token) as env, own.nothing_drawn(name, watched=True):
            made.append((five_parts(env.step(action), env), points.save(env)))
    (first, reached), (second, _) = made
    if not _is_same_result(first, second):
        raise own.differing(name, first[:2], second[:2])
    return first, reached


def five_parts(result: Any, env: Any) -> tuple[Any, ...]:
    """Return what a step returned; raise ConfigError unless it has five parts."""
    if not isinstance(result, tuple) or len(result) != 5:
        count = f"{len(result)} values" if isinstance(result, tuple) else f"{result!r:.100}"
        raise ConfigError(
            f"{type(env.unwrapped).__name__}.step must return (observation, reward, terminated, truncated, info), "
            f"not {count}"
        )
    return result


def is_random(env: Any, snapshot: Snapshot | None) -> bool:
    """Return whether a few steps from the same state differ or draw random numbers.

    A step that does so later raises a `RandomStepError`.
    """
    own, actions, rng = OwnRandomness(), actions_of(env), Rng(0)
    points = make_points(env, own, snapshot)
    root = token = points.take()
    try:
        for action in actions[:_PROBES]:
            step_twice(points, own, root, action, "")
        for _ in range(_PROBES):
            (_, _, terminated, truncated, _), token = step_twice(
                points, own, token, actions[rng.below(len(actions))], ""
            )
            token = root if terminated or truncated else token
    except RandomStepError:
        return True
    except TreetopError:
        raise
    except Exception as error:
        name = type(env.unwrapped).__name__
        raise ConfigError(
            f"a step of {name} failed: {described(error)}; if the environment was not reset, call its reset first"
        ) from error
    return False


def check_snapshot(env: Any, snapshot: Snapshot, name: str, *, stochastic: bool | None) -> None:
    """Raise ConfigError unless the same actions after the same snapshot return the same, by the same random numbers.

    Steps whose random numbers cannot be seeded differ, too: then the snapshots must look the same.
    """
    own = OwnRandomness()
    own.uses_program = True
    points, before, made = make_points(env, own, snapshot), picture(snapshot[0](env)), []
    token = points.take()
    for _ in range(2):
        with own.guarded(), points.at(token) as there:
            own.seed(0)
            made.append(_play(there))
    different = [(one[:4], other[:4]) for one, other in zip(*made, strict=False) if not _is_same_result(one, other)]
    if not different or (stochastic is not False and before and picture(snapshot[0](env)) == before):
        return
    one, other = different[0]
    raise ConfigError(
        f"snapshot does not restore {name}: the same actions gave {one!r:.300} and, after restore(env, token), "
        f"{other!r:.300}. Save and restore everything that a step changes. The environment was stepped: reset it"
    )


def _play(env: Any) -> list[tuple[Any, ...]]:
    """Return the results of a few steps."""
    results = []
    for number in range(_RESTORED):
        results.append(env.step(actions_of(env)[number % len(actions_of(env))]))
        if results[-1][2] or results[-1][3]:
            break
    return results


def find_observation(points: Clones | Hooks, own: OwnRandomness, env: Any) -> Any:
    """Return the present observation of an environment; UNKNOWN if it is not certain.

    An environment keeps its state, and often has a method that makes the observation of it. Whatever gives what `step`
    returned, after a step, gives the present observation before it.
    """
    for find in (_made("_get_obs"), _made("_get_ob"), _state, _number):
        try:
            own.seed(0)
            with points.at(points.take()) as there, own.nothing_drawn("", watched=True):
                seen = there.step(actions_of(env)[0])[0]
                if not is_same(transformed(there, find(there.unwrapped)), seen):
                    continue
            with points.at(points.take()) as there:
                return transformed(there, find(there.unwrapped))
        except Exception:  # noqa: BLE001 - an environment without this method or attribute
            continue
    return UNKNOWN


def _made(method: str) -> Callable[[Any], Any]:
    return lambda env: getattr(env, method)()


def _state(env: Any) -> Any:
    return np.array(env.state, dtype=env.observation_space.dtype)


def _number(env: Any) -> Any:
    return int(env.s)


def _is_same_result(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Return whether two steps returned the same observation and reward, and ended the episode alike."""
    return is_same(one[:4], other[:4])
