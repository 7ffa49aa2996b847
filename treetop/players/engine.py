"""External engines as players: the protocols exchange texts, and these classes map them to the actions of a game.

An engine that hangs, dies, plays an illegal move or breaks its protocol raises a `PlayerError` and is ended; the next
game starts it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from treetop import checks
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, IllegalMoveError, PlayerError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.oracle.perft import perft
from treetop.players.base import BasePlayer
from treetop.players.foresight import OTHER_KINDS
from treetop.players.line_process import LineProcess, find_program, split_command
from treetop.players.uci import UciEngine

DEADLINE, START_DEADLINE = 60.0, 15.0
_UCI_NODES = 10_000
_DEALS, _DEALT_PLIES = 6, 24  # random games from dealt starts in which names of moves are compared


def skips_i(start: Position) -> bool:
    """Return whether a game's names of points leave out the letter i; `start` is a position with the whole board free.

    >>> import treetop as tt
    >>> skips_i(tt.position("gomoku"))
    False
    """
    return not any(move[:1] in "iI" for move in start.legal_moves())


class Engine(Protocol):
    """The interface of every protocol's engine."""

    process: LineProcess

    def close(self) -> None:
        """End the engine."""
        ...


E = TypeVar("E", bound=Engine)


class EnginePlayer(BasePlayer, Generic[E]):
    """The base of the protocols: the process is started by the first game, kept for the next ones, and ended after any
    failure.
    """

    def __init__(self, game: Game, command: str, name: str, deadline: float, start_deadline: float) -> None:
        super().__init__(name)
        self._check_game(game)
        self.game = game
        self._command = split_command(command)
        find_program(self._command[0])  # now rather than at the first move
        self._deadline = _seconds("deadline", deadline)
        self._start_deadline = _seconds("start_deadline", start_deadline)
        self._engine: E | None = None

    def prepare(self, game: Game) -> None:  # noqa: ARG002 - it knows its game
        """Start the engine, unless it is running, and set it up: options, and a comparison of its rules with ours."""
        self._running()

    def begin(self, start: Position, seed: int) -> None:
        """Begin a new game at the initial position, or after some moves from there."""
        super().begin(start, seed)
        self._check_start(start)
        engine = self._running()
        try:
            self._new_game(engine, start)
        except BaseException:
            self._abandon()
            raise

    def _running(self) -> E:
        """Return the engine, started and set up if it was not running."""
        if self._engine is None or self._engine.process.closed:
            self._engine = self._start()
            try:
                self._set_up(self._engine)
            except BaseException:
                self._abandon()
                raise
        return self._engine

    def choose(self, position: Position) -> int:
        """Ask the engine for a move and return its action."""
        engine = self._engine
        if engine is None or engine.process.closed:
            raise PlayerError(f"{self.name} is not running: a game begins with `begin`")
        try:
            action = self._decide(engine, position)
        except BaseException:
            self._abandon()  # also on Ctrl-C: its answer would be taken for the next one
            raise
        if action is None:
            raise PlayerError(f"{self.name} resigns\n{position}")
        return action

    def close(self) -> None:
        """End the engine."""
        if self._engine is not None:
            self._engine.close()

    def _abandon(self) -> None:
        if self._engine is not None:
            self._engine.process.close()

    def _check_game(self, game: Game) -> None:
        if any(game.has(method) for method in OTHER_KINDS):
            raise ConfigError(
                f"an engine receives only moves, so it cannot play {game.name}, a game with chance, "
                "imperfect information, continuous actions, simultaneous moves or immediate rewards"
            )

    def _set_up_of(self, start: Position) -> Position | None:
        """Return the position from which a game was set up, or None if it begins at the game's start."""
        return Position(self.game, start.start) if start.was_set_up else None

    def _check_start(self, start: Position) -> None:
        """Raise a PlayerError for a set-up that cannot be sent."""
        if start.was_set_up and not self.game.has("setup_text"):
            self._refuse_set_up(start, f"the class of {self.game.name} has no method `setup_text`")

    def _patience(self) -> float | None:
        """Return the seconds to wait for a move where a clock allows more than the deadline."""
        return None if self.clock is None else max(self._deadline, self.clock.of_seat(self.seat)[0] + 1.0)

    def _refuse_set_up(self, start: Position, why: str) -> None:
        raise PlayerError(
            f"{self.name} can only begin at the game's start or after moves from there, not at a set-up: {why}\n{start}"
        )

    def _decide(self, engine: E, position: Position) -> int | None:
        """Return the engine's action, or None if it resigns."""
        text = self._ask(engine, position)
        return None if text == "resign" else self._understand(engine, position, text)

    def _understand(self, engine: E, position: Position, text: str) -> int:
        try:
            return int(position.parse_move(self._our_text(text)))
        except IllegalMoveError as error:
            raise engine.process.failure(f"played an illegal move: {error}") from None

    def _our_text(self, text: str) -> str:
        return text

    def _start(self) -> E:
        raise NotImplementedError

    def _set_up(self, engine: E) -> None:
        """Send what is needed once, before the first game."""

    def _new_game(self, engine: E, start: Position) -> None:
        raise NotImplementedError

    def _ask(self, engine: E, position: Position) -> str:
        raise NotImplementedError


