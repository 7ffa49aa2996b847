"""What a search does to its root before it looks further: noise in the priors, Gumbel numbers and their schedule, moves asked for."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.compiler.rng import mix
from treetop.search.config import SearchConfig
from treetop.search.evaluator import Rollout
from treetop.search.machine import Machine
from treetop.tree.layout import CLOSED
from treetop.tree.storage import Tree
from treetop.types import ROOT, FloatArray, IntArray

_MANY = 1000  # simulations, beyond which Gumbel with rollouts is a mistake
_NOISE, _GUMBEL = 0x6E6F697365, 0x67756D62656C  # what the root draws comes from numbers of its own


def block(tree: Tree) -> slice:
    """The places of the root's children."""
    link = tree.columns.links[ROOT]
    first = int(link["first_child"])
    return slice(first, first + int(link["num_children"])) if link["num_children"] else slice(0, 0)


def generator(seed: int, moves: int, salt: int) -> np.random.Generator:
    """Random numbers for one purpose at one root, the same however the search came there."""
    return np.random.default_rng([mix(seed ^ salt), moves])


def add_noise(machine: Machine, moves: int) -> None:
    """Mix Dirichlet noise into the priors of the root's children, closed ones included: their sign stays."""
    config, children = machine.config, block(machine.tree)
    priors = machine.tree.columns.stats["prior"]
    count = children.stop - children.start
    share = config.noise_at(moves)
    alpha = config.noise_alpha if config.noise_alpha is not None else 10.0 / count
    noise = generator(machine.seed, moves, _NOISE).dirichlet(np.full(count, alpha))
    old = priors[children].astype(np.float64)
    new = ((1.0 - share) * np.abs(old) + share * noise).astype(np.float32)
    priors[children] = np.where(old < 0, np.minimum(-new, CLOSED), new)


def begin_schedule(machine: Machine, moves: int, simulations: int) -> None:
    """Draw a Gumbel number for each move of the root, and plan so many simulations."""
    children = block(machine.tree)
    count = children.stop - children.start
    visits = machine.tree.columns.stats["visits"][children]
    work, scale = machine.scratch.work, machine.config.gumbel_scale
    work.gumbel[:count] = generator(machine.seed, moves, _GUMBEL).gumbel(size=count) * (1.0 if scale is None else scale)
    work.base[:count] = visits
    wanted = count
    if machine.control[0]["masked"]:
        wanted = int(work.mask[machine.tree.columns.links["action"][children]].sum())
    machine.scratch.replace(schedule=halving_schedule(max(1, min(machine.config.max_considered, wanted)), simulations))
    machine.control["turn"] = 0


def warn_of_rollouts(evaluator: Any, simulations: int) -> None:
    """Warn where Gumbel plans many simulations with rollouts: completed values need priors, which rollouts do not give."""
    if isinstance(evaluator, Rollout) and simulations > _MANY:
        warnings.warn(
            f"root='gumbel' is for few simulations and an evaluator with priors; for {simulations:,} simulations with rollouts another rule, "
            "such as uct() or halving(), plays better",
            stacklevel=2,
        )


def halving_schedule(considered: int, simulations: int) -> IntArray:
    """For each simulation the visits that a move must have had before to be chosen: sequential halving among so many moves.

    >>> halving_schedule(4, 8).tolist()
    [0, 0, 0, 0, 1, 1, 2, 2]
    """
    if considered == 1:
        return np.arange(simulations, dtype=np.int32)
    rounds = math.ceil(math.log2(considered))
    visits = np.zeros(considered, np.int32)
    schedule: list[int] = []
    left = considered
    while len(schedule) < simulations:
        for _ in range(max(1, simulations // (rounds * left))):
            schedule.extend(visits[:left].tolist())
            visits[:left] += 1
        left = max(2, left // 2)
    return np.array(schedule[:simulations], np.int32)


def set_mask(machine: Machine, actions: Collection[int] | None) -> None:
    """Look only at some moves of the root, or at all again."""
    if actions is None:
        machine.control["masked"], machine.control["arms"] = (
            0,
            0 if machine.control["masked"] else machine.control["arms"],
        )
        machine.use(machine.plan.build)
        return
    machine.use(machine.plan.rich)
    mask = machine.scratch.work.mask
    mask[:] = 0
    mask[list(actions)] = 1
    machine.control["masked"], machine.control["arms"] = 1, 0


def completed_logits(
    config: SearchConfig, own: float, visits: npt.NDArray[Any], means: FloatArray, priors: FloatArray
) -> FloatArray:
    """For each move the logit of its prior and of its completed value together; `own` is the evaluation of the node itself."""
    total = int(visits.sum())
    tried = visits > 0
    guess = own
    if tried.any() and priors[tried].sum() > 0:
        guess = (own + total * float((priors[tried] * means[tried]).sum() / priors[tried].sum())) / (1 + total)
    values = np.where(tried, means, guess)
    values = (values - values.min()) / max(values.max() - values.min(), 1e-8)
    with np.errstate(divide="ignore"):
        logits = np.maximum(np.log(priors), -1e9)
    return np.asarray(logits + (config.completed_visits + visits.max()) * config.completed_scale * values)
