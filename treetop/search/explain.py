"""Why a move: every term of the formula for every move, computed in plain Python from the statistics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from treetop.errors import ConfigError
from treetop.game.facts import Facts
from treetop.search.config import SearchConfig
from treetop.search.root import completed_logits
from treetop.search.rule import Rule
from treetop.text import text_table


@dataclass(frozen=True)
class Statistics:
    """What is known of one move: its visits, its mean value for the player who may choose it, and its prior."""

    visits: int
    value: float | None = None
    prior: float | None = None
    variance: float | None = None
    """Of its returns, for the rules that look at it."""
    bounds: tuple[float, float] | None = None
    """What it is proven to be worth, at least and at most."""
    general: tuple[float, float] | None = None
    """For RAVE: visits and mean of all simulations in which the move was played, now or later. For progressive history: the same for the
    whole game."""
    failed: bool = field(default=False, kw_only=True)
    """Whether the caller's code failed there, in a search over Python objects: it is not searched again."""


@dataclass(frozen=True)
class NodeFacts:
    """What a rule needs to know of the node whose moves are scored."""

    value: float
    """Its mean for the player to move; for completed values that of its own evaluations."""
    simulations: int
    """How many simulations the root has had."""
    scale: tuple[float, float] | None = None
    """The lowest and the highest mean in the tree, where the rule sees values on the scale between them."""


@dataclass(frozen=True)
class Row:
    """One move of an explanation."""

    move: str
    visits: int
    share: float
    """Of all visits."""
    value: float | None
    """The mean return to the player to move; None for a move that was never tried."""
    prior: float | None
    exploration: float
    """The rule's bonus for what is little known."""
    score: float
    """Value, on the rule's own scale, and bonus together: the move with the highest score is searched next."""
    error: float | None = None
    """The standard error of the value, where the search keeps variances."""
    bounds: tuple[float, float] | None = None
    """What the move is proven to be worth, at least and at most, where a solver is on."""
    failed: bool = False
    """Whether the caller's code failed there: its value is unknown, and it is not searched again."""
    scaled: float | None = None
    """The value on the scale of the rule, where that is not the scale of the rewards (`normalise`): the score is this and the bonus together."""


@dataclass(frozen=True)
class Explanation:
    """The terms behind a decision. Prints as a table; `rows` holds the numbers, in the order of the moves."""

    rows: tuple[Row, ...]
    rule: str
    """The formula, with its constants."""
    selected: str
    """The move that the search would look at next: the highest score."""
    chosen: str | None = None
    """The move to play."""
    why: str = ""
    scale: tuple[float, float] | None = None
    """With `normalise`: the rewards that are 0 and 1 on the scale of the scaled values, the bonuses and the scores."""

    @property
    def scale_note(self) -> str:
        """Which columns of the table are on which scale; empty where there is only one."""
        if self.scale is None:
            return ""
        return f"scaled, explore and score are on the scale of the values seen, from {self.scale[0]:.6g} (0) to {self.scale[1]:.6g} (1); value is in rewards"

    def __getitem__(self, move: str) -> Row:
        for row in self.rows:
            if row.move == move:
                return row
        raise KeyError(f"no move {move!r}; there are {', '.join(row.move for row in self.rows)}")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "rule": self.rule,
            "selected": self.selected,
            "chosen": self.chosen,
            "why": self.why,
            "scale": self.scale,
            "moves": [{key: finite(value) for key, value in asdict(row).items()} for row in self.rows],
        }

    def table(self, limit: int | None = None) -> tuple[list[str], list[list[str]]]:
        """Headings and cells, the most visited move first."""
        order = sorted(self.rows, key=lambda row: (-row.visits, -(row.value if row.value is not None else -math.inf)))
        priors = any(row.prior is not None for row in self.rows)
        errors = any(row.error is not None for row in self.rows)
        proven = any(row.bounds is not None for row in self.rows)
        scaled = self.scale is not None
        head = [
            "move",
            "visits",
            "share",
            "value",
            *(["error"] if errors else []),
            *(["scaled"] if scaled else []),
            "explore",
            "score",
            *(["prior"] if priors else []),
            *(["proven"] if proven else []),
        ]
        cells = [
            [
                row.move,
                f"{row.visits:,}",
                f"{row.share:.1%}",
                "" if row.value is None else f"{row.value:+.4f}",
                *(["" if row.error is None else f"{row.error:.4f}"] if errors else []),
                *(["" if row.scaled is None else f"{row.scaled:.4f}"] if scaled else []),
                _number(row.exploration),
                "failed" if row.failed else _number(row.score),
                *([f"{row.prior:.4f}" if row.prior is not None else ""] if priors else []),
                *([_proven(row.bounds)] if proven else []),
            ]
            for row in order[:limit]
        ]
        return head, cells

    def __str__(self) -> str:
        lines = [text_table(*self.table()), *([self.scale_note] if self.scale is not None else []), "", self.rule]
        lines.append(f"searched next: {self.selected}, which has the highest score")
        if self.why:
            lines.append(f"played: {self.chosen}, because {self.why}")
        return "\n".join(lines)


