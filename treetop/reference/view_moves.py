"""What can be done in a state of any kind, and what a position is worth: by rollouts in which several may choose at once, or draw real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.rng import Rng
from treetop.game.position import Position
from treetop.reference.chance import drawn, outcomes
from treetop.reference.settings import Settings
from treetop.types import CHANCE, SIMULTANEOUS


class Moves:
    """Moves and evaluations, with the random numbers of one search."""

    def __init__(self, position: Position, settings: Settings, seed: int) -> None:
        self.position, self.settings = position, settings
        self.game, self.facts, self.rng = position.game, position.game.facts, Rng(seed)

    def legal(self, state: Any, mover: int) -> list[int]:
        """What a player may choose here."""
        out = np.zeros(self.facts.num_actions, np.int32)
        count = (
            state.legal_actions_of(mover, out) if state.current_player() == SIMULTANEOUS else state.legal_actions(out)
        )
        return [int(action) for action in out[: int(count)]]

    def evaluate(self, state: Any) -> list[float]:
        """What a position is worth to every player: its rewards, its heuristic, the middle, or what a rollout brings."""
        settings, gained, worth, made = self.settings, [0.0] * self.facts.players, 1.0, 0
        if not state.is_terminal() and settings.rollout_weight == 0.0:
            return (
                self.told(state.heuristic)
                if settings.evaluate == "heuristic"
                else [self.facts.middle] * self.facts.players
            )
        state = state.copy()
        while not state.is_terminal():
            lot = int(state.current_player()) == CHANCE
            if not lot and settings.depth is not None and made >= settings.depth:
                break
            if not lot:
                worth, made = worth * (settings.discount if made else 1.0), made + 1
            self.random_step(state)
            gained = [gain + worth * reward for gain, reward in zip(gained, self.received(state), strict=True)]
        worth *= settings.discount if made else 1.0
        returns = self.told(state.rewards if state.is_terminal() else state.heuristic)
        return [gain + worth * value for gain, value in zip(gained, returns, strict=True)]

    def random_step(self, state: Any) -> None:
        """One move of a rollout, whoever is to make it."""
        player = int(state.current_player())
        if player == CHANCE:
            state.apply(self.random_outcome(state))
        elif player == SIMULTANEOUS:
            hands = []
            for mover in range(self.facts.players):
                legal = self.legal(state, mover)
                hands.append(legal[self.rng.below(len(legal))])
            state.apply_joint(np.array(hands, np.int64))
        elif self.facts.action_size:
            vector = np.zeros(self.facts.action_size)
            state.sample_action(self.rng, vector)
            state.apply_vector(vector)
        elif self.settings.policy == "game":
            state.apply(int(state.rollout_action(self.rng)))
        elif hasattr(state, "random_action"):
            state.apply(int(state.random_action(self.rng)))
        else:
            legal = self.legal(state, player)
            state.apply(legal[self.rng.below(len(legal))])

    def random_outcome(self, state: Any) -> int:
        """An outcome of chance."""
        if hasattr(state, "random_outcome"):
            return int(state.random_outcome(self.rng))
        actions, probabilities = outcomes(self.position, state)
        return actions[drawn(self.rng, probabilities)]

    def received(self, state: Any) -> list[float]:
        """What the last step brought to every player."""
        return self.told(state.step_rewards) if self.game.has("step_rewards") else [0.0] * self.facts.players

    def told(self, method: Any) -> list[float]:
        """What a method of the game writes for every player."""
        out = np.zeros(self.facts.players)
        method(out)
        return [float(value) for value in out]
