"""Simulations that wait for somebody else's evaluation: gather leaves, absorb what they are worth, or let go of them.

A simulation in flight is counted on its whole path, the leaf included, and nowhere in the value sums: letting go of it leaves no trace.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import local_copy, local_rng, rng_word, state_at
from treetop.kernels.backup import backup
from treetop.kernels.control import BAD_REWARD, COLLISION, DONE, NEED_ROOM
from treetop.kernels.evaluate import outcome
from treetop.kernels.expand import append_children, list_actions
from treetop.kernels.loop import descend_watching
from treetop.kernels.select import forget_answers
from treetop.tree.layout import TERMINAL


@kernel
def gather(
    game: Any, control: Any, stats: Any, links: Any, returns: Any, in_flight: Any, totals: Any, root: Any,
    paths: Any, movers: Any, depths: Any, leaves: Any, actions: Any, rewards: Any, tied: Any, answers: Any,
) -> None:  # fmt: skip
    """Walk down until `leaves` is full of distinct states to evaluate, or the budget is used up. Finished games are settled at once."""
    rng = local_rng(control[0].rng)
    control[0].status = DONE
    while control[0].gathered < len(leaves) and control[0].done + control[0].gathered < control[0].budget:
        control[0].answered = 0
        slot = control[0].gathered
        state = local_copy(state_at(game, root, 0))
        depth = descend_watching(
            control, stats, links, returns, in_flight, state, paths[slot], movers[slot], actions, tied, answers, rng
        )
        if control[0].status != DONE:
            break
        node = paths[slot, depth]
        if links[node].flags & TERMINAL:
            outcome(control, state, rewards)
            if control[0].status != DONE:
                break
            backup(stats, links, returns, totals, paths[slot], movers[slot], depth, rewards)
            control[0].done += 1
        elif in_flight[node] > 0:
            control[0].status = COLLISION
            break
        else:
            _count_in_flight(in_flight, paths[slot], depth, 1)
            depths[slot] = depth
            _keep_state(game, leaves, slot, root, links, paths[slot], depth)
            control[0].gathered += 1
        forget_answers(control, answers)
        control[0].rng = rng_word(rng)


@inline_kernel
def _keep_state(game: Any, leaves: Any, slot: int, root: Any, links: Any, path: Any, depth: int) -> None:
    """The leaf's state, reached once more in the place where the evaluator will look for it."""
    leaves[slot] = root[0]
    state = state_at(game, leaves, slot)
    for step in range(depth):
        state.apply(np.int64(links[path[step + 1]].action))


@inline_kernel
def _count_in_flight(in_flight: Any, path: Any, depth: int, change: int) -> None:
    for step in range(depth + 1):
        in_flight[path[step]] += change


@kernel
def absorb(
    game: Any, control: Any, stats: Any, links: Any, returns: Any, in_flight: Any, totals: Any,
    paths: Any, movers: Any, depths: Any, leaves: Any, logits: Any, values: Any, actions: Any,
) -> None:  # fmt: skip
    """Expand and back up gathered leaves, in the order in which they were gathered."""
    control[0].status = DONE
    for slot in range(len(leaves)):
        for player in range(values.shape[1]):
            if not abs(values[slot, player]) < 1e300:
                control[0].status, control[0].culprit = BAD_REWARD, slot
                return
    for slot in range(len(leaves)):
        depth = depths[slot]
        node = paths[slot, depth]
        # All that can fail comes first: a leaf is either absorbed or still in flight.
        count = 0
        if links[node].num_children == 0 and stats[node].visits >= control[0].expand_after and depth < control[0].max_depth:
            count = list_actions(control, state_at(game, leaves, slot), actions)
            if control[0].status == DONE and control[0].size + count > control[0].capacity:
                control[0].status = NEED_ROOM
            if control[0].status != DONE:
                return
        _count_in_flight(in_flight, paths[slot], depth, -1)
        if count > 0:
            first = append_children(control, stats, links, returns, in_flight, node, actions, count)
            _set_priors(stats, first, actions, count, logits[slot])
        backup(stats, links, returns, totals, paths[slot], movers[slot], depth, values[slot])
        control[0].done += 1


@inline_kernel
def _set_priors(stats: Any, first: int, actions: Any, count: int, logits: Any) -> None:
    """Softmax over the legal actions; the highest logit is taken off first, so that nothing overflows."""
    highest = -math.inf
    for index in range(count):
        highest = max(highest, logits[actions[index]])
    if highest == -math.inf:
        return  # nothing is possible, says the evaluator: equal priors stand
    total = 0.0
    for index in range(count):
        total += math.exp(logits[actions[index]] - highest)
    for index in range(count):
        stats[first + index].prior = math.exp(logits[actions[index]] - highest) / total


@kernel
def release(game: Any, in_flight: Any, paths: Any, depths: Any) -> None:
    """Forget gathered leaves as if they had never been."""
    for slot in range(len(depths)):
        _count_in_flight(in_flight, paths[slot], depths[slot], -1)
