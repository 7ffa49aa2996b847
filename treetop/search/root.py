"""Preparation of the root: noise in the priors, Gumbel numbers and their schedule, the moves to search."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from treetop.kernels.no_game import NO_GAME
from treetop.kernels.roots.prepare import prepare_roots
from treetop.search.evaluator import Rollout
from treetop.tree.storage import Tree
from treetop.types import ROOT

if TYPE_CHECKING:
    from treetop.search.drivers.driver import Driver
    from treetop.search.drivers.tree import TreeDriver

_MANY = 1000  # simulations above which Gumbel with rollouts is a mistake


def block(tree: Tree) -> slice:
    """Return the indices of the root's children."""
    _, _, first, count, _, _ = tree.columns.links.item(ROOT)  # one read of all fields is faster than one of two
    return slice(first, first + count) if count else slice(0, 0)


def prepare(driver: Driver, *, noise: bool, simulations: int | None) -> None:
    """Add noise to the root's priors, and plan a schedule of `simulations` simulations (None: no schedule)."""
    control, config, moves = driver.control, driver.config, driver.moves_played
    control["moves"], control["noise_due"], control["schedule_due"] = moves, noise, simulations is not None
    control["noise_share"], control["noise_alpha"] = config.noise.at(moves), config.noise.alpha or 0.0
    if simulations is not None:
        control["planned"] = simulations
        if len(driver.scratch.work.schedule) < simulations:
            driver.scratch.replace(schedule=np.zeros(simulations, np.int32))
    NO_GAME.entry(prepare_roots)(control, driver.tree.pack, driver.scratch.pack, 0, 1)


def prepare_kernel(driver: Driver) -> None:
    """Compile the kernel that prepares the root, or load it from the cache, if the search needs it."""
    if driver.config.noise.fraction > 0 or driver.config.root.schedules:
        NO_GAME.entry(prepare_roots).prepare(driver.control, driver.tree.pack, driver.scratch.pack, 0, 1)


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
