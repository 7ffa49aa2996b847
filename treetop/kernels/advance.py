"""Play a move: the state at the root, what the game says of it, and the part of the tree below the move.

Nodes keep their order and slide to the front of their arrays, because a parent always comes before its children. So no
memory is allocated, and a tree is re-rooted in microseconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import state_at
from treetop.kernels.chance.outcomes import SEAT, is_chance
from treetop.kernels.control import DONE
from treetop.kernels.rewards import collect
from treetop.tree.layout import PROVEN
from treetop.types import NONE, ROOT

OVER, PLAYER, COUNT, KEPT = 0, 1, 2, 3
"""What a call writes: whether the game is over, the player to move, how many legal actions there are, and whether the
tree was re-rooted (1), cleared (0) or cannot be re-rooted in place (NONE)."""


@kernel
def advance(game: Any, controls: Any, tree: Any, roots: Any, work: Any, places: Any, action: int, written: Any) -> None:
    """Apply an action of a player to the state at the root, write what the game says of it, and re-root the tree.

    The legal actions are written to `work.actions`. `places` has space for a number for each node.
    """
    control = controls[0]
    state = state_at(game, roots, 0)
    mover = max(np.int64(state.current_player()), np.int64(SEAT))
    state.apply(np.int64(action))
    look(state, work, written)
    fade = 1.0 if written[OVER] == 0 and is_chance(state) else control.discount
    control.status = DONE
    node = find_child(tree, action)
    written[KEPT] = 0
    if node != NONE and tree.stats[node].visits > 0 and fade != 0.0:
        if control.step_rewards:
            collect(state, control, work.gain[1])
        written[KEPT] = 1 if reroot(control, tree, places, node, mover) else NONE
        if written[KEPT] == 1:
            _move_totals(control, tree, work, fade)
    if written[KEPT] == 0:
        clear(control, tree)


@inline_kernel
def look(state: Any, work: Any, written: Any) -> None:
    """Write whether the game is over, the player to move and the legal actions."""
    written[OVER], written[PLAYER], written[COUNT] = bool(state.is_terminal()), NONE, 0
    if written[OVER] == 0:
        written[PLAYER] = np.int64(state.current_player())
        if written[PLAYER] >= 0:
            written[COUNT] = np.int64(state.legal_actions(work.actions))


@inline_kernel
def find_child(tree: Any, action: Any) -> Any:
    """Return the child of the root with an action, or NONE."""
    first = np.int64(tree.links[ROOT].first_child)
    for child in range(first, first + np.int64(tree.links[ROOT].num_children)):
        if tree.links[child].action == action:
            return np.int64(child)
    return np.int64(NONE)


@inline_kernel
def clear(control: Any, tree: Any) -> None:
    """Remove everything but the root, and reset the root."""
    _copy_node(tree, np.int64(ROOT), np.int64(ROOT), True)
    for player in range(len(tree.totals)):
        tree.totals[player] = 0.0
    tree.stats[ROOT].value_sum, tree.stats[ROOT].visits, tree.stats[ROOT].prior = 0.0, 0, 1.0
    tree.links[ROOT].action, tree.links[ROOT].parent, tree.links[ROOT].first_child = NONE, NONE, NONE
    tree.links[ROOT].num_children, tree.links[ROOT].flags, tree.links[ROOT].own = 0, 0, 0
    control.size = 1


@kernel
def reroot(control: Any, tree: Any, places: Any, node: Any, player: Any) -> bool:
    """Make `node`, which `player` chose, the root, and keep only its subtree.

    Return False, and change nothing, where a parent does not come before its children.
    """
    places[node] = ROOT
    size = np.int64(1)
    for index in range(node + 1, control.size):
        parent = np.int64(tree.links[index].parent)
        if parent >= index:
            return False
        if parent >= node and places[parent] != NONE:
            places[index] = size
            size += 1
        else:
            places[index] = NONE
    for other in range(len(tree.totals)):
        if len(tree.returns) > 0:
            tree.totals[other] = tree.returns[node, other]
        else:
            value = tree.stats[node].value_sum
            tree.totals[other] = value if other == player else -value
    for index in range(node, control.size):
        place = np.int64(places[index])
        if place != NONE:
            _copy_node(tree, place, np.int64(index), False)
            if place != ROOT:
                tree.links[place].parent = places[tree.links[place].parent]
            if tree.links[place].num_children > 0:
                tree.links[place].first_child = places[tree.links[place].first_child]
            else:
                tree.links[place].first_child = NONE
    tree.stats[ROOT].value_sum, tree.stats[ROOT].prior = 0.0, 1.0
    tree.links[ROOT].action, tree.links[ROOT].parent = NONE, NONE
    if tree.links[ROOT].num_children == 0:  # the proof was removed with the children: it must be found again
        tree.links[ROOT].flags &= ~PROVEN
    control.size = size
    return True


@inline_kernel
def _move_totals(control: Any, tree: Any, work: Any, fade: float) -> None:
    """Remove the reward of the step to the new root from its value sums, and the discount."""
    for player in range(len(tree.totals)):
        if control.step_rewards:
            tree.totals[player] -= tree.stats[ROOT].visits * work.gain[1, player]
        tree.totals[player] /= fade


@inline_kernel
def _copy_node(tree: Any, place: Any, node: Any, zero: bool) -> None:
    """Copy a node to another place, in every column that the tree has; or write zeros to its optional columns."""
    if not zero:
        tree.stats[place] = tree.stats[node]
        tree.links[place] = tree.links[node]
    for player in range(len(tree.totals)):
        if len(tree.returns) > 0:
            tree.returns[place, player] = 0.0 if zero else tree.returns[node, player]
        if len(tree.vectors) > 0:
            tree.vectors[place, player] = 0.0 if zero else tree.vectors[node, player]
        if len(tree.own_sums) > 0:
            tree.own_sums[place, player] = 0.0 if zero else tree.own_sums[node, player]
        if len(tree.bounds) > 0:
            for bound in (player, player + len(tree.totals)):
                tree.bounds[place, bound] = 0.0 if zero else tree.bounds[node, bound]
    if len(tree.in_flight) > 0:
        tree.in_flight[place] = 0 if zero else tree.in_flight[node]
    if len(tree.squares) > 0:
        tree.squares[place] = 0.0 if zero else tree.squares[node]
    if len(tree.distances) > 0:
        tree.distances[place] = 0 if zero else tree.distances[node]
    if len(tree.own_visits) > 0:
        tree.own_visits[place] = 0 if zero else tree.own_visits[node]
    if len(tree.amaf) > 0:
        if zero:
            tree.amaf[place].value_sum, tree.amaf[place].visits, tree.amaf[place].action = 0.0, 0, 0
        else:
            tree.amaf[place] = tree.amaf[node]
