"""Results of a match of three or more players: the return of each player, on average and from each seat."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treetop.arena.forfeits import Reasons, describe, reasons_of
from treetop.arena.playing import LETTERS
from treetop.journal import Record
from treetop.stats import Interval, format_number, mean_interval
from treetop.text import text_facts, text_table


@dataclass(frozen=True)
class ManyResult:
    """The state of a match of three or more players, finished or not. Only complete rounds count, in which every player
    had every seat.
    """

    players: tuple[str, ...]
    """The names of the players, in the order in which they were given."""
    game: str
    seed: int
    games: int
    """How many games count."""
    returns: tuple[Interval, ...]
    """The mean return of each player per game, with an interval over the rounds."""
    by_seat: tuple[tuple[float, ...], ...]
    """For each player its mean return from each seat."""
    seats: tuple[float, ...]
    """The mean return of each seat over all players: the advantage of the seat."""
    firsts: tuple[float, ...]
    """The share of games in which no other player received more; a shared first place counts in part."""
    forfeits: tuple[int, ...]
    forfeit_reasons: tuple[Reasons, ...]
    """For each player the reasons of its forfeits, each with the number of games."""
    clairvoyant: tuple[int, ...]
    """The numbers of the players that saw hidden information."""
    asked: int
    finished: int
    out: Path | None = None
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Whether all games are played."""
        return self.finished >= self.asked

    @property
    def leader(self) -> int:
        """The player with the highest mean return."""
        return max(range(len(self.players)), key=lambda player: self.returns[player].value)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as `--json` prints them. There is no Elo, which is for two players."""
        return {
            "players": list(self.players),
            "game": self.game,
            "seed": self.seed,
            "games": self.games,
            "asked": self.asked,
            "finished": self.finished,
            "complete": self.complete,
            "interrupted": self.interrupted,
            "returns": [interval.to_dict() for interval in self.returns],
            "by_seat": [list(row) for row in self.by_seat],
            "seats": list(self.seats),
            "firsts": list(self.firsts),
            "forfeits": list(self.forfeits),
            "forfeit_reasons": [dict(reasons) for reasons in self.forfeit_reasons],
            "clairvoyant": [self.players[number] for number in self.clairvoyant],
            "out": None if self.out is None else str(self.out),
        }

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return headings and a row for each player; the last row has the means of the seats."""
        head = ["player", "mean return", "95% interval", "first", *(f"seat {seat}" for seat in range(len(self.seats)))]
        rows = []
        for name, interval, seats, first in zip(self.players, self.returns, self.by_seat, self.firsts, strict=True):
            means = [format_number(value) for value in seats]
            rows.append([name, format_number(interval.value), interval.bounds(), f"{first:.1%}", *means])
        return head, [*rows, ["all", "", "", "", *(format_number(value) for value in self.seats)]]

    def facts(self) -> dict[str, str]:
        """Return further facts by name."""
        best = self.leader
        said = {
            "most": f"{self.players[best]}, {self.returns[best]} a game, 95% interval",
            "rounds": f"{self.games // len(self.players):,}, each player once in each seat, on the same deal",
            "Elo": "none: Elo and sequential tests are for two players",
        }
        if any(self.forfeits):
            said["forfeits"] = describe(zip(self.players, self.forfeit_reasons, strict=True))
        if self.clairvoyant:
            said["clairvoyant"] = (
                f"{', '.join(self.players[player] for player in self.clairvoyant)}: saw hidden information"
            )
        return said

    def title(self) -> str:
        """Return a one-line title: players, game, number of games."""
        many = f"{self.games:,} of {self.asked:,} games" if self.games != self.asked else f"{self.games:,} games"
        return f"{', '.join(self.players)}: {self.game}, {many}, seed {self.seed}"

    def __str__(self) -> str:
        return "\n\n".join([self.title(), text_table(*self.rows()), text_facts(self.facts())])


class ManyTally:
    """Count the games of a match of three or more players as they come in, in any order."""

    decided = False

    def __init__(self, players: tuple[str, ...], game: str, seed: int, asked: int, out: Path | None = None) -> None:
        self._about: dict[str, Any] = {"players": players, "game": game, "seed": seed, "asked": asked, "out": out}
        self._many, self._asked, self._finished = len(players), asked, 0
        self._open: dict[int, list[Record]] = {}
        self._rounds: dict[int, list[Record]] = {}
        self._sums = dict.fromkeys(LETTERS[: self._many], 0.0)

    @property
    def finished(self) -> int:
        """How many of the requested games are played."""
        return self._finished

    def add(self, record: Record) -> None:
        """Count a finished game. Games beyond the requested number do not count."""
        if record["index"] >= self._asked:
            return
        self._finished += 1
        games = self._open.setdefault(record["round"], [])
        games.append(record)
        if len(games) == self._many:
            self._rounds[record["round"]] = self._open.pop(record["round"])
            for letter in self._sums:
                self._sums[letter] += sum(game["rewards"][letter] for game in games)

    def standing(self) -> tuple[float, ...]:
        """Return the mean return of each player so far."""
        return tuple(total / max(self._many * len(self._rounds), 1) for total in self._sums.values())

    def result(self, *, interrupted: bool = False) -> ManyResult:
        """Return the result so far."""
        letters, games = (
            LETTERS[: self._many],
            [record for number in sorted(self._rounds) for record in self._rounds[number]],
        )
        count = max(len(games), 1)
        returns = tuple(
            mean_interval(
                [
                    sum(record["rewards"][letter] for record in self._rounds[number]) / self._many
                    for number in sorted(self._rounds)
                ]
            )
            for letter in letters
        )
        from_seat = {
            (letter, seat): [record["rewards"][letter] for record in games if record["seats"][seat] == letter]
            for letter in letters for seat in range(self._many)
        }  # fmt: skip
        by_seat = tuple(tuple(_mean(from_seat[letter, seat]) for seat in range(self._many)) for letter in letters)
        seats = tuple(
            _mean([value for letter in letters for value in from_seat[letter, seat]]) for seat in range(self._many)
        )
        return ManyResult(
            **self._about,
            games=len(games),
            returns=returns,
            by_seat=by_seat,
            seats=seats,
            firsts=tuple(sum(_first(record, letter) for record in games) / count for letter in letters),
            forfeits=tuple(sum(record["forfeit"] == letter for record in games) for letter in letters),
            forfeit_reasons=tuple(
                reasons_of(record for record in games if record["forfeit"] == letter) for letter in letters
            ),
            clairvoyant=tuple(
                i
                for i, letter in enumerate(letters)
                if any(letter in record.get("clairvoyant", ()) for record in games)
            ),
            finished=self._finished,
            interrupted=interrupted,
        )


def _first(record: Record, letter: str) -> float:
    """Return a player's part of the first place."""
    rewards = record["rewards"]
    best = max(rewards.values())
    return 1 / sum(value == best for value in rewards.values()) if rewards[letter] == best else 0.0


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
