"""Play a match of two players, or of as many as a game has, in any number of processes. Finished games are saved, and a
match can be resumed.

Everything random comes from the match's seed and the number of a game. So a match that was interrupted or killed and
then resumed is game for game the same as one that was not; and so is one with more workers, unless a player uses a
clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from treetop import checks
from treetop.arena.books import Book, Opening
from treetop.arena.log import MATCH, ROUNDS, GameLog, versions
from treetop.arena.many import ManyResult, ManyTally
from treetop.arena.openings import OpeningSettings, choose_openings
from treetop.arena.playing import MAKE_PLAYER, SETUP, GameTask, Task, maker
from treetop.arena.result import MatchResult, Tally
from treetop.arena.sprt import Sprt
from treetop.errors import ConfigError, TreetopError
from treetop.game.definition import Game
from treetop.game.registry import load_game, name_for_workers
from treetop.journal import Record
from treetop.players.clock import TimeControl, show_clock
from treetop.players.protocol import Player, prepare
from treetop.workers.places import in_this_process
from treetop.workers.pool import Pool
from treetop.workers.sending import Luggage
from treetop.workers.units import Outcome, Unit

C = TypeVar("C", bound="Contest")


class MatchError(TreetopError):
    """A game could not be played, for a reason that is no player's forfeit. The finished games are saved.

    >>> import treetop as tt
    >>> try:
    ...     result = tt.match("random", "greedy", "tic_tac_toe", games=2, seed=1, workers=1)
    ... except tt.arena.MatchError as error:
    ...     print(error)
    >>> result.games
    2
    """


class Counter(Protocol):
    """Counts finished games and returns a result."""

    @property
    def finished(self) -> int:
        """How many of the requested games are played."""
        ...

    @property
    def decided(self) -> bool:
        """Whether no more games are needed."""
        ...

    def add(self, record: Record) -> None:
        """Count a finished game."""
        ...

    def standing(self) -> Any:
        """Return a quick summary so far; called after every game."""
        ...

    def result(self, *, interrupted: bool = False) -> Any:
        """Return the full result so far."""
        ...


@dataclass(frozen=True)
class MatchProgress:
    """The progress of a match; passed to the callback after every game.

    >>> import treetop as tt
    >>> reports = []
    >>> result = tt.match("random", "greedy", "tic_tac_toe", games=4, seed=1, workers=1, progress=reports.append)
    >>> [report.finished for report in reports], reports[-1].asked
    ([1, 2, 3, 4], 4)
    """

    result: Any
    """The result so far: a `MatchResult` for two players, else the mean return of each player."""
    finished: int
    """Games that are played, resumed ones included."""
    asked: int
    played: int
    """Games of this call, without resumed ones."""
    elapsed: float
    """Seconds of this call so far."""
    rate: float
    """Games per second since the first one was finished; 0 until then. The time that players need to start does not
    count.
    """

    @property
    def remaining(self) -> float | None:
        """Seconds until all games are played, at this rate."""
        left = self.asked - self.finished
        return left / self.rate if self.rate > 0 else None


@dataclass(frozen=True)
class Terms:
    """The conditions that all games of a match or a tournament share. Checks itself."""

    game: Game
    games: int
    seed: int
    openings: OpeningSettings | Book
    make_player: str = MAKE_PLAYER
    move_deadline: float | None = None
    clock: TimeControl | None = None

    def __post_init__(self) -> None:
        self._check_games()
        checks.whole("seed", self.seed)
        checks.number("move_deadline", self.move_deadline, above=0, finite=False, unit="seconds", optional=True)

    def _check_games(self) -> None:
        many = self.game.facts.players
        if many == 1:
            raise ConfigError(
                f"a match needs two players, and {self.game.name} has one: use `evaluate` to compare players"
            )
        if not checks.is_whole(self.games) or self.games < many or self.games % many:
            what = "an even number of at least 2, since each opening is played with both colours" if many == 2 else (
                f"a multiple of {many}, since each opening is played from every seat")  # fmt: skip
            raise ConfigError(f"games must be {what}; not {self.games!r}")

    @property
    def group(self) -> int:
        """How many games share an opening and a deal: one for each seat."""
        return self.game.facts.players

    def header(self, specs: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
        """Return the first line of a match's file. A file that is continued keeps it: `games` may be more by then."""
        return {
            "game": self.game.source or self.game.name,
            "rules": self.game.digest,
            "players": list(specs),
            "names": list(names),
            "seed": self.seed,
            "games": self.games,
            "openings": self.openings.to_dict(self.game),
            "make_player": self.make_player,
            "move_deadline": self.move_deadline,
            "clock": None if self.clock is None else str(self.clock),
            "versions": versions(),
        }

    def check_players(self, specs: Sequence[str]) -> None:
        """Make and prepare each player once, so that a wrong spec or an engine that cannot play is an error before
        anything begins.

        What has to be compiled is then in the cache before the workers start.
        """
        make = maker(self.make_player)
        for spec in specs:
            player = make(spec, self.game)
            if not isinstance(player, Player):
                raise ConfigError(
                    f"{self.make_player} made {player!r} of {spec}, which is not a player: "
                    "it lacks name, begin, choose, observe or close"
                )
            show_clock(player, None if self.clock is None else self.clock.at_start(self.game.facts.players))
            try:
                prepare(player, self.game)
            finally:
                player.close()


