"""RAVE and GRAVE: a move is judged by all moves as first (AMAF), every simulation in which its player made it, now or
later.

The AMAF statistics of a move stand in the child's slot beside its own. A node with few visits borrows those of a
reference: the last node above it where the same player was to move and that has more visits than `amaf_reference`; the
root always serves. With a reference of 0 every node uses its own, which is RAVE.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel
from treetop.compiler.intrinsics import atomic_add_field, lowest_bit
from treetop.kernels.parts import TREES, Composition, number, whole
from treetop.kernels.rules.rule import Rule
from treetop.kernels.tables import inverse_root, root_log
from treetop.types import NONE

# Rows of `lookup_block`: whose children `lookup` holds; the present reference's first child, and how many it has.
_FILLED, _FIRST, _COUNT = 0, 1, 2


@inline_kernel
def find_reference(control: Any, tree: Any, work: Any, node: Any, mover: Any, depth: Any, visits: Any) -> bool:
    """Find the AMAF statistics for the moves of a node; return whether they are its own."""
    if depth == 0:
        for player in range(control.players):
            work.lookup_block[_FIRST, player] = NONE
    if depth == 0 or visits > control.amaf_reference:
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
    """Return where the reference keeps the statistics of a child's move; NONE if it did not have that move."""
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
    """Return `blended` with the reference's statistics of the move."""
    slot = borrowed_slot(tree, work, child, mover)
    if slot == NONE:
        return blended(control, tree, child, 0.0, 0.0)
    return blended(control, tree, child, float(tree.amaf[slot].visits), tree.amaf[slot].value_sum)


@inline_kernel
def own_value(control: Any, tree: Any, child: Any) -> float:
    """Return `blended` with the child's own statistics of the move."""
    return blended(control, tree, child, float(tree.amaf[child].visits), tree.amaf[child].value_sum)


@inline_kernel
def blended(control: Any, tree: Any, child: Any, seen: float, amaf_sum: float) -> float:
    """Return (1 - beta) * Q + beta * AMAF; infinity for a move without any statistics.

    With beta = m / (m + n + bias * m * n), for m visits as any move and n as this one, the two sums W and A make one
    fraction: (W * (1 + bias * m) + A) / (m + n + bias * m * n).
    """
    visits, value_sum = float(tree.stats[child].visits), tree.stats[child].value_sum
    biased = control.amaf_bias * seen
    weight = seen + visits + biased * visits
    value = (value_sum * (1.0 + biased) + amaf_sum) / weight  # 0 / 0 is NaN, and not used
    return float(value) if weight > 0.0 else np.inf


@inline_kernel
def hand_blended(control: Any, tree: Any, work: Any, child: Any, mover: Any, own: bool, total: Any) -> float:
    """Return the same with the hand-selected schedule beta = sqrt(k / (3 N + k))."""
    slot = np.int64(child) if own else borrowed_slot(tree, work, child, mover)
    seen = np.int64(0) if slot == NONE else np.int64(tree.amaf[slot].visits)
    visits = tree.stats[child].visits
    if visits == 0:
        return float(tree.amaf[slot].value_sum / seen) if seen > 0 else np.inf
    value = tree.stats[child].value_sum / visits
    if seen == 0:
        return float(value)
    beta = math.sqrt(control.amaf_k / (3.0 * total + control.amaf_k))
    return float((1.0 - beta) * value + beta * (tree.amaf[slot].value_sum / seen))


@inline_kernel
def at_node(
    control: Any, tree: Any, work: Any, node: Any, mover: Any, depth: Any, first: Any, count: Any, total: Any
) -> float:
    """Find the reference of a node; return 1 where it is the node itself, else 0."""
    return 1.0 if find_reference(control, tree, work, node, mover, depth, total) else 0.0


