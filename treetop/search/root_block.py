"""The statistics of the root's children, as they stood at one time: a copy of their rows, and what follows from it.

Most callers of a search read one or two numbers of its result. So the rows are copied as they are, and everything else
is computed when it is asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treetop.errors import SearchError
from treetop.search.root import block
from treetop.tree.layout import BOUNDED, FAILED, LINKS, PROVEN, STATS
from treetop.types import FloatArray, IntArray

if TYPE_CHECKING:
    from treetop.search.session import Session

_OPTIONAL = ("squares", "vectors", "bounds", "distances", "strategies", "action_values")


class Root:
    """The children of the root, in the order in which the game lists its actions."""

    def __init__(self, search: Session) -> None:
        self._config, self._facts, self._player = search.config, search.game.facts, search.player
        columns, children = search.tree.columns, block(search.tree)
        self._rows: dict[str, npt.NDArray[Any]] = {}
        self.start: IntArray | None = None
        """Visits of each action at the start of the current schedule, if there is one."""
        self._may_fail = not search._driver.is_game
        self.gumbel: FloatArray | None = None
        self._order: npt.NDArray[np.int64] | None = None
        if not children.stop:
            self._take_actions(search)
            return
        links = columns.links[children]
        self._order = order = _game_order(search, links["action"])
        self._widened = columns.stats[children].copy() if self._config.widening.actions is not None else None
        # An array of indices makes a copy, a slice does not.
        self._stats = columns.stats[children].copy() if order is None else columns.stats[children][order]
        self._links = links.copy() if order is None else links[order]
        for name in _OPTIONAL:
            column = getattr(columns, name)
            if len(column):
                self._rows[name] = column[children].copy() if order is None else column[children][order]
        if self._config.root.schedules and search._is_scheduled:
            work, count = search._driver.scratch.work, len(links)
            base, gumbel = work.base[:count].copy(), work.gumbel[:count].copy()
            self.start, self.gumbel = (base, gumbel) if order is None else (base[order], gumbel[order])

    def _take_actions(self, search: Session) -> None:
        """Take the legal actions of a root that is still a leaf, without visits."""
        if self._facts.action_size:
            raise SearchError("no action has been drawn yet: run more simulations")
        numbers = search.position.legal_actions(search.player)
        count, players = len(numbers), self._facts.players
        self._stats, self._links = np.zeros(count, STATS), np.zeros(count, LINKS)
        self._stats["prior"], self._links["action"] = 1.0 / count, numbers
        self._widened = None
        if self._config.solver:
            self._rows = {"bounds": np.zeros((count, 2 * players)), "distances": np.zeros(count, np.int32)}

    @property
    def numbers(self) -> IntArray:
        """The number of each action."""
        return np.asarray(self._links["action"])

    @property
    def counts(self) -> IntArray:
        """Visits of each action."""
        return np.asarray(self._stats["visits"])

    def _per_visit(self, sums: npt.NDArray[Any]) -> FloatArray:
        counts = self.counts
        return np.asarray(np.divide(sums, counts, out=np.full(len(counts), math.nan), where=counts > 0))

    @cached_property
    def means(self) -> FloatArray:
        """Mean value of each action for the player to move; NaN without visits."""
        if "vectors" in self._rows and self._config.backup.name in ("max", "mixed"):
            return np.where(self.counts > 0, self._rows["vectors"][:, self._player], math.nan)
        return self._per_visit(self._stats["value_sum"])

    @cached_property
    def priors(self) -> FloatArray:
        """The prior of each action."""
        return np.asarray(np.abs(self._stats["prior"].astype(np.float64)))

    @cached_property
    def deviations(self) -> FloatArray:
        """Standard deviation of each action's returns; NaN where the search keeps no squares."""
        if "squares" not in self._rows:
            return np.full(len(self.counts), math.nan)
        means = self._per_visit(self._stats["value_sum"])
        return np.asarray(np.sqrt(np.maximum(self._per_visit(self._rows["squares"]) - means**2, 0.0)))

    @cached_property
    def _bounds(self) -> tuple[FloatArray | None, FloatArray | None, IntArray | None]:
        """The proven least and greatest value of each action for the player to move, and its distance."""
        if not self._config.solver or "bounds" not in self._rows or "distances" not in self._rows:
            return None, None, None
        player, players, (low, high) = self._player, self._facts.players, self._facts.rewards
        flags, bounds, distances = self._links["flags"], self._rows["bounds"], self._rows["distances"]
        known, proven = (flags & BOUNDED) > 0, (flags & PROVEN) > 0
        lower, upper = np.where(known, bounds[:, player], low), np.where(known, bounds[:, players + player], high)
        return lower, upper, np.where(proven, distances, 0).astype(np.int32)

    @property
    def lower(self) -> FloatArray | None:
        """With a solver: the proven least value of each action."""
        return self._bounds[0]

    @property
    def upper(self) -> FloatArray | None:
        """With a solver: the proven greatest value of each action."""
        return self._bounds[1]

    @property
    def distances(self) -> IntArray | None:
        """Moves to the end after each action that is proven."""
        return self._bounds[2]

    @cached_property
    def failed(self) -> npt.NDArray[np.bool_]:
        """Whether each action has failed."""
        return np.asarray((self._links["flags"] & FAILED) > 0)

    @property
    def playable(self) -> npt.NDArray[np.bool_]:
        """The moves that have not failed; all of them if all have."""
        if not self._may_fail or self.failed.all():
            return np.ones(len(self._links), np.bool_)
        return ~self.failed

    @cached_property
    def unopened(self) -> npt.NDArray[np.bool_]:
        """Whether progressive widening has not opened each action yet; closed ones are not counted."""
        stats, widening = self._widened, self._config.widening
        if stats is None or widening.actions is None or self._facts.action_size:
            return np.zeros(len(self.counts), np.bool_)
        allowed = max(1, math.ceil(widening.actions * max(int(stats["visits"].sum()), 1) ** widening.power))
        unopened = np.asarray(np.cumsum(stats["prior"] >= 0) - (stats["prior"] >= 0) >= allowed)
        return unopened if self._order is None else unopened[self._order]

    @property
    def counts_since(self) -> IntArray:
        """Visits since the start of the root's current schedule; all visits without a schedule."""
        return self.counts if self.start is None else np.asarray(self.counts - self.start)

    @property
    def strategies(self) -> FloatArray | None:
        """With regret matching: the summed share of each action."""
        return self._rows.get("strategies")

    @property
    def vectors(self) -> FloatArray | None:
        """With continuous actions: the vector of each."""
        return self._rows.get("action_values")


