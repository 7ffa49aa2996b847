"""The results of a pool: arrays with a row for each slot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.kernels.no_game import NO_GAME
from treetop.kernels.read import read_roots
from treetop.kernels.rules.completed import Completed
from treetop.kernels.rules.puct import Puct
from treetop.search.final import generator
from treetop.search.finals.visits import Visits
from treetop.search.result import SearchResult
from treetop.search.session import Session
from treetop.search.slots import Slots
from treetop.types import NONE, FloatArray

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PoolResult:
    """What the searches of a pool have found: arrays whose first axis are the slots. It does not change any more.

    Rows of games that are over are zero, and their action is NONE.

    >>> import treetop as tt
    >>> pool = tt.SearchPool("tic_tac_toe", slots=3, seed=1)
    >>> pool.run(simulations=100)
    >>> results = pool.results()
    >>> results.policy.sum(axis=1).round(6).tolist(), results.actions.shape
    ([1.0, 1.0, 1.0], (3,))
    """

    actions: npt.NDArray[np.int64]
    """The action to play in each slot, by the final rule of the search: (slots,)."""
    visits: npt.NDArray[np.int64]
    """Visits of each action of the game: (slots, actions)."""
    policy: FloatArray
    """The share of each action in the visits: (slots, actions)."""
    target: FloatArray
    """The training target of a policy, as `SearchResult.target` gives it: with completed values the improved policy,
    else the visits, without forced playouts: (slots, actions)."""
    action_values: FloatArray
    """The mean return of each action to the player to move; NaN without visits: (slots, actions)."""
    priors: FloatArray
    """The prior of each action: (slots, actions)."""
    values: FloatArray
    """The mean return to each player: (slots, players)."""
    players: npt.NDArray[np.int64]
    """The player to move; NONE where the game is over: (slots,)."""
    simulations: npt.NDArray[np.int64]
    """The simulations in each tree: (slots,)."""
    proven: npt.NDArray[np.bool_]
    """Whether the value is proven, by a search with the solver: (slots,)."""

    def target_values(self, *, zero_sum: bool) -> FloatArray:
        """Return the training target of values: (slots, players).

        It is the mean return if the player to move follows `target`. `values` are the means of all visits, of which a
        root rule like sequential halving spends most on moves that it rejects. In games that are not zero-sum, the
        values of the other players are those of `values`.

        >>> import treetop as tt
        >>> pool = tt.SearchPool("nim(stones=3)", tt.gumbel(), slots=1, evaluator=tt.evaluators.Uniform(), seed=1)
        >>> pool.run(simulations=100)
        >>> results = pool.results()  # taking all three stones wins
        >>> bool(results.values[0, 0] < results.target_values(zero_sum=True)[0, 0] <= 1.0)
        True
        """
        weights = np.where(self.visits > 0, self.target, 0.0)
        total = weights.sum(axis=1)
        known = np.flatnonzero((total > 0) & (self.players != NONE))
        found, movers = self.values.copy(), self.players[known]
        worth = np.where(weights > 0, weights * self.action_values, 0.0).sum(axis=1)[known] / total[known]
        found[known, movers] = worth
        if zero_sum:
            found[known, 1 - movers] = -worth
        return found


def read(slots: Slots) -> PoolResult:
    """Return the results of all slots."""
    count, facts, config = len(slots.drivers), slots.game.facts, slots.config
    shape = (count, facts.num_actions)
    completed = slots.trees[0].has("own_visits")
    order, visits, since = (np.zeros(shape, np.int64) for _ in range(3))
    sums, priors = np.zeros(shape), np.zeros(shape)
    improved = np.zeros(shape if completed else (0, 1))
    scores = np.full(shape if completed else (0, 1), -np.inf)
    root_visits, totals = np.zeros(count, np.int64), np.zeros((count, facts.players))
    movers = np.where(slots.playing, slots.players, NONE)
    NO_GAME.entry(read_roots)(
        slots.controls, slots.tree_packs, slots.work_packs, movers,
        order, visits, since, sums, priors, improved, scores, root_visits, totals,
    )  # fmt: skip
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / visits
        values = totals / np.maximum(root_visits, 1)[:, None]
        policy = visits / np.maximum(visits.sum(axis=1), 1)[:, None]
    legal = np.asarray(priors > 0)
    untried = np.asarray(visits.sum(axis=1) == 0)
    policy[untried] = (legal / np.maximum(legal.sum(axis=1), 1)[:, None])[untried]
    found = PoolResult(
        np.full(count, NONE, np.int64), visits, policy, policy, means, priors, values, movers, root_visits,
        slots.solved() & slots.playing,
    )  # fmt: skip
    second = scores if config.root.schedules else np.where(visits > 0, means, -np.inf)
    open_slots = slots.playing & (root_visits > 0)
    target = improved if isinstance(config.rule, Completed) else policy
    slow = np.array(open_slots)
    if type(config.final) is Visits and config.widening.actions is None:
        slow &= untried | slots.bounded()
        _choose(slots, found, order, since, second)
    forced = isinstance(config.rule, Puct) and config.rule.forced_playouts > 0
    if forced:
        target = target.copy()
    for slot in np.flatnonzero(open_slots if forced else slow).tolist():
        result = result_of(slots, slot)
        if slow[slot]:
            found.actions[slot] = result.action
        if forced:
            target[slot] = result.target()
    found.actions[~open_slots] = NONE
    object.__setattr__(found, "target", target)
    return found


def _choose(slots: Slots, found: PoolResult, order: Numbers, since: Numbers, second: FloatArray) -> None:
    """Write the most visited action of each slot; ties go to the highest in `second`, then to chance."""
    counts = np.where(found.visits > 0, since, -1)
    best = (found.visits > 0) & (counts == counts.max(axis=1)[:, None])
    ranked = np.where(best, second, -np.inf)
    best &= ranked == ranked.max(axis=1)[:, None]
    found.actions[:] = best.argmax(axis=1)
    for slot in np.flatnonzero(best.sum(axis=1) > 1).tolist():
        tied = np.flatnonzero(best[slot])
        tied = tied[np.argsort(order[slot, tied])]
        rng = generator(int(slots.controls["seed"][slot]), int(found.simulations[slot]))
        found.actions[slot] = tied[rng.below(len(tied))]


def result_of(slots: Slots, slot: int) -> SearchResult:
    """Return the result of one slot, with everything that a single search reports."""
    session: Any = Session(slots.driver(slot))
    session._is_scheduled = bool(slots.controls["planned"][slot])
    result: SearchResult = session.result()
    result.complete()
    return result
