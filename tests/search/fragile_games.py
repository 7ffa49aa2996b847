"""Games that fail on request in the middle of a search: a simple one, with many dice in a row, with simultaneous moves.

How they fail is a field of the state, so that all ways of failing share their compiled code: see `own_games.start`.
"""

from __future__ import annotations

import treetop as tt
from treetop import CHANCE, SIMULTANEOUS

(
    SOUND,
    NO_SUCH_PLAYER,
    TOO_MANY_ACTIONS,
    NO_ACTIONS,
    NO_SUCH_ACTION,
    ENDLESS,
    DIVIDES,
    RAISES_AT_THE_END,
    RAISES_IN_THE_LIST,
    WRITES_FAR,
    STORES_FAR,
) = range(11)
"""What may be wrong with `Countdown`."""


@tt.game(players=2, num_actions=2, max_length=9)
class Countdown:
    """Nine moves that change nothing; the first player wins."""

    n = tt.field("i2")
    player = tt.field("i1")
    fault = tt.field("i1")
    worth = tt.field("f8")
    cells = tt.field("i1", 4)

    def reset(self):
        self.n = 9
        self.player = 0
        self.fault = SOUND
        self.worth = 1.0

    def legal_actions(self, out):
        out[0], out[1] = 0, 1
        if self.fault == TOO_MANY_ACTIONS and self.n == 6:
            for action in range(10):
                out[action] = 0
            return 10
        if self.fault == WRITES_FAR and self.n == 3:
            for action in range(1_000_000):
                out[action] = 0
        if self.fault == NO_SUCH_ACTION and self.n == 7:
            out[1] = 5
        if self.fault == RAISES_IN_THE_LIST and self.n == 6:
            raise ValueError("six")
        return 0 if self.fault == NO_ACTIONS and self.n <= 4 else 2

    def apply(self, action):
        self.n -= 1
        self.player = 7 if self.fault == NO_SUCH_PLAYER and self.n == 5 else 1 - self.player % 2
        if self.fault == STORES_FAR and self.n == 2:
            self.cells[self.n * 1_000_000] = 1
        if self.fault == DIVIDES and 7 // (self.n - 4) > 100:
            self.n = 0

    def is_terminal(self):
        if self.fault == RAISES_AT_THE_END and self.n == 3:
            raise ValueError("three is not allowed")
        return self.n <= 0 and self.fault != ENDLESS

    def rewards(self, out):
        out[0], out[1] = self.worth, -1.0


@tt.game(players=1, num_actions=2, num_outcomes=3, max_length=4 * (6 + 1), rewards=(0, 600))
class Dice:
    """Four times choose one of two stakes; so many dice of three faces follow each choice, three or up to six."""

    day = tt.field("i1")
    dice = tt.field("i1")
    fails = tt.field("bool")
    thrown = tt.field("i1")
    stake = tt.field("i1")  # -1: somebody has to choose
    won = tt.field("i2")

    def reset(self):
        self.day = 0
        self.dice = 3
        self.fails = False
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
        if self.fails and self.won == 4 * self.dice and self.day > 0:
            raise ValueError("the bank is empty")
        self.thrown += 1
        if self.thrown == self.dice:
            self.day += 1
            self.thrown = 0
            self.stake = -1

    def is_terminal(self):
        return self.day == 4

    def rewards(self, out):
        out[0] = self.won


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


@tt.game(players=1, num_actions=2, num_outcomes=2, max_length=3)
class Lottery:
    """Buy the one ticket, let it be drawn, see; chance has two outcomes, whose numbers and probabilities can be set."""

    n = tt.field("i1")
    outcomes = tt.field("i1", 2)
    chances = tt.field("f8", 2)

    def reset(self):
        self.n = 0
        self.outcomes[0], self.outcomes[1] = 0, 1
        self.chances[:] = 0.5

    def current_player(self):
        return CHANCE if self.n == 1 else 0

    def legal_actions(self, out):
        out[0] = 0
        return 1

    def chance_outcomes(self, actions, probabilities):
        for index in range(2):
            actions[index] = self.outcomes[index]
            probabilities[index] = self.chances[index]
        return 2

    def apply(self, action):
        self.n += 1

    def is_terminal(self):
        return self.n == 3

    def rewards(self, out):
        out[0] = 1.0
