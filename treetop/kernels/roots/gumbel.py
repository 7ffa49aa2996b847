"""Gumbel: sequential halving over Gumbel numbers at the root, for a known number of simulations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel
from treetop.kernels.parts import PROBLEMS, TREES, Composition, number, whole
from treetop.kernels.roots.root import Root
from treetop.kernels.rules.completed import Completed, scaled


@inline_kernel
def _tries(tree: Any, child: Any, in_flight: bool) -> Any:
    return np.int64(tree.stats[child].visits) + (tree.in_flight[child] if in_flight else 0)


@inline_kernel
def score_by_schedule(
    control: Any, tree: Any, work: Any, first: Any, count: Any, completed: Any, in_flight: bool
) -> bool:
    """Let only children with the scheduled number of visits compete, by Gumbel number, logit and completed value.

    It follows `complete`, which returned `completed`. Return false, and change nothing, where the schedule has ended or
    no child fits it.
    """
    if control.turn >= control.planned:
        return False
    wanted = work.schedule[control.turn]
    fitting = False
    for index in range(count):
        fits = _tries(tree, first + index, in_flight) - work.base[index] == wanted
        fitting = fitting or (fits and _is_open(control, tree, work, first + index))
    if not fitting:
        return False
    for index in range(count):
        fits = _tries(tree, first + index, in_flight) - work.base[index] == wanted
        if fits and tree.stats[first + index].prior >= 0.0:
            known = work.logits[index] + work.gumbel[index]
            work.scores[index] = scaled(tree, work, first, index, completed) + known
        else:
            work.scores[index] = -np.inf
    return True


@inline_kernel
def _is_open(control: Any, tree: Any, work: Any, child: Any) -> bool:
    asked = not control.masked or work.mask[tree.links[child].action] != 0
    return bool(asked and tree.stats[child].prior >= 0.0)


@dataclass(frozen=True, kw_only=True)
class Gumbel(Root):
    """Sequential halving over Gumbel numbers, for a known number of simulations.

    >>> import treetop as tt
    >>> config = tt.SearchConfig(rule=tt.rules.Completed(), root=tt.rules.Gumbel(max_considered=4))
    >>> result = tt.search("tic_tac_toe", config, simulations=32, seed=1)
    >>> sum(visits > 0 for visits in result.visits.values())
    4
    """

    name = "gumbel"
    kinds = frozenset({TREES, PROBLEMS})
    schedules = True
    works_with = {"widening": ("none",)}

    max_considered: int = whole(16, "Moves of the root that are considered, at most.", low=1)
    gumbel_scale: float | None = number(
        None,
        "The factor of the Gumbel numbers, which are noise: 0 plays the best move known. Default: 1 in a search, as "
        "training needs it, "
        "and 0 for a player in a match.",
        low=0.0,
        kernel=False,
    )

    def control(self) -> dict[str, float]:
        """Return the numbers that the kernels read: also those of completed values, unless the rule has its own."""
        scale = 1.0 if self.gumbel_scale is None else self.gumbel_scale
        return Completed().control() | super().control() | {"gumbel_scale": scale}

    def columns(self) -> frozenset[str]:
        """Return the columns of the tree that this part needs."""
        return frozenset({"own_sums", "own_visits"})

    def refusals(self, config: Composition) -> Iterator[str]:
        """Give each reason why this root rule does not go with the other parts."""
        yield from super().refusals(config)
        if config.noise.fraction > 0:
            yield "Gumbel numbers are the noise of root='gumbel': leave noise out"
