"""UCI, and its dialects USI for shogi and UCCI for xiangqi: Treetop as an engine of chess programs, for every game.

The protocol knows depths and centipawns. A tree search has neither: the depth is the length of the principal variation,
and centipawns come from the value by the curve that other tree searches use, on which 100 is a clear advantage.
"""

from __future__ import annotations

import math
import threading
import time
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from treetop import checks
from treetop.errors import ConfigError, TreetopError
from treetop.files import read_bytes
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.registry import BUNDLED, load_bundled
from treetop.oracle.perft import perft
from treetop.players.uci import UciOption
from treetop.search.result import SearchResult
from treetop.serve.engines import Engine
from treetop.serve.protocols.clock import OVERHEAD
from treetop.serve.protocols.dialects import DIALECTS, Dialect
from treetop.serve.protocols.going import WHOLE, Going
from treetop.serve.protocols.replay import Replay
from treetop.serve.protocols.thinker import Thinker, refuse_other_kinds
from treetop.serve.tasks import Thinking
from treetop.show.views import move_infos, win_rate

_MOST_LINE = 100_000  # characters
_MOST_MEMORY, _MEMORY, _MOST_LINES, _MOST_THREADS = 65_536, 1024, 500, 512  # memory in MB
_DEEPEST_PERFT, _MOST_PERFT = 12, 2e8
_EVERY = 0.25  # seconds between two reports
VARIANTS = (
    "chess", "xiangqi", "shogi", "minishogi", "checkers", "breakthrough", "clobber", "amazons", "ataxx", "othello",
    "connect_four", "go", "gomoku", "hex",
)  # fmt: skip
"""Games that `setoption name UCI_Variant` may name, of those that come with Treetop."""


