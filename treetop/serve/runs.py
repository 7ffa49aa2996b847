"""Requests for the training runs, matches, tournaments and evaluations of a folder, and for replays of their games."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, HTTPException, Query
from fastapi import Path as Name

from treetop.arena.openings import start_of
from treetop.errors import ConfigError, TreetopError, UnknownGameError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.registry import load_bundled
from treetop.journal import Record
from treetop.search.explain import finite
from treetop.serve.run_folder import Folder
from treetop.serve.run_games import Games
from treetop.serve.schema import Answer
from treetop.types import CHANCE

if TYPE_CHECKING:
    from treetop.serve.app import _State

_MOST_PLIES = 2000  # moves and outcomes of chance of a game that are replayed
Id = Annotated[str, Name(pattern="^[0-9a-f]{16}$")]
Number = Annotated[int, Name(ge=0, lt=2**53)]


def add_runs(app: FastAPI, state: _State) -> None:
    """Add the requests to the server; without a folder the list says so, and nothing else is found."""
    folder = None if state.options.runs is None else Folder(state.options.runs)

    def known() -> Folder:
        if folder is None:
            raise HTTPException(404, "this server shows no folder: start it with --runs FOLDER")
        return folder

    @app.get("/api/runs")
    def runs() -> Answer:
        """Return what the folder holds, the newest first; `waiting` counts what the next request reads."""
        return {"folder": None, "entries": [], "waiting": 0, "cut": False} if folder is None else _plain(folder.rows())

    @app.get("/api/runs/version")
    def version(entry: Annotated[str | None, Query(max_length=40)] = None) -> Answer:
        """Return texts that change whenever the folder, or one entry, changes."""
        return {"list": "", "entry": ""} if folder is None else dict(folder.version(entry))

    @app.get("/api/runs/{entry}")
    def run(entry: Id) -> Answer:
        """Return the figures, curves and tables of an entry, as data."""
        try:
            return _plain(known().detail(entry))
        except KeyError:
            raise _gone() from None

    @app.get("/api/runs/{entry}/games")
    def games(
        entry: Id,
        first: Annotated[int, Query(ge=0, lt=2**31)] = 0,
        count: Annotated[int, Query(ge=1, le=500)] = 50,
    ) -> Answer:
        """Return some games of a match or an evaluation, as a table."""
        try:
            return known().games(entry, lambda content: content.page(first, count))
        except KeyError:
            raise _gone() from None

    @app.get("/api/runs/{entry}/games/{number}")
    def game(entry: Id, number: Number) -> Answer:
        """Return one game: its players, its result, and its moves as text."""
        try:
            return _plain(known().games(entry, lambda content: content.view(content.record(number))))
        except KeyError:
            raise _gone() from None

    @app.post("/api/runs/{entry}/games/{number}/replay", status_code=201)
    def replay(entry: Id, number: Number) -> Answer:
        """Begin a session with the line of a recorded game, after its opening."""
        try:
            found = known().games(entry, lambda content: _Recorded(content, content.record(number)))
        except KeyError:
            raise _gone() from None
        line, opening, left = found.line(_game_of(state, found))
        session = state.sessions.create(line[0], (), found.seed % 2**31)
        session.follow(line, opening)
        return {"session": session.view(), "opening": opening, "left": left}


def _gone() -> HTTPException:
    return HTTPException(404, "there is no such entry or game: it may have been moved, so load the list again")


def _game_of(state: _State, found: _Recorded) -> Game:
    """Return the game of a record: that of the server, or a bundled one."""
    own = state.options.game
    if own is not None and (own.digest == found.rules or found.game in (own.name, own.source)):
        return own
    try:
        return state.sessions.game(found.game, load_bundled)
    except UnknownGameError as error:
        raise ConfigError(f"{error}: start the server with this game to see its board") from None


class _Recorded:
    """A recorded game. A file is data: every action is checked by the rules when it is played again."""

    def __init__(self, content: Games, record: Record) -> None:
        self.game, self.rules, self.seed = content.game, content.header.get("rules"), int(content.header["seed"])
        self._deal = content.deal_of(record)
        self._opening, self._actions = (self._list(record, name) for name in ("opening", "actions"))

    @staticmethod
    def _list(record: Record, name: str) -> list[Any]:
        found = record.get(name, [])
        return found if isinstance(found, list) else []

    def line(self, game: Game) -> tuple[list[Position], int, int]:
        """Return the positions at which a player moves, and the last one; the place where the opening ends; and how
        many further moves are left out.
        """
        position = start_of(game, self.seed, self._deal)
        positions, actions = [position], [*self._opening, *self._actions]
        for place, action in enumerate(actions[:_MOST_PLIES]):
            try:
                position = position.apply(action)
            except TreetopError as error:
                reason = str(error).partition("\n")[0]
                raise ConfigError(
                    f"the record does not fit the rules of {game.name}: move {place + 1}: {reason}"
                ) from None
            positions.append(position)
        line = [one for one in positions if one.is_terminal or one.player != CHANCE] or positions[-1:]
        opening = sum(len(one.actions) < len(self._opening) for one in line)
        return line, min(opening, len(line) - 1), max(0, len(actions) - _MOST_PLIES)


def _plain(answer: Answer) -> Answer:
    """Return an answer without NaN and infinity, which JSON does not have."""
    return {key: _finite(value) for key, value in answer.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return _plain(value)
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return finite(value)
