"""One-ply lookahead in games of any kind: the mean value of each action over chance, hidden information and the other
players.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.rng import Rng
from treetop.game.definition import Game
from treetop.game.position import Position, make
from treetop.players.protocol import Choice
from treetop.types import CHANCE, SIMULTANEOUS

_SAMPLES = 8
"""How often an action is sampled if its consequences are uncertain."""
_DRAWN = 32
"""How many continuous actions are sampled."""

OTHER_KINDS = ("chance_outcomes", "step_rewards", "determinize", "apply_joint", "apply_vector")
"""Methods of games in which an action does not simply lead to the next position."""


class Foresight:
    """Estimate actions by the immediate reward and by the game's own `heuristic` for the rest."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._samples = (
            _SAMPLES if any(game.has(method) for method in ("chance_outcomes", "determinize", "apply_joint")) else 1
        )

    def best(self, position: Position, seat: int, seed: int) -> list[Choice]:
        """Return the actions with the best estimate for a player."""
        rng = Rng(seed)
        choices: list[Choice] = (
            [position.sample_action(rng) for _ in range(_DRAWN)]
            if position.is_continuous
            else [*position.legal_actions(seat)]
        )
        worth = [self._worth(position, seat, choice, seed) for choice in choices]
        return [choice for choice, value in zip(choices, worth, strict=True) if value == max(worth)]

    def _worth(self, position: Position, seat: int, choice: Choice, seed: int) -> float:
        """Return the mean over some sampled futures, which are the same for all actions."""
        return (
            sum(self._once(position, seat, choice, Rng(seed + number)) for number in range(1, self._samples + 1))
            / self._samples
        )

    def _once(self, position: Position, seat: int, choice: Choice, rng: Rng) -> float:
        """Return the value of one sampled future. It is played on a bare state, since this happens many times per
        move.
        """
        state, out = position.state, np.zeros(self._game.facts.players)
        if self._game.has("determinize"):
            state.determinize(seat, rng)
        make(state, _together(position, seat, choice, rng) if position.player == SIMULTANEOUS else choice)
        received = self._received(state, seat, out)
        while not state.is_terminal() and state.current_player() == CHANCE:
            make(state, self._outcome(state, rng))
            received += self._received(state, seat, out)
        out[:] = 0.0
        if state.is_terminal():
            state.rewards(out)
        elif self._game.has("heuristic"):
            state.heuristic(out)
        elif not self._game.has("step_rewards"):
            out[:] = self._game.facts.middle
        return received + float(out[seat])

    def _received(self, state: Any, seat: int, out: Any) -> float:
        if not self._game.has("step_rewards"):
            return 0.0
        out[:] = 0.0
        state.step_rewards(out)
        return float(out[seat])

    def _outcome(self, state: Any, rng: Rng) -> int:
        if self._game.has("random_outcome"):
            return int(state.random_outcome(rng))
        return Position(self._game, state._states).draw_outcome(rng)


def _together(position: Position, seat: int, choice: Choice, rng: Rng) -> tuple[Any, ...]:
    """Return a joint action with sampled actions of the other players."""
    made: list[Any] = []
    for other in range(position.game.facts.players):
        legal = position.legal_actions(other)
        made.append(choice if other == seat else legal[rng.below(len(legal))])
    return tuple(made)
