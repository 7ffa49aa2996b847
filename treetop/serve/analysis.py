"""The analysis protocol: queries and answers as lines of JSON, in the manner of KataGo, for every game.

A query names a position and a limit; its answers carry its `id`. Queries are searched side by side, and answers come in
the order in which they are ready. A query that is wrong gets an error that names the field.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, BinaryIO, Self, TypeVar

import treetop
from treetop import checks
from treetop.errors import ConfigError, TreetopError
from treetop.files import parse_json
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.registry import load_bundled
from treetop.game.registry import position as position_of
from treetop.search.result import SearchResult
from treetop.serve.engines import Engine
from treetop.serve.tasks import Scheduler, Thinking
from treetop.show.views import move_infos, position_view, root_info

_MOST_BYTES = 2**20  # of a line
_MOST_VISITS, _MOST_SECONDS = 10**9, 86_400.0
_MOST_TURNS = 10_000
_MOST_AT_A_TIME = 64  # searches that take turns: each has a tree in memory
_DEFAULT_VISITS = 1000
_Value = TypeVar("_Value")


class QueryError(Exception):
    """A query that cannot be answered, and the field that is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Query:
    """A query, with its fields checked; the names are those of the protocol.

    >>> Query.read({"id": "a", "game": "nim", "moves": ["2", "1"]}).maxVisits
    1000
    """

    id: str
    game: str | None = None
    moves: tuple[str, ...] = ()
    initialPosition: str | None = None  # noqa: N815 - the protocol's names
    seed: int = 0
    rule: str | None = None
    maxVisits: int = _DEFAULT_VISITS  # noqa: N815
    maxTime: float | None = None  # noqa: N815
    analyzeTurns: tuple[int, ...] | None = None  # noqa: N815
    reportDuringSearchEvery: float | None = None  # noqa: N815
    allowMoves: tuple[str, ...] | None = None  # noqa: N815
    avoidMoves: tuple[str, ...] = ()  # noqa: N815
    includePolicy: bool = False  # noqa: N815
    includeBoard: bool = False  # noqa: N815
    maxMoves: int | None = None  # noqa: N815

    @classmethod
    def read(cls, given: dict[str, Any]) -> Query:
        """Return the query of a JSON object; raise QueryError where a field is wrong or unknown."""
        names = [known.name for known in fields(cls)]
        for name in given:
            if name not in names:
                raise QueryError(name, f"unknown field {checks.shorten(name)}; {checks.suggest(str(name), names)}")
        found = {name: _READERS[name](name, value) for name, value in given.items() if value is not None}
        return cls(**found)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise QueryError(name, f"{name} must be a text, not {checks.shorten(value)}")
    return value


def _texts(name: str, value: Any) -> tuple[str, ...]:
    """Read a list of moves; a move may stand beside its player, as in ["0", "a1"]."""
    if isinstance(value, str):
        return tuple(value.split())
    if not isinstance(value, list):
        raise QueryError(name, f"{name} must be a list of moves, not {checks.shorten(value)}")
    moves = [move[1] if isinstance(move, list) and len(move) == 2 else move for move in value]
    return tuple(_text(name, move) for move in moves)


def _whole(low: int, high: int) -> Callable[[str, Any], int]:
    def read(name: str, value: Any) -> int:
        return _checked(name, lambda: checks.whole(name, value, low, high))

    return read


def _seconds(name: str, value: Any) -> float:
    return _checked(name, lambda: checks.number(name, value, above=0, high=_MOST_SECONDS))


def _turns(name: str, value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) > _MOST_TURNS:
        raise QueryError(name, f"{name} must be a list of at most {_MOST_TURNS:,} turns, not {checks.shorten(value)}")
    if not value:
        raise QueryError(name, f"{name} must name a turn: leave it out for the last one")
    return tuple(_whole(0, checks.INT32_MAX)(name, turn) for turn in value)


def _flag(name: str, value: Any) -> bool:
    return _checked(name, lambda: bool(checks.flag(name, value)))


def _checked(name: str, read: Callable[[], _Value]) -> _Value:
    try:
        return read()
    except ConfigError as error:
        raise QueryError(name, str(error)) from None


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "id": _text, "game": _text, "moves": _texts, "initialPosition": _text, "seed": _whole(0, checks.INT32_MAX),
    "rule": _text, "maxVisits": _whole(1, _MOST_VISITS), "maxTime": _seconds, "analyzeTurns": _turns,
    "reportDuringSearchEvery": _seconds, "allowMoves": _texts, "avoidMoves": _texts, "includePolicy": _flag,
    "includeBoard": _flag, "maxMoves": _whole(1, checks.INT32_MAX),
}  # fmt: skip


