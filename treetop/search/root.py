"""Preparation of the root: noise in the priors, Gumbel numbers and their schedule, the moves to search."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from treetop.compiler.rng import mix
from treetop.kernels.roots.gumbel import Gumbel, halving_schedule
from treetop.search.evaluator import Rollout
from treetop.tree.layout import CLOSED
from treetop.tree.storage import Tree
from treetop.types import ROOT

if TYPE_CHECKING:
    from treetop.search.drivers.driver import Driver
    from treetop.search.drivers.tree import TreeDriver

_MANY = 1000  # simulations above which Gumbel with rollouts is a mistake
_NOISE, _GUMBEL = 0x6E6F697365, 0x67756D62656C  # separate streams of random numbers


def block(tree: Tree) -> slice:
    """Return the indices of the root's children."""
    link = tree.columns.links[ROOT]
    first = int(link["first_child"])
    return slice(first, first + int(link["num_children"])) if link["num_children"] else slice(0, 0)


def generator(seed: int, moves: int, salt: int) -> np.random.Generator:
    """Return a random generator for one purpose at one root; it does not depend on earlier simulations."""
    return np.random.default_rng([mix(seed ^ salt), moves])


def add_noise(driver: Driver, moves: int) -> None:
    """Mix Dirichlet noise into the priors of the root's children.

    Closed children, with negative priors, stay closed.
    """
    config, children = driver.config, block(driver.tree)
    priors = driver.tree.columns.stats["prior"]
    count = children.stop - children.start
    share = config.noise.at(moves)
    alpha = config.noise.alpha if config.noise.alpha is not None else 10.0 / count
    noise = generator(driver.seed, moves, _NOISE).dirichlet(np.full(count, alpha))
    old = priors[children].astype(np.float64)
    new = ((1.0 - share) * np.abs(old) + share * noise).astype(np.float32)
    priors[children] = np.where(old < 0, np.minimum(-new, CLOSED), new)


def begin_schedule(driver: Driver, gumbel: Gumbel, moves: int, simulations: int) -> None:
    """Draw a Gumbel number for each move of the root, and plan the schedule of `simulations` simulations."""
    children = block(driver.tree)
    count = children.stop - children.start
    visits = driver.tree.columns.stats["visits"][children]
    work, scale = driver.scratch.work, gumbel.gumbel_scale
    work.gumbel[:count] = generator(driver.seed, moves, _GUMBEL).gumbel(size=count) * (1.0 if scale is None else scale)
    work.base[:count] = visits
    wanted = count
    if driver.control[0]["masked"]:
        wanted = int(work.mask[driver.tree.columns.links["action"][children]].sum())
    driver.scratch.replace(schedule=halving_schedule(max(1, min(gumbel.max_considered, wanted)), simulations))
    driver.control["turn"] = 0


def warn_of_rollouts(evaluator: Any, simulations: int) -> None:
    """Warn where Gumbel plans many simulations with rollouts: completed values need priors, which rollouts lack."""
    if isinstance(evaluator, Rollout) and simulations > _MANY:
        warnings.warn(
            f"root='gumbel' is for few simulations and an evaluator with priors; for {simulations:,} simulations with "
            "rollouts another rule, such as uct() or halving(), plays better",
            stacklevel=2,
        )


def set_mask(driver: TreeDriver, actions: Collection[int] | None) -> None:
    """Restrict the search to some moves of the root; None: to all of them."""
    if actions is None:
        driver.control["masked"], driver.control["arms"] = (
            0,
            0 if driver.control["masked"] else driver.control["arms"],
        )
        driver.use(driver.plan.build)
        return
    driver.use(driver.plan.full)
    mask = driver.scratch.work.mask
    mask[:] = 0
    mask[list(actions)] = 1
    driver.control["masked"], driver.control["arms"] = 1, 0
