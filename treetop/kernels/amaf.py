"""All moves as first (RAVE and GRAVE): a move is judged by every simulation in which its player made it, now or later.

The statistics of a move stand in the child's slot beside its own. A node with few visits borrows those of a reference: the last node
above it where the same player was to move and that has more visits than `amaf_reference`; the root always serves. With a reference of 0
every node uses its own, which is RAVE.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel
from treetop.kernels.control import NO_CHILD
from treetop.kernels.select import decide
from treetop.kernels.tables import inverse
from treetop.types import NONE

# Rows of `lookup_block`: whose children `lookup` knows; the present reference's first child, and how many it has.
_FILLED, _FIRST, _COUNT = 0, 1, 2


@inline_kernel
def find_reference(control: Any, tree: Any, work: Any, node: Any, mover: Any, depth: Any, visits: Any) -> bool:
    """Make sure that `amaf_slot` finds the statistics for the moves of a node; whether they are its own."""
    if depth == 0:
        for player in range(control[0].players):
            work.lookup_block[_FIRST, player] = NONE
    if depth == 0 or visits > control[0].amaf_reference:
        work.lookup_block[_FIRST, mover] = tree.links[node].first_child
        work.lookup_block[_COUNT, mover] = tree.links[node].num_children
        return True
    first = work.lookup_block[_FIRST, mover]
    if first != NONE and work.lookup_block[_FILLED, mover] != first:
        for child in range(first, first + work.lookup_block[_COUNT, mover]):
            work.lookup[mover, tree.links[child].action] = child
        work.lookup_block[_FILLED, mover] = first
    return False


@inline_kernel
def amaf_slot(tree: Any, work: Any, child: Any, mover: Any, own: bool) -> Any:
    """Where the statistics of a child's move stand; NONE where the reference did not have that move."""
    if own:
        return np.int64(child)
    first = work.lookup_block[_FIRST, mover]
    if first == NONE:
        return np.int64(NONE)
    action = tree.links[child].action
    slot = work.lookup[mover, action]
    # What an earlier reference left in the table lies elsewhere, or belongs to another move.
    if slot < first or slot >= first + work.lookup_block[_COUNT, mover] or tree.links[slot].action != action:
        return np.int64(NONE)
    return np.int64(slot)


@inline_kernel
def blended(control: Any, tree: Any, slot: Any, visits: Any, value: float, total: Any) -> float:
    """(1 - beta) * Q + beta * AMAF. A move without any statistics is worth infinity: it is tried."""
    seen = np.int64(0) if slot == NONE else tree.amaf[slot].visits
    if seen == 0:
        return np.inf if visits == 0 else value
    general = tree.amaf[slot].value_sum * inverse(seen)
    if visits == 0:
        return float(general)
    if control[0].amaf_k > 0.0:
        beta = math.sqrt(control[0].amaf_k / (3.0 * total + control[0].amaf_k))
    else:
        beta = seen / (seen + visits + control[0].amaf_bias * seen * visits)
    return float((1.0 - beta) * value + beta * general)


def make_amaf_select(*, watching: bool) -> CompiledFunction[..., Any]:
    """Selection by blended values and, where c is above 0, UCB1's bonus with one visit more."""

    @inline_kernel
    def begun_visits(tree: Any, child: Any) -> Any:
        if watching:
            return np.int64(tree.stats[child].visits) + tree.in_flight[child]
        return np.int64(tree.stats[child].visits)

    @inline_kernel
    def score(control: Any, tree: Any, work: Any, child: Any, mover: Any, own: bool, total: Any, scale: float) -> float:
        if tree.stats[child].prior < 0.0:
            return -np.inf
        visits = np.int64(tree.stats[child].visits)
        begun = begun_visits(tree, child)
        value = 0.0 if visits == 0 else tree.stats[child].value_sum * inverse(visits)
        slot = amaf_slot(tree, work, child, mover, own)
        if watching and visits == 0 and begun > 0 and (slot == NONE or tree.amaf[slot].visits == 0):
            return float(control[0].first_play)
        return float(blended(control, tree, slot, visits, value, total) + scale / math.sqrt(begun + 1.0))

    @inline_kernel
    def select(
        control: Any, tree: Any, totals: Any, work: Any, node: Any, mover: Any, chooser: Any, depth: Any, visits: int, rng: Any
    ) -> Any:  # fmt: skip
        """The child to follow; NONE if the caller has to break a tie first."""
        first, count = np.uint64(tree.links[node].first_child), np.uint64(tree.links[node].num_children)
        total = np.int64(0)
        for child in range(first, first + count):
            total += begun_visits(tree, child)
        total = max(total, np.int64(1))
        own = find_reference(control, tree, work, node, mover, depth, total)
        scale = control[0].c * math.sqrt(math.log(total)) if control[0].c > 0.0 else 0.0
        highest, equal = -np.inf, 0
        winner: Any = first
        for child in range(first, first + count):
            value = score(control, tree, work, child, mover, own, total, scale)
            better = value > highest
            equal = 1 if better else equal + (value == highest)
            winner = child if better else winner
            highest = value if better else highest
        if highest == -np.inf:
            return np.int64(NO_CHILD)
        if equal <= 1:
            return np.int64(winner)
        turn = decide(control, equal, work.answers, rng)
        seen = 0
        for child in range(first, first + count):
            if score(control, tree, work, child, mover, own, total, scale) == highest:
                if seen == turn:
                    return np.int64(child)
                work.tied[seen] = child
                seen += 1
        control[0].tied = seen
        return np.int64(NONE)

    return select


@inline_kernel
def clear_played(work: Any) -> None:
    """Before the moves of a simulation are noted."""
    for player in range(work.played.shape[0]):
        for word in range(work.played.shape[1]):
            work.played[player, word] = np.uint64(0)


@inline_kernel
def note_played(work: Any, player: Any, action: Any) -> None:
    """A player made a move at this point of the simulation, or later."""
    place = np.uint64(action)
    work.played[player, place >> np.uint64(6)] |= np.uint64(1) << (place & np.uint64(63))


@inline_kernel
def credit_played(tree: Any, work: Any, node: Any, mover: Any, reward: float) -> None:
    """Tell the children of a node whose move was played, here or later, what came of it."""
    first, count = np.uint64(tree.links[node].first_child), np.uint64(tree.links[node].num_children)
    for child in range(first, first + count):
        place = np.uint64(tree.links[child].action)
        bit = (work.played[mover, place >> np.uint64(6)] >> (place & np.uint64(63))) & np.uint64(1)
        if bit != np.uint64(0):
            tree.amaf[child].visits += 1
            tree.amaf[child].value_sum += reward
