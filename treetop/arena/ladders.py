"""Rate a player on the ladder of a game: it plays every rung, and neighbouring rungs play each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from treetop.arena.anchors import rungs_of, split_rungs
from treetop.arena.matches import Terms, need_two
from treetop.arena.openings import OpeningSettings
from treetop.arena.playing import MAKE_PLAYER
from treetop.arena.ratings import Ratings, need_choix, unbounded
from treetop.arena.tournaments import TournamentProgress, TournamentResult, play_pairings, rate_all
from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.registry import load_game
from treetop.players.bundled import recommended
from treetop.stats import Interval, format_signed


@dataclass(frozen=True)
class LadderResult(TournamentResult):
    """The ladder of a game with the ratings of its rungs and of one player; the first rung has the rating 0.

    An end of an interval is infinite if the games do not bound it.

    >>> import treetop as tt
    >>> result = tt.arena.ladder("tic_tac_toe", "greedy", rungs=["random", "uct(simulations=50)"], games=2, workers=1)
    >>> result.players[result.rated], sorted(result.matches), result.complete
    ('greedy', [(0, 1), (0, 2), (1, 2)], True)
    """

    rated: int = 0
    """The number of the player that was to be rated."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """The rungs that could not be played, each with the reason."""

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return a row for each player, the strongest first."""
        head = ["player", "Elo", "95% interval", "points", "games", "against the player"]
        rows = []
        for number in self.order():
            points, games = self.points(number)
            rating = None if self.ratings is None else self.ratings.elo[number]
            elo = ["?", "?"] if rating is None else [format_signed(rating.value), rating.signed_bounds()]
            if self.ratings is not None and number == self.ratings.anchor:
                elo[1] = "anchor"
            mark = "* " if number == self.rated else "  "
            rows.append(
                [mark + self.players[number], *elo, f"{points:g}", str(games), self._against(number, self.rated)]
            )
        return head, rows

    def facts(self) -> dict[str, str]:
        """Return further facts by name."""
        said = super().facts()
        elo = () if self.ratings is None else self.ratings.elo
        above = [name for name, rating in zip(self.players, elo, strict=False) if rating.high == math.inf]
        below = [name for name, rating in zip(self.players, elo, strict=False) if rating.low == -math.inf]
        if above:
            said["no upper bound"] = f"{', '.join(above)}; together they lost no point to the other players"
        if below:
            said["no lower bound"] = f"{', '.join(below)}; together they won no point from the other players"
        if self.left_out:
            said["left out"] = "; ".join(f"{rung}: {reason}" for rung, reason in self.left_out.items())
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as `--json` prints them. An infinite end of an interval is None."""
        return {**super().to_dict(), "player": self.players[self.rated], "left_out": dict(self.left_out)}

    def title(self) -> str:
        """Return a one-line title: the player, the game, number of games."""
        asked = sum(match.asked for match in self.matches.values())
        many = f"{self.games:,} of {asked:,} games" if self.games != asked else f"{self.games:,} games"
        return f"{self.players[self.rated]} on the ladder of {self.game}: {many}, seed {self.seed}"


def ladder(
    game: str | Game,
    player: str | None = None,
    *,
    rungs: Sequence[str] | None = None,
    games: int = 20,
    seed: int = 0,
    workers: int | None = None,
    out: str | Path | None = None,
    move_deadline: float | None = None,
    progress: Callable[[TournamentProgress], object] | None = None,
    on: str | None = None,
) -> LadderResult:
    """Rate a player on the ladder of a game. Needs `pip install -e ".[arena]"`.

    The player (default: the recommended one) plays `games` games against every rung, and neighbouring rungs play as
    many against each other. `rungs` are the specs of another ladder, the weakest first. `out` is a folder with one file
    for each pairing: called again, the ladder resumes, also with more games or another player. Everything else is as in
    `match`.

    >>> import treetop as tt
    >>> result = tt.arena.ladder("nim(stones=7)", "uct(simulations=100)", rungs=["random"], games=2, workers=1)
    >>> result.games
    2
    """
    need_choix()
    found = need_two(load_game(game))
    playable, left_out = split_rungs(found, tuple(rungs_of(found) if rungs is None else rungs))
    if not playable:
        raise ConfigError(
            f"no rung of the ladder of {found.name} can be played: "
            + "; ".join(f"{rung}: {reason}" for rung, reason in left_out.items())
        )
    rated = recommended(found) if player is None else player
    names = (*playable, *([] if rated in playable else [rated]))
    if len(set(names)) < len(names) or len(names) < 2:
        raise ConfigError("a ladder needs a rung besides the player, and each rung once")
    number = names.index(rated)
    pairs = pairs_of(len(playable), number)
    terms = Terms(found, games, seed, OpeningSettings(), MAKE_PLAYER, move_deadline)
    roster = {name: name for name in names}
    matches, folder, interrupted = play_pairings(terms, roster, pairs, out, workers, progress, on)
    ratings = rate_all(len(names), matches, 0, 0.0, seed)
    if ratings is not None:
        cells = {pair: match.pentanomial for pair, match in matches.items()}
        ratings = _open(ratings, *unbounded(len(names), cells, ratings.anchor))
    return LadderResult(
        names, found.name, seed, matches, ratings, folder, interrupted, rated=number, left_out=left_out
    )  # fmt: skip


def pairs_of(rungs: int, rated: int) -> list[tuple[int, int]]:
    """Return the pairs of players that meet: neighbouring rungs, and the rated player and every rung.

    >>> pairs_of(3, 3)
    [(0, 1), (0, 3), (1, 2), (1, 3), (2, 3)]
    """
    neighbours = {(rung, rung + 1) for rung in range(rungs - 1)}
    return sorted(neighbours | {(min(one, rated), max(one, rated)) for one in range(rungs) if one != rated})


def _open(ratings: Ratings, below: frozenset[int], above: frozenset[int]) -> Ratings:
    """Return the ratings with infinite ends of intervals where the games do not bound them."""
    elo = tuple(
        Interval(
            rating.value,
            -math.inf if number in below else rating.low,
            math.inf if number in above else rating.high,
        )
        for number, rating in enumerate(ratings.elo)
    )
    return replace(ratings, elo=elo)