def explain(
    rule: SearchConfig,
    statistics: Mapping[str, Statistics | Sequence[float] | Mapping[str, Any]],
    *,
    visits: int | None = None,
    facts: Facts | None = None,
    node: NodeFacts | None = None,
) -> Explanation:
    """The terms of a selection rule for statistics given by hand: for each move (visits, value) or (visits, value, prior, variance).

    `visits` is N, the visits of all moves together; not given, it is their sum. `facts` are the game's; not given, rewards are from -1 to 1.

    >>> print(round(explain(SearchConfig(), {"A": (50, 0.8), "B": (10, 0.6), "C": (40, 0.5)})["B"].score, 6))
    1.559705
    """
    if not statistics:
        raise ConfigError("there is no move to explain")
    moves = {str(name): _statistics(str(name), given) for name, given in statistics.items()}
    total = sum(one.visits for one in moves.values()) if visits is None else visits
    if total < 0:
        raise ConfigError(f"visits cannot be negative: {total}")
    known = Facts(2, 1, 1) if facts is None else facts
    around = _average(moves, total) if node is None else node
    if around.scale is not None:
        return _explain_scaled(rule, moves, total, known, around, around.scale)
    return _explain(rule, moves, total, known, around, _first_play(rule, moves, known, around))


def _explain(
    rule: SearchConfig, moves: Mapping[str, Statistics], total: int, known: Facts, around: NodeFacts, first_play: float
) -> Explanation:
    equal = 1.0 / len(moves)
    if rule.rule == "completed":
        rows = _completed_rows(rule, moves, total, equal, around)
    else:
        rows = tuple(
            _row(rule, name, one, max(total, 1), equal, known, around, first_play) for name, one in moves.items()
        )
    selected = max(rows, key=lambda row: row.score)
    return Explanation(rows, formula(rule, max(total, 1), around), selected.move)


def _explain_scaled(
    rule: SearchConfig,
    moves: Mapping[str, Statistics],
    total: int,
    known: Facts,
    around: NodeFacts,
    scale: tuple[float, float],
) -> Explanation:
    """The same where the rule sees values from 0 to 1, the lowest and the highest mean in the tree; those that are told stay as they are."""
    low, width = scale[0], scale[1] - scale[0]
    worst, span = known.rewards[0], known.rewards[1] - known.rewards[0]

    def on_scale(value: float) -> float:
        return (value - low) / width if width > 0 else 0.5

    seen = {
        name: replace(
            one,
            value=None if one.value is None else on_scale(one.value),
            variance=(one.variance or 0.0) / width**2 if width > 0 else 0.0,
            general=None if one.general is None else (one.general[0], (one.general[1] - worst) / span),
        )
        for name, one in moves.items()
    }
    here = replace(around, value=on_scale(around.value))
    first_play = _first_play(rule, moves, known, here)
    if not isinstance(rule.first_play, str):
        first_play = min(max(on_scale(first_play), 0.0), 1.0)
    told = _explain(rule, seen, total, replace(known, rewards=(0.0, 1.0)), here, first_play)
    rows = tuple(
        replace(
            row,
            value=one.value if one.visits else None,
            scaled=row.value,
            error=None if row.error is None or one.variance is None else math.sqrt(one.variance / one.visits),
        )
        for row, one in zip(told.rows, moves.values(), strict=True)
    )
    return replace(
        told,
        rows=rows,
        scale=scale,
        rule=f"{told.rule}, values on the scale from {scale[0]:.6g} (0) to {scale[1]:.6g} (1)",
    )


