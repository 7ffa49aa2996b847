"""A match: two players or as many as a game has, as many processes as you like; every finished game is on the disk, and the rest can be resumed.

Everything random comes from the match's seed and the number of a game. So a match that was interrupted, or killed, and resumed, is game for
game the match that was not; and so is one with more workers, as long as no player looks at a clock.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from treetop import checks
from treetop.arena.log import MATCH, ROUNDS, GameLog, versions
from treetop.arena.many import ManyResult, ManyTally
from treetop.arena.openings import Openings, OpeningSettings
from treetop.arena.playing import MAKE_PLAYER, SETUP, GameTask, Task, maker
from treetop.arena.result import MatchResult, Tally
from treetop.arena.sprt import Sprt
from treetop.errors import ConfigError, TreetopError
from treetop.game.definition import Game
from treetop.game.registry import load_game
from treetop.journal import Record
from treetop.players.player import Player, prepare
from treetop.workers.pool import Pool
from treetop.workers.units import Outcome, Unit

C = TypeVar("C", bound="Contest")


class MatchError(TreetopError):
    """A game could not be played, by no player's fault that a forfeit would punish. What was finished is safe."""


class Counter(Protocol):
    """What counts finished games, and says what they show."""

    @property
    def finished(self) -> int:
        """How many of the games that were asked for are played."""
        ...

    @property
    def decided(self) -> bool:
        """Whether nothing more is needed."""
        ...

    def add(self, record: Record) -> None:
        """Count a finished game."""
        ...

    def standing(self) -> Any:
        """What is known now, at a glance: asked for after every game."""
        ...

    def result(self, *, interrupted: bool = False) -> Any:
        """What is known now, in full."""
        ...


@dataclass(frozen=True)
class MatchProgress:
    """How far a match has come; given to the callback after every game."""

    result: Any
    """What is known now: of two players a `MatchResult`, else the mean return of each player so far."""
    finished: int
    """Games that are played, those included that were resumed."""
    asked: int
    played: int
    """Games of this call, without those that were resumed."""
    elapsed: float
    """Seconds of this call so far."""
    rate: float
    """Games a second since the first one was finished; 0 until then. The time that players need to start does not count."""

    @property
    def remaining(self) -> float | None:
        """Seconds until all games are played, at this rate."""
        left = self.asked - self.finished
        return left / self.rate if self.rate > 0 else None


