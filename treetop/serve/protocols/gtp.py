"""The Go Text Protocol, version 2: Treetop as an engine of Sabaki, Lizzie, GoGui and other programs."""

from __future__ import annotations

import re
from collections.abc import Callable
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
from treetop.serve.protocols.clock import OVERHEAD, Clock
from treetop.serve.protocols.thinker import Thinker, refuse_other_kinds
from treetop.serve.tasks import Thinking
from treetop.show.views import move_infos

_SECONDS = 5.0  # of a move, where neither a clock nor a limit says how long
_MOST_LINE = 10_000  # characters
_COLOURS = {"b": 0, "black": 0, "w": 1, "white": 1}
_NAMES = "BW"


class GtpError(Exception):
    """A command that is refused, with the words of the protocol."""


class GtpServer:
    r"""Answers the commands of one program. `send` is called with texts, each with its line ends.

    >>> said = []
    >>> with GtpServer(said.append, treetop.load_game("tic_tac_toe"), simulations=100) as server:
    ...     more = [server.receive(line) for line in ("1 play b b2", "2 genmove w", "quit")]
    >>> said[0], said[1][:3], more
    ('=1\n\n', '=2 ', [True, True, False])
    """

    def __init__(
        self, send: Callable[[str], object], game: Game, thinker: Thinker | None = None, *,
        simulations: int | None = None, seconds: float | None = None,
    ) -> None:  # fmt: skip
        refuse_other_kinds(game, "GTP")
        self._send, self._thinker = send, thinker or Thinker()
        self._simulations, self._seconds = simulations, seconds
        self._clocks = [Clock(0.0), Clock(0.0)]
        self._analysing = False
        self._begin(game)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thinker.close()

    def _begin(self, game: Game) -> None:
        """Begin a new game."""
        self._thinker.forget()
        self._line = [Position.start(game)]
        self._skips_i = skips_i(self._line[0])
        self._thinker.prepare(self._line[0])

    @property
    def position(self) -> Position:
        """The position on the board."""
        return self._line[-1]

    def receive(self, line: str) -> bool:
        """Carry out a command; return whether the program may send more."""
        self.end_analysis()
        text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", line.partition("#")[0].replace("\t", " ")).strip()
        if not text:
            return True
        number, name, words = _split(text)
        try:
            if len(text) > _MOST_LINE:
                raise GtpError("a command has at most 10,000 characters")
            method = self._commands.get(name)
            if method is None:
                raise GtpError("unknown command")
            answer = method(self, words)
        except (GtpError, TreetopError) as error:
            self._send(f"?{number} {_one_line(error)}\n\n")
            return True
        if answer is None:  # an analysis, which ends with its blank line
            self._send(f"={number}\n")
        else:
            self._send(f"={number}{' ' if answer else ''}{answer}\n\n")
        return name != "quit"

    def end_analysis(self) -> None:
        """End an analysis that runs, which any line does."""
        if self._analysing:
            self._analysing = False
            self._thinker.stop()
            self._send("\n")

    # Set-up.

    def _boardsize(self, words: list[str]) -> str:
        size = _whole(words, 0, "the size of the board")
        game = self._line[0].game
        board = self._line[0].board()
        if board is not None and len(board) == size:
            self._begin(game)
            return ""
        try:
            self._begin(with_parameters(game, size=size))
        except TreetopError:
            raise GtpError("unacceptable size") from None
        return ""

    def _clear_board(self, words: list[str]) -> str:  # noqa: ARG002
        self._begin(self._line[0].game)
        return ""

    def _komi(self, words: list[str]) -> str:
        komi, game = _number(words, 0, "komi"), self._line[0].game
        try:
            changed = with_parameters(game, komi=komi)
        except TreetopError:
            return ""  # a game without komi: the protocol lets the controller score
        if changed.digest != game.digest:
            moves = [position.actions[-1] for position in self._line[1:]]
            self._begin(changed)
            for action in moves:
                self._line.append(self.position.apply(action))
        return ""

    # Moves.

    def _play(self, words: list[str]) -> str:
        colour, vertex = _colour(words, 0), _word(words, 1, "a vertex")
        try:
            position = self._turned(colour)
            self._line.append(position.play(self._own(vertex)))
        except TreetopError:
            raise GtpError("illegal move") from None
        return ""

    def _turned(self, colour: int) -> Position:
        """Return the position with a colour to move: where it is the other's turn, that one passes."""
        position = self.position
        return position if position.is_terminal or position.player == colour else position.play("pass")

    def _own(self, vertex: str) -> str:
        return vertex.lower() if vertex.lower() == "pass" else renamed(vertex, skips_i=True, to_skip_i=self._skips_i)

    def _vertex(self, move: str) -> str:
        """Return a move of the game as a vertex, where it is a point."""
        try:
            return "pass" if move.lower() == "pass" else renamed(move, skips_i=self._skips_i, to_skip_i=True).upper()
        except TreetopError:
            return move

    def _genmove(self, words: list[str]) -> str:
        position = self._turned(_colour(words, 0))
        if position.is_terminal:
            return "pass"
        move = self._thought(position).move
        self._line.append(position.play(move))
        return self._vertex(move)

    def _reg_genmove(self, words: list[str]) -> str:
        position = self._turned(_colour(words, 0))
        return "pass" if position.is_terminal else self._vertex(self._thought(position).move)

    def _thought(self, position: Position) -> SearchResult:
        simulations, seconds = self._simulations, self._seconds
        clock = self._clocks[position.player]
        if clock != Clock(0.0):
            share = clock.share(OVERHEAD)
            seconds = share if seconds is None else min(seconds, share)
        elif simulations is None and seconds is None:
            seconds = _SECONDS
        return self._thinker.think(position, simulations=simulations, seconds=seconds)

    def _undo(self, words: list[str]) -> str:  # noqa: ARG002
        if len(self._line) == 1:
            raise GtpError("cannot undo")
        self._line.pop()
        return ""

    # Time.

    def _time_settings(self, words: list[str]) -> str:
        main, period, stones = (_number(words, place, "seconds") for place in range(3))
        if main < 0 or period < 0 or stones < 0:
            raise GtpError("syntax error: times are not negative")
        unlimited = period > 0 and stones == 0  # the protocol's way to say so
        clock = Clock(main, period=period / stones if stones else 0.0)
        self._clocks = [Clock(0.0) if unlimited else clock] * 2
        return ""

    def _time_left(self, words: list[str]) -> str:
        colour, left, stones = _colour(words, 0), _number(words, 1, "seconds"), _whole(words, 2, "stones")
        clock = self._clocks[colour]
        in_period = stones > 0
        changed = replace(clock, left=0.0, period=max(0.001, left / stones)) if in_period else replace(clock, left=left)
        self._clocks[colour] = changed
        return ""

    # What is shown.

    def _showboard(self, words: list[str]) -> str:  # noqa: ARG002
        return "\n" + str(self.position)

    def _final_score(self, words: list[str]) -> str:  # noqa: ARG002
        position = self.position
        if not position.is_terminal:
            raise GtpError("cannot score: the game is not over")
        margin = position.summary().get("lead", position.returns[0])
        return "0" if margin == 0 else f"{_NAMES[int(margin < 0)]}+{abs(margin):g}"

    def _analyze(self, words: list[str], line: Callable[[dict[str, Any]], str]) -> None:
        """Begin an analysis: `[colour] [interval in hundredths of a second] [keyword value ...]`."""
        rest = [word.lower() for word in words]
        colour = _COLOURS[rest.pop(0)] if rest and rest[0] in _COLOURS else None
        every = 0.5
        while rest:
            word = rest.pop(0)
            value = word if word.isdecimal() else (rest.pop(0) if rest and word in ("interval", "minmoves") else "")
            if word.isdecimal() or word == "interval":
                every = max(0.01, _whole([value], 0, "an interval") / 100)
        position = self.position if colour is None else self._turned(colour)
        if position.is_terminal:
            raise GtpError("the game is over")
        self._analysing = True

        def report(_: Thinking, result: SearchResult, last: bool) -> None:
            if not last or result.usage.stopped_early:
                infos = [info for info in move_infos(result) if info["visits"]]
                self._send(" ".join(line(info) for info in infos) + "\n")

        def failed(_: Thinking, error: BaseException) -> None:
            self._send(f"# {_one_line(error)}\n")

        self._thinker.begin(position, report=report, failed=failed, every=every)

    def _lz_analyze(self, words: list[str]) -> None:
        def line(info: dict[str, Any]) -> str:
            return (
                f"info move {self._vertex(info['move'])} visits {info['visits']} "
                f"winrate {round(10_000 * (info['winrate'] or 0.0))} prior {round(10_000 * (info['prior'] or 0.0))} "
                f"lcb {round(10_000 * (info['lcb'] or 0.0))} order {info['order']} "
                f"pv {' '.join(map(self._vertex, info['pv']))}"
            )

        self._analyze(words, line)

    def _kata_analyze(self, words: list[str]) -> None:
        def line(info: dict[str, Any]) -> str:
            return (
                f"info move {self._vertex(info['move'])} visits {info['visits']} edgeVisits {info['edgeVisits']} "
                f"utility {info['utility'] or 0.0:.6f} winrate {info['winrate'] or 0.0:.6f} "
                f"prior {info['prior'] or 0.0:.6f} lcb {info['lcb'] or 0.0:.6f} order {info['order']} "
                f"pv {' '.join(map(self._vertex, info['pv']))}"
            )

        self._analyze(words, line)

    def _known_command(self, words: list[str]) -> str:
        return str(_word(words, 0, "a command") in self._commands).lower()

    _commands: ClassVar[dict[str, Callable[[GtpServer, list[str]], str | None]]] = {
        "protocol_version": lambda *_: "2",
        "name": lambda *_: "Treetop",
        "version": lambda *_: treetop.__version__,
        "known_command": _known_command,
        "list_commands": lambda self, _: "\n".join(self._commands),
        "quit": lambda *_: "",
        "boardsize": _boardsize, "clear_board": _clear_board, "komi": _komi,
        "play": _play, "genmove": _genmove, "reg_genmove": _reg_genmove, "undo": _undo,
        "time_settings": _time_settings, "time_left": _time_left,
        "showboard": _showboard, "final_score": _final_score,
        "lz-analyze": _lz_analyze, "kata-analyze": _kata_analyze,
    }  # fmt: skip


