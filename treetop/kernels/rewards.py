"""Rewards: at the end of a game, and immediate ones after each step."""

from __future__ import annotations

from typing import Any

from treetop.compiler.functions import inline_kernel
from treetop.compiler.specialise import by_method
from treetop.kernels.control import BAD_REWARD


@inline_kernel
def outcome(control: Any, state: Any, rewards: Any) -> None:
    """Write the rewards of a finished game."""
    rewards[:] = 0.0  # what a game does not write is nothing, not what the last game left
    state.rewards(rewards)
    # Where rewards come on each step, the range is that of their sum.
    low, high = (-1e300, 1e300) if control.step_rewards else (control.low, control.high)
    for player in range(len(rewards)):
        if not low <= rewards[player] <= high:  # also false for NaN
            control.status, control.culprit = BAD_REWARD, player


@inline_kernel
def _own_rewards(state: Any, control: Any, out: Any) -> None:
    out[:] = 0.0
    state.step_rewards(out)
    for player in range(len(out)):
        if not abs(out[player]) < 1e300:  # also false for NaN
            control.status, control.culprit = BAD_REWARD, player
    make_paranoid(control, out, 0.0)


@inline_kernel
def _no_rewards(state: Any, control: Any, out: Any) -> None:
    pass


collect = by_method("step_rewards", yes=_own_rewards, no=_no_rewards)
"""Write the immediate rewards of the last action; nothing is written in games without them."""


@inline_kernel
def make_paranoid(control: Any, rewards: Any, both: float) -> None:
    """Make rewards paranoid, if the search is: all others receive `both` less what the target player receives."""
    paranoid_target = control.paranoid_target
    if paranoid_target >= 0:
        value = rewards[paranoid_target]
        for player in range(len(rewards)):
            rewards[player] = value if player == paranoid_target else both - value
