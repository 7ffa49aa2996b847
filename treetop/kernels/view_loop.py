"""The search loop over what players see: choose view by view, evaluate where one is new, tell every choice what came of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import local_copy, local_rng, rng_word, state_at
from treetop.kernels.chance.outcomes import draw_outcome
from treetop.kernels.control import (
    BAD_ACTION,
    BAD_OUTCOME,
    BAD_PLAYER,
    DONE,
    NEED_ROOM,
    OWN_MOVES,
    ROLLOUT,
    TOO_LONG,
)
from treetop.kernels.control import HEURISTIC as BY_HEURISTIC
from treetop.kernels.evaluate import random_action, rollout_action
from treetop.kernels.expand import heuristic
from treetop.kernels.rewards import collect, outcome
from treetop.kernels.rules.regret_matching import update_regrets
from treetop.kernels.view_rules import count_outcomes, followed_outcome, pick, widen
from treetop.kernels.views import (
    add_missing,
    apply_joint,
    apply_vector,
    determinize,
    find,
    follow,
    known_slots,
    list_legal,
    sample_action,
    view_key,
    view_of,
)
from treetop.types import CHANCE, NONE, ROOT, SIMULTANEOUS


@inline_kernel
def _make_outcome(control: Any, state: Any, lot: Any) -> None:
    """Make an outcome, unless the game has broken a promise."""
    if control[0].status == DONE and (lot < 0 or lot >= control[0].num_outcomes):
        control[0].status, control[0].culprit = BAD_OUTCOME, lot
    if control[0].status == DONE:
        state.apply(lot)


@inline_kernel
def _random_step(control: Any, work: Any, state: Any, rng: Any) -> None:
    """One move of a rollout, whoever is to make it."""
    player = np.int64(state.current_player())
    if player == CHANCE:
        _make_outcome(control, state, np.int64(draw_outcome(state, control, work, rng)))
    elif player == SIMULTANEOUS:
        for mover in range(control[0].players):
            count = list_legal(control, state, work, np.int64(mover))
            if control[0].status != DONE:
                return
            work.joint[mover] = work.actions[rng.below(count)]
        apply_joint(state, work.joint)
    elif work.vector.shape[0] > 0:
        sample_action(state, rng, work.vector)
        apply_vector(state, work.vector)
    else:
        if control[0].rollout_policy == OWN_MOVES:
            action = np.int64(rollout_action(state, work.actions, rng))
        else:
            action = np.int64(random_action(state, work.actions, rng))
        if action < 0 or action >= control[0].num_actions:
            control[0].status, control[0].culprit = BAD_ACTION, action
            return
        state.apply(action)


@kernel
def _evaluate(control: Any, work: Any, start: Any, depth: Any, rewards: Any, rng: Any) -> None:
    """What a position is worth to every player: by a rollout, by the game's heuristic, or nothing is known."""
    if control[0].evaluator == BY_HEURISTIC and control[0].rollout_weight == 0.0:
        heuristic(start, control, rewards)
        return
    if control[0].evaluator != ROLLOUT:
        rewards[:] = control[0].middle
        return
    state = local_copy(start)
    worth, made, left = 1.0, 0, control[0].max_length - depth
    work.gain[0, :] = 0.0
    while True:
        if state.is_terminal():
            outcome(control, state, rewards)
            break
        if made >= control[0].rollout_depth and state.current_player() != CHANCE:
            heuristic(state, control, rewards)
            break
        if left <= 0:
            control[0].status = TOO_LONG
            return
        left -= 1
        if state.current_player() != CHANCE:
            if made > 0:
                worth *= control[0].discount
            made += 1
        _random_step(control, work, state, rng)
        if control[0].status != DONE:
            return
        if control[0].step_rewards:
            collect(state, control, work.gain[1])
            for player in range(control[0].players):
                work.gain[0, player] += worth * work.gain[1, player]
    if made > 0:
        worth *= control[0].discount
    for player in range(control[0].players):
        rewards[player] = work.gain[0, player] + worth * rewards[player]


