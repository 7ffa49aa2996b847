"""The Go Text Protocol, version 2: Treetop as an engine of Sabaki, Lizzie, GoGui and other programs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import treetop
from treetop import checks
from treetop.errors import TreetopError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.registry import with_parameters
from treetop.players.engine import skips_i
from treetop.players.gtp import renamed
from treetop.search.result import SearchResult
from treetop.serve.protocols import stones, words
from treetop.serve.protocols.clock import OVERHEAD, Clock
from treetop.serve.protocols.thinker import Thinker, refuse_other_kinds
from treetop.serve.protocols.words import GtpError
from treetop.serve.tasks import Thinking
from treetop.show.views import move_infos, win_rate

_SECONDS = 5.0  # of a move, where neither a clock nor a limit says how long
_MOST_LINE = 10_000  # characters
_NAMES = "BW"
_SET_UP = frozenset((
    "boardsize", "clear_board", "komi", "fixed_handicap", "place_free_handicap", "set_free_handicap", "name", "version",
    "protocol_version", "list_commands", "known_command", "quit",
))  # fmt: skip
"""Commands before a game, after which others may change its rules: nothing is compiled for them."""


class GtpServer:
    r"""Answers the commands of one program. `send` is called with texts, each with its line ends.

    A move takes at most `simulations` and `seconds`; where the best one wins in less than the share `resign` of the
    games, the answer is to resign.

    >>> said = []
    >>> with GtpServer(said.append, treetop.load_game("tic_tac_toe"), simulations=100) as server:
    ...     more = [server.receive(line) for line in ("1 play b b2", "2 genmove w", "quit")]
    >>> said[0], said[1][:3], more
    ('=1\n\n', '=2 ', [True, True, False])
    """

    def __init__(
        self, send: Callable[[str], object], game: Game, thinker: Thinker | None = None, *,
        simulations: int | None = None, seconds: float | None = None, resign: float | None = None,
    ) -> None:  # fmt: skip
        refuse_other_kinds(game, "GTP")
        self._send, self._thinker = send, thinker or Thinker()
        self._simulations, self._seconds = simulations, seconds
        self._resign = None if resign is None else checks.number("resign", resign, 0.0, 1.0)
        self._clocks: list[Clock | None] = [None, None]
        self._number, self._analysing = "", False
        self._begin(Position.start(game))
        self._prepare()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thinker.close()

    def _begin(self, start: Position) -> None:
        """Begin a new game."""
        self._thinker.forget()
        self._line = [start]  # the position after each command that moves
        empty = Position.start(start.game)
        self._skips_i = skips_i(empty)
        self._may_pass = not empty.is_terminal and "pass" in empty.legal_moves()  # at any time, as in go
        self._prepared = False

    def _prepare(self) -> None:
        """Compile what searches need, before a clock runs."""
        if not self._prepared:
            self._prepared = True
            self._thinker.prepare(self.position)

    @property
    def position(self) -> Position:
        """The position on the board."""
        return self._line[-1]

    @property
    def game(self) -> Game:
        """The game, with its size and komi."""
        return self.position.game

    def receive(self, line: str) -> bool:
        """Carry out a command; return whether the program may send more."""
        self.end_analysis()
        command = words.split(line[: _MOST_LINE + 1])
        if command is None:
            return True
        self._number, name, given = command
        try:
            if len(line) > _MOST_LINE:
                raise GtpError(f"syntax error: a command has at most {_MOST_LINE:,} characters")
            method = self._commands.get(name)
            if method is None:
                raise GtpError("unknown command")
            if name not in _SET_UP:
                self._prepare()
            answer = method(self, given)
        except (GtpError, TreetopError) as error:
            self._send(f"?{self._number} {words.one_line(error)}\n\n")
            return True
        if answer is not None:  # else the command has answered
            self._send(f"={self._number}{' ' if answer else ''}{answer}\n\n")
        return name != "quit"

    def end_analysis(self) -> None:
        """End an analysis that runs, which any line does."""
        if self._analysing:
            self._analysing = False
            self._thinker.stop()
            self._send("\n")

    # Set-up.

    def _boardsize(self, given: list[str]) -> str:
        size = words.whole(given, 0, "the size of the board")
        board = self.position.board()
        if board is not None and len(board) == size:
            self._begin(Position.start(self.game))
            return ""
        try:
            changed = with_parameters(self.game, size=size)
        except TreetopError:
            raise GtpError("unacceptable size") from None
        self._begin(Position.start(changed))
        return ""

    def _clear_board(self, given: list[str]) -> str:  # noqa: ARG002
        self._begin(Position.start(self.game))
        return ""

    def _komi(self, given: list[str]) -> str:
        komi = words.number(given, 0, "komi")
        if "komi" not in (self.game.parameters or ()):
            return ""  # the protocol lets the controller score
        try:
            changed = with_parameters(self.game, komi=komi)
        except TreetopError:
            raise GtpError("unacceptable komi") from None
        if changed.digest != self.game.digest:
            line = stones.of_other_rules(self._line, changed)
            self._begin(line[0])
            self._line = line
        return ""

    def _fixed_handicap(self, given: list[str]) -> str:
        return self._give(words.whole(given, 0, "the number of stones"))

    def _place_free_handicap(self, given: list[str]) -> str:
        count, size = words.whole(given, 0, "the number of stones"), len(self.position.board() or ())
        if count < 2:
            raise GtpError("invalid number of stones")
        return self._give(min(count, stones.most_handicap(size)))  # the protocol lets the engine choose fewer

    def _give(self, count: int) -> str:
        try:
            vertices = stones.handicap(len(self.position.board() or ()), count)
        except TreetopError:
            raise GtpError("invalid number of stones") from None
        self._put(vertices)
        return " ".join(vertices)

    def _set_free_handicap(self, given: list[str]) -> str:
        if len(given) < 2 or len({vertex.upper() for vertex in given}) < len(given):
            raise GtpError("bad vertex list")
        self._put(given)
        return ""

    def _put(self, vertices: Sequence[str]) -> None:
        """Begin a game with stones of the first colour, where the other one is to move."""
        points = stones.points_of(self.position)
        if any(points.values()) or len(self._line) > 1:
            raise GtpError("board not empty")
        names = {name.upper(): name for name in points}
        try:
            given = {names[self._own(vertex).upper()]: "X" for vertex in vertices}
            start = stones.set_up(self.game, {**points, **given}, 1)
        except (KeyError, TreetopError):
            raise GtpError("bad vertex list") from None
        self._begin(start)

    # Moves.

    def _play(self, given: list[str]) -> str:
        colour, vertex = words.colour(given, 0), words.word(given, 1, "a vertex")
        try:
            self._line.append(self._turned(colour).play([self._own(vertex)]))
        except TreetopError:
            raise GtpError("illegal move") from None
        return ""

    def _turned(self, colour: int) -> Position:
        """Return the position with a colour to move: the other one passes, or a game that is over goes on."""
        position = self.position
        if not position.is_terminal and position.player == colour:
            return position
        passed = position if position.is_terminal else position.play(["pass"])
        return stones.with_turn(position, colour) if passed.is_terminal and self._may_pass else passed

    def _own(self, vertex: str) -> str:
        return vertex.lower() if vertex.lower() == "pass" else renamed(vertex, skips_i=True, to_skip_i=self._skips_i)

    def _vertex(self, move: str) -> str:
        """Return a move of the game as a vertex, where it is a point."""
        try:
            return "pass" if move.lower() == "pass" else renamed(move, skips_i=self._skips_i, to_skip_i=True).upper()
        except TreetopError:
            return move

    def _genmove(self, given: list[str]) -> str:
        return self._moved(words.colour(given, 0))

    def _moved(self, colour: int, **shown: Any) -> str:
        """Play a move, and return it."""
        if self.position.is_terminal:
            self._line.append(self.position)  # so that `undo` takes back this answer
            return "pass"
        position = self._turned(colour)
        if position.is_terminal:
            return "pass"
        result = self._thought(position, **shown)
        if self._resign is not None and win_rate(result.position, result.value) < self._resign:
            return "resign"
        self._line.append(position.play([result.move]))
        return self._vertex(result.move)

    def _reg_genmove(self, given: list[str]) -> str:
        colour = words.colour(given, 0)
        position = self.position if self.position.is_terminal else self._turned(colour)
        return "pass" if position.is_terminal else self._vertex(self._thought(position).move)

    def _thought(self, position: Position, **shown: Any) -> SearchResult:
        simulations, seconds, player = self._simulations, self._seconds, position.player
        clock = self._clocks[player]
        if clock is not None:
            share = clock.share(OVERHEAD)
            seconds = share if seconds is None else min(seconds, share)
        elif simulations is None and seconds is None:
            seconds = _SECONDS
        begin = time.monotonic()
        result = self._thinker.think(position, simulations=simulations, seconds=seconds, **shown)
        if clock is not None:  # the program need not send `time_left`
            self._clocks[player] = replace(clock, left=max(0.0, clock.left - (time.monotonic() - begin)))
        return result

    def _undo(self, given: list[str]) -> str:  # noqa: ARG002
        if len(self._line) == 1:
            raise GtpError("cannot undo")
        self._line.pop()
        return ""

    # Time.

    def _time_settings(self, given: list[str]) -> str:
        main, period, count = (words.number(given, place, "seconds") for place in range(3))
        if main < 0 or period < 0 or count < 0:
            raise GtpError("syntax error: times are not negative")
        unlimited = period > 0 and count == 0  # the protocol's way to say so
        clock = Clock(main, period=period / count if count else 0.0)
        self._clocks = [None if unlimited or not (main or period) else clock] * 2
        return ""

    def _kgs_time_settings(self, given: list[str]) -> str:
        kind = words.word(given, 0, "the kind of clock")
        count = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}.get(kind)
        if count is None:
            raise GtpError("syntax error: the kind of clock is none, absolute, byoyomi or canadian")
        main, period, many = (words.number(given[: count + 1], place, "seconds") if place <= count else 0.0
                              for place in (1, 2, 3))  # fmt: skip
        if min(main, period, many) < 0:
            raise GtpError("syntax error: times are not negative")
        each = period / max(1.0, many) if kind == "canadian" else period
        self._clocks = [None if kind == "none" else Clock(main, period=each)] * 2
        return ""

    def _time_left(self, given: list[str]) -> str:
        colour, left, count = words.colour(given, 0), words.number(given, 1, "seconds"), words.whole(given, 2, "stones")
        clock = self._clocks[colour] or Clock(0.0)
        left = max(0.0, left)
        self._clocks[colour] = replace(clock, left=0.0, period=left / count) if count else replace(clock, left=left)
        return ""

    # What is shown.

    def _showboard(self, given: list[str]) -> str:  # noqa: ARG002
        return "\n" + str(self.position)

    def _list_stones(self, given: list[str]) -> str:
        piece = "XO"[words.colour(given, 0)]
        points = stones.points_of(self.position)
        return " ".join(self._vertex(name) for name, found in points.items() if found == piece)

    def _final_score(self, given: list[str]) -> str:  # noqa: ARG002
        position = self.position
        if not position.is_terminal:
            raise GtpError("cannot score: the game is not over")
        margin = position.summary().get("lead", position.returns[0])
        return "0" if margin == 0 else f"{_NAMES[int(margin < 0)]}+{abs(margin):g}"

    def _final_status_list(self, given: list[str]) -> str:
        status = words.word(given, 0, "a status")
        if status not in ("alive", "dead", "seki"):
            raise GtpError("syntax error: a status is alive, dead or seki")
        if status != "alive":
            return ""  # all stones on the board count
        points = stones.points_of(self.position)
        found = [*stones.chains(points, "X"), *stones.chains(points, "O")]
        return "\n".join(" ".join(map(self._vertex, chain)) for chain in found)

    def _analyze(self, given: list[str], line: Callable[[dict[str, Any]], str], *, moves: bool) -> None:
        """Begin an analysis, or find a move: `[colour] [interval in hundredths of a second] [keyword value ...]`."""
        rest = [word.lower() for word in reversed(given)]
        colour = words.COLOURS[rest.pop()] if rest and rest[-1] in words.COLOURS else None
        every = 0.5
        while rest:
            word = rest.pop()
            if word.isdecimal() or word == "interval":
                value = word if word.isdecimal() else rest.pop() if rest else ""
                every = max(0.01, words.whole([value], 0, "an interval") / 100)
            elif word == "minmoves" and rest:
                rest.pop()

        def shown(result: SearchResult) -> None:
            infos = [info for info in move_infos(result) if info["visits"]]
            self._send(" ".join(line(info) for info in infos) + "\n")

        if moves:
            if colour is None:
                raise GtpError("syntax error: a colour is missing")
            self._send(f"={self._number}\n")
            self._send(f"play {self._moved(colour, every=every, shown=shown)}\n\n")
            return
        position = self.position
        if not position.is_terminal and colour is not None:
            position = self._turned(colour)
        if position.is_terminal:
            raise GtpError("the game is over")

        def report(_: Thinking, result: SearchResult, last: bool) -> None:
            if not last or result.usage.stopped_early:
                shown(result)

        def failed(_: Thinking, error: BaseException) -> None:
            self._send(f"# {words.one_line(error)}\n")

        self._analysing = True
        self._send(f"={self._number}\n")
        self._thinker.begin(position, report=report, failed=failed, every=every)

    def _lz_line(self, info: dict[str, Any]) -> str:
        return (
            f"info move {self._vertex(info['move'])} visits {info['visits']} "
            f"winrate {round(10_000 * (info['winrate'] or 0.0))} prior {round(10_000 * (info['prior'] or 0.0))} "
            f"lcb {round(10_000 * (info['lcb'] or 0.0))} order {info['order']} "
            f"pv {' '.join(map(self._vertex, info['pv']))}"
        )

    def _kata_line(self, info: dict[str, Any]) -> str:
        return (
            f"info move {self._vertex(info['move'])} visits {info['visits']} edgeVisits {info['edgeVisits']} "
            f"utility {info['utility'] or 0.0:.6f} winrate {info['winrate'] or 0.0:.6f} "
            f"prior {info['prior'] or 0.0:.6f} lcb {info['lcb'] or 0.0:.6f} order {info['order']} "
            f"pv {' '.join(map(self._vertex, info['pv']))}"
        )

    def _known_command(self, given: list[str]) -> str:
        return str(words.word(given, 0, "a command") in self._commands).lower()

    _commands: ClassVar[dict[str, Callable[[GtpServer, list[str]], str | None]]] = {
        "protocol_version": lambda *_: "2",
        "name": lambda *_: "Treetop",
        "version": lambda *_: treetop.__version__,
        "known_command": _known_command,
        "list_commands": lambda self, _: "\n".join(self._commands),
        "quit": lambda *_: "",
        "boardsize": _boardsize, "clear_board": _clear_board, "komi": _komi,
        "fixed_handicap": _fixed_handicap, "place_free_handicap": _place_free_handicap,
        "set_free_handicap": _set_free_handicap,
        "play": _play, "genmove": _genmove, "reg_genmove": _reg_genmove, "undo": _undo,
        "time_settings": _time_settings, "kgs-time_settings": _kgs_time_settings, "time_left": _time_left,
        "cputime": lambda *_: f"{time.process_time():.2f}",
        "showboard": _showboard, "list_stones": _list_stones,
        "final_score": _final_score, "final_status_list": _final_status_list,
        "lz-analyze": lambda self, given: self._analyze(given, self._lz_line, moves=False),
        "kata-analyze": lambda self, given: self._analyze(given, self._kata_line, moves=False),
        "lz-genmove_analyze": lambda self, given: self._analyze(given, self._lz_line, moves=True),
        "kata-genmove_analyze": lambda self, given: self._analyze(given, self._kata_line, moves=True),
    }  # fmt: skip
