"""Play moves: the states at the roots, what the game says of them, and the parts of the trees below the moves.

Nodes keep their order and slide to the front of their arrays, because a parent always comes before its children. So no
memory is allocated, and a tree is re-rooted in microseconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import local_copy, local_rng, mix_bits, pack_at, rng_word, state_at
from treetop.compiler.specialise import by_method
from treetop.kernels.chance.outcomes import SEAT, draw_outcome, is_chance, list_outcomes
from treetop.kernels.control import DONE
from treetop.kernels.rewards import collect
from treetop.tree.layout import PROVEN
from treetop.types import NONE, ROOT

OVER, PLAYER, COUNT, KEPT = 0, 1, 2, 3
"""What is written for each slot: whether the game is over, the player to move, how many legal actions there are, and
what became of the tree: re-rooted (1), cleared (0), or left as it was where it cannot be re-rooted in place (NONE)."""
ILLEGAL = -2
"""In the place of KEPT: the action is not legal here, and nothing was changed in any slot."""
TRIED = -3
"""In the place of KEPT: the action can be played, and nothing was changed yet."""
SKIP = -1
"""The action of a slot that stays as it is."""
WRITTEN = 4


@kernel
def advance(
    game: Any, controls: Any, trees: Any, roots: Any, works: Any, places: Any, actions: Any, written: Any,
    first: int, last: int,
) -> bool:  # fmt: skip
    """Apply an action or an outcome of chance in each slot, write what the game says of the new states, and re-root.

    Return False, and change nothing, if an action is not legal: `written` says where. A method of the game that fails
    does so in a copy of the state, before anything has changed. The legal actions of the new state are in
    `work.actions`. `places` has space for a number for each node of a tree.
    """
    legal = True
    for slot in range(first, last):
        if actions[slot] != SKIP:
            state, control = state_at(game, roots, slot), controls[slot]
            if _is_legal(state, control, pack_at(works, slot), actions[slot]):
                _try(local_copy(state), pack_at(works, slot), actions[slot])
                written[slot, KEPT] = TRIED
            else:
                written[slot, KEPT] = ILLEGAL
                legal = False
    if legal:
        for slot in range(first, last):
            if actions[slot] != SKIP:
                tree, work = pack_at(trees, slot), pack_at(works, slot)
                advance_one(
                    controls[slot], tree, state_at(game, roots, slot), work, places, actions[slot], written[slot]
                )
    return legal


@kernel
def _is_legal(state: Any, control: Any, work: Any, action: Any) -> bool:
    if is_chance(state):
        count: Any = np.int64(list_outcomes(state, control, work))
    else:
        count = np.int64(state.legal_actions(work.actions))
    for index in range(min(count, len(work.actions))):
        if work.actions[index] == action:
            return True
    return False


@kernel
def _try(state: Any, work: Any, action: Any) -> None:
    """Apply an action to a copy of a state, and call what `look` will call."""
    state.apply(np.int64(action))
    if not state.is_terminal() and np.int64(state.current_player()) >= 0:
        state.legal_actions(work.actions)


@kernel
def advance_one(control: Any, tree: Any, state: Any, work: Any, places: Any, action: Any, written: Any) -> None:
    """Apply an action of a player, or an outcome of chance, and re-root the tree."""
    mover = max(np.int64(state.current_player()), np.int64(SEAT))
    state.apply(np.int64(action))
    control.moves += 1
    control.arms, control.status = 0, DONE
    look(state, work, written)
    fade = 1.0 if written[OVER] == 0 and is_chance(state) else control.discount
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


@kernel
def resolve_chance(
    game: Any, controls: Any, trees: Any, roots: Any, works: Any, places: Any, outcomes: Any, written: Any,
    streams: Any, first: int, last: int,
) -> int:  # fmt: skip
    """Draw an outcome in each slot where chance decides, and advance by it; return in how many slots that was.

    `outcomes` gets the outcome of each slot, or SKIP. A slot has its own stream of random numbers. Call it until it
    returns 0: outcomes may follow each other.
    """
    drawn = 0
    for slot in range(first, last):
        outcomes[slot] = SKIP
        state, control = state_at(game, roots, slot), controls[slot]
        if written[slot, OVER] == 0 and is_chance(state):
            work = pack_at(works, slot)
            rng = local_rng(streams[slot])
            control.status = DONE
            outcomes[slot] = draw_outcome(state, control, work, rng)
            streams[slot] = rng_word(rng)
            if control.status != DONE:
                continue
            advance_one(control, pack_at(trees, slot), state, work, places, outcomes[slot], written[slot])
            drawn += 1
    return drawn


@inline_kernel
def _deal(state: Any, rng: Any) -> None:
    state.deal(rng)


@inline_kernel
def _no_deal(state: Any, rng: Any) -> None:
    pass


deal = by_method("deal", yes=_deal, no=_no_deal)


@kernel
def begin(
    game: Any, controls: Any, trees: Any, roots: Any, works: Any, slots: Any, written: Any, streams: Any, resets: bool
) -> None:
    """Begin new games in some slots: the initial state, dealt by the slot's stream, or the state that is there.

    Trees are cleared.
    """
    for index in range(len(slots)):
        slot = slots[index]
        state, control, work = state_at(game, roots, slot), controls[slot], pack_at(works, slot)
        if resets:
            rng = local_rng(streams[slot])
            state.reset()
            deal(state, rng)
            streams[slot] = rng_word(rng)
        control.rng, control.moves = mix_bits(control.seed + np.uint64(0x9E3779B97F4A7C15)), 0
        control.status = DONE
        clear(control, pack_at(trees, slot))
        look(state, work, written[slot])
        written[slot, KEPT] = 0


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
