"""One move of foresight in games of any kind: what each action leads to, on average over what chance, secrets and the others may bring."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.rng import Rng
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.players.player import Choice
from treetop.types import CHANCE, SIMULTANEOUS

_SAMPLES = 8
"""How often an action is tried where what follows is not certain."""
_DRAWN = 32
"""How many actions are looked at where they are real numbers."""

OTHER_KINDS = ("chance_outcomes", "step_rewards", "determinize", "apply_joint", "apply_vector")
"""Methods of games in which an action does not simply lead to the next position."""


class Foresight:
    """Judges actions by what is received at once and by the game's own `heuristic` for the rest."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._samples = _SAMPLES if any(game.has(method) for method in ("chance_outcomes", "determinize", "apply_joint")) else 1

    def best(self, position: Position, seat: int, seed: int) -> list[Choice]:
        """The actions that look best to a player."""
        rng = Rng(seed)
        choices: list[Choice] = [position.sample_action(rng) for _ in range(_DRAWN)] if position.is_continuous else [*position.legal_actions(seat)]
        worth = [self._worth(position, seat, choice, seed) for choice in choices]
        return [choice for choice, value in zip(choices, worth, strict=True) if value == max(worth)]

    def _worth(self, position: Position, seat: int, choice: Choice, seed: int) -> float:
        """The mean over some futures, which are the same for all actions."""
        return sum(self._once(position, seat, choice, Rng(seed + number)) for number in range(1, self._samples + 1)) / self._samples

    def _once(self, position: Position, seat: int, choice: Choice, rng: Rng) -> float:
        here = position.seen_by(seat, rng) if self._game.has("determinize") else position
        following = here.apply(_together(here, seat, choice, rng) if here.player == SIMULTANEOUS else choice)
        received = following.step_rewards[seat]
        while not following.is_terminal and following.player == CHANCE:
            following = following.apply(following.draw_outcome(rng))
            received += following.step_rewards[seat]
        return received + (following.rewards[seat] if following.is_terminal else self._estimate(following, seat))

    def _estimate(self, position: Position, seat: int) -> float:
        """What is still to come."""
        if self._game.has("heuristic"):
            out = np.zeros(self._game.facts.players)
            position.state.heuristic(out)
            return float(out[seat])
        return 0.0 if self._game.has("step_rewards") else self._game.facts.middle


def _together(position: Position, seat: int, choice: Choice, rng: Rng) -> tuple[Any, ...]:
    """An action with some of the others' beside it."""
    made: list[Any] = []
    for other in range(position.game.facts.players):
        legal = position.legal_actions(other)
        made.append(choice if other == seat else legal[rng.below(len(legal))])
    return tuple(made)
