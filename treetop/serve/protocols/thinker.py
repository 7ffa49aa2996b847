"""A search that follows a game and thinks in the background, for servers that talk to one program."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Self

from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.search.result import SearchResult
from treetop.search.search import Search
from treetop.serve.engines import Engine
from treetop.serve.tasks import Scheduler, Thinking

FOREVER = 10**9  # visits


def refuse_other_kinds(game: Game, protocol: str) -> None:
    """Raise ConfigError for games that the protocols of board games have no words for."""
    if game.facts.players != 2 or any(game.has(name) for name in ("determinize", "apply_joint", "chance_outcomes")):
        raise ConfigError(
            f"{protocol} is for games of two players without chance and with perfect information, not for {game.name}"
        )


class Thinker:
    """Searches of one game after the other, one at a time; the tree follows the moves that are played.

    >>> import treetop as tt
    >>> with Thinker() as thinker:
    ...     result = thinker.think(tt.position("nim(stones=5)"), simulations=500)
    >>> result.move
    '1'
    """

    def __init__(self, engine: Engine | None = None, *, threads: int = 1, most_memory: int | None = None) -> None:
        self.engine, self.threads, self.most_memory = engine or Engine(), threads, most_memory
        """How positions are searched, and the bytes of a tree; `forget` lets a change take effect."""
        self._scheduler, self._search = Scheduler(1), None  # type: Scheduler, Search | None
        self._task: Thinking | None = None
        self._before = 0  # simulations of the search when the task began

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End without a result."""
        self._scheduler.close()

    def forget(self) -> None:
        """Drop the tree: the next search begins anew."""
        self.stop()
        self._search = None

    def search(self, position: Position) -> Search:
        """Return a search of a position. It has what was found before, where the position follows the last one."""
        found = self._search
        if found is None or not self._follow(found, position):
            self._search = found = self.engine.search(position, threads=self.threads)
            if self.most_memory is not None:
                self._bound(found, self.most_memory)
        return found

    @staticmethod
    def _bound(search: Search, memory: int) -> None:
        """Fold the least visited subtrees of a search once its tree has so many bytes."""
        most, own = memory // search.tree.bytes_per_node, search.config.growth.max_nodes
        search.allow_nodes(most if own is None else min(most, own))

    def fullness(self) -> float:
        """Return the used share of the memory that the tree may have."""
        search, memory = self._search, self.most_memory
        return 0.0 if search is None or memory is None else min(1.0, search.tree.nbytes / memory)

    def prepare(self, position: Position) -> None:
        """Compile what searches of this game need, before a clock runs; do nothing while one runs."""
        if not len(self._scheduler) and not position.is_terminal:
            self.search(position).prepare()

    def _follow(self, search: Search, position: Position) -> bool:
        """Advance the search to a position; return whether that was possible."""
        here = search.position
        played, known = position.actions, here.actions
        if search.begins_anew or here.game is not position.game or played[: len(known)] != known:
            return False
        if bytes(here.start) != bytes(position.start):
            return False
        for action in played[len(known) :]:
            search.advance(action)
        return True

    def begin(
        self, position: Position, *, report: Callable[[Thinking, SearchResult, bool], None],
        failed: Callable[[Thinking, BaseException], None], simulations: int | None = None, seconds: float | None = None,
        every: float | None = None, include: Iterable[str] | None = None,
    ) -> None:  # fmt: skip
        """Search in the background; `report` is called every so many seconds, and at the end (`Thinking` has details).

        `simulations` are new ones; without a limit the search goes on until `stop`. The time counts from this call.
        """
        begin = time.monotonic()
        self.stop()
        search = self.search(position)
        if seconds is not None:  # a large tree takes a while to follow a move
            seconds = max(0.001, seconds - (time.monotonic() - begin))
        self._before = search.simulations
        visits = search.simulations + (FOREVER if simulations is None else simulations)
        if search.config.root.schedules:
            visits = search.simulations + (simulations or 1000)
        self._task = Thinking(
            search, visits=visits, seconds=seconds, every=every, include=include, report=report, failed=failed
        )
        self._scheduler.add(self._task)

    def think(
        self, position: Position, *, shown: Callable[[SearchResult], object] = lambda _: None, **limits: Any
    ) -> SearchResult:
        """Search, wait for the end, and return the result; raise the error of a search that fails.

        `shown` is called with what was found so far, every `every` seconds, if given, and at the end.
        """
        found, failures, over = list[SearchResult](), list[BaseException](), threading.Event()

        def report(_: Thinking, result: SearchResult, last: bool) -> None:
            shown(result)
            if last:
                found.append(result)
                over.set()

        def failed(_: Thinking, error: BaseException) -> None:
            failures.append(error)
            over.set()

        self.begin(position, report=report, failed=failed, **limits)
        over.wait()
        if failures:
            raise failures[0]
        return found[0]

    def hurry(self, seconds: float | None = None, simulations: int | None = None) -> None:
        """Limit the running search: seconds from now on, and simulations since it began."""
        if self._task is not None:
            self._task.end_in(seconds, None if simulations is None else self._before + simulations)

    def stop(self) -> None:
        """End the search that runs; return when its result was reported."""
        if self._task is not None:
            self._task.stop()
            self._scheduler.wait()
            self._task = None
