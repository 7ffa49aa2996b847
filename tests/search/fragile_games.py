"""Games with many dice in a row, with hidden cards and with real numbers, that can be told to fail in the middle of a search."""

from __future__ import annotations

import treetop as tt
from treetop import CHANCE, SIMULTANEOUS


@tt.family
def Dice(dice=3, fails=False):
    """Four times choose one of two stakes; so many dice of three faces follow each choice."""

    @tt.game(players=1, num_actions=2, num_outcomes=3, max_length=4 * (dice + 1), rewards=(0, 100 * dice))
    class DiceGame:
        """Stake and throw."""

        day = tt.field("i1")
        thrown = tt.field("i1")
        stake = tt.field("i1")  # -1: somebody has to choose
        won = tt.field("i2")

        def reset(self):
            self.day = 0
            self.thrown = 0
            self.stake = -1
            self.won = 0

        def current_player(self):
            return CHANCE if self.stake >= 0 else 0

        def legal_actions(self, out):
            out[0] = 0
            out[1] = 1
            return 2

        def chance_outcomes(self, actions, probabilities):
            for face in range(3):
                actions[face] = face
                probabilities[face] = 1.0 / 3.0
            return 3

        def apply(self, action):
            if self.stake < 0:
                self.stake = action
                return
            self.won += action * (1 + self.stake)
            if fails and self.won == 4 * dice and self.day > 0:
                raise ValueError("the bank is empty")
            self.thrown += 1
            if self.thrown == dice:
                self.day += 1
                self.thrown = 0
                self.stake = -1

        def is_terminal(self):
            return self.day == 4

        def rewards(self, out):
            out[0] = self.won

    return DiceGame


@tt.game(players=1, num_actions=2, max_length=4, rewards=(0, 1))
class Loan:
    """Borrow ten, then four times pay or not; what comes on the way is far more than what the whole game is worth."""

    turn = tt.field("i1")
    paid = tt.field("f8")
    gain = tt.field("f8")

    def reset(self):
        self.turn = 0
        self.paid = 0.0
        self.gain = 0.0

    def legal_actions(self, out):
        out[0] = 0
        out[1] = 1
        return 2

    def apply(self, action):
        self.gain = 10.0 if self.turn == 0 else -2.5 * action
        self.paid += self.gain
        self.turn += 1

    def current_player(self):
        return 0

    def is_terminal(self):
        return self.turn == 4

    def step_rewards(self, out):
        out[0] = self.gain

    def rewards(self, out):
        out[0] = -self.paid + (1.0 if self.paid == 2.5 else 0.0)


@tt.game(players=2, num_actions=6, max_length=12, rewards=(-60, 60))
class Auction:
    """Both bid at once, six times; a bid of five by both breaks the auction down in the last round."""

    turn = tt.field("i1")
    lead = tt.field("f8")

    def reset(self):
        self.turn = 0
        self.lead = 0.0

    def current_player(self):
        return SIMULTANEOUS

    def legal_actions_of(self, player, out):
        for action in range(6):
            out[action] = action
        return 6

    def apply_joint(self, actions):
        self.lead = actions[0] - actions[1] * 0.5
        self.turn += 1
        if self.turn == 3 and actions[0] == 5 and actions[1] == 5:
            raise ValueError("too loud")

    def is_terminal(self):
        return self.turn == 6

    def step_rewards(self, out):
        out[0] = self.lead
        out[1] = -self.lead

    def rewards(self, out):
        out[0] = 0.0


@tt.family
def Throw(fails=False):
    """Three throws of real numbers."""

    @tt.game(players=1, max_length=3, rewards=(-3, 3), action_size=2)
    class ThrowGame:
        """Far, but not to the side."""

        turn = tt.field("i1")
        far = tt.field("f8")

        def reset(self):
            self.turn = 0
            self.far = 0.0

        def current_player(self):
            return 0

        def sample_action(self, rng, out):
            out[0] = 2.0 * rng.random() - 1.0
            if fails and self.turn == 2 and out[0] > 0.97:
                raise ValueError("a sore arm")
            out[1] = rng.random()

        def apply_vector(self, values):
            self.far += values[0] - 0.5 * values[1]
            self.turn += 1

        def is_terminal(self):
            return self.turn == 3

        def rewards(self, out):
            out[0] = self.far

    return ThrowGame
