"""A training run of a folder: what its metrics say so far, as figures, curves and tables."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from treetop.errors import MissingExtraError, SaveError
from treetop.files import parse_json
from treetop.serve.run_files import METRICS, MUZERO, RUN, Found, Lines, read_below
from treetop.stats import Interval, format_number, share_interval
from treetop.text import counted
from treetop.train.acceptance import Accepted
from treetop.train.events import Event, Iteration, checked, read_event
from treetop.train.muzero import MuZeroIteration
from treetop.train.ratings import EloCurve, Rated, fit_elo
from treetop.train.report import rating_table

MOST_POINTS = 2000
"""Points of a curve; longer ones are sent as means of neighbours."""
_MOST_LINES = 200_000
_MOST_FITTED = 40  # ratings, of which one model is fitted; beyond them each has the Elo of its line
_MOST_PLAYERS = 50  # that a rating names
_MOST_SERIES = 8
_QUIET = 180.0  # seconds without a line after which a run counts as ended, and that share of its time:
_QUIET_SHARE = 0.05
_LONGEST = 200
Chart = dict[str, Any]


class Training:
    """A training run, read again as it grows."""

    def __init__(self, root: Path, found: Found) -> None:
        self.found = found
        self._root, self._prefix = root, "" if found.name == "." else f"{found.name}/"
        self._lines = Lines(root, f"{self._prefix}{METRICS}")
        self._header: dict[str, Any] = {}
        self._events = list[Event]()
        self._steps = list[MuZeroIteration]()
        self._count = 0  # of lines, also of those that are no events
        self._fitted: tuple[int, EloCurve] = (0, EloCurve((), {}))
        self._progress: float | None = None

    def drop(self) -> None:
        """Forget what was read, apart from the header."""
        self._lines = Lines(self._root, self._lines.name)
        self._events, self._steps = [], []

    def read(self) -> None:
        """Read what is new; raise SaveError where the files are something else."""
        self._header = self._read_header()
        if not self._lines.exists():
            self._events, self._steps, self._progress = [], [], 0.0
            return
        if self._lines.is_replaced():
            self._events, self._steps = [], []
        for place, line in self._lines.new():
            self._count = 1 if place == 0 else self._count + 1
            if self._count > _MOST_LINES:
                raise SaveError(f"{self._lines.name} has more than {_MOST_LINES:,} lines")
            self._take(line.decode("utf-8", "replace"))
        self._progress = self._progress_now()

    def _take(self, line: str) -> None:
        if not self.is_muzero:
            event = read_event(line)
            if event is not None and not (isinstance(event, Rated) and _players(event) > _MOST_PLAYERS):
                self._events.append(event)
            return
        try:
            self._steps.append(checked(MuZeroIteration, parse_json(line)))
        except (ValueError, TypeError):
            return

    def _read_header(self) -> dict[str, Any]:
        for file, kind, fields in (
            (RUN, "a training run", {"game": str, "options": dict}),
            (MUZERO, "a run of MuZero", {"env": str, "options": dict}),
        ):
            try:
                content = read_below(self._root, self._prefix + file)
            except SaveError:
                if file == RUN:
                    continue
                raise
            try:
                header = parse_json(content)
            except ValueError as error:
                raise SaveError(f"{file} is not {kind}: {error}") from None
            if not isinstance(header, dict) or header.get("kind") != kind:
                raise SaveError(f"{file} is not {kind}")
            for name, wanted in fields.items():
                if not isinstance(header.get(name), wanted):
                    raise SaveError(f"{file} has no {name!r}, or a wrong one")
            return header
        raise SaveError(f"there is no {RUN}")

    @property
    def is_muzero(self) -> bool:
        """Whether it is a run of MuZero."""
        return "env" in self._header

    @property
    def game(self) -> str:
        """The game, or the environment."""
        return str(self._header.get("env" if self.is_muzero else "game", ""))[:_LONGEST]

    @property
    def _iterations(self) -> list[Iteration]:
        return [event for event in self._events if isinstance(event, Iteration)]

    @property
    def _ratings(self) -> list[Rated]:
        return [event for event in self._events if isinstance(event, Rated)]

    @property
    def _seconds(self) -> float:
        return max((event.seconds for event in (*self._events, *self._steps)), default=0.0)

    def _option(self, name: str) -> float | None:
        value = self._header["options"].get(name)
        usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0
        return float(value) if usable else None

    @property
    def progress(self) -> float | None:
        """The share of the run that is over; None where its settings do not say it."""
        return self._progress

    def _progress_now(self) -> float | None:
        if self.is_muzero:
            done, asked = (self._steps[-1].steps if self._steps else 0), self._option("steps")
        elif (most := self._option("iterations")) is not None:
            last = self._iterations[-1:]
            done, asked = (last[0].iteration if last else 0), most
        else:
            minutes = self._option("minutes")
            done, asked = self._seconds, None if minutes is None else 60 * minutes
        return None if asked is None else min(1.0, max(0.0, done / asked))

    @property
    def state(self) -> str:
        """Whether it is running, finished, or was stopped before its end."""
        if self.progress is not None and self.progress >= 1.0:
            return "finished"
        quiet = max(_QUIET, _QUIET_SHARE * 60 * (self._option("minutes") or 0.0))
        return "stopped" if self.found.reported or time.time() - self.found.changed > quiet else "running"

    @property
    def _elo(self) -> EloCurve:
        ratings = self._ratings
        if self._fitted[0] != len(ratings) and len(ratings) <= _MOST_FITTED:
            try:
                self._fitted = len(ratings), fit_elo(ratings)
            except MissingExtraError:
                self._fitted = len(ratings), EloCurve((), {})
        return self._fitted[1]

    # What is shown.

    def summary(self) -> dict[str, Any]:
        """Return the row of the list."""
        last = next((event for event in reversed(self._events) if isinstance(event, Iteration)), None)
        amount = "nothing yet"
        if last is not None:
            amount = f"{counted(last.games, 'game')}, {self._seconds / 60:,.1f} min"
        elif self._steps:
            amount = f"{self._steps[-1].steps:,} steps, {self._seconds / 60:,.1f} min"
        return {"kind": "MuZero" if self.is_muzero else "training", "result": self._result(), "amount": amount}

    def _result(self) -> str:
        rated = next((event for event in reversed(self._events) if isinstance(event, Rated)), None)
        if rated is not None and rated.elo is not None and len(rated.elo) == 3:
            value, low, high = rated.elo
            return f"Elo {value:+,.0f} ({low:+,.0f} to {high:+,.0f})"
        if rated is not None and rated.scores:
            return "; ".join(f"{score:.0%} against {name[:40]}" for name, score in list(rated.scores.items())[:2])
        if self._steps and self._steps[-1].mean_return is not None:
            return f"mean return {format_number(self._steps[-1].mean_return)}"
        last = next((event for event in reversed(self._events) if isinstance(event, Iteration)), None)
        if last is None or last.policy_loss is None or last.value_loss is None:
            return ""
        return f"loss: policy {last.policy_loss:.3f}, value {last.value_loss:.3f}"

    def detail(self) -> dict[str, Any]:
        """Return the figures, curves and tables."""
        options = {str(name)[:40]: str(value)[:_LONGEST] for name, value in list(self._header["options"].items())[:80]}
        settings = {"title": "Settings", "head": ["option", "value"], "rows": [list(one) for one in options.items()]}
        tables = [settings]
        if self._ratings:
            head, rows = rating_table(self._ratings[-50:], self._elo)
            tables.insert(0, {"title": "Ratings", "head": head[:12], "rows": [row[:12] for row in rows[:100]]})
        return {
            "title": f"Training {self.game}",
            "facts": self._facts(),
            "charts": self._muzero_charts() if self.is_muzero else self._charts(),
            "tables": tables,
        }

    def _facts(self) -> dict[str, str]:
        found = {"time": f"{self._seconds / 60:,.1f} min"}
        asked = self._option("minutes") if self._option("iterations") is None else None
        if asked is not None:
            found["time"] = f"{self._seconds / 60:,.1f} / {asked:,.0f} min"
        if self._steps:
            last = self._steps[-1]
            return found | {
                "steps": f"{last.steps:,}",
                "episodes": f"{last.episodes:,}",
                "updates": f"{last.updates:,}",
            }
        iterations = self._iterations
        if iterations:
            latest = iterations[-1]
            found |= {
                "iterations": f"{latest.iteration:,}", "games": f"{latest.games:,}",
                "positions": f"{latest.positions:,}", "steps of the learner": f"{latest.steps:,}",
                "positions a second": f"{latest.rate:,.0f}",
            }  # fmt: skip
        if self._elo.points:
            found["Elo, random = 0"] = f"{self._elo.points[-1].elo.value:+,.0f}"
        kept = next((event.accuracy for event in reversed(self._ratings) if "search" in event.accuracy), None)
        if kept is not None:
            found["exact value kept"] = f"{kept['search']:.1%}"
        return found

    def _charts(self) -> list[Chart]:
        iterations, ratings = self._iterations, self._ratings
        trained = [one for one in iterations if one.policy_loss is not None and one.value_loss is not None]
        found = [
            _curves("Loss", "loss", trained, {"policy, nats above the target": "policy_loss", "value": "value_loss"}),
            self._elo_chart(ratings),
            _kept_chart([one for one in ratings if one.accuracy.get("positions")]),
            _score_chart(ratings),
            _curves("Entropy of the improved policy", "nats", iterations, {"entropy": "entropy"}),
            _curves("Length of games", "moves", iterations, {"moves": "length"}),
            _curves("First player", "mean return", iterations, {"mean return": "first_player"}),
            _curves("Speed of self-play", "positions a second", iterations, {"positions a second": "rate"}),
            _curves(
                "Resignations", "share", [one for one in iterations if one.resigned is not None],
                {"games resigned": "resigned", "false resignations": "false_resignations"},
            ),
            _curves(
                "New network against the last one", "share of the points",
                [one for one in self._events if isinstance(one, Accepted)], {"score of the new network": "score"},
            ),
        ]  # fmt: skip
        return [chart for chart in found if chart["x"]]

    def _elo_chart(self, ratings: Sequence[Rated]) -> Chart:
        elo = self._elo
        points = [(point.seconds, point.elo) for point in elo.points]
        if not points:
            own = [(one.seconds, one.elo) for one in ratings if one.elo is not None and len(one.elo) == 3]
            points = [(seconds, Interval(*values)) for seconds, values in own]
        chart = _intervals("Elo, with 95% intervals", "Elo, random = 0", {"network": points})
        anchors = sorted(elo.anchors.items(), key=lambda entry: entry[1].value)[:_MOST_SERIES]
        return chart | {"levels": [{"name": name[:40], "value": one.value} for name, one in anchors]}

    def _muzero_charts(self) -> list[Chart]:
        trained = [one for one in self._steps if one.policy_loss is not None]
        losses = {"policy": "policy_loss", "value": "value_loss", "reward": "reward_loss"}
        returned = [one for one in self._steps if one.mean_return is not None]
        found = [
            _curves("Mean return of 100 episodes", "return", returned, {"mean return": "mean_return"}),
            _curves("Loss", "loss", trained, losses),
            _curves("Episodes", "episodes", self._steps, {"episodes": "episodes"}),
        ]
        return [chart for chart in found if chart["x"]]


def _players(event: Rated) -> int:
    """Return how many players a rating names, at least."""
    return max(len(event.scores), len(event.counts), len(event.links) + sum(map(len, event.links.values())))


def _curves(title: str, unit: str, events: Sequence[Any], fields: dict[str, str]) -> Chart:
    """Return a chart of fields of events over the minutes of the run."""
    ordered = sorted(events, key=lambda event: event.seconds)
    columns = [[event.seconds / 60 for event in ordered]]
    columns += [[getattr(event, name) for event in ordered] for name in fields.values()]
    x, *values = thinned(columns)
    series = [{"name": name, "values": one} for name, one in zip(fields, values, strict=True)]
    return {"title": title, "unit": unit, "xName": "minutes", "x": x, "series": series}


def thinned(columns: Sequence[Sequence[float | None]], most: int = MOST_POINTS) -> list[list[float | None]]:
    """Return columns of equal length with at most that many rows: means of neighbours, without what is missing.

    >>> thinned([[1.0, 2.0, 3.0, 4.0], [None, 1.0, None, None]], 2)
    [[1.5, 3.5], [1.0, None]]
    """
    arrays = [np.array(column, float) for column in columns]  # None becomes NaN
    if len(arrays[0]) > most:
        edges = np.linspace(0, len(arrays[0]), most + 1).astype(int)[:-1]
        counts = [np.add.reduceat(~np.isnan(one), edges, dtype=float) for one in arrays]
        sums = [np.add.reduceat(np.nan_to_num(one), edges) for one in arrays]
        with np.errstate(invalid="ignore", divide="ignore"):
            arrays = [total / count for total, count in zip(sums, counts, strict=True)]
    return [[None if math.isnan(value) else float(f"{value:.6g}") for value in one] for one in arrays]


def _intervals(title: str, unit: str, series: dict[str, list[tuple[float, Interval]]]) -> Chart:
    """Return a chart of values with intervals over the minutes; all series have the same times."""
    longest = max(series.values(), key=len, default=[])
    return {
        "title": title, "unit": unit, "xName": "minutes", "x": [seconds / 60 for seconds, _ in longest],
        "series": [{"name": name, **bands([one for _, one in points])} for name, points in series.items()],
    }  # fmt: skip


def bands(values: Sequence[Interval]) -> dict[str, list[float | None]]:
    """Return values with the ends of their intervals; an infinite one is None.

    >>> bands([Interval(1.0, 0.5, math.inf)])
    {'values': [1.0], 'low': [0.5], 'high': [None]}
    """
    plain = [one.to_dict() for one in values]
    return {name: [one[key] for one in plain] for name, key in (("values", "value"), ("low", "low"), ("high", "high"))}


def _kept_chart(rated: Sequence[Rated]) -> Chart:
    names = {"search of 32 simulations": "search", "raw policy": "policy"}
    found: dict[str, list[tuple[float, Interval]]] = {name: [] for name in names}
    for event in sorted(rated, key=lambda one: one.seconds):
        among = max(1, int(event.accuracy["positions"]))
        for name, key in names.items():
            share = min(1.0, max(0.0, event.accuracy.get(key, 0.0)))
            found[name].append((event.seconds, share_interval(round(share * among), among)))
    chart = _intervals("Exact positions: value kept", "share of positions", found) | {"range": [0.0, 1.0]}
    chance = [event.accuracy["chance"] for event in rated if "chance" in event.accuracy][-1:]
    return chart | {"levels": [{"name": "by chance", "value": one} for one in chance]}


def _score_chart(ratings: Sequence[Rated]) -> Chart:
    ordered = sorted(ratings, key=lambda one: one.seconds)
    anchors = list(dict.fromkeys(anchor for event in ordered for anchor in event.scores))[:_MOST_SERIES]
    columns: list[list[float | None]] = [[event.seconds / 60 for event in ordered]]
    columns += [[event.scores.get(anchor) for event in ordered] for anchor in anchors]
    x, *values = thinned(columns)
    series = [{"name": name[:40], "values": one} for name, one in zip(anchors, values, strict=True)]
    return {
        "title": "Score against", "unit": "share of the points", "xName": "minutes", "x": x if anchors else [],
        "series": series, "range": [0.0, 1.0],
    }  # fmt: skip