class UciServer:
    """Answers the commands of one program. `send` is called with lines, by any thread, one call at a time.

    >>> import treetop as tt
    >>> said = []
    >>> with UciServer(said.append, tt.load_game("breakthrough")) as server:
    ...     for line in ("uci", "position startpos moves d2d3", "go nodes 200"):
    ...         more = server.receive(line)
    ...     server.wait()
    >>> said[0].split()[:3], said[-1].split()[0]
    (['id', 'name', 'Treetop'], 'bestmove')
    """

    def __init__(
        self, send: Callable[[str], object], game: Game, *, dialect: str = "uci", engine: Engine | None = None,
        make_model: Callable[[str, Game], Any] | None = None, threads: int = 1,
    ) -> None:  # fmt: skip
        checks.one_of("dialect", dialect, tuple(DIALECTS))
        refuse_other_kinds(game, "UCI")
        self._given, self._sending = send, threading.Lock()
        self.dialect: Dialect = DIALECTS[dialect]
        self._own, self._make_model = game, make_model
        self._settings: dict[str, Any] = {"MultiPV": 1, "Move Overhead": round(1000 * OVERHEAD), "Hash": _MEMORY}
        self._in_seconds = self.dialect.in_seconds
        self._thinker = Thinker(engine, threads=threads, most_memory=_MEMORY * 2**20)
        self._replay, self._position = Replay(game), Position.start(game)
        self._banned: frozenset[str] = frozenset()
        self._lock = threading.Lock()  # of what follows: both threads decide when a move is sent
        self._held: str | None = None  # the best move of a search that may not end by itself
        self._may_end, self._over = True, threading.Event()
        self._over.set()
        self._going, self._began = Going(), 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thinker.close()

    def wait(self) -> None:
        """Wait until the search that runs has ended; stop one that would never end by itself."""
        if self._going.is_endless:
            self.stop()
        self._over.wait()

    def _send(self, line: str) -> None:
        with self._sending:
            self._given(line)

    def receive(self, line: str) -> bool:
        """Carry out a command; return whether the program may send more."""
        words = line[:_MOST_LINE].split()
        if not words:
            return True
        name, rest = words[0], words[1:]
        dialect = self.dialect
        if name == "quit":
            self.stop()
            if dialect.name == "ucci":
                self._send("bye")
            return False
        commands: dict[str, Callable[[list[str]], None]] = {
            dialect.hello: self._hello, "isready": self._is_ready, "setoption": self._set_option,
            "ucinewgame": self._new_game, "usinewgame": self._new_game, "position": self._set_position, "go": self._go,
            "stop": lambda _: self.stop(), "ponderhit": self._ponder_hit, "d": self._show,
            "gameover": lambda _: self.stop(),
            "debug": lambda _: None, "register": lambda _: None,
        }  # fmt: skip
        if dialect.name == "ucci":
            commands["banmoves"] = self._ban
        try:
            if len(line) > _MOST_LINE:
                raise ConfigError(f"a command has at most {_MOST_LINE:,} characters")
            if name not in commands:
                raise ConfigError(f"unknown command {checks.shorten(name)}; {checks.suggest(name, tuple(commands))}")
            commands[name](rest)
        except TreetopError as error:
            self._say(f"error: {' '.join(str(error).split())}")
        return True

    def _say(self, text: str) -> None:
        self._send(f"info {self.dialect.note} {text}")

    # Set-up.

    def _hello(self, words: list[str]) -> None:  # noqa: ARG002
        import treetop

        self._send(f"id name Treetop {treetop.__version__}")
        self._send("id author the Treetop developers")
        for option, default in self._options():
            self._send(self.dialect.option(option, default))
        self._send(self.dialect.ready)

    def _options(self) -> list[tuple[UciOption, Any]]:
        """Return the options with their defaults."""
        found: list[tuple[UciOption, Any]] = [
            (UciOption("Threads", "spin", 1, _MOST_THREADS), self._thinker.threads),
            (UciOption("Hash", "spin", 1, _MOST_MEMORY), _MEMORY),
            (UciOption("MultiPV", "spin", 1, _MOST_LINES), 1),
            (UciOption("Ponder", "check"), False),
            (UciOption("Move Overhead", "spin", 0, 10_000), round(1000 * OVERHEAD)),
            (UciOption("Rule", "string"), self._thinker.engine.rule or "recommended"),
            (UciOption("Seed", "spin", 0, checks.INT32_MAX), self._thinker.engine.seed),
        ]
        if self.dialect.name == "uci":  # the others are for one game
            name = self._own.source or self._own.name
            variants = tuple(dict.fromkeys((name, *(known for known in VARIANTS if known in BUNDLED))))
            found.insert(0, (UciOption("UCI_Variant", "combo", choices=variants), name))
            found.append((UciOption("UCI_Chess960", "check"), False))
        if self.dialect.in_seconds:
            found.append((UciOption("usemillisec", "check"), False))
        if self._make_model is not None:
            found.append((UciOption("Model", "string"), "<empty>"))
        return found

    def _is_ready(self, words: list[str]) -> None:  # noqa: ARG002
        self._thinker.prepare(self._position)
        self._send("readyok")

    def _set_option(self, words: list[str]) -> None:
        self.stop()
        found = self.dialect.setting(" ".join(words))
        if found is None:
            raise ConfigError("setoption needs a name: setoption name MultiPV value 3")
        self.set_option(*found)

    def set_option(self, name: str, value: str) -> None:
        """Set an option; raise ConfigError where there is no such one, or it does not have this value."""
        names = self.dialect.names
        options = {names.get(option.name, option.name).lower(): option for option, _ in self._options()}
        option = options.get(name.lower())
        if option is None:
            known = [names.get(one.name, one.name) for one in options.values()]
            raise ConfigError(f"there is no option {checks.shorten(name)}; {checks.suggest(name, known)}")
        if option.kind == "check":
            value = {"1": "true", "0": "false"}.get(value, value.lower())  # some programs write numbers
        if option.kind != "combo" and (refusal := option.refusal(value)) is not None:
            raise ConfigError(f"the option {option.name}: {refusal}")
        self._take(option.name, value)

    def _take(self, name: str, value: str) -> None:
        """Carry out an option whose value has the right form."""
        thinker = self._thinker
        if name == "UCI_Variant":
            own = self._own.source or self._own.name
            self._restart(self._own if value == own else load_bundled(value))
        elif name == "UCI_Chess960":
            self._restart(load_bundled("chess(variant='960')" if value == "true" else "chess"))
        elif name == "Threads":
            thinker.threads = int(value)
        elif name == "Hash":
            thinker.most_memory = int(value) * 2**20
        elif name == "Rule":
            rule = None if value in ("", "recommended") else value
            changed = replace(thinker.engine, rule=rule)
            changed.search(Position.start(self._position.game))  # refused now, not at the next move
            thinker.engine = changed
        elif name == "Seed":
            thinker.engine = replace(thinker.engine, seed=int(value))
        elif name == "Model":
            assert self._make_model is not None
            model = None if value in ("", "<empty>") else self._make_model(value, self._position.game)
            thinker.engine = replace(thinker.engine, evaluator=model)
        elif name == "usemillisec":
            self._in_seconds = value == "false"
        elif name in self._settings:
            self._settings[name] = int(value)
        thinker.forget()

    def _restart(self, game: Game) -> None:
        refuse_other_kinds(game, "UCI")
        self._thinker.forget()
        self._replay, self._position, self._banned = Replay(game), Position.start(game), frozenset()

    def _new_game(self, words: list[str]) -> None:  # noqa: ARG002
        self.stop()
        self._restart(self._position.game)

    def _set_position(self, words: list[str]) -> None:
        """Take `startpos` or a position as text, and the moves after it."""
        self.stop()
        place = words.index("moves") if "moves" in words else len(words)
        how, moves = words[:place], words[place + 1 :]
        set_up = None if how == ["startpos"] else " ".join(how[1:])
        if set_up is not None and not (how[:1] == [self.dialect.set_up] and set_up):
            raise ConfigError(f"position needs startpos or {self.dialect.set_up} and a position, then moves")
        self._position = self._replay.position(set_up, [self.dialect.own(move) for move in moves])
        self._banned = frozenset()

    def _ban(self, words: list[str]) -> None:
        """Leave moves out of the next search, as UCCI's rules of repetition want."""
        self._banned = frozenset(self.dialect.own(move) for move in words)

    def _show(self, words: list[str]) -> None:  # noqa: ARG002
        for line in str(self._position).splitlines():
            self._send(line)

    # Searching.

    def _go(self, words: list[str]) -> None:
        self.stop()
        if words[:1] == ["perft"]:
            self._perft(words[1:])
            return
        going = Going.parse(words)
        if self.dialect.name == "usi" and "mate" in going.numbers:
            self._send("checkmate notimplemented")
            return
        if going.unknown:
            self._say(f"go ignores {checks.shorten(' '.join(going.unknown))}")
        include = self._included(going)
        over = self._position.is_terminal
        with self._lock:
            self._held = self.dialect.no_move if over and going.waits else None
            self._may_end, self._going, self._began = not going.waits, going, time.monotonic()
            self._over.clear()
        if over:
            if not going.waits:
                self._end(self.dialect.no_move)
            return
        seconds, nodes = (None, None) if going.waits else self._budget()
        try:
            self._thinker.begin(
                self._position, report=self._report, failed=self._failed, simulations=nodes, seconds=seconds,
                every=_EVERY, include=include,
            )  # fmt: skip
        except BaseException:
            self._over.set()
            raise

    def _included(self, going: Going) -> list[str] | None:
        """Return the moves to search; None: all."""
        include = [self.dialect.own(move) for move in going.moves]
        if include and not self._position.is_terminal:
            for move in include:
                self._position.parse_move(move)
        elif self._banned and not self._position.is_terminal:
            include = [move for move in self._position.legal_moves() if move not in self._banned]
        return include or None

    def _budget(self) -> tuple[float | None, int | None]:
        """Return the seconds and the simulations of the next move."""
        first = self.dialect.first
        letter = first if self._position.player == 0 else {"w": "b", "b": "w"}[first]
        return self._going.budget(letter, self._settings["Move Overhead"] / 1000, in_seconds=self._in_seconds)

    def _ponder_hit(self, words: list[str]) -> None:  # noqa: ARG002
        with self._lock:
            if self._may_end or "ponder" not in self._going.flags or "infinite" in self._going.flags:
                return
            self._may_end = True
            held, self._held = self._held, None
            self._going = replace(self._going, flags=self._going.flags - {"ponder"})
        if held is not None:
            self._end(held)
        else:
            seconds, nodes = self._budget()
            self._thinker.hurry(seconds, nodes)

    def stop(self) -> None:
        """End the search that runs, and send its move."""
        with self._lock:
            self._may_end = True
            held, self._held = self._held, None
        if held is not None:
            self._end(held)
        self._thinker.stop()

    def _report(self, _: Thinking, result: SearchResult, last: bool) -> None:
        for line in self._info(result):
            self._send(line)
        if not last:
            return
        theirs = [self.dialect.theirs(move) for move in result.pv[:2]]
        text = f"bestmove {self.dialect.theirs(result.move)}"
        if len(theirs) > 1 and result.pv[0] == result.move:
            text += f" ponder {theirs[1]}"
        with self._lock:
            if not self._may_end:
                self._held = text
                return
        self._end(text)

    def _failed(self, _: Thinking, error: BaseException) -> None:
        self._say(f"error: {' '.join(str(error).split())}")
        self._end(self.dialect.no_move)

    def _end(self, text: str) -> None:
        self._send(text)
        self._over.set()

    def _info(self, result: SearchResult) -> list[str]:
        """Return the lines of a report, the best move first."""
        speed = result.usage.simulations / max(result.usage.elapsed, 1e-3)
        elapsed, full, found = time.monotonic() - self._began, self._thinker.fullness(), list[str]()
        for number, info in enumerate(move_infos(result, self._settings["MultiPV"]), start=1):
            line = [self.dialect.theirs(move) for move in info["pv"]]
            several = f" multipv {number}" if self._settings["MultiPV"] > 1 else ""
            score = self._score(result, info, number == 1)
            found.append(
                f"info depth {len(line)}{several} score {score} nodes {result.root_visits} nps {round(speed)} "
                f"hashfull {round(1000 * full)} time {round(1000 * elapsed)} pv {' '.join(line)}"
            )
        return found

    def _score(self, result: SearchResult, info: dict[str, Any], first: bool) -> str:
        """Return the value of a move as the protocol writes it."""
        proof = result.proof if first else None
        if proof is not None and proof.outcome in ("win", "loss"):
            return self.dialect.mate(proof.at_most if proof.outcome == "win" else -proof.at_most)
        value = 0.0 if info["utility"] is None else 2.0 * win_rate(result.position, info["utility"]) - 1.0
        return self.dialect.centipawns(round(90.0 * math.tan(1.5637541897 * min(1.0, max(-1.0, value)))))

    def _perft(self, words: list[str]) -> None:
        if len(words) != 1 or not WHOLE.fullmatch(words[0]) or not 1 <= int(words[0]) <= _DEEPEST_PERFT:
            raise ConfigError(f"go perft needs a depth from 1 to {_DEEPEST_PERFT}")
        counts = [1.0]
        for depth in range(1, int(words[0])):
            counts.append(perft(self._position, depth))
            if counts[-1] ** 2 / max(1.0, counts[-2]) > _MOST_PERFT:
                raise ConfigError(f"go perft {words[0]} would take too long here: {depth} is the deepest")
        depth, total = int(words[0]), 0
        for action in () if self._position.is_terminal else self._position.legal_actions():
            count = 1 if depth == 1 else perft(self._position.apply(action), depth - 1)
            total += count
            self._send(f"{self.dialect.theirs(self._position.move_text(action))}: {count}")
        self._send(f"Nodes searched: {total}")


def read_settings(path: Path) -> dict[str, str]:
    """Return the options in a TOML file as `setoption` has them; raise ConfigError where it is something else."""
    try:
        given = tomllib.loads(read_bytes(path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} is not a TOML file: {error}") from None
    for name, value in given.items():
        if not isinstance(value, str | int | bool):
            raise ConfigError(f"{path}: the value of {name} must be a text, a whole number, true or false")
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}
