"""Small games for comparing searches: with heuristics and policies of their own, with cycles, with heaps that many ways lead to."""

from __future__ import annotations

import treetop


@treetop.game(players=2, num_actions=5, max_length=9)
class Tug:
    """Two players pull a rope to and fro, nine pulls at most; how far a pull goes depends on the turn and on where the rope is."""

    place = treetop.field("i2")
    turn = treetop.field("i2")

    def reset(self):
        self.place = 0
        self.turn = 0

    def current_player(self):
        return self.turn % 2

    def legal_actions(self, out):
        count = 3 + (self.turn + self.place) % 3
        for action in range(count):
            out[action] = action
        return count

    def apply(self, action):
        pull = 1 + (5 * action + 3 * self.turn + self.place * self.place) % 7
        self.place += pull if self.turn % 2 == 0 else -pull
        self.turn += 1

    def is_terminal(self):
        return self.turn == 9 or self.place > 10 or self.place < -10

    def rewards(self, out):
        worth = min(max(self.place / 10.0, -1.0), 1.0)
        out[0] = worth
        out[1] = -worth

    def heuristic(self, out):
        worth = self.place / (8.0 + self.turn)
        out[0] = min(max(worth, -1.0), 1.0)
        out[1] = -out[0]

    def rollout_action(self, rng):
        return min(rng.below(3), rng.below(3))

    def key(self):
        return (self.place + 64) * 16 + self.turn


@treetop.game(players=2, num_actions=3, max_length=200)
class Ring:
    """Two tokens on a ring of eight cells go one step back, one forth or two forth; who lands on the other wins.

    The moves that are left are not in the key, so positions come back.
    """

    first = treetop.field("i1")
    second = treetop.field("i1")
    turn = treetop.field("i2")

    def reset(self):
        self.first = 0
        self.second = 4
        self.turn = 0

    def current_player(self):
        return self.turn % 2

    def legal_actions(self, out):
        for action in range(3):
            out[action] = action
        return 3

    def apply(self, action):
        step = 7 if action == 0 else action
        if self.turn % 2 == 0:
            self.first = (self.first + step) % 8
        else:
            self.second = (self.second + step) % 8
        self.turn += 1

    def is_terminal(self):
        return self.first == self.second or self.turn == 200

    def rewards(self, out):
        out[0] = 0.0
        out[1] = 0.0
        if self.first == self.second:
            winner = (self.turn - 1) % 2
            out[winner] = 1.0
            out[1 - winner] = -1.0

    def key(self):
        return self.first * 8 + self.second


@treetop.game(players=3, num_actions=6, max_length=12, rewards=(0, 1))
class ThreeHeaps:
    """Three players take one to three stones from one of two heaps; whoever takes the last one wins, and the one before gets a consolation."""

    left = treetop.field("i1")
    right = treetop.field("i1")
    turn = treetop.field("i1")

    def reset(self):
        self.left = 6
        self.right = 5
        self.turn = 0

    def current_player(self):
        return self.turn % 3

    def legal_actions(self, out):
        count = 0
        for action in range(6):
            if action % 3 < (self.left if action < 3 else self.right):
                out[count] = action
                count += 1
        return count

    def apply(self, action):
        if action < 3:
            self.left -= action + 1
        else:
            self.right -= action - 2
        self.turn += 1

    def is_terminal(self):
        return self.left == 0 and self.right == 0

    def rewards(self, out):
        out[0] = 0.0
        out[1] = 0.0
        out[2] = 0.0
        out[(self.turn - 1) % 3] = 1.0
        out[(self.turn - 2) % 3] = 0.25

    def key(self):
        return self.left * 8 + self.right


@treetop.game(players=3, num_actions=3, max_length=300, rewards=(0, 1))
class Carousel:
    """Three players push one token round ten cells, one back, one forth or three forth; who brings it home wins, and the next one gets half."""

    place = treetop.field("i1")
    turn = treetop.field("i2")

    def reset(self):
        self.place = 5
        self.turn = 0

    def current_player(self):
        return self.turn % 3

    def legal_actions(self, out):
        for action in range(3):
            out[action] = action
        return 3

    def apply(self, action):
        self.place = (self.place + (9 if action == 0 else 2 * action - 1)) % 10
        self.turn += 1

    def is_terminal(self):
        return self.place == 0 or self.turn == 300

    def rewards(self, out):
        out[0] = 0.0
        out[1] = 0.0
        out[2] = 0.0
        if self.place == 0:
            out[(self.turn - 1) % 3] = 1.0
            out[self.turn % 3] = 0.5

    def key(self):
        return self.place
