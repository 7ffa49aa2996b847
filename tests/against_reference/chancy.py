"""A game with chance, immediate rewards and three players, for comparing searches."""

from __future__ import annotations

import treetop
from treetop import CHANCE


@treetop.family
def Market(paid=True):
    """Three players in turn buy one of three goods; two dice in a row decide what it brings to the buyer, and what to the neighbour.

    How many days the market lasts is a field, so that one compiled game serves short and long ones. What was bought is `paid` at once, or at
    the end.
    """

    @treetop.game(players=3, num_actions=3, num_outcomes=4, max_length=18, rewards=(-6, 12))
    class MarketGame:
        """Buy low, sell to whom you can."""

        days = treetop.field("i1")
        turn = treetop.field("i2")
        bought = treetop.field("i1")  # -1: somebody has to choose
        first = treetop.field("i1")  # the first die; -1: not thrown yet
        stored = treetop.field("f8", 3)
        brought = treetop.field("f8", 3)

        def reset(self):
            self.days = 2
            self.turn = 0
            self.bought = -1
            self.first = -1
            self.stored[:] = 0.0
            self.brought[:] = 0.0

        def current_player(self):
            return CHANCE if self.bought >= 0 else self.turn % 3

        def legal_actions(self, out):
            count = 2 + self.turn % 2
            for action in range(count):
                out[action] = action
            return count

        def chance_outcomes(self, actions, probabilities):
            count = 2 + self.bought if self.first < 0 else 2
            left = 1.0
            for index in range(count):
                actions[index] = (index + self.bought) % 4
                probabilities[index] = left if index == count - 1 else 0.6 * left
                left -= probabilities[index]
            return count

        def apply(self, action):
            self.brought[:] = 0.0
            if self.bought < 0:
                self.bought = action
                self.brought[self.turn % 3] = -0.25 * action
            elif self.first < 0:
                self.first = action
                self.brought[self.turn % 3] = 0.5 * action
            else:
                self.brought[(self.turn + 1) % 3] = 0.5 * (self.first + self.bought - action)
                self.turn += 1
                self.bought = -1
                self.first = -1
            for player in range(3):
                self.stored[player] += self.brought[player]

        def is_terminal(self):
            return self.turn == 3 * self.days

        if paid:

            def step_rewards(self, out):
                for player in range(3):
                    out[player] = self.brought[player]

        def rewards(self, out):
            for player in range(3):
                out[player] = 0.25 if paid else self.stored[player]

        def heuristic(self, out):
            for player in range(3):
                out[player] = 0.1 * self.turn + (0.0 if paid else self.stored[player])

        def rollout_action(self, rng):
            return min(rng.below(2), rng.below(2))

    return MarketGame
