"""All moves as first (RAVE and GRAVE): a move is judged by every simulation in which its player made it, now or later."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from treetop.reference.node import Node

if TYPE_CHECKING:
    from treetop.reference.search import ReferenceSearch

_NOTHING = Node()


def credit(parent: Node, chosen: Node, played: set[tuple[int, int]], worth: float) -> None:
    """Every child of a node whose move its chooser played in this simulation, here or later: one more visit, and what came of it.

    `played` holds the players and actions from the end of the simulation up to here.
    """
    played.add((chosen.chooser, chosen.action))
    for child in parent.children:
        if (child.chooser, child.action) in played:
            child.amaf_visits += 1
            child.amaf_sum += worth


def note_reference(search: ReferenceSearch, node: Node, visits: int) -> None:
    """A node whose moves have more visits than `amaf_reference` lends its statistics to those below on the path; the root always does."""
    if node is search.root or visits > search.settings.amaf_reference:
        search.references[node.children[0].chooser] = node


def statistics(search: ReferenceSearch, node: Node, child: Node) -> Node:
    """Where the statistics of a child's move stand: at the last reference at which the same player was to move, if it had that move."""
    reference = search.references.get(child.chooser)
    if reference is node:
        return child
    return (
        next((entry for entry in reference.children if entry.action == child.action), _NOTHING)
        if reference
        else _NOTHING
    )


def blended(search: ReferenceSearch, entry: Node, child: Node, total: int) -> float:
    """(1 - beta) * W / n + beta * A / m, with beta = m / (m + n + bias * m * n): m visits and the sum A of the move as any, n and W of its own.

    As one fraction that is (W * (1 + bias * m) + A) / (m + n + bias * m * n). With k it is beta = sqrt(k / (3 N + k)).
    """
    settings, seen, visits = search.settings, entry.amaf_visits, child.visits
    if settings.amaf_k is not None and seen and visits:
        beta = math.sqrt(settings.amaf_k / (3.0 * total + settings.amaf_k))
        return (1.0 - beta) * (child.value_sum / visits) + beta * (entry.amaf_sum / seen)
    biased = settings.amaf_bias * seen
    return (child.value_sum * (1.0 + biased) + entry.amaf_sum) / (seen + visits + biased * visits)
