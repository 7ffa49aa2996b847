"""Search a graph: transpositions share one node. The idea, with a picture: docs/transpositions.md.

Slots are edges; a node is a block of children, known by its first slot, to which any number of edges lead. An edge
counts its own visits, and its value sum is those visits times the value of the node that it leads to, so selection
reads it as in a tree. A node's value is recomputed at each backup from its own evaluations and its edges. Nothing is
counted twice, and a stale value is corrected by the next visit.

Some visits depend on the path and not on the position at its end: the position was already on the path (a repetition),
or the game ended by a rule that the key leaves out. An edge keeps their number and their sum apart, so that they are
never overwritten: its value is the mean of both kinds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import mix_bits
from treetop.compiler.specialise import by_method
from treetop.kernels.solve import clip_to_bounds, update_bounds
from treetop.kernels.tables import inverse
from treetop.tree.layout import MANY_OWN, PATH_DEPENDENT, SHARED, TERMINAL
from treetop.types import NONE, ROOT

PROBES = 8
"""Places of the table that a key may stand in.

Where all are taken, a new key replaces the first: the table is bounded.
"""
FIRST_TABLE = 2**12
"""Places of a graph's table at the beginning.

It grows, up to its bound: a large one would be touched all over by a small search.
"""
EMPTY = np.uint64(0)
"""No block begins at the root's own slot."""
_TAG, _PLACE = np.uint64(32), np.uint64(2**32 - 1)
# An entry is a block's place and, above it, the upper half of its key: a lookup of another key need not read the
# block.


@inline_kernel
def _own_key(state: Any) -> Any:
    return np.uint64(state.key())


@inline_kernel
def _no_key(state: Any) -> Any:
    return np.uint64(0)


_game_key = by_method("key", yes=_own_key, no=_no_key)


@inline_kernel
def position_key(state: Any, mover: Any) -> Any:
    """Return the game's key mixed with the player to move, which the key may leave out."""
    return mix_bits(_game_key(state) ^ (np.uint64(mover + 1) * np.uint64(0x9E3779B97F4A7C15)))


@inline_kernel
def find_block(control: Any, tree: Any, work: Any, key: Any, count: Any) -> int:
    """Return the block of a position that was expanded before, or NONE.

    Equal keys of positions with other moves are not the same position.
    """
    size = np.uint64(len(work.table))
    for probe in range(PROBES):
        entry = work.table[(key + np.uint64(probe)) & (size - np.uint64(1))]
        if entry == EMPTY:
            return NONE
        leader = np.int64(entry & _PLACE)
        if entry >> _TAG == key >> _TAG and tree.keys[leader] == key:
            if tree.links[tree.links[leader].parent].num_children != count:
                control.collisions += 1
                return NONE
            for index in range(count):
                if tree.links[leader + index].action != work.actions[index]:
                    control.collisions += 1
                    return NONE
            return int(leader)
    return NONE


@inline_kernel
def remember_block(control: Any, tree: Any, work: Any, key: Any, leader: Any) -> None:
    """Put a block into the table."""
    size = np.uint64(len(work.table))
    tree.keys[leader] = key
    control.blocks += 1
    entry = (key >> _TAG << _TAG) | np.uint64(leader)
    for probe in range(PROBES):
        place = (key + np.uint64(probe)) & (size - np.uint64(1))
        if work.table[place] == EMPTY:
            work.table[place] = entry
            return
    work.table[key & (size - np.uint64(1))] = entry


@kernel
def fill_table(game: Any, controls: Any, tree: Any, work: Any) -> None:
    """Fill the table again, after nodes have moved or the table has grown."""
    control = controls[0]
    work.table[:] = EMPTY
    control.blocks = 0
    for node in range(control.size):
        if tree.links[node].num_children > 0 and tree.links[node].flags & SHARED == 0:
            leader = tree.links[node].first_child
            remember_block(control, tree, work, tree.keys[leader], leader)


@inline_kernel
def on_path(tree: Any, path: Any, depth: Any, leader: Any) -> bool:
    """Return whether a node stands on the path."""
    for step in range(depth):
        if tree.links[path[step]].first_child == leader:
            return True
    return False


@inline_kernel
def set_repetition(control: Any, tree: Any, rewards: Any) -> None:
    """Write the value of a repetition: the same for every player; in zero-sum games it is for player 0."""
    rewards[:] = control.repetition
    if len(tree.returns) == 0 and len(rewards) == 2:
        rewards[1] = -rewards[0]


