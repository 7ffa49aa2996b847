"""Requests for the training runs, matches, tournaments and evaluations of a folder, and for replays of their games."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import FastAPI, HTTPException, Query
from fastapi import Path as Name

from treetop.errors import ConfigError, UnknownGameError
from treetop.game.definition import Game
from treetop.game.registry import load_bundled
from treetop.serve.run_folder import Folder
from treetop.serve.run_replay import Recorded
from treetop.serve.schema import Answer, plain

if TYPE_CHECKING:
    from treetop.serve.app import _State

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
        return {"folder": None, "entries": [], "waiting": 0, "cut": False} if folder is None else plain(folder.rows())

    @app.get("/api/runs/version")
    def version(entry: Annotated[str | None, Query(max_length=40)] = None) -> Answer:
        """Return texts that change whenever the folder, or one entry, changes."""
        return {"list": "", "entry": ""} if folder is None else dict(folder.version(entry))

    @app.get("/api/runs/{entry}")
    def run(entry: Id) -> Answer:
        """Return the figures, curves and tables of an entry, as data."""
        try:
            return plain(known().detail(entry))
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
            return plain(known().games(entry, lambda content: content.view(content.record(number))))
        except KeyError:
            raise _gone() from None

    @app.post("/api/runs/{entry}/games/{number}/replay", status_code=201)
    def replay(entry: Id, number: Number) -> Answer:
        """Begin a session with the line of a recorded game, after its opening."""
        try:
            found = known().games(entry, lambda content: Recorded(content, content.record(number)))
        except KeyError:
            raise _gone() from None
        line, opening, left = found.line(_game_of(state, found))
        session = state.sessions.create(line[0], (), found.seed % 2**31)
        session.show_line(line, opening)
        return {"session": session.view(), "opening": opening, "left": left}


def _gone() -> HTTPException:
    return HTTPException(404, "there is no such entry or game: it may have been moved, so load the list again")


def _game_of(state: _State, found: Recorded) -> Game:
    """Return the game of a record: that of the server, or a bundled one."""
    own = state.options.game
    if own is not None and (own.digest == found.rules or found.game in (own.name, own.source)):
        return own
    try:
        return state.sessions.game(found.game, load_bundled)
    except UnknownGameError as error:
        raise ConfigError(f"{error}: start the server with this game to see its board") from None