class Contest:
    """Players, their games so far, and their result."""

    def __init__(self, specs: tuple[str, ...], names: tuple[str, ...], log: GameLog, tally: Counter) -> None:
        self.specs, self.names, self.log, self.tally = specs, names, log, tally

    def task(self, index: int, opening: Opening, seed: int) -> Task:
        """Return one of its games."""
        return GameTask(index, opening, self.specs, seed)

    def resume(self) -> None:
        """Count the games that the log already holds."""
        for index in sorted(self.log.records):
            self.tally.add(self.log.records[index])

    @property
    def over(self) -> bool:
        """Whether a test has decided it."""
        return self.tally.decided

    @property
    def title(self) -> str:
        """The players' names."""
        return " against ".join(self.names)


class Pairing(Contest):
    """A match of two players."""

    tally: Tally

    def __init__(
        self, terms: Terms, specs: tuple[str, str], names: tuple[str, str], out: Path | None, sprt: Sprt | None = None
    ) -> None:
        tally = Tally(names, terms.game.name, terms.seed, terms.games, sprt, out)
        header = terms.header(specs, names) | {"sprt": None if sprt is None else sprt.to_dict()}
        super().__init__(specs, names, GameLog(out, header, MATCH), tally)


def need_two(game: Game) -> Game:
    """Return a game for two players, or raise an error that names the right function."""
    many = game.facts.players
    if many == 2:
        return game
    other = "use `treetop evaluate` to compare players" if many == 1 else f"give {many} players (`match_many`)"
    raise ConfigError(f"this needs a game for two players, and {game.name} has {many}: {other}")


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
    openings: str | Path | Sequence[str] | None = None,
    opening_order: str = "file",
    opening_plies: int | None = None,
    balanced: bool = True,
    move_deadline: float | None = None,
    clock: str | TimeControl | None = None,
    make_player: str = MAKE_PLAYER,
    names: tuple[str, str] | None = None,
    progress: Callable[[MatchProgress], object] | None = None,
    on: str | None = None,
) -> MatchResult:
    """Play a match and return the result. Called again with the same `out`, it resumes.

    Players are specs such as `uct(simulations=1000)`; `make_player`, a function under `@treetop.player` named as
    `module:function`, makes a `Player` from a spec and a game. `games` is the largest number of games; with `sprt` the
    match ends as soon as the test is decided. `workers` is the number of processes (default: one for each core); with 1
    all games are played in this process. With `on="ray"` or `on="ray://host:port"` the workers are on a Ray cluster
    (default: one for each of its CPUs). Ctrl-C ends the match with the result so far.

    `openings` is a file of openings, or a list of lines as in such a file (`treetop.arena.books`), each played as a
    pair; `opening_order` is `file` or `random`, and at most `opening_plies` moves of each are used. Without it the
    games begin with `opening_plies` random moves. With a `clock`, such as "60+1", each player has so many seconds for a
    game, and so many more after each move; one who has used them up loses by forfeit.

    >>> import treetop as tt
    >>> tt.match("uct(simulations=100)", "random", "tic_tac_toe", games=4, seed=1, workers=1).games
    4
    """
    found = need_two(load_game(game))
    terms = Terms(
        found,
        games,
        seed,
        choose_openings(found, openings, opening_order, opening_plies, balanced=balanced),
        make_player,
        move_deadline,
        TimeControl.of(clock),
    )
    pairing = Pairing(
        terms, (player_a, player_b), names or (player_a, player_b), None if out is None else Path(out), sprt
    )
    with pairing.log:
        pairing.resume()
        interrupted = play_contests(terms, [pairing], workers, progress and (lambda _, now: progress(now)), on=on)
    return pairing.tally.result(interrupted=interrupted)


