"""What the loop asks about a state: of a compiled game its methods, of a Python problem the columns beside the tree.

The states of a Python problem live in Python. Of each node the loop knows who is to move, how many actions a leaf will
have and what the players receive: `Work` holds it, and a node's number is its action, so that Python finds the states
again after nodes have moved.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treetop.compiler.functions import inline_kernel
from treetop.kernels.build import Build
from treetop.kernels.chance.outcomes import draw_child, draw_open_child
from treetop.kernels.control import ASK_ACTIONS
from treetop.kernels.expand import list_actions
from treetop.kernels.rewards import collect, outcome
from treetop.tree.layout import DRAWN, TERMINAL
from treetop.types import CHANCE

Kernel = Any  # a compiled function, or one that is chosen by the methods of a game

BESIDE = ("node_movers", "node_counts", "node_ends", "node_steps")
"""The buffers with a row for each node of a Python problem."""
UNKNOWN = -9
"""The player to move at a node of a Python problem that no simulation has reached."""


class Domain(NamedTuple):
    """Inline kernels, the same for every game: the loop is compiled with those of its build."""

    is_terminal: Kernel
    """(tree, state, node) -> whether the game is over"""
    mover: Kernel
    """(work, state, node) -> the player to move"""
    list_actions: Kernel
    """(control, work, state, node) -> how many actions it wrote to `work.actions`"""
    draw: Kernel
    """(control, tree, node, rng) -> a child of a chance node"""
    apply: Kernel
    """(control, work, state, action, depth): make the step to a node and collect its immediate rewards"""
    rewards: Kernel
    """(control, work, state, node, rewards): write the rewards of a terminal state"""
    decides_chance: Kernel
    """(tree, work, node) -> whether chance decides after a node, so that its step is not over"""


@inline_kernel
def _game_is_terminal(tree: Any, state: Any, node: Any) -> bool:
    return bool(state.is_terminal())


@inline_kernel
def _game_mover(work: Any, state: Any, node: Any) -> Any:
    return np.int64(state.current_player())


@inline_kernel
def _game_actions(control: Any, work: Any, state: Any, node: Any) -> Any:
    return list_actions(control, state, work.actions)


@inline_kernel
def _game_apply(control: Any, work: Any, state: Any, action: Any, depth: Any) -> None:
    state.apply(action)


@inline_kernel
def _game_apply_and_collect(control: Any, work: Any, state: Any, action: Any, depth: Any) -> None:
    state.apply(action)
    collect(state, control, work.steps[depth])


@inline_kernel
def _game_rewards(control: Any, work: Any, state: Any, node: Any, rewards: Any) -> None:
    outcome(control, state, rewards)


@inline_kernel
def _has_outcomes(tree: Any, work: Any, node: Any) -> bool:
    return bool(tree.links[node].flags & DRAWN != 0)


@inline_kernel
def _never_chance(tree: Any, work: Any, node: Any) -> bool:
    return False


@inline_kernel
def _problem_is_terminal(tree: Any, state: Any, node: Any) -> bool:
    return bool(tree.links[node].flags & TERMINAL)


@inline_kernel
def _problem_mover(work: Any, state: Any, node: Any) -> Any:
    return np.int64(work.node_movers[node])


@inline_kernel
def _problem_actions(control: Any, work: Any, state: Any, node: Any) -> Any:
    count = np.int64(work.node_counts[node])
    if count == 0:
        control.status = ASK_ACTIONS
    number_children(control, work, count)
    return count


@inline_kernel
def number_children(control: Any, work: Any, count: Any) -> None:
    """Write the actions of the next children: their own numbers."""
    for index in range(count):
        work.actions[index] = control.size + index


@inline_kernel
def begin_rows(tree: Any, work: Any, node: Any, first: Any, count: Any) -> None:
    """Begin the rows of a node's new children."""
    for child in range(first, first + count):
        work.node_movers[child], work.node_counts[child] = UNKNOWN, 0
        if len(work.node_steps) > 0:
            work.node_steps[child, :] = 0.0
    work.node_counts[node] = 0
    if work.node_movers[node] == CHANCE:
        tree.links[node].flags |= DRAWN


@inline_kernel
def _problem_apply(control: Any, work: Any, state: Any, action: Any, depth: Any) -> None:
    pass


@inline_kernel
def collect_steps(control: Any, work: Any, path: Any, depth: Any) -> None:
    """Write the immediate rewards of the steps of a path."""
    if control.step_rewards:
        for step in range(1, depth + 1):
            for player in range(control.players):
                work.steps[step, player] = work.node_steps[path[step], player]


@inline_kernel
def _problem_rewards(control: Any, work: Any, state: Any, node: Any, rewards: Any) -> None:
    for player in range(len(rewards)):
        rewards[player] = work.node_ends[node, player]


@inline_kernel
def _problem_decides_chance(tree: Any, work: Any, node: Any) -> bool:
    return bool(work.node_movers[node] == CHANCE and tree.links[node].flags & TERMINAL == 0)


def make_domain(build: Build) -> Domain:
    """Return what a build asks about states."""
    if build.problem:
        return Domain(
            _problem_is_terminal, _problem_mover, _problem_actions, draw_open_child,
            _problem_apply, _problem_rewards, _problem_decides_chance,
        )  # fmt: skip
    return Domain(
        _game_is_terminal, _game_mover, _game_actions, draw_child,
        _game_apply_and_collect if build.stochastic else _game_apply, _game_rewards,
        _has_outcomes if build.stochastic else _never_chance,
    )  # fmt: skip