@dataclass(frozen=True, kw_only=True)
class GivenRoot:
    """The same statistics from elsewhere, as they are: merged from several searches, or worked out by hand."""

    numbers: npt.NDArray[Any]
    counts: npt.NDArray[Any]
    means: FloatArray
    priors: FloatArray
    deviations: FloatArray
    lower: FloatArray | None
    upper: FloatArray | None
    distances: npt.NDArray[Any] | None
    failed: npt.NDArray[np.bool_]
    unopened: npt.NDArray[np.bool_]
    strategies: FloatArray | None = None
    gumbel: FloatArray | None = None
    vectors: FloatArray | None = None

    @property
    def playable(self) -> npt.NDArray[np.bool_]:
        """The moves that have not failed; all of them if all have."""
        return np.ones(len(self.numbers), np.bool_) if self.failed.all() else ~self.failed

    @property
    def counts_since(self) -> npt.NDArray[Any]:
        """All visits: there is no schedule."""
        return self.counts


def _game_order(search: Session, actions: IntArray) -> npt.NDArray[np.int64] | None:
    """Return the order in which the game lists its actions; None: it is the order of the tree.

    Widening and information sets use another one.
    """
    if search.game.facts.action_size or (
        search.config.widening.actions is None and not search.tree.has_information_sets
    ):
        return None
    place = {action: index for index, action in enumerate(search.position.legal_actions(search.player))}
    return np.argsort([place[int(action)] for action in actions])
