"""The server: requests for games, searches, trees, records, reviews and proofs; events over a websocket; the page."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import threading
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request, WebSocket, WebSocketDisconnect
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException as AnyHTTPException

import treetop
from treetop import checks
from treetop.errors import ConfigError, TreetopError
from treetop.game.definition import Game
from treetop.game.notation import first_game
from treetop.game.registry import BUNDLED, load_bundled, load_game
from treetop.game.registry import position as position_of
from treetop.prove.prover import Theorem
from treetop.search.search import Search
from treetop.serve.engines import Engine
from treetop.serve.jobs import Job, compared, recorded
from treetop.serve.limits import Limits, TooManyError, TooSlowError
from treetop.serve.parameters import parameters_of_bundled
from treetop.serve.proofs import Proofs, add_proofs
from treetop.serve.runs import add_runs
from treetop.serve.schema import (
    Answer,
    Failure,
    Follow,
    Go,
    NewReview,
    NewSession,
    Play,
    RecordSearch,
    Think,
    WhatIf,
    plain,
)
from treetop.serve.session import Event, Session
from treetop.serve.sessions import Sessions
from treetop.serve.tasks import Scheduler
from treetop.serve.whatif import Settings
from treetop.show.trees import MOST_NODES, subtree
from treetop.text import json_text

PAGE = Path(__file__).parent / "page"
_MOST_SOCKETS = 500
_ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": Failure} for code in (400, 401, 403, 404, 408, 413, 421, 422, 429)
}


@dataclass
class Options:
    """How a server is set up."""

    game: Game | None = None
    """The game that is shown at first, and that clients get if they name none: it may be the user's own."""
    model: Any = None
    """A network, as an evaluator; it is used for its game."""
    rule: str | None = None
    theorem: Theorem | None = None
    """A theorem that clients may have proved, beside formulas."""
    threads: int = 2
    limits: Limits = field(default_factory=Limits)
    runs: Path | None = None
    """A folder of training runs, matches and tournaments that is shown."""


class Mailbox:
    """The last event of each type, for a client that may be slower than the search."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._ready = loop, asyncio.Event()
        self._events: dict[str, Event] = {}
        self._lock = threading.Lock()

    def put(self, event: Event) -> None:
        """Take an event, in any thread."""
        with self._lock:
            self._events.pop(event["type"], None)
            self._events[event["type"]] = event
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._ready.set)

    async def take(self) -> list[Event]:
        """Wait for events, and return them, the oldest first."""
        await self._ready.wait()
        with self._lock:
            self._ready.clear()
            found, self._events = list(self._events.values()), {}
        return found


def create_app(options: Options | None = None) -> FastAPI:
    """Return the server as an ASGI application; `treetop.serve.security.Gate` belongs around it.

    >>> create_app().title
    'Treetop'
    """
    chosen = Options() if options is None else options

    state = _State(chosen)
    app = FastAPI(
        title="Treetop", version=treetop.__version__, openapi_url="/api/openapi.json", docs_url=None, redoc_url=None,
        responses=_ERRORS,
    )  # fmt: skip
    app.state.treetop = state
    _add_errors(app)
    _add_games(app, state)
    _add_lines(app, state)
    _add_searches(app, state)
    _add_live(app, state)
    add_proofs(app, state.proofs)
    add_runs(app, state)
    _add_page(app)
    return app


class _State:
    """What all requests share."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.scheduler = Scheduler(options.threads)
        self.sessions = Sessions(Engine(options.rule, None), self.scheduler, options.limits)
        self.proofs = Proofs(self.scheduler, theorem=options.theorem)
        self.sockets = 0

    def close(self) -> None:
        """End all searches."""
        self.proofs.close()
        self.sessions.close()
        self.scheduler.close()

    def session(self, name: str) -> Session:
        """Return a session; raise an HTTPException where there is none."""
        try:
            return self.sessions.find(name)
        except KeyError:
            raise HTTPException(404, "there is no such game on this server: begin a new one") from None

    def game(self, spec: str | None) -> Game:
        """Return a game by the name of a client: a bundled one, or the game of the server."""
        own = self.options.game
        if spec is None or (own is not None and spec in (own.name, own.source)):
            if own is None:
                return self.sessions.game("connect_four", load_bundled)
            return own
        return self.sessions.game(spec, load_bundled)

    def engine(self, rule: str | None, seed: int, session: Session, *, model: bool = True) -> Engine:
        """Return the settings of a search; the network of the server is used for its own game only."""
        network = self.options.model if model and rule is None else None
        if network is not None and network.game.digest != session.position.game.digest:
            network = None
        engine = Engine(rule or (None if network is not None else self.options.rule), network, seed)
        if session.viewer is not None and engine.parts(session.position)[0].information.name == "perfect":
            raise ConfigError(
                "information='perfect' would show hidden information: leave it out until the game is over"
            )
        return engine


