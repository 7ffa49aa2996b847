"""Engines that follow a game move by move, as players: those that speak GTP and CECP."""

from __future__ import annotations

from collections.abc import Sequence

from treetop import checks
from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.players.cecp import CecpEngine
from treetop.players.engine import DEADLINE, START_DEADLINE, E, EnginePlayer, skips_i, texts_of, whole_seconds
from treetop.players.gtp import GtpEngine, renamed
from treetop.players.stones import stones_of


class FollowingPlayer(EnginePlayer[E]):
    """An engine with its own board, which must be kept equal to ours."""

    def __init__(self, game: Game, command: str, name: str, deadline: float, start_deadline: float) -> None:
        super().__init__(game, command, name, deadline, start_deadline)
        self._sent: tuple[int, ...] = ()

    def _new_game(self, engine: E, start: Position) -> None:
        self._sent = ()
        self._clear(engine, start)

    def _ask(self, engine: E, position: Position) -> str:
        if position.actions[: len(self._sent)] != self._sent:
            self._new_game(engine, position)
        point = Position(self.game, position.start)
        for index, action in enumerate(position.actions):
            if index >= len(self._sent):
                self._send_move(engine, point.player, point.move_text(action))
            point = point.apply(action)
        self._sent = position.actions
        return self._generate(engine, position.player)

    def _understand(self, engine: E, position: Position, text: str) -> int:
        action = super()._understand(engine, position, text)
        self._sent = (*position.actions, action)  # the engine has played it on its own board
        return action

    def _clear(self, engine: E, start: Position) -> None:
        raise NotImplementedError

    def _send_move(self, engine: E, player: int, text: str) -> None:
        raise NotImplementedError

    def _generate(self, engine: E, player: int) -> str:
        raise NotImplementedError


class GtpPlayer(FollowingPlayer[GtpEngine]):
    """An engine that speaks GTP. Player 0 has the first colour; the moves of the game are points (`d4`) or `pass`.

    >>> import sys, treetop as tt
    >>> player = tt.players.GtpPlayer(tt.load_game("gomoku"), f"{sys.executable} engine.py", seconds=1)
    >>> player.name  # the program is started by the first game
    'gtp'
    """

    def __init__(
        self,
        game: Game,
        command: str,
        /,
        *,
        size: int | None = None,
        komi: float | None = None,
        seconds: float | None = None,
        commands: Sequence[str] = (),
        colours: Sequence[str] = ("black", "white"),
        skip_i: bool = True,
        deadline: float = DEADLINE,
        start_deadline: float = START_DEADLINE,
        name: str = "gtp",
    ) -> None:
        super().__init__(game, command, name, deadline, start_deadline)
        start = Position(game)
        rows = start.board()
        if size is None and rows is None:
            raise ConfigError(
                f"gtp needs the size of the board: {game.name} has no method `board` for it; give it as in size=9"
            )
        self._size = checks.whole("size", size, 1, optional=True) or len(rows or ())
        self._komi = komi
        self._seconds = None if seconds is None else whole_seconds(seconds, self._deadline)
        self._commands = texts_of("commands", commands)
        self._colours = texts_of("colours", colours)
        if len(self._colours) != game.facts.players:
            raise ConfigError(f"colours must have one for each of the {game.facts.players} players, not {colours!r}")
        self._skip_i = skip_i
        self._we_skip_i = skips_i(start)

    def _start(self) -> GtpEngine:
        return GtpEngine(self._command, start_deadline=self._start_deadline, deadline=self._deadline)

    def _set_up(self, engine: GtpEngine) -> None:
        for command in self._commands:
            engine.ask(command)
        if self._seconds is not None:
            engine.ask(f"time_settings 0 {self._seconds} 1")

    def _clear(self, engine: GtpEngine, start: Position) -> None:
        engine.new_game(self._size, self._komi)
        if "set_random_seed" in engine.commands:
            engine.ask(f"set_random_seed {self.seed_at(start) % 2**31}")
        if self.clock is not None and self._seconds is None:
            engine.ask(f"time_settings {max(1, int(self.clock.left[self.seat]))} 0 0")
        for player, point in self._stones(start):
            self._send_move(engine, player, point)

    def _stones(self, start: Position) -> list[tuple[int, str]]:
        """Return the stones of the set-up from which a game began, with their players."""
        set_up = self._set_up_of(start)
        return [] if set_up is None else stones_of(set_up) or []

    def _check_start(self, start: Position) -> None:
        if start.was_set_up and not self._stones(start):
            self._refuse_set_up(start, "its board cannot be reached by placing stones")

    def _send_move(self, engine: GtpEngine, player: int, text: str) -> None:
        engine.play(self._colours[player], self._their_text(text))

    def _generate(self, engine: GtpEngine, player: int) -> str:
        if self.clock is not None and self._seconds is None and "time_left" in engine.commands:
            engine.ask(f"time_left {self._colours[player]} {int(self.clock.left[player])} 0")
        return engine.generate(self._colours[player], self._patience())

    def _their_text(self, text: str) -> str:
        if text.lower() == "pass":
            return "pass"
        return renamed(text, skips_i=self._we_skip_i, to_skip_i=self._skip_i).upper()

    def _our_text(self, text: str) -> str:
        if text.lower() == "pass":
            return "pass"
        return renamed(text, skips_i=self._skip_i, to_skip_i=self._we_skip_i)


