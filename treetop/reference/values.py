"""The value of a child for the player to move, before a rule adds its bonus; and backups other than the mean."""

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
    """The scale of values in rules: the game's own, or from the lowest to the highest mean in the tree."""

    def __init__(self, settings: Settings, facts: Facts) -> None:
        self.low, self.high = facts.rewards
        self.normalises = self.high - self.low > 2 if settings.normalise is None else settings.normalise
        self.lowest, self.highest = math.inf, -math.inf

    def note(self, mean: float) -> None:
        """Note the mean of a node, for its chooser."""
        self.lowest, self.highest = min(self.lowest, mean), max(self.highest, mean)

    def of(self, value: float) -> float:
        """Return (value - lowest) / (highest - lowest); 0.5 while all means are equal."""
        if not self.normalises:
            return value
        return (value - self.lowest) / (self.highest - self.lowest) if self.highest > self.lowest else 0.5

    def of_variance(self, variance: float) -> float:
        """Return variance / (highest - lowest)^2; 0 while all means are equal."""
        if not self.normalises:
            return variance
        width = self.highest - self.lowest
        return variance / (width * width) if width > 0.0 else 0.0

    @property
    def width(self) -> float:
        """Return the difference between the highest and the lowest value."""
        return 1.0 if self.normalises else self.high - self.low

    @property
    def loss(self) -> float:
        """Return the lowest value."""
        return 0.0 if self.normalises else self.low

    @property
    def centre(self) -> float:
        """Return the value in the middle."""
        return 0.5 if self.normalises else (self.low + self.high) / 2


def mean(child: Node) -> float:
    """Return W * (1 / n), for the chooser."""
    return child.value_sum * (1.0 / child.visits)


def backed_up(settings: Settings, child: Node) -> float:
    """Return the value of a child for its chooser, by the backup.

    mean: the mean. max, mixed: the vector. implicit: (1 - share) * mean + share * vector.
    """
    value = mean(child)
    if settings.backup in ("max", "mixed"):
        value = child.vector[child.chooser]
    elif settings.backup == "implicit":
        value = (1.0 - settings.minimax_share) * value + settings.minimax_share * child.vector[child.chooser]
    return value


def child_value(search: ReferenceSearch, child: Node, fpu: float) -> float:
    """Return Q of a child for the mover; with virtual loss (Q * n + loss * O) / (n + O) for O in-flight visits."""
    settings, scale = search.settings, search.scale
    as_losses = settings.virtual_loss == "always" or (
        settings.virtual_loss == "first" and child.visits < settings.virtual_loss_until
    )
    if child.in_flight and as_losses:
        value = scale.of(backed_up(settings, child)) if child.visits else 0.0
        return (value * child.visits + scale.loss * child.in_flight) / child.tries
    return scale.of(backed_up(settings, child)) if child.visits else fpu


def variance(search: ReferenceSearch, child: Node) -> float:
    """Return the mean of the squared returns minus the square of their mean, on the scale of the rules."""
    if not child.visits:
        return 0.0
    centre = mean(child)
    return search.scale.of_variance(max(0.0, child.squares * (1.0 / child.visits) - centre * centre))


def fpu(search: ReferenceSearch, node: Node) -> float:
    """Return the first-play urgency: the value of a move without visits.

    It is a number, by default the middle of the utility range. parent: V - r, with V the mean of the node for the
    player to move. scaled: V - r * sqrt(sum of the priors of all visited moves).
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
    """Return the first value of implicit minimax at an evaluated node: the game's heuristic, or exact rewards."""
    if search.settings.backup != "implicit" or node.is_terminal or node.is_proven:
        return rewards
    return chance.paranoid_rewards(search, rollouts.heuristic(search, state))


def update_vector(
    search: ReferenceSearch, path: list[Node], step: int, rewards: list[float], guess: list[float]
) -> None:
    """Set the value of a node by its best child; `guess` is the value of the end of the path.

    max and mixed: V = (1 - share) * mean + share * (r + discount * V(best child)), with share 1 for max; at a leaf the
    mean of its own evaluations. implicit: V = r + discount * V(best child); at a leaf the heuristic. At a chance node
    the expectation of V over the children replaces the best child's, without a discount.
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
    below = chance.with_step(search, path, step, _expected(node) if node.is_chance else list(_best(node).vector))
    if settings.backup == "mixed":
        share = settings.minimax_share
        below = [
            (1.0 - share) * (total / node.visits) + share * value for total, value in zip(node.sums, below, strict=True)
        ]
    node.vector = solver.clip(node, below)


def _best(node: Node) -> Node:
    """Return the visited child with the highest V for the chooser."""
    return max((child for child in node.children if child.visits), key=lambda child: child.vector[child.chooser])


def _expected(node: Node) -> list[float]:
    """Return the sum of P * V over the visited children / sum of P."""
    visited = [child for child in node.children if child.visits]
    mass = added(child.prior for child in visited)
    return [added(child.prior * child.vector[player] for child in visited) / mass for player in range(len(node.vector))]
