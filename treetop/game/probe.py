"""Kernels that look at one state, for the conformance check: what does the compiled game say here?"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import local_rng, rng_word, state_at
from treetop.compiler.specialise import by_method

FINDINGS = np.dtype([("terminal", "?"), ("player", "i8"), ("count", "i8"), ("key", "u8"), ("drawn", "i8"), ("rng", "u8")])
"""What a probe writes besides the actions and rewards. `drawn` is a random action, and `rng` where the generator stands after it."""


@compiled
def _own_key(state: Any) -> Any:
    return np.uint64(state.key())


@compiled
def _no_key(state: Any) -> Any:
    return np.uint64(0)


@compiled
def _own_draw(state: Any, rng: Any) -> int:
    return int(state.random_action(rng))


@compiled
def _no_draw(state: Any, rng: Any) -> int:
    return -1


@compiled
def _own_heuristic(state: Any, out: Any) -> None:
    state.heuristic(out)


@compiled
def _no_heuristic(state: Any, out: Any) -> None:
    out[:] = 0.0


_key = by_method("key", yes=_own_key, no=_no_key)
_draw = by_method("random_action", yes=_own_draw, no=_no_draw)
_heuristic = by_method("heuristic", yes=_own_heuristic, no=_no_heuristic)


@compiled
def probe(game: Any, states: Any, findings: Any, actions: Any, rewards: Any, estimate: Any) -> None:
    """Ask a state everything that can be asked of it."""
    state = state_at(game, states, 0)
    finding = findings[0]
    finding.terminal = state.is_terminal()
    finding.player = -1
    finding.count = 0
    if finding.terminal:
        rewards[:] = 0.0
        state.rewards(rewards)
    else:
        finding.player = state.current_player()
        finding.count = state.legal_actions(actions)
        rng = local_rng(finding.rng)
        finding.drawn = _draw(state, rng)
        finding.rng = rng_word(rng)
    finding.key = _key(state)
    _heuristic(state, estimate)


@compiled
def step(game: Any, states: Any, action: int) -> None:
    """Apply an action in place."""
    state_at(game, states, 0).apply(action)


@compiled
def begin(game: Any, states: Any) -> None:
    """Reset a state in place."""
    state_at(game, states, 0).reset()
