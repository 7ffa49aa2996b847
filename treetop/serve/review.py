"""A review of a game: what each move was worth beside the best one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from treetop.game.position import Position
from treetop.search.limits import Limit
from treetop.search.result import SearchResult
from treetop.search.search import Search
from treetop.serve.views import win_rate
from treetop.types import CHANCE, SIMULTANEOUS

_LEAST_SHARE = 0.05  # of the visits that the move of the game gets, so that its value is known
_SLICE = 2000  # simulations between two looks at the clock


class Review:
    """Searches each position of a game, in the background: a task of the scheduler.

    `make` returns a new search of a position; `done` is called after each position. `rows` grows: for each move of a
    player its value, that of the best move, and what was lost, all on the scale from 0 to 1 of the player who moved.

    >>> import treetop as tt
    >>> position = tt.position("tic_tac_toe", moves="b2 a1 c1 c3")
    >>> review = Review(position, lambda one: tt.Search(one, tt.uct(solver=True), seed=1), visits=500)
    >>> while review.step(1.0): pass
    >>> [row["move"] for row in review.rows], review.rows[3]["loss"] > 0.2
    (['b2', 'a1', 'c1', 'c3'], True)
    """

    def __init__(
        self,
        final: Position,
        make: Callable[[Position], Search],
        *,
        visits: int,
        done: Callable[[], object] = lambda: None,
        failed: Callable[[BaseException], object] = lambda _: None,
    ) -> None:
        self._make, self._visits, self._done, self._failed = make, visits, done, failed
        self._positions = final.positions()
        self._actions = final.actions
        self._search: Search | None = None
        self._ply = 0
        self._stopped = False
        self.rows: list[dict[str, Any]] = []
        self.total = sum(self._is_choice(ply) for ply in range(len(self._actions)))
        """The moves to review: those of players, not outcomes of chance."""
        self.deadline = math.inf

    def stop(self) -> None:
        """End the review soon."""
        self._stopped = True

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self._stopped or len(self.rows) >= self.total

    def fail(self, error: BaseException) -> None:
        """Report an error of a search."""
        self._stopped = True
        self._failed(error)

    def _is_choice(self, ply: int) -> bool:
        position = self._positions[ply]
        return position.player not in (CHANCE, SIMULTANEOUS) and not position.is_continuous

    def step(self, seconds: float) -> bool:
        """Search for a slice of time; return whether there is more to do."""
        end = time.monotonic() + seconds
        while not self.is_over and time.monotonic() < end:
            if not self._is_choice(self._ply):
                self._ply += 1
                continue
            if self._search is None:
                self._search = self._make(self._positions[self._ply])
            self._advance(self._search)
        return not self.is_over

    def _advance(self, search: Search) -> None:
        """Search a little more; note the row when it is enough."""
        before, missing = search.simulations, self._visits - search.simulations
        if missing > 0:
            result = search.run(Limit(simulations=missing if search.config.root.schedules else min(missing, _SLICE)))
            if search.simulations > before and search.simulations < self._visits and not result.usage.stopped_early:
                return
        result, action = search.result(), self._actions[self._ply]
        place = result.numbers.tolist().index(action)
        wanted = math.ceil(_LEAST_SHARE * self._visits)
        if int(result.counts[place]) < wanted and _can_visit(search):
            result = search.visit(int(action), wanted)
        self.rows.append(self._row(result, place))
        self._search, self._ply = None, self._ply + 1
        self._done()

    def _row(self, result: SearchResult, place: int) -> dict[str, Any]:
        position, best = result.position, result.chosen
        means = result.clipped_means
        value, top = (float(means[index]) for index in (place, best))
        if math.isnan(value):
            value = top
        rate, best_rate = win_rate(position, value), win_rate(position, top)
        return {
            "ply": self._ply,
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
