"""Back up the returns of a simulation to every node on its path."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel
from treetop.compiler.intrinsics import atomic_add, atomic_add_field
from treetop.kernels.backups import leaf_vector, node_vector
from treetop.kernels.build import Build
from treetop.kernels.chance.expected import expect, set_expectation
from treetop.kernels.control import COUNT, SUM
from treetop.kernels.domain import make_domain
from treetop.kernels.endings import ENDED, EXHAUSTED, REPEATED
from treetop.kernels.graph import backup_graph
from treetop.kernels.rules.rave import credit_played, credit_shared_played, note_played
from treetop.kernels.sets.backup import backup_sets
from treetop.kernels.solve import clip_to_bounds, prove, prove_terminal
from treetop.kernels.values import add_plainly, add_return, add_shared_return, update_scale
from treetop.tree.layout import DRAWN, MANY_OWN
from treetop.types import ROOT


@inline_kernel
def _backup_plain(tree: Any, path: Any, movers: Any, depth: int, rewards: Any) -> None:
    evaluated = np.uint64(path[depth])
    if tree.links[evaluated].own < MANY_OWN:
        tree.links[evaluated].own += 1
    tree.stats[ROOT].visits += 1
    for player in range(len(tree.totals)):
        tree.totals[player] += rewards[player]
    for step in range(depth):
        node = np.uint64(path[step + 1])  # an unsigned index: compiled code need not ask whether it counts from the end
        add_return(tree, node, rewards[movers[step]], 1)
        if len(tree.returns) > 0:
            for player in range(len(tree.totals)):
                tree.returns[node, player] += rewards[player]


def make_backup(build: Build) -> CompiledFunction[..., None]:
    """Return the backup of a build: one more visit for each node of a path, and the return to the player who chose it.

    No sign is flipped.
    """
    solver, graph = build.solver, build.graph
    if build.sets:
        return backup_sets
    plain = build.plain
    begin, climb, reach_root = make_begin(build), make_climb(build), make_reach_root(build)

    @inline_kernel
    def backup(
        control: Any, tree: Any, work: Any, path: Any, movers: Any, depth: Any, ending: Any, rewards: Any
    ) -> None:
        """Back up `rewards`.

        `ending` says how the path ended: at a leaf, at the end of the game, at a proven node, or in a repetition.
        """
        if plain:
            _backup_plain(tree, path, movers, depth, rewards)
            return
        if graph:
            # The game ended in a position from which other paths continue: by a rule that the key leaves out. It proves
            # nothing of the position.
            ended = ending == ENDED and tree.links[path[depth]].num_children > 0
            if control.solver and ending == ENDED and not ended:
                prove_terminal(control, tree, path[depth], rewards)
            backup_graph(control, tree, path, movers, depth, ending == REPEATED, ended, rewards)
            return
        if solver and control.solver and (ending == ENDED or ending == EXHAUSTED):
            prove(control, tree, path, movers, depth, ending == ENDED, rewards)
        backup_fully(control, tree, work, path, movers, depth, rewards)

    @inline_kernel
    def backup_fully(control: Any, tree: Any, work: Any, path: Any, movers: Any, depth: Any, rewards: Any) -> None:
        begin(control, tree, work, path, movers, depth, rewards)
        climb(control, tree, work, path, movers, depth, depth, 0, rewards, 1)
        reach_root(control, tree, work, rewards, 1)

    return backup


def make_begin(build: Build) -> CompiledFunction[..., None]:
    """Return what a backup does at the node that was evaluated, before the returns go up."""
    full, stochastic = build.full, build.stochastic

    @inline_kernel
    def begin(control: Any, tree: Any, work: Any, path: Any, movers: Any, depth: Any, rewards: Any) -> None:
        evaluated = np.uint64(path[depth])
        if tree.links[evaluated].own < MANY_OWN:
            tree.links[evaluated].own += 1
        if full and len(tree.own_visits) > 0:
            tree.own_visits[evaluated] += 1
            for player in range(len(tree.totals)):
                tree.own_sums[evaluated, player] += rewards[player]
        if full and control.keeps_history:
            remember_moves(control, tree, work, path, movers, depth, rewards)
        if stochastic:
            work.gain[0, :] = 0.0

    return begin


def make_climb(build: Build, *, shared: bool = False) -> CompiledFunction[..., None]:
    """Return how the returns go up a part of the path; `shared` where other threads may change the same nodes."""
    solver, amaf, full, stochastic = build.solver, build.amaf, build.full, build.stochastic
    decides_chance = make_domain(build).decides_chance
    by_path = amaf and not (shared and not (full or stochastic))  # else they are credited by the burst
    add, add_to, credit = (
        (add_shared_return, atomic_add, credit_shared_played) if shared else (add_return, add_plainly, credit_played)
    )

    @inline_kernel
    def climb(
        control: Any, tree: Any, work: Any, path: Any, movers: Any, depth: Any, top: Any, bottom: Any, rewards: Any,
        weight: Any,
    ) -> None:  # fmt: skip
        """Add the returns of `weight` simulations to the nodes from depth `top` to above depth `bottom`.

        The path ended at `depth`. Only a build without discount, immediate rewards and further statistics takes more
        than one simulation; `rewards` is then their sum.
        """
        for step in range(top, bottom, -1):
            node = np.uint64(path[step])
            mover = movers[step - 1]
            drawn = stochastic and tree.links[path[step - 1]].flags & DRAWN != 0
            # r + discount * V: a step ends where a player chooses again or the game is over, and an outcome of chance
            # belongs to the step before it.
            fade = 1.0 if decides_chance(tree, work, node) else control.discount
            if full or stochastic:
                for player in range(len(tree.totals)):
                    rewards[player] *= fade
                    if stochastic and control.step_rewards:
                        rewards[player] += work.steps[step, player]
            if solver or full or stochastic:
                clip_to_bounds(control, tree, node, rewards, weight)
            add(tree, node, rewards[mover], weight)
            if len(tree.returns) > 0:
                for player in range(len(tree.totals)):
                    add_to(tree.returns[node], player, rewards[player])
            if stochastic and control.chance_expected:
                set_expectation(tree, node, mover, fade, rewards, work.gain[0])
            if by_path and len(tree.amaf) > 0 and not drawn:
                note_played(work, mover, tree.links[node].action)
                credit(tree, work, np.uint64(path[step - 1]), mover, rewards[mover])
            if full:
                if len(tree.squares) > 0:
                    add_to(tree.squares, node, rewards[mover] * rewards[mover])
                if len(tree.vectors) > 0:
                    update_vector(control, tree, work, node, mover, movers[step], step, step == depth, fade, rewards)
                update_scale(control, tree, node)
            if drawn and control.chance_expected:
                expect(tree, np.uint64(path[step - 1]), rewards)

    return climb


def make_reach_root(build: Build, *, shared: bool = False) -> CompiledFunction[..., None]:
    """Return how the returns of simulations are added to the root."""
    stochastic, plain = build.stochastic, build.plain
    add_to = atomic_add if shared else add_plainly

    @inline_kernel
    def reach_root(control: Any, tree: Any, work: Any, rewards: Any, weight: Any) -> None:
        if not plain:
            clip_to_bounds(control, tree, np.uint64(ROOT), rewards, weight)
        if shared:
            atomic_add_field(tree.stats, ROOT, "visits", weight)
        else:
            tree.stats[ROOT].visits += weight
        for player in range(len(tree.totals)):
            add_to(tree.totals, player, rewards[player])
            if stochastic:
                add_to(tree.totals, player, work.gain[0, player])

    return reach_root


@inline_kernel
def remember_moves(control: Any, tree: Any, work: Any, path: Any, movers: Any, depth: Any, rewards: Any) -> None:
    """Add the returns to the table of past moves, for every move of this simulation, in the tree and in the rollout."""
    for step in range(depth):
        if tree.links[path[step]].flags & DRAWN:
            continue
        mover, action = movers[step], tree.links[path[step + 1]].action
        work.history[SUM, mover, action] += rewards[mover]
        work.history[COUNT, mover, action] += 1.0
    for step in range(depth, depth + control.trailed):
        mover, action = work.trail[0, step], work.trail[1, step]
        work.history[SUM, mover, action] += rewards[mover]
        work.history[COUNT, mover, action] += 1.0


@inline_kernel
def update_vector(
    control: Any,
    tree: Any,
    work: Any,
    node: Any,
    chooser: Any,
    mover: Any,
    step: Any,
    evaluated: bool,
    fade: float,
    rewards: Any,
) -> None:
    """Update the vector of a node by its best child, as the backup says.

    An evaluated node begins with its own evaluations, or with the heuristic in `work.trial`. Immediate rewards count
    with the node that they lead to.
    """
    players = len(tree.totals)
    if evaluated:
        for player in range(players):
            tree.vectors[node, player] = leaf_vector(control, tree, work, node, player, step, fade, rewards[player])
        return
    first, count = np.int64(tree.links[node].first_child), np.int64(tree.links[node].num_children)
    drawn = tree.links[node].flags & DRAWN != 0
    highest = -np.inf
    best: Any = np.int64(-1)
    for child in range(first, first + count):
        if tree.stats[child].visits > 0 and tree.vectors[child, mover] > highest:
            best, highest = child, tree.vectors[child, mover]
    if best < 0:
        return
    for player in range(players):
        value = fade * (expected(tree, first, count, player) if drawn else tree.vectors[best, player])
        if control.step_rewards:
            value += work.steps[step, player]
        tree.vectors[node, player] = node_vector(control, tree, node, player, chooser, value)
    clip_to_bounds(control, tree, node, tree.vectors[node], 1)


@inline_kernel
def expected(tree: Any, first: Any, count: Any, player: Any) -> float:
    """Return the expected value of a chance node for a player, over the children with visits."""
    mass, value = 0.0, 0.0
    for child in range(first, first + count):
        if tree.stats[child].visits > 0:
            probability = abs(tree.stats[child].prior)
            mass += probability
            value += probability * tree.vectors[child, player]
    return float(value / mass)
