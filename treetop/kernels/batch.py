"""Simulations whose leaves are evaluated elsewhere: gather leaves, absorb their evaluations, or release them.

A simulation in flight is counted on its whole path, the leaf included, and nowhere in the value sums: dropping it
leaves no trace.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel, kernel, loop_of
from treetop.compiler.intrinsics import copy_state, local_copy, local_pack, local_rng, pack_at, rng_word, state_at
from treetop.kernels.backup import make_backup
from treetop.kernels.build import Build
from treetop.kernels.control import BAD_REWARD, COLLISION, DONE, NEED_CAPACITY, NEED_PATH, SOLVED
from treetop.kernels.domain import collect_steps, make_domain
from treetop.kernels.endings import EXHAUSTED, LEAF, REPEATED
from treetop.kernels.evaluate import make_rollout
from treetop.kernels.expand import heuristic, list_actions, set_priors, sort_by_prior
from treetop.kernels.graph import set_repetition
from treetop.kernels.loop import make_descend, make_expand, make_finish_leaf
from treetop.kernels.rewards import collect, make_paranoid
from treetop.kernels.rules.rave import clear_played
from treetop.kernels.select import forget_answers
from treetop.kernels.solve import closed_value
from treetop.tree.layout import PROVEN, SHARED
from treetop.types import NONE, ROOT

SPAN = 16
"""The simulations of a batch for each leaf that was asked for, at most: those that end a game need no evaluation."""


def make_seek(build: Build, *, in_flight: bool) -> CompiledFunction[..., Any]:
    """Return the search for the next leaf to evaluate, in one of its builds."""
    descend = make_descend(build, in_flight=in_flight)
    finish_leaf = make_finish_leaf(build)
    backup = make_backup(build)
    mover_at = make_domain(build).mover
    solver, amaf, full, stochastic, problem = build.solver, build.amaf, build.full, build.stochastic, build.problem

    @inline_kernel
    def seek(
        game: Any, control: Any, tree: Any, roots: Any, slot: Any, work: Any,
        path: Any, movers: Any, start: Any, rng: Any,
    ) -> Any:  # fmt: skip
        """Return the depth of the next leaf that needs an evaluation, and finish simulations that need none.

        NONE where there is no such leaf: `control` says why. A Python problem may ask to continue at depth `start` of
        the path.
        """
        while control.done + control.gathered < control.budget:
            if problem and start == 0 and not is_ready(control, tree, path):
                return np.int64(NONE)
            control.answered = 0
            # Of a game the state is a copy in this function's own frame, of a Python problem nothing.
            state = 0 if problem else local_copy(state_at(game, roots, slot))
            arms, arm, given, samples = control.arms, control.arm, control.arm_given, control.arm_samples
            depth = np.int64(descend(control, tree, work, state, path, movers, start, rng))
            start = np.int64(0)
            if problem:
                control.rng = rng_word(rng)  # it may continue from here
            elif stochastic and control.status == NEED_CAPACITY:
                control.arms, control.arm = arms, arm
                control.arm_given, control.arm_samples = given, samples
            if control.status != DONE:
                return np.int64(NONE)
            node = path[depth]
            if solver and control.ending == EXHAUSTED and (depth == 0 or (problem and not control.solver)):
                if problem and control.solver:
                    closed_value(control, tree, node, mover_at(work, state, node), work.rewards)
                control.status = SOLVED
                return np.int64(NONE)
            if not finish_leaf(control, tree, work, state, node, work.rewards):
                return depth
            if control.status != DONE:
                return np.int64(NONE)
            if stochastic:
                make_paranoid(control, work.rewards, control.low + control.high)
            if problem:
                collect_steps(control, work, path, depth)
            if amaf:
                clear_played(work)
            if full:
                control.trailed = 0
            backup(control, tree, work, path, movers, depth, control.ending, work.rewards)
            control.done += 1
            control.turn += 1
            control.rng = rng_word(rng)
            if solver and tree.links[ROOT].flags & PROVEN:
                control.status = SOLVED
                return np.int64(NONE)
            forget_answers(control, work.answers)
        return np.int64(NONE)

    return seek


@inline_kernel
def is_ready(control: Any, tree: Any, path: Any) -> bool:
    """Return whether a simulation of a Python problem may start: the root is open, and tree and path have space."""
    if control.solver and tree.links[ROOT].flags & PROVEN:
        control.status = SOLVED
    elif control.size + control.most_children > control.capacity:
        control.status = NEED_CAPACITY
    elif control.deepest + 3 > len(path):
        control.status = NEED_PATH
    return bool(control.status == DONE)


@functools.cache
def make_gather(build: Build) -> CompiledFunction[..., int]:
    """Return the loop that gathers leaves, in one of its builds."""
    seek = make_seek(build, in_flight=True)

    @loop_of(build.about)
    def gather(
        game: Any, controls: Any, trees: Any, roots: Any, works: Any, first: int, last: int, quota: int, row: int,
        paths: Any, movers: Any, depths: Any, leaves: Any,
    ) -> int:  # fmt: skip
        """Gather up to `quota` distinct leaves of each slot, in rows from `row` on; return the row after the last one.

        A slot with gathered leaves continues after them: they are rows already. Finished games are backed up
        immediately.
        """
        for slot in range(first, last):
            control = controls[slot]
            if control.gathered == 0:
                control.row = row
            tree, work = local_pack(pack_at(trees, slot)), local_pack(pack_at(works, slot))
            gather_one(game, control, tree, roots, slot, work, quota, paths, movers, depths, leaves)
            row = control.row + control.gathered
        return int(row)

    @inline_kernel
    def gather_one(
        game: Any, control: Any, tree: Any, roots: Any, slot: Any, work: Any, quota: Any,
        paths: Any, movers: Any, depths: Any, leaves: Any,
    ) -> None:  # fmt: skip
        """Descend until there are `quota` distinct states to evaluate, or the budget is used up.

        It also ends after many simulations that need no evaluation, so that the caller can look at the clock.
        """
        rng = local_rng(control.rng)
        control.status = DONE
        budget = control.budget
        control.budget = min(budget, control.done + quota * SPAN)
        while control.gathered < quota:
            row = control.row + control.gathered
            depth = seek(game, control, tree, roots, slot, work, paths[row], movers[row], 0, rng)
            if depth < 0:
                break
            if tree.in_flight[paths[row, depth]] > 0:
                control.status = COLLISION
                break
            count_in_flight(tree.in_flight, paths[row], depth, 1)
            depths[row] = depth
            _keep_state(game, leaves, row, roots, slot, tree.links, paths[row], depth)
            control.gathered += 1
            control.turn += 1
            forget_answers(control, work.answers)
            control.rng = rng_word(rng)
        control.budget = budget

    return gather


@inline_kernel
def _keep_state(game: Any, leaves: Any, row: Any, roots: Any, slot: Any, links: Any, path: Any, depth: int) -> None:
    """Write the leaf's state to its row of the batch."""
    copy_state(game, leaves, row, roots, slot)
    state = state_at(game, leaves, row)
    for step in range(depth):
        state.apply(np.int64(links[path[step + 1]].action))


