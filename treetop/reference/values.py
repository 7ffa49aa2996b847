"""What a child is worth to the player to move, before a rule adds its bonus; and backups that are not a mean."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from treetop.game.facts import Facts
from treetop.reference import chance, rollouts, solver
from treetop.reference.arithmetic import added
from treetop.reference.node import Node
from treetop.reference.settings import Settings

if TYPE_CHECKING:
    from treetop.reference.search import ReferenceSearch


class Scale:
    """The scale on which rules see values: the game's own, or from the lowest to the highest mean in the tree."""

    def __init__(self, settings: Settings, facts: Facts) -> None:
        self.low, self.high = facts.rewards
        self.normalises = self.high - self.low > 2 if settings.normalise is None else settings.normalise
        self.lowest, self.highest = math.inf, -math.inf

    def note(self, mean: float) -> None:
        """A node has this mean now, for its chooser."""
        self.lowest, self.highest = min(self.lowest, mean), max(self.highest, mean)

    def of(self, value: float) -> float:
        """(value - lowest) / (highest - lowest); a half while all means are the same."""
        if not self.normalises:
            return value
        return (value - self.lowest) / (self.highest - self.lowest) if self.highest > self.lowest else 0.5

    def of_variance(self, variance: float) -> float:
        """The variance / (highest - lowest)^2; nothing while all means are the same."""
        if not self.normalises:
            return variance
        width = self.highest - self.lowest
        return variance / (width * width) if width > 0.0 else 0.0

    @property
    def width(self) -> float:
        """How far values can lie apart."""
        return 1.0 if self.normalises else self.high - self.low

    @property
    def loss(self) -> float:
        """The lowest value."""
        return 0.0 if self.normalises else self.low

    @property
    def centre(self) -> float:
        """The value in the middle."""
        return 0.5 if self.normalises else (self.low + self.high) / 2


def mean(settings: Settings, child: Node) -> float:
    """W / n, for the chooser."""
    return child.value_sum * (1.0 / child.visits) if settings.by_products else child.value_sum / child.visits


def backed_up(settings: Settings, child: Node) -> float:
    """What came up to a child, for its chooser: its mean; its vector (max, mixed); or (1 - share) * mean + share * vector (implicit)."""
    value = mean(settings, child)
    if settings.backup in ("max", "mixed"):
        value = child.vector[child.chooser]
    elif settings.backup == "implicit":
        value = (1.0 - settings.minimax_share) * value + settings.minimax_share * child.vector[child.chooser]
    return value


def child_value(search: ReferenceSearch, child: Node, fpu: float) -> float:
    """What the mover thinks of a child: (Q * n + loss * O) / (n + O) where its O evaluations in flight count as losses, else Q."""
    settings, scale = search.settings, search.scale
    as_losses = settings.virtual_loss == "always" or (
        settings.virtual_loss == "first" and child.visits < settings.virtual_loss_until
    )
    if child.in_flight and as_losses:
        value = scale.of(backed_up(settings, child)) if child.visits else 0.0
        return (value * child.visits + scale.loss * child.in_flight) / child.begun
    return scale.of(backed_up(settings, child)) if child.visits else fpu


def variance(search: ReferenceSearch, child: Node) -> float:
    """The mean of the squared returns less the square of their mean, on the scale that rules see."""
    if not child.visits:
        return 0.0
    centre = child.value_sum / child.visits
    return search.scale.of_variance(max(0.0, child.squares / child.visits - centre * centre))


def fpu(search: ReferenceSearch, node: Node) -> float:
    """What is assumed of a move that nobody has tried.

    A number, by default the middle of the utility range. parent: V - r, with V the mean of the node itself for the player to move.
    scaled: V - r * sqrt(the prior of all tried moves).
    """
    settings, scale = search.settings, search.scale
    if not isinstance(settings.fpu, str):
        value = search.facts.middle if settings.fpu is None else settings.fpu
        return min(max(scale.of(value), 0.0), 1.0) if scale.normalises else value
    reduction = settings.fpu_reduction
    if settings.fpu == "scaled":
        reduction *= math.sqrt(added(child.prior for child in node.children if child.visits))
    mover = node.children[0].chooser
    mean = node.sums[mover] / node.visits
    if node is not search.root:
        mean = chance.without_step(search, mean, mover)
    return scale.of(mean) - reduction


def heuristic_of(search: ReferenceSearch, node: Node, state: Any, rewards: list[float]) -> list[float]:
    """What implicit minimax begins with at an evaluated node: the game's heuristic, or the rewards where they are sure."""
    if search.settings.backup != "implicit" or node.is_terminal or node.is_proven:
        return rewards
    return chance.made_paranoid(search, rollouts.heuristic(search, state))


def update_vector(
    search: ReferenceSearch, path: list[Node], step: int, rewards: list[float], guess: list[float]
) -> None:
    """The value of a node by its best child; `guess` is what the end of the path begins with.

    max and mixed: V = (1 - share) * mean + share * (r + discount * V(best child)), share 1 for max; at a leaf the mean of its own evaluations.
    implicit: V = r + discount * V(best child); at a leaf the heuristic. Where chance decides, the children's V by their probabilities stand for the
    best child's, undiscounted.
    """
    settings, node = search.settings, path[step]
    if settings.backup == "mean":
        return
    if step == len(path) - 1:
        if settings.backup == "implicit":
            node.vector = chance.with_step(search, path, step, guess)
        else:
            node.vector = [old + (reward - old) / node.visits for old, reward in zip(node.vector, rewards, strict=True)]
        return
    below = chance.with_step(search, path, step, _expected(node) if node.is_drawn else list(_best(node).vector))
    if settings.backup == "mixed":
        share = settings.minimax_share
        below = [
            (1.0 - share) * (total / node.visits) + share * value for total, value in zip(node.sums, below, strict=True)
        ]
    node.vector = solver.clip(node, below)


def _best(node: Node) -> Node:
    """The visited child whose V is the highest for the player who chooses."""
    return max((child for child in node.children if child.visits), key=lambda child: child.vector[child.chooser])


def _expected(node: Node) -> list[float]:
    """Sum of P * V over the visited children / sum of P."""
    visited = [child for child in node.children if child.visits]
    mass = added(child.prior for child in visited)
    return [added(child.prior * child.vector[player] for child in visited) / mass for player in range(len(node.vector))]
