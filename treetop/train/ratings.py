"""Ratings of a training run: matches against fixed players, and one Elo scale for all of them.

The anchors are `random`, whose Elo is 0, and plain searches by rollouts. A network that beats `random` in every game is
still compared with it by the other anchors, which play each other once, at the first rating. Two weak searches, which
the network does not meet, connect `random` with them: without them nearly every game would be won, and the scale open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from treetop.arena.elo import Pentanomial, check_pentanomial, score_of
from treetop.arena.elo import rate as score_of_pairs
from treetop.arena.matches import MatchProgress, match
from treetop.arena.ratings import bradley_terry
from treetop.arena.result import MatchResult
from treetop.compiler.preparing import thinking_clock
from treetop.errors import ConfigError, MissingExtraError
from treetop.evaluators.networks.model import load_model
from treetop.game.definition import Game
from treetop.stats import Interval
from treetop.train.accuracy import SIMULATIONS, accuracy, exact_positions
from treetop.train.options import TrainOptions

_LADDER = ("random", *(f"uct(simulations={count})" for count in (10, 30, 100, 1000, 10000)))
_BRIDGES = _LADDER[1:3]  # they only connect `random` with the others, which win nearly all games against it
ANCHORS = tuple(player for player in _LADDER if player not in _BRIDGES)
"""The players against which a network is rated, the weakest first. A game that is too slow for the last ones has
fewer.
"""
_STEP = 10  # times the simulations of the anchor before
_SHARE = 0.03  # of a run's time that the matches against one anchor may take
_LINK_GAMES = 200  # between two players of the ladder, at most
_CERTAIN = 0.03  # an expected score below it, or as much below 1
_LABELLING_SHARE, _LABELLING_SECONDS = 0.03, 20.0  # of a run's time, and at most, for exact values

Counts = dict[str, list[int]]
"""For each opponent, the pairs with 0, 1/2, 1, 3/2 and 2 points."""
_Player = int | str
"""An anchor by its name, or the place of a rating."""
_Result = tuple[_Player, _Player, Pentanomial]


@dataclass(frozen=True)
class Rated:
    """The strength of the network after an iteration: a line of `metrics.jsonl`.

    >>> Rated(1, 2.5, {"random": 0.9}, {"random": [0, 0, 2, 0, 8]}).scores["random"]
    0.9
    """

    iteration: int
    seconds: float
    """Seconds of the run so far."""
    scores: dict[str, float]
    """The share of the points against each anchor."""
    counts: Counts = field(default_factory=dict)
    """The results against each anchor: pairs of games with 0, 1/2, 1, 3/2 and 2 points."""
    links: dict[str, Counts] = field(default_factory=dict)
    """The results of the anchors, and of players that connect them, against each other; in the first rating."""
    elo: list[float] | None = None
    """Elo with the ends of its 95% interval, from the ratings so far. `random` has 0."""
    accuracy: dict[str, float] = field(default_factory=dict)
    """The share of the labelled positions whose value is kept: by the raw `policy`, by a `search` of 32 simulations and
    by `chance`; `positions` is their number. Empty where there are no exact values.
    """
    took: float = 0.0
    """Seconds that the rating took."""
    past: list[int] = field(default_factory=list)
    """The result against the network of the rating before, as pairs; empty in the first rating."""

    @property
    def past_score(self) -> float | None:
        """The share of the points against the network of the rating before."""
        found = _valid({"": self.past})
        return score_of_pairs(found[0][1]).score.value if found else None


@dataclass(frozen=True)
class EloCurve:
    """The Elo of the rated iterations of a run, and of the anchors, on one scale.

    >>> curve = fit_elo([Rated(3, 60.0, {}, {"random": [1, 0, 4, 0, 5]})])
    >>> curve.points[0].iteration, round(curve.points[0].elo.value), curve.anchors["random"].value
    (3, 143, 0.0)
    """

    points: tuple[EloPoint, ...]
    anchors: dict[str, Interval]


@dataclass(frozen=True)
class EloPoint:
    """The Elo of a rated iteration, with its 95% interval.

    >>> EloPoint(3, 60.0, Interval(144.0, 20.0, 290.0)).elo.signed()
    '+144 (+20.0 to +290)'
    """

    iteration: int
    seconds: float
    elo: Interval


def fit_elo(events: Sequence[object]) -> EloCurve:
    """Fit one Bradley-Terry model to all ratings among the events of a run; `random` has Elo 0.

    A checkpoint's games against an anchor are left out if their result is nearly certain and another anchor connects
    it: they say almost nothing, and the doubt about a few equal results would widen every interval. Ratings without
    counts are left out too, and players who are not connected with `random` by games. The intervals include the
    uncertainty of the anchors. Needs `pip install -e ".[arena]"`.

    >>> fit_elo([]).points
    ()
    """
    rated = [event for event in events if isinstance(event, Rated)]
    results = list[_Result]()
    for place, event in enumerate(rated):
        results += [(place, anchor, counts) for anchor, counts in _valid(event.counts)]
        results += [(place, place - 1, counts) for _, counts in _valid({"": event.past}) if place]
        results += [(one, other, counts) for one, found in event.links.items() for other, counts in _valid(found)]
    elo = _fit(_uncertain(results, _fit(results, intervals=False)))
    places = sorted(player for player in elo if isinstance(player, int))
    met = dict.fromkeys(anchor for event in rated for anchor in event.counts)
    return EloCurve(
        tuple(EloPoint(rated[place].iteration, rated[place].seconds, elo[place]) for place in places),
        {anchor: elo[anchor] for anchor in met if anchor in elo},
    )


def _fit(results: Sequence[_Result], *, intervals: bool = True) -> dict[_Player, Interval]:
    """Return the Elo of each player whom games connect with `random`; without intervals it is quick."""
    players = _connected(results)
    if len(players) < 2:
        return {}
    numbers, pairings = {player: number for number, player in enumerate(players)}, dict[tuple[int, int], Pentanomial]()
    for one, other, counts in results:
        if one in numbers and one != other:
            pair = numbers[one], numbers[other]
            before = pairings.get(pair, (0, 0, 0, 0, 0))
            pairings[pair] = check_pentanomial([a + b for a, b in zip(before, counts, strict=True)])
    options = {} if intervals else {"resamples": 1}
    return dict(zip(players, bradley_terry(len(players), pairings, **options).elo, strict=True))


def _uncertain(results: Sequence[_Result], elo: Mapping[_Player, Interval]) -> list[_Result]:
    """Return the results without those of checkpoints that were nearly certain, if enough are left."""

    def open_(result: _Result) -> bool:
        one, other, _ = result
        if isinstance(one, str) or one not in elo:
            return True
        return _CERTAIN <= score_of(elo[one].value - elo[other].value) <= 1 - _CERTAIN

    kept = [result for result in results if open_(result)]
    connected = set(_connected(kept))
    return kept + [result for result in results if result not in kept and result[0] not in connected]


def rate(
    folder: Path,
    game: Game,
    options: TrainOptions,
    iteration: int,
    earlier: Sequence[Rated],
    interrupted: Callable[[], bool],
) -> Rated:
    """Rate the network in a folder; raise KeyboardInterrupt as soon as `interrupted` returns true.

    `earlier` are the ratings of the run so far: the first one chooses the anchors and labels positions.
    """
    clock = thinking_clock()
    start = clock.now()
    games = options.rating_games + options.rating_games % 2
    known = next((event.links for event in earlier if event.links), None)
    links = _play_anchors(game, options, games, interrupted) if known is None else {}
    spec = f"net({str(folder)!r}, simulations={SIMULATIONS})"
    anchors = [ANCHORS[0], *(anchor for anchor in known or links if anchor not in _BRIDGES)]
    found = {anchor: _play(spec, anchor, game, games, iteration, interrupted) for anchor in anchors}
    past = list[int]()
    if earlier and (before := rated_network(folder, earlier[-1].iteration)).is_dir():
        opponent = f"net({str(before)!r}, simulations={SIMULATIONS})"
        past = list(_play(spec, opponent, game, games, iteration, interrupted).pentanomial)
    network = load_model(folder, game=game)
    network.save(rated_network(folder, iteration))
    seconds = min(_LABELLING_SECONDS, _LABELLING_SHARE * 60.0 * options.minutes)
    positions = exact_positions(folder, game, seconds=seconds, interrupted=interrupted)
    kept = accuracy(network, positions) if positions else {}
    event = Rated(
        iteration, 0.0, {anchor: result.score for anchor, result in found.items()},
        {anchor: list(result.pentanomial) for anchor, result in found.items()}, links, None, kept,
        past=past,
    )  # fmt: skip
    return replace(event, elo=_newest_elo([*earlier, event]), took=clock.now() - start)


def rated_network(folder: Path, iteration: int) -> Path:
    """Return the folder of the network that was rated after an iteration.

    >>> str(rated_network(Path("run"), 12))
    'run/rated/000012'
    """
    return folder / "rated" / f"{iteration:06d}"


def _newest_elo(events: Sequence[Rated]) -> list[float] | None:
    try:
        elo = fit_elo(events).points[-1].elo
    except MissingExtraError:
        return None
    return [elo.value, elo.low, elo.high]


def _play_anchors(
    game: Game, options: TrainOptions, games: int, interrupted: Callable[[], bool]
) -> dict[str, dict[str, list[int]]]:
    """Play each player of the ladder against the one before it, as often as a network or more where that is quick.

    An anchor is left out, and the stronger ones too, if its matches would take too much of the run: it has ten times
    the simulations of the one before.
    """
    clock, links = thinking_clock(), dict[str, dict[str, list[int]]]()
    allowed = _SHARE * 60.0 * options.minutes / max(options.ratings, 1)
    for weaker, stronger in pairwise(_LADDER):
        start = clock.now()
        found = list(_play(stronger, weaker, game, games, options.seed, interrupted).pentanomial)
        seconds = max(clock.now() - start, 1e-9)
        more = min(_LINK_GAMES - games, 2 * int(games * allowed / seconds / 4))
        if more > 0:
            again = _play(stronger, weaker, game, more, options.seed + 1, interrupted).pentanomial
            found = [a + b for a, b in zip(found, again, strict=True)]
        links[stronger] = {weaker: found}
        if stronger not in _BRIDGES and _STEP * seconds > allowed:
            break
    return links


def _play(
    player: str, opponent: str, game: Game, games: int, seed: int, interrupted: Callable[[], bool]
) -> MatchResult:
    def look(_: MatchProgress) -> None:
        if interrupted():
            raise KeyboardInterrupt

    found = match(player, opponent, game, games=games, seed=seed, workers=1, progress=look)
    if found.interrupted:
        raise KeyboardInterrupt
    return found


def _valid(counts: Counts) -> list[tuple[str, Pentanomial]]:
    """Return the results that are pentanomials with at least one pair: the text of a file may be anything."""
    found = []
    for anchor, cells in counts.items():
        try:
            pentanomial = check_pentanomial(cells)
        except ConfigError:
            continue
        if sum(pentanomial):
            found.append((anchor, pentanomial))
    return found


def _connected(results: Sequence[_Result]) -> list[_Player]:
    """Return the players whom games connect with `random`, which is the first."""
    players, waiting = list[_Player]([ANCHORS[0]]), list[_Player]([ANCHORS[0]])
    while waiting:
        here = waiting.pop()
        met = [other if one == here else one for one, other, _ in results if here in (one, other)]
        new = [player for player in dict.fromkeys(met) if player not in players]
        players += new
        waiting += new
    return players