def match_many(
    players: Sequence[str],
    game: str | Game,
    *,
    games: int = 99,
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
    names: Sequence[str] | None = None,
    progress: Callable[[MatchProgress], object] | None = None,
    on: str | None = None,
) -> ManyResult:
    """Play a match of three or more players, one for each seat of the game, and return the result.

    Each opening and each deal is played from every seat: in a round of as many games as there are players, every player
    moves on by one seat. There is no Elo and no sequential test: both are for two players. Everything else is as in
    `match`.

    >>> from treetop.arena import match_many
    >>> match_many(["random", "random", "random"], "nim_three", games=3, seed=1, workers=1).games
    3
    """
    found = load_game(game)
    book = choose_openings(found, openings, opening_order, opening_plies, balanced=balanced)
    terms = Terms(found, games, seed, book, make_player, move_deadline, TimeControl.of(clock))
    many = terms.game.facts.players
    if many < 3 or len(players) != many:
        raise ConfigError(
            f"{terms.game.name} needs {many} players, not {len(players)}"
            if many > 2
            else (f"{terms.game.name} has two players: use `match`")
        )
    specs, called = tuple(players), tuple(names or players)
    file = None if out is None else Path(out)
    tally = ManyTally(called, terms.game.name, terms.seed, terms.games, file)
    contest = Contest(specs, called, GameLog(file, terms.header(specs, called), ROUNDS), tally)
    with contest.log:
        contest.resume()
        interrupted = play_contests(terms, [contest], workers, progress and (lambda _, now: progress(now)), on=on)
    return tally.result(interrupted=interrupted)


def play_contests(
    terms: Terms,
    pairings: Sequence[C],
    workers: int | None,
    progress: Callable[[C, MatchProgress], object] | None = None,
    *,
    on: str | None = None,
) -> bool:
    """Play all missing games, the pairings in turn. Return whether Ctrl-C ended it. The logs must be open."""
    if all(pairing.over or pairing.tally.finished >= terms.games for pairing in pairings):
        return False
    game = terms.game
    source = game if in_this_process(on, workers) else name_for_workers(game)
    # For a player that cannot be interrupted: then the process is killed, and the match stops.
    deadline = _longest_game(terms)
    run = _Run(terms, pairings, progress)
    try:
        specs = tuple(dict.fromkeys(spec for pairing in pairings for spec in pairing.specs))
        with Pool(
            SETUP,
            (source, terms.make_player, terms.move_deadline, specs, game.digest, terms.clock),
            workers=workers,
            deadline=deadline,
            on=on,
            luggage=Luggage((game.source or "", terms.make_player, *specs)),
        ) as pool:
            terms.check_players(specs)
            for outcome in pool.run(run.units()):
                run.take(outcome)
                if all(pairing.over for pairing in pairings):
                    break
    except KeyboardInterrupt:
        return True
    run.raise_failure()
    return False


def _longest_game(terms: Terms) -> float | None:
    """Return the seconds after which a game must be over, if there is a limit."""
    facts, clock = terms.game.facts, terms.clock
    limits = [] if terms.move_deadline is None else [terms.move_deadline * facts.max_length]
    if clock is not None:
        limits.append(clock.seconds * facts.players + clock.increment * facts.max_length)
    return 60 + 2 * min(limits) if limits else None


class _Run(Generic[C]):
    """The games of one call."""

    def __init__(
        self, terms: Terms, pairings: Sequence[C], progress: Callable[[C, MatchProgress], object] | None
    ) -> None:
        self._terms, self._pairings, self._progress = terms, pairings, progress
        self._opening = terms.openings.chooser(terms.game, terms.seed, _known_openings(pairings, terms.group))
        self._owners: dict[str, tuple[C, int]] = {}
        self._failure: tuple[C, int, Outcome] | None = None
        self._played = 0
        self._began = time.perf_counter()
        self._first = 0.0  # when the first game was finished

    def units(self) -> Iterator[Unit]:
        """Yield the missing games: the first pair of every pairing, then the second, so that the results grow
        evenly.
        """
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
                    yield Unit(name, (pairing.task(game, self._opening(game // group), self._terms.seed),))

    def take(self, outcome: Outcome) -> None:
        """Save and count a finished game. After a game that failed, those in progress are finished and no new one
        begins.
        """
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
        """Raise an error that says why the match stopped."""
        if self._failure is None:
            return
        pairing, index, outcome = self._failure
        safe = (
            f"{pairing.tally.finished} finished games are safe in {pairing.log.path}"
            if pairing.log.path
            else "no file was given to keep them"
        )
        trace = f"\n{outcome.traceback.rstrip()}" if outcome.traceback else ""
        raise MatchError(f"game {index} of {pairing.title} could not be played: {outcome.reason}; {safe}{trace}")


def _known_openings(pairings: Sequence[Contest], group: int) -> dict[int, Opening]:
    return {
        record["index"] // group: Opening(tuple(record.get("opening", ())))
        for pairing in pairings
        for record in pairing.log.records.values()
    }
