"""Explain a decision: every term of the rule's formula for every move, computed by the rule's own kernel in Python."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from treetop.errors import ConfigError
from treetop.game.facts import Facts
from treetop.kernels.parts import TREES, code_of
from treetop.kernels.record import CONTROL
from treetop.kernels.rules import RULES, Rule
from treetop.kernels.rules.completed import Completed, complete, completed_scores
from treetop.kernels.rules.own import OwnRule
from treetop.kernels.select import at_node, score_of
from treetop.kernels.values import child_value, fpu_at
from treetop.search.config import SearchConfig
from treetop.text import html_lines, html_table, text_table
from treetop.tree.storage import Tree
from treetop.types import NONE, ROOT

_MOVER = 0


@dataclass(frozen=True)
class Statistics:
    """The statistics of one move: its visits, its mean value for the player who chooses, and its prior.

    >>> import treetop as tt
    >>> moves = {"A": tt.results.Statistics(50, 0.8), "B": tt.results.Statistics(10, 0.6)}
    >>> tt.explain(tt.uct(c=1.0), moves).selected
    'B'
    """

    visits: int
    value: float | None = None
    prior: float | None = None
    variance: float | None = None
    """The variance of its returns, for the rules that use it."""
    bounds: tuple[float, float] | None = None
    """Its proven least and greatest value."""
    amaf: tuple[float, float] | None = None
    """For RAVE: visits and mean of all moves as first.

    For progressive history: those of the move in all simulations.
    """
    failed: bool = field(default=False, kw_only=True)
    """Whether the caller's code failed at this move, in a Python problem: it is not searched again."""
    unopened: bool = field(default=False, kw_only=True)
    """Whether progressive widening has not opened it yet."""


@dataclass(frozen=True)
class NodeFacts:
    """What a rule needs of the node whose moves are scored."""

    value: float
    """Its mean for the player to move; for completed values the mean of its own evaluations."""
    simulations: int
    """The number of simulations at the root."""
    scale: tuple[float, float] | None = None
    """The lowest and the highest mean in the tree, where the rule uses the scale between them."""


@dataclass(frozen=True)
class Row:
    """One move of an explanation."""

    move: str
    visits: int
    share: float
    """The share of all visits."""
    value: float | None
    """The mean return to the player to move; None without visits."""
    prior: float | None
    exploration: float
    """The rule's exploration bonus."""
    score: float
    """The value on the rule's scale plus the bonus: the move with the highest score is searched next."""
    error: float | None = None
    """The standard error of the value, where the search keeps variances."""
    bounds: tuple[float, float] | None = None
    """The proven least and greatest value of the move, with a solver."""
    failed: bool = False
    """Whether the caller's code failed at this move: its value is unknown, and it is not searched again."""
    scaled: float | None = None
    """The value on the rule's scale, where that differs from the scale of the rewards (`normalise`)."""
    unopened: bool = False
    """Whether progressive widening has not opened it yet: it is not searched next."""


@dataclass(frozen=True)
class Explanation:
    """The terms of a decision. Prints as a table; `rows` holds the numbers, in the order of the moves.

    >>> import treetop as tt
    >>> explanation = tt.search("tic_tac_toe", simulations=500, seed=1).explain()
    >>> explanation.chosen, explanation["b2"].visits, explanation.rule
    ('b2', 207, 'UCB1: score = value + c * sqrt(ln(N) / n); c = 1.41421, N = 499')
    """

    rows: tuple[Row, ...]
    rule: str
    """The formula, with its constants."""
    selected: str
    """The move that the search would select next: the highest score."""
    chosen: str | None = None
    """The move to play."""
    why: str = ""
    scale: tuple[float, float] | None = None
    """With `normalise`: the rewards that are 0 and 1 on the scale of the scaled values, bonuses and scores."""

    @property
    def scale_note(self) -> str:
        """A note about the scales of the table's columns; empty where all have the same."""
        if self.scale is None:
            return ""
        return (
            "scaled, explore and score are on the scale of the values seen, "
            f"from {self.scale[0]:.6g} (0) to {self.scale[1]:.6g} (1); value is in rewards"
        )

    def __getitem__(self, move: str) -> Row:
        for row in self.rows:
            if row.move == move:
                return row
        raise KeyError(f"no move {move!r}; there are {', '.join(row.move for row in self.rows)}")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "rule": self.rule,
            "selected": self.selected,
            "chosen": self.chosen,
            "why": self.why,
            "scale": self.scale,
            "moves": [{key: finite(value) for key, value in asdict(row).items()} for row in self.rows],
        }

    def table(self, limit: int | None = None) -> tuple[list[str], list[list[str]]]:
        """Return headings and cells, the most visited move first."""
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
                "failed" if row.failed else "unopened" if row.unopened else _number(row.score),
                *([f"{row.prior:.4f}" if row.prior is not None else ""] if priors else []),
                *([_proven(row.bounds)] if proven else []),
            ]
            for row in order[:limit]
        ]
        return head, cells

    def __str__(self) -> str:
        scale = [self.scale_note] if self.scale is not None else []
        return "\n".join([text_table(*self.table()), *scale, "", *self._lines()])

    def _repr_html_(self) -> str:
        scale = [self.scale_note] if self.scale is not None else []
        return html_table(*self.table(), self.chosen or "") + html_lines([*scale, *self._lines()])

    def _lines(self) -> list[str]:
        """Return the lines below the table: the formula and the reasons."""
        played = [f"played: {self.chosen}, because {self.why}"] if self.why else []
        return [self.rule, f"searched next: {self.selected}, which has the highest score", *played]