class UciPlayer(EnginePlayer[UciEngine]):
    """An engine that speaks UCI. Before its first game its rules are compared with ours: engines silently ignore an
    unknown variant. In a game that deals its start, such as Chess960, the moves at some of its starts are compared too.

    >>> import sys, treetop as tt
    >>> player = tt.players.UciPlayer(tt.load_game("breakthrough"), f"{sys.executable} engine.py", nodes=1_000)
    >>> player.name  # the program is started by the first game
    'uci'
    """

    _dialect = "uci"

    def __init__(
        self,
        game: Game,
        command: str,
        /,
        *,
        variant: str | None = None,
        options: Mapping[str, Any] | None = None,
        nodes: int | None = None,
        depth: int | None = None,
        seconds: float | None = None,
        check: int = 3,
        deadline: float = DEADLINE,
        start_deadline: float = START_DEADLINE,
        name: str = "uci",
    ) -> None:
        super().__init__(game, command, name, deadline, start_deadline)
        self._variant = variant
        self._options = _options(options)
        limits = {
            "nodes": checks.whole("nodes", nodes, 1, optional=True),
            "depth": checks.whole("depth", depth, 1, optional=True),
            "movetime": None,
        }
        if seconds is not None:
            limits["movetime"] = max(1, round(1000 * _within(seconds, self._deadline)))
        self._limit = " ".join(f"{key} {value}" for key, value in limits.items() if value is not None)
        self._check = checks.whole("check", check, 0)

    def _start(self) -> UciEngine:
        return UciEngine(
            self._command, start_deadline=self._start_deadline, deadline=self._deadline, dialect=self._dialect
        )

    def _set_up(self, engine: UciEngine) -> None:
        if self._variant is not None:
            engine.set_variant(self._variant)
        for name, value in self._options.items():
            engine.set_option(name, value)
        engine.new_game()
        self._compare(engine, Position(self.game))
        if self._check and self.game.has("deal") and self.game.has("setup_text"):
            for seed in range(_DEALS):
                self._compare_names(engine, Position.start(self.game, Rng(seed)), Rng(seed))
            self._compare(engine, Position.start(self.game, Rng(0)))

    def _compare(self, engine: UciEngine, start: Position) -> None:
        """Compare the numbers of move sequences from a start."""
        fen = self._fen(start)
        for depth in range(1, self._check + 1):
            theirs, ours = engine.perft([], depth, fen), perft(start, depth)
            if theirs != ours:
                where = "" if fen is None else f" from {fen}"
                raise engine.process.failure(
                    f"plays by other rules than {self.game.name}: perft {depth}{where}, the number of sequences of so "
                    f"many moves, is {theirs} for it and {ours} for us; is its variant the right one?"
                )

    def _compare_names(self, engine: UciEngine, position: Position, rng: Rng) -> None:
        """Compare the names of the legal moves in a random game: an engine that does not know the variant castles by
        other names, or not at all.
        """
        fen = self._fen(position)
        for _ in range(_DEALT_PLIES):
            if position.is_terminal:
                return
            theirs, ours = engine.legal_moves(position.moves(), fen), set(position.legal_moves())
            if theirs != ours:
                raise engine.process.failure(
                    f"plays by other rules than {self.game.name}: {' '.join(sorted(ours - theirs)) or 'no move'} is "
                    f"legal for us only, and {' '.join(sorted(theirs - ours)) or 'no move'} for it; does it need an "
                    "option, as Chess960 needs options={'UCI_Chess960': True}?"
                )
            position = position.apply(position.sample_action(rng))

    def _fen(self, start: Position) -> str | None:
        """Return the position from which a game was set up as text, or None if it begins at the game's start."""
        set_up = self._set_up_of(start)
        return None if set_up is None else set_up.setup_text()

    def _new_game(self, engine: UciEngine, start: Position) -> None:  # noqa: ARG002
        engine.new_game()

    def _ask(self, engine: UciEngine, position: Position) -> str:
        limit = " ".join(filter(None, [self._limit, self._clock_words(engine)])) or f"nodes {_UCI_NODES}"
        return engine.best_move(position.moves(), limit, self._fen(position), self._patience())

    def _clock_words(self, engine: UciEngine) -> str:
        """Return the times of the clock as the command `go` takes them; empty without a clock."""
        if self.clock is None:
            return ""
        letters = engine.words.first, {"w": "b", "b": "w"}[engine.words.first]
        times = [f"{letter}time {round(1000 * left)}" for letter, left in zip(letters, self.clock.left, strict=True)]
        return " ".join([*times, *(f"{letter}inc {round(1000 * self.clock.increment)}" for letter in letters)])