def _split(text: str) -> tuple[str, str, list[str]]:
    """Return the number of a command (or an empty text), its name and its words."""
    words = text.split()
    number = words.pop(0) if words[0].isdecimal() else ""
    return number, (words.pop(0) if words else ""), words


def _word(words: list[str], place: int, what: str) -> str:
    if place >= len(words):
        raise GtpError(f"syntax error: {what} is missing")
    return words[place]


def _colour(words: list[str], place: int) -> int:
    word = _word(words, place, "a colour").lower()
    if word not in _COLOURS:
        raise GtpError(f"syntax error: a colour is black or white, not {checks.shorten(word)}")
    return _COLOURS[word]


def _whole(words: list[str], place: int, what: str) -> int:
    word = _word(words, place, what)
    if not (word.isascii() and word.isdecimal() and len(word) < 10):
        raise GtpError(f"syntax error: {what} must be a whole number, not {checks.shorten(word)}")
    return int(word)


def _number(words: list[str], place: int, what: str) -> float:
    word = _word(words, place, what)
    if not re.fullmatch(r"[+-]?\d{1,9}(\.\d{1,9})?", word, re.ASCII):
        raise GtpError(f"syntax error: {what} must be a number, not {checks.shorten(word)}")
    return float(word)


def _one_line(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
