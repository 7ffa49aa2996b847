"""All games in progress on a server, within its limits."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.serve.engines import Engine
from treetop.serve.limits import Limits, TooManyError
from treetop.serve.nodes import Nodes
from treetop.serve.session import Session
from treetop.serve.tasks import Scheduler


class Sessions:
    """All sessions of a server, the least recently used first."""

    def __init__(self, engine: Engine, scheduler: Scheduler, limits: Limits) -> None:
        self.engine, self.scheduler, self.limits = engine, scheduler, limits
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._games: dict[str, Game] = {}
        self._lock = threading.Lock()
        self.nodes = Nodes(limits, self._make_way)

    def __len__(self) -> int:
        return len(self._sessions)

    def game(self, spec: str, load: Callable[[str], Game]) -> Game:
        """Return a game by its name; raise TooManyError where the server has compiled enough of them."""
        with self._lock:
            if spec not in self._games and len(self._games) >= self.limits.games:
                raise TooManyError(
                    f"this server plays at most {self.limits.games} different games: choose one of those, or restart it"
                )
        found = load(spec)
        with self._lock:
            self._games[spec] = found
        return found

    def create(self, start: Position, people: Sequence[int], seed: int, *, secret: bool = False) -> Session:
        """Begin a session; its seed may be secret. The least recently used one that nobody watches makes way."""
        name = secrets.token_urlsafe(9)
        session = Session(
            name, start, people, seed, self.engine, self.scheduler, self.limits, self.nodes, secret=secret
        )  # fmt: skip
        old = None
        with self._lock:
            if len(self._sessions) >= self.limits.sessions:
                idle = [one for one in self._sessions.values() if not one.is_watched and not one.is_thinking]
                if not idle:
                    raise TooManyError(
                        f"this server has {self.limits.sessions} games in progress, all watched: close one, or start "
                        "the server with more --sessions"
                    )
                old = min(idle, key=lambda one: one.used)
                del self._sessions[old.name]
            self._sessions[name] = session
        if old is not None:
            old.close()
        return session

    def find(self, name: str) -> Session:
        """Return a session by its name; raise KeyError where there is none."""
        with self._lock:
            session = self._sessions[name]
            self._sessions.move_to_end(name)
        session.used = time.monotonic()
        return session

    def remove(self, name: str) -> None:
        """End a session, if there is one of this name."""
        with self._lock:
            session = self._sessions.pop(name, None)
        if session is not None:
            session.close()

    def end_jobs(self) -> None:
        """End what requests wait for; nothing begins after it."""
        with self._lock:
            sessions = list(self._sessions.values())
        for session in sessions:
            session.end_jobs()

    def _make_way(self) -> bool:
        """Drop the tree of an idle session, the least recently used one that nobody watches; return False for none."""
        with self._lock:
            sessions = list(self._sessions.values())
        return any(one.make_way() for one in sorted(sessions, key=lambda one: (one.is_watched, one.used)))

    def close(self) -> None:
        """End all sessions."""
        with self._lock:
            sessions = list(self._sessions.values())
            self._sessions.clear()
        for session in sessions:
            session.close()