class UsiPlayer(UciPlayer):
    """An engine that speaks USI, the dialect of UCI for shogi: moves are named as in our shogi and minishogi.

    >>> import sys, treetop as tt
    >>> player = tt.players.UsiPlayer(tt.load_game("minishogi"), f"{sys.executable} engine.py", nodes=1_000, name="usi")
    >>> player.name  # the program is started by the first game
    'usi'
    """

    _dialect = "usi"


def _options(options: Any) -> dict[str, Any]:
    if options is not None and not isinstance(options, Mapping):
        raise ConfigError(f"options must be a dictionary such as {{'Skill Level': 5}}, not {options!r}")
    return dict(options or {})


def _seconds(name: str, value: Any) -> float:
    return checks.number(name, value, above=0, unit="seconds")


def _within(seconds: Any, deadline: float) -> float:
    if _seconds("seconds", seconds) >= deadline:
        raise ConfigError(
            f"deadline must be more than seconds={seconds:g}, not {deadline:g}: give it as in deadline={2 * seconds:g}"
        )
    return float(seconds)


def whole_seconds(seconds: Any, deadline: float) -> int:
    """Return a limit in whole seconds that is below the deadline; raise ConfigError where it is not."""
    if _within(seconds, deadline) != int(seconds):
        raise ConfigError(f"seconds must be a whole number in this protocol, not {seconds!r}")
    return int(seconds)


def texts_of(name: str, values: Any) -> tuple[str, ...]:
    """Return an option that is a list of texts; raise ConfigError where it is something else."""
    if (
        isinstance(values, str)
        or not isinstance(values, Sequence)
        or not all(isinstance(value, str) for value in values)
    ):
        raise ConfigError(f"{name} must be a list of strings, not {values!r}")
    return tuple(values)
