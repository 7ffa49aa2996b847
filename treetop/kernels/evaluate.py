"""What a leaf is worth, as a vector of returns: one number a player."""

from __future__ import annotations

from typing import Any

from treetop.compiler.functions import inline_kernel
from treetop.compiler.intrinsics import local_copy
from treetop.compiler.specialise import by_method
from treetop.kernels.control import BAD_COUNT, BAD_REWARD, TOO_LONG


@inline_kernel
def outcome(control: Any, state: Any, rewards: Any) -> None:
    """The rewards of a finished game."""
    rewards[:] = 0.0  # what a game does not write is nothing, not what the last game left
    state.rewards(rewards)
    for player in range(len(rewards)):
        if not abs(rewards[player]) < 1e300:  # also false for NaN
            control[0].status, control[0].culprit = BAD_REWARD, player


@inline_kernel
def _own_random_action(state: Any, actions: Any, rng: Any) -> int:
    return int(state.random_action(rng))


@inline_kernel
def _listed_random_action(state: Any, actions: Any, rng: Any) -> int:
    count = state.legal_actions(actions)
    return int(actions[rng.below(count)]) if count > 0 else -1


random_action = by_method("random_action", yes=_own_random_action, no=_listed_random_action)
"""A uniformly random legal action: by the game's own fast way, or by listing them all."""


@inline_kernel
def rollout(control: Any, start: Any, depth: int, actions: Any, rewards: Any, rng: Any) -> None:
    """Play random moves to the end of the game."""
    state = local_copy(start)
    left = control[0].max_length - depth
    while not state.is_terminal():
        if left <= 0:
            control[0].status = TOO_LONG
            return
        left -= 1
        action = random_action(state, actions, rng)
        if action < 0:
            control[0].status, control[0].culprit = BAD_COUNT, 0
            return
        state.apply(action)
    outcome(control, state, rewards)