def _statistics(name: str, given: Any) -> Statistics:
    try:
        one = (
            given
            if isinstance(given, Statistics)
            else Statistics(**given)
            if isinstance(given, Mapping)
            else Statistics(*given)
        )
    except TypeError:
        raise ConfigError(f"{name}: statistics are (visits, value) or (visits, value, prior), not {given!r}") from None
    if one.visits < 0 or (one.visits > 0 and one.value is None):
        raise ConfigError(f"{name}: visits cannot be negative, and a visited move has a value; got {given!r}")
    return one


def _average(moves: Mapping[str, Statistics], total: int) -> NodeFacts:
    value = sum((one.value or 0.0) * one.visits for one in moves.values())
    return NodeFacts(value / total if total else 0.0, total)


def _first_play(rule: SearchConfig, moves: Mapping[str, Statistics], facts: Facts, node: NodeFacts) -> float:
    """What is assumed of a move that nobody has tried."""
    if rule.first_play == "parent":
        return node.value - rule.first_play_reduction
    if rule.first_play == "scaled":
        mass = sum(one.prior if one.prior is not None else 1 / len(moves) for one in moves.values() if one.visits)
        return node.value - rule.first_play_reduction * math.sqrt(mass)
    return facts.middle if rule.first_play is None else float(rule.first_play)


def _row(
    rule: SearchConfig,
    name: str,
    one: Statistics,
    total: int,
    equal: float,
    facts: Facts,
    node: NodeFacts,
    first_play: float,
) -> Row:
    value = one.value if one.visits else None
    prior = one.prior if rule.rule != "puct" or one.prior is not None else equal
    base = first_play if value is None else value
    variance = one.variance or 0.0
    if rule.rule == "regret":
        return Row(name, one.visits, one.visits / total, value, None, 0.0, prior or 0.0, None)
    score: float
    if isinstance(rule.rule, Rule):
        score = rule.rule(base, one.visits, equal if prior is None else prior, variance, total, rule.c)
    elif rule.rule == "puct":
        score = base + schedule(rule, total, node.simulations) * (prior or 0.0) * math.sqrt(total) / (
            1 + one.visits
        ) / _again(rule, one.visits)
    elif rule.rule == "rave":
        score = _blended(rule, one, total) + (rule.c * math.sqrt(math.log(total) / (one.visits + 1)) if rule.c else 0.0)
    elif rule.rule in ("thompson", "blind"):
        score = base if rule.rule == "thompson" else 0.0
    elif not one.visits:
        score = math.inf if rule.first_play is None else first_play
    else:
        score = base + _bonus(rule, one, math.log(total) / one.visits, variance, facts, base)
    if one.failed or (one.bounds is not None and one.bounds[0] == one.bounds[1]):
        score = -math.inf  # failed or proven: not searched again
    bonus = score - base if math.isfinite(score) else score if score > 0 else 0.0
    error = math.sqrt(one.variance / one.visits) if one.variance is not None and one.visits else None
    return Row(name, one.visits, one.visits / total, value, prior, bonus, score, error, one.bounds, one.failed)


def _bonus(rule: SearchConfig, one: Statistics, tries: float, variance: float, facts: Facts, value: float) -> float:
    """The exploration term of UCB1 and its relatives; `tries` is ln(N) / n."""
    width = facts.rewards[1] - facts.rewards[0]
    if rule.rule == "ucb1_tuned":
        return rule.c * math.sqrt(tries * min(width**2 / 4, variance + width**2 * math.sqrt(2 * tries)))
    if rule.rule == "ucb_v":
        return math.sqrt(2 * variance * tries) + rule.c * 3 * width * tries
    bonus = rule.c * math.sqrt(tries)
    if rule.rule == "history":
        low = facts.rewards[0]
        usual = 0.5 if one.general is None or not one.general[0] else (one.general[1] - low) / width
        bonus += usual * rule.history_weight / ((1 - (value - low) / width) * one.visits + 1)
    return bonus


def _blended(rule: SearchConfig, one: Statistics, total: int) -> float:
    """RAVE's mix of a move's own mean and its mean whenever it was played."""
    seen, general = one.general or (0, 0.0)
    if not seen:
        return math.inf if not one.visits else float(one.value or 0.0)
    if not one.visits:
        return general
    if rule.amaf_k is not None:
        beta = math.sqrt(rule.amaf_k / (3 * total + rule.amaf_k))
    else:
        beta = seen / (seen + one.visits + rule.amaf_bias * seen * one.visits)
    return (1 - beta) * float(one.value or 0.0) + beta * general