@kernel
def look(game: Any, control: Any, tree: Any, totals: Any, root: Any, work: Any) -> None:
    """Run simulations until the budget is used up, or something needs the caller: `control` says what."""
    rng = local_rng(control[0].rng)
    control[0].done = 0
    control[0].status = DONE
    while control[0].done < control[0].budget:
        if 2 * control[0].blocks + control[0].players >= len(work.table):
            control[0].status = NEED_ROOM
            break
        state = local_copy(state_at(game, root, 0))
        if control[0].hidden:
            determinize(state, np.int64(control[0].searcher), rng)
        # 1. and 2. Choose view by view, until one is new.
        chosen = _descend(control, tree, work, state, rng)
        if control[0].status != DONE:
            break
        # 3. Evaluate.
        if control[0].is_new:
            _evaluate(control, work, state, np.int64(control[0].depth), work.rewards, rng)
        else:
            outcome(control, state, work.rewards)
        if control[0].status != DONE:
            break
        # 4. Back up.
        if control[0].is_new:
            _mark_visited(control, tree, work, state)
        _back_up(control, tree, totals, work, chosen, work.rewards)
        control[0].done += 1
        control[0].rng = rng_word(rng)


@inline_kernel
def _descend(control: Any, tree: Any, work: Any, state: Any, rng: Any) -> Any:
    """Walk to a position in which a view is new, or to the end of the game; how many choices were made.

    Their views are in `work.path`, which of their actions in `work.places`: the actions of a view may move to other slots.
    """
    chosen, depth, length = np.int64(0), np.int64(0), np.int64(0)
    history = np.uint64(control[0].history)
    control[0].depth = 0
    control[0].is_new = 0
    control[0].logged = 0
    work.steps[0, :] = 0.0
    while not state.is_terminal():
        player = np.int64(state.current_player())
        if length >= control[0].max_length:
            control[0].status = TOO_LONG
            return chosen
        length += 1
        if player == CHANCE:
            if control[0].chance_widening > 0.0:
                chosen += followed_outcome(control, tree, work, state, history, chosen, depth, rng)
                lot = np.int64(control[0].outcome)
            else:
                lot = np.int64(draw_outcome(state, control, work, rng))
            _make_outcome(control, state, lot)
            if control[0].status != DONE:
                return chosen
            control[0].depth = length
            if not control[0].open_loop:
                history = follow(history, lot)
            if control[0].step_rewards:
                collect(state, control, work.gain[1])
                for other in range(control[0].players):
                    work.steps[depth, other] += work.gain[1, other]
            continue
        at_once = player == SIMULTANEOUS
        if not at_once and (player < 0 or player >= control[0].players):
            control[0].status, control[0].culprit = BAD_PLAYER, player
            return chosen
        first, last = (np.int64(0), np.int64(control[0].players)) if at_once else (player, player + 1)
        vectors = work.vector.shape[0] > 0
        for mover in range(first, last):
            count = np.int64(0)
            if not vectors:
                count = list_legal(control, state, work, np.int64(mover))
            if control[0].status == DONE:
                work.views[mover] = view_of(control, tree, work, state, np.int64(mover), history, count)
            if control[0].status != DONE:
                return chosen
            if not vectors and work.views[mover] != NONE and not control[0].frozen:
                add_missing(control, tree, work, np.int64(work.views[mover]), count)
                if control[0].status != DONE:
                    return chosen
        if control[0].is_new:
            return chosen
        depth += 1
        made = chosen
        for mover in range(first, last):
            view = np.int64(work.views[mover])
            if vectors:
                count = np.int64(widen(control, tree, work, view, state, rng))
            else:
                count = list_legal(control, state, work, np.int64(mover))
                count = known_slots(tree, work, view, count)
            if control[0].status != DONE:
                return chosen
            if count == 0:  # a tree that may not grow has never seen these moves
                control[0].is_new = 1
                return chosen
            slot = np.int64(pick(control, tree, work, count, rng))
            work.path[made], work.movers[made], work.times[made] = view, mover, depth
            work.places[made] = slot - tree.links[view].first_child
            work.joint[mover] = tree.links[slot].action
            _note_offered(control, tree, work, view, made, count)
            if control[0].status != DONE:
                return chosen
            made += 1
        chosen = made  # all of them, or none
        for mover in range(first, last):
            history = follow(history, work.joint[mover])
        if at_once:
            apply_joint(state, work.joint)
        elif vectors:
            apply_vector(
                state, tree.action_values[tree.links[work.path[chosen - 1]].first_child + work.places[chosen - 1]]
            )
        else:
            state.apply(np.int64(work.joint[player]))
        control[0].depth = length
        work.steps[depth, :] = 0.0
        collect(state, control, work.steps[depth])
        if control[0].status != DONE:
            return chosen
    return chosen