@inline_kernel
def hand_over(control: Any, tree: Any, node: Any, chooser: Any, leader: Any, fresh: bool) -> None:
    """Count the evaluations that an edge collected as a leaf as evaluations of the position it leads to from now on."""
    if fresh:
        tree.own_visits[leader] = 0
        tree.own_sums[leader, :] = 0.0
    tree.links[node].flags &= ~np.uint8(TERMINAL)  # the game may have ended here on another path
    depends = tree.links[node].flags & PATH_DEPENDENT != 0
    tree.own_visits[leader] += tree.stats[node].visits - (tree.path_visits[node] if depends else 0)
    for player in range(len(tree.totals)):
        if node == ROOT:
            own = tree.totals[player]
        elif len(tree.returns) > 0:
            own = tree.returns[node, player]
        else:
            own = tree.stats[node].value_sum if player == chooser else -tree.stats[node].value_sum
        tree.own_sums[leader, player] += own - (tree.path_sums[node, player] if depends else 0.0)


@inline_kernel
def link_block(control: Any, tree: Any, work: Any, node: Any, leader: Any, count: Any) -> None:
    """Link an edge to a block that another edge has made."""
    tree.links[node].first_child = leader
    tree.links[node].num_children = count
    tree.links[node].flags |= SHARED


@inline_kernel
def backup_graph(
    control: Any, tree: Any, path: Any, movers: Any, depth: Any, repeated: bool, ended: bool, rewards: Any
) -> None:  # fmt: skip
    """Add one visit to each edge on the path and recompute the value of each node on it from its edges.

    A visit that `repeated` a position of the path, or `ended` where other paths continue, depends on the path: the
    last edge keeps it apart.
    """
    end = path[depth]
    if repeated or ended:
        _keep_apart(tree, end, rewards)
    if tree.links[end].num_children > 0 and not ended:
        # a leaf that joined a known position, or a position whose moves are all closed: an evaluation of the node
        # itself
        if not repeated:
            leader = tree.links[end].first_child
            tree.own_visits[leader] += 1
            for player in range(len(tree.totals)):
                tree.own_sums[leader, player] += rewards[player]
        _refresh(control, tree, path, movers, depth, rewards)
    else:
        _add_visit(tree, path, movers, depth, not (repeated or ended), rewards)
    for step in range(depth - 1, -1, -1):
        _refresh(control, tree, path, movers, step, rewards)


@inline_kernel
def _keep_apart(tree: Any, edge: Any, rewards: Any) -> None:
    """Note a visit of an edge that depends on the path."""
    if tree.links[edge].flags & PATH_DEPENDENT == 0:
        tree.links[edge].flags |= PATH_DEPENDENT
        tree.path_visits[edge] = 0
        tree.path_sums[edge, :] = 0.0
    tree.path_visits[edge] += 1
    for player in range(len(rewards)):
        tree.path_sums[edge, player] += rewards[player]


@inline_kernel
def _add_visit(tree: Any, path: Any, movers: Any, depth: Any, evaluated: bool, rewards: Any) -> None:
    """Add one visit to the last edge of a path, with what it was worth."""
    end = path[depth]
    if evaluated and tree.links[end].own < MANY_OWN:
        tree.links[end].own += 1
    tree.stats[end].visits += 1
    if depth == 0:
        for player in range(len(tree.totals)):
            tree.totals[player] += rewards[player]
        return
    tree.stats[end].value_sum += rewards[movers[depth - 1]]
    if len(tree.returns) > 0:
        for player in range(len(tree.totals)):
            tree.returns[end, player] += rewards[player]


@inline_kernel
def _refresh(control: Any, tree: Any, path: Any, movers: Any, step: Any, value: Any) -> None:
    """Add one visit to an edge and give it the present value of the node that it leads to; `value` is scratch space.

    Bounds come from the children too: another edge may have proven more about the node since this one was last passed.
    """
    edge = path[step]
    first, count = np.int64(tree.links[edge].first_child), np.int64(tree.links[edge].num_children)
    mover = movers[step]
    if control.solver:
        update_bounds(control, tree, edge, mover)
    visits, total = np.int64(tree.own_visits[first]), tree.own_sums[first, mover]
    for child in range(first, first + count):
        visits += tree.stats[child].visits
        total += tree.stats[child].value_sum
    players = len(tree.totals)
    if len(tree.returns) > 0:
        for player in range(players):
            total = tree.own_sums[first, player]
            for child in range(first, first + count):
                total += tree.returns[child, player]
            value[player] = total / visits
    else:
        mean = total * inverse(visits)
        for player in range(players):
            value[player] = mean if player == mover else -mean
    clip_to_bounds(control, tree, edge, value, 1)
    tree.stats[edge].visits += 1
    passed = np.int64(tree.stats[edge].visits)
    if tree.links[edge].flags & PATH_DEPENDENT:  # never the root
        apart = np.int64(tree.path_visits[edge])
        for player in range(players):
            value[player] = (tree.path_sums[edge, player] + (passed - apart) * value[player]) / passed
        clip_to_bounds(control, tree, edge, value, 1)
    if step == 0:
        for player in range(players):
            tree.totals[player] = value[player] * passed
        return
    tree.stats[edge].value_sum = value[movers[step - 1]] * passed
    if len(tree.returns) > 0:
        for player in range(players):
            tree.returns[edge, player] = value[player] * passed
