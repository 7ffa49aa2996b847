"""The result of an evaluation: scores with intervals, differences on the same deals, and the shares of the final
results.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treetop.arena.forfeits import Reasons, describe, reasons_of
from treetop.checks import is_number
from treetop.journal import Record
from treetop.stats import Interval, format_number, mean_interval, share_interval
from treetop.text import text_facts, text_table


@dataclass(frozen=True)
class Scores:
    """The result of one player. The score of a game is the return of the first seat, which in a one-player game is the
    only one.
    """

    player: str
    games: int
    mean: Interval
    median: float
    best: float
    worst: float
    wins: int
    """Games with a score above the threshold of a win."""
    seats: tuple[float, ...]
    """The mean return of each seat."""
    forfeits: int
    forfeit_reasons: Reasons
    """Each reason of a forfeit with the number of games."""
    seconds: float
    """Thinking time per game."""
    choices: float
    """Choices per game."""
    simulations: float | None
    """Simulations per choice; None for players that do not report them."""
    ends: dict[str, dict[str, float]]
    """From the game's `summary` of its end: for each name the share of games with each value, or with at least that
    value for numbers.
    """
    clairvoyant: bool
    """Whether it saw hidden information."""

    @property
    def win_share(self) -> float:
        """The share of games that were won."""
        return self.wins / self.games if self.games else 0.0

    @property
    def win_interval(self) -> Interval:
        """The share of games that were won, with its 95% interval."""
        return share_interval(self.wins, self.games)

    @property
    def effort(self) -> str:
        """Return the effort as text."""
        searched = "" if self.simulations is None else f" of {format_number(self.simulations)} simulations"
        return f"{self.player}: {self.seconds:.3g} s a game, {format_number(self.choices)} moves{searched}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "player": self.player,
            "games": self.games,
            "mean": self.mean.to_dict(),
            "median": self.median,
            "best": self.best,
            "worst": self.worst,
            "wins": self.wins,
            "win_share": self.win_share,
            "win_interval": self.win_interval.to_dict(),
            "seats": list(self.seats),
            "forfeits": self.forfeits,
            "forfeit_reasons": dict(self.forfeit_reasons),
            "seconds_a_game": self.seconds,
            "choices_a_game": self.choices,
            "simulations_a_move": self.simulations,
            "ends": self.ends,
            "clairvoyant": self.clairvoyant,
        }


@dataclass(frozen=True)
class Difference:
    """By how much a player's score exceeds the first player's, deal by deal."""

    player: str
    than: str
    deals: int
    more: Interval
    better: int
    """Deals on which it scored more."""
    worse: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "player": self.player,
            "than": self.than,
            "deals": self.deals,
            "more": self.more.to_dict(),
            "better": self.better,
            "worse": self.worse,
        }

    def __str__(self) -> str:
        return (
            f"{self.player} minus {self.than}: {self.more}, 95% interval, on the same deals; "
            f"more on {self.better:,}, less on {self.worse:,} of {self.deals:,}"
        )


@dataclass(frozen=True)
class EvaluationResult:
    """The state of an evaluation, finished or not.

    >>> import treetop as tt
    >>> result = tt.evaluate("nim(stones=5)", "random", games=4, seed=1, workers=1)
    >>> result.complete, result.scores[0].player, result.scores[0].mean.value
    (True, 'random', 0.0)
    """

    game: str
    seed: int
    asked: int
    """The requested number of games of each player."""
    win_above: float
    scores: tuple[Scores, ...]
    differences: tuple[Difference, ...]
    finished: int
    """How many games are played, of all players together."""
    out: Path | None = None
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Whether all games are played."""
        return self.finished >= self.asked * len(self.scores)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as `--json` prints them."""
        return {
            "game": self.game,
            "seed": self.seed,
            "asked": self.asked,
            "finished": self.finished,
            "complete": self.complete,
            "interrupted": self.interrupted,
            "win_above": self.win_above,
            "players": [scores.to_dict() for scores in self.scores],
            "differences": [difference.to_dict() for difference in self.differences],
            "out": None if self.out is None else str(self.out),
        }

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return headings and a row for each player."""
        head = ["player", "mean score", "95% interval", "median", "best", "wins", "95% interval"]
        rows = [
            [
                one.player,
                format_number(one.mean.value),
                one.mean.bounds(),
                format_number(one.median),
                format_number(one.best),
                f"{one.win_share:.1%}",
                f"{one.win_interval.low:.1%} to {one.win_interval.high:.1%}",
            ]
            for one in self.scores
        ]
        return head, rows

    def ends(self) -> list[tuple[str, list[str], list[list[str]]]]:
        """Return a table for each name of the game's `summary`: a row for each value, a column for each player."""
        names = dict.fromkeys(name for one in self.scores for name in one.ends)
        tables = []
        for name in names:
            values = dict.fromkeys(value for one in self.scores for value in one.ends.get(name, {}))
            ordered = sorted(values, key=_order)
            rows = [
                [value, *(f"{one.ends.get(name, {}).get(value, 0.0):.1%}" for one in self.scores)] for value in ordered
            ]
            tables.append((name, [name, *(one.player for one in self.scores)], rows))
        return tables

    def facts(self) -> dict[str, str]:
        """Return further facts by name."""
        said = {"a win": f"a score above {self.win_above:g}"}
        for count, one in enumerate(self.scores, start=1):
            said["effort" if len(self.scores) == 1 else f"effort {count}"] = one.effort
        for count, difference in enumerate(self.differences, start=1):
            said["difference" if len(self.differences) == 1 else f"difference {count}"] = str(difference)
        if any(len(one.seats) > 1 for one in self.scores):
            said["seats"] = "; ".join(
                f"{one.player}: {', '.join(format_number(value) for value in one.seats)}" for one in self.scores
            )
        if any(one.forfeits for one in self.scores):
            said["forfeits"] = describe((one.player, one.forfeit_reasons) for one in self.scores)
        if any(one.clairvoyant for one in self.scores):
            said["clairvoyant"] = (
                f"{', '.join(one.player for one in self.scores if one.clairvoyant)}: saw hidden information"
            )
        return said

    def title(self) -> str:
        """Return a one-line title: game, number of games."""
        asked = self.asked * len(self.scores)
        many = (
            f"{self.asked:,} game{'s' if self.asked > 1 else ''} a player"
            if self.finished >= asked
            else f"{self.finished:,} of {asked:,} games"
        )
        return f"{self.game}: {many}, seed {self.seed}"

    def __str__(self) -> str:
        tables = [text_table(*self.rows()), *(text_table(head, rows) for _, head, rows in self.ends())]
        return "\n\n".join([self.title(), *tables, text_facts(self.facts())])


