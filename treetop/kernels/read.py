"""Read the roots of many searches at once: visits, values, priors and improved policies, by action."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import kernel
from treetop.compiler.intrinsics import pack_at
from treetop.kernels.rules.completed import complete, scaled, write_improved
from treetop.types import ROOT


@kernel
def read_roots(
    game: Any, controls: Any, trees: Any, works: Any, movers: Any,
    order: Any, visits: Any, since: Any, sums: Any, priors: Any, improved: Any, scores: Any, root_visits: Any,
    totals: Any,
) -> None:  # fmt: skip
    """Write the statistics of each root's children to the rows of its slot, at the places of their actions.

    `order` is the place of an action among the children. `since` are the visits since the current schedule began.
    `improved` is the policy improved by completed values, and `scores` are its logits with the Gumbel numbers, where
    the search keeps them.
    """
    for slot in range(len(movers)):
        control, tree, work = controls[slot], pack_at(trees, slot), pack_at(works, slot)
        first, count = np.int64(tree.links[ROOT].first_child), np.int64(tree.links[ROOT].num_children)
        root_visits[slot] = tree.stats[ROOT].visits
        for player in range(len(tree.totals)):
            totals[slot, player] = tree.totals[player]
        scheduled = control.planned > 0
        for index in range(count):
            action = tree.links[first + index].action
            order[slot, action] = index
            visits[slot, action] = tree.stats[first + index].visits
            since[slot, action] = tree.stats[first + index].visits - (work.base[index] if scheduled else 0)
            sums[slot, action] = tree.stats[first + index].value_sum
            priors[slot, action] = abs(tree.stats[first + index].prior)
        if len(improved) > 0 and count > 0 and movers[slot] >= 0:
            completed = complete(control, tree, work, ROOT, movers[slot], first, count, False)
            for index in range(count):
                known = work.logits[index] + work.gumbel[index] if scheduled else 0.0
                score = scaled(tree, work, first, index, completed) + known
                scores[slot, tree.links[first + index].action] = score
            write_improved(tree, work, first, count, completed)
            for index in range(count):
                improved[slot, tree.links[first + index].action] = max(work.scores[index], 0.0)
