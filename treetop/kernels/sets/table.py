"""Information sets: nodes that are found by what a player knows. The idea with a picture: docs/imperfect-
information.md.

A node is an information set: everything that one player knows when it chooses. Sets are found in a table by their keys,
not by the path that leads there, because many positions are the same to a player. The children of a set are its
actions, each with visits, the sum of returns to the player who chooses, and its availability: how often it could have
been chosen. With simultaneous moves each player chooses in a set of its own. Chance is sampled, and is part of what is
known after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import mix_bits
from treetop.compiler.specialise import by_method
from treetop.kernels.control import (
    DONE,
    NEED_CAPACITY,
)
from treetop.kernels.graph import EMPTY
from treetop.tree.layout import SPARE
from treetop.types import NONE, ROOT

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST_PLACES = 4  # for the actions of a set whose actions are met one by one


@inline_kernel
def follow(history: Any, action: Any) -> Any:
    """Return the key of a history that continues with an action."""
    return mix_bits(history ^ (np.uint64(action + 1) * _GOLDEN))


@inline_kernel
def _own_information(state: Any, observer: Any, history: Any) -> Any:
    return np.uint64(state.information(observer))


@inline_kernel
def _public_information(state: Any, observer: Any, history: Any) -> Any:
    return history


_information = by_method("information", yes=_own_information, no=_public_information)
"""Return the key of what a player knows: by the game's own method, or the history in games with perfect information."""


@inline_kernel
def set_key(state: Any, control: Any, mover: Any, history: Any) -> Any:
    """Return the key of a set: who is to move, and what the observer knows (the mover, or the searching player)."""
    observer = np.int64(mover if control.observers else control.searcher)
    return mix_bits(_information(state, observer, history) ^ (np.uint64(mover + 1) * _GOLDEN))


@inline_kernel
def find(tree: Any, work: Any, key: Any) -> Any:
    """Return the set with a key, or NONE. The table is never full: it grows before."""
    last = np.uint64(len(work.table)) - np.uint64(1)
    place = key & last
    while work.table[place] != EMPTY:
        info_set = np.int64(work.table[place])
        if tree.keys[info_set] == key:
            return info_set
        place = (place + np.uint64(1)) & last
    return np.int64(NONE)


@inline_kernel
def _remember(control: Any, tree: Any, work: Any, key: Any, info_set: Any) -> None:
    last = np.uint64(len(work.table)) - np.uint64(1)
    place = key & last
    while work.table[place] != EMPTY:
        place = (place + np.uint64(1)) & last
    work.table[place] = np.uint64(info_set)
    tree.keys[info_set] = key
    control.blocks += 1


@kernel
def fill_sets(game: Any, controls: Any, tree: Any, work: Any) -> None:
    """Fill the table again, after it has grown."""
    control = controls[0]
    work.table[:] = EMPTY
    control.blocks = 0
    for info_set in range(1, control.size):
        if tree.keys[info_set] != np.uint64(0):
            _remember(control, tree, work, tree.keys[info_set], np.int64(info_set))


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
def open_set(control: Any, tree: Any, work: Any, key: Any, places: Any) -> Any:
    """Return a new set with places for so many actions; NONE where the tree is full."""
    if control.size + 1 + places > control.capacity:
        control.status = NEED_CAPACITY
        return np.int64(NONE)
    info_set = np.int64(control.size)
    _blank(tree, info_set, ROOT, places)
    tree.links[info_set].first_child = info_set + 1
    for slot in range(info_set + 1, info_set + 1 + places):
        _blank(tree, slot, info_set, NONE)
        tree.links[slot].flags = SPARE
    control.size = info_set + 1 + places
    _remember(control, tree, work, key, info_set)
    return info_set


@kernel
def add_action(control: Any, tree: Any, info_set: Any, action: Any) -> Any:
    """Return a place for another action of a set, whose actions may move; NONE where the tree is full."""
    count, places = np.int64(tree.links[info_set].num_children), np.int64(tree.links[info_set].action)
    if count == places:
        wider = np.int64(2 * places + FIRST_PLACES)
        if control.size + wider > control.capacity:
            control.status = NEED_CAPACITY
            return np.int64(NONE)
        old, new = np.int64(tree.links[info_set].first_child), np.int64(control.size)
        for index in range(wider):
            _blank(tree, new + index, info_set, NONE)
            tree.links[new + index].flags = SPARE
            if index < count:
                _move(tree, old + index, new + index)
        tree.links[info_set].first_child = new
        tree.links[info_set].action = wider
        control.size = new + wider
    slot = np.int64(tree.links[info_set].first_child) + count
    tree.links[slot].flags = 0
    tree.links[slot].action = action
    tree.links[info_set].num_children = count + 1
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


@kernel
def add_missing(control: Any, tree: Any, work: Any, info_set: Any, count: Any) -> None:
    """Add the legal actions that were never legal in a set before."""
    for index in range(count):
        action, found = work.actions[index], np.int64(NONE)
        first, known = np.int64(tree.links[info_set].first_child), np.int64(tree.links[info_set].num_children)
        if index < known and tree.links[first + index].action == action:
            found = first + index
        else:
            for slot in range(first, first + known):
                if tree.links[slot].action == action:
                    found = np.int64(slot)
                    break
        if found == NONE:
            found = np.int64(add_action(control, tree, info_set, action))
            if control.status != DONE:
                return


@inline_kernel
def set_of(control: Any, tree: Any, work: Any, state: Any, mover: Any, history: Any, count: Any) -> Any:
    """Return the set in which a player chooses; a new one is made while the tree may grow. NONE: there is none.

    A set is new until a simulation that ended in it was backed up: the simulation that made it may have been given up.
    """
    key = set_key(state, control, mover, history)
    info_set = np.int64(find(tree, work, key))
    if info_set != NONE:
        if tree.links[info_set].own == 0:
            control.is_new = 1
        return info_set
    control.is_new = 1
    if control.frozen:
        return np.int64(NONE)
    return np.int64(open_set(control, tree, work, key, count if count > 0 else np.int64(FIRST_PLACES)))


@inline_kernel
def known_slots(tree: Any, work: Any, info_set: Any, count: Any) -> Any:
    """Write the places of the legal actions that a set has to `work.tied`; return how many."""
    first, known = np.int64(tree.links[info_set].first_child), np.int64(tree.links[info_set].num_children)
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
