"""The result of a match of two players: counted game by game, as fields and as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treetop.arena.elo import Pentanomial, Rating, elo_of, rate
from treetop.arena.forfeits import Reasons, describe, reasons_of
from treetop.arena.sprt import Sprt, SprtState
from treetop.journal import Record
from treetop.stats import Interval, format_number, format_signed, sums_interval
from treetop.text import text_facts, text_table

PLAYERS = ("A", "B")
_MANY_SIZES = 4  # of returns: more than a win, a draw and a loss


@dataclass(frozen=True)
class MatchResult:
    """The state of a match, finished or not. Only complete pairs count; if a test is decided, only those that decided
    it.

    >>> import treetop as tt
    >>> result = tt.match("random", "greedy", "tic_tac_toe", games=4, seed=1, workers=1)
    >>> result.players, result.wins, result.draws, result.losses, result.score
    (('random', 'greedy'), 0, 1, 3, 0.125)
    """

    players: tuple[str, str]
    """The names of A and B."""
    game: str
    seed: int
    games: int
    """How many games count."""
    wins: int
    """Of player A, like draws and losses."""
    draws: int
    losses: int
    pentanomial: Pentanomial
    """Pairs with 0, 1/2, 1, 3/2 and 2 points for A."""
    rating: Rating
    sprt: SprtState | None
    forfeits: dict[str, int]
    """By player, A and B."""
    forfeit_reasons: dict[str, Reasons]
    """By player, each reason with the number of games."""
    first_player: tuple[int, int, int]
    """Wins, draws and losses of the first player to move."""
    mean_rewards: dict[str, float]
    """A's and B's mean return per game, for games whose returns are more than win, draw or loss."""
    advantage: Interval
    """By how much A's return exceeded B's per game, with an interval over the pairs."""
    graded: bool
    """Whether more than three different returns were seen, so that the score alone does not show how much was won."""
    clairvoyant: tuple[str, ...]
    """Those of A and B that saw hidden information."""
    asked: int
    """The requested number of games."""
    finished: int
    """How many of them are played, in complete pairs or not."""
    out: Path | None = None
    """The file of the games."""
    interrupted: bool = False
    """Whether Ctrl-C ended it."""

    @property
    def score(self) -> float:
        """Player A's mean score per game."""
        return self.rating.score.value

    @property
    def leader(self) -> int | None:
        """The player that is ahead, 0 or 1."""
        return None if self.score == 0.5 else int(self.score < 0.5)

    @property
    def complete(self) -> bool:
        """Whether there is nothing left to play: all games are played, or the test is decided."""
        return self.finished >= self.asked or (self.sprt is not None and self.sprt.decided)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as `--json` prints them. Infinite values are None."""
        wins, draws, losses = self.first_player
        first = (wins + draws / 2) / self.games if self.games else None
        return {
            "players": list(self.players),
            "game": self.game,
            "seed": self.seed,
            "games": self.games,
            "asked": self.asked,
            "finished": self.finished,
            "complete": self.complete,
            "interrupted": self.interrupted,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "pentanomial": list(self.pentanomial),
            **self.rating.to_dict(),
            "sprt": None if self.sprt is None else self.sprt.to_dict(),
            "forfeits": dict(self.forfeits),
            "forfeit_reasons": {player: dict(reasons) for player, reasons in self.forfeit_reasons.items()},
            "first_player": {"wins": wins, "draws": draws, "losses": losses, "score": first},
            "mean_rewards": dict(self.mean_rewards),
            "advantage": self.advantage.to_dict(),
            "clairvoyant": list(self.clairvoyant),
            "out": None if self.out is None else str(self.out),
        }

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return headings and a row for each player."""
        head = ["player", "wins", "draws", "losses", "score"]
        a = [self.players[0], f"{self.wins:,}", f"{self.draws:,}", f"{self.losses:,}", f"{self.score:.1%}"]
        b = [self.players[1], f"{self.losses:,}", f"{self.draws:,}", f"{self.wins:,}", f"{1 - self.score:.1%}"]
        return head, [a, b]

    def facts(self) -> dict[str, str]:
        """Return further facts by name."""
        rating = self.rating
        said = {
            "pairs": f"{', '.join(map(str, self.pentanomial))} with 0, 1/2, 1, 3/2, 2 points",
            "Elo": f"{rating.elo.signed()}, 95% interval",
            "normalized Elo": rating.normalized_elo.signed(),
            "superiority": f"{_likely(rating.superiority)} that {self.players[0]} is the stronger player",
        }
        if self.games:
            said["first player"] = self._first_player()
        if self.graded:
            a, b = (format_number(self.mean_rewards[key]) for key in PLAYERS)
            said["mean return"] = f"{a} and {b} a game; {self.players[0]} received {self.advantage} more, 95% interval"
        if any(self.forfeits.values()):
            said["forfeits"] = describe(zip(self.players, (self.forfeit_reasons[key] for key in PLAYERS), strict=True))
        if self.clairvoyant:
            said["clairvoyant"] = (
                f"{', '.join(self.players[PLAYERS.index(key)] for key in self.clairvoyant)}: saw hidden information"
            )
        if self.sprt is not None:
            said["SPRT"] = str(self.sprt)
        return said

    def _first_player(self) -> str:
        wins, draws, losses = self.first_player
        share = (wins + draws / 2) / self.games
        return f"scored {share:.1%} ({wins} wins, {draws} draws, {losses} losses; {format_signed(elo_of(share))} Elo)"

    def title(self) -> str:
        """Return a one-line title: players, game, number of games."""
        many = f"{self.games:,} of {self.asked:,} games" if self.games != self.asked else f"{self.games:,} games"
        return f"{self.players[0]} against {self.players[1]}: {self.game}, {many}, seed {self.seed}"

    def __str__(self) -> str:
        return "\n\n".join([self.title(), text_table(*self.rows()), text_facts(self.facts())])