class ScoreTally:
    """Count the games of an evaluation as they come in, in any order."""

    decided = False

    def __init__(
        self, players: tuple[str, ...], game: str, seed: int, asked: int, win_above: float, out: Path | None = None
    ) -> None:
        self._players, self._game, self._seed, self._asked, self._above, self._out = (
            players,
            game,
            seed,
            asked,
            win_above,
            out,
        )
        self._records: list[dict[int, Record]] = [{} for _ in players]
        self._sums = [0.0] * len(players)

    @property
    def finished(self) -> int:
        """How many of the requested games are played."""
        return sum(len(records) for records in self._records)

    def add(self, record: Record) -> None:
        """Count a finished game. Deals beyond the requested number do not count."""
        if record["deal"] < self._asked and record["player"] < len(self._players):
            self._records[record["player"]][record["deal"]] = record
            self._sums[record["player"]] += record["returns"][0]

    def standing(self) -> tuple[float, ...]:
        """Return the mean score of each player so far."""
        return tuple(total / max(len(records), 1) for total, records in zip(self._sums, self._records, strict=True))

    def result(self, *, interrupted: bool = False) -> EvaluationResult:
        """Return the result so far."""
        scores = tuple(self._scores(number) for number in range(len(self._players)))
        differences = tuple(self._difference(number) for number in range(1, len(self._players)))
        return EvaluationResult(
            self._game, self._seed, self._asked, self._above, scores, differences, self.finished, self._out, interrupted
        )

    def _scores(self, player: int) -> Scores:
        records = [self._records[player][deal] for deal in sorted(self._records[player])]
        values = [float(record["returns"][0]) for record in records] or [0.0]
        count = max(len(records), 1)
        counted = [record for record in records if record["simulations"] is not None]
        choices = sum(record["choices"] for record in counted)
        seats = len(records[0]["returns"]) if records else 1
        return Scores(
            self._players[player],
            len(records),
            mean_interval(values if records else []),
            statistics.median(values),
            max(values),
            min(values),
            sum(record["returns"][0] > self._above for record in records),
            tuple(math.fsum(record["returns"][seat] for record in records) / count for seat in range(seats)),
            sum(record["forfeit"] is not None for record in records),
            reasons_of(record for record in records if record["forfeit"] is not None),
            math.fsum(record["seconds"] for record in records) / count,
            sum(record["choices"] for record in records) / count,
            sum(record["simulations"] for record in counted) / choices if choices else None,
            _ends(records),
            any(record.get("clairvoyant", False) for record in records),
        )

    def _difference(self, player: int) -> Difference:
        ours, first = self._records[player], self._records[0]
        more = [ours[deal]["returns"][0] - first[deal]["returns"][0] for deal in sorted(ours.keys() & first.keys())]
        return Difference(
            self._players[player],
            self._players[0],
            len(more),
            mean_interval(more),
            sum(d > 0 for d in more),
            sum(d < 0 for d in more),
        )


def _ends(records: list[Record]) -> dict[str, dict[str, float]]:
    """Return the shares of the values of summaries: for numbers the games with at least that value, else with exactly
    that value.
    """
    found: dict[str, list[Any]] = {}
    for record in records:
        for name, value in record["summary"].items():
            found.setdefault(name, []).append(value)
    ends: dict[str, dict[str, float]] = {}
    for name, values in found.items():
        counts = Counter(values)
        if all(map(is_number, values)):
            ends[name] = {
                f"{value:g}": sum(count for other, count in counts.items() if other >= value) / len(records)
                for value in sorted(counts)
            }
        else:
            ends[name] = {str(value): count / len(records) for value, count in counts.most_common()}
    return ends


def _order(value: str) -> tuple[float, str]:
    try:
        return float(value), ""
    except ValueError:
        return math.inf, value
