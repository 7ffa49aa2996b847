"""Alpha-beta for any deterministic game: a compiled search with an explicit stack, exact scores, and a table that never
changes them.

A score is a whole number and always for one player, the viewer: `UNIT` is half of the utility range, and the low bits
say how soon a decided game ends, so that a win is taken at once and a loss delayed. The state says who moves at a node,
so passes and double moves need no special case.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop import checks
from treetop.compiler.functions import inline_kernel, kernel
from treetop.compiler.intrinsics import copy_state, local_copy, local_rng, rng_word, state_at
from treetop.compiler.specialise import by_method
from treetop.errors import GameError, MethodError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.replay import failing_line
from treetop.kernels.evaluate import random_action

_TEMPO = 4096  # scores are multiples of this, plus or minus the moves left when a game is decided
_UNIT = 2**40
_FAR = 2**60  # beyond every score
_SLICE = 100_000  # nodes between two checks for Ctrl-C

MAX_DEPTH = _TEMPO // 2 - 2

NOTHING, HEURISTIC, ROLLOUTS = 0, 1, 2
"""The value of a position at the horizon: the middle of the utility range, the game's own estimate, or the mean of
random games.
"""

_EXACT, _AT_LEAST, _AT_MOST = 1, 2, 3

_FRAME = np.dtype(
    [
        ("alpha", "i8"),
        ("beta", "i8"),
        ("asked_alpha", "i8"),  # the window at the entry of the node
        ("asked_beta", "i8"),
        ("best", "i8"),
        ("key", "u8"),
        ("best_action", "i4"),
        ("count", "i4"),
        ("next", "i4"),
        ("maximising", "i4"),
    ]
)
_ENTRY = np.dtype([("key", "u8"), ("score", "i8"), ("action", "i4"), ("remaining", "i2"), ("bound", "i2")])
_CONTROL = np.dtype(
    [
        ("viewer", "i8"),
        ("depth", "i8"),
        ("horizon", "i8"),
        ("rollouts", "i8"),
        ("max_length", "i8"),
        ("middle", "f8"),
        ("half", "f8"),  # of the utility range
        ("rng", "u8"),
        ("level", "i8"),  # the state of the search, so that it can continue after a slice
        ("arrived", "i8"),
        ("budget", "i8"),
        ("score", "i8"),
        ("broken", "i8"),
    ]
)


@inline_kernel
def _own_key(state: Any) -> Any:
    return np.uint64(state.key())


@inline_kernel
def _no_key(state: Any) -> Any:  # noqa: ARG001 - one shape for games with and without
    return np.uint64(0)


@inline_kernel
def _own_estimate(state: Any, out: Any) -> None:
    state.heuristic(out)


@inline_kernel
def _no_estimate(state: Any, out: Any) -> None:  # noqa: ARG001
    out[:] = 0.0


_key = by_method("key", yes=_own_key, no=_no_key)
_estimate = by_method("heuristic", yes=_own_estimate, no=_no_estimate)


@inline_kernel
def _scaled(settings: Any, value: float) -> int:
    share = (value - settings.middle) / settings.half
    if not share > -1.0:  # also if it is NaN
        return -_UNIT if share <= -1.0 else 0
    return int(np.round(min(share, 1.0) * _UNIT))


@inline_kernel
def _outcome(settings: Any, state: Any, remaining: int, values: Any) -> int:
    values[:] = 0.0
    state.rewards(values)
    scaled = _scaled(settings, values[settings.viewer])
    if scaled == 0:
        return 0
    return scaled * _TEMPO + (remaining + 1 if scaled > 0 else -remaining - 1)


@kernel
def _mean_of_rollouts(settings: Any, start: Any, actions: Any, values: Any) -> float:
    rng = local_rng(settings.rng)
    total = 0.0
    for _ in range(settings.rollouts):
        state = local_copy(start)
        left = settings.max_length
        while left > 0 and not state.is_terminal():
            action = random_action(state, actions, rng)
            if action < 0:
                settings.broken = 1
                break
            state.apply(action)
            left -= 1
        values[:] = 0.0
        state.rewards(values)
        total += values[settings.viewer]
    settings.rng = rng_word(rng)
    return float(total / settings.rollouts)


@inline_kernel
def _at_horizon(settings: Any, state: Any, actions: Any, values: Any) -> int:
    if settings.horizon == HEURISTIC:
        values[:] = 0.0
        _estimate(state, values)
        return _scaled(settings, values[settings.viewer]) * _TEMPO
    if settings.horizon == ROLLOUTS:
        return _scaled(settings, _mean_of_rollouts(settings, state, actions, values)) * _TEMPO
    return 0


@inline_kernel
def _decided_by_table(frame: Any, entry: Any, remaining: int) -> bool:
    """Return whether the table knows enough. Only entries of exactly the same depth count, so that the result is the
    same without a table.
    """
    if entry.key != frame.key or entry.bound == 0 or entry.remaining != remaining:
        return False
    score = entry.score
    if entry.bound == _EXACT:
        return True
    return bool(score >= frame.beta if entry.bound == _AT_LEAST else score <= frame.alpha)


@inline_kernel
def _bring_forward(actions: Any, count: int, action: int) -> None:
    for index in range(count):
        if actions[index] == action:
            actions[index] = actions[0]
            actions[0] = action
            return


@inline_kernel
def _enter(settings: Any, state: Any, frame: Any, actions: Any, table: Any, remaining: int, values: Any) -> bool:
    """Visit a position for the first time. Return whether its score is known at once; it is in `settings.score`
    then.
    """
    if state.is_terminal():
        settings.score = _outcome(settings, state, remaining, values)
        return True
    mover = state.current_player()
    if remaining == 0 or mover < 0:  # chance is not searched
        settings.score = _at_horizon(settings, state, actions, values)
        return True
    frame.key = _key(state)
    frame.asked_alpha, frame.asked_beta = frame.alpha, frame.beta
    preferred = -1
    if len(table):
        entry = table[np.int64(frame.key & np.uint64(len(table) - 1))]
        if _decided_by_table(frame, entry, remaining):
            settings.score = entry.score
            return True
        if entry.key == frame.key and entry.bound:
            preferred = entry.action
    frame.count = state.legal_actions(actions)
    if frame.count <= 0 or frame.count > len(actions):
        settings.broken, frame.count = 1, 0
    if preferred >= 0:
        _bring_forward(actions, frame.count, preferred)
    frame.next = 0
    frame.best_action = actions[0]
    frame.maximising = int(mover == settings.viewer)
    frame.best = -_FAR if frame.maximising else _FAR
    return False


@inline_kernel
def _take(frame: Any, action: int, score: int) -> None:
    """Update a node with the score of a child."""
    if frame.maximising and score > frame.best:
        frame.best, frame.best_action = score, action
        frame.alpha = max(frame.alpha, score)
    elif not frame.maximising and score < frame.best:
        frame.best, frame.best_action = score, action
        frame.beta = min(frame.beta, score)


@inline_kernel
def _store(frame: Any, table: Any, remaining: int) -> None:
    entry = table[np.int64(frame.key & np.uint64(len(table) - 1))]
    entry.key, entry.score, entry.action, entry.remaining = frame.key, frame.best, frame.best_action, remaining
    entry.bound = (
        _AT_MOST if frame.best <= frame.asked_alpha else _AT_LEAST if frame.best >= frame.asked_beta else _EXACT
    )


@kernel
def walk(game: Any, control: Any, states: Any, actions: Any, frames: Any, table: Any, values: Any) -> bool:
    """Run fail-soft alpha-beta from the position in `states[0]`, in the window of `frames[0]`. Return False if the
    budget of nodes is spent: call again.
    """
    settings = control[0]
    level, arrived = settings.level, settings.arrived
    while settings.budget > 0:
        remaining = settings.depth - level
        frame = frames[level]
        known = False
        if arrived:
            settings.budget -= 1
            known = _enter(settings, state_at(game, states, level), frame, actions[level], table, remaining, values)
            if settings.broken:
                return True
        arrived = 0
        if not known:
            if frame.next < frame.count and frame.alpha < frame.beta:
                copy_state(game, states, level + 1, states, level)
                state_at(game, states, level + 1).apply(np.int64(actions[level, frame.next]))
                frame.next += 1
                level += 1
                frames[level].alpha, frames[level].beta = frame.alpha, frame.beta
                arrived = 1
                continue
            if len(table):
                _store(frame, table, remaining)
            settings.score = frame.best
        if level == 0:
            return True
        level -= 1
        _take(frames[level], actions[level, frames[level].next - 1], settings.score)
    settings.level, settings.arrived = level, arrived
    return False


class Minimax:
    """Scores the moves of a position by alpha-beta of a given depth. Holds the arrays of the search, for one game.

    All players but the one to move are treated as one opponent, which is right for two-player zero-sum games.
    """

    def __init__(self, game: Game, depth: int, *, horizon: int, table: int = 0, rollouts: int = 0) -> None:
        facts = game.facts
        low, high = facts.rewards
        self.game = game
        self.depth = depth
        self._entry = game.engine().entry(walk)
        self._states = np.zeros(depth, game.dtype)
        self._actions = np.zeros((depth, facts.num_actions), np.int32)
        self._frames = np.zeros(depth, _FRAME)
        self._values = np.zeros(facts.players)
        self._table = np.zeros(table if game.has("key") else 0, _ENTRY)
        self._control = np.zeros(1, _CONTROL)
        self._control["horizon"], self._control["rollouts"], self._control["max_length"] = (
            horizon,
            rollouts,
            facts.max_length,
        )
        self._control["middle"], self._control["half"] = facts.middle, (high - low) / 2

    def prepare(self) -> None:
        """Compile the search, or load it from the cache."""
        if not self._entry.is_ready:
            self._control["budget"] = 0  # it returns at once
            self._entry(self._control, self._states, self._actions, self._frames, self._table, self._values)

    def best_moves(self, position: Position, seed: int = 0) -> tuple[list[int], int]:
        """Return all best actions and their score. Deepens iteratively, so that good moves are searched first."""
        self._start(position, seed)
        order = position.legal_actions()
        following = {action: position.apply(action).record[0] for action in order}
        best = -_FAR
        scores: dict[int, int] = {}
        for depth in range(1, self.depth + 1):
            best, scores = -_FAR, {}
            for action in order:
                # A window that begins just below the best: a score equal to it is exactly as good, any other is worse.
                scores[action] = self._score(following[action], depth - 1, best - 1, _FAR)
                best = max(best, scores[action])
            order.sort(key=lambda action: -scores[action])
        return [action for action in position.legal_actions() if scores[action] == best], best

    def score_moves(self, position: Position, seed: int = 0) -> dict[int, int]:
        """Return the exact score of every legal action, for the player to move."""
        self._start(position, seed)
        return {
            action: self._score(position.apply(action).record[0], self.depth - 1, -_FAR, _FAR)
            for action in position.legal_actions()
        }

    def value(self, score: int) -> float:
        """Return a score in the game's own rewards, for the player to move."""
        scaled = (score + _TEMPO // 2) // _TEMPO
        return float(self._control[0]["middle"] + self._control[0]["half"] * (scaled / _UNIT))

    def _start(self, position: Position, seed: int) -> None:
        self._table[:] = np.zeros((), _ENTRY)
        self._control["viewer"], self._control["rng"] = position.player, seed % 2**64

    def _score(self, record: Any, depth: int, alpha: int, beta: int) -> int:
        control = self._control
        self._states[0] = record
        self._frames[0]["alpha"], self._frames[0]["beta"] = alpha, beta
        control["depth"], control["level"], control["arrived"], control["broken"] = depth, 0, 1, 0
        finished = False
        while not finished:
            control["budget"] = _SLICE
            try:
                finished = self._entry(control, self._states, self._actions, self._frames, self._table, self._values)
            except MethodError as error:
                raise GameError(
                    f"{error}{failing_line(Position(self.game, np.array([record], self.game.dtype)))}"
                ) from error.__cause__
        if control[0]["broken"]:
            raise GameError(
                f"{self.game.name} has a position without a legal action that is not over, "
                "or with more than num_actions: see treetop.check"
            )
        return int(control[0]["score"])


def check_depth(depth: Any) -> int:
    """Check a depth."""
    return checks.whole("depth", depth, 1, MAX_DEPTH)