@inline_kernel
def _note_offered(control: Any, tree: Any, work: Any, view: Any, entry: Any, count: Any) -> None:
    """Keep which actions of a view, in `work.tied`, could have been chosen: mostly all of them, else a list in `work.offered`."""
    work.counts[entry], work.starts[entry] = count, NONE
    if count == tree.links[view].num_children:
        return
    start = np.int64(control[0].logged)
    if start + count > len(work.offered):
        control[0].status = NEED_ROOM
        return
    for index in range(count):
        work.offered[start + index] = work.tied[index] - tree.links[view].first_child
    work.starts[entry] = start
    control[0].logged = start + count


@inline_kernel
def _mark_visited(control: Any, tree: Any, work: Any, state: Any) -> None:
    """The views at the end of a simulation are new no longer."""
    player = np.int64(state.current_player())
    for mover in range(control[0].players):
        if (player == mover or player == SIMULTANEOUS) and work.views[mover] != NONE:
            tree.links[work.views[mover]].own = 1


@inline_kernel
def _back_up(control: Any, tree: Any, totals: Any, work: Any, chosen: Any, rewards: Any) -> None:
    """One more visit for each action that was chosen, and what came after it for the player who chose."""
    if control[0].chance_widening > 0.0:
        count_outcomes(tree, work, chosen)
    entry = np.int64(chosen) - 1
    depth = np.int64(work.times[entry]) if entry >= 0 else np.int64(0)
    for time in range(depth, 0, -1):
        for player in range(control[0].players):
            rewards[player] = work.steps[time, player] + control[0].discount * rewards[player]
        while entry >= 0 and work.times[entry] == time:
            view, mover = np.int64(work.path[entry]), np.int64(work.movers[entry])
            if mover == CHANCE:
                entry -= 1
                continue
            first, value = np.int64(tree.links[view].first_child), rewards[mover]
            slot = first + work.places[entry]
            if len(tree.regrets) > 0:
                update_regrets(control, tree, work, view, slot, value)
            for index in range(work.counts[entry]):
                offered = index if work.starts[entry] == NONE else work.offered[work.starts[entry] + index]
                tree.available[first + offered] += 1
            tree.stats[slot].visits += 1
            tree.stats[slot].value_sum += value
            tree.stats[view].visits += 1
            if control[0].normalise:
                mean = tree.stats[slot].value_sum / tree.stats[slot].visits
                control[0].value_low = min(control[0].value_low, mean)
                control[0].value_high = max(control[0].value_high, mean)
            entry -= 1
    tree.stats[ROOT].visits += 1
    for player in range(control[0].players):
        totals[player] += work.steps[0, player] + rewards[player]


@kernel
def find_root(game: Any, control: Any, tree: Any, totals: Any, root: Any, work: Any) -> None:
    """Let the root's slot show the actions of the view that the search is about."""
    state = local_copy(state_at(game, root, 0))
    player = np.int64(state.current_player())
    tree.links[ROOT].first_child, tree.links[ROOT].num_children = NONE, 0
    if player != CHANCE:
        mover = np.int64(control[0].searcher)
        view = np.int64(find(tree, work, view_key(state, control, mover, np.uint64(control[0].history))))
        if view != NONE:
            tree.links[ROOT].first_child, tree.links[ROOT].num_children = (
                tree.links[view].first_child,
                tree.links[view].num_children,
            )
