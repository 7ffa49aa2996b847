"""Chance nodes, immediate rewards and paranoid search.

A chance node gets a child for each outcome as soon as it is reached, and is never evaluated itself. An outcome takes no
time: only moves are discounted. In a game with immediate rewards the sums of a node contain the reward of the step to
it: r + discount * V.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from treetop.reference.arithmetic import added, by_player, plus
from treetop.reference.node import Node
from treetop.types import CHANCE

if TYPE_CHECKING:
    from treetop.compiler.rng import Rng
    from treetop.game.position import Position
    from treetop.reference.search import ReferenceSearch

_FIRST = 0  # the player whose sums the children of a chance node keep


def is_chance_state(state: Any) -> bool:
    """Return whether chance is to move."""
    return int(state.current_player()) == CHANCE


def outcomes(position: Position, state: Any) -> tuple[list[int], list[float]]:
    """Return the outcomes of chance and their probabilities."""
    most = position.game.facts.num_outcomes or 0
    actions, probabilities = np.zeros(most, np.int32), np.zeros(most)
    count = int(state.chance_outcomes(actions, probabilities))
    return [int(action) for action in actions[:count]], [float(probability) for probability in probabilities[:count]]


def draw(rng: Rng, shares: list[float], whole: float = 1.0) -> int:
    """Return an index, drawn in proportion to `shares` with the sum `whole`; the last share gets the rounding error."""
    point = rng.random() * whole
    for index, share in enumerate(shares[:-1]):
        point -= share
        if point < 0.0:
            return index
    return len(shares) - 1


def open_outcomes(search: ReferenceSearch, node: Node, state: Any) -> None:
    """Give a chance node its children. Priors are kept in 32 bits."""
    actions, probabilities = outcomes(search.position, state)
    node.is_chance = True
    node.children = [
        Node.new(search.facts.players, action, float(np.float32(share)), _FIRST)
        for action, share in zip(actions, probabilities, strict=True)
    ]


def draw_child(search: ReferenceSearch, node: Node) -> Node:
    """Return an outcome, drawn by its probability; proven outcomes are drawn as well.

    With progressive widening, only outcomes that were drawn before are drawn as soon as there are max(1, ceil(k *
    n^power)) of them.
    """
    settings, before = search.settings, [child for child in node.children if child.tries]
    if settings.chance_widening is None or len(before) < max(
        1, math.ceil(settings.chance_widening * node.tries**settings.widening_power)
    ):
        return node.children[draw(search.rng, [child.prior for child in node.children])]
    return before[draw(search.rng, [child.prior for child in before], added(child.prior for child in before))]


def expected(search: ReferenceSearch, node: Node, rewards: list[float]) -> list[float]:
    """Return the rewards that a node passes to its parent.

    They are the given rewards; at a chance node with `chance="expected"`, the sum of P * mean over its visited
    children, divided by their sum of P.
    """
    if not node.is_chance or search.settings.chance != "expected":
        return rewards
    visited = [child for child in node.children if child.visits]
    mass = added(child.prior for child in visited)
    return [
        added(child.prior * (child.sums[player] / child.visits) for child in visited) / mass
        for player in range(len(rewards))
    ]


def set_expectation(search: ReferenceSearch, node: Node, rewards: list[float], correction: list[float]) -> list[float]:
    """Set the sums of a chance node to its visits times its expectation, and return the correction for its parent.

    Other nodes add the correction from below, discounted as rewards are.
    """
    correction = [discount_after(search, node) * share for share in correction]
    if node.is_chance:
        correction = [node.visits * reward - total for reward, total in zip(rewards, node.sums, strict=True)]
    node.sums = plus(node.sums, correction)
    return correction


def random_outcome(search: ReferenceSearch, state: Any) -> int:
    """Return an outcome in a rollout: by the game's own `random_outcome` where it has one, or by the probabilities."""
    if hasattr(state, "random_outcome"):
        return int(state.random_outcome(search.rng))
    actions, probabilities = outcomes(search.position, state)
    return actions[draw(search.rng, probabilities)]


def step_rewards(search: ReferenceSearch, state: Any) -> list[float]:
    """Return the immediate rewards of the last step, one for each player."""
    if not search.pays_immediately:
        return [0.0] * search.facts.players
    return paranoid_rewards(search, by_player(search.facts.players, state.step_rewards), 0.0)


def paranoid_rewards(search: ReferenceSearch, rewards: list[float], both: float | None = None) -> list[float]:
    """Return the rewards of paranoid search: each other player receives `both` minus the reward of the target player.

    By default `both` is the lowest plus the highest reward of the game.
    """
    if search.paranoid_target is None:
        return rewards
    total, target = sum(search.facts.rewards) if both is None else both, rewards[search.paranoid_target]
    return [target if player == search.paranoid_target else total - target for player in range(search.facts.players)]


def discount_after(search: ReferenceSearch, node: Node) -> float:
    """Return the discount of the rewards after a node.

    It is 1 at a chance node, because an outcome belongs to the step before it.
    """
    return 1.0 if node.is_chance else search.settings.discount


def with_step(search: ReferenceSearch, path: list[Node], step: int, rewards: list[float]) -> list[float]:
    """Return r + discount * V, with r the reward of the step to a node of a path."""
    discount = discount_after(search, path[step])
    return [discount * reward + received for received, reward in zip(search.steps[step], rewards, strict=True)]


def without_step(search: ReferenceSearch, mean: float, player: int) -> float:
    """Return V from r + discount * V at the end of the current path; the middle of the range with a discount of 0."""
    discount = search.settings.discount
    value = mean - search.steps[len(search.path) - 1][player]
    return value if discount == 1.0 else value / discount if discount > 0.0 else search.facts.middle
