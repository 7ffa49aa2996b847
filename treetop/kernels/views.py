"""Search over what players see: hidden cards, moves made at once, actions of real numbers. The idea with a picture: docs/what-players-see.md.

A node is a *view*: all that one player has seen when it is to choose. Views are found in a table by their key, not by the way that leads there, because
many positions look the same to a player. A view's children are its actions, each with visits, the sum of returns to the player who chooses, and how often
it could have been chosen. Where all choose at once each player chooses in a view of its own. Chance is drawn, and shows in what is seen after it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import local_copy, local_rng, mix_bits, rng_word, state_at
from treetop.compiler.specialise import by_method
from treetop.kernels.chance import collect, draw_outcome
from treetop.kernels.control import (
    BAD_ACTION,
    BAD_COUNT,
    BAD_OUTCOME,
    BAD_PLAYER,
    BLIND,
    DONE,
    NEED_ROOM,
    OWN_MOVES,
    PUCT,
    REGRET,
    ROLLOUT,
    TOO_LONG,
)
from treetop.kernels.control import HEURISTIC as BY_HEURISTIC
from treetop.kernels.evaluate import outcome, random_action, rollout_action
from treetop.kernels.expand import heuristic
from treetop.kernels.graph import EMPTY
from treetop.kernels.rich import normalised
from treetop.tree.layout import SPARE
from treetop.types import CHANCE, NONE, ROOT, SIMULTANEOUS

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST_ROOM = 4  # places for the actions of a view whose actions are met one by one


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


_determinize = by_method("determinize", yes=_redraw, no=_keep)


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


_apply_joint = by_method("apply_joint", yes=_make_joint, no=_no_joint)


@inline_kernel
def _draw_vector(state: Any, rng: Any, out: Any) -> None:
    state.sample_action(rng, out)


@inline_kernel
def _no_draw(state: Any, rng: Any, out: Any) -> None:
    pass


_sample_action = by_method("sample_action", yes=_draw_vector, no=_no_draw)


@inline_kernel
def _make_vector(state: Any, values: Any) -> None:
    state.apply_vector(values)


@inline_kernel
def _no_vector(state: Any, values: Any) -> None:
    pass


_apply_vector = by_method("apply_vector", yes=_make_vector, no=_no_vector)


# Views.


@inline_kernel
def _view_key(state: Any, control: Any, mover: Any, history: Any) -> Any:
    """Whose turn it is, and what the viewer has seen: the mover, or the one who searches."""
    viewer = np.int64(mover if control[0].observers else control[0].searcher)
    return mix_bits(_seen(state, viewer, history) ^ (np.uint64(mover + 1) * _GOLDEN))


@inline_kernel
def _find(tree: Any, work: Any, key: Any) -> Any:
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
def _open(control: Any, tree: Any, work: Any, key: Any, room: Any) -> Any:
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
def _add_action(control: Any, tree: Any, view: Any, action: Any) -> Any:
    """A place for another action of a view; its actions move where there is no room. NONE where the tree is full."""
    count, room = np.int64(tree.links[view].num_children), np.int64(tree.links[view].action)
    if count == room:
        wider = np.int64(2 * room + _FIRST_ROOM)
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
def _list(control: Any, state: Any, work: Any, mover: Any) -> Any:
    """How many legal actions of a player were written to `work.actions`."""
    count = np.int64(_legal_actions(state, mover, work.actions))
    if count < 1 or count > control[0].num_actions:
        control[0].status, control[0].culprit = BAD_COUNT, count
        return np.int64(0)
    for index in range(count):
        if work.actions[index] < 0 or work.actions[index] >= control[0].num_actions:
            control[0].status, control[0].culprit = BAD_ACTION, work.actions[index]
            return np.int64(0)
    return count


@kernel
def _slots_of(control: Any, tree: Any, work: Any, view: Any, count: Any) -> None:
    """For each legal action its place among the view's, in `work.tied`. What was never legal before in this view is added."""
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
            found = np.int64(_add_action(control, tree, view, action))
            if control[0].status != DONE:
                return
    # Adding may have moved those that were found before, so places are taken once all are there.
    first, known = np.int64(tree.links[view].first_child), np.int64(tree.links[view].num_children)
    for index in range(count):
        action = work.actions[index]
        if index < known and tree.links[first + index].action == action:
            work.tied[index] = first + index
        else:
            for slot in range(first, first + known):
                if tree.links[slot].action == action:
                    work.tied[index] = slot
                    break


