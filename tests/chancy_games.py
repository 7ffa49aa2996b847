"""Small games with chance and with immediate rewards, and their exact values by plain recursion."""

from __future__ import annotations

import numpy as np

import treetop
from treetop import CHANCE


@treetop.game(players=2, num_actions=2, num_outcomes=4, max_length=12)
class Race:
    """Two players throw three times in turn, each time a careful die (1 or 2) or a wild one (0 or 3, mostly 0); the higher sum wins."""

    sums = treetop.field("i1", 2)
    turns = treetop.field("i1")
    wild = treetop.field("i1")  # -1: somebody has to choose a die

    def reset(self):
        self.sums[:] = 0
        self.turns = 0
        self.wild = -1

    def current_player(self):
        return CHANCE if self.wild >= 0 else self.turns % 2

    def legal_actions(self, out):
        out[0] = 0
        out[1] = 1
        return 2

    def chance_outcomes(self, actions, probabilities):
        actions[0] = 0 if self.wild else 1
        actions[1] = 3 if self.wild else 2
        probabilities[0] = 0.6 if self.wild else 0.5
        probabilities[1] = 1.0 - probabilities[0]
        return 2

    def apply(self, action):
        if self.wild < 0:
            self.wild = action
        else:
            self.sums[self.turns % 2] += action
            self.turns += 1
            self.wild = -1

    def is_terminal(self):
        return self.turns == 6

    def rewards(self, out):
        difference = self.sums[0] - self.sums[1]
        out[0] = 1.0 if difference > 0 else (-1.0 if difference < 0 else 0.0)
        out[1] = -out[0]

    def heuristic(self, out):
        out[0] = (self.sums[0] - self.sums[1]) / (9.0 + self.turns)
        out[1] = -out[0]

    def rollout_action(self, rng):
        return min(rng.below(2), rng.below(2))


@treetop.game(players=1, num_actions=2, num_outcomes=3, max_length=12, rewards=(-10, 29))
class Mine:
    """Six times dig here (a sure coin) or deeper: nothing, or coins, or the roof comes down and the rest of the days are lost."""

    depth = treetop.field("i1")
    day = treetop.field("i1")
    digging = treetop.field("i1")
    found = treetop.field("f8")

    def reset(self):
        self.depth = 0
        self.day = 0
        self.digging = 0
        self.found = 0.0

    def current_player(self):
        return CHANCE if self.digging else 0

    def legal_actions(self, out):
        out[0] = 0
        out[1] = 1
        return 2

    def chance_outcomes(self, actions, probabilities):
        for outcome in range(3):
            actions[outcome] = outcome
        probabilities[0] = 0.4
        probabilities[1] = 0.5 - 0.1 * self.depth
        probabilities[2] = 0.1 + 0.1 * self.depth
        return 3

    def apply(self, action):
        self.found = 0.0
        if not self.digging:
            if action == 0:
                self.found = 1.0
                self.day += 1
            else:
                self.digging = 1
            return
        self.digging = 0
        self.day += 1
        if action == 1:
            self.depth = min(self.depth + 1, 3)
            self.found = 2.0 + self.depth
        elif action == 2:
            self.found = -2.0
            self.day = 6

    def step_rewards(self, out):
        out[0] = self.found

    def is_terminal(self):
        return self.day == 6

    def rewards(self, out):
        out[0] = 0.5 * self.depth


def exact(state, discount=1.0):
    """What each player may expect: the mover takes the highest of its own, chance the mean."""
    if state.is_terminal():
        out = np.zeros(type(state)._game.facts.players)
        state.rewards(out)
        return out
    player = state.current_player()
    if player == CHANCE:
        return mean_of(state, 1.0, discount)
    return max(
        (after(state, action, discount, discount) for action in _actions(state, player)),
        key=lambda value: value[player],
    )


def mean_of(state, fade, discount):
    """What chance brings, and later what follows it, `fade` times as much."""
    return sum(probability * after(state, outcome, fade, discount) for outcome, probability in _outcomes(state).items())


def after(state, action, fade, discount=1.0):
    """What an action brings with the outcomes that follow it, and `fade` times what the position is worth that somebody chooses in next."""
    following = state.copy()
    following.apply(action)
    gained = np.zeros(type(state)._game.facts.players)
    if hasattr(following, "step_rewards"):
        following.step_rewards(gained)
    if not following.is_terminal() and following.current_player() == CHANCE:
        return gained + mean_of(following, fade, discount)
    return gained + fade * exact(following, discount)


def _outcomes(state):
    facts = type(state)._game.facts
    actions, probabilities = np.zeros(facts.num_outcomes, np.int32), np.zeros(facts.num_outcomes)
    count = state.chance_outcomes(actions, probabilities)
    return dict(zip(actions[:count].tolist(), probabilities[:count].tolist(), strict=True))


def _actions(state, player):
    if player == CHANCE:
        return list(_outcomes(state))
    out = np.zeros(type(state)._game.facts.num_actions, np.int32)
    return out[: state.legal_actions(out)].tolist()
