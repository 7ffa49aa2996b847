"""Why a move: every term of the formula for every move, computed in plain Python from the statistics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from treetop.errors import ConfigError
from treetop.search.config import SearchConfig
from treetop.search.tables import text_table


@dataclass(frozen=True)
class Statistics:
    """What is known of one move: its visits, its mean value for the player who may choose it, and its prior."""

    visits: int
    value: float | None = None
    prior: float | None = None


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
    """Value and bonus together: the move with the highest score is searched next."""


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

    def __getitem__(self, move: str) -> Row:
        for row in self.rows:
            if row.move == move:
                return row
        raise KeyError(f"no move {move!r}; there are {', '.join(row.move for row in self.rows)}")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {"rule": self.rule, "selected": self.selected, "chosen": self.chosen, "why": self.why,
                "moves": [{key: finite(value) for key, value in asdict(row).items()} for row in self.rows]}

    def table(self, limit: int | None = None) -> tuple[list[str], list[list[str]]]:
        """Headings and cells, the most visited move first."""
        order = sorted(self.rows, key=lambda row: (-row.visits, -(row.value if row.value is not None else -math.inf)))
        priors = any(row.prior is not None for row in self.rows)
        head = ["move", "visits", "share", "value", "explore", "score", *(["prior"] if priors else [])]
        cells = [
            [row.move, f"{row.visits:,}", f"{row.share:.1%}", "" if row.value is None else f"{row.value:+.4f}",
             _number(row.exploration), _number(row.score), *([f"{row.prior:.4f}" if row.prior is not None else ""] if priors else [])]
            for row in order[:limit]
        ]  # fmt: skip
        return head, cells

    def __str__(self) -> str:
        lines = [text_table(*self.table()), "", self.rule]
        lines.append(f"searched next: {self.selected}, which has the highest score")
        if self.why:
            lines.append(f"played: {self.chosen}, because {self.why}")
        return "\n".join(lines)


def explain(
    rule: SearchConfig, statistics: Mapping[str, Statistics | Sequence[float] | Mapping[str, Any]], *, visits: int | None = None
) -> Explanation:
    """The terms of a selection rule for statistics given by hand: for each move (visits, value) or (visits, value, prior).

    `visits` is N, the visits of all moves together; not given, it is their sum.

    >>> print(round(explain(SearchConfig(), {"A": (50, 0.8), "B": (10, 0.6), "C": (40, 0.5)})["B"].score, 6))
    1.559705
    """
    if not statistics:
        raise ConfigError("there is no move to explain")
    moves = {str(name): _statistics(str(name), given) for name, given in statistics.items()}
    total = sum(one.visits for one in moves.values()) if visits is None else visits
    if total < 0:
        raise ConfigError(f"visits cannot be negative: {total}")
    equal = 1.0 / len(moves)
    rows = tuple(_row(rule, name, one, max(total, 1), equal) for name, one in moves.items())
    selected = max(rows, key=lambda row: row.score)
    return Explanation(rows, formula(rule, max(total, 1)), selected.move)


def _statistics(name: str, given: Any) -> Statistics:
    try:
        one = given if isinstance(given, Statistics) else Statistics(**given) if isinstance(given, Mapping) else Statistics(*given)
    except TypeError:
        raise ConfigError(f"{name}: statistics are (visits, value) or (visits, value, prior), not {given!r}") from None
    if one.visits < 0 or (one.visits > 0 and one.value is None):
        raise ConfigError(f"{name}: visits cannot be negative, and a visited move has a value; got {given!r}")
    return one


def _row(rule: SearchConfig, name: str, one: Statistics, total: int, equal: float) -> Row:
    prior = one.prior
    if rule.rule == "ucb1":
        bonus = math.inf if one.visits == 0 else rule.c * math.sqrt(math.log(total) / one.visits)
        base = 0.0
    else:
        prior = equal if prior is None else prior
        bonus = schedule(rule, total) * prior * math.sqrt(total) / (1 + one.visits)
        base = rule.first_play or 0.0
    value = one.value if one.visits else None
    return Row(name, one.visits, one.visits / total, value, prior, bonus, (base if value is None else value) + bonus)


def schedule(rule: SearchConfig, visits: int) -> float:
    """PUCT's factor c(N)."""
    if rule.c_base is None:
        return rule.c
    return rule.c + math.log((1 + visits + rule.c_base) / rule.c_base)


def formula(rule: SearchConfig, total: int) -> str:
    """The rule's formula with its numbers, as a line of text."""
    if rule.rule == "ucb1":
        return f"UCB1: score = value + c * sqrt(ln(N) / n) with c = {rule.c:.6g}, N = {total:,}"
    growing = "" if rule.c_base is None else f" (AlphaZero's schedule {rule.c:g} + ln((1 + N + {rule.c_base:g}) / {rule.c_base:g}))"
    return f"PUCT: score = value + c * P * sqrt(N) / (1 + n) with c = {schedule(rule, total):.6g}{growing}, N = {total:,}"


def finite(value: Any) -> Any:
    """JSON has no infinity: a score without bound becomes None."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(value: float) -> str:
    return "inf" if value == math.inf else f"{value:.4f}"