def _likely(chance: float) -> str:
    """Return a probability as text that never claims certainty."""
    return (
        "more than 99.9% likely"
        if chance > 0.999
        else "less than 0.1% likely"
        if chance < 0.001
        else f"{chance:.1%} likely"
    )


@dataclass
class _Counts:
    """Sums over pairs."""

    results: list[int] = field(default_factory=lambda: [0, 0, 0])
    pentanomial: list[int] = field(default_factory=lambda: [0] * 5)
    forfeits: dict[str, list[Record]] = field(default_factory=lambda: {player: [] for player in PLAYERS})
    first: list[int] = field(default_factory=lambda: [0, 0, 0])
    rewards: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PLAYERS, 0.0))
    games: int = 0
    more: list[float] = field(
        default_factory=lambda: [0.0, 0.0]
    )  # A's return minus B's per game of a pair: the sum, and the sum of the squares
    sizes: set[float] = field(default_factory=set)  # of returns; four are as good as all
    clairvoyant: set[str] = field(default_factory=set)

    def add(self, pair: tuple[Record, Record]) -> None:
        more = sum(record["rewards"]["A"] - record["rewards"]["B"] for record in pair) / 2
        self.more = [self.more[0] + more, self.more[1] + more * more]
        if len(self.sizes) < _MANY_SIZES:
            self.sizes.update(value for record in pair for value in record["rewards"].values())
        self.pentanomial[round(2 * sum(record["score"] for record in pair))] += 1
        for record in pair:
            points = record["score"]
            self.games += 1
            self.results[_cell(points)] += 1
            self.first[_cell(points if record["seats"][0] == "A" else 1 - points)] += 1
            if record["forfeit"] is not None:
                self.forfeits[record["forfeit"]].append(record)
            self.clairvoyant.update(record.get("clairvoyant", ()))
            for player in PLAYERS:
                self.rewards[player] += record["rewards"][player]


def _cell(points: float) -> int:
    return {1.0: 0, 0.5: 1, 0.0: 2}[points]


class Tally:
    """Count games as they come in, in any order. A test reads the pairs in the order of their indices, so timing has no
    influence.
    """

    def __init__(
        self,
        players: tuple[str, str],
        game: str,
        seed: int,
        asked: int,
        sprt: Sprt | None = None,
        out: Path | None = None,
    ) -> None:
        self._about: dict[str, Any] = {"players": players, "game": game, "seed": seed, "asked": asked, "out": out}
        self._asked = asked
        self._sprt = sprt
        self._half: dict[int, Record] = {}
        self._waiting: dict[int, tuple[Record, Record]] = {}  # complete pairs whose turn in the test has not come
        self._all, self._prefix = _Counts(), _Counts()
        self._next = 0
        self._finished = 0
        self._state = None if sprt is None else sprt.state((0, 0, 0, 0, 0))

    @property
    def decided(self) -> bool:
        """Whether the test is over."""
        return self._state is not None and self._state.decided

    @property
    def finished(self) -> int:
        """How many of the requested games are played."""
        return self._finished

    def add(self, record: Record) -> None:
        """Count a finished game. Games beyond the requested number do not count."""
        if record["index"] >= self._asked:
            return
        self._finished += 1
        other = self._half.pop(record["pair"], None)
        if other is None:
            self._half[record["pair"]] = record
            return
        pair = (other, record)
        self._all.add(pair)
        if self._sprt is not None and not self.decided:
            self._waiting[record["pair"]] = pair
            self._test(self._sprt)

    def _test(self, sprt: Sprt) -> None:
        while not self.decided and self._next in self._waiting:
            self._prefix.add(self._waiting.pop(self._next))
            self._next += 1
            self._state = sprt.state(self._prefix.pentanomial)

    def standing(self) -> MatchResult:
        """Return the result so far."""
        return self.result()

    def result(self, *, interrupted: bool = False) -> MatchResult:
        """Return the result so far."""
        counts = self._prefix if self.decided else self._all
        wins, draws, losses = counts.results
        pentanomial: Any = tuple(counts.pentanomial)
        games = max(counts.games, 1)
        return MatchResult(
            **self._about,
            games=counts.games,
            wins=wins,
            draws=draws,
            losses=losses,
            pentanomial=pentanomial,
            rating=rate(pentanomial),
            sprt=self._state,
            forfeits={player: len(lost) for player, lost in counts.forfeits.items()},
            forfeit_reasons={player: reasons_of(lost) for player, lost in counts.forfeits.items()},
            first_player=tuple(counts.first),  # type: ignore[arg-type]
            mean_rewards={player: total / games for player, total in counts.rewards.items()},
            advantage=sums_interval(sum(counts.pentanomial), *counts.more),
            graded=len(counts.sizes) >= _MANY_SIZES,
            clairvoyant=tuple(sorted(counts.clairvoyant)),
            finished=self._finished,
            interrupted=interrupted,
        )