@inline_kernel
def _widen(control: Any, tree: Any, work: Any, view: Any, state: Any, rng: Any) -> Any:
    """Draw another action of real numbers if the view has been seen often enough; how many there are, all of them in `work.tied`."""
    count, visits = np.int64(tree.links[view].num_children), tree.stats[view].visits
    if count < max(1, math.ceil(control[0].widening * max(visits, 1) ** control[0].widening_power)):
        slot = np.int64(_add_action(control, tree, view, count))
        if control[0].status != DONE:
            return np.int64(0)
        _sample_action(state, rng, tree.action_values[slot])
        count += 1
    first = np.int64(tree.links[view].first_child)
    for index in range(count):
        work.tied[index] = first + index
    return count


# Choosing.


@inline_kernel
def _mixture(control: Any, tree: Any, work: Any, count: Any) -> None:
    """Regret matching: in `work.scores` each action's share of the positive regrets; equal shares where there are none."""
    total = 0.0
    for index in range(count):
        work.scores[index] = max(0.0, tree.regrets[work.tied[index]])
        total += work.scores[index]
    for index in range(count):
        work.scores[index] = work.scores[index] / total if total > 0.0 else 1.0 / count


@inline_kernel
def _exploring(control: Any, visits: Any) -> float:
    """How often a view that was seen so often tries any action at all. It must fade: an equilibrium against players who err is another one."""
    return float(control[0].regret_mix / (1.0 + 0.01 * visits) ** (1.0 / 3.0))


@inline_kernel
def _explored(mix: float, share: float, count: Any) -> float:
    """The chance with which an action of that share is tried: every one has some."""
    return float((1.0 - mix) * share + mix / count)


@kernel
def _pick(control: Any, tree: Any, work: Any, count: Any, rng: Any) -> Any:
    """Which of the actions in `work.tied` to follow, by the rule."""
    for index in range(count):
        tree.available[work.tied[index]] += 1
    code = control[0].rule
    if code == BLIND:
        return np.int64(work.tied[rng.below(count)])
    if code == REGRET:
        _mixture(control, tree, work, count)
        drawn, mix = rng.random(), _exploring(control, tree.stats[tree.links[work.tied[0]].parent].visits)
        for index in range(count - 1):
            drawn -= _explored(mix, work.scores[index], count)
            if drawn < 0.0:
                return np.int64(work.tied[index])
        return np.int64(work.tied[count - 1])
    highest, equal = -np.inf, 0
    for index in range(count):
        slot = work.tied[index]
        visits, available = tree.stats[slot].visits, float(tree.available[slot])
        value = np.inf if code != PUCT else normalised(control, control[0].first_play)
        if visits > 0:
            value = normalised(control, tree.stats[slot].value_sum / visits)
        if code == PUCT:
            value += control[0].c * math.sqrt(available) / (count * (1.0 + visits))
        elif visits > 0:
            value += control[0].c * math.sqrt(math.log(available) / visits)
        work.scores[index] = value
        if value > highest:
            highest, equal = value, 1
        elif value == highest:
            equal += 1
    turn = rng.below(equal) if equal > 1 else 0
    for index in range(count):
        if work.scores[index] == highest:
            if turn == 0:
                return np.int64(work.tied[index])
            turn -= 1
    return np.int64(work.tied[0])


