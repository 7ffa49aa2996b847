"""The search loop of several threads whose result does not depend on their number.

A search goes in rounds. The first thread selects a number of leaves, with in-flight visits; all threads evaluate them,
each leaf with a random stream of its own; the first thread backs them up in the order of their selection. Only the
evaluations run in parallel.
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
    mix_bits,
    pack_at,
    rng_word,
    state_at,
    store_shared,
    yield_thread,
)
from treetop.kernels.batch import make_absorb, make_gather
from treetop.kernels.build import Build
from treetop.kernels.control import (
    COLLISION,
    DONE,
    FIRST_FAILURE,
    FIRST_ROW,
    LAST_ROW,
    NEED_CAPACITY,
    NEXT_ROW,
    READY,
    STOP,
)
from treetop.kernels.evaluate import make_evaluate
from treetop.types import NONE

_SPINS = 256
_ROWS = 8  # that a thread takes at a time


@functools.cache
def make_run_rounds(build: Build) -> CompiledFunction[..., None]:
    """Return the loop of one of the threads, in one of its builds."""
    gather, absorb, evaluate = make_gather(build), make_absorb(build), make_evaluate(build)

    @loop_of(build.about)
    def run_rounds(
        game: Any, controls: Any, trees: Any, roots: Any, works: Any, thread: int, least: int, paths: Any, movers: Any,
        depths: Any, leaves: Any, logits: Any, values: Any,
    ) -> None:  # fmt: skip
        """Lead rounds until `least` simulations are done, or something needs the caller; or evaluate, as a follower.

        The width of a round is the number of rows of `leaves`. The first control record is the leader's.
        """
        tree = local_pack(pack_at(trees, 0))
        if thread > 0:
            follow(game, controls, tree, works, thread, depths, leaves, values)
            return
        control = controls[0]
        whole, reserve = control.capacity, len(leaves) * control.most_children
        while control.done < min(least, control.budget):
            if control.size + reserve + control.most_children > whole:
                control.status, control.depth = NEED_CAPACITY, NONE
                break
            control.gathered, control.capacity = 0, whole - reserve  # the rest is for the children of the leaves
            gather(game, controls, trees, roots, works, 0, 1, len(leaves), 0, paths, movers, depths, leaves)
            why, rows = control.status, np.int64(control.gathered)
            control.capacity = whole
            if why >= FIRST_FAILURE:
                control.failed_row = rows
                break
            control.status = DONE
            if rows > 0:
                lead(game, controls, tree, works, rows, depths, leaves, values)
                if control.status != DONE or load_shared(tree.shared, STOP) != 0:
                    break
                absorb(game, controls, trees, roots, works, 0, 1, paths, movers, depths, leaves, logits, values)
                if control.status != DONE:
                    break
                control.gathered = 0
            control.status = DONE if why == COLLISION else why
            if control.status != DONE:
                break
        store_shared(tree.shared, STOP, 1)

    @inline_kernel
    def lead(game: Any, controls: Any, tree: Any, works: Any, rows: Any, depths: Any, leaves: Any, values: Any) -> None:
        """Let all threads evaluate the rows, and wait until they are done; a failure is left in the first record."""
        control = controls[0]
        base = np.int64(control.streams)
        control.streams = base + rows
        store_shared(tree.shared, FIRST_ROW, base)
        store_shared(tree.shared, LAST_ROW, base + rows)
        evaluate_rows(game, control, tree, works, 0, depths, leaves, values)
        spins = 0
        while load_shared(tree.shared, READY) < base + rows and load_shared(tree.shared, STOP) == 0:
            spins += 1
            if spins % _SPINS == 0:
                yield_thread()
        for other in range(1, len(controls)):
            if controls[other].status != DONE and control.status == DONE:
                control.status, control.culprit = controls[other].status, controls[other].culprit
                control.bad_value, control.failed_row = controls[other].bad_value, controls[other].failed_row
        if control.status != DONE:
            control.depth = depths[control.failed_row]

    @inline_kernel
    def follow(
        game: Any, controls: Any, tree: Any, works: Any, thread: Any, depths: Any, leaves: Any, values: Any
    ) -> None:
        """Evaluate rows in every round until the leader stops."""
        spins = 0
        while load_shared(tree.shared, STOP) == 0:
            spins += 1
            if load_shared(tree.shared, NEXT_ROW) < load_shared(tree.shared, LAST_ROW):
                evaluate_rows(game, controls[thread], tree, works, thread, depths, leaves, values)
            elif spins % _SPINS == 0:
                yield_thread()

    @inline_kernel
    def evaluate_rows(
        game: Any, control: Any, tree: Any, works: Any, thread: Any, depths: Any, leaves: Any, values: Any
    ) -> None:
        """Evaluate rows of this round as long as there are some.

        Rows have numbers that go on from round to round, and a round ends when all its rows are evaluated: so a thread
        that has taken a number knows to which round it belongs.
        """
        work = local_pack(pack_at(works, thread))
        while True:
            number, last = np.int64(load_shared(tree.shared, NEXT_ROW)), np.int64(load_shared(tree.shared, LAST_ROW))
            if number >= last:
                return
            after = min(number + _ROWS, last)  # some at a time, so that threads seldom meet
            if not compare_and_swap(tree.shared, NEXT_ROW, number, after):
                continue
            first = np.int64(load_shared(tree.shared, FIRST_ROW))
            for row in range(number - first, after - first):
                if control.status == DONE:
                    control.failed_row = row
                    rng = local_rng(np.uint64(mix_bits(np.uint64(control.seed) ^ mix_bits(np.uint64(first + row)))))
                    control.culprit = np.int64(rng_word(rng))  # a rollout that fails can be repeated interpreted
                    state = local_copy(state_at(game, leaves, row))
                    evaluate(control, work, state, np.int64(depths[row]), values[row], rng)
            atomic_add(tree.shared, READY, after - number)

    return run_rounds
