"""Read many states in one call: players, observations, legal actions, keys."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import shaped, state_at
from treetop.compiler.specialise import by_method
from treetop.types import NONE


@inline_kernel
def _own_observation(state: Any, player: Any, out: Any) -> None:
    state.observe(player, shaped(state, out))


@inline_kernel
def _no_observation(state: Any, player: Any, out: Any) -> None:
    pass


observe = by_method("observe", yes=_own_observation, no=_no_observation)


@inline_kernel
def _own_key(state: Any) -> Any:
    return np.uint64(state.key())


@inline_kernel
def _no_key(state: Any) -> Any:
    return np.uint64(0)


key_of = by_method("key", yes=_own_key, no=_no_key)


@inline_kernel
def _transform(state: Any, symmetry: Any) -> None:
    state.transform(symmetry)


@inline_kernel
def _stay(state: Any, symmetry: Any) -> None:
    pass


transform = by_method("transform", yes=_transform, no=_stay)


@inline_kernel
def _transform_action(state: Any, symmetry: Any, action: Any) -> Any:
    return np.int64(state.transform_action(symmetry, action))


@inline_kernel
def _same_action(state: Any, symmetry: Any, action: Any) -> Any:
    return np.int64(action)


transform_action = by_method("transform_action", yes=_transform_action, no=_same_action)


@kernel
def read_states(
    game: Any, states: Any, viewpoint: int, actions: Any, players: Any, observations: Any, masks: Any, keys: Any
) -> int:
    """Write the player to move, the observation, the legal actions and the key of each state.

    An array with no rows is not written. Observations are those of the player `viewpoint`, or with NONE of the player
    to move. Return the first state whose list of actions is wrong, or NONE.
    """
    for row in range(len(states)):
        state = state_at(game, states, row)
        over = state.is_terminal()
        player = np.int64(NONE) if over else np.int64(state.current_player())
        if len(players) > 0:
            players[row] = player
        if len(observations) > 0:
            observations[row, :] = 0.0
            observe(state, np.int64(viewpoint) if viewpoint != NONE else max(player, np.int64(0)), observations[row])
        if len(keys) > 0:
            keys[row] = key_of(state)
        if len(masks) > 0:
            masks[row, :] = False
            if not over and player >= 0:
                count = np.int64(state.legal_actions(actions))
                if count < 0 or count > masks.shape[1]:
                    return int(row)
                for index in range(count):
                    action = np.int64(actions[index])
                    if action < 0 or action >= masks.shape[1]:
                        return int(row)
                    masks[row, action] = True
    return NONE


@kernel
def transform_states(game: Any, states: Any, symmetries: Any, permutations: Any) -> int:
    """Transform each state in place by its symmetry, and write where each action goes.

    Return the first state of which an action goes out of range, or NONE.
    """
    for row in range(len(states)):
        state, symmetry = state_at(game, states, row), np.int64(symmetries[row])
        for action in range(permutations.shape[1]):
            place = transform_action(state, symmetry, np.int64(action))
            if place < 0 or place >= permutations.shape[1]:
                return int(row)
            permutations[row, action] = place
        transform(state, symmetry)
    return NONE
