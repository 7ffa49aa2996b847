"""A game in progress on a server: a line of positions, a search of the current one, and who listens.

A session is used by many threads: requests change it, the scheduler searches, and events go to listeners. It has two
locks, always taken in this order: `searching` is held while the search runs a slice or its tree is read, `lock` for as
long as fields are read. Fields of the game and its search change only while both are held, so either protects a reader.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from treetop import checks
from treetop.errors import ConfigError, SearchError, TreetopError
from treetop.game.position import Position
from treetop.search.result import SearchResult
from treetop.search.search import Search
from treetop.serve.engines import Engine
from treetop.serve.jobs import Job, Steps, together
from treetop.serve.limits import Limits, TooManyError
from treetop.serve.locks import FairLock
from treetop.serve.moves import after_chance, completed
from treetop.serve.nodes import Nodes
from treetop.serve.review import Review
from treetop.serve.tasks import Scheduler, Thinking
from treetop.show.views import analysis_view, position_view, shows_players_differently
from treetop.types import SIMULTANEOUS

Event = dict[str, Any]
Listener = Callable[[Event], None]
_EVERY = 0.1  # seconds between two reports of a search
_JOINT_VISITS = 1000  # for the engine's part of simultaneous moves
_CLOSED = "the game was closed: begin a new one"
_PATIENCE = 10.0  # seconds that a request waits for a slice to end


class Session:
    """A game in progress."""

    def __init__(
        self, name: str, start: Position, people: Sequence[int], seed: int, engine: Engine, scheduler: Scheduler,
        limits: Limits, nodes: Nodes, *, secret: bool = False,
    ) -> None:  # fmt: skip
        self.name, self.people, self.seed, self.engine = name, tuple(people), seed, engine
        self.used = time.monotonic()
        self.searching, self.lock = FairLock(), threading.RLock()
        self._scheduler, self._limits, self._nodes, self._secret = scheduler, limits, nodes, secret
        self._line, self._ply = [after_chance(start, self.seed)], 0
        self._search: Search | None = None
        self._thinking: Thinking | None = None
        self.analysis: Event | None = None
        """The last report of a search of the current position."""
        self.review: Review | None = None
        self._jobs: list[Job[Any]] = []
        self._closed = False
        self._listeners: list[Listener] = []

    # Positions.

    @property
    def position(self) -> Position:
        """The current position."""
        return self._line[self._ply]

    @property
    def viewer(self) -> int | None:
        """The player whose information is shown; None where everything is open, nobody plays, or the game has ended."""
        hidden = shows_players_differently(self.position.game)
        return self.people[0] if hidden and len(self.people) == 1 and not self._line[-1].is_terminal else None

    @property
    def is_opponents(self) -> bool:
        """Whether the position is one at which an opponent moves, whose information is hidden."""
        return self.viewer is not None and self.position.player not in (self.viewer, SIMULTANEOUS)

    def searchable(self) -> Position:
        """Return the position; raise ConfigError where a search of it would show what is hidden from the person."""
        with self.lock:
            if self.is_opponents:
                raise ConfigError("it is the opponent's turn: a search would show hidden information")
            return self.position

    def view(self) -> Event:
        """Return everything that a page shows of the game."""
        with self.lock:
            viewer = self.viewer
            position = position_view(self.position, viewer)
            if self.is_opponents:
                position["legal"] = []
            return {
                "type": "position",
                "session": self.name,
                "seed": None if viewer is not None and self._secret else self.seed,
                "people": list(self.people),
                "position": position,
                "line": [] if viewer is not None else self._moves(),
                "ply": self._ply,
                "plies": len(self._line) - 1,
                "thinking": self.is_thinking,
                "preparing": self.is_preparing,
            }

    def _moves(self) -> list[str]:
        """Return the moves of the line as text, without outcomes of chance."""
        texts = self._line[-1].moves()
        return [texts[len(before.actions)] for before in self._line[:-1]]

    def follow_moves(self, moves: Sequence[str], ply: int) -> None:
        """Replace the line by other moves from the start, and show one of its positions."""
        if self.viewer is not None:
            raise ConfigError("other lines would show hidden information: play the game move by move")
        if len(moves) > self._limits.moves:
            raise TooManyError(f"a game on this server has at most {self._limits.moves:,} moves: give fewer")
        with self.changing():
            known = self._moves()
            same = next((at for at, (a, b) in enumerate(zip(known, moves, strict=False)) if a != b), None)
            line = self._line[: (min(len(known), len(moves)) if same is None else same) + 1]
            for move in moves[len(line) - 1 :]:
                if line[-1].is_terminal or line[-1].player == SIMULTANEOUS:
                    raise ConfigError(f"the line cannot go on with {checks.shorten(move)}")
                line.append(after_chance(line[-1].apply(line[-1].parse_move(move)), self.seed))
            checks.whole("ply", ply, 0, len(line) - 1)
            self._line, self._ply, self.analysis = line, ply, None

    def show_line(self, line: Sequence[Position], ply: int = 0) -> None:
        """Replace the line by a recorded one: the positions at which a player moves, and the last one."""
        with self.changing():
            self._line, self._ply, self.analysis = list(line), checks.whole("ply", ply, 0, len(line) - 1), None

    def play(self, move: str, player: int | None = None) -> Job[None] | None:
        """Play a move of the player to move.

        With simultaneous moves it is that of `player`; the engine searches for the others in a job, which is returned.
        """
        with self.lock:
            position = self.position
            self._refuse_move(position)
            if self.is_opponents:
                raise ConfigError("it is the opponent's turn, whose information is hidden: let the engine play it")
            if position.player == SIMULTANEOUS:
                seat = player if player is not None else (self.people or (0,))[0]
                if self.viewer not in (None, seat):
                    raise ConfigError(
                        f"player {seat} is an opponent, whose information is hidden: let the engine play it"
                    )
                return self.begin(self._joint(position, seat, position.parse_move(move, seat)))
            action = position.parse_move(move)  # a move that is not legal does not end the search
        self._play_at(position, action)
        return None

    def replay(self, moves: Iterable[str]) -> None:
        """Play the moves of a record, of all players, from the current position on."""
        with self.changing():
            for move in moves:
                self._refuse_move(self.position)
                self._append(self.position.parse_move(move))

    def _refuse_move(self, position: Position) -> None:
        if position.is_terminal:
            raise ConfigError("the game is over")
        if len(self._line) > self._limits.moves:
            raise TooManyError(
                f"a game on this server has at most {self._limits.moves:,} moves: take some back, or begin a new one"
            )

    def _joint(self, position: Position, seat: int, action: int) -> Steps[None]:
        """Play simultaneous moves: that of a person, and those of the engine, which does not see it."""
        others = [player for player in range(position.game.facts.players) if player != seat]
        engine, most = self.engine, self._limits.nodes
        found = yield from together(
            lambda player: engine.search(position, player, most), others, _JOINT_VISITS, self._nodes
        )
        found[seat] = action
        self._play_at(position, tuple(found[player] for player in sorted(found)))

    def _play_at(self, position: Position, action: Any) -> None:
        """Play an action at a position, if it is still the current one."""
        with self.changing():
            if self.position is not position:
                raise ConfigError("the game has gone on: read its position again")
            self._append(action)

    def _append(self, action: Any) -> None:
        """Play an action at the current position; what came after it is dropped."""
        after = after_chance(self.position.apply(action), self.seed)
        del self._line[self._ply + 1 :]
        self._line.append(after)
        self._ply += 1
        self.analysis = None

    def go(self, ply: int) -> None:
        """Show another position of the line."""
        checks.whole("ply", ply, 0, len(self._line) - 1)  # a wrong number does not end the search
        with self.changing():
            self._ply = checks.whole("ply", ply, 0, len(self._line) - 1)
            self.analysis = None

    # Searches.

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Let one request change the session: its search is ended before, and listeners hear of it after."""
        try:
            with self._still():
                yield
        finally:
            self.tell(self.view())

    @contextmanager
    def _still(self) -> Iterator[None]:
        """End the search, without a last report, wait until its slice is over, and hold both locks."""
        self.used = time.monotonic()
        task = self._thinking
        if task is not None:
            task.cancel()
        if not self.searching.acquire(timeout=_PATIENCE):
            raise SearchError("the search does not end: its rules or its evaluator are too slow")
        try:
            with self.lock:
                if self._thinking is not None:  # another one may have started
                    self._thinking.cancel()
                    self._thinking = None
                yield
        finally:
            self.searching.release()

    def think(
        self, engine: Engine, *, visits: int | None, seconds: float | None, play: bool = False,
        include: Sequence[str] | None = None, at: int | None = None,
    ) -> None:  # fmt: skip
        """Search the current position in the background; with `play`, play the move that is found.

        With `at`, nothing is searched if the position of another ply is shown by now: a client may ask late, or twice.
        """
        with self.changing():
            self._refuse_closed()
            if at is not None and at != self._ply:
                return
            if include is not None or not play:
                self.searchable()
            task = self._thinking = self._task(engine, visits, seconds, include, play=play)
        self._scheduler.add(task)

    def _task(
        self, engine: Engine, visits: int | None, seconds: float | None, include: Sequence[str] | None, *, play: bool
    ) -> Thinking:
        """Return the task of a search of the current position. The caller holds all locks."""
        position = self.position
        if position.is_terminal:
            raise ConfigError("the game is over: there is nothing to search")
        seat = None
        if position.player == SIMULTANEOUS:
            others = [one for one in range(position.game.facts.players) if one not in self.people]
            seat = others[0] if play and others else (self.people or (0,))[0]
        search, self.engine = self._following(engine, position, seat), engine
        known = set(position.legal_moves(seat)) if include is not None else set()
        for move in include or ():
            if move not in known:
                raise ConfigError(f"{checks.shorten(move)} is not a legal move here")

        def report(task: Thinking, result: SearchResult, over: bool) -> None:
            self._report(task, position, result, over=over, play=play)

        task = Thinking(
            search, visits=visits, seconds=seconds, every=_EVERY, report=report, include=include,
            failed=self._failed, lock=self.searching, allow=self._nodes.allow,
            compiled=lambda: self.tell(self.view()),
        )  # fmt: skip
        self._nodes.allow(search)
        if self._search is not search:
            self._forget_search()
        self._search = search
        return task

    def _forget_search(self) -> None:
        """Free the memory of the tree. The caller holds both locks, or closes the session."""
        self._nodes.release(self._search)
        self._search = None

    def _following(self, engine: Engine, position: Position, seat: int | None) -> Search:
        """Return a search of a position: that of an earlier one goes on, if the game followed its tree."""
        search = self._search
        if search is not None and engine == self.engine and not search.begins_anew and seat is None:
            known = search.position.actions
            same = bool(search.position.start == position.start) and position.actions[: len(known)] == known
            if same and search.config.growth.max_nodes is not None:
                try:
                    for action in position.actions[len(known) :]:
                        search.advance(action)
                    return search
                except TreetopError:
                    pass  # the tree cannot follow
        return engine.search(position, seat, self._limits.nodes)

    def _report(self, task: Thinking, position: Position, result: SearchResult, *, over: bool, play: bool) -> None:
        """Take a result of the search, in its thread, which holds `searching`."""
        hidden = self.viewer is not None and play
        event = None if hidden else {"type": "analysis", "over": over, "ply": self._ply, **analysis_view(result)}
        action = result.choice
        if not over:
            if event is not None and self._thinking is task:
                self.analysis = event
                self.tell(event)
            return
        with self.lock:
            if self._thinking is not task:
                return
            self._thinking = None
            if event is not None:
                self.analysis = event
            if play and self.position is position:
                self._append(completed(position, action, self.people, self.seed))
        if event is not None:
            self.tell(event)
        self.tell(self.view())

    def _failed(self, task: Thinking, error: BaseException) -> None:
        """Take an error of the search, in its thread, which holds `searching`."""
        with self.lock:
            if self._thinking is task:
                self._thinking = None
        self.tell(_failure(error))

    @property
    def is_thinking(self) -> bool:
        """Whether a search is running."""
        task = self._thinking
        return task is not None and not task.is_cancelled()

    @property
    def is_preparing(self) -> bool:
        """Whether a search has to be compiled before it runs."""
        task = self._thinking
        return task is not None and not task.is_cancelled() and not task.started

    def end_search(self) -> None:
        """Ask the search to end and to report its last result; without waiting."""
        task = self._thinking
        if task is not None:
            task.stop()

    @contextmanager
    def reading(self) -> Iterator[Search]:
        """Hold the search still while its tree is read; raise ConfigError where there is none."""
        with self.searching:
            search = self._search
            if search is None or not search.simulations or self.viewer not in (None, search.player):
                raise ConfigError("there is no search yet: think first")
            yield search

    def make_way(self) -> bool:
        """Free the memory of the tree if nobody uses it at the moment, without waiting; return whether it was freed."""
        if self.is_thinking or not self.searching.acquire(blocking=False):
            return False
        try:
            with self.lock:
                if self._thinking is not None or self._search is None:
                    return False
                self._forget_search()
                return True
        finally:
            self.searching.release()

    # Other searches.

    def begin(self, steps: Steps[Any]) -> Job[Any]:
        """Begin work in the background; raise TooManyError where the session has enough of it."""
        job = Job(steps)
        with self.lock:
            self._refuse_closed()
            self._jobs = [one for one in self._jobs if not one.future.done()]
            if len(self._jobs) >= self._limits.jobs:
                raise TooManyError(f"{self._limits.jobs} searches of this game are under way: wait for one of them")
            self._jobs.append(job)
        self._scheduler.add(job)
        return job

    def begin_review(self, engine: Engine, visits: int) -> Review:
        """Review the line, in the background."""
        with self.lock:
            self._refuse_closed()
            if self.viewer is not None:
                raise ConfigError("a review would show hidden information: finish the game first")
            if self.review is not None:
                self.review.stop()
            review = Review(
                self._line[-1],
                lambda position: engine.search(position, None, self._limits.nodes),
                self._nodes,
                visits=visits,
                seconds=self._limits.seconds,
                plies={len(one.actions): ply for ply, one in enumerate(self._line)},
                done=lambda: self.tell(_progress(review)),
                failed=lambda error: self.tell(_failure(error)),
            )
            self.review = review
        self._scheduler.add(review)
        return review

    # Listeners.

    @contextmanager
    def listening(self, listener: Listener) -> Iterator[None]:
        """Send events to a listener inside the block."""
        with self.lock:
            self._listeners.append(listener)
        try:
            yield
        finally:
            with self.lock:
                self._listeners.remove(listener)

    def standing(self) -> list[Event]:
        """Return the events that a new listener has missed."""
        review, analysis = self.review, self.analysis
        found = [self.view()]
        if analysis is not None:
            found.append(analysis)
        if review is not None:
            found.append(_progress(review))
        return found

    @property
    def is_watched(self) -> bool:
        """Whether somebody listens."""
        return bool(self._listeners)

    def tell(self, event: Event) -> None:
        """Send an event to all listeners."""
        with self.lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener(event)

    def end_jobs(self) -> None:
        """End all work but the search, without waiting; nothing begins after it."""
        with self.lock:
            self._closed = True
            if self.review is not None:
                self.review.stop()
            for job in self._jobs:
                job.fail(ConfigError(_CLOSED))

    def close(self) -> None:
        """End everything; nothing begins after it."""
        self.end_jobs()
        try:
            with self._still():
                self._forget_search()
        except SearchError:  # a slice that does not end; its task is cancelled, so the tree does not grow any more
            with self.lock:
                self._forget_search()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise ConfigError(_CLOSED)


def _failure(error: BaseException) -> Event:
    """Return an event of an error: its first line, since others may show the position, with what is hidden in it."""
    return {"type": "error", "error": str(error).partition("\n")[0] or type(error).__name__}


def _progress(review: Review) -> Event:
    return {"type": "review", "done": len(review.rows), "total": review.total}
