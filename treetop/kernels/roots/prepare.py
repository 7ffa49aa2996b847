"""Prepare the root: Dirichlet noise in its priors, Gumbel numbers and their schedule.

All random numbers depend on the seed and on the number of moves played, not on earlier simulations. The root must have
its children.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import local_rng, mix_bits, pack_at
from treetop.kernels.random_numbers import gamma, gumbel
from treetop.kernels.rules.completed import logit
from treetop.tree.layout import CLOSED
from treetop.types import ROOT

NOISE, GUMBEL = np.uint64(0x6E6F697365), np.uint64(0x67756D62656C)
"""Separate streams of random numbers."""


@kernel
def prepare_roots(game: Any, controls: Any, trees: Any, works: Any, first: int, last: int) -> None:
    """Add noise to the roots of some searches and plan their schedules, where `control` asks for it.

    A root without children is left as it is.
    """
    for slot in range(first, last):
        control, tree, work = controls[slot], pack_at(trees, slot), pack_at(works, slot)
        count = np.int64(tree.links[ROOT].num_children)
        if count > 0:
            if control.noise_due:
                add_noise(control, tree, work, np.int64(tree.links[ROOT].first_child), count)
                control.noise_due = 0
            if control.schedule_due:
                begin_schedule(control, tree, work, np.int64(tree.links[ROOT].first_child), count)
                control.schedule_due = 0


@inline_kernel
def _stream(control: Any, salt: Any) -> Any:
    """Return the first word of a generator for one purpose at one root."""
    return mix_bits(mix_bits(control.seed ^ salt) + np.uint64(control.moves))


@inline_kernel
def add_noise(control: Any, tree: Any, work: Any, first: Any, count: Any) -> None:
    """Mix Dirichlet noise into the priors of the root's children. Closed ones, with negative priors, stay closed."""
    rng = local_rng(_stream(control, NOISE))
    alpha = control.noise_alpha if control.noise_alpha > 0.0 else 10.0 / count
    total = 0.0
    for index in range(count):
        work.scores[index] = gamma(rng, alpha)
        total += work.scores[index]
    if not total > 0.0:  # a small alpha, whose draws are all zero in floating point: all mass on one child
        work.scores[rng.below(count)] = total = 1.0
    for index in range(count):
        prior = tree.stats[first + index].prior
        share = control.noise_share
        mixed = np.float32((1.0 - share) * abs(prior) + share * (work.scores[index] / total))
        tree.stats[first + index].prior = min(-mixed, CLOSED) if prior < 0.0 else mixed


@inline_kernel
def begin_schedule(control: Any, tree: Any, work: Any, first: Any, count: Any) -> None:
    """Draw a Gumbel number for each move of the root, and plan a schedule of `control.planned` simulations."""
    rng = local_rng(_stream(control, GUMBEL))
    wanted = 0
    for index in range(count):
        work.gumbel[index] = gumbel(rng) * control.gumbel_scale
        work.logits[index] = logit(abs(tree.stats[first + index].prior))
        work.base[index] = tree.stats[first + index].visits
        wanted += 1 if not control.masked else work.mask[tree.links[first + index].action]
    plan_halving(work.schedule, max(1, min(control.max_considered, wanted)), control.planned)
    control.turn = 0


@inline_kernel
def plan_halving(schedule: Any, considered: Any, simulations: Any) -> None:
    """Write for each simulation the visits that a move must have to be chosen: sequential halving of so many moves."""
    if considered == 1:
        for turn in range(simulations):
            schedule[turn] = turn
        return
    rounds = 0
    while (1 << rounds) < considered:
        rounds += 1
    left, done, turn = considered, 0, 0  # `done`: the visits of each of the first `left` moves
    while turn < simulations:
        for _ in range(max(1, simulations // (rounds * left))):
            for _ in range(left):
                if turn < simulations:
                    schedule[turn] = done
                    turn += 1
            done += 1
        left = max(2, left // 2)