def _add_errors(app: FastAPI) -> None:
    def failed(status: int, message: str, field: str | None = None) -> JSONResponse:
        return JSONResponse({"error": message, "field": field}, status)

    @app.exception_handler(TooManyError)
    async def too_many(_: Request, error: TooManyError) -> JSONResponse:
        return failed(429, str(error))

    @app.exception_handler(TooSlowError)
    async def too_slow(_: Request, error: TooSlowError) -> JSONResponse:
        return failed(408, str(error))

    @app.exception_handler(TreetopError)
    async def refused(_: Request, error: TreetopError) -> JSONResponse:
        # The lines after the first one may show the position, with what is hidden in it.
        return failed(400, str(error).partition("\n")[0])

    @app.exception_handler(AnyHTTPException)
    async def http(_: Request, error: AnyHTTPException) -> JSONResponse:
        return failed(error.status_code, str(error.detail))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        parts = () if first["type"] == "json_invalid" else first["loc"]  # else the place is that of a character
        place = ".".join(str(part) for part in parts if part not in ("body", "query", "path"))
        return failed(422, f"{place or 'the request'}: {first['msg']}", place or None)

    @app.exception_handler(Exception)
    async def unexpected(_: Request, error: Exception) -> JSONResponse:
        traceback.print_exception(error, file=sys.stderr)
        return failed(500, "the server failed: see its messages")


def _add_games(app: FastAPI, state: _State) -> None:
    @app.get("/api/info")
    def info() -> Answer:
        """Return what the server is set up for."""
        options = state.options
        return {
            "version": treetop.__version__,
            "game": None if options.game is None else options.game.source or options.game.name,
            "model": None if options.model is None else options.model.game.source or options.model.game.name,
            "theorem": None if options.theorem is None else options.theorem.name,
            "limits": vars(options.limits),
        }

    @app.get("/api/games")
    def games() -> Answer:
        """Return the games that can be played here."""
        found = [
            {"name": name, **_entry(load_game(name)), "parameters": parameters_of_bundled(name)}
            for name in sorted(BUNDLED)
        ]
        own = state.options.game
        if own is not None and not own.is_bundled:
            found.insert(0, {"name": own.name, **_entry(own), "parameters": []})
        return {"games": found}

    @app.post("/api/sessions", status_code=201)
    def new_session(given: NewSession) -> Answer:
        """Begin a game."""
        pasted = None if given.record is None else first_game(given.record)
        if pasted is not None and (given.game, given.moves, given.setup) != (None, [], None):
            raise ConfigError("a record has its game, set-up and moves: leave out the others")
        game = state.game(given.game if pasted is None else pasted.game.source or pasted.game.name)
        for player in given.people:
            checks.whole("people", player, 0, game.facts.players - 1)
        seed = secrets.randbelow(2**31) if given.seed is None else given.seed
        dealt = seed if game.has("deal") and given.setup is None else None
        start = position_of(game, "", setup=given.setup, seed=dealt) if pasted is None else pasted.start
        session = state.sessions.create(start, sorted(set(given.people)), seed, secret=given.seed is None)
        try:
            session.replay(given.moves if pasted is None else pasted.end.moves())
        except BaseException:
            state.sessions.remove(session.name)
            raise
        return session.view()

    @app.get("/api/sessions/{name}")
    def show(name: str) -> Answer:
        """Return the game as it stands."""
        return state.session(name).view()

    @app.delete("/api/sessions/{name}")
    def close(name: str) -> Answer:
        """End a game, and free its memory."""
        state.session(name)
        state.sessions.remove(name)
        return {"closed": name}

    @app.post("/api/sessions/{name}/play")
    async def play(name: str, given: Play) -> Answer:
        """Play a move at the current position; what came after it is dropped."""
        session = state.session(name)
        if given.player is not None:
            checks.whole("player", given.player, 0, session.position.game.facts.players - 1)
        job = await run_in_threadpool(session.play, given.move, given.player)
        if job is not None:
            await job.result(state.options.limits.wait)
        return await run_in_threadpool(session.view)

    @app.post("/api/sessions/{name}/go")
    def go(name: str, given: Go) -> Answer:
        """Show another position of the game: undo, redo, jump."""
        session = state.session(name)
        session.go(given.ply)
        return session.view()


