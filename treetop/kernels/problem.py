"""The loop over a Python problem: one call absorbs an evaluated leaf and descends to the next one.

It returns only where Python is needed, which steps the state and evaluates it. Nothing here knows a game, so one build
serves all problems.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel, kernel, loop_of
from treetop.compiler.intrinsics import local_pack, local_rng
from treetop.kernels.backup import make_backup
from treetop.kernels.batch import count_in_flight, make_seek
from treetop.kernels.build import Build
from treetop.kernels.control import ASK_ACTIONS, COLLISION, DONE, NEED_CAPACITY, NEED_PATH, SOLVED
from treetop.kernels.domain import collect_steps, number_children
from treetop.kernels.endings import ENDED, LEAF
from treetop.kernels.loop import make_expand
from treetop.tree.layout import TERMINAL
from treetop.types import NONE, ROOT

GO, TAKE, END, OPEN = 0, 1, 2, 3
"""What to do with the leaf of a call: nothing; back up its value; it is terminal; expand it and continue there."""

STOPPED, FULL, BUSY, CLOSED, UNLISTED, TOO_DEEP = (
    -1 - status for status in (DONE, NEED_CAPACITY, COLLISION, SOLVED, ASK_ACTIONS, NEED_PATH)
)
"""What a call returns where it is not the next leaf: the budget is used up; the tree is full; the leaf is being
evaluated already; no child of the root is open; the actions of a node are needed; the path is too long for its
buffers."""


@inline_kernel
def _trace(tree: Any, work: Any, leaf: Any) -> Any:
    """Write the path to a node, by its parents; return its depth."""
    depth: Any = np.int64(0)
    node: Any = np.int64(leaf)
    while node != ROOT:
        node = np.int64(tree.links[node].parent)
        depth += 1
    node = np.int64(leaf)
    for step in range(depth, -1, -1):
        work.path[step] = node
        work.movers[step] = max(work.node_movers[node], 0)
        node = np.int64(tree.links[node].parent)
    return depth


@functools.cache
def make_exchange(build: Build, *, in_flight: bool) -> CompiledFunction[..., int]:
    """Return the loop in one of its builds; `in_flight`: many leaves are evaluated at the same time."""
    seek = make_seek(build, in_flight=in_flight)
    expand = make_expand(build)
    backup = make_backup(build)
    about = ", ".join(part for part in (build.about, "evaluations in flight" if in_flight else "") if part)

    @kernel
    def open_children(control: Any, tree: Any, work: Any, node: Any, count: Any, weighted: Any) -> None:
        """Give a node its children; their priors are `work.scores`, or equal ones."""
        number_children(control, work, count)
        first = np.int64(control.size)
        expand(control, tree, work, work.path, 0, node, NONE, 0, 0, count)
        if weighted:
            total = 0.0
            for index in range(count):
                total += work.scores[index]
            for index in range(count):
                tree.stats[first + index].prior = work.scores[index] / total

    @loop_of(about)
    def exchange(
        game: Any, controls: Any, tree: Any, work: Any,
        mode: int, leaf: int, mover: int, count: int, later: int, weighted: int,
    ) -> int:  # fmt: skip
        """Finish the simulation of `leaf` as `mode` says, then simulate until Python is needed; return the next leaf.

        A negative number says what else is needed.
        """
        control, tree, work = controls[0], local_pack(tree), local_pack(work)
        rng = local_rng(control.rng)
        control.status = DONE
        start = np.int64(0)
        if mode == TAKE or mode == END:
            work.node_movers[leaf], work.node_counts[leaf] = mover, later
            depth = _trace(tree, work, leaf) if in_flight else np.int64(control.depth)
            if in_flight:
                count_in_flight(tree.in_flight, work.path, depth, -1)
            work.movers[depth] = max(mover, 0)
            if mode == END:
                tree.links[leaf].flags |= TERMINAL
                for player in range(len(tree.totals)):
                    work.node_ends[leaf, player] = work.rewards[player]
            elif count > 0:
                open_children(control, tree, work, leaf, count, weighted)
            collect_steps(control, work, work.path, depth)
            ending = ENDED if mode == END else LEAF
            backup(control, tree, work, work.path, work.movers, depth, ending, work.rewards)
            control.done += 1
        elif mode == OPEN:
            open_children(control, tree, work, leaf, count, weighted)
            start = np.int64(control.depth)
        depth = np.int64(seek(game, control, tree, work.path, 0, work, work.path, work.movers, start, rng))
        if depth < 0:
            return int(-1 - control.status)
        found = work.path[depth]
        if in_flight:
            if tree.in_flight[found] > 0:
                return BUSY
            count_in_flight(tree.in_flight, work.path, depth, 1)
        control.turn += 1
        return int(found)

    return exchange