@inline_kernel
def score(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, value: float, tries: Any, prior: float, total: Any,
    node: float, fpu: float, rng: Any,
) -> float:  # fmt: skip
    """Return (1 - beta) * Q + beta * AMAF + c * sqrt(ln N / (n + 1)), on plain means."""
    own = node > 0.0
    if control.amaf_k > 0.0:
        value = hand_blended(control, tree, work, child, mover, own, total)
    else:
        value = own_value(control, tree, child) if own else borrowed_value(control, tree, work, child, mover)
    if value == np.inf and tries > 0:
        value = fpu
    return float(value + control.c * root_log(total) * inverse_root(tries + 1))


@inline_kernel
def fast_scale(control: Any, total: Any) -> float:
    """Return c * sqrt(ln N)."""
    return float(control.c * root_log(total))


@inline_kernel
def fast_score(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, total: Any, scale: float, fpu: float
) -> float:
    """Return the score by the child's own AMAF statistics."""
    return _with_bonus(own_value(control, tree, child), scale, np.int64(tree.stats[child].visits))


@inline_kernel
def fast_borrowed_score(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, total: Any, scale: float, fpu: float
) -> float:
    """Return the score by the reference's AMAF statistics."""
    return _with_bonus(borrowed_value(control, tree, work, child, mover), scale, np.int64(tree.stats[child].visits))


@inline_kernel
def fast_score_in_flight(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, total: Any, scale: float, fpu: float
) -> float:
    """Return the score by the child's own AMAF statistics; evaluations in flight are visits in the bonus."""
    tries = np.int64(tree.stats[child].visits) + tree.in_flight[child]
    value = own_value(control, tree, child)
    return _with_bonus(fpu if value == np.inf and tries > 0 else value, scale, tries)


@inline_kernel
def fast_borrowed_score_in_flight(
    control: Any, tree: Any, work: Any, child: Any, mover: Any, total: Any, scale: float, fpu: float
) -> float:
    """Return the score by the reference's AMAF statistics; evaluations in flight are visits in the bonus."""
    tries = np.int64(tree.stats[child].visits) + tree.in_flight[child]
    value = borrowed_value(control, tree, work, child, mover)
    return _with_bonus(fpu if value == np.inf and tries > 0 else value, scale, tries)


@inline_kernel
def _with_bonus(value: float, scale: float, tries: Any) -> float:
    return float(value + scale * inverse_root(tries + 1)) if scale > 0.0 else float(value)


@inline_kernel
def clear_played(work: Any) -> None:
    """Forget the moves of the last simulation."""
    for player in range(work.played.shape[0]):
        for word in range(work.played.shape[1]):
            work.played[player, word] = np.uint64(0)


@inline_kernel
def note_played(work: Any, player: Any, action: Any) -> None:
    """Note that a player made a move at this point of the simulation, or later."""
    place = np.uint64(action)
    work.played[player, place >> np.uint64(6)] |= np.uint64(1) << (place & np.uint64(63))


@inline_kernel
def credit_played(tree: Any, work: Any, node: Any, mover: Any, reward: float) -> None:
    """Credit the children of a node whose move was played, here or later."""
    first, count = np.uint64(tree.links[node].first_child), np.uint64(tree.links[node].num_children)
    player = np.uint64(mover)
    few, word = work.played.shape[1] == 1, work.played[player, np.uint64(0)]
    for child in range(first, first + count):  # without a branch: whether a move was played cannot be predicted
        place = np.uint64(tree.amaf[child].action)
        if not few:
            word = work.played[player, place >> np.uint64(6)]
        bit = (word >> (place & np.uint64(63))) & np.uint64(1)
        tree.amaf[child].visits += np.int32(bit)
        tree.amaf[child].value_sum += reward if bit != np.uint64(0) else 0.0


