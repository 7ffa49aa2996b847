"""Repeat a failed rollout of compiled code in plain Python, to find the line of the user's code."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.rng import Rng
from treetop.game.contract import definition_of, state_text
from treetop.game.definition import Game
from treetop.game.lines import users_line
from treetop.game.position import Position
from treetop.game.watchdog import EndlessError, Watchdog
from treetop.types import CHANCE, SIMULTANEOUS

_REPLAYS = 50


def failing_line(position: Position, seed: int = 0, word: int = 0) -> str:
    """Return the line of the user's code that fails in plain Python: in the same rollout, or in other random games.

    Rewards out of range are shown with their values. `word` is the state of the generator before that rollout. The
    text is empty if nothing fails.
    """
    facts = position.game.facts
    try:
        with Watchdog():
            for attempt in range(_REPLAYS):
                state: Any = position.state
                rng = Rng.from_word(word) if attempt == 0 else Rng(seed + attempt)
                for _ in range(facts.max_length + 1):  # the last one sees the end
                    if state.is_terminal():
                        wrong = _wrong_rewards(state, position.game)
                        if wrong:
                            return wrong
                        break
                    if not _step(state, position.game, rng):
                        return ""
    except (Exception, SystemExit, EndlessError) as error:  # noqa: BLE001 - any failure of the user's code is wanted
        return f"\n{users_line(error)} ({type(error).__name__}: {error})"
    return ""


def _wrong_rewards(state: Any, game: Game) -> str:
    """Return the final rewards of a state and the line of the method, if they are out of range."""
    out, (low, high) = np.zeros(game.facts.players), game.facts.rewards
    state.rewards(out)
    if np.isfinite(out).all() and (game.has("step_rewards") or (out.min() >= low and out.max() <= high)):
        return ""
    return f"\n{definition_of(game, 'rewards')} (it gave {out.tolist()} in {state_text(state)})"


def _step(state: Any, game: Game, rng: Rng) -> bool:
    """Apply a random move in place and call `step_rewards`; return False if there is no legal move."""
    facts, player = game.facts, int(state.current_player())
    out = np.zeros(facts.most_children + 1024, np.int32)
    if player == CHANCE and facts.num_outcomes is not None:
        count, most = int(state.chance_outcomes(out, np.zeros(len(out)))), facts.num_outcomes
    elif player == SIMULTANEOUS:
        chosen = []
        for seat in range(facts.players):
            count = int(state.legal_actions_of(seat, out))
            if not 1 <= count <= facts.num_actions:
                return False
            chosen.append(int(out[rng.below(count)]))
        state.apply_joint(np.array(chosen, np.int64))
        return True
    elif facts.action_size is not None:
        vector = np.zeros(facts.action_size)
        state.sample_action(rng, vector)
        state.apply_vector(vector)
        return True
    elif game.has("random_action"):
        state.apply(int(state.random_action(rng)))
        return True
    else:
        count, most = int(state.legal_actions(out)), facts.num_actions
    if not 1 <= count <= most:
        return False
    state.apply(int(out[rng.below(count)]))
    if game.has("step_rewards"):
        state.step_rewards(np.zeros(facts.players))
    return True
