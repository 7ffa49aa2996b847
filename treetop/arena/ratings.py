"""Rate many players from all their games: the Bradley-Terry model, fitted by choix, on the Elo scale, with
intervals.
"""

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
_VIRTUAL = 0.25  # wins added to each side of a pairing, so that a player who lost no game has a finite rating
_RESAMPLES = 400

Pairings = Mapping[tuple[int, int], Pentanomial]
"""For two players, by number, the pentanomial of their pairs for the first one."""


@dataclass(frozen=True)
class Ratings:
    """A rating for each player, in the order in which the players were given; the anchor's is fixed."""

    elo: tuple[Interval, ...]
    anchor: int

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Return plain values by name."""
        return {name: rating.to_dict() for name, rating in zip(names, self.elo, strict=True)}


def need_choix() -> Any:
    """Return the package that fits ratings, or raise an error that says how to install it."""
    try:
        import choix
    except ImportError as error:
        raise MissingExtraError("the ratings of a tournament need the package choix", extra="arena") from error
    return choix


def bradley_terry(
    players: int,
    pairings: Pairings,
    *,
    anchor: int = 0,
    anchor_elo: float = 0.0,
    seed: int = 0,
    resamples: int = _RESAMPLES,
) -> Ratings:
    """Fit the ratings that explain all results best; a draw is half a win for each side.

    The intervals are a bootstrap over pairs: each pairing is resampled `resamples` times from its own pairs, and the
    middle 95% of the ratings are reported. Half a pair won and half a pair lost are added to what is resampled: a few
    equal pairs do not prove that all are equal.
    """
    if anchor not in range(players):
        raise ConfigError(f"the anchor must be one of the {players} players, not number {anchor}")
    counts = {pair: check_pentanomial(pentanomial) for pair, pentanomial in pairings.items() if sum(pentanomial)}
    _refuse_islands(players, list(counts))
    choix = need_choix()
    centre = _fit(choix, players, {pair: np.array(cells, float) for pair, cells in counts.items()})
    rng = np.random.default_rng(seed % 2**64)
    drawn = np.array([_fit(choix, players, _redrawn(counts, rng)) for _ in range(resamples)])
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
    """Return ratings on the Elo scale, with mean 0."""
    wins = np.zeros((players, players))
    for (i, j), cells in counts.items():
        points, games = float(cells @ np.arange(5)) / 2, 2 * float(cells.sum())
        wins[i, j] += points + _VIRTUAL
        wins[j, i] += games - points + _VIRTUAL
    return choix.ilsr_pairwise_dense(wins, max_iter=10_000) * _ELO


def unbounded(players: int, pairings: Pairings, anchor: int) -> tuple[frozenset[int], frozenset[int]]:
    """Return the players whose rating, as a difference to the anchor's, the games do not bound from below, and those
    whose rating they do not bound from above.

    A rating is bounded from above through players who scored against it and are bounded themselves, and so on to the
    anchor; from below through players that it scored against.

    >>> below, above = unbounded(3, {(0, 1): (2, 1, 0, 0, 0), (1, 2): (4, 0, 0, 0, 0)}, 0)
    >>> sorted(below), sorted(above)
    ([], [2])
    """
    scored = {
        (i, j) for (one, other), cells in pairings.items() for i, j, lost in ((one, other, 0), (other, one, 4))
        if sum(cells) > cells[lost]
    }  # fmt: skip
    everyone = frozenset(range(players))
    return (
        everyone - _reached(anchor, {(j, i) for i, j in scored}),
        everyone - _reached(anchor, scored),
    )


def _reached(start: int, steps: set[tuple[int, int]]) -> frozenset[int]:
    reached, frontier = {start}, [start]
    while frontier:
        here = frontier.pop()
        for one, other in steps:
            if one == here and other not in reached:
                reached.add(other)
                frontier.append(other)
    return frozenset(reached)


def _refuse_islands(players: int, pairs: Sequence[tuple[int, int]]) -> None:
    """Raise ConfigError unless all players are connected by games."""
    reached = _reached(0, {*pairs, *((j, i) for i, j in pairs)})
    if len(reached) < players:
        raise ConfigError(
            f"no rating can compare players {sorted(reached)} with the others: they have no finished pair of games"
        )
