"""Play a round robin: every player meets every other in a match, and all results together give ratings."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treetop.arena.forfeits import Reasons, describe
from treetop.arena.matches import MatchProgress, Pairing, Terms, need_two, play_contests
from treetop.arena.openings import choose_openings
from treetop.arena.playing import MAKE_PLAYER
from treetop.arena.ratings import Ratings, bradley_terry, need_choix
from treetop.arena.result import MatchResult
from treetop.errors import ConfigError, SaveError
from treetop.game.definition import Game
from treetop.game.registry import load_game
from treetop.players.clock import TimeControl
from treetop.stats import format_signed
from treetop.text import text_table


@dataclass(frozen=True)
class TournamentProgress:
    """The progress of a tournament; passed to the callback after every game.

    >>> import treetop as tt
    >>> reports = []
    >>> result = tt.tournament(["random", "greedy"], "tic_tac_toe", games=2, workers=1, progress=reports.append)
    >>> reports[-1].finished, reports[-1].points
    (2, {'random': 0.5, 'greedy': 1.5})
    """

    finished: int
    asked: int
    played: int
    """Games of this call, without resumed ones."""
    elapsed: float
    """Seconds of this call so far."""
    rate: float
    """Games per second since the first one was finished."""
    points: dict[str, float]
    """Points so far by player, of complete pairs only."""


@dataclass(frozen=True)
class TournamentResult:
    """All matches of a round robin, and the ratings.

    >>> import treetop as tt
    >>> result = tt.tournament(["random", "greedy"], "tic_tac_toe", games=2, seed=1, workers=1)
    >>> result.complete, result.games, result.points(1)
    (True, 2, (2.0, 2))
    """

    players: tuple[str, ...]
    game: str
    seed: int
    matches: dict[tuple[int, int], MatchResult]
    """By the numbers of both players, the smaller one first."""
    ratings: Ratings | None
    """None while some players have no finished pair."""
    out: Path | None = None
    interrupted: bool = False

    @property
    def games(self) -> int:
        """How many games count."""
        return sum(match.games for match in self.matches.values())

    @property
    def complete(self) -> bool:
        """Whether every match is finished."""
        return all(match.complete for match in self.matches.values())

    def points(self, player: int) -> tuple[float, int]:
        """Return a player's points, and from how many games."""
        total, games = 0.0, 0
        for (i, _), match in self._of(player):
            mine = match.wins + match.draws / 2
            total += mine if i == player else match.games - mine
            games += match.games
        return total, games

    def _of(self, player: int) -> list[tuple[tuple[int, int], MatchResult]]:
        return [(pair, match) for pair, match in self.matches.items() if player in pair]

    def order(self) -> list[int]:
        """Return the players, the strongest first."""
        numbers = range(len(self.players))
        if self.ratings is not None:
            elo = self.ratings.elo
            return sorted(numbers, key=lambda i: -elo[i].value)
        return sorted(numbers, key=lambda i: -self.points(i)[0] / max(self.points(i)[1], 1))

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the cross table: a row for each player, with its rating, its points, and its score against each other
        player.
        """
        order = self.order()
        head = ["player", "Elo", "95% interval", "points", "games", *(str(place) for place in range(1, len(order) + 1))]
        rows = []
        for place, player in enumerate(order, start=1):
            points, games = self.points(player)
            rating = None if self.ratings is None else self.ratings.elo[player]
            elo = ["?", "?"] if rating is None else [format_signed(rating.value), rating.signed_bounds()]
            if self.ratings is not None and player == self.ratings.anchor:
                elo[1] = "anchor"
            rows.append(
                [
                    f"{place} {self.players[player]}",
                    *elo,
                    f"{points:g}",
                    str(games),
                    *(self._against(player, other) for other in order),
                ]
            )
        return head, rows

    def _against(self, player: int, other: int) -> str:
        match = self.matches.get((min(player, other), max(player, other)))
        if match is None or not match.games:
            return "-"
        return f"{match.score if player < other else 1 - match.score:.1%}"

    def forfeit_reasons(self, player: int) -> Reasons:
        """Return why a player lost games by forfeit, and how many for each reason."""
        total: Counter[str] = Counter()
        for (i, _), match in self._of(player):
            total.update(match.forfeit_reasons["A" if i == player else "B"])
        return dict(total.most_common())

    def facts(self) -> dict[str, str]:
        """Return further facts by name."""
        forfeits = describe((name, self.forfeit_reasons(player)) for player, name in enumerate(self.players))
        return {"forfeits": forfeits} if forfeits else {}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as `--json` prints them."""
        return {
            "players": list(self.players),
            "game": self.game,
            "seed": self.seed,
            "games": self.games,
            "complete": self.complete,
            "interrupted": self.interrupted,
            "ratings": None if self.ratings is None else self.ratings.to_dict(self.players),
            "anchor": None if self.ratings is None else self.players[self.ratings.anchor],
            "order": [self.players[player] for player in self.order()],
            "points": {name: self.points(player)[0] for player, name in enumerate(self.players)},
            "matches": [match.to_dict() for match in self.matches.values()],
            "out": None if self.out is None else str(self.out),
        }

    def title(self) -> str:
        """Return a one-line title: players, game, number of games."""
        asked = sum(match.asked for match in self.matches.values())
        many = f"{self.games:,} of {asked:,} games" if self.games != asked else f"{self.games:,} games"
        return f"{len(self.players)} players, every one against every other: {self.game}, {many}, seed {self.seed}"

    def __str__(self) -> str:
        said = "".join(f"\n\n{name}  {text}" for name, text in self.facts().items())
        return f"{self.title()}\n\n{text_table(*self.table())}{said}"


