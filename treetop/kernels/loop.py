"""The search loop: the entry points that are compiled for each game.

A simulation has four phases: select, expand, evaluate, back up. Nothing is written to the tree before the last one,
except the children of an expanded leaf; so an exception in a game's method, a tie that the caller must break or a
full tree leaves it whole.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel, loop_of
from treetop.compiler.intrinsics import local_copy, local_pack, local_rng, pack_at, prefetch, rng_word, state_at
from treetop.kernels.backup import make_backup
from treetop.kernels.build import Build
from treetop.kernels.chance.outcomes import SEAT, is_chance, make_expand_chance
from treetop.kernels.control import BAD_PLAYER, DONE, NEED_CAPACITY, NO_CHILD, SOLVED, TIE, TOO_LONG
from treetop.kernels.domain import begin_rows, make_domain
from treetop.kernels.endings import ENDED, EXHAUSTED, LEAF, REPEATED
from treetop.kernels.evaluate import make_evaluate
from treetop.kernels.expand import heuristic, make_append, make_is_full, set_heuristic_priors, sort_by_prior
from treetop.kernels.graph import (
    find_block,
    hand_over,
    link_block,
    on_path,
    position_key,
    remember_block,
    set_repetition,
)
from treetop.kernels.moves import determinize
from treetop.kernels.rewards import make_paranoid
from treetop.kernels.rules.rave import clear_played
from treetop.kernels.select import forget_answers, make_select
from treetop.kernels.sets.descend import descend_sets
from treetop.kernels.solve import closed_value
from treetop.tree.layout import DRAWN, MANY_OWN, PROVEN, SHARED, TERMINAL
from treetop.types import NONE, ROOT


def make_expand(build: Build) -> CompiledFunction[..., bool]:
    """Return how a leaf is expanded; in a graph it may get the children of another edge to the same position."""
    append_children = make_append(build)
    graph, problem = build.graph, build.problem
    has_priors = build.full and not problem

    @inline_kernel
    def expand(
        control: Any,
        tree: Any,
        work: Any,
        path: Any,
        depth: Any,
        node: Any,
        chooser: Any,
        mover: Any,
        state: Any,
        count: int,
    ) -> bool:
        """Expand a leaf by the `count` moves in `work.actions`. The caller has made sure that the tree has space.

        False where the position stands on its own path: then it stays a leaf.
        """
        if graph:
            key = position_key(state, mover)
            leader = find_block(control, tree, work, key, count)
            if leader != NONE:
                if on_path(tree, path, depth, leader):
                    return False
                hand_over(control, tree, node, chooser, leader, False)
                link_block(control, tree, work, node, leader, count)
                return True
        first = append_children(control, tree, node, work.actions, count)
        if graph:
            hand_over(control, tree, node, chooser, first, True)
            remember_block(control, tree, work, key, first)
        if has_priors:
            if control.heuristic_prior > 0.0:
                set_heuristic_priors(control, tree, state, mover, first, count, work)
            if control.widening > 0.0:
                sort_by_prior(tree, first, count)
        if problem:
            begin_rows(tree, work, node, first, count)
        return True

    return expand


def make_descend(build: Build, *, in_flight: bool) -> CompiledFunction[..., Any]:
    """Return the descent.

    With evaluations in flight leaves are expanded later: their priors come with the evaluation (batch.py).
    """
    if build.sets:
        return descend_sets
    choose = make_select(build, in_flight=in_flight)
    expand = make_expand(build)
    is_full = make_is_full(build)
    expand_chance = make_expand_chance(make_append(build), is_full)
    domain = make_domain(build)
    is_terminal, mover_at, list_actions = domain.is_terminal, domain.mover, domain.list_actions
    apply, draw = domain.apply, domain.draw
    amaf, graph, full, stochastic, problem = build.amaf, build.graph, build.full, build.stochastic, build.problem
    expands, has_outcomes, resumes = not in_flight, stochastic and not problem, problem or build.shared

    @inline_kernel
    def descend(control: Any, tree: Any, work: Any, state: Any, path: Any, movers: Any, start: int, rng: Any) -> Any:
        """Descend to the node to be evaluated and return its depth. `path` ends there, `state` follows, `control` says
        how it ended.

        Anything wrong is left in `control` too. The descent starts at the root, or in a Python problem and in a tree
        that is shared by threads at depth `start` of the path.
        """
        node: Any = np.uint64(ROOT)  # these are of one type from the start, else Numba compiles everything below twice
        depth: Any = np.int64(0)
        chooser: Any = np.int64(NONE)
        may_expand = expands  # once a simulation
        crossed = False  # whether the path has come over an edge that shares its block: only then can it meet itself
        path[0] = ROOT
        if resumes and start > 0:
            depth = np.int64(start)
            node, chooser = np.uint64(path[depth]), np.int64(movers[depth - 1])
        control.depth = depth
        control.ending = LEAF
        while True:
            if tree.links[node].num_children == 0:
                if is_terminal(tree, state, node):
                    tree.links[node].flags |= TERMINAL
                    control.ending = ENDED
                    return depth
                visits = tree.stats[node].visits
                if problem and visits == 0:
                    return depth  # Python has to look at it first
                if has_outcomes and is_chance(state):
                    expand_chance(control, tree, work, node, state)
                    if control.status != DONE:
                        return depth
                elif may_expand and visits >= control.expand_after and depth < control.max_depth:
                    may_expand = False
                    count = list_actions(control, work, state, node)
                    if stochastic and is_full(control, tree):
                        control.status = NEED_CAPACITY  # outcomes of chance have taken the space that the caller made
                    if control.status != DONE:
                        return depth
                    mover = mover_at(work, state, node)
                    if not problem and (mover < 0 or mover >= control.players):
                        control.status, control.culprit = BAD_PLAYER, mover
                        return depth
                    if graph:  # a leaf that joins a known position is evaluated as that position
                        movers[depth] = mover
                    if not expand(control, tree, work, path, depth, node, chooser, mover, state, count):
                        control.ending = REPEATED
                        return depth
                    if control.status != DONE:
                        return depth
                    if graph:
                        crossed = crossed or (tree.links[node].flags & SHARED) != 0
                if (visits == 0 and not (stochastic and tree.links[node].flags & DRAWN)) or tree.links[
                    node
                ].num_children == 0:
                    return depth
            mover = mover_at(work, state, node)
            drawn = stochastic and tree.links[node].flags & DRAWN != 0
            if drawn:
                mover = np.int64(SEAT)
            if mover < 0 or mover >= control.players:
                control.status, control.culprit = BAD_PLAYER, mover
                return depth
            if not problem and depth >= control.max_length:
                control.status = TOO_LONG
                return depth
            movers[depth] = mover
            below = (
                tree.stats[node].visits - tree.links[node].own
                if tree.links[node].own < MANY_OWN and not graph
                else NONE
            )
            if drawn:
                child = np.int64(draw(control, tree, node, rng))
            else:
                child = np.int64(choose(control, tree, work, node, mover, chooser, depth, below, rng))
            if child < 0:
                if child == NO_CHILD:
                    control.ending = EXHAUSTED
                else:
                    control.status = TIE
                    if (
                        expands and not may_expand
                    ):  # the caller sees to it that the rest of this simulation expands nothing more
                        control.expanded = 1
                    if full and depth > 0:
                        control.resumed = path[1]
                return depth
            node = np.uint64(child)
            # Fetch the next level into the cache while the game makes its move: the two lines that most blocks of
            # children begin in.
            next_block = np.int64(tree.links[node].first_child)
            prefetch(tree.stats, next_block)
            prefetch(tree.stats, next_block + 4)
            prefetch(tree.links, next_block)
            prefetch(tree.links, next_block + 4)
            if amaf:
                prefetch(tree.amaf, next_block)
                prefetch(tree.amaf, next_block + 4)
            if graph:
                prefetch(tree.own_visits, next_block)
                prefetch(tree.own_sums, next_block)
            chooser = mover
            depth += 1
            path[depth] = node
            control.depth = depth  # for the text of an error, should the game's method raise one
            if problem:
                control.deepest = max(control.deepest, depth)
            apply(control, work, state, np.int64(tree.links[node].action), depth)
            if stochastic and control.status != DONE:
                return depth
            if graph and next_block != NONE:
                if state.is_terminal():  # by what the key leaves out: other paths continue from this position
                    control.ending = ENDED
                    return depth
                crossed = crossed or (tree.links[node].flags & SHARED) != 0
                if crossed and on_path(tree, path, depth, next_block):
                    movers[depth] = np.int64(state.current_player())
                    control.ending = REPEATED
                    return depth

    return descend


def make_finish_leaf(build: Build) -> CompiledFunction[..., bool]:
    """Return how the end of a path is valued where no evaluation is needed; the kernel returns whether that was so."""
    domain, solver, graph = make_domain(build), build.solver, build.graph
    terminal_rewards, mover_at = domain.rewards, domain.mover

    @inline_kernel
    def finish_leaf(control: Any, tree: Any, work: Any, state: Any, node: Any, rewards: Any) -> bool:
        ending = control.ending
        if ending == ENDED:
            terminal_rewards(control, work, state, node, rewards)
            return True
        if solver and ending == EXHAUSTED:
            closed_value(control, tree, node, mover_at(work, state, node), rewards)
            return True
        if graph and ending == REPEATED:
            set_repetition(control, tree, rewards)
            return True
        return False

    return finish_leaf


def make_evaluate_leaf(build: Build) -> CompiledFunction[..., None]:
    """Return how the end of a path is valued inside of a kernel: by the rules, or by an evaluation."""
    finish_leaf, evaluate = make_finish_leaf(build), make_evaluate(build)
    amaf, full, stochastic = build.amaf, build.full, build.stochastic

    @inline_kernel
    def evaluate_leaf(control: Any, tree: Any, work: Any, state: Any, depth: Any, rng: Any) -> None:
        """Write the returns of all players to `work.rewards`; what is wrong is left in `control`."""
        if amaf:
            clear_played(work)
        if full:
            control.trailed = 0
        if not finish_leaf(control, tree, work, state, work.path[depth], work.rewards):
            control.culprit = np.int64(rng_word(rng))  # a rollout that fails can be repeated interpreted
            evaluate(control, work, state, depth, work.rewards, rng)
            if full and control.leaf_heuristic:
                heuristic(state, control, work.trial)
                make_paranoid(control, work.trial, control.low + control.high)
        if stochastic and control.status == DONE:
            make_paranoid(control, work.rewards, control.low + control.high)

    return evaluate_leaf


@functools.cache
def make_run(build: Build) -> CompiledFunction[..., None]:
    """Return the loop that evaluates by itself, in one of its builds."""
    descend = make_descend(build, in_flight=False)
    evaluate_leaf = make_evaluate_leaf(build)
    backup = make_backup(build)
    solver, graph, stochastic, sets = build.solver, build.graph, build.stochastic, build.sets
    tree_is_full = make_is_full(build)

    @loop_of(build.about)
    def run(game: Any, controls: Any, trees: Any, roots: Any, works: Any, first: int, last: int) -> None:
        """Run the searches of some slots: each until its budget is used up or it needs the caller."""
        for slot in range(first, last):
            run_one(
                game, controls[slot], local_pack(pack_at(trees, slot)), roots, slot, local_pack(pack_at(works, slot))
            )

    @inline_kernel
    def run_one(game: Any, control: Any, tree: Any, roots: Any, slot: Any, work: Any) -> None:
        """Run simulations until the budget is used up, or something needs the caller: `control` says what."""
        rng = local_rng(control.rng)
        control.done = 0
        control.status = DONE
        while control.done < control.budget:
            if is_full(control, tree, work):
                control.status, control.depth = NEED_CAPACITY, NONE
                break
            control.answered = 0
            state = local_copy(state_at(game, roots, slot))
            if sets and control.hidden:
                determinize(state, np.int64(control.searcher), rng)
            # 1. and 2. Select, and expand at the end of the path.
            resumed = control.resumed
            arms, arm, given, samples = control.arms, control.arm, control.arm_given, control.arm_samples
            depth = descend(control, tree, work, state, work.path, work.movers, 0, rng)
            if (
                stochastic and control.status == NEED_CAPACITY
            ):  # the same simulation comes down again, to the same move of the root
                control.arms, control.arm, control.arm_given, control.arm_samples = (
                    arms,
                    arm,
                    given,
                    samples,
                )
                control.resumed = resumed
            if control.status != DONE:
                break
            if solver and control.ending == EXHAUSTED and depth == 0:
                control.status = SOLVED  # every move of the root is closed, or none was asked for
                break
            # 3. Evaluate.
            evaluate_leaf(control, tree, work, state, depth, rng)
            if control.status != DONE:
                break
            # 4. Back up.
            backup(control, tree, work, work.path, work.movers, depth, control.ending, work.rewards)
            forget_answers(control, work.answers)
            control.done += 1
            control.turn += 1
            control.rng = rng_word(rng)
            if solver and tree.links[ROOT].flags & PROVEN:
                control.status = SOLVED
                break

    @inline_kernel
    def is_full(control: Any, tree: Any, work: Any) -> bool:
        """Return whether tree or table must grow before the next simulation."""
        if sets:
            return bool(2 * control.blocks + control.players >= len(work.table))
        return bool(tree_is_full(control, tree) or (graph and control.blocks >= control.table_capacity))

    return run