def explain(
    config: SearchConfig,
    statistics: Mapping[str, Statistics | Sequence[float] | Mapping[str, Any]],
    *,
    visits: int | None = None,
    facts: Facts | None = None,
    node: NodeFacts | None = None,
) -> Explanation:
    """Return the terms of a selection rule for given statistics of each move.

    They are (visits, value) or (visits, value, prior, variance). `visits` is N, the visits of all moves, by default
    their sum. `facts` are those of the game; by default rewards are from -1 to 1.

    >>> print(round(explain(SearchConfig(), {"A": (50, 0.8), "B": (10, 0.6), "C": (40, 0.5)})["B"].score, 6))
    1.559705
    """
    if not statistics:
        raise ConfigError("there is no move to explain: give statistics of at least one")
    moves = {str(name): _statistics(str(name), given) for name, given in statistics.items()}
    total = sum(one.visits for one in moves.values()) if visits is None else visits
    if total < 0:
        raise ConfigError(f"visits must be at least 0, not {total}")
    around = _average(moves, total) if node is None else node
    rule = config.rule
    if rule.works_in(TREES):
        with np.errstate(divide="ignore", invalid="ignore"):  # as compiled code divides
            scored = _scores(rule, list(moves.values()), total, Facts(2, 1, 1) if facts is None else facts, around)
    else:  # a mixed strategy: its shares are passed as priors
        scored = [(one.value or 0.0, one.prior or 0.0) for one in moves.values()]
    rows = tuple(
        _row(rule, name, one, max(total, 1), 1.0 / len(moves), value, score, scaled=around.scale is not None)
        for (name, one), (value, score) in zip(moves.items(), scored, strict=True)
    )
    formula = rule.describe(max(total, 1), around.simulations)
    if around.scale is not None:
        formula += f", values on the scale from {around.scale[0]:.6g} (0) to {around.scale[1]:.6g} (1)"
    return Explanation(rows, formula, max(rows, key=lambda row: row.score).move, scale=around.scale)


class _NoNoise:
    """A generator with which rules that draw their scores return the mean."""

    def __init__(self) -> None:
        self._numbers = itertools.cycle((0.5, 0.75))

    def random(self) -> float:
        """Return the next number."""
        return next(self._numbers)


def _scores(
    rule: Rule, moves: list[Statistics], total: int, facts: Facts, node: NodeFacts
) -> list[tuple[float, float]]:
    """Return for each move its value on the rule's scale, and its score, by the rule's kernel on a tree of one node."""
    count, low, high = len(moves), *facts.rewards
    control, tree = np.zeros(1, CONTROL).view(np.recarray)[0], _one_node(moves, facts, node)
    settings: dict[str, float] = {
        "players": facts.players,
        "low": low,
        "high": high,
        "middle": facts.middle,
        "fpu": facts.middle,
    }
    settings |= Completed().control() | rule.control() | {"rule": code_of(rule, RULES), "discount": 1.0}
    if node.scale is not None:
        settings |= {"normalise": 1, "value_low": node.scale[0], "value_high": node.scale[1]}
    for name, setting in settings.items():
        control[name] = setting
    work: Any = SimpleNamespace(
        scores=np.zeros(count),
        lookup_block=np.full((3, facts.players), NONE, np.int32),
        history=np.array(
            [
                [[(one.amaf or (0, 0.0))[0] * (one.amaf or (0, 0.0))[1] for one in moves]],
                [[(one.amaf or (0, 0.0))[0] for one in moves]],
            ]
        ),
    )
    # With fields as attributes, as compiled code has them.
    records = {name: getattr(tree.columns, name).view(np.recarray) for name in ("stats", "links", "amaf")}
    columns: Any = SimpleNamespace(**{**tree.columns._asdict(), **records, "totals": tree.totals})
    fpu = float(fpu_at(control, columns, work, ROOT, _MOVER, NONE, 0, 1, count))
    values = [
        child_value(control, columns, child, _MOVER, moves[child - 1].visits, fpu) for child in range(1, 1 + count)
    ]
    if isinstance(rule, Completed):
        completed = complete(control, columns, work, ROOT, _MOVER, 1, count, False)
        completed_scores(columns, work, 1, count, total, completed, False)
        scores = work.scores.tolist()
    else:
        score = score_of(rule.compiled if isinstance(rule, OwnRule) else None)
        rng, total = _NoNoise(), max(total, 1)
        shared = at_node(control, columns, work, ROOT, _MOVER, 0, 1, count, total)
        scores = [
            score(
                control, columns, work, 1 + index, _MOVER, values[index], one.visits,
                float(columns.stats["prior"][1 + index]), total, shared, fpu, rng,
            )
            for index, one in enumerate(moves)
        ]  # fmt: skip
    return list(zip(values, scores, strict=True))


