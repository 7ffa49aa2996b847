"""Who is looked at next at the root, where a schedule or the caller decides and not the rule alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from treetop.reference.node import Node

if TYPE_CHECKING:
    from treetop.reference.search import ReferenceSearch


def add_noise(moves: list[Node], share: float, noise: list[float]) -> None:
    """(1 - share) * P + share * noise, for the prior of each move."""
    for move, number in zip(moves, noise, strict=True):
        move.prior = float(np.float32((1.0 - share) * move.prior + share * number))


def dress(search: ReferenceSearch, simulations: int) -> None:
    """As soon as the root has children: noise for their priors, once, and in each run a plan for the simulations that are left."""
    moves = search.root.children
    if search.noise:
        add_noise(moves, search.settings.noise, search.noise)
        search.noise = []
    if search.settings.root == "gumbel" and not search.base:
        considered = max(1, min(search.settings.max_considered, sum(is_open(search, move) for move in moves)))
        search.schedule, search.turn = halving_schedule(considered, simulations), 0
        search.base = [move.visits for move in moves]


def halving_schedule(considered: int, simulations: int) -> list[int]:
    """For each simulation the visits that a move must have had before to be chosen: sequential halving among m moves.

    In each phase the first k places get max(1, floor(n / (ceil(log2 m) * k))) visits one after the other; k is m, then half of it, down to 2.
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


def by_schedule(search: ReferenceSearch, logits: list[float]) -> list[float] | None:
    """Scores g + l + s * q for the moves that have had the scheduled visits since the schedule began, given l + s * q.

    None where the schedule has ended, or no open move fits it: then the rule for all other nodes decides.
    """
    if search.turn >= len(search.schedule):
        return None
    moves, due = search.root.children, search.schedule[search.turn]
    fits = [move.begun - base == due and is_open(search, move) for move, base in zip(moves, search.base, strict=True)]
    if not any(fits):
        return None
    return [
        logit + number if fit else -math.inf for logit, number, fit in zip(logits, search.gumbel, fits, strict=True)
    ]


def is_open(search: ReferenceSearch, move: Node) -> bool:
    """Whether a move of the root may be looked at."""
    return not move.is_closed and (search.wanted is None or move.action in search.wanted)


def with_wishes(search: ReferenceSearch, scores: list[float], total: int) -> list[float]:
    """The root's scores: minus infinity for moves that were not asked for, infinity for a tried one with n < sqrt(k * P * N) (forced playouts)."""
    forced = search.settings.forced_playouts
    wished = []
    for move, score in zip(search.root.children, scores, strict=True):
        if not is_open(search, move):
            wished.append(-math.inf)
        elif score > -math.inf and 0 < move.begun < math.sqrt(forced * move.prior * total):
            wished.append(math.inf)
        else:
            wished.append(score)
    return wished


def anytime_halving(search: ReferenceSearch) -> Iterator[Node]:
    """Pass after pass: all open moves once, the better half twice, the better quarter four times, until one is left. Better is by the mean."""
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
    """W / n; what nobody has finished yet comes last."""
    return move.value_sum / move.visits if move.visits else -math.inf
