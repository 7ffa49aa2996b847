"""Perft: count all sequences of moves of a given length. If they equal known numbers, the rules are right."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from treetop import checks
from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import copy_state, state_at
from treetop.errors import ConfigError, GameError, MethodError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.game.replay import failing_line

_NOT_COUNTED = {
    "chance_outcomes": "chance moves",
    "apply_joint": "players move simultaneously",
    "sample_action": "actions are continuous",
}


def perft(game: str | Game | Position, depth: int, *, count_early_ends: bool = False) -> int:
    """Return the number of sequences of exactly `depth` moves, from the start of a game or from a position.

    A game that ends earlier does not count, or counts as one sequence if `count_early_ends` is true, as is the custom
    in Othello.

    >>> perft("tic_tac_toe", 3)
    504
    """
    start = _start(game, depth)
    if depth == 0:
        return 1
    states = np.zeros(depth, start.game.dtype)
    states[0] = start.record[0]
    actions = np.zeros((depth, start.game.facts.num_actions), np.int32)
    untried = np.zeros(depth, np.int64)
    try:
        return int(start.game.engine().entry(count_sequences)(states, actions, untried, count_early_ends))
    except MethodError as error:
        raise GameError(f"{error}{failing_line(start)}") from error.__cause__


def perft_plain(game: str | Game | Position, depth: int, *, count_early_ends: bool = False) -> int:
    """Return the same in interpreted Python, where each move is played: for small depths, to check the compiled one."""
    return _count_plain(_start(game, depth).state, depth, count_early_ends)


@compiled(python_errors=False)
def count_sequences(game: Any, states: Any, actions: Any, untried: Any, count_early_ends: bool) -> int:
    """Count the tree to the depth of the stack; the position of each level stays in `states` until all its actions are
    tried.

    The last move of a sequence is counted and not played, which is faster by the number of moves of a position.
    """
    total = 0
    level, arrived = 0, True
    while level >= 0:
        if arrived:
            state = state_at(game, states, level)
            if state.is_terminal():
                untried[level] = 0
                total += int(count_early_ends)
            elif level == len(states) - 1:
                untried[level] = 0
                total += state.legal_actions(actions[level])
            else:
                untried[level] = state.legal_actions(actions[level])
                if untried[level] > actions.shape[1]:
                    raise ValueError("legal_actions returned more actions than num_actions")
        arrived = untried[level] > 0
        if arrived:
            untried[level] -= 1
            copy_state(game, states, level + 1, states, level)
            state_at(game, states, level + 1).apply(np.int64(actions[level, untried[level]]))
            level += 1
        else:
            level -= 1
    return total


def _start(game: str | Game | Position, depth: int) -> Position:
    checks.whole("depth", depth, 0)
    start = game if isinstance(game, Position) else Position(load_game(game))
    for method, reason in _NOT_COUNTED.items():
        if start.game.has(method):
            raise ConfigError(f"perft counts moves that one player makes at a time; in {start.game.name} {reason}")
    return start


def _count_plain(state: Any, depth: int, count_early_ends: bool) -> int:
    if depth == 0:
        return 1
    if state.is_terminal():
        return int(count_early_ends)
    actions = np.zeros(type(state)._game.facts.num_actions, np.int32)
    total = 0
    for action in actions[: state.legal_actions(actions)]:
        child = copy.copy(state)
        child.apply(int(action))
        total += _count_plain(child, depth - 1, count_early_ends)
    return total