@inline_kernel
def _learn_regrets(control: Any, tree: Any, work: Any, slot: Any, value: float) -> None:
    """What each action would have brought instead: its mean so far, and for the one that was tried a correction by its chance."""
    view = np.int64(tree.links[slot].parent)
    first, count = np.int64(tree.links[view].first_child), np.int64(tree.links[view].num_children)
    for index in range(count):
        work.tied[index] = first + index
    _mixture(control, tree, work, count)
    expected, mix = 0.0, _exploring(control, tree.stats[view].visits)
    for index in range(count):
        expected += work.scores[index] * _estimate(control, tree, work, first, index, count, slot, mix, value)
    for index in range(count):
        tree.strategies[first + index] += work.scores[index]
        tree.regrets[first + index] += _estimate(control, tree, work, first, index, count, slot, mix, value) - expected


@inline_kernel
def _estimate(control: Any, tree: Any, work: Any, first: Any, index: Any, count: Any, chosen: Any, mix: float, value: float) -> float:
    other = first + index
    visits = tree.stats[other].visits
    usual = tree.stats[other].value_sum / visits if visits > 0 else control[0].middle
    if other == chosen:
        usual += (value - usual) / _explored(mix, work.scores[index], count)
    return float(usual)


# Playing on.


@inline_kernel
def _chance_step(control: Any, work: Any, state: Any, rng: Any) -> Any:
    """Draw an outcome and make it; the outcome, or NONE where the game broke a promise."""
    lot = np.int64(draw_outcome(state, control, work, rng))
    if control[0].status != DONE:
        return np.int64(NONE)
    if lot < 0 or lot >= control[0].num_outcomes:
        control[0].status, control[0].culprit = BAD_OUTCOME, lot
        return np.int64(NONE)
    state.apply(lot)
    return lot


@inline_kernel
def _random_step(control: Any, work: Any, state: Any, rng: Any) -> None:
    """One move of a rollout, whoever is to make it."""
    player = np.int64(state.current_player())
    if player == CHANCE:
        _chance_step(control, work, state, rng)
    elif player == SIMULTANEOUS:
        for mover in range(control[0].players):
            count = _list(control, state, work, np.int64(mover))
            if control[0].status != DONE:
                return
            work.joint[mover] = work.actions[rng.below(count)]
        _apply_joint(state, work.joint)
    elif work.vector.shape[0] > 0:
        _sample_action(state, rng, work.vector)
        _apply_vector(state, work.vector)
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
        lot = state.current_player() == CHANCE
        _random_step(control, work, state, rng)
        if control[0].status != DONE:
            return
        if control[0].on_the_way:
            collect(state, control, work.gain[1])
            for player in range(control[0].players):
                work.gain[0, player] += worth * work.gain[1, player]
        if not lot:
            worth *= control[0].discount
            made += 1
    for player in range(control[0].players):
        rewards[player] = work.gain[0, player] + worth * rewards[player]


@inline_kernel
def _view_of(control: Any, tree: Any, work: Any, state: Any, mover: Any, history: Any, count: Any) -> Any:
    """The view of a player who is to choose here; a new one is opened, as long as the tree may grow. NONE: there is none."""
    key = _view_key(state, control, mover, history)
    view = np.int64(_find(tree, work, key))
    if view != NONE:
        return view
    control[0].fresh = 1
    if control[0].frozen:
        return np.int64(NONE)
    return np.int64(_open(control, tree, work, key, count if count > 0 else np.int64(_FIRST_ROOM)))


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
            _determinize(state, np.int64(control[0].searcher), rng)
        # 1. and 2. Choose view by view, until one is new.
        chosen = _descend(control, tree, work, state, rng)
        if control[0].status != DONE:
            break
        # 3. Evaluate.
        if control[0].fresh:
            _evaluate(control, work, state, np.int64(control[0].depth), work.rewards, rng)
        else:
            outcome(control, state, work.rewards)
        if control[0].status != DONE:
            break
        # 4. Back up.
        _back_up(control, tree, totals, work, chosen, work.rewards)
        control[0].done += 1
        control[0].rng = rng_word(rng)