class Analyzer:
    """Answers queries. `send` is called with each answer, by any thread, one call at a time.

    `game` is the game of queries that name none; a query can name bundled games only, since a text from outside imports
    no module.

    >>> answers = []
    >>> with Analyzer(answers.append, game=treetop.load_game("nim")) as analyzer:
    ...     analyzer.receive('{"id": "a", "moves": ["2"], "maxVisits": 200}')
    ...     analyzer.wait()
    >>> answers[0]["id"], answers[0]["moveInfos"][0]["visits"] > 0
    ('a', True)
    """

    def __init__(
        self, send: Callable[[dict[str, Any]], None], *, game: Game | None = None, rule: str | None = None,
        evaluator: Any = None, threads: int = 1,
    ) -> None:  # fmt: skip
        self._given, self._game, self._engine = send, game, Engine(rule, evaluator)
        self._scheduler = Scheduler(threads)
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._running: dict[str, list[Thinking]] = {}
        self._waiting, self._started = deque[Thinking](), 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait(self) -> None:
        """Wait until all queries are answered."""
        self._scheduler.wait()

    def close(self) -> None:
        """End without answers to what is still searched."""
        self._scheduler.close()

    def receive(self, line: str | bytes) -> None:
        """Take a line: begin a query, or answer at once."""
        name: str | None = None
        try:
            if len(line) > _MOST_BYTES:
                raise QueryError("", f"a query has at most {_MOST_BYTES:,} bytes")
            try:
                given = parse_json(line if isinstance(line, bytes) else line.encode())
            except ValueError as error:
                raise QueryError("", f"not a line of JSON: {error}") from None
            if not isinstance(given, dict):
                raise QueryError("", f"a query is a JSON object, not {checks.shorten(given)}")
            name = given["id"] if isinstance(given.get("id"), str) else None
            if name is None:
                raise QueryError("id", "a query needs an id, which is a text")
            if "action" in given:
                self._act(given)
            else:
                self._begin(Query.read(given))
        except QueryError as error:
            self._send({"id": name, "error": str(error), "field": error.field})

    def _send(self, answer: dict[str, Any]) -> None:
        with self._sending:
            self._given(answer)

    def _act(self, given: dict[str, Any]) -> None:
        """Carry out an action that is not a query."""
        action, name = given["action"], given["id"]
        if action == "query_version":
            self._send({"id": name, "action": action, "version": treetop.__version__})
        elif action == "terminate":
            wanted = given.get("terminateId")
            if not isinstance(wanted, str):
                raise QueryError("terminateId", "terminateId must be the id of a query, which is a text")
            with self._lock:
                tasks = list(self._running.get(wanted, ()))
            self._stop(tasks)
            self._send({"id": name, "action": action, "terminateId": wanted})
        elif action == "terminate_all":
            with self._lock:
                tasks = [task for found in self._running.values() for task in found]
            self._stop(tasks)
            self._send({"id": name, "action": action})
        else:
            known = "query_version, terminate or terminate_all"
            raise QueryError("action", f"action must be {known}, not {checks.shorten(action)}")

    def _begin(self, query: Query) -> None:
        """Begin a search for each turn of a query."""
        with self._lock:
            if query.id in self._running:
                raise QueryError("id", f"a query with the id {checks.shorten(query.id)} is still running")
        positions = self._positions(query)
        if query.analyzeTurns is None:
            turns: tuple[int, ...] = (len(positions) - 1,)
        else:
            turns = tuple(dict.fromkeys(query.analyzeTurns))
        late = [turn for turn in turns if turn >= len(positions)]
        if late:
            raise QueryError("analyzeTurns", f"turn {late[0]} does not exist: there are {len(positions) - 1} moves")
        tasks, ended = list[Thinking](), list[int]()
        for turn in turns:
            if positions[turn].is_terminal:
                ended.append(turn)
            else:
                tasks.append(self._task(query, turn, positions[turn]))
        with self._lock:
            self._running[query.id] = tasks
        for turn in ended:
            returns = [float(value) for value in positions[turn].returns]
            self._send({**_head(query, turn, during=False), "noResults": True, "returns": returns})
        if not tasks:
            self._forget(query.id, None)
            return
        with self._lock:
            self._waiting.extend(tasks)
        self._fill()

    def _fill(self) -> None:
        """Begin searches that wait, in their order, as long as few take turns."""
        with self._lock:
            count = min(len(self._waiting), _MOST_AT_A_TIME - self._started)
            tasks = [self._waiting.popleft() for _ in range(count)]
            self._started += len(tasks)
        for task in tasks:
            self._scheduler.add(task)

    def _stop(self, tasks: list[Thinking]) -> None:
        """End searches; those that wait begin, so that they have an answer."""
        with self._lock:
            wanted = set(map(id, tasks))
            waiting = [task for task in self._waiting if id(task) in wanted]
            self._waiting = deque(task for task in self._waiting if id(task) not in wanted)
            self._started += len(waiting)
        for task in tasks:
            task.stop()
        for task in waiting:
            self._scheduler.add(task)

    def _positions(self, query: Query) -> list[Position]:
        """Return the positions of a query, from the first one on."""
        try:
            game = self._game if query.game is None else load_bundled(query.game)
        except TreetopError as error:
            raise QueryError("game", str(error)) from None
        if game is None:
            raise QueryError("game", "a query needs a game, such as connect_four or 'hex(size=7)'")
        try:
            seed = query.seed if game.has("deal") and query.initialPosition is None else None
            position = position_of(game, "", setup=query.initialPosition, seed=seed)
        except TreetopError as error:
            raise QueryError("initialPosition", str(error)) from None
        found = [position]
        for number, move in enumerate(query.moves, start=1):
            try:
                found.append(found[-1].play(move))
            except TreetopError as error:
                raise QueryError("moves", f"move {number}: {str(error).partition(chr(10))[0]}") from None
        return found

    def _task(self, query: Query, turn: int, position: Position) -> Thinking:
        try:
            engine = self._engine if query.rule is None else Engine(query.rule)
            search = engine.search(position, seed=query.seed)
            legal = position.legal_moves(search.player if position.player < 0 else None)
        except TreetopError as error:
            raise QueryError("rule" if query.rule else "moves", str(error).partition("\n")[0]) from None
        for name in ("allowMoves", "avoidMoves"):
            for move in getattr(query, name) or ():
                if move not in legal:
                    raise QueryError(name, f"{checks.shorten(move)} is not a legal move of turn {turn}")
        allowed = legal if query.allowMoves is None else query.allowMoves
        if legal and not set(allowed) - set(query.avoidMoves):
            name = "avoidMoves" if query.avoidMoves else "allowMoves"
            raise QueryError(name, f"allowMoves and avoidMoves leave no move of turn {turn} to search")

        def report(task: Thinking, result: SearchResult, over: bool) -> None:
            self._send(self._answer(query, turn, result, during=not over))
            if over:
                self._over(query.id, task)

        def failed(task: Thinking, error: BaseException) -> None:
            message = str(error).partition("\n")[0]
            try:
                self._send({"id": query.id, "turnNumber": turn, "error": message, "field": "game"})
            finally:
                self._over(query.id, task)

        return Thinking(
            search, visits=query.maxVisits, seconds=query.maxTime, every=query.reportDuringSearchEvery, report=report,
            failed=failed, include=query.allowMoves, exclude=query.avoidMoves,
        )  # fmt: skip

    def _answer(self, query: Query, turn: int, result: SearchResult, *, during: bool) -> dict[str, Any]:
        answer = {
            **_head(query, turn, during=during), "moveInfos": move_infos(result, query.maxMoves),
            "rootInfo": root_info(result),
        }  # fmt: skip
        if query.includePolicy:
            rows = zip(range(len(result.priors)), result.priors.tolist(), strict=True)
            answer["policy"] = {result.name_of(index): prior for index, prior in rows}
        if query.includeBoard:
            answer["board"] = position_view(result.position)["board"]
        return answer

    def _over(self, name: str, task: Thinking) -> None:
        """Begin another search in place of one that has ended."""
        self._forget(name, task)
        with self._lock:
            self._started -= 1
        self._fill()

    def _forget(self, name: str, task: Thinking | None) -> None:
        with self._lock:
            left = [one for one in self._running.get(name, ()) if one is not task]
            if left and task is not None:
                self._running[name] = left
            else:
                self._running.pop(name, None)


def _head(query: Query, turn: int, *, during: bool) -> dict[str, Any]:
    return {"id": query.id, "turnNumber": turn, "isDuringSearch": during}


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a stream; of a line that is too long for a query only its beginning, which is refused.

    >>> import io
    >>> [len(line) for line in lines_of(io.BytesIO(3_000_000 * b"x"))]
    [1048577]
    """
    while line := stream.readline(_MOST_BYTES + 1):
        yield line
        while line and not line.endswith(b"\n"):
            line = stream.readline(_MOST_BYTES + 1)


def as_line(answer: dict[str, Any]) -> str:
    """Return an answer as a line of JSON."""
    return json.dumps(answer, allow_nan=False)
