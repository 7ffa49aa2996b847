"""The compiled exact search of any game for one player, or any two-player zero-sum game: alpha-beta with a table of
positions.

An outcome is a pair: what player 0 receives, and its timing. The timing is minus the number of moves to the end if
player 0 gains, and plus that number if player 0 loses, so that of two pairs the larger one is better for player 0: gain
soon, lose late. It is 0 in a draw, and everywhere if the length of the game does not matter. During the search, moves
are counted from its root; in the table from the position itself, so that its bounds are valid wherever it occurs.

The table compares whole records, not only their hashes: no collision can confuse two positions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import compiled, inline_kernel
from treetop.compiler.intrinsics import copy_state, mix_bits, state_at

PAUSED, ANSWERED, NO_ACTION, WRONG_PLAYER, TOO_LONG, WRONG_REWARDS = range(6)
"""How a call ends: the budget is spent, the value is known, or the game broke its contract."""

CONTROL = np.dtype([
    ("players", "i8"),
    ("timed", "i8"),  # 1: the length of the game counts
    ("lowest", "f8"),  # the utility range
    ("highest", "f8"),
    ("budget", "i8"),  # positions to search before a pause
    ("nodes", "i8"),  # positions searched so far
    ("depth", "i8"),  # where the search continues
    ("value", "f8"),  # the outcome
    ("timing", "i8"),
    ("solved", "i8"),  # of a line, the positions that are solved
])  # fmt: skip

FRAME = np.dtype([
    ("player", "i8"),
    ("count", "i8"),  # actions
    ("next", "i8"),  # the first action not yet searched
    ("hashed", "u8"),
    ("nodes_before", "i8"),  # the number of positions searched before this one
    ("first", "i8"),  # the action to try first; -1 for none
    ("choice", "i8"),  # the best action so far
    # Outcomes: the best so far, the window as it is now and as it was, and what the table knew.
    ("best", "f8"), ("best_timing", "i8"),
    ("low", "f8"), ("low_timing", "i8"),
    ("high", "f8"), ("high_timing", "i8"),
    ("old_low", "f8"), ("old_low_timing", "i8"),
    ("old_high", "f8"), ("old_high_timing", "i8"),
    ("known_low", "f8"), ("known_low_timing", "i8"),
    ("known_high", "f8"), ("known_high_timing", "i8"),
])  # fmt: skip

ENTRY = np.dtype([
    ("hashed", "u8"),
    ("low", "f8"), ("low_timing", "i4"),
    ("high", "f8"), ("high_timing", "i4"),
    ("action", "i4"),
    ("work", "i4"),  # the work, as a power of two; 0 for an empty slot
], align=True)  # fmt: skip

_NO_ENTRY = -1


@inline_kernel
def _less(value: float, timing: int, other: float, other_timing: int) -> bool:
    return value < other or (value == other and timing < other_timing)


@inline_kernel
def _delay(value: float, moves: int, timed: int) -> int:
    """Return the timing of an outcome after so many moves."""
    if timed == 0 or value == 0.0:
        return 0
    return -moves if value > 0.0 else moves


@inline_kernel
def hash_words(words: Any) -> Any:
    """Return the hash of a position."""
    hashed = np.uint64(len(words))
    for word in words:
        hashed = mix_bits(hashed ^ np.uint64(word))
    return hashed


@inline_kernel
def find_entry(table: Any, kept: Any, hashed: Any, words: Any) -> Any:
    """Return the index of a position in the table."""
    for place in (np.int64(hashed & np.uint64(len(table) - 2)), np.int64(hashed & np.uint64(len(table) - 2)) + 1):
        if table[place].work > 0 and table[place].hashed == hashed:
            equal = True
            for index in range(len(words)):
                equal &= kept[place, index] == words[index]
            if equal:
                return place
    return _NO_ENTRY


@inline_kernel
def place_for(table: Any, kept: Any, hashed: Any, words: Any, work: int) -> Any:
    """Return the slot for a position: its own; else, of two, the first if it took more work than what is there, or the
    second.
    """
    place = find_entry(table, kept, hashed, words)
    if place == _NO_ENTRY:
        place = np.int64(hashed & np.uint64(len(table) - 2))
        if table[place].work > work:
            place += 1
        elif table[place].work > 0:
            table[place + 1] = table[place]
            for index in range(len(words)):
                kept[place + 1, index] = kept[place, index]
    return place


@inline_kernel
def _store(frame: Any, depth: int, timed: int, nodes: int, words: Any, table: Any, kept: Any) -> None:
    """Store what a finished frame has proven in the table."""
    low, low_timing, high, high_timing = (
        frame.known_low,
        frame.known_low_timing,
        frame.known_high,
        frame.known_high_timing,
    )
    best, timing = frame.best, frame.best_timing
    if not _less(frame.old_low, frame.old_low_timing, best, timing):
        high, high_timing = best, timing
    elif not _less(best, timing, frame.old_high, frame.old_high_timing):
        low, low_timing = best, timing
    else:
        low, low_timing, high, high_timing = best, timing, best, timing
    work = 1
    spent = nodes - frame.nodes_before
    while spent > 0:
        spent >>= 1
        work += 1
    place = place_for(table, kept, frame.hashed, words, work)
    entry = table[place]
    entry.hashed, entry.work, entry.action = frame.hashed, work, frame.choice
    entry.low, entry.low_timing = low, low_timing - _delay(low, depth, timed)
    entry.high, entry.high_timing = high, high_timing - _delay(high, depth, timed)
    for index in range(len(words)):
        kept[place, index] = words[index]


@inline_kernel
def _narrow(frame: Any, depth: int, control: Any) -> None:
    """Bound the outcome: the game lasts at least one more move, and the rewards are in their range."""
    best, worst = control.highest, control.lowest
    best_timing, worst_timing = _delay(best, depth + 1, control.timed), _delay(worst, depth + 1, control.timed)
    if best >= 0.0 and _less(best, best_timing, frame.high, frame.high_timing):
        frame.high, frame.high_timing = best, best_timing
    if worst <= 0.0 and _less(frame.low, frame.low_timing, worst, worst_timing):
        frame.low, frame.low_timing = worst, worst_timing


@inline_kernel
def _look_up(frame: Any, depth: int, timed: int, words: Any, table: Any, kept: Any) -> bool:
    """Narrow the window by the table. Return whether that decides; the outcome is then the best."""
    frame.hashed = hash_words(words)
    frame.first = -1
    frame.known_low, frame.known_high = -np.inf, np.inf
    frame.known_low_timing, frame.known_high_timing = 0, 0
    place = find_entry(table, kept, frame.hashed, words)
    if place == _NO_ENTRY:
        return False
    entry = table[place]
    frame.first = entry.action
    low, low_timing = entry.low, entry.low_timing + _delay(entry.low, depth, timed)
    high, high_timing = entry.high, entry.high_timing + _delay(entry.high, depth, timed)
    frame.known_low, frame.known_low_timing, frame.known_high, frame.known_high_timing = (
        low,
        low_timing,
        high,
        high_timing,
    )
    exact = low == high and low_timing == high_timing
    if exact or not _less(low, low_timing, frame.high, frame.high_timing):
        frame.best, frame.best_timing = low, low_timing
        return True
    if not _less(frame.low, frame.low_timing, high, high_timing):
        frame.best, frame.best_timing = high, high_timing
        return True
    if _less(frame.low, frame.low_timing, low, low_timing):
        frame.low, frame.low_timing = low, low_timing
    if _less(high, high_timing, frame.high, frame.high_timing):
        frame.high, frame.high_timing = high, high_timing
    return False


@inline_kernel
def _end(state: Any, control: Any, frame: Any, depth: int, rewards: Any) -> int:
    """Read the outcome of a finished game."""
    for player in range(control.players):
        rewards[player] = 0.0
    state.rewards(rewards)
    value = rewards[0]
    if not control.lowest <= value <= control.highest or (control.players == 2 and value + rewards[1] != 0.0):
        return WRONG_REWARDS
    frame.best, frame.best_timing = value, _delay(value, depth, control.timed)
    return ANSWERED


@inline_kernel
def _enter(
    state: Any, control: Any, frames: Any, depth: int, words: Any, actions: Any, rewards: Any, table: Any, kept: Any
) -> int:
    """Visit a position whose window is in its frame: it is answered, or its actions are listed, or the contract is
    broken.
    """
    frame = frames[depth]
    if state.is_terminal():
        return _end(state, control, frame, depth, rewards)
    frame.player = state.current_player()
    if not 0 <= frame.player < control.players:
        return WRONG_PLAYER
    if depth + 1 >= len(frames):
        return TOO_LONG
    if _look_up(frame, depth, control.timed, words[depth], table, kept):
        return ANSWERED
    _narrow(frame, depth, control)
    if not _less(frame.low, frame.low_timing, frame.high, frame.high_timing):
        # Each end is a bound of the outcome, or of what the caller can use: the lower one contains all that matters to
        # the caller.
        frame.best, frame.best_timing = frame.low, frame.low_timing
        return ANSWERED
    frame.old_low, frame.old_low_timing, frame.old_high, frame.old_high_timing = (
        frame.low,
        frame.low_timing,
        frame.high,
        frame.high_timing,
    )
    frame.count, frame.next, frame.choice, frame.nodes_before = (
        state.legal_actions(actions[depth]),
        0,
        -1,
        control.nodes,
    )
    frame.best, frame.best_timing = (-np.inf, 0) if frame.player == 0 else (np.inf, 0)
    if frame.count > actions.shape[1]:
        return NO_ACTION
    for index in range(frame.count):
        if actions[depth, index] < 0 or actions[depth, index] >= actions.shape[1]:
            return NO_ACTION
    return PAUSED if frame.count > 0 else NO_ACTION


@inline_kernel
def _next_action(frame: Any, actions: Any, history: Any) -> Any:
    """Return the next action: the one that was best here before; then those that have decided most often elsewhere."""
    chosen = frame.next
    for index in range(frame.next, frame.count):
        if actions[index] == frame.first:
            chosen = index
            break
        if history[frame.player, actions[index]] > history[frame.player, actions[chosen]]:
            chosen = index
    action = actions[chosen]
    actions[chosen] = actions[frame.next]
    actions[frame.next] = action
    frame.next += 1
    return np.int64(action)


@inline_kernel
def _take(frame: Any, value: float, timing: int, actions: Any, history: Any) -> bool:
    """Update the frame by the outcome of the last action. Return whether the others can be skipped."""
    if frame.player == 0:
        better = _less(frame.best, frame.best_timing, value, timing)
        if _less(frame.low, frame.low_timing, value, timing):
            frame.low, frame.low_timing = value, timing
    else:
        better = _less(value, timing, frame.best, frame.best_timing)
        if _less(value, timing, frame.high, frame.high_timing):
            frame.high, frame.high_timing = value, timing
    if better:
        frame.best, frame.best_timing, frame.choice = value, timing, actions[frame.next - 1]
    if _less(frame.low, frame.low_timing, frame.high, frame.high_timing):
        return bool(frame.next == frame.count)
    history[frame.player, actions[frame.next - 1]] += 1
    return True


@compiled(python_errors=False)
def explore(
    game: Any,
    controls: Any,
    states: Any,
    words: Any,
    actions: Any,
    frames: Any,
    history: Any,
    rewards: Any,
    table: Any,
    kept: Any,
) -> int:
    """Continue a search: see the codes above for how it ends.

    `states` is the current line of positions, `words` the same memory as whole numbers; `kept` has the table's records.
    """
    control = controls[0]
    depth, stop = control.depth, control.nodes + control.budget
    while control.nodes < stop:
        control.nodes += 1
        status = _enter(state_at(game, states, depth), control, frames, depth, words, actions, rewards, table, kept)
        answered = status == ANSWERED
        if not answered and status != PAUSED:
            control.depth = depth
            return status
        while answered and depth > 0:
            depth -= 1
            answered = _take(
                frames[depth], frames[depth + 1].best, frames[depth + 1].best_timing, actions[depth], history
            )
            if answered:
                _store(frames[depth], depth, control.timed, control.nodes, words[depth], table, kept)
        if answered:
            control.value, control.timing = frames[0].best, frames[0].best_timing
            return ANSWERED
        frame, below = frames[depth], frames[depth + 1]
        action = _next_action(frame, actions[depth], history)
        copy_state(game, states, depth + 1, states, depth)
        depth += 1
        state_at(game, states, depth).apply(action)
        below.low, below.low_timing, below.high, below.high_timing = (
            frame.low,
            frame.low_timing,
            frame.high,
            frame.high_timing,
        )
    control.depth = depth
    return PAUSED
