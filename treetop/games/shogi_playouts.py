"""Random moves, playouts and estimates of shogi: functions of a state of `shogi_rules`."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import compiled, lowest_bit, nth_bit, popcount
from treetop.games.shogi_tables import KING, SLIDES, STEPS, WORTH

_NONE, _ONE = np.uint64(0), np.uint64(1)
ALL = 10_000
"""More than the moves of any piece."""


@compiled
def draw_action(state: Any, rng: Any, drops: Any, first_drop: int) -> int:
    """Return an action drawn uniformly from those that may leave the king attacked; -1 if it does.

    `drops` are the kinds that can be dropped, `first_drop` is the plane of the first one.
    """
    player = state.player
    total, source, index, found = 0, -1, -1, 0
    for word in range(2):
        rest = state.own[player, word]
        while rest != _NONE:
            at = 64 * word + lowest_bit(rest)
            rest &= rest - _ONE
            moves = -1 - state.move_from(at, ALL)
            total += moves
            if moves > 0 and rng.below(total) < moves:
                source, found = at, moves
    for at in range(len(drops)):
        kind = int(drops[at])
        if state.hands[player, kind] > 0:
            moves = popcount(state.may_drop(kind, 0)) + popcount(state.may_drop(kind, 1))
            total += moves
            if moves > 0 and rng.below(total) < moves:
                index, found = at, moves
    number = rng.below(found)
    if index < 0:
        move = state.move_from(source, number)
        return state.action_from(move) if state.is_safe(source, move >> 6) else -1
    kind = int(drops[index])
    first = state.may_drop(kind, 0)
    lower = popcount(first)
    target = nth_bit(first, number) if number < lower else 64 + nth_bit(state.may_drop(kind, 1), number - lower)
    return state.action_of(first_drop + index, target) if state.is_legal_drop(kind, target) else -1


@compiled
def find_capture(state: Any, reach: Any, deltas: Any) -> int:
    """Return the move that gains most by a capture, with the piece lost if its target is defended; -1 for none."""
    player = state.player
    sign, best, chosen = 1 if player == 0 else -1, 50, -1
    for word in range(2):
        rest = state.own[player, word]
        while rest != _NONE:
            source = 64 * word + lowest_bit(rest)
            rest &= rest - _ONE
            kind = int(state.cells[source]) * sign - 1
            ways = int(STEPS[kind])
            while ways != 0:
                direction = lowest_bit(ways)
                ways &= ways - 1
                way, target = state.turned(player, direction), source
                for _ in range(int(reach[12 * source + way])):
                    target += int(deltas[way])
                    there = int(state.cells[target]) * sign
                    if there == 0 and SLIDES[kind] >> direction & 1 != 0:
                        continue
                    gain = WORTH[-there - 1] if there < 0 else 0
                    if gain > best and state.is_safe(source, target):
                        if kind != KING and state.is_attacked(player, target, source, target):
                            gain -= WORTH[kind]
                        if gain > best:
                            promotes = state.choices(kind, source, target) > 1
                            best = gain
                            chosen = target << 6 | int(promotes) << 5 | direction
                    break
    return chosen


@compiled
def find_lead(state: Any) -> int:
    """Return the lead of player 0 in pieces and moves; a pawn is worth 100."""
    lead, mover = 0, state.player
    for player in range(2):
        score = 0
        for kind in range(7):
            score += WORTH[kind] * 11 // 10 * state.hands[player, kind]
        state.player = player
        for word in range(2):
            rest = state.own[player, word]
            while rest != _NONE:
                square = 64 * word + lowest_bit(rest)
                rest &= rest - _ONE
                score += WORTH[abs(int(state.cells[square])) - 1] + 3 * (-1 - state.move_from(square, ALL))
        lead += score if player == 0 else -score
    state.player = mover
    if state.checked:
        lead += 30 if mover == 1 else -30
    return lead
