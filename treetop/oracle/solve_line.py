"""The compiled exact search of the last positions of a game that was played, from its end backwards."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import compiled, inline_kernel
from treetop.compiler.intrinsics import copy_state, state_at
from treetop.oracle.solve_search import ANSWERED, PAUSED, explore, hash_words, place_for

_MOST_WORK = 64  # of an entry in the table, as a power of two: it is not replaced by others


@inline_kernel
def _follow(game: Any, line: Any, place: Any, action: Any, states: Any, control: Any, frame: Any) -> None:
    """Let the next search begin with the position after an action."""
    copy_state(game, states, 0, line, place)
    state_at(game, states, 0).apply(np.int64(action))
    control.depth = 0
    frame.low, frame.low_timing, frame.high, frame.high_timing = -np.inf, 0, np.inf, 0


@inline_kernel
def _remember(game: Any, line: Any, place: Any, value: float, states: Any, words: Any, table: Any, kept: Any) -> None:
    """Store the value of a position of the line in the table, for the positions before it."""
    copy_state(game, states, 0, line, place)
    hashed = hash_words(words[0])
    slot = place_for(table, kept, hashed, words[0], _MOST_WORK)
    entry = table[slot]
    entry.hashed, entry.work, entry.action = hashed, _MOST_WORK, -1
    entry.low, entry.low_timing, entry.high, entry.high_timing = value, 0, value, 0
    for index in range(len(words[0])):
        kept[slot, index] = words[0, index]


@compiled(python_errors=False)
def solve_last(
    game: Any,
    controls: Any,
    line: Any,
    listed: Any,
    found: Any,
    states: Any,
    words: Any,
    actions: Any,
    frames: Any,
    history: Any,
    rewards: Any,
    table: Any,
    kept: Any,
    values: Any,
    best: Any,
) -> int:
    """Solve the positions of a line, the last one first, while the budget lasts: see `explore` for how it ends.

    Write to `values` what player 0 receives and to `best` which actions keep that, a row for each position. The rows
    that are solved are counted in `control.solved`. `listed` and `found` have a place for each action of a position.
    """
    control, frame = controls[0], frames[0]
    last = control.nodes + control.budget
    control.solved = 0
    for place in range(len(line) - 1, -1, -1):
        position = state_at(game, line, place)
        player, count = position.current_player(), position.legal_actions(listed)
        sign, most = (1.0, control.highest) if player == 0 else (-1.0, -control.lowest)
        value = -np.inf  # what the player to move receives at least
        # Some actions need no search, like the one that was played. What they give makes the windows of the others
        # narrow.
        for index in range(count):
            _follow(game, line, place, listed[index], states, control, frame)
            control.budget, found[index] = 1, np.inf
            status = explore(game, controls, states, words, actions, frames, history, rewards, table, kept)
            if status == ANSWERED:
                found[index] = sign * control.value
                value = max(value, found[index])
            elif status != PAUSED:
                return int(status)
        status = ANSWERED
        for index in range(count):
            if found[index] < np.inf:
                continue
            _follow(game, line, place, listed[index], states, control, frame)
            # It is enough to know how much better an action is, or else whether it is worse.
            if player == 0:
                frame.low = np.nextafter(value, -np.inf)
            else:
                frame.high = -np.nextafter(value, -np.inf)
            control.budget = last - control.nodes
            status = explore(game, controls, states, words, actions, frames, history, rewards, table, kept)
            if status != ANSWERED:
                break
            found[index] = sign * control.value
            value = max(value, found[index])
        if status != ANSWERED and (status != PAUSED or value < most):
            return int(status)
        values[control.solved] = sign * value
        for index in range(count):
            best[control.solved, listed[index]] = status == ANSWERED and found[index] == value
        control.solved += 1
        if status == PAUSED:
            return int(status)
        _remember(game, line, place, sign * value, states, words, table, kept)
    return int(ANSWERED)
