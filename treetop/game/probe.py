"""Kernels of the conformance check that call the compiled methods of one state."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import local_rng, rng_word, shaped, state_at
from treetop.compiler.specialise import by_method

FINDINGS = np.dtype(
    [("terminal", "?"), ("player", "i8"), ("count", "i8"), ("key", "u8"), ("drawn", "i8"), ("rng", "u8")]
)
"""The results of a probe besides lists. `drawn` is a random action or outcome, `rng` the state of the generator after
the draw, `key` a key or information.
"""


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


@compiled
def _own_outcome(state: Any, rng: Any) -> int:
    return int(state.random_outcome(rng))


@compiled
def _own_image(state: Any, symmetry: int, outcome: int) -> int:
    return int(state.transform_outcome(symmetry, outcome))


@compiled
def _same_outcome(state: Any, symmetry: int, outcome: int) -> int:
    return int(outcome)


_key = by_method("key", yes=_own_key, no=_no_key)
_draw = by_method("random_action", yes=_own_draw, no=_no_draw)
_heuristic = by_method("heuristic", yes=_own_heuristic, no=_no_heuristic)
_outcome = by_method("random_outcome", yes=_own_outcome, no=_no_draw)
_image = by_method("transform_outcome", yes=_own_image, no=_same_outcome)


@compiled
def probe(game: Any, states: Any, findings: Any, actions: Any, rewards: Any, estimate: Any) -> None:
    """Call all methods of a state that do not depend on the kind of game."""
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
        if finding.player >= 0:
            finding.count = state.legal_actions(actions)
            rng = local_rng(finding.rng)
            finding.drawn = _draw(state, rng)
            finding.rng = rng_word(rng)
    finding.key = _key(state)
    _heuristic(state, estimate)


# Each of the following kernels is for games that have the method it calls.


@compiled
def chance(game: Any, states: Any, findings: Any, actions: Any, probabilities: Any) -> None:
    """Write the outcomes of chance, and draw one."""
    state = state_at(game, states, 0)
    finding = findings[0]
    finding.count = state.chance_outcomes(actions, probabilities)
    rng = local_rng(finding.rng)
    finding.drawn = _outcome(state, rng)
    finding.rng = rng_word(rng)


@compiled
def steps(game: Any, states: Any, out: Any) -> None:
    """Write the immediate rewards of the last action."""
    state_at(game, states, 0).step_rewards(out)


@compiled
def actions_of(game: Any, states: Any, findings: Any, player: int, actions: Any) -> None:
    """Write the legal actions of one player in a position with simultaneous moves."""
    findings[0].count = state_at(game, states, 0).legal_actions_of(player, actions)


@compiled
def sample(game: Any, states: Any, findings: Any, values: Any) -> None:
    """Sample a continuous action."""
    finding = findings[0]
    rng = local_rng(finding.rng)
    state_at(game, states, 0).sample_action(rng, values)
    finding.rng = rng_word(rng)


@compiled
def information(game: Any, states: Any, findings: Any, player: int) -> None:
    """Write the key of a player's information set."""
    findings[0].key = np.uint64(state_at(game, states, 0).information(player))


@compiled
def redraw(game: Any, states: Any, findings: Any, player: int) -> None:
    """Determinize a state for a player, in place."""
    finding = findings[0]
    rng = local_rng(finding.rng)
    state_at(game, states, 0).determinize(player, rng)
    finding.rng = rng_word(rng)


@compiled
def observation(game: Any, states: Any, player: int, out: Any) -> None:
    """Write the observation of a player, as a row of numbers."""
    state = state_at(game, states, 0)
    state.observe(player, shaped(state, out))


@compiled
def transform(game: Any, states: Any, symmetry: int, actions: Any, outcomes: Any) -> None:
    """Transform a state in place, and replace actions and outcomes by those to which they are mapped."""
    state = state_at(game, states, 0)
    for index in range(len(actions)):
        actions[index] = state.transform_action(symmetry, actions[index])
    for index in range(len(outcomes)):
        outcomes[index] = _image(state, symmetry, outcomes[index])
    state.transform(symmetry)


@compiled
def deal(game: Any, states: Any, findings: Any) -> None:
    """Deal in place."""
    finding = findings[0]
    rng = local_rng(finding.rng)
    state_at(game, states, 0).deal(rng)
    finding.rng = rng_word(rng)


@compiled
def step_joint(game: Any, states: Any, actions: Any) -> None:
    """Apply the actions of all players in place."""
    state_at(game, states, 0).apply_joint(actions)


@compiled
def step_vector(game: Any, states: Any, values: Any) -> None:
    """Apply a continuous action in place."""
    state_at(game, states, 0).apply_vector(values)


@compiled
def step(game: Any, states: Any, action: int) -> None:
    """Apply an action in place."""
    state_at(game, states, 0).apply(action)


@compiled
def begin(game: Any, states: Any) -> None:
    """Reset a state in place."""
    state_at(game, states, 0).reset()