def _one_node(moves: list[Statistics], facts: Facts, node: NodeFacts) -> Tree:
    """Return a tree of a root and its children with these statistics."""
    count = len(moves)
    columns = frozenset({"squares", "amaf", "own_sums", "own_visits"})
    tree = Tree(facts.players, zero_sum=facts.players == 2, columns=columns)
    tree.ensure_capacity(count)
    tree.size = 1 + count
    stats, links = tree.columns.stats, tree.columns.links
    stats[ROOT] = (0.0, node.simulations, 1.0)
    links[ROOT] = (NONE, NONE, 1, count, 0, 0)
    tree.totals[_MOVER] = node.value * node.simulations
    tree.columns.own_visits[ROOT], tree.columns.own_sums[ROOT, _MOVER] = 1, node.value
    for index, one in enumerate(moves):
        child, value = 1 + index, one.value if one.value is not None and one.visits else 0.0
        stats[child] = (value * one.visits, one.visits, 1.0 / count if one.prior is None else one.prior)
        links[child] = (index, ROOT, NONE, 0, 0, 0)
        tree.columns.squares[child] = ((one.variance or 0.0) + value * value) * one.visits
        seen, mean = one.amaf or (0, 0.0)
        tree.columns.amaf[child] = (seen * mean, int(seen), index)
    return tree


def _row(
    rule: Rule, name: str, one: Statistics, total: int, equal: float, value: float | None, score: float, *, scaled: bool
) -> Row:
    if one.failed or one.unopened or (one.bounds is not None and one.bounds[0] == one.bounds[1]):
        score = -math.inf  # failed or proven: not searched again
    base = value if value is not None else 0.0
    bonus = score - base if math.isfinite(score) else score if score > 0 else 0.0
    error = math.sqrt(one.variance / one.visits) if one.variance is not None and one.visits else None
    prior = (equal if one.prior is None else one.prior) if rule.reads_priors else one.prior
    if not rule.works_in(TREES):
        prior, bonus = None, 0.0
    mean = one.value if one.visits else None
    return Row(
        name, one.visits, one.visits / total, mean, prior, bonus, score, error, one.bounds, one.failed,
        value if scaled and one.visits else None, one.unopened,
    )  # fmt: skip


def _statistics(name: str, given: Any) -> Statistics:
    try:
        if isinstance(given, Statistics):
            one = given
        else:
            one = Statistics(**given) if isinstance(given, Mapping) else Statistics(*given)
    except TypeError:
        raise ConfigError(f"{name}: statistics are (visits, value) or (visits, value, prior), not {given!r}") from None
    if one.visits < 0 or (one.visits > 0 and one.value is None):
        raise ConfigError(f"{name}: visits must be at least 0, and a visited move needs a value; not {given!r}")
    return one


def _average(moves: Mapping[str, Statistics], total: int) -> NodeFacts:
    value = sum((one.value or 0.0) * one.visits for one in moves.values())
    return NodeFacts(value / total if total else 0.0, total)


def finite(value: Any) -> Any:
    """Return None for infinity and NaN, which JSON does not have, and any other value unchanged."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(value: float) -> str:
    return {math.inf: "inf", -math.inf: "closed"}.get(value, f"{value:.4f}")


def _proven(bounds: tuple[float, float] | None) -> str:
    if bounds is None:
        return ""
    low, high = bounds
    return f"{low:+g}" if low == high else f"{low:+g} to {high:+g}"