@inline_kernel
def credit_shared_played(tree: Any, work: Any, node: Any, mover: Any, reward: float) -> None:
    """Do the same where other threads may credit them."""
    first, count = np.uint64(tree.links[node].first_child), np.uint64(tree.links[node].num_children)
    for child in range(first, first + count):
        place = np.uint64(tree.amaf[child].action)
        if (work.played[mover, place >> np.uint64(6)] >> (place & np.uint64(63))) & np.uint64(1) != np.uint64(0):
            atomic_add_field(tree.amaf, child, "visits", 1)
            atomic_add_field(tree.amaf, child, "value_sum", reward)


@inline_kernel
def clear_burst(work: Any) -> None:
    """Forget the moves of the simulations of a burst."""
    work.burst_counts[:, :] = 0
    work.burst_sums[:, :] = 0.0


@inline_kernel
def add_to_burst(work: Any, rewards: Any) -> None:
    """Count the moves that were played in a simulation of a burst, in its subtree or later."""
    for player in range(work.played.shape[0]):
        for word in range(work.played.shape[1]):
            bits = work.played[player, word]
            while bits != np.uint64(0):
                action = 64 * word + lowest_bit(bits)
                work.burst_counts[player, action] += 1
                work.burst_sums[player, action] += rewards[player]
                bits &= bits - np.uint64(1)


@inline_kernel
def credit_burst(tree: Any, work: Any, path: Any, movers: Any, floor: Any, returned: Any, finished: Any) -> None:
    """Credit the children of all nodes above a subtree by the simulations of a burst, from below upwards."""
    for step in range(floor, 0, -1):
        mover, action = movers[step - 1], tree.links[path[step]].action
        work.burst_counts[mover, action], work.burst_sums[mover, action] = finished, returned[mover]
        parent = path[step - 1]
        first, count = np.int64(tree.links[parent].first_child), np.int64(tree.links[parent].num_children)
        for child in range(first, first + count):
            place = tree.amaf[child].action
            if work.burst_counts[mover, place] > 0:
                atomic_add_field(tree.amaf, child, "visits", work.burst_counts[mover, place])
                atomic_add_field(tree.amaf, child, "value_sum", work.burst_sums[mover, place])


@dataclass(frozen=True, kw_only=True)
class Rave(Rule):
    """RAVE; with an `amaf_reference` above 0 GRAVE.

    >>> import treetop as tt
    >>> good, bad = tt.results.Statistics(1, 0.0, amaf=(20, 0.9)), tt.results.Statistics(1, 0.0, amaf=(20, -0.9))
    >>> tt.explain(tt.SearchConfig(rule=tt.rules.Rave()), {"good": good, "bad": bad}).selected
    'good'
    """

    name = "rave"
    kinds = frozenset({TREES})
    formula = "RAVE: score = (1 - beta) * value + beta * value whenever played + c * sqrt(ln(N) / (n + 1))"
    at_node, score = at_node, score
    fast_scale, fast_score, fast_score_in_flight = fast_scale, fast_score, fast_score_in_flight
    works_with = {"root": ("rule",), "backup": ("mean",)}

    c: float = number(0.0, "The factor of UCB1's bonus.", low=0.0)
    amaf_reference: int = whole(0, "GRAVE: a node with fewer visits borrows the statistics of an ancestor.", low=0)
    amaf_bias: float = number(1e-4, "How soon a move's own visits outweigh its AMAF statistics.", low=0.0)
    amaf_k: float | None = number(
        None,
        "The visits at which both weigh the same, for the schedule beta = sqrt(k / (3 N + k)). Default: by the bias.",
        above=0.0,
    )

    def builds(self) -> frozenset[str]:
        """Return what a build must have."""
        return frozenset({"amaf"} if self.amaf_k is None else {"amaf", "full"})

    def columns(self) -> frozenset[str]:
        """Return the columns of the tree that this part needs."""
        return frozenset({"amaf"})

    def refusals(self, config: Composition) -> Iterator[str]:
        """Give each reason why this rule does not go with the other parts."""
        yield from super().refusals(config)
        if config.values.normalise:
            yield "RAVE blends plain means: leave normalise out"
