"""A review of a game: what each move was worth beside the best one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from treetop.game.position import Position
from treetop.search.result import SearchResult
from treetop.search.search import Search
from treetop.serve.jobs import PIECE, Job, Steps, slices
from treetop.serve.limits import TooSlowError
from treetop.serve.nodes import Nodes
from treetop.serve.tasks import slice_limit
from treetop.show.views import win_rate
from treetop.types import CHANCE, SIMULTANEOUS

_LEAST_SHARE = 0.05  # of the visits that the move of the game gets, so that its value is known


class Review:
    """Searches each position of a game, in the background: a task of the scheduler.

    `make` returns a new search of a position, whose nodes are shares of `nodes`; `done` is called after each position,
    `failed` with an error; `plies` maps the number of actions of a position to its number in the game, without outcomes
    of chance. `rows` grows: for each move of a player its value, that of the best move, and what was lost,
    all on the scale from 0 to 1 of the player who moved.

    >>> import treetop as tt
    >>> from treetop.serve.limits import Limits
    >>> position, nodes = tt.position("tic_tac_toe", moves="b2 a1 c1 c3"), Nodes(Limits())
    >>> review = Review(position, lambda one: tt.Search(one, tt.uct(solver=True), seed=1), nodes, visits=500)
    >>> while review.step(1.0): pass
    >>> [row["move"] for row in review.rows], review.rows[3]["loss"] > 0.2
    (['b2', 'a1', 'c1', 'c3'], True)
    """

    def __init__(
        self,
        final: Position,
        make: Callable[[Position], Search],
        nodes: Nodes,
        *,
        visits: int,
        seconds: float = math.inf,
        plies: Mapping[int, int] | None = None,
        done: Callable[[], object] = lambda: None,
        failed: Callable[[BaseException], object] = lambda _: None,
    ) -> None:
        self._plies = plies or {}
        self._make, self._nodes, self._visits = make, nodes, visits
        self._done, self._failed = done, failed
        self._seconds, self._end = seconds, math.inf
        self._choices = [
            (position, action)
            for position, action in zip(final.positions(), final.actions, strict=False)
            if position.player not in (CHANCE, SIMULTANEOUS) and not position.is_continuous
        ]
        self._job = Job(self._all())
        self._stopped = False
        self.rows: list[dict[str, Any]] = []
        self.total = len(self._choices)
        """The moves to review: those of players, not outcomes of chance."""
        self.deadline = math.inf

    def stop(self) -> None:
        """End the review soon."""
        self._stopped = True
        self._job.future.cancel()

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self._stopped or len(self.rows) >= self.total

    def fail(self, error: BaseException) -> None:
        """Report an error of a search."""
        self._stopped = True
        self._failed(error)

    def step(self, seconds: float) -> bool:
        """Search for a slice of time; return whether there is more to do."""
        now = time.monotonic()
        self._end = min(self._end, now + self._seconds)
        if now >= self._end:
            self.stop()
            self._failed(TooSlowError(f"the review was ended after {self._seconds:g} s: review with fewer visits"))
        return self._job.step(seconds)

    def _all(self) -> Steps[None]:
        for position, action in self._choices:
            search = self._make(position)
            try:
                result = yield from slices(search, self._visits, self._nodes)
                place = result.numbers.tolist().index(action)
                wanted = math.ceil(_LEAST_SHARE * self._visits)
                if int(result.counts[place]) < wanted and _can_visit(search):
                    result = yield from _visited(search, int(action), wanted, self._nodes)
            finally:
                self._nodes.release(search)
            ply = len(position.actions)
            self.rows.append(_row(result, place, self._plies.get(ply, ply)))
            self._done()


def _visited(search: Search, action: int, wanted: int, nodes: Nodes) -> Steps[SearchResult]:
    """Search one move until it has `visits` visits; return the result."""
    while True:
        child, before = search.tree.root.child(action), search.simulations
        missing = wanted - (0 if child is None else child.visits)
        if missing <= 0 or (child is not None and child.is_closed):
            return search.result()
        nodes.allow(search)
        search.run(slice_limit(search, missing, PIECE), include=[action])
        if search.simulations == before:
            return search.result()
        yield


def _row(result: SearchResult, place: int, ply: int) -> dict[str, Any]:
    position, best = result.position, result.chosen
    means = result.clipped_means
    value, top = (float(means[index]) for index in (place, best))
    if math.isnan(value):
        value = top
    rate, best_rate = win_rate(position, value), win_rate(position, top)
    return {
        "ply": ply,
        "player": result.player,
        "move": result.name_of(place),
        "best": result.name_of(best),
        "winrate": rate,
        "bestWinrate": max(rate, best_rate),
        "loss": max(0.0, best_rate - rate),
        "values": [float(number) for number in result.values],
        "pv": list(result.pv),
    }


def _can_visit(search: Search) -> bool:
    """Return whether single moves of a search can be searched."""
    return not search.config.graph.transpositions and not search.tree.has_information_sets and not search.begins_anew