def _completed_rows(
    rule: SearchConfig, moves: Mapping[str, Statistics], total: int, equal: float, node: NodeFacts
) -> tuple[Row, ...]:
    visits = np.array([one.visits for one in moves.values()])
    means = np.array([math.nan if one.value is None or not one.visits else one.value for one in moves.values()])
    priors = np.array([equal if one.prior is None else one.prior for one in moves.values()])
    logits = completed_logits(rule, node.value, visits, means, priors)
    weights = np.exp(logits - logits.max())
    scores = weights / weights.sum() - visits / (1 + total)
    scores[[one.failed for one in moves.values()]] = -math.inf
    return tuple(
        Row(
            name,
            one.visits,
            one.visits / max(total, 1),
            one.value if one.visits else None,
            float(prior),
            float(weight),
            float(score),
            None if one.variance is None or not one.visits else math.sqrt(one.variance / one.visits),
            one.bounds,
            one.failed,
        )
        for (name, one), prior, weight, score in zip(
            moves.items(), priors, weights / weights.sum(), scores, strict=True
        )
    )


def schedule(rule: SearchConfig, visits: int, simulations: int | None = None) -> float:
    """PUCT's factor c(N); `simulations` are the root's, for the divided schedule."""
    if rule.schedule == "alphazero":
        return rule.c + math.log((1 + visits + (rule.c_base or 0)) / (rule.c_base or 1))
    if rule.schedule == "katago":
        grown = rule.c + rule.c_log * math.log((visits + (rule.c_base or 0)) / (rule.c_base or 1))
        return grown * math.sqrt((visits + 0.01) / max(visits, 1))
    if rule.schedule == "divided":
        return rule.c * (math.log((visits if simulations is None else simulations) + 1) + rule.c_log)
    return rule.c


def _again(rule: SearchConfig, visits: int) -> int:
    """The divided schedule divides by (1 + n) once more."""
    return 1 + visits if rule.schedule == "divided" else 1


_FORMULAS = {
    "ucb1": "UCB1: score = value + c * sqrt(ln(N) / n)",
    "ucb1_tuned": "UCB1-Tuned: score = value + c * sqrt(ln(N) / n * min(w^2 / 4, variance + w^2 * sqrt(2 ln(N) / n))), w the utility range",
    "ucb_v": "UCB-V: score = value + sqrt(2 * variance * ln(N) / n) + c * 3 w * ln(N) / n, w the utility range",
    "rave": "RAVE: score = (1 - beta) * value + beta * value whenever played + c * sqrt(ln(N) / (n + 1))",
    "history": "progressive history: score = value + c * sqrt(ln(N) / n) + usual value * weight / ((1 - value) * n + 1)",
    "thompson": "Thompson sampling: score drawn from what the value may be",
    "regret": "regret matching: score = the action's share in the mixed strategy, explored",
    "blind": "blind: every move as likely as the other",
    "completed": "completed values: score = P' - n / (1 + N), P' the prior improved by completed values",
}


def formula(rule: SearchConfig, total: int, node: NodeFacts | None = None) -> str:
    """The rule's formula with its numbers, as a line of text."""
    if isinstance(rule.rule, Rule):
        return f"{rule.rule}: score by a rule of the caller's own with c = {rule.c:.6g}, N = {total:,}"
    if rule.rule != "puct":
        return f"{_FORMULAS[rule.rule]} with c = {rule.c:.6g}, N = {total:,}"
    base = f"{rule.c_base:g}" if rule.c_base is not None else ""
    growing = {
        "alphazero": f" (AlphaZero's schedule {rule.c:g} + ln((1 + N + {base}) / {base}))",
        "katago": f" (KataGo's schedule {rule.c:g} + {rule.c_log:g} * ln((N + {base}) / {base}))",
        "divided": f" (the divided schedule {rule.c:g} * (ln(t + 1) + {rule.c_log:g}) / (1 + n))",
    }.get(rule.schedule, "")
    c = schedule(rule, total, None if node is None else node.simulations)
    return f"PUCT: score = value + c * P * sqrt(N) / (1 + n) with c = {c:.6g}{growing}, N = {total:,}"


def finite(value: Any) -> Any:
    """JSON has no infinity: a score without bound becomes None."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(value: float) -> str:
    return {math.inf: "inf", -math.inf: "closed"}.get(value, f"{value:.4f}")


def _proven(bounds: tuple[float, float] | None) -> str:
    if bounds is None:
        return ""
    low, high = bounds
    return f"{low:+g}" if low == high else f"{low:+g} to {high:+g}"
