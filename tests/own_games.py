"""Games as users write them, for tests: naive, odd, or broken on purpose."""

from __future__ import annotations

import treetop


def start(game, **fields):
    """A game's start with other values in some fields: another task for the code that is compiled already."""
    loaded = treetop.load_game(game)
    state = treetop.Position(loaded).state
    for name, value in fields.items():
        setattr(state, name, value)
    return treetop.Position(loaded, state._states)


@treetop.game(players=3, num_actions=3, max_length=13, rewards=(0, 1))
class ThreeNim:
    """Three players take one to three of thirteen stones; whoever takes the last one wins."""

    stones = treetop.field("i1")
    player = treetop.field("i1")

    def reset(self):
        self.stones = 13
        self.player = 0

    def legal_actions(self, out):
        count = min(3, self.stones)
        for action in range(count):
            out[action] = action
        return count

    def apply(self, action):
        self.stones -= action + 1
        self.player = (self.player + 1) % 3

    def is_terminal(self):
        return self.stones == 0

    def rewards(self, out):
        out[(self.player + 2) % 3] = 1.0  # what is not written is zero


@treetop.game(players=1, num_actions=2, max_length=8, rewards=(0, 8))
class Climb:
    """One player takes eight steps, each up or down; the reward is the height at the end."""

    height = treetop.field("i2")
    steps = treetop.field("u1")

    def reset(self):
        self.height = 0
        self.steps = 0

    def legal_actions(self, out):
        out[0] = 0
        out[1] = 1
        return 2

    def apply(self, action):
        self.steps += 1
        if action == 1:
            self.height += 1

    def is_terminal(self):
        return self.steps == 8

    def rewards(self, out):
        out[0] = self.height


@treetop.game(players=2, num_actions=4, max_length=40)
class DoubleMoves:
    """Each player moves twice in a row; who first brings the sum of all moves to 30 or more loses."""

    total = treetop.field("i2")
    turn = treetop.field("i2")

    def reset(self):
        self.total = 0
        self.turn = 0

    def current_player(self):
        return self.turn // 2 % 2

    def legal_actions(self, out):
        for action in range(4):
            out[action] = action
        return 4

    def apply(self, action):
        self.total += action + 1
        self.turn += 1

    def is_terminal(self):
        return self.total >= 30

    def rewards(self, out):
        loser = (self.turn - 1) // 2 % 2
        out[loser] = -1.0
        out[1 - loser] = 1.0
