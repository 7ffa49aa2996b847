"""Simulations over states that live in Python: the tree, selection and backup are compiled, the states are somebody else's.

One call of the kernel ends a simulation and walks down to the leaf of the next: it comes back only where Python is needed, which steps the
state and says what it is worth. Nothing here knows a game, so one build serves all problems.

A node's number stands where games have their action: after nodes have moved it tells where they were, and so where their states are.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from treetop.compiler.blueprint import Blueprint
from treetop.compiler.engine import Engine
from treetop.compiler.functions import CompiledFunction, inline_kernel, kernel
from treetop.compiler.intrinsics import local_rng, rng_word
from treetop.kernels.backup import ENDED, EXHAUSTED, LEAF, update_vector
from treetop.kernels.build import Build
from treetop.kernels.control import DONE, NO_CHILD, SOLVED
from treetop.kernels.expand import make_append
from treetop.kernels.select import make_select
from treetop.kernels.solve import clip_to_bounds, lower_bound, prove, update_bounds, upper_bound
from treetop.tree.layout import DRAWN, FAILED, MANY_OWN, PROVEN, TERMINAL
from treetop.types import CHANCE, NONE, ROOT, FloatArray, IntArray

ENGINE = Engine(Blueprint("host", "no game: states live in Python", np.dtype([("nothing", "i8")]), {}, {}), {})
"""Where the kernels of problems in Python are compiled and kept."""

FAST = Build("host", solver=True, graph=True)
"""Selection by UCB1 or PUCT that passes closed children by, also those that nobody has tried: a node may die before its first visit."""

# What to do with the node that a call is given, before the next simulation begins.
GO, TAKE, END, OPEN = 0, 1, 2, 3
"""Nothing; take in what it is worth; it is the end of the game; give it its children and walk on from there."""

# What a call says, if it is not the leaf that it has come to.
STOPPED, ROOM, DEPTH, OPENED, BUSY, BARE = -1, -2, -3, -4, -5, -6
"""The budget is used up or the root solved; more room is needed for nodes, or for the path; a node's actions are asked for; the leaf is
being evaluated already; every child of the root is closed."""

UNKNOWN = -9
"""The player to move at a node that nobody has looked at."""

WIDEST, DEEPEST, EXPANDS, NODE = 0, 1, 2, 3
"""Places in `Side.numbers`: the most children of a node, the deepest node's depth, whether leaves are expanded on the way down, the node that
a call is about."""


class Side(NamedTuple):
    """What is kept beside the tree: a row a node."""

    movers: IntArray
    """Who is to move, as far as known."""
    counts: IntArray
    """How many children a leaf will have, all of them equally likely; 0 where Python has to be asked."""
    ends: FloatArray
    """What the players receive where the game is over."""
    steps: FloatArray
    """What the players receive on the way to a node; no rows where a problem has no such rewards."""
    numbers: np.ndarray[Any, np.dtype[np.int64]]


class SmallWork(NamedTuple):
    """The buffers of the fast build; the full one has those of every search."""

    path: IntArray
    movers: IntArray
    actions: IntArray
    rewards: FloatArray
    tied: IntArray
    answers: IntArray
    scores: FloatArray
    trial: FloatArray


@inline_kernel
def _draw(tree: Any, node: Any, rng: Any) -> Any:
    """A child by its probability, dead ones left out; NO_CHILD where all are."""
    first, count = np.int64(tree.links[node].first_child), np.int64(tree.links[node].num_children)
    total = 0.0
    for child in range(first, first + count):
        total += max(np.float64(tree.stats[child].prior), 0.0)
    left = rng.random() * total
    last: Any = np.int64(NO_CHILD)
    for child in range(first, first + count):
        probability = np.float64(tree.stats[child].prior)
        if probability > 0.0:
            left -= probability
            last = np.int64(child)
            if left < 0.0:
                break
    return last


@inline_kernel
def _trace(tree: Any, side: Any, work: Any, leaf: Any) -> Any:
    """The path to a node, from its parents; how deep it lies."""
    depth: Any = np.int64(0)
    node: Any = np.int64(leaf)
    while node != ROOT:
        node = np.int64(tree.links[node].parent)
        depth += 1
    node = np.int64(leaf)
    for step in range(depth, -1, -1):
        work.path[step] = node
        work.movers[step] = max(side.movers[node], 0)
        node = np.int64(tree.links[node].parent)
    return depth


@kernel
def _value_without_failures(control: Any, tree: Any, node: Any, mover: Any, rewards: Any) -> None:
    """Write the value of a node without an open child: the proven one, or an estimate from the best child that has not failed."""
    update_bounds(control, tree, node, mover)
    winner: Any = np.int64(node)
    if tree.links[node].flags & PROVEN == 0:
        first, count = np.int64(tree.links[node].first_child), np.int64(tree.links[node].num_children)
        best = -np.inf
        for child in range(first, first + count):
            value = 0.5 * (lower_bound(control, tree, child, mover) + upper_bound(control, tree, child, mover))
            if tree.links[child].flags & FAILED == 0 and value > best:
                best, winner = value, np.int64(child)
    for player in range(len(rewards)):
        rewards[player] = 0.5 * (
            lower_bound(control, tree, winner, player) + upper_bound(control, tree, winner, player)
        )


@functools.cache
def make_simulate(build: Build, *, in_flight: bool) -> CompiledFunction[..., int]:
    """The loop, in one of its builds; one that is `in_flight` has many leaves in flight."""
    full = build.full
    choose = make_select(build if full else FAST, in_flight=in_flight)
    append_children = make_append(Build("host children", full=True))

    @kernel
    def open_children(control: Any, tree: Any, work: Any, side: Any, node: Any, count: Any, weighted: Any) -> None:
        """Give a node its children; their priors are `work.scores`, or equal ones."""
        for index in range(count):
            work.actions[index] = control[0].size + index
        first = append_children(control, tree, node, work.actions, count)
        if weighted:
            total = 0.0
            for index in range(count):
                total += work.scores[index]
            for index in range(count):
                tree.stats[first + index].prior = work.scores[index] / total
        for child in range(first, first + count):
            side.movers[child], side.counts[child] = UNKNOWN, 0
            if len(side.steps) > 0:
                side.steps[child, :] = 0.0
        side.counts[node] = 0
        if side.movers[node] == CHANCE:
            tree.links[node].flags |= DRAWN

    @kernel
    def backup(
        control: Any, tree: Any, totals: Any, work: Any, side: Any, depth: Any, ending: Any, rewards: Any
    ) -> None:
        """One more visit for each node of the path, and its share for the player who chose it; what was received on the way is added there."""
        if control[0].solver and ending != LEAF:
            prove(control, tree, totals, work.path, work.movers, depth, ending == ENDED, rewards)
        evaluated = work.path[depth]
        if tree.links[evaluated].own < MANY_OWN:
            tree.links[evaluated].own += 1
        if full and len(tree.own_visits) > 0:
            tree.own_visits[evaluated] += 1
            for player in range(len(totals)):
                tree.own_sums[evaluated, player] += rewards[player]
        for step in range(depth, 0, -1):
            node = work.path[step]
            mover = work.movers[step - 1]
            # A step ends where a player chooses again or the game is over: an outcome of chance belongs to the step before it.
            fade = (
                1.0 if side.movers[node] == CHANCE and tree.links[node].flags & TERMINAL == 0 else control[0].discount
            )
            for player in range(len(totals)):
                rewards[player] *= fade
                if len(side.steps) > 0:
                    rewards[player] += side.steps[node, player]
                    if full:
                        work.steps[step, player] = side.steps[node, player]
            clip_to_bounds(control, tree, node, rewards)
            tree.stats[node].visits += 1
            tree.stats[node].value_sum += rewards[mover]
            if len(tree.returns) > 0:
                for player in range(len(totals)):
                    tree.returns[node, player] += rewards[player]
            if full:
                if len(tree.squares) > 0:
                    tree.squares[node] += rewards[mover] * rewards[mover]
                if len(tree.vectors) > 0:
                    update_vector(
                        control, tree, totals, work, node, mover, work.movers[step], step, step == depth, fade, rewards
                    )
                if control[0].normalise:
                    mean = tree.stats[node].value_sum / tree.stats[node].visits
                    control[0].value_low = min(control[0].value_low, mean)
                    control[0].value_high = max(control[0].value_high, mean)
        clip_to_bounds(control, tree, ROOT, rewards)
        tree.stats[ROOT].visits += 1
        for player in range(len(totals)):
            totals[player] += rewards[player]
        control[0].done += 1

    @inline_kernel
    def descend(control: Any, tree: Any, totals: Any, work: Any, side: Any, start: Any, depth: Any, rng: Any) -> Any:
        """Walk on from a node to the next one that Python has to look at, whose number comes back; or what ends the walk before."""
        node: Any = np.int64(start)
        chooser: Any = np.int64(NONE) if depth == 0 else np.int64(work.movers[depth - 1])
        while True:
            work.path[depth] = node
            control[0].depth = depth
            if tree.links[node].num_children == 0:
                if tree.links[node].flags & TERMINAL:
                    control[0].ending = ENDED
                    return node
                visits = tree.stats[node].visits
                if (
                    visits == 0
                    or side.numbers[EXPANDS] == 0
                    or visits < control[0].expand_after
                    or depth >= control[0].max_depth
                ):
                    control[0].ending = LEAF
                    return node
                count = np.int64(side.counts[node])
                if count == 0:
                    return np.int64(OPENED)
                open_children(control, tree, work, side, node, count, 0)
            mover = np.int64(side.movers[node])
            work.movers[depth] = max(mover, np.int64(0))
            if mover == CHANCE:
                child = np.int64(_draw(tree, node, rng))
            else:
                below = tree.stats[node].visits - tree.links[node].own if tree.links[node].own < MANY_OWN else NONE
                child = np.int64(
                    choose(control, tree, totals, work, np.uint64(node), mover, chooser, depth, below, rng)
                )
            if child < 0:
                control[0].ending = EXHAUSTED
                return node
            chooser = np.int64(work.movers[depth])
            node = child
            depth += 1
            side.numbers[DEEPEST] = max(side.numbers[DEEPEST], depth)

    @inline_kernel
    def note_in_flight(tree: Any, work: Any, depth: Any, change: int) -> None:
        if in_flight:
            for step in range(depth + 1):
                tree.in_flight[work.path[step]] += change

    @kernel
    def simulate(
        game: Any,
        control: Any,
        tree: Any,
        totals: Any,
        work: Any,
        side: Any,
        mode: int,
        leaf: int,
        mover: int,
        count: int,
        later: int,
        weighted: int,
    ) -> int:
        """See to `leaf` as `mode` says, then simulate until Python is needed: a leaf's number, or what else there is."""
        rng = local_rng(control[0].rng)
        control[0].status = DONE
        start, depth = np.int64(ROOT), np.int64(0)
        if mode == TAKE or mode == END:
            side.movers[leaf], side.counts[leaf] = mover, later
            depth = _trace(tree, side, work, leaf) if in_flight else np.int64(control[0].depth)
            note_in_flight(tree, work, depth, -1)
            work.movers[depth] = max(mover, 0)
            if mode == END:
                tree.links[leaf].flags |= TERMINAL
                for player in range(len(totals)):
                    side.ends[leaf, player] = work.rewards[player]
            elif count > 0:
                open_children(control, tree, work, side, leaf, count, weighted)
            backup(control, tree, totals, work, side, depth, ENDED if mode == END else LEAF, work.rewards)
            depth = np.int64(0)
        elif mode == OPEN:
            open_children(control, tree, work, side, leaf, count, weighted)
            start, depth = np.int64(leaf), np.int64(control[0].depth)
        resumed = mode == OPEN
        while True:
            if not resumed:
                if control[0].solver and tree.links[ROOT].flags & PROVEN:
                    control[0].status = SOLVED
                    return STOPPED
                if control[0].done + control[0].gathered >= control[0].budget:
                    return STOPPED
                if control[0].size + side.numbers[WIDEST] > control[0].capacity:
                    return ROOM
                if side.numbers[DEEPEST] + 3 > len(work.path):
                    return DEPTH
            resumed = False
            found = np.int64(descend(control, tree, totals, work, side, start, depth, rng))
            control[0].rng = rng_word(rng)
            depth = np.int64(control[0].depth)
            side.numbers[NODE] = work.path[depth]
            start = np.int64(ROOT)
            if found < 0:
                return int(found)
            if control[0].ending == LEAF:
                if in_flight and tree.in_flight[found] > 0:
                    return BUSY
                note_in_flight(tree, work, depth, 1)
                control[0].turn += 1
                return int(found)
            if control[0].ending == EXHAUSTED:
                if control[0].solver:
                    _value_without_failures(control, tree, found, np.int64(side.movers[found]), work.rewards)
                if depth == 0 or not control[0].solver:
                    return BARE
            else:
                for player in range(len(totals)):
                    work.rewards[player] = side.ends[found, player]
            backup(control, tree, totals, work, side, depth, control[0].ending, work.rewards)
            control[0].turn += 1
            depth = np.int64(0)

    return simulate
