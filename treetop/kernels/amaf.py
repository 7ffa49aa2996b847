"""All moves as first (RAVE and GRAVE): a move is judged by every simulation in which its player made it, now or later.

The statistics of a move stand in the child's slot beside its own. A node with few visits borrows those of a reference: the last node
above it where the same player was to move and that has more visits than `amaf_reference`; the root always serves. With a reference of 0
every node uses its own, which is RAVE.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel, kernel
from treetop.kernels.control import NO_CHILD
from treetop.kernels.select import decide
from treetop.kernels.tables import inverse_root, root_log
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
            work.lookup[mover, tree.amaf[child].action] = child
        work.lookup_block[_FILLED, mover] = first
    return False


@inline_kernel
def borrowed_slot(tree: Any, work: Any, child: Any, mover: Any) -> Any:
    """Where the reference keeps the statistics of a child's move; NONE where it did not have that move."""
    first = work.lookup_block[_FIRST, mover]
    if first == NONE:
        return np.int64(NONE)
    action = tree.amaf[child].action
    slot = work.lookup[mover, action]
    # What an earlier reference left in the table lies elsewhere, or belongs to another move.
    if slot < first or slot >= first + work.lookup_block[_COUNT, mover] or tree.amaf[slot].action != action:
        return np.int64(NONE)
    return np.int64(slot)


@inline_kernel
def borrowed_value(control: Any, tree: Any, work: Any, child: Any, mover: Any) -> float:
    """`blended` with the reference's statistics of the move."""
    slot = borrowed_slot(tree, work, child, mover)
    if slot == NONE:
        return blended(control, tree, child, 0.0, 0.0)
    return blended(control, tree, child, float(tree.amaf[slot].visits), tree.amaf[slot].value_sum)


@inline_kernel
def own_value(control: Any, tree: Any, child: Any) -> float:
    """`blended` with the child's own statistics of the move."""
    return blended(control, tree, child, float(tree.amaf[child].visits), tree.amaf[child].value_sum)


@inline_kernel
def blended(control: Any, tree: Any, child: Any, seen: float, general_sum: float) -> float:
    """(1 - beta) * Q + beta * AMAF. A move without any statistics is worth infinity: it is tried.

    With beta = m / (m + n + bias * m * n), for m visits as any move and n as this one, the two sums W and A make one fraction:
    (W * (1 + bias * m) + A) / (m + n + bias * m * n).
    """
    visits, value_sum = float(tree.stats[child].visits), tree.stats[child].value_sum
    biased = control[0].amaf_bias * seen
    weight = seen + visits + biased * visits
    value = (value_sum * (1.0 + biased) + general_sum) / weight  # nothing by nothing is no number, and does no harm
    return float(value) if weight > 0.0 else np.inf


@inline_kernel
def hand_blended(control: Any, tree: Any, work: Any, child: Any, mover: Any, own: bool, total: Any) -> float:
    """The same with the hand-made schedule beta = sqrt(k / (3 N + k))."""
    slot = np.int64(child) if own else borrowed_slot(tree, work, child, mover)
    seen = np.int64(0) if slot == NONE else np.int64(tree.amaf[slot].visits)
    visits = tree.stats[child].visits
    if visits == 0:
        return float(tree.amaf[slot].value_sum / seen) if seen > 0 else np.inf
    value = tree.stats[child].value_sum / visits
    if seen == 0:
        return float(value)
    beta = math.sqrt(control[0].amaf_k / (3.0 * total + control[0].amaf_k))
    return float((1.0 - beta) * value + beta * (tree.amaf[slot].value_sum / seen))


def _best_by_amaf(*, own: bool, watching: bool) -> CompiledFunction[..., Any]:
    """The choice among children by their own statistics, or by borrowed ones: two loops, because a test for each child is dear."""

    @inline_kernel
    def score(control: Any, tree: Any, work: Any, child: Any, mover: Any, scale: float) -> float:
        begun = np.int64(tree.stats[child].visits)
        if watching:
            begun += tree.in_flight[child]
        value = own_value(control, tree, child) if own else borrowed_value(control, tree, work, child, mover)
        if watching and value == np.inf and begun > 0:
            value = control[0].first_play  # on its way to its first evaluation
        if scale > 0.0:
            value += scale * inverse_root(begun + 1)
        return -np.inf if tree.stats[child].prior < 0.0 else float(value)

    @inline_kernel
    def best(control: Any, tree: Any, work: Any, first: Any, count: Any, mover: Any, scale: float, rng: Any) -> Any:
        highest, equal = -np.inf, 0
        winner: Any = first
        for child in range(first, first + count):
            value = score(control, tree, work, child, mover, scale)
            better = value > highest
            equal = 1 if better else equal + (value == highest)
            winner = child if better else winner
            highest = value if better else highest
        if highest == -np.inf:
            return np.int64(NO_CHILD)
        if equal <= 1:
            return np.int64(winner)
        return np.int64(break_tie(control, tree, work, first, count, mover, scale, highest, equal, rng))

    @kernel
    def break_tie(
        control: Any,
        tree: Any,
        work: Any,
        first: Any,
        count: Any,
        mover: Any,
        scale: float,
        highest: float,
        equal: Any,
        rng: Any,
    ) -> Any:
        turn = decide(control, equal, work.answers, rng)
        seen = 0
        for child in range(first, first + count):
            if score(control, tree, work, child, mover, scale) == highest:
                if seen == turn:
                    return np.int64(child)
                work.tied[seen] = child
                seen += 1
        control[0].tied = seen
        return np.int64(NONE)

    return best


def make_amaf_select(*, watching: bool) -> CompiledFunction[..., Any]:
    """Selection by blended values and, where c is above 0, UCB1's bonus with one visit more."""
    best_by_own = _best_by_amaf(own=True, watching=watching)
    best_by_borrowed = _best_by_amaf(own=False, watching=watching)

    @inline_kernel
    def select(
        control: Any,
        tree: Any,
        totals: Any,
        work: Any,
        node: Any,
        mover: Any,
        chooser: Any,
        depth: Any,
        visits: int,
        rng: Any,
    ) -> Any:
        """The child to follow; NONE if the caller has to break a tie first."""
        first, count = np.uint64(tree.links[node].first_child), np.uint64(tree.links[node].num_children)
        total: Any = np.int64(visits)
        if watching or visits == NONE:
            total = np.int64(0)
            for child in range(first, first + count):
                total += tree.stats[child].visits
                if watching:
                    total += tree.in_flight[child]
        total = max(total, np.int64(1))
        scale = control[0].c * root_log(total)
        if find_reference(control, tree, work, node, mover, depth, total):
            return best_by_own(control, tree, work, first, count, mover, scale, rng)
        return best_by_borrowed(control, tree, work, first, count, mover, scale, rng)

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
    player = np.uint64(mover)
    few, word = work.played.shape[1] == 1, work.played[player, np.uint64(0)]
    for child in range(first, first + count):  # without a branch: whether a move was played is anybody's guess
        place = np.uint64(tree.amaf[child].action)
        if not few:
            word = work.played[player, place >> np.uint64(6)]
        bit = (word >> (place & np.uint64(63))) & np.uint64(1)
        tree.amaf[child].visits += np.int32(bit)
        tree.amaf[child].value_sum += reward if bit != np.uint64(0) else 0.0