def _add_lines(app: FastAPI, state: _State) -> None:
    @app.post("/api/sessions/{name}/line")
    def follow(name: str, given: Follow) -> Answer:
        """Replace the moves of the game by other ones: a variation, or the line that was left for it."""
        session = state.session(name)
        session.follow_moves(given.moves, given.ply)
        return session.view()


def _entry(game: Game) -> Answer:
    """Return what a page has to know of a game before one is begun."""
    return {"summary": game.summary, "players": game.facts.players, "setup": game.has("parse")}


def _add_searches(app: FastAPI, state: _State) -> None:
    @app.post("/api/sessions/{name}/think", status_code=202)
    def think(name: str, given: Think) -> Answer:
        """Search the current position in the background; events tell what is found."""
        session = state.session(name)
        engine = state.engine(given.rule, given.seed, session, model=given.model)
        limits = state.options.limits
        seconds = limits.seconds if given.seconds is None else min(given.seconds, limits.seconds)
        session.think(engine, visits=given.visits, seconds=seconds, play=given.play, include=given.only, at=given.at)
        return session.view()

    @app.post("/api/sessions/{name}/stop")
    def stop(name: str) -> Answer:
        """End the search; its last result comes as an event."""
        session = state.session(name)
        session.end_search()
        return session.view()

    @app.get("/api/sessions/{name}/analysis")
    def analysis(name: str) -> Answer:
        """Return the last report of the search of the current position."""
        found = state.session(name).analysis
        return plain({"analysis": found})

    @app.get("/api/sessions/{name}/tree", response_model=Answer)
    def tree(
        name: str,
        path: Annotated[str, Query(max_length=2000, pattern=r"^(-?\d{1,9}(,-?\d{1,9})*)?$")] = "",
        nodes: Annotated[int, Query(ge=1, le=MOST_NODES)] = 300,
    ) -> Response:
        """Return the most visited nodes of the tree below a node, which is named by the actions that lead to it."""
        actions = [int(action) for action in path.split(",") if action]
        session = state.session(name)
        session.searchable()
        with session.reading() as search:
            found = subtree(search, actions, nodes)
        return _as_json(found)

    @app.post("/api/sessions/{name}/record", response_model=Answer)
    async def record(name: str, given: RecordSearch) -> Response:
        """Search the current position from the start, and return what happened, step by step."""
        session, limits = state.session(name), state.options.limits

        def begin() -> Job[Answer]:
            engine = state.engine(given.rule, given.seed, session)
            search = engine.search(session.searchable(), None, limits.nodes)
            return session.begin(recorded(search, given.visits, given.detailed, state.sessions.nodes))

        job = await run_in_threadpool(begin)
        return await run_in_threadpool(_as_json, await job.result(limits.wait))

    @app.post("/api/sessions/{name}/what-if")
    async def what_if(name: str, given: WhatIf) -> Answer:
        """Search the current position with other settings and several seeds; return all final decisions."""
        session, limits = state.session(name), state.options.limits
        changed = Settings(given.c, given.fpu, given.prior_temperature)

        def begin() -> Job[Answer]:
            position = session.searchable()

            def make(seed: int) -> tuple[Search, Answer]:
                engine = state.engine(given.rule, seed, session)
                return changed.search(position, *engine.parts(position, limits.nodes))

            return session.begin(compared(make, given.seeds, given.visits, state.sessions.nodes))

        job = await run_in_threadpool(begin)
        return plain(await job.result(limits.wait))

    @app.post("/api/sessions/{name}/review", status_code=202)
    def begin_review(name: str, given: NewReview) -> Answer:
        """Review the game in the background: events tell how far it is."""
        session = state.session(name)
        review = session.begin_review(state.engine(given.rule, given.seed, session), given.visits)
        return {"total": review.total}

    @app.get("/api/sessions/{name}/review")
    def read_review(name: str) -> Answer:
        """Return the moves that are reviewed so far."""
        review = state.session(name).review
        if review is None:
            raise HTTPException(404, "no review was begun")
        return plain({"rows": review.rows, "total": review.total, "over": review.is_over})


