"""The descent over information sets.

It is not the descent of a tree: at one step several players may choose, each in a set that is found by its key, among
actions that are legal only in some of its positions; and chance is sampled, not stored. The rest of the loop (run,
evaluation, selection scores) is shared.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import local_copy, state_at
from treetop.kernels.chance.outcomes import draw_outcome
from treetop.kernels.control import BAD_PLAYER, DONE, NEED_CAPACITY, TOO_LONG
from treetop.kernels.endings import ENDED, LEAF
from treetop.kernels.moves import apply_joint, apply_outcome, apply_vector, list_legal
from treetop.kernels.rewards import collect
from treetop.kernels.sets.select import followed_outcome, pick, widen
from treetop.kernels.sets.table import add_missing, find, follow, known_slots, set_key, set_of
from treetop.types import CHANCE, NONE, ROOT, SIMULTANEOUS


@inline_kernel
def descend_sets(control: Any, tree: Any, work: Any, state: Any, path: Any, movers: Any, start: Any, rng: Any) -> Any:
    """Descend to a position in which a set is new, or to the end of the game; return how many moves were made.

    The choices are counted in `control`. Their sets are in `path`, the places of their actions in `work.places`: the
    actions of a set may move.
    """
    chosen, depth, length = np.int64(0), np.int64(0), np.int64(0)
    control.ending = LEAF
    history = np.uint64(control.history)
    control.depth = 0
    control.is_new = 0
    control.logged = 0
    work.steps[0, :] = 0.0
    while not state.is_terminal():
        player = np.int64(state.current_player())
        if length >= control.max_length:
            control.status = TOO_LONG
            return np.int64(control.depth)
        length += 1
        if player == CHANCE:
            if control.chance_widening > 0.0:
                chosen += followed_outcome(control, tree, work, state, history, chosen, depth, rng)
                lot = np.int64(control.outcome)
            else:
                lot = np.int64(draw_outcome(state, control, work, rng))
            apply_outcome(control, state, lot)
            if control.status != DONE:
                return np.int64(control.depth)
            control.depth = length
            if not control.open_loop:
                history = follow(history, lot)
            if control.step_rewards:
                collect(state, control, work.gain[1])
                for other in range(control.players):
                    work.steps[depth, other] += work.gain[1, other]
            continue
        simultaneous = player == SIMULTANEOUS
        if not simultaneous and (player < 0 or player >= control.players):
            control.status, control.culprit = BAD_PLAYER, player
            return np.int64(control.depth)
        first, last = (np.int64(0), np.int64(control.players)) if simultaneous else (player, player + 1)
        vectors = work.vector.shape[0] > 0
        for mover in range(first, last):
            count = np.int64(0)
            if not vectors:
                count = list_legal(control, state, work, np.int64(mover))
            if control.status == DONE:
                work.sets[mover] = set_of(control, tree, work, state, np.int64(mover), history, count)
            if control.status != DONE:
                return np.int64(control.depth)
            if not vectors and work.sets[mover] != NONE and not control.frozen:
                add_missing(control, tree, work, np.int64(work.sets[mover]), count)
                if control.status != DONE:
                    return np.int64(control.depth)
        if control.is_new:
            for other in range(control.players):
                if other < first or other >= last:
                    work.sets[other] = NONE
            control.chosen = chosen
            return np.int64(control.depth)
        depth += 1
        made = chosen
        for mover in range(first, last):
            info_set = np.int64(work.sets[mover])
            if vectors:
                count = np.int64(widen(control, tree, work, info_set, state, rng))
            else:
                count = list_legal(control, state, work, np.int64(mover))
                count = known_slots(tree, work, info_set, count)
            if control.status != DONE:
                return np.int64(control.depth)
            if count == 0:  # a tree that may not grow has never seen these moves
                work.sets[:] = NONE
                control.is_new, control.chosen = 1, chosen
                return np.int64(control.depth)
            slot = np.int64(pick(control, tree, work, count, rng))
            path[made], movers[made], work.times[made] = info_set, mover, depth
            work.places[made] = slot - tree.links[info_set].first_child
            work.joint[mover] = tree.links[slot].action
            _note_offered(control, tree, work, info_set, made, count)
            if control.status != DONE:
                return np.int64(control.depth)
            made += 1
        chosen = made  # all of them, or none
        for mover in range(first, last):
            history = follow(history, work.joint[mover])
        if simultaneous:
            apply_joint(state, work.joint)
        elif vectors:
            apply_vector(state, tree.action_values[tree.links[path[chosen - 1]].first_child + work.places[chosen - 1]])
        else:
            state.apply(np.int64(work.joint[player]))
        control.depth = length
        work.steps[depth, :] = 0.0
        collect(state, control, work.steps[depth])
        if control.status != DONE:
            return np.int64(control.depth)
    control.ending, control.chosen = ENDED, chosen
    return np.int64(control.depth)


@inline_kernel
def _note_offered(control: Any, tree: Any, work: Any, info_set: Any, entry: Any, count: Any) -> None:
    """Keep which actions of a set could have been chosen: all, or those in `work.tied`, kept in `work.offered`."""
    work.counts[entry], work.starts[entry] = count, NONE
    if count == tree.links[info_set].num_children:
        return
    start = np.int64(control.logged)
    if start + count > len(work.offered):
        control.status = NEED_CAPACITY
        return
    for index in range(count):
        work.offered[start + index] = work.tied[index] - tree.links[info_set].first_child
    work.starts[entry] = start
    control.logged = start + count


@kernel
def find_root(game: Any, controls: Any, tree: Any, root: Any, work: Any) -> None:
    """Let the root show the actions of the set that the search is about."""
    control = controls[0]
    state = local_copy(state_at(game, root, 0))
    player = np.int64(state.current_player())
    tree.links[ROOT].first_child, tree.links[ROOT].num_children = NONE, 0
    if player != CHANCE:
        mover = np.int64(control.searcher)
        info_set = np.int64(find(tree, work, set_key(state, control, mover, np.uint64(control.history))))
        if info_set != NONE:
            tree.links[ROOT].first_child, tree.links[ROOT].num_children = (
                tree.links[info_set].first_child,
                tree.links[info_set].num_children,
            )