@inline_kernel
def _collect_again(
    game: Any, control: Any, roots: Any, slot: Any, work: Any, links: Any, path: Any, depth: Any
) -> None:
    """Collect the immediate rewards on the path to a leaf again: other leaves have been visited since."""
    state = local_copy(state_at(game, roots, slot))
    for step in range(depth):
        state.apply(np.int64(links[path[step + 1]].action))
        collect(state, control, work.steps[step + 1])


@inline_kernel
def count_in_flight(in_flight: Any, path: Any, depth: Any, change: int) -> None:
    """Change the count of evaluations in flight at every node of a path, the leaf included."""
    for step in range(depth + 1):
        in_flight[path[step]] += change


@functools.cache
def make_absorb(build: Build) -> CompiledFunction[..., None]:
    """Return how evaluated leaves enter the tree, in one of the builds."""
    expand = make_expand(build)
    rollout = make_rollout(build)
    backup = make_backup(build)
    amaf, graph, full, stochastic = build.amaf, build.graph, build.full, build.stochastic

    @loop_of(build.about)
    def absorb(
        game: Any, controls: Any, trees: Any, roots: Any, works: Any, first: int, last: int,
        paths: Any, movers: Any, depths: Any, leaves: Any, logits: Any, values: Any,
    ) -> None:  # fmt: skip
        """Expand and back up the gathered leaves of some slots, in the order in which they were gathered."""
        for slot in range(first, last):
            control, tree, work = controls[slot], local_pack(pack_at(trees, slot)), local_pack(pack_at(works, slot))
            absorb_one(game, control, tree, roots, slot, work, paths, movers, depths, leaves, logits, values)

    @inline_kernel
    def absorb_one(
        game: Any, control: Any, tree: Any, roots: Any, slot: Any, work: Any,
        paths: Any, movers: Any, depths: Any, leaves: Any, logits: Any, values: Any,
    ) -> None:  # fmt: skip
        rng = local_rng(control.rng)
        control.status = DONE
        for row in range(control.row, control.row + control.gathered):
            for player in range(values.shape[1]):
                if not abs(values[row, player]) < 1e300:
                    control.status, control.culprit = BAD_REWARD, row
                    return
        for row in range(control.row, control.row + control.gathered):
            depth = np.int64(depths[row])
            node = paths[row, depth]
            state = local_copy(state_at(game, leaves, row))
            control.depth = depth  # for the text of an error, with the path
            for step in range(depth + 1):
                work.path[step] = paths[row, step]
            # All that can fail comes first: a leaf is either absorbed or still in flight.
            count = 0
            if (
                tree.links[node].num_children == 0
                and tree.stats[node].visits >= control.expand_after
                and depth < control.max_depth
            ):
                count = list_actions(control, state, work.actions)
                if control.status == DONE and control.size + count > control.capacity:
                    control.status = NEED_CAPACITY
                if control.status != DONE:
                    return
            rewards = values[row]
            if amaf:
                clear_played(work)
            if full:
                _add_rollout(control, work, state, depth, rewards, rng)
                if control.leaf_heuristic:
                    heuristic(state, control, work.trial)
                    make_paranoid(control, work.trial, control.low + control.high)
                if control.status != DONE:
                    return
            if stochastic:
                make_paranoid(control, rewards, control.low + control.high)
                if control.step_rewards:
                    _collect_again(game, control, roots, slot, work, tree.links, paths[row], depth)
            count_in_flight(tree.in_flight, paths[row], depth, -1)
            ending = LEAF
            if count > 0:
                chooser = np.int64(movers[row, depth - 1]) if depth > 0 else np.int64(NONE)
                mover = np.int64(state.current_player())
                movers[row, depth] = mover
                if expand(control, tree, work, paths[row], depth, np.uint64(node), chooser, mover, state, count):
                    if not graph or tree.links[node].flags & SHARED == 0:
                        _set_priors(control, tree, work, node, count, logits[row])
                else:
                    ending = REPEATED
                    set_repetition(control, tree, rewards)
            backup(control, tree, work, paths[row], movers[row], depth, ending, rewards)
            control.done += 1
            control.rng = rng_word(rng)

    @inline_kernel
    def _add_rollout(control: Any, work: Any, state: Any, depth: Any, rewards: Any, rng: Any) -> None:
        """Mix an evaluation with a rollout, if the search does.

        A search by rollouts alone takes the values that it is given.
        """
        weight = control.rollout_weight
        control.trailed = 0
        if 0.0 < weight < 1.0:
            rollout(control, work, state, depth, work.trial, rng)
            for player in range(len(rewards)):
                rewards[player] = weight * work.trial[player] + (1.0 - weight) * rewards[player]

    @inline_kernel
    def _set_priors(control: Any, tree: Any, work: Any, node: Any, count: int, logits: Any) -> None:
        """Set the priors: a softmax over the legal actions."""
        first = np.int64(tree.links[node].first_child)
        highest = -math.inf
        for index in range(count):
            work.scores[index] = logits[tree.links[first + index].action]
            highest = max(highest, work.scores[index])
        if highest == -math.inf:
            return  # nothing is possible, says the evaluator: equal priors stand
        set_priors(tree, first, count, work.scores, highest)
        if full and control.widening > 0.0:
            sort_by_prior(tree, first, count)

    return absorb


@kernel
def release(game: Any, in_flight: Any, paths: Any, depths: Any) -> None:
    """Forget gathered leaves as if they had never been."""
    for row in range(len(depths)):
        count_in_flight(in_flight, paths[row], depths[row], -1)