def _add_live(app: FastAPI, state: _State) -> None:
    @app.websocket("/api/sessions/{name}/live")
    async def live(socket: WebSocket, name: str) -> None:
        """Send the events of a session: positions, analyses, errors. What a client sends is ignored."""
        try:
            session = state.sessions.find(name)
        except KeyError:
            await socket.close(1008, "there is no such game")
            return
        if state.sockets >= _MOST_SOCKETS:
            await socket.close(1013, "too many listeners: close some pages")
            return
        state.sockets += 1
        try:
            await socket.accept()
            mailbox = Mailbox(asyncio.get_running_loop())
            with session.listening(mailbox.put):
                for event in await run_in_threadpool(session.standing):
                    mailbox.put(event)
                await _until_closed(socket, mailbox)
        finally:
            state.sockets -= 1


async def _until_closed(socket: WebSocket, mailbox: Mailbox) -> None:
    """Send events until the client goes."""

    async def send() -> None:
        while True:
            for event in await mailbox.take():
                await socket.send_text(json_text(event))

    async def listen() -> None:
        while True:
            await socket.receive_text()

    tasks = {asyncio.create_task(send()), asyncio.create_task(listen())}
    done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    for task in done:
        if not isinstance(error := task.exception(), WebSocketDisconnect | RuntimeError | KeyError | None):
            raise error


def _add_page(app: FastAPI) -> None:
    files = {path.name: path for path in PAGE.glob("assets/*")} if PAGE.is_dir() else {}

    @app.get("/", include_in_schema=False)
    async def page() -> Any:
        index = PAGE / "index.html"
        return FileResponse(index) if index.exists() else HTMLResponse("<p>The page is not built: see viewer/.</p>")

    @app.get("/icon.svg", include_in_schema=False)
    async def icon() -> Any:
        return FileResponse(PAGE / "icon.svg")

    @app.get("/assets/{name}", include_in_schema=False)
    async def asset(name: str) -> Any:
        if name not in files:  # only names that were listed at the start are opened
            raise HTTPException(404, "there is no such file")
        return FileResponse(files[name], headers={"cache-control": "no-cache"})


def _as_json(answer: Answer) -> Response:
    """Return a long answer as text, which takes time: not in the thread that talks to all clients."""
    return Response(json.dumps(plain(answer), allow_nan=False), media_type="application/json")