@dataclass(frozen=True)
class Terms:
    """What all games of a match, or of a tournament, have in common. Checks itself."""

    game: Game
    games: int
    seed: int
    openings: OpeningSettings
    make_player: str = MAKE_PLAYER
    move_deadline: float | None = None

    def __post_init__(self) -> None:
        self._check_games()
        checks.whole("seed", self.seed)
        checks.number("move_deadline", self.move_deadline, above=0, finite=False, unit="seconds", optional=True)

    def _check_games(self) -> None:
        many = self.game.facts.players
        if many == 1:
            raise ConfigError(
                f"a match needs somebody to play against, and {self.game.name} is played by one: `evaluate` compares players there"
            )
        if not checks.is_whole(self.games) or self.games < many or self.games % many:
            what = "an even number of at least 2, since each opening is played with both colours" if many == 2 else (
                f"a multiple of {many}, since each opening is played from every seat")  # fmt: skip
            raise ConfigError(f"games must be {what}; not {self.games!r}")

    @property
    def group(self) -> int:
        """How many games share an opening and a deal: one a seat."""
        return self.game.facts.players

    def header(self, specs: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
        """The first line of a match's file."""
        return {
            "game": self.game.source or self.game.name,
            "rules": self.game.digest,
            "players": list(specs),
            "names": list(names),
            "seed": self.seed,
            "openings": self.openings.to_dict(self.game),
            "make_player": self.make_player,
            "move_deadline": self.move_deadline,
            "versions": versions(),
        }

    def check_players(self, specs: Sequence[str]) -> None:
        """Make and prepare each player once: a wrong text, or an engine that cannot play, is an error before anything begins.

        What has to be compiled is then in the cache before the workers start.
        """
        make = maker(self.make_player)
        for spec in specs:
            player = make(spec, self.game)
            if not isinstance(player, Player):
                raise ConfigError(
                    f"{self.make_player} made {player!r} of {spec}, which is no player: it lacks name, begin, choose, observe or close"
                )
            try:
                prepare(player, self.game)
            finally:
                player.close()


class Contest:
    """Players, their games so far, and what they say."""

    def __init__(self, specs: tuple[str, ...], names: tuple[str, ...], log: GameLog, tally: Counter) -> None:
        self.specs, self.names, self.log, self.tally = specs, names, log, tally

    def task(self, index: int, opening: tuple[Any, ...], seed: int) -> Task:
        """One of its games."""
        return GameTask(index, opening, self.specs, seed)

    def resume(self) -> None:
        """Count what the log holds already."""
        for index in sorted(self.log.records):
            self.tally.add(self.log.records[index])

    @property
    def over(self) -> bool:
        """Whether a test has decided it."""
        return self.tally.decided

    @property
    def title(self) -> str:
        """Who plays."""
        return " against ".join(self.names)


class Pairing(Contest):
    """Two players."""

    tally: Tally

    def __init__(
        self, terms: Terms, specs: tuple[str, str], names: tuple[str, str], out: Path | None, sprt: Sprt | None = None
    ) -> None:
        tally = Tally(names, terms.game.name, terms.seed, terms.games, sprt, out)
        super().__init__(specs, names, GameLog(out, terms.header(specs, names), MATCH), tally)


def need_two(game: Game) -> Game:
    """A game for two, or an error that says what would be right."""
    many = game.facts.players
    if many == 2:
        return game
    other = (
        "`treetop evaluate` compares players of such a game"
        if many == 1
        else f"a match of {many} takes {many} players (`match_many`)"
    )
    raise ConfigError(f"this needs a game for two, and {game.name} is played by {many}: {other}")


def match(
    player_a: str,
    player_b: str,
    game: str | Game,
    *,
    games: int = 100,
    seed: int = 0,
    workers: int | None = None,
    out: str | Path | None = None,
    sprt: Sprt | None = None,
    opening_plies: int | None = None,
    balanced: bool = True,
    move_deadline: float | None = None,
    make_player: str = MAKE_PLAYER,
    names: tuple[str, str] | None = None,
    progress: Callable[[MatchProgress], object] | None = None,
) -> MatchResult:
    """Play a match and say what it shows. Called again with the same `out` it goes on where it was.

    Players are texts such as `uct(simulations=1000)`; `make_player`, a function under `@treetop.player` as `module:function`, turns
    a text and a game into a `Player`. `games` is the most that are played; with `sprt` it ends as soon as the test is decided. `workers` are processes, one a
    core if not given; with 1 all is played in this one. Ctrl-C ends it with what is known.
    """
    terms = Terms(
        need_two(load_game(game)), games, seed, OpeningSettings(opening_plies, balanced), make_player, move_deadline
    )
    pairing = Pairing(
        terms, (player_a, player_b), names or (player_a, player_b), None if out is None else Path(out), sprt
    )
    with pairing.log:
        pairing.resume()
        interrupted = play_contests(terms, [pairing], workers, progress and (lambda _, now: progress(now)))
    return pairing.tally.result(interrupted=interrupted)


def match_many(
    players: Sequence[str],
    game: str | Game,
    *,
    games: int = 99,
    seed: int = 0,
    workers: int | None = None,
    out: str | Path | None = None,
    opening_plies: int | None = None,
    balanced: bool = True,
    move_deadline: float | None = None,
    make_player: str = MAKE_PLAYER,
    names: Sequence[str] | None = None,
    progress: Callable[[MatchProgress], object] | None = None,
) -> ManyResult:
    """Play a match of three players or more, one for each seat of the game, and say what each received.

    Each opening and each deal is played from every seat: in a round of as many games as there are players everybody moves on by one seat. There is
    no Elo and no sequential test here: both are about two. All else is as in `match`.
    """
    terms = Terms(load_game(game), games, seed, OpeningSettings(opening_plies, balanced), make_player, move_deadline)
    many = terms.game.facts.players
    if many < 3 or len(players) != many:
        raise ConfigError(
            f"{terms.game.name} is played by {many}, so name {many} players, not {len(players)}"
            if many > 2
            else (f"{terms.game.name} is played by two: `match` is for them")
        )
    specs, called = tuple(players), tuple(names or players)
    file = None if out is None else Path(out)
    tally = ManyTally(called, terms.game.name, terms.seed, terms.games, file)
    contest = Contest(specs, called, GameLog(file, terms.header(specs, called), ROUNDS), tally)
    with contest.log:
        contest.resume()
        interrupted = play_contests(terms, [contest], workers, progress and (lambda _, now: progress(now)))
    return tally.result(interrupted=interrupted)


def play_contests(
    terms: Terms,
    pairings: Sequence[C],
    workers: int | None,
    progress: Callable[[C, MatchProgress], object] | None = None,
) -> bool:
    """Play all games that are missing, the pairings in turns; whether Ctrl-C ended it. The logs must be open."""
    if all(pairing.over or pairing.tally.finished >= terms.games for pairing in pairings):
        return False
    workers = _cores() if workers is None else workers
    source = _source(terms.game, workers)
    # A player that cannot even be interrupted: then the process is ended, and the match stops.
    deadline = None if terms.move_deadline is None else 60 + 2 * terms.move_deadline * terms.game.facts.max_length
    run = _Run(terms, pairings, progress)
    try:
        specs = tuple(dict.fromkeys(spec for pairing in pairings for spec in pairing.specs))
        terms.check_players(specs)
        with Pool(
            SETUP, (source, terms.make_player, terms.move_deadline, specs), workers=workers, deadline=deadline
        ) as pool:
            for outcome in pool.run(run.units()):
                run.take(outcome)
                if all(pairing.over for pairing in pairings):
                    break
    except KeyboardInterrupt:
        return True
    run.raise_failure()
    return False


class _Run(Generic[C]):
    """One call's worth of games."""

    def __init__(
        self, terms: Terms, pairings: Sequence[C], progress: Callable[[C, MatchProgress], object] | None
    ) -> None:
        self._terms, self._pairings, self._progress = terms, pairings, progress
        self._openings = Openings(terms.game, terms.openings, terms.seed, _known_openings(pairings, terms.group))
        self._owners: dict[str, tuple[C, int]] = {}
        self._failure: tuple[C, int, Outcome] | None = None
        self._played = 0
        self._began = time.perf_counter()
        self._first = 0.0  # when the first game was finished

    def units(self) -> Iterator[Unit]:
        """The missing games: the first pair of every pairing, then the second, so that what is known grows evenly."""
        group = self._terms.group
        for index in range(0, self._terms.games, group):
            for number, pairing in enumerate(self._pairings):
                for game in range(index, index + group):
                    if self._failure is not None:
                        return
                    if pairing.over or game in pairing.log.records:
                        continue
                    name = f"{number}/{game}"
                    self._owners[name] = (pairing, game)
                    yield Unit(name, (pairing.task(game, self._openings[game // group].actions, self._terms.seed),))

    def take(self, outcome: Outcome) -> None:
        """Write a finished game down, and count it. A game that failed is the last: what is under way is finished, nothing new begun."""
        pairing, index = self._owners.pop(outcome.unit.id)
        if not outcome.ok:
            pairing.log.note_error(index, outcome.reason, outcome.traceback)
            self._failure = self._failure or (pairing, index, outcome)
            return
        pairing.log.append(outcome.value)
        pairing.tally.add(outcome.value)
        self._played += 1
        now = time.perf_counter()
        self._first = self._first or now
        if self._progress is not None:
            rate = (self._played - 1) / (now - self._first) if now > self._first else 0.0
            tally = pairing.tally
            self._progress(
                pairing,
                MatchProgress(
                    tally.standing(), tally.finished, self._terms.games, self._played, now - self._began, rate
                ),
            )

    def raise_failure(self) -> None:
        """Tell what made the match stop."""
        if self._failure is None:
            return
        pairing, index, outcome = self._failure
        safe = (
            f"{pairing.tally.finished} finished games are safe in {pairing.log.path}"
            if pairing.log.path
            else "nothing was to be kept"
        )
        trace = f"\n{outcome.traceback.rstrip()}" if outcome.traceback else ""
        raise MatchError(f"game {index} of {pairing.title} could not be played: {outcome.reason}; {safe}{trace}")


def _cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _known_openings(pairings: Sequence[Contest], group: int) -> dict[int, tuple[Any, ...]]:
    return {
        record["index"] // group: tuple(record.get("opening", ()))
        for pairing in pairings
        for record in pairing.log.records.values()
    }


def _source(game: Game, workers: int) -> str | Game:
    """What workers find the game by: itself where they are in this process, its name where they are not."""
    if workers <= 1:
        return game
    name = game.source or game.name
    try:
        found = load_game(name)
    except TreetopError as error:
        raise ConfigError(
            f"{name} cannot be found by that name in another process: name it as module:Name, or ask for workers=1 ({error})"
        ) from error
    if found.digest != game.digest:
        raise ConfigError(
            f"another process would find other rules under the name {name}: name it as module:Name, or ask for workers=1"
        )
    return name
