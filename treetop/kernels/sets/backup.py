"""Backup over information sets: several players may have chosen at one step."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel
from treetop.kernels.endings import LEAF
from treetop.kernels.rules.regret_matching import update_regrets
from treetop.kernels.sets.select import count_outcomes
from treetop.kernels.values import add_return, update_scale
from treetop.types import CHANCE, NONE, ROOT


@inline_kernel
def backup_sets(
    control: Any, tree: Any, work: Any, path: Any, movers: Any, depth: Any, ending: Any, rewards: Any
) -> None:
    """Back up `rewards`: a visit for each action that was chosen, and the return to the player who chose it."""
    if ending == LEAF:
        for player in range(control.players):
            if work.sets[player] != NONE:
                tree.links[work.sets[player]].own = 1  # the sets at the end are new no longer
    chosen = np.int64(control.chosen)
    if control.chance_widening > 0.0:
        count_outcomes(tree, work, chosen)
    entry = chosen - 1
    steps = np.int64(work.times[entry]) if entry >= 0 else np.int64(0)
    for time in range(steps, 0, -1):
        for player in range(control.players):
            rewards[player] = work.steps[time, player] + control.discount * rewards[player]
        while entry >= 0 and work.times[entry] == time:
            info_set, mover = np.int64(path[entry]), np.int64(movers[entry])
            if mover == CHANCE:
                entry -= 1
                continue
            first, value = np.int64(tree.links[info_set].first_child), rewards[mover]
            slot = first + work.places[entry]
            if len(tree.regrets) > 0:
                update_regrets(control, tree, work, info_set, slot, value)
            for index in range(work.counts[entry]):
                offered = index if work.starts[entry] == NONE else work.offered[work.starts[entry] + index]
                tree.available[first + offered] += 1
            add_return(tree, slot, value, 1)
            tree.stats[info_set].visits += 1
            update_scale(control, tree, slot)
            entry -= 1
    tree.stats[ROOT].visits += 1
    for player in range(control.players):
        tree.totals[player] += work.steps[0, player] + rewards[player]
