"""Proofs: what each player is sure to receive at least and at most, from the ends of the game upwards. docs/proofs.md
has the idea.

A child without visits may be worth anything in the game's range, so nothing is proven of a node before enough
of its children are. A child that is proven, or cannot be better than a sibling that is, is closed: the sign of its
prior turns, and selection passes it by.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import compare_and_swap, publish, store_shared, yield_thread
from treetop.kernels.control import PROOFS
from treetop.tree.layout import BOUNDED, CLOSED, DRAWN, FAILED, PROVEN
from treetop.types import NONE, ROOT

UNCHANGED, NARROWER, PROVEN_NOW = 0, 1, 2


@inline_kernel
def lower_bound(control: Any, tree: Any, node: Any, player: Any) -> float:
    """What a player is sure to receive."""
    return float(tree.bounds[node, player]) if tree.links[node].flags & BOUNDED else float(control.low)


@inline_kernel
def upper_bound(control: Any, tree: Any, node: Any, player: Any) -> float:
    """More than this a player will not receive."""
    return (
        float(tree.bounds[node, control.players + player]) if tree.links[node].flags & BOUNDED else float(control.high)
    )


@inline_kernel
def close(tree: Any, node: Any) -> None:
    """Take a node out of all further selection."""
    prior = tree.stats[node].prior
    tree.stats[node].prior = -prior if prior > np.float32(0.0) else (CLOSED if prior == np.float32(0.0) else prior)


@inline_kernel
def prove_terminal(control: Any, tree: Any, node: Any, rewards: Any) -> None:
    """The game is over here: the bounds are its rewards."""
    players = control.players
    for player in range(players):
        tree.bounds[node, player] = rewards[player]
        tree.bounds[node, players + player] = rewards[player]
    tree.distances[node] = 0
    publish()
    tree.links[node].flags |= PROVEN | BOUNDED
    close(tree, node)


@inline_kernel
def update_bounds(control: Any, tree: Any, node: Any, mover: Any) -> int:
    """Update the bounds of a node by those of its children; return whether they are narrower, or proven now."""
    if tree.links[node].flags & DRAWN:
        return int(_expect_bounds(control, tree, node))
    first, count = np.int64(tree.links[node].first_child), np.int64(tree.links[node].num_children)
    opposed = len(tree.returns) == 0  # one player, or two of whom one receives what the other loses
    sure, possible = -np.inf, -np.inf
    for child in range(first, first + count):
        sure = max(sure, lower_bound(control, tree, child, mover))
        possible = max(possible, upper_bound(control, tree, child, mover))
    all_closed = True
    for child in range(first, first + count):
        # A child that failed is closed without a proof: it may be worth anything within its bounds.
        if tree.stats[child].prior >= np.float32(0.0) or tree.links[child].flags & FAILED:
            best = upper_bound(control, tree, child, mover)
            if best < sure or (opposed and best == sure):
                close(tree, child)
            else:
                all_closed = False
    change = UNCHANGED
    for player in range(control.players):
        low, high = sure, possible
        if player != mover:
            low, high = _bounds_of_another(control, tree, first, count, mover, player, sure, possible, opposed)
        if low > lower_bound(control, tree, node, player) or high < upper_bound(control, tree, node, player):
            change = NARROWER
    if not all_closed and change == UNCHANGED:
        return UNCHANGED
    for player in range(control.players):
        low, high = sure, possible
        if player != mover:
            low, high = _bounds_of_another(control, tree, first, count, mover, player, sure, possible, opposed)
        tree.bounds[node, player] = low
        tree.bounds[node, control.players + player] = high
    publish()  # another thread that sees the flag sees the bounds
    tree.links[node].flags |= BOUNDED
    if not all_closed or tree.links[node].flags & PROVEN:
        return change
    tree.links[node].flags |= PROVEN
    tree.distances[node] = 1 + _distance(control, tree, first, count, mover, sure)
    if node != ROOT:
        close(tree, node)
    return PROVEN_NOW


@kernel
def _expect_bounds(control: Any, tree: Any, node: Any) -> int:
    """Bounds where chance decides: those of the outcomes, by their probabilities. Proven when all of them are."""
    first, count = np.int64(tree.links[node].first_child), np.int64(tree.links[node].num_children)
    players, change, farthest = np.int64(control.players), UNCHANGED, np.int64(0)
    proven = True
    for child in range(first, first + count):
        proven = proven and tree.links[child].flags & PROVEN != 0
        if proven:
            farthest = max(farthest, np.int64(tree.distances[child]))
    for player in range(players):
        low, high, mass = 0.0, 0.0, 0.0
        for child in range(first, first + count):
            probability = abs(float(tree.stats[child].prior))
            mass += probability  # about 1: probabilities are kept in 32 bits
            low += probability * lower_bound(control, tree, child, player)
            high += probability * upper_bound(control, tree, child, player)
        low, high = (
            max(low / mass, control.low),
            min(high / mass, control.high),
        )  # a mean of equal numbers may miss them by a bit
        if low > lower_bound(control, tree, node, player) or high < upper_bound(control, tree, node, player):
            change = NARROWER
        if change == NARROWER or proven:
            if tree.links[node].flags & BOUNDED == 0:
                for other in range(players):
                    tree.bounds[node, other], tree.bounds[node, players + other] = control.low, control.high
                publish()
                tree.links[node].flags |= BOUNDED
            tree.bounds[node, player], tree.bounds[node, players + player] = low, high
    if not proven or tree.links[node].flags & PROVEN:
        return change
    tree.links[node].flags |= PROVEN
    tree.distances[node] = 1 + farthest
    close(tree, node)
    return PROVEN_NOW


@inline_kernel
def _bounds_of_another(
    control: Any,
    tree: Any,
    first: Any,
    count: Any,
    mover: Any,
    player: Any,
    sure: float,
    possible: float,
    opposed: bool,
) -> tuple[float, float]:
    """What a player who does not choose here may receive: from any child that the mover might still prefer."""
    if opposed:
        return -possible, -sure
    low, high = np.inf, -np.inf
    for child in range(first, first + count):
        if upper_bound(control, tree, child, mover) >= sure:
            low = min(low, lower_bound(control, tree, child, player))
            high = max(high, upper_bound(control, tree, child, player))
    return low, high


@inline_kernel
def _distance(control: Any, tree: Any, first: Any, count: Any, mover: Any, value: float) -> Any:
    """Moves to the end from the best proven child: the nearest for a winner, the farthest for a loser."""
    nearest, farthest = np.int64(2**31 - 2), np.int64(0)
    for child in range(first, first + count):
        if tree.links[child].flags & PROVEN == 0:
            farthest = max(farthest, np.int64(control.max_length))  # perhaps as bad a move, of unknown length
        elif tree.bounds[child, mover] == value:
            nearest = min(nearest, np.int64(tree.distances[child]))
            farthest = max(farthest, np.int64(tree.distances[child]))
    return farthest if value < control.middle else nearest


@kernel
def closed_value(control: Any, tree: Any, node: Any, mover: Any, rewards: Any) -> None:
    """Write the value of a node without an open child: the middle of its bounds.

    In a Python problem children may have failed, and the node need not be proven: then it is the best child that has
    not failed.
    """
    update_bounds(control, tree, node, mover)  # in a graph it may have been proven by other paths
    winner: Any = np.int64(node)
    if tree.links[node].flags & PROVEN == 0:
        first, count = np.int64(tree.links[node].first_child), np.int64(tree.links[node].num_children)
        best = -np.inf
        for child in range(first, first + count):
            value = 0.5 * (lower_bound(control, tree, child, mover) + upper_bound(control, tree, child, mover))
            if tree.links[child].flags & FAILED == 0 and value > best:
                best, winner = value, np.int64(child)
    for player in range(control.players):
        rewards[player] = 0.5 * (
            lower_bound(control, tree, winner, player) + upper_bound(control, tree, winner, player)
        )


@inline_kernel
def clip_to_bounds(control: Any, tree: Any, node: Any, rewards: Any, weight: Any) -> None:
    """What `weight` simulations found together, corrected by what is proven."""
    if tree.links[node].flags & BOUNDED:
        players = control.players
        for player in range(players):
            low, high = weight * tree.bounds[node, player], weight * tree.bounds[node, players + player]
            rewards[player] = min(max(rewards[player], low), high)


@inline_kernel
def _set_exact(control: Any, tree: Any, node: Any, movers: Any, step: Any) -> None:
    """Let the sums of a proven node say its exact value."""
    visits, players = tree.stats[node].visits, control.players
    for player in range(players):
        exact = 0.5 * (tree.bounds[node, player] + tree.bounds[node, players + player]) * visits
        if step == 0:
            tree.totals[player] = exact
        elif len(tree.returns) > 0:
            tree.returns[node, player] = exact
        if step > 0 and player == movers[step - 1]:
            tree.stats[node].value_sum = exact
            if len(tree.squares) > 0:
                tree.squares[node] = exact * exact / max(visits, 1)


@kernel
def prove(control: Any, tree: Any, path: Any, movers: Any, depth: Any, terminal: bool, rewards: Any) -> None:
    """Propagate the proof of the last node of a path upwards, as far as it narrows any bounds.

    A node that becomes proven had a mean of guesses; it gets the exact value instead. The means above keep what they
    had: visits to a move that is now known to lose would else count as lost ones of a player who will not make them.
    """
    if terminal:
        prove_terminal(control, tree, path[depth], rewards)
    for step in range(depth - 1, -1, -1):
        found = update_bounds(control, tree, path[step], movers[step])
        if found == UNCHANGED:
            break
        if found == PROVEN_NOW:
            _set_exact(control, tree, path[step], movers, step)


@kernel
def prove_shared(
    control: Any, tree: Any, work: Any, path: Any, movers: Any, depth: Any, floor: Any, terminal: bool, rewards: Any
) -> None:
    """Do the same in a tree that several threads search, of which this one has the subtree at depth `floor`.

    The bounds of that subtree's root are read by other threads, and those above it are written by them: one thread at a
    time changes them. `work.proven` lists nodes whose exact sums must be set again when no thread adds to them.
    """
    locked = depth <= floor
    if locked:
        lock_proofs(tree)
    if terminal:
        prove_terminal(control, tree, path[depth], rewards)
    for step in range(depth - 1, -1, -1):
        if not locked and step <= floor:
            locked = True
            lock_proofs(tree)
        disturb(control)
        found = update_bounds(control, tree, path[step], movers[step])
        if found == UNCHANGED:
            break
        if found == PROVEN_NOW:
            _set_exact(control, tree, path[step], movers, step)
            if locked and control.proven < len(work.proven):
                work.proven[control.proven, 0] = path[step]
                work.proven[control.proven, 1] = movers[step - 1] if step > 0 else NONE
                control.proven += 1
    if locked:
        unlock_proofs(tree)


@inline_kernel
def lock_proofs(tree: Any) -> None:
    """Wait until no other thread changes bounds that are shared."""
    while not compare_and_swap(tree.shared, PROOFS, 0, 1):
        yield_thread()


@inline_kernel
def disturb(control: Any) -> None:
    """Let other threads run at a place where threads may meet, if a test asks for it: seldom, and for a while."""
    if control.yields > 0:
        control.yielded = (control.yielded * 5 + 3) % 4093
        if control.yielded % control.yields == 0:
            for _ in range(control.yielded % 13):
                yield_thread()


@inline_kernel
def unlock_proofs(tree: Any) -> None:
    """Let another thread change bounds that are shared."""
    store_shared(tree.shared, PROOFS, 0)
