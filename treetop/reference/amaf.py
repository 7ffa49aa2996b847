"""All moves as first (AMAF), for RAVE and GRAVE.

The statistics of a move count every simulation in which its player made it, at this node or later.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from treetop.reference.node import Node

if TYPE_CHECKING:
    from treetop.reference.search import ReferenceSearch

_NO_STATISTICS = Node()


def credit(parent: Node, chosen: Node, played: set[tuple[int, int]], reward: float) -> None:
    """Add the return of a simulation to every child whose move its chooser made in it, at this node or later.

    `played` holds the players and actions from the end of the simulation up to this node.
    """
    played.add((chosen.chooser, chosen.action))
    for child in parent.children:
        if (child.chooser, child.action) in played:
            child.amaf_visits += 1
            child.amaf_sum += reward


def note_reference(search: ReferenceSearch, node: Node, visits: int) -> None:
    """Use a node for the statistics of the nodes below it on the path.

    This applies to the root, and to nodes whose moves have more visits than `amaf_reference`.
    """
    if node is search.root or visits > search.settings.amaf_reference:
        search.references[node.children[0].chooser] = node


def statistics(search: ReferenceSearch, node: Node, child: Node) -> Node:
    """Return the entry that holds the statistics of a child's move.

    It belongs to the last reference node at which the same player was to move; it is empty where that node has no such
    move.
    """
    reference = search.references.get(child.chooser)
    if reference is node:
        return child
    entries = reference.children if reference else []
    return next((entry for entry in entries if entry.action == child.action), _NO_STATISTICS)


def blended(search: ReferenceSearch, entry: Node, child: Node, total: int) -> float:
    """Return (1 - beta) * W / n + beta * A / m, with beta = m / (m + n + bias * m * n).

    A and m are the value sum and the visits of AMAF, W and n those of the child. As one fraction that is (W * (1 + bias
    * m) + A) / (m + n + bias * m * n). With the option k, beta = sqrt(k / (3 N + k)).
    """
    settings, seen, visits = search.settings, entry.amaf_visits, child.visits
    if settings.amaf_k is not None and seen and visits:
        beta = math.sqrt(settings.amaf_k / (3.0 * total + settings.amaf_k))
        return (1.0 - beta) * (child.value_sum / visits) + beta * (entry.amaf_sum / seen)
    biased = settings.amaf_bias * seen
    return (child.value_sum * (1.0 + biased) + entry.amaf_sum) / (seen + visits + biased * visits)
