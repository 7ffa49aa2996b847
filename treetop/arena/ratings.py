"""Ratings of many players from all their games: the Bradley-Terry model, fitted by choix, on the Elo scale, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treetop.arena.elo import Pentanomial, check_pentanomial
from treetop.errors import ConfigError, MissingExtraError
from treetop.stats import Interval

_ELO = 400 / math.log(10)
_VIRTUAL = (
    0.25  # wins that each side of a pairing is given beforehand, so that a player who lost no game has a rating too
)
_RESAMPLES = 400

Pairings = Mapping[tuple[int, int], Pentanomial]
"""For two players by their numbers, the pairs that they played: how many gave the first one 0, 1/2, 1, 3/2 and 2 points."""


@dataclass(frozen=True)
class Ratings:
    """A rating for each player, in the order in which the players were given; the anchor's is fixed."""

    elo: tuple[Interval, ...]
    anchor: int

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Plain values, by name."""
        return {name: rating.to_dict() for name, rating in zip(names, self.elo, strict=True)}


def need_choix() -> Any:
    """The package that fits ratings, or an error that says how to get it."""
    try:
        import choix
    except ImportError as error:
        raise MissingExtraError(
            "ratings of a tournament need the package choix: pip install 'treetop[arena]'"
        ) from error
    return choix


def bradley_terry(
    players: int, pairings: Pairings, *, anchor: int = 0, anchor_elo: float = 0.0, seed: int = 0
) -> Ratings:
    """The ratings that explain all results best; a draw is half a win for either side.

    The intervals are a bootstrap over pairs: each pairing is drawn anew from its own pairs, many times, and the middle 95% of the ratings
    are told. A pair won and lost as a whole, half each, is among those drawn from: a few equal pairs do not prove that all are equal.
    """
    if anchor not in range(players):
        raise ConfigError(f"the anchor must be one of the {players} players, not number {anchor}")
    counts = {pair: check_pentanomial(pentanomial) for pair, pentanomial in pairings.items() if sum(pentanomial)}
    _refuse_islands(players, list(counts))
    choix = need_choix()
    centre = _fit(choix, players, {pair: np.array(cells, float) for pair, cells in counts.items()})
    rng = np.random.default_rng(seed % 2**64)
    drawn = np.array([_fit(choix, players, _redrawn(counts, rng)) for _ in range(_RESAMPLES)])
    low, high = (np.quantile(drawn - drawn[:, [anchor]], share, axis=0) for share in (0.025, 0.975))
    centre -= centre[anchor]
    return Ratings(tuple(
        Interval(float(centre[i]) + anchor_elo, min(float(low[i]), float(centre[i])) + anchor_elo,
                 max(float(high[i]), float(centre[i])) + anchor_elo) for i in range(players)
    ), anchor)  # fmt: skip


def _redrawn(counts: Pairings, rng: np.random.Generator) -> dict[tuple[int, int], Any]:
    doubt = np.array([0.5, 0, 0, 0, 0.5])
    return {pair: rng.multinomial(sum(cells), (doubt + cells) / (sum(cells) + 1)) for pair, cells in counts.items()}


def _fit(choix: Any, players: int, counts: Mapping[tuple[int, int], Any]) -> Any:
    """Ratings on the Elo scale, with the mean 0."""
    wins = np.zeros((players, players))
    for (i, j), cells in counts.items():
        points, games = float(cells @ np.arange(5)) / 2, 2 * float(cells.sum())
        wins[i, j] += points + _VIRTUAL
        wins[j, i] += games - points + _VIRTUAL
    return choix.ilsr_pairwise_dense(wins, max_iter=10_000) * _ELO


def _refuse_islands(players: int, pairs: Sequence[tuple[int, int]]) -> None:
    """Ratings compare only players that are connected by games."""
    reached, frontier = {0}, [0]
    while frontier:
        here = frontier.pop()
        for pair in pairs:
            if here in pair:
                other = pair[0] if pair[1] == here else pair[1]
                if other not in reached:
                    reached.add(other)
                    frontier.append(other)
    if len(reached) < players:
        raise ConfigError(
            f"no rating can compare players {sorted(reached)} with the others: they have no finished pair of games"
        )
