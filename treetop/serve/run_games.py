"""A file of games in a folder: a match, a match of many players or an evaluation, counted as it grows."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from treetop.arena.elo import Pentanomial, rate
from treetop.arena.log import EVALUATION, MATCH, ROUNDS, VERSION, Kind
from treetop.arena.many import ManyTally
from treetop.arena.playing import LETTERS
from treetop.arena.result import Tally
from treetop.arena.scores import ScoreTally
from treetop.arena.sprt import Sprt
from treetop.checks import is_number, is_whole
from treetop.errors import ConfigError, SaveError
from treetop.journal import Record, parse_line, read_header
from treetop.serve.run_files import Found, Lines
from treetop.serve.run_training import Chart, bands
from treetop.stats import format_number, sums_interval
from treetop.text import counted

KINDS = {MATCH.name: MATCH, ROUNDS.name: ROUNDS, EVALUATION.name: EVALUATION}
_NAMES = {MATCH.name: "match", ROUNDS.name: "match", EVALUATION.name: "evaluation"}
_MOST_GAMES = 200_000
_MOST_PLAYERS = 60
_POINTS = 200  # of a curve over the games
_ALL = 2**62  # more games than any file has: all of them count
_STALE = 600.0  # seconds without a game, after which a file that is still open counts as left by a crash
_LONGEST = 200
_HALF = {1.0: "1", 0.5: "½", 0.0: "0"}


class NoJournalError(SaveError):
    """The file holds something else: it is not shown."""


class Games:
    """A file of games, read again as it grows. The moves stay in the file."""

    def __init__(self, root: Path, found: Found) -> None:
        self.found = found
        self._root = root
        self._lines = Lines(root, found.name)
        self._begin()
        self.header: Record = {}
        self._is_over = False

    def _begin(self) -> None:
        self.rows: dict[int, tuple[int, Record]] = {}
        """For each game, by its number, the place of its line in the file, and what is shown of it in a list."""
        self.failures = list[str]()
        self._kind: Kind = MATCH
        self._tally: Tally | ManyTally | ScoreTally | None = None
        self._half: dict[int, float] = {}
        self._pairs: dict[int, float] = {}

    def drop(self) -> None:
        """Forget what was read, apart from the header."""
        self._lines = Lines(self._root, self.found.name)
        self._begin()

    # Reading.

    def read(self) -> None:
        """Read what is new; raise SaveError where the file is damaged or holds something else."""
        if self._lines.is_replaced():
            self._begin()
        wrong: int | None = None  # a line that is no record: the last one may be left by a crash
        for place, line in self._lines.new():
            if wrong is not None:
                raise SaveError(f"{self.found.name} is damaged at byte {wrong:,}: a line is not a valid game")
            if place == 0:
                self._take_header(line)
            elif (record := parse_line(line)) is None:
                wrong = place
            elif not self._take(place, record):
                raise SaveError(f"{self.found.name} is damaged at byte {place:,}: a line is not a valid game")
        if wrong is not None:
            self._lines.place = wrong
        if not self._lines.place:
            raise NoJournalError(f"{self.found.name} has no complete line yet")
        self._is_over = self._tally is not None and (self._tally.decided or len(self.rows) == self.asked)

    def _take_header(self, line: bytes) -> None:
        header = parse_line(line)
        if header is None:
            raise SaveError(f"{self.found.name} is no file of games: its first line is not a header")
        if header.get("kind") not in [*KINDS]:
            raise NoJournalError(f"{self.found.name} holds no games")
        header = read_header(Path(self.found.name), line, tuple(KINDS), VERSION)
        names = header.get("names")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not names:
            raise SaveError(f"{self.found.name} is damaged: its header names no players")
        if len(names) > _MOST_PLAYERS or not isinstance(header.get("game"), str) or not is_whole(header.get("seed")):
            raise SaveError(f"{self.found.name} is damaged: its header has no game and seed, or too many players")
        self._kind = KINDS[header["kind"]]
        few = {MATCH.name: len(names) == 2, ROUNDS.name: 3 <= len(names) <= len(LETTERS)}
        if not few.get(self._kind.name, True):
            raise SaveError(f"{self.found.name} is damaged: {self._kind.name} has not {len(names)} players")
        self.header = header
        self._tally = self._make_tally(header)

    def _make_tally(self, header: Record) -> Tally | ManyTally | ScoreTally:
        names = self.players
        if self._kind is MATCH:
            return Tally((names[0], names[1]), self.game, header["seed"], _ALL, _sprt(header.get("sprt")))
        if self._kind is ROUNDS:
            return ManyTally(names, self.game, header["seed"], _ALL)
        above = header.get("win_above")
        return ScoreTally(names, self.game, header["seed"], _ALL, float(above) if is_number(above) else 0.0)

    def _take(self, place: int, record: Record) -> bool:
        """Count a game; return whether the line is valid."""
        if "error" in record:
            self.failures = [*self.failures[-9:], str(record["error"])[:_LONGEST]]
            return True
        if not self._kind.holds(record) or not self._fits(record):
            return False
        index = record["index"]
        if index in self.rows:
            return True
        if len(self.rows) >= _MOST_GAMES:
            raise SaveError(f"{self.found.name} has more than {_MOST_GAMES:,} games")
        brief = self._kind.brief(record)
        brief.pop("opening", None)
        self.rows[index] = place, brief | {"plies": record["plies"] if is_whole(record.get("plies")) else None}
        if self._tally is not None:
            self._tally.add(brief)
        if self._kind is MATCH:
            other = self._half.pop(record["pair"], None)
            if other is None:
                self._half[record["pair"]] = record["score"]
            else:
                self._pairs[record["pair"]] = record["score"] + other
        return True

    def _fits(self, record: Record) -> bool:
        """Return whether the players of a game are those of the header."""
        if self._kind is EVALUATION:
            return bool(record["player"] < len(self.players))
        return set(record["seats"]) == set(LETTERS[: len(self.players)])

    # What it holds.

    @property
    def players(self) -> tuple[str, ...]:
        """The names of the players."""
        return tuple(name[:_LONGEST] for name in self.header.get("names", ()))

    @property
    def game(self) -> str:
        """The game."""
        return str(self.header.get("game", ""))[:_LONGEST]

    @property
    def asked(self) -> int | None:
        """The requested number of games; None where the file does not say it, or was continued with more."""
        games = self.header.get("games")
        return games if is_whole(games) and games >= max(1, len(self.rows)) else None

    @property
    def result(self) -> Any:
        """The result so far: a MatchResult, a ManyResult or an EvaluationResult."""
        if self._tally is None:
            raise SaveError(f"{self.found.name} holds no games")
        return self._tally.result()

    @property
    def state(self) -> str:
        """Whether it is running, finished, was stopped before its end, or has ended, with an end that is not known."""
        if self._is_over:
            return "finished"
        if self.found.open and time.time() - self.found.changed < _STALE:
            return "running"
        return "ended" if self.asked is None else "stopped"

    @property
    def progress(self) -> float | None:
        """The share of the games that are played; None where it is not known."""
        if self._is_over:
            return 1.0
        return None if self.asked is None else len(self.rows) / self.asked

    def amount(self) -> str:
        """Return how many games are played."""
        done = len(self.rows)
        return (
            counted(done, "game") if self.asked in (None, done) else f"{done:,} of {counted(self.asked or 0, 'game')}"
        )

    # What is shown.

    def summary(self) -> dict[str, Any]:
        """Return the row of the list."""
        result = self.result
        if self._kind is MATCH:
            text = f"Elo {result.rating.elo.signed()}" if result.games else ""
        elif self._kind is ROUNDS:
            text = f"{result.players[result.leader]} leads, {format_number(result.returns[result.leader].value)} a game"
        else:
            best = max(result.scores, key=lambda one: one.mean.value)
            text = f"mean score {format_number(best.mean.value)}"
            text = f"{best.player} leads, {text}" if len(result.scores) > 1 else text
        return {"kind": _NAMES[self._kind.name], "result": text, "amount": self.amount()}

    @property
    def title(self) -> str:
        """The players."""
        names = [name if len(name) <= 60 else f"{name[:57]}..." for name in self.players]
        return (" against " if self._kind is MATCH else ", ").join(names)

    def detail(self) -> dict[str, Any]:
        """Return the tables, the figures and the curves."""
        result = self.result
        head, rows = result.rows()
        tables = [{"title": "Score", "head": head, "rows": rows}]
        if self._kind is EVALUATION:
            ends = result.ends()[:6]
            tables += [{"title": name[:_LONGEST], "head": head, "rows": rows[:60]} for name, head, rows in ends]
        facts = {"games": self.amount(), **result.facts(), "seed": str(self.header["seed"])}
        if self.failures:
            facts["games that could not be played"] = f"{len(self.failures)}; the last one: {self.failures[-1]}"
        return {
            "title": self.title,
            "facts": {name: text[:2000] for name, text in facts.items()},
            "charts": self._charts(result),
            "tables": tables,
            "games": len(self.rows),
        }

    def _charts(self, result: Any) -> list[Chart]:
        if self._kind is MATCH:
            charts = [_elo_over_games(self.players[0], self._prefixes())]
            if result.sprt is not None:
                charts.append(_llr_over_games(result.sprt.sprt, self._prefixes()))
        elif self._kind is ROUNDS:
            charts = [whiskers("Mean return, with 95% intervals", "points", self.players, result.returns)]
        else:
            means = [one.mean for one in result.scores]
            charts = [self._means_over_deals()] if len(self.players) <= 8 else []
            charts.append(whiskers("Mean score, with 95% intervals", "points", self.players, means))
        return [chart for chart in charts if chart.get("x") or chart.get("rows")]

    def _prefixes(self) -> list[Pentanomial]:
        """Return the pentanomials after the first pairs, in the order of their numbers, at up to 200 places.

        The first tenth of a short match, and ten pairs of a long one, are left out: their intervals are too wide.
        """
        order, counts, found = sorted(self._pairs), [0] * 5, list[Pentanomial]()
        shown = {round((place + 1) * len(order) / _POINTS) for place in range(_POINTS)} | {len(order)}
        for done, pair in enumerate(order, start=1):
            counts[round(2 * self._pairs[pair])] += 1
            if done in shown and done > min(10, len(order) // 10):
                found.append((counts[0], counts[1], counts[2], counts[3], counts[4]))
        return found

    def _means_over_deals(self) -> Chart:
        """Return the mean score of each player after the first deals, with its interval."""
        scores: list[list[float]] = [[] for _ in self.players]
        for index in sorted(self.rows):
            row = self.rows[index][1]
            scores[row["player"]].append(row["returns"][0])
        deals = min(map(len, scores))
        shown = sorted({max(2, round((place + 1) * deals / _POINTS)) for place in range(_POINTS)}) if deals > 1 else []
        series = []
        for name, values in zip(self.players, scores, strict=True):
            total = squares = 0.0
            means = []
            for done, value in enumerate(values[:deals], start=1):
                total, squares = total + value, squares + value * value
                means.append(sums_interval(done, total, squares))
            series.append({"name": name[:60], **bands([means[done - 1] for done in shown])})
        return {
            "title": "Mean score over the deals", "unit": "points", "xName": "deals", "x": shown, "series": series,
        }  # fmt: skip

    # Games.

    def page(self, first: int, count: int) -> dict[str, Any]:
        """Return some games in the order of their numbers, as a table."""
        numbers = sorted(self.rows)[first : first + count]
        head = ["player", "result", "moves"] if self._kind is EVALUATION else ["seats", "result", "moves"]
        rows = [[*self._line_of(self.rows[number][1])] for number in numbers]
        return {"head": ["game", *head, ""], "numbers": numbers, "rows": rows, "total": len(self.rows)}

    def _line_of(self, row: Record) -> list[str]:
        plies = "" if row["plies"] is None else f"{row['plies']:,}"
        note = "" if row["forfeit"] is None else "by forfeit"
        return [" - ".join(name[:60] for name in self._seated(row)), self._result_of(row), plies, note]

    def _seated(self, row: Record) -> list[str]:
        """Return the names of the players in the order of the seats."""
        if self._kind is EVALUATION:
            return [self.players[row["player"]]]
        return [self.players[LETTERS.index(letter)] for letter in row["seats"]]

    def _result_of(self, row: Record) -> str:
        if self._kind is MATCH:
            score = float(row["score"] if row["seats"][0] == "A" else 1 - row["score"])
            return f"{_HALF[score]} : {_HALF[1 - score]}"
        values = row["returns"] if self._kind is EVALUATION else [row["rewards"][letter] for letter in row["seats"]]
        return " : ".join(format_number(value) for value in values[:_MOST_PLAYERS])

    def record(self, number: int) -> Record:
        """Return the whole record of a game; raise KeyError where there is none."""
        place, _ = self.rows[number]
        record = parse_line(self._lines.at(place))
        if record is None or not self._kind.holds(record) or record["index"] != number:
            raise SaveError(f"{self.found.name} has changed: load the list of its games again")
        return record

    def deal_of(self, record: Record) -> int:
        """Return the number of the deal of a game."""
        return int(record[{MATCH.name: "pair", ROUNDS.name: "round"}.get(self._kind.name, "deal")])

    def view(self, record: Record) -> dict[str, Any]:
        """Return what is shown of one game: who played it, how it ended, and its moves as text."""
        row = self.rows[record["index"]][1]
        facts = {"result": self._result_of(row)}
        if row["forfeit"] is not None:
            facts["forfeit"] = f"{self._loser(row['forfeit'])}: {str(record.get('reason'))[:_LONGEST]}"
        for name, label in (("simulations", "simulations"), ("seconds", "thinking time, s")):
            text = _by_player(record.get(name), self.players)
            if text:
                facts[label] = text
        opening, moves = _texts(record.get("opening_moves", [])), _texts(record.get("moves", record.get("actions")))
        return {
            "number": record["index"], "seats": self._seated(row), "game": self.game, "facts": facts,
            "opening": opening, "moves": moves,
        }  # fmt: skip

    def _loser(self, forfeit: Any) -> str:
        if isinstance(forfeit, str) and forfeit in LETTERS[: len(self.players)]:
            return self.players[LETTERS.index(forfeit)]
        return f"seat {str(forfeit)[:20]}"


def _sprt(given: Any) -> Sprt | None:
    """Return the test of a match as its header describes it; None where there is none."""
    if not isinstance(given, dict):
        return None
    try:
        return Sprt(given["elo0"], given["elo1"], given["alpha"], given["beta"], given["model"])
    except (ConfigError, KeyError, TypeError, ValueError):
        return None


def _texts(moves: Any) -> list[str]:
    """Return moves from a file as texts."""
    return [str(move)[:100] for move in moves[:10_000]] if isinstance(moves, list) else []


def _by_player(values: Any, names: Sequence[str]) -> str:
    """Return a number for each player as text; empty where there are none."""
    if is_number(values):
        return format_number(values)
    if not isinstance(values, dict):
        return ""
    known = [(name, values.get(letter)) for name, letter in zip(names, LETTERS, strict=False)]
    return "; ".join(f"{name[:40]} {format_number(value)}" for name, value in known if is_number(value))


def _elo_over_games(player: str, prefixes: Sequence[Pentanomial]) -> Chart:
    elo = [rate(pentanomial).elo for pentanomial in prefixes]
    games = [2 * sum(pentanomial) for pentanomial in prefixes]
    return {
        "title": f"Elo of {player[:60]}, with its 95% interval", "unit": "Elo", "xName": "games", "x": games,
        "series": [{"name": "Elo", **bands(elo)}], "levels": [{"name": "equal", "value": 0.0}],
    }  # fmt: skip


def _llr_over_games(test: Sprt, prefixes: Sequence[Pentanomial]) -> Chart:
    ratios = [test.llr(pentanomial) for pentanomial in prefixes]
    return {
        "title": f"Sequential test of {test.elo0:g} against {test.elo1:g} Elo", "unit": "log-likelihood ratio",
        "xName": "games", "x": [2 * sum(pentanomial) for pentanomial in prefixes],
        "series": [{"name": "LLR", "values": ratios}],
        "levels": [{"name": "H1 accepted", "value": test.upper}, {"name": "H0 accepted", "value": test.lower}],
    }  # fmt: skip


def whiskers(title: str, unit: str, names: Sequence[str], intervals: Sequence[Any]) -> Chart:
    """Return a figure with a line for each player: a value and its interval.

    >>> from treetop.stats import Interval
    >>> whiskers("Elo", "Elo", ["random"], [Interval(0.0, -9.0, 9.0)])["rows"]
    [{'name': 'random', 'value': 0.0, 'low': -9.0, 'high': 9.0}]
    """
    rows = [{"name": name[:60], **one.to_dict()} for name, one in zip(names, intervals, strict=True)]
    return {"title": title, "unit": unit, "rows": [row for row in rows if math.isfinite(row["value"] or 0.0)]}
