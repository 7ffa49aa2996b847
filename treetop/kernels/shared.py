"""The search loop of several threads on one tree.

The tree is divided into subtrees. A thread that enters a subtree takes it, so that no other thread can, and searches it
as if it were alone; the code is that of a search by one thread. Above the subtrees all threads meet: there visits and
value sums are added atomically, simulations below count as in flight, and bounds are changed by one thread at a time. A
subtree with many visits is divided: its root becomes shared, and the children of the root are subtrees. So expansion,
most of the selection and most of the backup need no atomic operation, and threads seldom touch the same cache line.

Where nothing but returns goes up, a thread runs several simulations in a large subtree before it leaves it.
docs/threads.md has the idea with a picture.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel, loop_of
from treetop.compiler.intrinsics import (
    atomic_add,
    compare_and_swap,
    load_shared,
    local_copy,
    local_pack,
    local_rng,
    pack_at,
    rng_word,
    state_at,
    store_shared,
    yield_thread,
)
from treetop.kernels.backup import make_begin, make_climb, make_reach_root
from treetop.kernels.build import Build
from treetop.kernels.chance.outcomes import SEAT
from treetop.kernels.control import BAD_PLAYER, DONE, LEFT, NEED_CAPACITY, NO_CHILD, SOLVED, STOP, TOO_LONG
from treetop.kernels.domain import make_domain
from treetop.kernels.endings import ENDED, EXHAUSTED, LEAF
from treetop.kernels.expand import make_is_full
from treetop.kernels.loop import make_descend, make_evaluate_leaf
from treetop.kernels.rules.rave import add_to_burst, clear_burst, credit_burst
from treetop.kernels.select import make_select
from treetop.kernels.solve import disturb, lock_proofs, prove_shared, unlock_proofs
from treetop.tree.layout import DRAWN, PROVEN
from treetop.types import NONE, ROOT

FREE, TAKEN, DIVIDED = 0, 1, 2
"""The locks of nodes: a subtree that no thread has, one that a thread has, and a node whose children are subtrees."""

_BURST_SHARE, _MOST_BURST = 4, 64  # simulations in a subtree at a time: a share of its visits, and at most so many
_SPINS = 64


@inline_kernel
def take(tree: Any, wanted: Any) -> Any:
    """Take up to `wanted` of the simulations that are left; return how many."""
    while True:
        left = load_shared(tree.shared, LEFT)
        some = min(np.int64(wanted), left)
        if some <= 0:
            return np.int64(0)
        if compare_and_swap(tree.shared, LEFT, left, left - some):
            return some


@inline_kernel
def wait_for(tree: Any, node: Any) -> None:
    """Wait for a moment, or until the subtree of a node is free."""
    for _ in range(_SPINS):
        if load_shared(tree.locks, node) != TAKEN:
            return
    yield_thread()


@inline_kernel
def count_in_flight(tree: Any, path: Any, floor: Any, change: Any) -> None:
    """Change the simulations in flight of the nodes above a subtree, and of its root."""
    for step in range(1, floor + 1):
        atomic_add(tree.in_flight, path[step], change)


def make_enter(build: Build) -> CompiledFunction[..., Any]:
    """Return how a thread descends to a subtree and takes it."""
    choose = make_select(build, in_flight=True)
    domain = make_domain(build)
    mover_at, draw, apply = domain.mover, domain.draw, domain.apply
    stochastic = build.stochastic

    @inline_kernel
    def enter(control: Any, tree: Any, work: Any, state: Any, path: Any, movers: Any, rng: Any) -> Any:
        """Take a subtree and return its depth; `state` follows. NONE: it ended above, and `control.ending` says how.

        NONE and `control.ending` LEAF: another thread has the subtree, or `control.status` says what is wrong.
        """
        node: Any = np.uint64(ROOT)
        depth: Any = np.int64(0)
        chooser: Any = np.int64(NONE)
        path[0] = ROOT
        control.depth = depth
        control.ending = LEAF
        while True:
            lock = load_shared(tree.locks, node)
            if lock == TAKEN or (lock == FREE and not compare_and_swap(tree.locks, node, FREE, TAKEN)):
                wait_for(tree, node)
                return np.int64(NONE)
            disturb(control)
            if lock == FREE:
                if tree.stats[node].visits < control.split_after or tree.links[node].num_children == 0:
                    return depth
                store_shared(tree.locks, node, DIVIDED)
            mover = mover_at(work, state, node)
            drawn = stochastic and tree.links[node].flags & DRAWN != 0
            if drawn:
                mover = np.int64(SEAT)
            if mover < 0 or mover >= control.players:
                control.status, control.culprit = BAD_PLAYER, mover
                return np.int64(NONE)
            if depth >= control.max_length:
                control.status = TOO_LONG
                return np.int64(NONE)
            movers[depth] = mover
            if drawn:
                child = np.int64(draw(control, tree, node, rng))
            else:
                child = np.int64(choose(control, tree, work, node, mover, chooser, depth, NONE, rng))
            if child < 0:
                if child == NO_CHILD:
                    control.ending = EXHAUSTED
                return np.int64(NONE)
            node, chooser = np.uint64(child), mover
            depth += 1
            path[depth] = node
            control.depth = depth
            apply(control, work, state, np.int64(tree.links[node].action), depth)
            if stochastic and control.status != DONE:
                return np.int64(NONE)

    return enter


@functools.cache
def make_run_shared(build: Build) -> CompiledFunction[..., None]:
    """Return the loop of one of several threads, in one of its builds."""
    enter = make_enter(build)
    descend = make_descend(build, in_flight=False)
    evaluate_leaf = make_evaluate_leaf(build)
    is_full = make_is_full(build)
    begin, climb = make_begin(build), make_climb(build)
    climb_shared, reach_root = make_climb(build, shared=True), make_reach_root(build, shared=True)
    solver, amaf, full, stochastic = build.solver, build.amaf, build.full, build.stochastic
    bursts = not (full or stochastic)  # the returns of several simulations can be added together
    amaf_bursts = amaf and bursts

    @loop_of(build.about)
    def run_shared(game: Any, controls: Any, trees: Any, roots: Any, works: Any, first: int, last: int) -> None:
        """Run simulations of some threads until none are left, or one of the threads needs the caller."""
        for thread in range(first, last):
            tree, work = local_pack(pack_at(trees, 0)), local_pack(pack_at(works, thread))
            run_thread(game, controls[thread], tree, roots, work)
            if controls[thread].status != DONE:
                store_shared(tree.shared, STOP, 1)

    @inline_kernel
    def run_thread(game: Any, control: Any, tree: Any, roots: Any, work: Any) -> None:
        rng = local_rng(control.rng)
        control.done = 0
        control.status = DONE
        while load_shared(tree.shared, STOP) == 0 and load_shared(tree.shared, LEFT) > 0:
            if is_full(control, tree):
                control.status, control.depth = NEED_CAPACITY, NONE
                return
            control.answered = 0
            state = local_copy(state_at(game, roots, 0))
            floor = np.int64(enter(control, tree, work, state, work.path, work.movers, rng))
            if floor >= 0:
                node = work.path[floor]
                search_subtree(control, tree, work, state, floor, rng)
                divided = tree.stats[node].visits >= control.split_after and tree.links[node].num_children > 0
                store_shared(tree.locks, node, DIVIDED if divided else FREE)
            elif solver and control.ending == EXHAUSTED:
                if control.depth == 0:
                    control.status = SOLVED  # every move of the root is closed, or none was asked for
                else:
                    finish_above(control, tree, work, state, rng)
            control.rng = rng_word(rng)
            if solver and tree.links[ROOT].flags & PROVEN:
                control.status = SOLVED
            if control.status != DONE:
                return

    @inline_kernel
    def search_subtree(control: Any, tree: Any, work: Any, state: Any, floor: Any, rng: Any) -> None:
        """Run simulations in a subtree that this thread has taken, and add their returns to the nodes above."""
        wanted: Any = np.int64(1)
        if bursts:
            visits = np.int64(tree.stats[work.path[floor]].visits)
            wanted = min(max(visits // _BURST_SHARE, np.int64(1)), np.int64(_MOST_BURST))
            work.returned[:] = 0.0
        if amaf_bursts:
            clear_burst(work)
        wanted = take(tree, wanted)
        if wanted == 0:
            return
        count_in_flight(tree, work.path, floor, wanted)
        control.floor, control.finished = floor, 0
        while control.finished < wanted:
            if bursts and is_full(control, tree):  # each check allows one expansion
                control.status, control.depth = NEED_CAPACITY, NONE
                break
            simulate(control, tree, work, local_copy(state), floor, rng)
            if control.status != DONE:
                break
            control.finished += 1
            if bursts:
                for player in range(len(tree.totals)):
                    work.returned[player] += work.rewards[player]
            if amaf_bursts:
                add_to_burst(work, work.rewards)
            if solver and (control.ending == ENDED or control.ending == EXHAUSTED):
                break  # it may be closed now
        finished = np.int64(control.finished)
        disturb(control)
        if finished > 0:
            rewards = work.returned if bursts else work.rewards
            if amaf_bursts:
                credit_burst(tree, work, work.path, work.movers, floor, work.returned, finished)
            climb_shared(control, tree, work, work.path, work.movers, control.depth, floor, 0, rewards, finished)
            reach_root(control, tree, work, rewards, finished)
            control.finished = 0
        count_in_flight(tree, work.path, floor, -wanted)
        if finished < wanted:
            atomic_add(tree.shared, LEFT, wanted - finished)
        control.done += finished
        control.turn += finished

    @inline_kernel
    def simulate(control: Any, tree: Any, work: Any, state: Any, floor: Any, rng: Any) -> None:
        """Run one simulation from the root of a subtree, and add its returns to the nodes below that root."""
        depth = descend(control, tree, work, state, work.path, work.movers, floor, rng)
        if control.status != DONE:
            return
        if solver and control.ending == EXHAUSTED and depth == 0:
            control.status = SOLVED
            return
        ending = control.ending
        at_root = solver and ending == EXHAUSTED and depth == floor  # the value comes from bounds that others read
        if at_root:
            lock_proofs(tree)
        evaluate_leaf(control, tree, work, state, depth, rng)
        if at_root:
            unlock_proofs(tree)
        if control.status != DONE:
            return
        if solver and control.solver and (ending == ENDED or ending == EXHAUSTED):
            prove_shared(control, tree, work, work.path, work.movers, depth, floor, ending == ENDED, work.rewards)
        disturb(control)
        begin(control, tree, work, work.path, work.movers, depth, work.rewards)
        climb(control, tree, work, work.path, work.movers, depth, depth, floor, work.rewards, 1)

    @inline_kernel
    def finish_above(control: Any, tree: Any, work: Any, state: Any, rng: Any) -> None:
        """Finish a simulation at a shared node without an open child, which other paths have proven."""
        depth = np.int64(control.depth)
        if take(tree, 1) == 0:
            return
        lock_proofs(tree)
        evaluate_leaf(control, tree, work, state, depth, rng)
        begin(control, tree, work, work.path, work.movers, depth, work.rewards)
        unlock_proofs(tree)
        if control.solver:
            prove_shared(control, tree, work, work.path, work.movers, depth, depth, False, work.rewards)
        climb_shared(control, tree, work, work.path, work.movers, depth, depth, 0, work.rewards, 1)
        reach_root(control, tree, work, work.rewards, 1)
        control.done += 1
        control.turn += 1

    return run_shared
