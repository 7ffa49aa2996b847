"""Rules of the root: noise, the moves that the caller asks for, forced playouts, Gumbel and sequential halving."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from treetop.reference.node import Node

if TYPE_CHECKING:
    from treetop.reference.search import ReferenceSearch


def add_noise(moves: list[Node], share: float, noise: list[float]) -> None:
    """Set the prior of each move to (1 - share) * P + share * noise."""
    for move, number in zip(moves, noise, strict=True):
        move.prior = float(np.float32((1.0 - share) * move.prior + share * number))


def prepare(search: ReferenceSearch, simulations: int) -> None:
    """Add noise to the priors of the root once, and plan the schedule of each run. The root has children."""
    moves = search.root.children
    if search.noise:
        add_noise(moves, search.settings.noise, search.noise)
        search.noise = []
    if search.settings.root == "gumbel" and not search.base:
        considered = max(1, min(search.settings.max_considered, sum(is_open(search, move) for move in moves)))
        search.schedule, search.turn = halving_schedule(considered, simulations), 0
        search.base = [move.visits for move in moves]


def halving_schedule(considered: int, simulations: int) -> list[int]:
    """Return a schedule of sequential halving: for each simulation, the earlier visits of the move to choose.

    In each phase the first k of m moves get max(1, floor(n / (ceil(log2 m) * k))) visits in turn; k is m, then half of
    it, down to 2.
    """
    if considered == 1:
        return list(range(simulations))
    phases, left = math.ceil(math.log2(considered)), considered
    visits, schedule = [0] * considered, list[int]()
    while len(schedule) < simulations:
        for _ in range(max(1, simulations // (phases * left))):
            schedule += visits[:left]
            visits[:left] = [count + 1 for count in visits[:left]]
        left = max(2, left // 2)
    return schedule[:simulations]


def by_schedule(search: ReferenceSearch, worth: list[float], logits: list[float]) -> list[float] | None:
    """Return the scores g + l + s * q of the moves with the scheduled visits since its start, given s * q and l.

    Return None where the schedule has ended or no open move fits it: then the rule of all other nodes decides.
    """
    if search.turn >= len(search.schedule):
        return None
    moves, due = search.root.children, search.schedule[search.turn]
    fits = [move.tries - base == due and is_open(search, move) for move, base in zip(moves, search.base, strict=True)]
    if not any(fits):
        return None
    rows = zip(worth, logits, search.gumbel, fits, strict=True)
    return [value + (logit + number) if fit else -math.inf for value, logit, number, fit in rows]


def is_open(search: ReferenceSearch, move: Node) -> bool:
    """Return whether a move of the root may be selected."""
    return not move.is_closed and (search.wanted is None or move.action in search.wanted)


def restrict_and_force(search: ReferenceSearch, scores: list[float], total: int) -> list[float]:
    """Return the root's scores, changed for some moves.

    A move that was not asked for gets minus infinity. A visited move with n < sqrt(k * P * N) gets infinity (forced
    playouts).
    """
    forced = search.settings.forced_playouts
    adjusted = []
    for move, score in zip(search.root.children, scores, strict=True):
        if not is_open(search, move):
            adjusted.append(-math.inf)
        elif score > -math.inf and 0 < move.tries < math.sqrt(forced * move.prior * total):
            adjusted.append(math.inf)
        else:
            adjusted.append(score)
    return adjusted


def anytime_halving(search: ReferenceSearch) -> Iterator[Node]:
    """Yield the moves of the root in passes, until none is open.

    A pass has each open move once, the better half twice, the better quarter four times, until one move is left. Better
    means a higher mean.
    """
    while arms := [move for move in search.root.children if is_open(search, move)]:
        samples = 1
        while True:
            for move in arms:
                for _ in range(samples):
                    if not is_open(search, move):
                        break
                    yield move
            arms = sorted(arms, key=_mean, reverse=True)[: (len(arms) + 1) // 2]
            if len(arms) == 1:
                break
            samples *= 2


def _mean(move: Node) -> float:
    """Return W / n; minus infinity without visits."""
    return move.value_sum / move.visits if move.visits else -math.inf
