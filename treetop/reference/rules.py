"""Which child to follow: each rule a function that scores one child.

N is the visits of all children together, at least 1, and n those of one; both with the evaluations in flight. Q is what `values.child_value`
says, on the scale that rules see.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treetop.compiler.rng import Rng
from treetop.reference import amaf, root, values
from treetop.reference.arithmetic import added, softmax
from treetop.reference.node import Node
from treetop.reference.settings import Settings

if TYPE_CHECKING:
    from treetop.reference.search import ReferenceSearch

_IMPOSSIBLE = -1e9  # the logit of a move whose prior is nothing
_LOWEST = -1.7e308  # what a rule's minus infinity counts as: only closed children have that itself


@dataclass(frozen=True)
class Family:
    """A node's children, and what a rule needs to know of them all."""

    search: ReferenceSearch
    node: Node
    total: int
    fpu: float

    @property
    def settings(self) -> Settings:
        """What the search is told."""
        return self.search.settings

    @property
    def width(self) -> float:
        """The utility range, on the scale that rules see."""
        return self.search.scale.width

    def value(self, child: Node) -> float:
        """Q."""
        return values.child_value(self.search, child, self.fpu)

    def variance(self, child: Node) -> float:
        """The variance of a child's returns."""
        return values.variance(self.search, child)


Rule = Callable[[Family, Node], float]


def scores(search: ReferenceSearch, node: Node) -> list[float]:
    """A score for each child of a node; minus infinity for those that are closed, not yet opened or not asked for."""
    settings, children, at_root = search.settings, node.children, node is search.root
    total = sum(child.begun for child in children)
    if settings.rule == "completed" or (at_root and settings.root == "gumbel"):
        result = completed(search, node)
    else:
        rule = RULES[settings.rule] if isinstance(settings.rule, str) else own
        family = Family(search, node, max(1, total), values.fpu(search, node))
        if settings.rule == "rave":
            amaf.note_reference(search, node, family.total)
        result = [-math.inf if child.is_closed else rule(family, child) for child in children]
    for index in range(opened(settings, children, max(1, total)), len(children)):
        result[index] = -math.inf
    return root.with_wishes(search, result, total) if at_root else result


def opened(settings: Settings, children: list[Node], total: int) -> int:
    """Progressive widening: the first max(1, ceil(k * N^power)) children that are not closed, and the closed ones before the last of them."""
    if settings.widening is None:
        return len(children)
    allowed = max(1, math.ceil(settings.widening * total**settings.widening_power))
    still_open = [index for index, child in enumerate(children) if not child.is_closed]
    return still_open[allowed - 1] + 1 if allowed <= len(still_open) else len(children)


def untried(family: Family) -> float:
    """What UCB1 and its kin score a move that nobody has tried: infinity, or what first play says."""
    return math.inf if family.settings.fpu is None else family.fpu


def ucb1(family: Family, child: Node) -> float:
    """Q + c * sqrt(ln N / n)."""
    if child.begun == 0:
        return untried(family)
    c = family.settings.c
    if not family.settings.by_products:
        return family.value(child) + c * math.sqrt(math.log(family.total) / child.begun)
    inverse_root, scale = 1.0 / math.sqrt(child.begun), c * math.sqrt(math.log(family.total))
    if family.search.expands_on_the_way_down:
        return (child.value_sum * inverse_root + scale) * inverse_root
    return family.value(child) + scale * inverse_root


def puct(family: Family, child: Node) -> float:
    """Q + c(N) * sqrt(N) * P / (1 + n); divided by 1 + n once more in the schedule of that name."""
    share, bonus = 1.0 + child.begun, puct_factor(family) * child.prior
    bonus = bonus * (1.0 / share) if family.settings.by_products else bonus / share
    return family.value(child) + (bonus / share if family.settings.schedule == "divided" else bonus)


def puct_factor(family: Family) -> float:
    """c(N) * sqrt(N).

    alphazero: c + ln((1 + N + base) / base). katago: c + c_log * ln((N + base) / base), and sqrt(N + 0.01).
    divided: c * (ln(t + 1) + c_log) after t simulations at the root. All times `spread_factor`.
    """
    settings, total = family.settings, family.total
    c, square_root = settings.c, math.sqrt(total)
    if settings.schedule == "divided":
        c *= math.log(family.search.root.visits + 1.0) + settings.c_log
    elif settings.c_base is not None and settings.schedule == "alphazero":
        c += math.log((1.0 + total + settings.c_base) / settings.c_base)
    elif settings.c_base is not None and settings.schedule == "katago":
        c += settings.c_log * math.log((total + settings.c_base) / settings.c_base)
        square_root = math.sqrt(total + 0.01)
    return c * spread_factor(family) * square_root


def spread_factor(family: Family) -> float:
    """1 + s * (S / S0 - 1), with S^2 = ((u^2 + S0^2) * 2 + e * W) / (2 + W - 1) - u^2.

    u is the mean and e the mean square of all returns to the children's chooser in their W visits; S0 is 0.4 of half the utility range.
    """
    children, (low, high) = family.node.children, family.search.facts.rewards
    weight = sum(child.visits for child in children)
    if family.settings.variance_scale == 0.0 or weight == 0:
        return 1.0
    mean, square = (
        added(child.value_sum for child in children) / weight,
        added(child.squares for child in children) / weight,
    )
    usual = 0.4 * 0.5 * (high - low)
    seen = ((mean * mean + usual * usual) * 2.0 + square * weight) / (2.0 + weight - 1.0) - mean * mean
    return 1.0 + family.settings.variance_scale * (math.sqrt(max(seen, 0.0)) / usual - 1.0)