class CecpPlayer(FollowingPlayer[CecpEngine]):
    """An engine that speaks CECP, XBoard's protocol. Moves are texts such as `e2e4`, the same on both sides.

    >>> import sys, treetop as tt
    >>> player = tt.players.CecpPlayer(tt.load_game("breakthrough"), f"{sys.executable} engine.py", depth=4)
    >>> player.name  # the program is started by the first game
    'cecp'
    """

    def __init__(
        self,
        game: Game,
        command: str,
        /,
        *,
        variant: str | None = None,
        seconds: int | None = None,
        depth: int | None = None,
        level: str | None = None,
        commands: Sequence[str] = (),
        usermove: bool | None = None,
        deadline: float = DEADLINE,
        start_deadline: float = START_DEADLINE,
        name: str = "cecp",
    ) -> None:
        super().__init__(game, command, name, deadline, start_deadline)
        self._has_limit = not (seconds is None and depth is None and level is None)
        self._variant = variant
        self._usermove = usermove
        self._limits = [f"level {level}"] if level is not None else []
        self._limits += [f"st {whole_seconds(seconds, self._deadline)}"] if seconds is not None else []
        self._limits += [f"sd {checks.whole('depth', depth, 1)}"] if depth is not None else []
        self._limits += texts_of("commands", commands)

    def _check_game(self, game: Game) -> None:
        super()._check_game(game)
        if game.has("deal"):
            raise ConfigError(
                f"cecp cannot play {game.name}: in its variants with other starts castling has other names than here; "
                "use an engine that speaks UCI"
            )

    def _start(self) -> CecpEngine:
        return CecpEngine(
            self._command, start_deadline=self._start_deadline, deadline=self._deadline, usermove=self._usermove
        )

    def _clear(self, engine: CecpEngine, start: Position) -> None:
        set_up = self._set_up_of(start)
        limits = [*([] if self._has_limit else [self._level()]), *self._limits]
        engine.new_game(self._variant, limits, None if set_up is None else set_up.setup_text())

    def _level(self) -> str:
        """Return the command that sets the time where no option does: the clock's, or one second a move."""
        if self.clock is None:
            return "st 1"
        minutes, seconds = divmod(max(1, int(self.clock.left[self.seat])), 60)
        return f"level 0 {minutes}:{seconds:02} {int(self.clock.increment)}"

    def _send_move(self, engine: CecpEngine, player: int, text: str) -> None:  # noqa: ARG002
        engine.play(text)

    def _generate(self, engine: CecpEngine, player: int) -> str:
        times = None if self.clock is None or self._has_limit else self.clock.of_seat(player)
        return engine.generate(times, self._patience())
