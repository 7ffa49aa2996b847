"""A tournament in a folder: the matches of its pairings together, with one scale of ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from graphlib import TopologicalSorter
from typing import Any

from treetop.arena.ratings import Ratings
from treetop.arena.tournaments import TournamentResult, rate_all
from treetop.errors import MissingExtraError, SaveError
from treetop.serve.run_files import identity
from treetop.serve.run_games import Games, whiskers
from treetop.stats import format_signed
from treetop.text import counted

_MOST_RATED = 40  # players


class Tournament:
    """The files of a tournament. A file of another one in the same folder is left out."""

    kind = "tournament"

    def __init__(self, group: str) -> None:
        self.group = group
        self.id = identity("tournament", group)
        self._rated: tuple[object, Ratings | None, str] = (None, None, "")

    def of(self, files: Sequence[Games]) -> list[Games]:
        """Return the files of one tournament among those of its folder: matches of one game, with one seed."""
        matches = [one for one in files if one.header.get("kind") == "a match"]
        if not matches:
            raise SaveError("the files of the tournament cannot be read")
        keys = Counter((one.game, one.header["seed"]) for one in matches)
        wanted = keys.most_common(1)[0][0]
        return sorted((one for one in matches if (one.game, one.header["seed"]) == wanted), key=lambda one: one.title)

    def result(self, matches: Sequence[Games]) -> TournamentResult:
        """Return the result so far, as `treetop tournament` does: a player's file names those after it second."""
        order = TopologicalSorter[str]()
        for one in matches:
            order.add(one.players[1], one.players[0])
        names = tuple(order.static_order())
        found = {(names.index(one.players[0]), names.index(one.players[1])): one.result for one in matches}
        ratings = self._rate(len(names), found)
        header = matches[0].header
        return TournamentResult(names, matches[0].game, header["seed"], found, ratings)

    def _rate(self, players: int, found: dict[tuple[int, int], Any]) -> Ratings | None:
        key = players, tuple((pair, match.pentanomial) for pair, match in sorted(found.items()))
        if self._rated[0] != key:
            ratings, note = None, ""
            try:
                if players <= _MOST_RATED:
                    ratings = rate_all(players, found)
                else:
                    note = f"more than {_MOST_RATED} players are not rated here"
            except MissingExtraError as error:
                note = str(error)
            self._rated = key, ratings, note
        return self._rated[1]

    @staticmethod
    def state(matches: Sequence[Games]) -> str:
        """Return whether it is running, finished, or was stopped before its end."""
        states = {one.state for one in matches}
        return next((name for name in ("running", "stopped", "ended") if name in states), "finished")

    @staticmethod
    def amount(matches: Sequence[Games]) -> str:
        """Return how many games are played."""
        done, asked = sum(len(one.rows) for one in matches), [one.asked for one in matches]
        if None in asked or sum(filter(None, asked)) == done:
            return counted(done, "game")
        return f"{done:,} of {counted(sum(filter(None, asked)), 'game')}"

    @staticmethod
    def progress(matches: Sequence[Games]) -> float | None:
        """Return the share of the games that are played; None where it is not known."""
        shares = [one.progress for one in matches if one.progress is not None]
        return sum(shares) / len(matches) if len(shares) == len(matches) else None

    def summary(self, matches: Sequence[Games]) -> dict[str, Any]:
        """Return the row of the list."""
        result = self.result(matches)
        first = result.order()[0]
        text = f"{result.players[first]} leads"
        if result.ratings is not None:
            text += f", Elo {format_signed(result.ratings.elo[first].value)}"
        return {
            "game": matches[0].game, "state": self.state(matches), "result": text, "amount": self.amount(matches),
            "progress": self.progress(matches),
        }  # fmt: skip

    def detail(self, matches: Sequence[Games]) -> dict[str, Any]:
        """Return the cross table, the ratings, and the matches."""
        result = self.result(matches)
        order, ids = result.order(), {one.players: one.found.id for one in matches}
        head, rows = result.table()
        before = len(head) - len(order)
        links: list[list[str | None]] = [[None] * before for _ in order]
        for player, row in zip(order, links, strict=True):
            row += [_id_of(ids, result.players[player], result.players[other]) for other in order]
        charts = []
        if result.ratings is not None:
            names = [result.players[player] for player in order]
            elo = [result.ratings.elo[player] for player in order]
            anchor = result.players[result.ratings.anchor]
            charts.append(whiskers("Ratings, with 95% intervals", f"Elo, {anchor[:60]} = 0", names, elo))
        facts = {"games": self.amount(matches), "players": str(len(result.players)), "seed": str(result.seed)}
        if self._rated[2]:
            facts["ratings"] = self._rated[2]
        parts = [{"id": one.found.id, "title": one.title, "amount": one.amount(), **_score_of(one)} for one in matches]
        return {
            "title": f"{len(result.players)} players, every one against every other",
            "facts": facts | result.facts(), "charts": charts, "parts": parts,
            "tables": [{"title": "Cross table", "head": head, "rows": rows, "links": links}],
        }  # fmt: skip


def _id_of(ids: dict[tuple[str, ...], str], player: str, other: str) -> str | None:
    return ids.get((player, other)) or ids.get((other, player))


def _score_of(match: Games) -> dict[str, str]:
    result = match.result
    return {"result": f"{result.score:.1%}" if result.games else ""}
