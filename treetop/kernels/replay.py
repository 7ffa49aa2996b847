"""Whether the moves of a tree are moves of its game. A tree from a file is walked before any other kernel trusts it.

It runs interpreted on small trees, which need not wait for a compiler then, and compiled with bounds checks on others:
so it reads plain arrays only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import copy_state, state_at
from treetop.compiler.specialise import by_method
from treetop.kernels.chance.outcomes import is_chance
from treetop.kernels.graph import position_key
from treetop.tree.layout import DRAWN, SHARED
from treetop.types import NONE, ROOT


class Moves(NamedTuple):
    """The links of a tree, an array each."""

    action: npt.NDArray[np.int64]  # [nodes]
    first_child: npt.NDArray[np.int64]  # [nodes]
    num_children: npt.NDArray[np.int64]  # [nodes]
    flags: npt.NDArray[np.int64]  # [nodes]
    keys: npt.NDArray[np.uint64]
    """[nodes] in a graph, else empty."""


@inline_kernel
def _own_outcomes(state: Any, actions: Any, probabilities: Any) -> Any:
    return np.int64(state.chance_outcomes(actions, probabilities))


@inline_kernel
def _no_outcomes(state: Any, actions: Any, probabilities: Any) -> Any:
    return np.int64(0)


_list_outcomes = by_method("chance_outcomes", yes=_own_outcomes, no=_no_outcomes)


@kernel
def find_illegal(
    game: Any, moves: Any, actions: Any, probabilities: Any, states: Any, nodes: Any, following: Any
) -> int:
    """Walk the tree with the game; return the first node whose children are not distinct legal moves of its position,
    or NONE.

    `states`, `nodes` and `following` (the next child to visit) are the stack. Links were checked before: children lie
    within the tree.
    """
    graph = len(moves.keys) > 0
    level = 0
    nodes[0], following[0] = ROOT, 0
    while level >= 0:
        node = nodes[level]
        count, first = moves.num_children[node], moves.first_child[node]
        if following[level] == 0 and count > 0:
            if level + 1 >= len(states) or not _fits(
                moves, actions, probabilities, state_at(game, states, level), node, first, count, graph
            ):
                return int(node)
            # In a graph a position is walked from once, and a game that is over by what the key leaves out is never
            # followed.
            if graph and (moves.flags[node] & SHARED != 0 or state_at(game, states, level).is_terminal()):
                following[level] = count
        if following[level] < count:
            child = first + following[level]
            following[level] += 1
            if moves.num_children[child] > 0:
                copy_state(game, states, level + 1, states, level)
                state_at(game, states, level + 1).apply(moves.action[child])
                level += 1
                nodes[level], following[level] = child, 0
        else:
            level -= 1
    return NONE


@kernel
def _fits(
    moves: Any, actions: Any, probabilities: Any, state: Any, node: Any, first: Any, count: Any, graph: bool
) -> bool:
    if state.is_terminal():
        return graph
    chance = is_chance(state)
    if chance != (moves.flags[node] & DRAWN != 0):
        return False
    legal = _list_outcomes(state, actions, probabilities) if chance else np.int64(state.legal_actions(actions))
    if count > legal or legal > len(actions):
        return False
    if graph and moves.keys[first] != position_key(state, np.int64(state.current_player())):
        return False
    for index in range(count):
        place = -1
        for other in range(legal):
            if actions[other] == moves.action[first + index] and actions[other] >= 0:
                place = other
        if place < 0:
            return False
        actions[place] = NONE  # each move once
    return True
