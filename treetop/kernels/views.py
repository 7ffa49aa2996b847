"""Search over what players see: hidden cards, moves made at once, actions of real numbers. The idea with a picture: docs/imperfect-information.md.

A node is a *view*: all that one player has seen when it is to choose. Views are found in a table by their key, not by the way that leads there, because
many positions look the same to a player. A view's children are its actions, each with visits, the sum of returns to the player who chooses, and how often
it could have been chosen. Where all choose at once each player chooses in a view of its own. Chance is drawn, and shows in what is seen after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import mix_bits
from treetop.compiler.specialise import by_method
from treetop.kernels.control import (
    BAD_ACTION,
    BAD_COUNT,
    DONE,
    NEED_ROOM,
)
from treetop.kernels.graph import EMPTY
from treetop.tree.layout import MAX_CHILDREN, SPARE
from treetop.types import NONE, ROOT, SIMULTANEOUS

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST_ROOM = 4  # places for the actions of a view whose actions are met one by one


@inline_kernel
def follow(history: Any, action: Any) -> Any:
    """The key of a way that goes on by an action."""
    return mix_bits(history ^ (np.uint64(action + 1) * _GOLDEN))


@inline_kernel
def _own_view(state: Any, viewer: Any, history: Any) -> Any:
    return np.uint64(state.information(viewer))


@inline_kernel
def _open_view(state: Any, viewer: Any, history: Any) -> Any:
    return history


_seen = by_method("information", yes=_own_view, no=_open_view)
"""What a player has seen: as the game says it, or all that was played where nothing is hidden."""


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


# Views.


@inline_kernel
def view_key(state: Any, control: Any, mover: Any, history: Any) -> Any:
    """Whose turn it is, and what the viewer has seen: the mover, or the one who searches."""
    viewer = np.int64(mover if control[0].observers else control[0].searcher)
    return mix_bits(_seen(state, viewer, history) ^ (np.uint64(mover + 1) * _GOLDEN))


@inline_kernel
def find(tree: Any, work: Any, key: Any) -> Any:
    """The view with a key, or NONE. The table is never full: it grows before."""
    last = np.uint64(len(work.table)) - np.uint64(1)
    place = key & last
    while work.table[place] != EMPTY:
        view = np.int64(work.table[place])
        if tree.keys[view] == key:
            return view
        place = (place + np.uint64(1)) & last
    return np.int64(NONE)


@inline_kernel
def _remember(control: Any, tree: Any, work: Any, key: Any, view: Any) -> None:
    last = np.uint64(len(work.table)) - np.uint64(1)
    place = key & last
    while work.table[place] != EMPTY:
        place = (place + np.uint64(1)) & last
    work.table[place] = np.uint64(view)
    tree.keys[view] = key
    control[0].blocks += 1


@kernel
def fill_views(game: Any, control: Any, tree: Any, totals: Any, work: Any) -> None:
    """Find all views again, after the table has grown."""
    work.table[:] = EMPTY
    control[0].blocks = 0
    for view in range(1, control[0].size):
        if tree.keys[view] != np.uint64(0):
            _remember(control, tree, work, tree.keys[view], np.int64(view))


@inline_kernel
def _blank(tree: Any, slot: Any, parent: Any, action: Any) -> None:
    tree.stats[slot].value_sum = 0.0
    tree.stats[slot].visits = 0
    tree.stats[slot].prior = 0.0
    tree.links[slot].action = action
    tree.links[slot].parent = parent
    tree.links[slot].first_child = NONE
    tree.links[slot].num_children = 0
    tree.links[slot].flags = 0
    tree.links[slot].own = 0
    tree.keys[slot] = 0
    tree.available[slot] = 0
    if len(tree.regrets) > 0:
        tree.regrets[slot] = 0.0
        tree.strategies[slot] = 0.0


@kernel
def open_view(control: Any, tree: Any, work: Any, key: Any, room: Any) -> Any:
    """A new view with room for so many actions; NONE where the tree has none left."""
    if control[0].size + 1 + room > control[0].capacity:
        control[0].status = NEED_ROOM
        return np.int64(NONE)
    view = np.int64(control[0].size)
    _blank(tree, view, ROOT, room)
    tree.links[view].first_child = view + 1
    for slot in range(view + 1, view + 1 + room):
        _blank(tree, slot, view, NONE)
        tree.links[slot].flags = SPARE
    control[0].size = view + 1 + room
    _remember(control, tree, work, key, view)
    return view


@kernel
def add_action(control: Any, tree: Any, view: Any, action: Any) -> Any:
    """A place for another action of a view; its actions move where there is no room. NONE where the tree is full."""
    count, room = np.int64(tree.links[view].num_children), np.int64(tree.links[view].action)
    if count == room:
        wider = np.int64(2 * room + FIRST_ROOM)
        if control[0].size + wider > control[0].capacity:
            control[0].status = NEED_ROOM
            return np.int64(NONE)
        old, new = np.int64(tree.links[view].first_child), np.int64(control[0].size)
        for index in range(wider):
            _blank(tree, new + index, view, NONE)
            tree.links[new + index].flags = SPARE
            if index < count:
                _move(tree, old + index, new + index)
        tree.links[view].first_child = new
        tree.links[view].action = wider
        control[0].size = new + wider
    slot = np.int64(tree.links[view].first_child) + count
    tree.links[slot].flags = 0
    tree.links[slot].action = action
    tree.links[view].num_children = count + 1
    return slot


@inline_kernel
def _move(tree: Any, old: Any, new: Any) -> None:
    tree.stats[new] = tree.stats[old]
    tree.links[new] = tree.links[old]
    tree.available[new] = tree.available[old]
    if len(tree.regrets) > 0:
        tree.regrets[new], tree.strategies[new] = tree.regrets[old], tree.strategies[old]
    for index in range(tree.action_values.shape[1]):
        tree.action_values[new, index] = tree.action_values[old, index]
    tree.links[old].flags = SPARE
    tree.links[old].parent = NONE


@inline_kernel
def list_legal(control: Any, state: Any, work: Any, mover: Any) -> Any:
    """How many legal actions of a player were written to `work.actions`."""
    count = np.int64(_legal_actions(state, mover, work.actions))
    if count < 1 or count > control[0].num_actions or count > MAX_CHILDREN:
        control[0].status, control[0].culprit = BAD_COUNT, count
        return np.int64(0)
    for index in range(count):
        if work.actions[index] < 0 or work.actions[index] >= control[0].num_actions:
            control[0].status, control[0].culprit = BAD_ACTION, work.actions[index]
            return np.int64(0)
    return count


@kernel
def add_missing(control: Any, tree: Any, work: Any, view: Any, count: Any) -> None:
    """Give a view those of the legal actions that were never legal in it before."""
    for index in range(count):
        action, found = work.actions[index], np.int64(NONE)
        first, known = np.int64(tree.links[view].first_child), np.int64(tree.links[view].num_children)
        if index < known and tree.links[first + index].action == action:
            found = first + index
        else:
            for slot in range(first, first + known):
                if tree.links[slot].action == action:
                    found = np.int64(slot)
                    break
        if found == NONE:
            found = np.int64(add_action(control, tree, view, action))
            if control[0].status != DONE:
                return


@inline_kernel
def view_of(control: Any, tree: Any, work: Any, state: Any, mover: Any, history: Any, count: Any) -> Any:
    """The view of a player who is to choose here; a new one is opened, as long as the tree may grow. NONE: there is none.

    A view is new until a simulation that ended there has been told: what opened it may have been given up.
    """
    key = view_key(state, control, mover, history)
    view = np.int64(find(tree, work, key))
    if view != NONE:
        if tree.links[view].own == 0:
            control[0].is_new = 1
        return view
    control[0].is_new = 1
    if control[0].frozen:
        return np.int64(NONE)
    return np.int64(open_view(control, tree, work, key, count if count > 0 else np.int64(FIRST_ROOM)))


@inline_kernel
def known_slots(tree: Any, work: Any, view: Any, count: Any) -> Any:
    """The places of the legal actions that a view knows, in `work.tied`; how many."""
    first, known = np.int64(tree.links[view].first_child), np.int64(tree.links[view].num_children)
    found = np.int64(0)
    for index in range(count):
        action = work.actions[index]
        if index < known and tree.links[first + index].action == action:
            work.tied[found] = first + index
            found += 1
            continue
        for slot in range(first, first + known):
            if tree.links[slot].action == action:
                work.tied[found] = slot
                found += 1
                break
    return found
