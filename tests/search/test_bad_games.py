"""A game that breaks a promise inside a compiled search: a Treetop error with the position, and the search is whole."""

from __future__ import annotations

import math

import pytest

import treetop as tt


def make(**changes):
    def reset(self):
        self.n = 9

    def legal_actions(self, out):
        out[0], out[1] = 0, 1
        return 2

    def apply(self, action):
        self.n -= 1
        self.player = 1 - self.player

    def is_terminal(self):
        return self.n <= 0

    def rewards(self, out):
        out[0], out[1] = 1.0, -1.0

    body = {"n": tt.field("i2"), "player": tt.field("i1"), "reset": reset, "legal_actions": legal_actions, "apply": apply,
            "is_terminal": is_terminal, "rewards": rewards, **changes}  # fmt: skip
    return tt.game(players=2, num_actions=2, max_length=9)(type("Mine", (), body))


def failure(game, simulations=5000):
    search = tt.Search(game, seed=1)
    with pytest.raises(tt.GameError) as caught:
        search.run(tt.Limit(simulations=simulations))
    search.tree.check()
    assert not search.in_flight
    text = str(caught.value)
    assert "treetop.check" in text
    assert "n=" in text  # the position
    return text


def test_an_illegal_player():
    def apply(self, action):
        self.n -= 1
        self.player = 7 if self.n == 5 else 1 - self.player % 2

    assert "current_player gave 7; players are 0 to 1" in failure(make(apply=apply))


def test_too_many_or_no_actions():
    def legal_actions(self, out):
        out[0], out[1] = 0, 1
        if self.n == 6:
            for action in range(10):
                out[action] = 0
            return 10
        return 2

    assert "gave 10 actions, but num_actions is 2" in failure(make(legal_actions=legal_actions))

    def none(self, out):
        out[0], out[1] = 0, 1
        return 2 if self.n > 4 else 0

    assert "gave 0 actions in a position that is not terminal" in failure(make(legal_actions=none))


def test_more_actions_than_a_node_can_hold():
    @tt.game(players=1, num_actions=70_000, max_length=2)
    class Wide:
        n = tt.field("i1")

        def reset(self):
            self.n = 2

        def legal_actions(self, out):
            for action in range(70_000):
                out[action] = action
            return 70_000

        def apply(self, action):
            self.n -= 1

        def is_terminal(self):
            return self.n == 0

        def rewards(self, out):
            out[0] = 1.0

    assert "gave 70,000 actions; a node holds at most 65,535" in failure(Wide)


def test_an_action_out_of_range():
    def legal_actions(self, out):
        out[0], out[1] = 0, (5 if self.n == 7 else 1)
        return 2

    assert "gave the action 5; actions are 0 to 1" in failure(make(legal_actions=legal_actions))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_rewards_that_are_not_finite(value):
    def rewards(self, out):
        out[0], out[1] = value, 0.0

    assert "a reward that is not finite" in failure(make(rewards=rewards))


def test_a_game_that_never_ends():
    assert "more than max_length = 9 moves" in failure(make(is_terminal=lambda self: self.n == 100))


def test_a_method_that_raises():
    def apply(self, action):
        self.n -= 1
        self.player = 1 - self.player
        if 7 // (self.n - 4) > 100:
            self.n = 0

    text = failure(make(apply=apply))
    assert "ZeroDivisionError" in text
    assert "if 7 // (self.n - 4) > 100" in text


def test_an_exception_that_the_game_raises_itself():
    def is_terminal(self):
        if self.n == 3:
            raise ValueError("three is not allowed")
        return self.n <= 0

    assert "three is not allowed" in failure(make(is_terminal=is_terminal))


def test_a_start_that_cannot_be_made_is_an_error_of_the_game():
    def reset(self):
        self.n = 99999

    with pytest.raises(tt.GameError, match="99999 does not fit"):
        tt.Search(make(reset=reset))
