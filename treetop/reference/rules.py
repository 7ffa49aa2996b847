"""Selection rules: each is a function that scores one child.

N is the sum of the visits of all children, at least 1, and n the visits of one child; both include in-flight visits. Q
is the result of `values.child_value`, on the scale of the rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treetop.reference import amaf, noise, root, values
from treetop.reference.arithmetic import added
from treetop.reference.node import Node
from treetop.reference.settings import Settings

if TYPE_CHECKING:
    from treetop.reference.search import ReferenceSearch

_IMPOSSIBLE = -1e9  # the logit of a move with prior 0
_LOWEST = -1.7e308  # stands for minus infinity from a custom rule: only closed children score minus infinity


@dataclass(frozen=True)
class Siblings:
    """The children of a node, and what a rule needs of all of them."""

    search: ReferenceSearch
    node: Node
    total: int
    fpu: float

    @property
    def settings(self) -> Settings:
        """Return the settings of the search."""
        return self.search.settings

    @property
    def width(self) -> float:
        """Return the width of the utility range, on the scale of the rules."""
        return self.search.scale.width

    def value(self, child: Node) -> float:
        """Return Q."""
        return values.child_value(self.search, child, self.fpu)

    def variance(self, child: Node) -> float:
        """Return the variance of a child's returns."""
        return values.variance(self.search, child)


Rule = Callable[[Siblings, Node], float]


def scores(search: ReferenceSearch, node: Node) -> list[float]:
    """Return the score of each child; minus infinity for those that are closed, not yet opened or not asked for."""
    settings, children, at_root = search.settings, node.children, node is search.root
    total = sum(child.tries for child in children)
    if settings.rule == "completed" or (at_root and settings.root == "gumbel"):
        result = completed(search, node)
    else:
        rule = RULES[settings.rule] if isinstance(settings.rule, str) else custom
        siblings = Siblings(search, node, max(1, total), values.fpu(search, node))
        if settings.rule == "rave":
            amaf.note_reference(search, node, siblings.total)
        result = [-math.inf if child.is_closed else rule(siblings, child) for child in children]
    for index in range(opened(settings, children, max(1, total)), len(children)):
        result[index] = -math.inf
    return root.restrict_and_force(search, result, total) if at_root else result


def opened(settings: Settings, children: list[Node], total: int) -> int:
    """Return how many children progressive widening has opened.

    They are the first max(1, ceil(k * N^power)) children that are not closed, and the closed ones between them.
    """
    if settings.widening is None:
        return len(children)
    allowed = max(1, math.ceil(settings.widening * total**settings.widening_power))
    still_open = [index for index, child in enumerate(children) if not child.is_closed]
    return still_open[allowed - 1] + 1 if allowed <= len(still_open) else len(children)


def untried(siblings: Siblings) -> float:
    """Return the score of a child without visits in UCB1 and related rules: infinity, or the first-play urgency."""
    return math.inf if siblings.settings.fpu is None else siblings.fpu


def ucb1(siblings: Siblings, child: Node) -> float:
    """Return Q + c * sqrt(ln N / n)."""
    if child.tries == 0:
        return untried(siblings)
    inverse_root, scale = 1.0 / math.sqrt(child.tries), siblings.settings.c * math.sqrt(math.log(siblings.total))
    if siblings.settings.fused and siblings.search.expands_during_selection:
        return (child.value_sum * inverse_root + scale) * inverse_root
    return siblings.value(child) + scale * inverse_root


def puct(siblings: Siblings, child: Node) -> float:
    """Return Q + c(N) * sqrt(N) * P / (1 + n); in the schedule "divided" the bonus is divided by 1 + n once more."""
    share = 1.0 / (1.0 + child.tries)
    bonus = puct_factor(siblings) * child.prior * share
    return siblings.value(child) + (bonus * share if siblings.settings.schedule == "divided" else bonus)


def puct_factor(siblings: Siblings) -> float:
    """Return c(N) * sqrt(N).

    alphazero: c + ln((1 + N + base) / base). katago: c + c_log * ln((N + base) / base), and sqrt(N + 0.01). divided: c
    * (ln(t + 1) + c_log) after t simulations at the root. All are multiplied by `spread_factor`.
    """
    settings, total = siblings.settings, siblings.total
    c, square_root = settings.c, math.sqrt(total)
    if settings.schedule == "divided":
        c *= math.log(siblings.search.root.visits + 1.0) + settings.c_log
    elif settings.c_base is not None and settings.schedule == "alphazero":
        c += math.log((1.0 + total + settings.c_base) / settings.c_base)
    elif settings.c_base is not None and settings.schedule == "katago":
        c += settings.c_log * math.log((total + settings.c_base) / settings.c_base)
        square_root = math.sqrt(total + 0.01)
    return c * spread_factor(siblings) * square_root


def spread_factor(siblings: Siblings) -> float:
    """Return 1 + s * (S / S0 - 1), with S^2 = ((u^2 + S0^2) * 2 + e * W) / (2 + W - 1) - u^2.

    u is the mean and e the mean square of the returns to the chooser in the W visits of all children; S0 is 0.4 of half
    the utility range.
    """
    children, (low, high) = siblings.node.children, siblings.search.facts.rewards
    weight = sum(child.visits for child in children)
    if siblings.settings.variance_scale == 0.0 or weight == 0:
        return 1.0
    mean, square = (
        added(child.value_sum for child in children) / weight,
        added(child.squares for child in children) / weight,
    )
    assumed = 0.4 * 0.5 * (high - low)
    spread = ((mean * mean + assumed * assumed) * 2.0 + square * weight) / (2.0 + weight - 1.0) - mean * mean
    return 1.0 + siblings.settings.variance_scale * (math.sqrt(max(spread, 0.0)) / assumed - 1.0)