@inline_kernel
def _descend(control: Any, tree: Any, work: Any, state: Any, rng: Any) -> Any:
    """Walk to a position in which a view is new, or to the end of the game; how many choices were made, the actions in `work.path`."""
    chosen, depth, length = np.int64(0), np.int64(0), np.int64(0)
    history = np.uint64(control[0].history)
    control[0].depth = 0
    control[0].fresh = 0
    work.steps[0, :] = 0.0
    while not state.is_terminal():
        player = np.int64(state.current_player())
        if length >= control[0].max_length:
            control[0].status = TOO_LONG
            return chosen
        length += 1
        if player == CHANCE:
            lot = _chance_step(control, work, state, rng)
            if control[0].status != DONE:
                return chosen
            history = follow(history, lot)
            if control[0].on_the_way:
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
                count = _list(control, state, work, np.int64(mover))
            if control[0].status == DONE:
                work.views[mover] = _view_of(control, tree, work, state, np.int64(mover), history, count)
            if control[0].status != DONE:
                return chosen
            if not vectors and work.views[mover] != NONE and not control[0].frozen:
                _slots_of(control, tree, work, np.int64(work.views[mover]), count)
                if control[0].status != DONE:
                    return chosen
        if control[0].fresh:
            return chosen
        depth += 1
        for mover in range(first, last):
            view = np.int64(work.views[mover])
            if vectors:
                count = np.int64(_widen(control, tree, work, view, state, rng))
            else:
                count = _list(control, state, work, np.int64(mover))
                count = _known_slots(tree, work, view, count)
            if control[0].status != DONE:
                return chosen
            if count == 0:  # a tree that may not grow has never seen these moves
                control[0].fresh = 1
                return chosen
            slot = np.int64(_pick(control, tree, work, count, rng))
            work.path[chosen], work.movers[chosen], work.times[chosen] = slot, mover, depth
            work.joint[mover] = tree.links[slot].action
            chosen += 1
        for mover in range(first, last):
            history = follow(history, work.joint[mover])
        if at_once:
            _apply_joint(state, work.joint)
        elif vectors:
            _apply_vector(state, tree.action_values[work.path[chosen - 1]])
        else:
            state.apply(np.int64(work.joint[player]))
        control[0].depth = length
        work.steps[depth, :] = 0.0
        collect(state, control, work.steps[depth])
        if control[0].status != DONE:
            return chosen
    return chosen


@inline_kernel
def _known_slots(tree: Any, work: Any, view: Any, count: Any) -> Any:
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


@inline_kernel
def _back_up(control: Any, tree: Any, totals: Any, work: Any, chosen: Any, rewards: Any) -> None:
    """One more visit for each action that was chosen, and what came after it for the player who chose."""
    entry = np.int64(chosen) - 1
    depth = np.int64(work.times[entry]) if entry >= 0 else np.int64(0)
    for time in range(depth, 0, -1):
        for player in range(control[0].players):
            rewards[player] = work.steps[time, player] + control[0].discount * rewards[player]
        while entry >= 0 and work.times[entry] == time:
            slot, mover = np.int64(work.path[entry]), np.int64(work.movers[entry])
            value = rewards[mover]
            if control[0].rule == REGRET:
                _learn_regrets(control, tree, work, slot, value)
            tree.stats[slot].visits += 1
            tree.stats[slot].value_sum += value
            tree.stats[tree.links[slot].parent].visits += 1
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
        view = np.int64(_find(tree, work, _view_key(state, control, mover, np.uint64(control[0].history))))
        if view != NONE:
            tree.links[ROOT].first_child, tree.links[ROOT].num_children = tree.links[view].first_child, tree.links[view].num_children
