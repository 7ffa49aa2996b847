"""Methods of games with imperfect information, simultaneous moves or continuous actions."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel
from treetop.compiler.specialise import by_method
from treetop.kernels.control import BAD_ACTION, BAD_COUNT, BAD_OUTCOME, DONE
from treetop.tree.layout import MAX_CHILDREN
from treetop.types import SIMULTANEOUS


@inline_kernel
def _redraw(state: Any, player: Any, rng: Any) -> None:
    state.determinize(player, rng)


@inline_kernel
def _keep(state: Any, player: Any, rng: Any) -> None:
    pass


determinize = by_method("determinize", yes=_redraw, no=_keep)


@inline_kernel
def _actions_of_each(state: Any, player: Any, out: Any) -> Any:
    if state.current_player() == SIMULTANEOUS:
        return np.int64(state.legal_actions_of(player, out))
    return np.int64(state.legal_actions(out))


@inline_kernel
def _actions_of_mover(state: Any, player: Any, out: Any) -> Any:
    return np.int64(state.legal_actions(out))


_legal_actions = by_method("legal_actions_of", yes=_actions_of_each, no=_actions_of_mover)


@inline_kernel
def _make_joint(state: Any, joint: Any) -> None:
    state.apply_joint(joint)


@inline_kernel
def _no_joint(state: Any, joint: Any) -> None:
    pass


apply_joint = by_method("apply_joint", yes=_make_joint, no=_no_joint)


@inline_kernel
def _draw_vector(state: Any, rng: Any, out: Any) -> None:
    state.sample_action(rng, out)


@inline_kernel
def _no_draw(state: Any, rng: Any, out: Any) -> None:
    pass


sample_action = by_method("sample_action", yes=_draw_vector, no=_no_draw)


@inline_kernel
def _make_vector(state: Any, values: Any) -> None:
    state.apply_vector(values)


@inline_kernel
def _no_vector(state: Any, values: Any) -> None:
    pass


apply_vector = by_method("apply_vector", yes=_make_vector, no=_no_vector)


@inline_kernel
def list_legal(control: Any, state: Any, work: Any, mover: Any) -> Any:
    """Write the legal actions of a player to `work.actions`; return how many there are."""
    count = np.int64(_legal_actions(state, mover, work.actions))
    if count < 1 or count > control.num_actions or count > MAX_CHILDREN:
        control.status, control.culprit = BAD_COUNT, count
        return np.int64(0)
    for index in range(count):
        if work.actions[index] < 0 or work.actions[index] >= control.num_actions:
            control.status, control.culprit = BAD_ACTION, work.actions[index]
            return np.int64(0)
    return count


@inline_kernel
def apply_outcome(control: Any, state: Any, lot: Any) -> None:
    """Apply an outcome of chance, unless the game has broken a promise."""
    if control.status == DONE and (lot < 0 or lot >= control.num_outcomes):
        control.status, control.culprit = BAD_OUTCOME, lot
    if control.status == DONE:
        state.apply(lot)


@inline_kernel
def _random_joint(state: Any, control: Any, work: Any, rng: Any) -> bool:
    if state.current_player() != SIMULTANEOUS:
        return False
    for mover in range(control.players):
        count = list_legal(control, state, work, np.int64(mover))
        if control.status != DONE:
            return True
        work.joint[mover] = work.actions[rng.below(count)]
    state.apply_joint(work.joint)
    return True


@inline_kernel
def _random_vector(state: Any, control: Any, work: Any, rng: Any) -> bool:
    state.sample_action(rng, work.vector)
    state.apply_vector(work.vector)
    return True


@inline_kernel
def _nothing(state: Any, control: Any, work: Any, rng: Any) -> bool:
    return False


_joint_step = by_method("apply_joint", yes=_random_joint, no=_nothing)
_vector_step = by_method("apply_vector", yes=_random_vector, no=_nothing)


@inline_kernel
def random_special_step(control: Any, work: Any, state: Any, rng: Any) -> bool:
    """Make random simultaneous moves or a random continuous action, where there are such; return whether it did."""
    return bool(_joint_step(state, control, work, rng) or _vector_step(state, control, work, rng))
