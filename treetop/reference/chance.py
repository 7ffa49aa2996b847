"""Chance, rewards on the way, and players who gang up.

A node where chance decides is opened as soon as it is reached, with a child for each outcome, and is never evaluated itself. An outcome takes no time:
only moves are discounted. Where rewards come on the way, the sums of a node hold what the step to it brought, r + discount * what came after it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from treetop.reference.arithmetic import added, plus
from treetop.reference.node import Node
from treetop.types import CHANCE

if TYPE_CHECKING:
    from treetop.compiler.rng import Rng
    from treetop.game.position import Position
    from treetop.reference.search import ReferenceSearch

_FIRST = 0  # for whom sums are told where nobody chooses


def decides(state: Any) -> bool:
    """Whether chance is to move."""
    return int(state.current_player()) == CHANCE


def outcomes(position: Position, state: Any) -> tuple[list[int], list[float]]:
    """What may happen, and how likely it is."""
    most = position.game.facts.num_outcomes or 0
    actions, probabilities = np.zeros(most, np.int32), np.zeros(most)
    count = int(state.chance_outcomes(actions, probabilities))
    return [int(action) for action in actions[:count]], [float(probability) for probability in probabilities[:count]]


def drawn(rng: Rng, shares: list[float], whole: float = 1.0) -> int:
    """The number of one of some shares, by their size; the last one has what is left."""
    point = rng.random() * whole
    for index, share in enumerate(shares[:-1]):
        point -= share
        if point < 0.0:
            return index
    return len(shares) - 1


def open_outcomes(search: ReferenceSearch, node: Node, state: Any) -> None:
    """Give a node where chance decides its children. Priors are kept in 32 bits."""
    actions, probabilities = outcomes(search.position, state)
    node.is_drawn = True
    node.children = [
        Node.new(search.facts.players, action, float(np.float32(share)), _FIRST)
        for action, share in zip(actions, probabilities, strict=True)
    ]


def draw_child(search: ReferenceSearch, node: Node) -> Node:
    """An outcome in the tree, proven ones as well; one of those that have come before, where there are max(1, ceil(k * n^power)) of them."""
    settings, before = search.settings, [child for child in node.children if child.begun]
    if settings.chance_widening is None or len(before) < max(
        1, math.ceil(settings.chance_widening * node.begun**settings.widening_power)
    ):
        return node.children[drawn(search.rng, [child.prior for child in node.children])]
    return before[drawn(search.rng, [child.prior for child in before], added(child.prior for child in before))]


def expected(search: ReferenceSearch, node: Node, rewards: list[float]) -> list[float]:
    """What goes up from a node: what came, or where chance decides and it is asked for, sum of P * mean over the visited children / sum of P."""
    if not node.is_drawn or search.settings.chance != "expected":
        return rewards
    visited = [child for child in node.children if child.visits]
    mass = added(child.prior for child in visited)
    return [
        added(child.prior * (child.sums[player] / child.visits) for child in visited) / mass
        for player in range(len(rewards))
    ]


def set_expectation(search: ReferenceSearch, node: Node, rewards: list[float], correction: list[float]) -> list[float]:
    """Let the sums of a chance node be its visits times its present expectation; return the correction for the sums of the node above.

    Other nodes add the correction from below, discounted as the rewards are.
    """
    correction = [fade(search, node) * share for share in correction]
    if node.is_drawn:
        correction = [node.visits * reward - total for reward, total in zip(rewards, node.sums, strict=True)]
    node.sums = plus(node.sums, correction)
    return correction


def random_outcome(search: ReferenceSearch, state: Any) -> int:
    """An outcome in a rollout: by the game's own fast way, or from the list."""
    if hasattr(state, "random_outcome"):
        return int(state.random_outcome(search.rng))
    actions, probabilities = outcomes(search.position, state)
    return actions[drawn(search.rng, probabilities)]


def received(search: ReferenceSearch, state: Any) -> list[float]:
    """What the last step brought to every player."""
    if not search.pays_immediately:
        return [0.0] * search.facts.players
    out = np.zeros(search.facts.players)
    state.step_rewards(out)
    return made_paranoid(search, [float(reward) for reward in out], 0.0)


def made_paranoid(search: ReferenceSearch, rewards: list[float], both: float | None = None) -> list[float]:
    """Where all play against one: the others have what that one leaves of `both`, by default the two ends of the utility range together."""
    if search.paranoid_target is None:
        return rewards
    total, worth = sum(search.facts.rewards) if both is None else both, rewards[search.paranoid_target]
    return [worth if player == search.paranoid_target else total - worth for player in range(search.facts.players)]


def fade(search: ReferenceSearch, node: Node) -> float:
    """The discount of what follows a node: none where chance decides there, because an outcome belongs to the step before it."""
    return 1.0 if node.is_drawn else search.settings.discount


def with_step(search: ReferenceSearch, path: list[Node], step: int, rewards: list[float]) -> list[float]:
    """Return r + discount * V, with r the reward of the step to a node of a path."""
    left = fade(search, path[step])
    return [left * reward + brought for brought, reward in zip(search.steps[step], rewards, strict=True)]


def without_step(search: ReferenceSearch, mean: float, player: int) -> float:
    """Return V from r + discount * V, for the node that the present path has come to; the middle where the discount is 0."""
    left = search.settings.discount
    value = mean - search.steps[len(search.path) - 1][player]
    return value if left == 1.0 else value / left if left > 0.0 else search.facts.middle
