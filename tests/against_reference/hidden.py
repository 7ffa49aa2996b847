"""A small game with hidden cards and simultaneous moves, for comparing information-set searches."""

from __future__ import annotations

import treetop
from treetop import CHANCE, SIMULTANEOUS


@treetop.game(players=2, num_actions=4, num_outcomes=4, max_length=10, rewards=(-20, 20))
class Duel:
    """Each player has one of four cards; twice both choose simultaneously how much to risk, then the first one may ask to see, and dice decide a part.

    How much one may risk depends on one's card, so what is legal is hidden too. Each step pays at once.
    """

    cards = treetop.field("i1", 2)
    risks = treetop.field("i1", 4)
    turn = treetop.field("i1")
    brought = treetop.field("f8", 2)

    def reset(self):
        self.cards[:] = -1
        self.risks[:] = -1
        self.turn = 0
        self.brought[:] = 0.0

    def current_player(self):
        if self.cards[1] < 0 or self.turn == 2:
            return CHANCE
        return 0 if self.turn == 3 else SIMULTANEOUS

    def chance_outcomes(self, actions, probabilities):
        count = 0
        for card in range(4):
            if self.turn == 2 or card != self.cards[0]:
                actions[count] = card
                count += 1
        for index in range(count):
            probabilities[index] = 1.0 / count
        return count

    def legal_actions_of(self, player, out):
        first = self.cards[player] % 2
        count = 2 + self.cards[player] // 2
        for index in range(count):
            out[index] = (first + index) % 4
        return count

    def legal_actions(self, out):
        out[0] = 0
        out[1] = 3
        return 2

    def apply(self, action):
        self.brought[:] = 0.0
        if self.cards[0] < 0:
            self.cards[0] = action
        elif self.cards[1] < 0:
            self.cards[1] = action
        elif self.turn == 2:
            self.brought[0] = 0.5 * action - 0.75
            self.brought[1] = -self.brought[0]
            self.turn = 3
        else:
            stake = 1.0 + action
            self.brought[0] = stake if self.cards[0] > self.cards[1] else -stake
            self.brought[1] = -self.brought[0]
            self.turn = 4

    def apply_joint(self, actions):
        self.risks[2 * self.turn] = actions[0]
        self.risks[2 * self.turn + 1] = actions[1]
        lead = 0.5 * (actions[0] - actions[1]) * (1 if self.cards[0] > self.cards[1] else -1)
        self.brought[0] = lead
        self.brought[1] = -lead
        self.turn += 1

    def is_terminal(self):
        return self.turn == 4

    def step_rewards(self, out):
        out[0] = self.brought[0]
        out[1] = self.brought[1]

    def rewards(self, out):
        out[0] = 0.0
        out[1] = 0.0

    def determinize(self, player, rng):
        if self.cards[1] >= 0:
            card = rng.below(3)
            self.cards[1 - player] = card + (1 if card >= self.cards[player] else 0)

    def information(self, player):
        key = self.cards[player] + 1
        for index in range(4):
            key = key * 5 + self.risks[index] + 1
        return key * 8 + self.turn

    def heuristic(self, out):
        out[0] = 0.5 * self.cards[0] - 0.5 * self.cards[1]
        out[1] = -out[0]


@treetop.game(players=2, num_actions=6, max_length=9, rewards=(-10, 10))
class Whisper:
    """The second player writes down four numbers, of which the first one sees nothing, and may choose among more of them each time.

    To the first player all those choices look the same; then he bets on the sum being even or odd, twice.
    """

    total = treetop.field("i2")
    turn = treetop.field("i1")
    bets = treetop.field("i1")

    def reset(self):
        self.total = 0
        self.turn = 0
        self.bets = 0

    def current_player(self):
        return 0 if self.turn == 0 or self.turn == 5 else 1

    def legal_actions(self, out):
        count = 2 if self.current_player() == 0 else 1 + self.turn
        for index in range(count):
            out[index] = count - 1 - index
        return count

    def apply(self, action):
        if self.current_player() == 0:
            self.bets = 2 * self.bets + action
        else:
            self.total += action
        self.turn += 1

    def is_terminal(self):
        return self.turn == 6

    def rewards(self, out):
        won = 1.0 if (self.total + self.bets) % 2 == 0 else -1.0
        out[0] = won + 0.5 * (self.bets // 2)
        out[1] = -out[0]

    def determinize(self, player, rng):
        if player == 0 and self.turn > 1:
            self.total = rng.below(10)

    def information(self, player):
        if player == 0:
            return (1 if self.turn > 0 else 0) + 2 * self.bets + (16 if self.turn >= 5 else 0)
        return 32 + self.total * 64 + self.turn * 4096 + self.bets * 65536