def ucb1_tuned(family: Family, child: Node) -> float:
    """Q + c * sqrt(ln N / n * min(w^2 / 4, v + w^2 * sqrt(2 ln N / n))), with v the variance and w the utility range."""
    if child.begun == 0:
        return untried(family)
    tries, width = math.log(family.total) / child.begun, family.width
    spread = min(0.25 * width * width, family.variance(child) + width * width * math.sqrt(2.0 * tries))
    return family.value(child) + family.settings.c * math.sqrt(tries * spread)


def ucb_v(family: Family, child: Node) -> float:
    """Q + sqrt(2 v ln N / n) + 3 c w ln N / n, with v the variance and w the utility range."""
    if child.begun == 0:
        return untried(family)
    tries = math.log(family.total) / child.begun
    return (
        family.value(child)
        + math.sqrt(2.0 * family.variance(child) * tries)
        + family.settings.c * 3.0 * family.width * tries
    )


def progressive_history(family: Family, child: Node) -> float:
    """UCB1 + H * W / ((1 - Q) * n + 1), with H the mean of the move wherever it was played, and Q and H from 0 to 1."""
    if child.begun == 0:
        return untried(family)
    low, high = family.search.facts.rewards
    value, normalises = family.value(child), family.search.scale.normalises
    total, count = family.search.history.get((child.chooser, child.action), (0.0, 0.0))
    usual = (total / count - low) / (high - low) if count else 0.5
    lost = 1.0 - (value if normalises else (value - low) / (high - low))
    bonus = family.settings.c * math.sqrt(math.log(family.total) / child.begun)
    return value + bonus + usual * family.settings.history_weight / (lost * child.begun + 1.0)


def rave(family: Family, child: Node) -> float:
    """(1 - beta) * Q + beta * AMAF + c * sqrt(ln N / (n + 1)), on plain means. A move without any statistics is tried."""
    entry = amaf.statistics(family.search, family.node, child)
    if child.visits == 0 and entry.amaf_visits == 0:
        return math.inf if child.begun == 0 else family.fpu
    blended = amaf.blended(family.search, entry, child, family.total)
    return blended + family.settings.c * math.sqrt(math.log(family.total)) * (1.0 / math.sqrt(child.begun + 1))


def thompson(family: Family, child: Node) -> float:
    """A draw from the normal distribution of mean (Q * n + m) / (n + 1) and variance (v * n + (w / 2)^2) / (n + 1)^2.

    m is the middle and w the width of the utility range: one visit of the widest spread is assumed beforehand.
    """
    visits, half = child.begun, 0.5 * family.width
    value = family.value(child) if visits else 0.0
    mean = (value * visits + family.search.scale.centre) / (visits + 1.0)
    spread = (family.variance(child) * visits + half * half) / (visits + 1.0)
    return mean + math.sqrt(spread / (visits + 1.0)) * normal(family.search.rng)


def normal(rng: Rng) -> float:
    """A number from the standard normal distribution: x * sqrt(-2 ln s / s) for a point of the unit disc, s its squared radius."""
    while True:
        x, y = 2.0 * rng.random() - 1.0, 2.0 * rng.random() - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return x * math.sqrt(-2.0 * math.log(square) / square)


def uniform(_family: Family, _child: Node) -> float:
    """The same for all."""
    return 0.0


def own(family: Family, child: Node) -> float:
    """A function of the caller's: of value, visits, prior, variance, total and c."""
    function = family.settings.rule
    assert callable(function)
    return max(
        function(
            family.value(child), child.begun, child.prior, family.variance(child), family.total, family.settings.c
        ),
        _LOWEST,
    )


def completed(search: ReferenceSearch, node: Node) -> list[float]:
    """softmax(l + s * q) - n / (1 + N) with l the logit of the prior; at a root with a schedule what that makes of l + s * q.

    q is Q, or for a move that nobody has tried the guess (v + N * sum(P Q) / sum(P)) / (1 + N) over the tried ones, with v the mean of the
    node's own evaluations; rescaled so that the lowest q is 0 and the highest 1. s = (completed_visits + most visits) * completed_scale.
    """
    settings, children = search.settings, node.children
    mover, visits = children[0].chooser, sum(child.visits for child in children)
    tried = {child: search.scale.of(values.backed_up(settings, child)) for child in children if child.visits}
    guess = search.scale.of(node.own_sums[mover] / node.own_visits)
    mass = added(child.prior for child in tried)
    if mass > 0.0:
        guess = (guess + visits * added(child.prior * value for child, value in tried.items()) / mass) / (1.0 + visits)
    worth = [tried.get(child, guess) for child in children]
    most = max(child.begun for child in children)
    scale = (settings.completed_visits + most) * settings.completed_scale / max(max(worth) - min(worth), 1e-8)
    logits = [
        -math.inf
        if child.is_closed
        else (math.log(child.prior) if child.prior > 0.0 else _IMPOSSIBLE) + scale * (value - min(worth))
        for child, value in zip(children, worth, strict=True)
    ]
    if node is search.root and settings.root == "gumbel":
        scheduled = root.by_schedule(search, logits)
        if scheduled is not None:
            return scheduled
    if max(logits) == -math.inf:
        return logits
    total = sum(child.begun for child in children)
    shares = softmax(logits)
    return [
        -math.inf if child.is_closed else share - child.begun / (1.0 + total)
        for child, share in zip(children, shares, strict=True)
    ]


RULES: dict[str, Rule] = {
    "ucb1": ucb1,
    "puct": puct,
    "ucb1_tuned": ucb1_tuned,
    "ucb_v": ucb_v,
    "progressive_history": progressive_history,
    "rave": rave,
    "thompson": thompson,
    "uniform": uniform,
}
