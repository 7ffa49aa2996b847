"""A leaf gets its children."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import kernel
from treetop.kernels.control import BAD_ACTION, BAD_COUNT, DONE
from treetop.tree.layout import MAX_CHILDREN
from treetop.types import NONE


@kernel
def list_actions(control: Any, state: Any, actions: Any) -> int:
    """How many legal actions were written to `actions`; a broken promise is left in `control`."""
    count = int(state.legal_actions(actions))
    num_actions = control[0].num_actions
    if count < 1 or count > num_actions or count > MAX_CHILDREN:
        control[0].status, control[0].culprit = BAD_COUNT, count
        return 0
    for index in range(count):
        if actions[index] < 0 or actions[index] >= num_actions:
            control[0].status, control[0].culprit = BAD_ACTION, actions[index]
            return 0
    return count


@kernel
def append_children(control: Any, stats: Any, links: Any, returns: Any, in_flight: Any, node: int, actions: Any, count: int) -> int:
    """Give `node` one fresh child for each action, with equal priors. Returns the first one."""
    first = control[0].size
    prior = np.float32(1.0 / count)
    for index in range(count):
        child = first + index
        stats[child].value_sum = 0.0
        stats[child].visits = 0
        stats[child].prior = prior
        links[child].action = actions[index]
        links[child].parent = node
        links[child].first_child = NONE
        links[child].num_children = 0
        links[child].flags = 0
        links[child].own = 0
        if len(returns) > 0:
            returns[child, :] = 0.0
        if len(in_flight) > 0:
            in_flight[child] = 0
    links[node].first_child = first
    links[node].num_children = count
    control[0].size = first + count
    control[0].status = DONE
    return int(first)


@kernel
def expand(control: Any, stats: Any, links: Any, returns: Any, in_flight: Any, node: int, state: Any, actions: Any) -> None:
    """Open all legal moves of a leaf. The caller has made sure that there is room."""
    count = list_actions(control, state, actions)
    if count > 0:
        append_children(control, stats, links, returns, in_flight, node, actions, count)