def tournament(
    players: Sequence[str] | Mapping[str, str],
    game: str | Game,
    *,
    games: int = 100,
    seed: int = 0,
    workers: int | None = None,
    out: str | Path | None = None,
    openings: str | Path | Sequence[str] | None = None,
    opening_order: str = "file",
    opening_plies: int | None = None,
    balanced: bool = True,
    move_deadline: float | None = None,
    clock: str | TimeControl | None = None,
    make_player: str = MAKE_PLAYER,
    anchor: str | None = None,
    anchor_elo: float = 0.0,
    progress: Callable[[TournamentProgress], object] | None = None,
    on: str | None = None,
) -> TournamentResult:
    """Play a round robin of `games` games for each pairing, and rate the players. Needs `pip install -e ".[arena]"`.

    Players are specs, or a mapping from names to specs. `out` is a folder with one file for each pairing, as `match`
    writes it: called again, the tournament resumes, also with more players or more games. All pairings play the same
    openings. The anchor (default: the first player) has the rating `anchor_elo`. `workers`, `on`, `openings` and
    `clock` are as in `match`.

    >>> import treetop as tt
    >>> tt.tournament(["random", "greedy", "uct(simulations=50)"], "tic_tac_toe", games=2, workers=1).players
    ('random', 'greedy', 'uct(simulations=50)')
    """
    need_choix()
    roster = dict(players) if isinstance(players, Mapping) else {spec: spec for spec in players}
    names = tuple(roster)
    if len(names) < 2 or len(names) != len(players):
        raise ConfigError("a tournament needs at least two players, each named once")
    if anchor is not None and anchor not in names:
        raise ConfigError(f"the anchor must be one of the players, not {anchor!r}")
    found = need_two(load_game(game))
    book = choose_openings(found, openings, opening_order, opening_plies, balanced=balanced)
    terms = Terms(found, games, seed, book, make_player, move_deadline, TimeControl.of(clock))
    pairs = list(itertools.combinations(range(len(names)), 2))
    matches, folder, interrupted = play_pairings(terms, roster, pairs, out, workers, progress, on)
    number = 0 if anchor is None else names.index(anchor)
    return TournamentResult(
        names,
        terms.game.name,
        seed,
        matches,
        rate_all(len(names), matches, number, anchor_elo, seed),
        folder,
        interrupted,
    )


