"""Small games for comparing searches, compiled as two: which game is played is a field of the state.

A search loop is compiled for each game, which takes far longer than these tests. So `Pair` holds all games for two players and `Trio` all
games for three, and `TUG`, `RING`, `DOUBLE_MOVES`, `THREE_NIM`, `HEAPS` and `CAROUSEL` are their starts.
"""

from __future__ import annotations

import pytest

import treetop
from tests.own_games import Climb, start

_TUG, _RING, _DOUBLE_MOVES = 0, 1, 2
_NIM, _HEAPS, _CAROUSEL = 0, 1, 2


@treetop.game(players=2, num_actions=5, max_length=200)
class Pair:
    """One of three games for two players, with a heuristic, a rollout policy and a key.

    Tug: two players pull a rope to and fro, nine pulls at most; how far a pull goes depends on the turn and on where the rope is.
    Ring: two tokens on a ring of eight cells go one step back, one forth or two forth; who lands on the other wins. The moves that are left are
    not in the key, so positions come back.
    Double moves: each player moves twice in a row; who first brings the sum of all moves to 30 or more loses.
    """

    kind = treetop.field("i1")
    place = treetop.field("i2")  # of the rope or the first token, or the sum of all moves
    second = treetop.field("i2")
    turn = treetop.field("i2")

    def reset(self):
        self.kind = _TUG
        self.place = 0
        self.second = 4
        self.turn = 0

    def current_player(self):
        return self.turn // 2 % 2 if self.kind == _DOUBLE_MOVES else self.turn % 2

    def legal_actions(self, out):
        count = 3
        if self.kind == _TUG:
            count = 3 + (self.turn + self.place) % 3
        elif self.kind == _DOUBLE_MOVES:
            count = 4
        for action in range(count):
            out[action] = action
        return count

    def apply(self, action):
        if self.kind == _TUG:
            pull = 1 + (5 * action + 3 * self.turn + self.place * self.place) % 7
            self.place += pull if self.turn % 2 == 0 else -pull
        elif self.kind == _RING:
            step = 7 if action == 0 else action
            if self.turn % 2 == 0:
                self.place = (self.place + step) % 8
            else:
                self.second = (self.second + step) % 8
        else:
            self.place += action + 1
        self.turn += 1

    def is_terminal(self):
        if self.kind == _TUG:
            return self.turn == 9 or self.place > 10 or self.place < -10
        if self.kind == _RING:
            return self.place == self.second or self.turn == 200
        return self.place >= 30

    def rewards(self, out):
        worth = 0.0
        if self.kind == _TUG:
            worth = min(max(self.place / 10.0, -1.0), 1.0)
        elif self.kind == _DOUBLE_MOVES:
            worth = -1.0 if (self.turn - 1) // 2 % 2 == 0 else 1.0
        elif self.place == self.second:
            worth = 1.0 if (self.turn - 1) % 2 == 0 else -1.0
        out[0] = worth
        out[1] = -worth

    def heuristic(self, out):
        worth = self.place / (8.0 + self.turn)
        out[0] = min(max(worth, -1.0), 1.0)
        out[1] = -out[0]

    def rollout_action(self, rng):
        return min(rng.below(3), rng.below(3))

    def key(self):
        turn = 0 if self.kind == _RING else self.turn
        return ((self.place + 64) * 16 + self.second) * 16 + turn


@treetop.game(players=3, num_actions=6, max_length=300, rewards=(0, 1))
class Trio:
    """One of three games for three players, with a key.

    Nim: take one to three of thirteen stones; whoever takes the last one wins.
    Heaps: take one to three stones from one of two heaps; whoever takes the last one wins, and the one before gets a consolation.
    Carousel: push one token round ten cells, one back, one forth or three forth; who brings it home wins, and the next one gets half.
    """

    kind = treetop.field("i1")
    left = treetop.field("i1")  # the stones, or the place of the token
    right = treetop.field("i1")
    turn = treetop.field("i2")

    def reset(self):
        self.kind = _NIM
        self.left = 13
        self.right = 0
        self.turn = 0

    def current_player(self):
        return self.turn % 3

    def legal_actions(self, out):
        count = 0
        for action in range(6 if self.kind == _HEAPS else 3):
            if self.kind == _CAROUSEL or action % 3 < (self.left if action < 3 else self.right):
                out[count] = action
                count += 1
        return count

    def apply(self, action):
        if self.kind == _CAROUSEL:
            self.left = (self.left + (9 if action == 0 else 2 * action - 1)) % 10
        elif action < 3:
            self.left -= action + 1
        else:
            self.right -= action - 2
        self.turn += 1

    def is_terminal(self):
        return (self.left == 0 and self.right == 0) or self.turn == 300

    def rewards(self, out):
        if self.left == 0 and self.right == 0:  # what is not written is zero
            out[(self.turn - 1) % 3] = 1.0
            if self.kind == _HEAPS:
                out[(self.turn - 2) % 3] = 0.25
            elif self.kind == _CAROUSEL:
                out[self.turn % 3] = 0.5

    def key(self):
        return self.left * 8 + self.right


TUG = start(Pair)
RING = start(Pair, kind=_RING)
DOUBLE_MOVES = start(Pair, kind=_DOUBLE_MOVES)
THREE_NIM = start(Trio)
HEAPS = start(Trio, kind=_HEAPS, left=6, right=5)
CAROUSEL = start(Trio, kind=_CAROUSEL, left=5)

TWO_OR_THREE_PLAYERS = pytest.mark.parametrize("game", [TUG, THREE_NIM], ids=["tug", "three nim"])
ONE_TO_THREE_PLAYERS = pytest.mark.parametrize("game", [TUG, THREE_NIM, Climb], ids=["tug", "three nim", "climb"])