def ucb1_tuned(siblings: Siblings, child: Node) -> float:
    """Return Q + c * sqrt(ln N / n * min(w^2 / 4, v + w^2 * sqrt(2 ln N / n))).

    v is the variance and w the width of the utility range.
    """
    if child.tries == 0:
        return untried(siblings)
    log, width = math.log(siblings.total), siblings.width
    ratio, root = log * (1.0 / child.tries), math.sqrt(2.0 * log) * (1.0 / math.sqrt(child.tries))
    spread = min(0.25 * width * width, siblings.variance(child) + width * width * root)
    return siblings.value(child) + siblings.settings.c * math.sqrt(ratio * spread)


def ucb_v(siblings: Siblings, child: Node) -> float:
    """Return Q + sqrt(2 v ln N / n) + 3 c w ln N / n, with v the variance and w the width of the utility range."""
    if child.tries == 0:
        return untried(siblings)
    ratio = math.log(siblings.total) * (1.0 / child.tries)
    return (
        siblings.value(child)
        + math.sqrt(2.0 * siblings.variance(child) * ratio)
        + siblings.settings.c * 3.0 * siblings.width * ratio
    )


def progressive_history(siblings: Siblings, child: Node) -> float:
    """Return UCB1 + H * W / ((1 - Q) * n + 1), with H the mean of the move in all simulations.

    Q and H are from 0 to 1.
    """
    if child.tries == 0:
        return untried(siblings)
    low, high = siblings.search.facts.rewards
    value, normalises = siblings.value(child), siblings.search.scale.normalises
    total, count = siblings.search.history.get((child.chooser, child.action), (0.0, 0.0))
    history = (total / count - low) / (high - low) if count else 0.5
    lost = 1.0 - (value if normalises else (value - low) / (high - low))
    bonus = siblings.settings.c * math.sqrt(math.log(siblings.total)) * (1.0 / math.sqrt(child.tries))
    return value + bonus + history * siblings.settings.history_weight / (lost * child.tries + 1.0)


def rave(siblings: Siblings, child: Node) -> float:
    """Return (1 - beta) * Q + beta * AMAF + c * sqrt(ln N / (n + 1)), on plain means; infinity without statistics."""
    entry = amaf.statistics(siblings.search, siblings.node, child)
    if child.visits == 0 and entry.amaf_visits == 0:
        return math.inf if child.tries == 0 else siblings.fpu
    blended = amaf.blended(siblings.search, entry, child, siblings.total)
    return blended + siblings.settings.c * math.sqrt(math.log(siblings.total)) * (1.0 / math.sqrt(child.tries + 1))


def thompson(siblings: Siblings, child: Node) -> float:
    """Return a draw from a normal distribution.

    Its mean is (Q * n + m) / (n + 1), its variance (v * n + (w / 2)^2) / (n + 1)^2. m is the middle and w the width of
    the utility range: one visit with the largest variance is assumed beforehand.
    """
    visits, half = child.tries, 0.5 * siblings.width
    value = siblings.value(child) if visits else 0.0
    share = 1.0 / (visits + 1.0)
    mean = (value * visits + siblings.search.scale.centre) * share
    spread = siblings.variance(child) * visits + half * half
    return mean + math.sqrt(spread) * share * noise.normal(siblings.search.rng)


def uniform(_siblings: Siblings, _child: Node) -> float:
    """Return the same score for all children."""
    return 0.0


def custom(siblings: Siblings, child: Node) -> float:
    """Return the score by the user's function of value, visits, prior, variance, total and c."""
    function = siblings.settings.rule
    assert callable(function)
    variance, c = siblings.variance(child), siblings.settings.c
    return max(function(siblings.value(child), child.tries, child.prior, variance, siblings.total, c), _LOWEST)


def completed(search: ReferenceSearch, node: Node) -> list[float]:
    """Return P * exp(s * q) / Z - n / (1 + N), where the shares sum to 1; `by_schedule` at a root with a schedule.

    q is Q; for a child without visits it is (v + N * sum(P Q) / sum(P)) / (1 + N) over the visited children, with v the
    mean of the node's own evaluations. q is rescaled so that the lowest is 0 and the highest 1. s = (completed_visits +
    most visits) * completed_scale.
    """
    settings, children = search.settings, node.children
    mover, visits = children[0].chooser, sum(child.visits for child in children)
    tried = {child: search.scale.of(values.backed_up(settings, child)) for child in children if child.visits}
    guess = search.scale.of(node.own_sums[mover] * (1.0 / node.own_visits))
    mass = added(child.prior for child in tried)
    if mass > 0.0:
        weighted = added(child.prior * value for child, value in tried.items())
        guess = (guess + visits * (weighted / mass)) * (1.0 / (1.0 + visits))
    completed = [tried.get(child, guess) for child in children]
    most = max(child.tries for child in children)
    scale = (settings.completed_visits + most) * settings.completed_scale / max(max(completed) - min(completed), 1e-8)
    worth = [scale * (value - min(completed)) for value in completed]
    if node is search.root and settings.root == "gumbel":
        logits = [math.log(child.prior) if child.prior > 0.0 else _IMPOSSIBLE for child in children]
        scheduled = root.by_schedule(search, worth, logits)
        if scheduled is not None:
            return scheduled
    total = sum(child.tries for child in children)
    likely = [value for child, value in zip(children, worth, strict=True) if child.prior > 0.0 and not child.is_closed]
    shares = [
        0.0 if child.is_closed or not child.prior else child.prior * math.exp(value - max(likely))
        for child, value in zip(children, worth, strict=True)
    ]
    part = 1.0 / (added(shares) or 1.0)
    return [
        -math.inf if child.is_closed else share * part - child.tries * (1.0 / (1.0 + total))
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