def play_pairings(
    terms: Terms,
    roster: Mapping[str, str],
    pairs: Sequence[tuple[int, int]],
    out: str | Path | None,
    workers: int | None,
    progress: Callable[[TournamentProgress], object] | None,
    on: str | None,
) -> tuple[dict[tuple[int, int], MatchResult], Path | None, bool]:
    """Play the matches of some pairs of players, by number. Return their results, the folder of their files, and
    whether Ctrl-C ended it. `roster` has the specs of the players by name.
    """
    folder, names = _folder(out), tuple(roster)
    pairings = {
        (i, j): Pairing(
            terms, (roster[names[i]], roster[names[j]]), (names[i], names[j]), _file(folder, names[i], names[j], roster)
        )
        for i, j in pairs
    }
    report = None if progress is None else _Report(list(pairings.values()), names, terms.games, progress)
    with contextlib.ExitStack() as stack:
        for pairing in pairings.values():
            stack.enter_context(pairing.log)
            pairing.resume()
        interrupted = play_contests(terms, list(pairings.values()), workers, report, on=on)
    return {pair: pairing.tally.result() for pair, pairing in pairings.items()}, folder, interrupted


def rate_all(
    players: int, matches: Mapping[tuple[int, int], MatchResult], anchor: int = 0, anchor_elo: float = 0.0,
    seed: int = 0,
) -> Ratings | None:  # fmt: skip
    """Return the ratings of players, by number, from their matches; None while games do not connect all of them.

    >>> import treetop as tt
    >>> result = tt.match("random", "greedy", "tic_tac_toe", games=4, seed=1, workers=1)
    >>> rate_all(2, {(0, 1): result}).elo[1].value > 0
    True
    """
    try:
        return bradley_terry(
            players,
            {pair: match.pentanomial for pair, match in matches.items()},
            anchor=anchor,
            anchor_elo=anchor_elo,
            seed=seed,
        )
    except ConfigError:  # so early an end that some players have not met any other
        return None


class _Report:
    """Turn the progress of pairings into that of the tournament."""

    def __init__(
        self,
        pairings: Sequence[Pairing],
        names: Sequence[str],
        games: int,
        progress: Callable[[TournamentProgress], object],
    ) -> None:
        self._pairings, self._names, self._asked, self._progress = pairings, names, games * len(pairings), progress
        self._results = {id(pairing): pairing.tally.result() for pairing in pairings}

    def __call__(self, pairing: Pairing, now: MatchProgress) -> None:
        self._results[id(pairing)] = now.result
        points = dict.fromkeys(self._names, 0.0)
        for result in self._results.values():
            mine = result.wins + result.draws / 2
            points[result.players[0]] += mine
            points[result.players[1]] += result.games - mine
        finished = sum(other.tally.finished for other in self._pairings)
        self._progress(TournamentProgress(finished, self._asked, now.played, now.elapsed, now.rate, points))


def _folder(out: str | Path | None) -> Path | None:
    if out is None:
        return None
    folder = Path(out)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise SaveError(f"{folder} cannot be the folder of a tournament: {error.strerror or error}") from error
    return folder


def _file(folder: Path | None, a: str, b: str, roster: Mapping[str, str]) -> Path | None:
    """Return a readable file name that no other pairing has."""
    if folder is None:
        return None
    parts = [re.sub(r"[^A-Za-z0-9.=_-]+", "_", name).strip("_")[:40] for name in (a, b)]
    mark = hashlib.sha256("\n".join((roster[a], roster[b])).encode()).hexdigest()[:8]
    return folder / f"{parts[0]}-vs-{parts[1]}-{mark}.jsonl"
