"""Back up the returns of a simulation to every node on its path."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel
from treetop.kernels.backups import leaf_vector, node_vector
from treetop.kernels.build import Build
from treetop.kernels.chance.expected import expect, set_expectation
from treetop.kernels.control import COUNT, SUM
from treetop.kernels.domain import make_domain
from treetop.kernels.endings import ENDED, EXHAUSTED, REPEATED
from treetop.kernels.graph import backup_graph
from treetop.kernels.rules.rave import credit_played, note_played
from treetop.kernels.sets.backup import backup_sets
from treetop.kernels.solve import clip_to_bounds, prove, prove_terminal
from treetop.kernels.values import add_return, update_scale
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
        add_return(tree, node, rewards[movers[step]])
        if len(tree.returns) > 0:
            for player in range(len(tree.totals)):
                tree.returns[node, player] += rewards[player]


def make_backup(build: Build) -> CompiledFunction[..., None]:
    """Return the backup of a build: one more visit for each node of a path, and the return to the player who chose it.

    No sign is flipped.
    """
    solver, amaf, graph, full, stochastic = build.solver, build.amaf, build.graph, build.full, build.stochastic
    if build.sets:
        return backup_sets
    plain = not (solver or amaf or graph or full)
    decides_chance = make_domain(build).decides_chance

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
        for step in range(depth, 0, -1):
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
            clip_to_bounds(control, tree, node, rewards)
            add_return(tree, node, rewards[mover])
            if len(tree.returns) > 0:
                for player in range(len(tree.totals)):
                    tree.returns[node, player] += rewards[player]
            if stochastic and control.chance_expected:
                set_expectation(tree, node, mover, fade, rewards, work.gain[0])
            if amaf and len(tree.amaf) > 0 and not drawn:
                note_played(work, mover, tree.links[node].action)
                credit_played(tree, work, np.uint64(path[step - 1]), mover, rewards[mover])
            if full:
                if len(tree.squares) > 0:
                    tree.squares[node] += rewards[mover] * rewards[mover]
                if len(tree.vectors) > 0:
                    update_vector(control, tree, work, node, mover, movers[step], step, step == depth, fade, rewards)
                update_scale(control, tree, node)
            if drawn and control.chance_expected:
                expect(tree, np.uint64(path[step - 1]), rewards)
        clip_to_bounds(control, tree, np.uint64(ROOT), rewards)
        tree.stats[ROOT].visits += 1
        for player in range(len(tree.totals)):
            tree.totals[player] += rewards[player]
            if stochastic:
                tree.totals[player] += work.gain[0, player]

    return backup


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
    clip_to_bounds(control, tree, node, tree.vectors[node])


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
