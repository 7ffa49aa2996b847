"""A game that breaks a promise inside a compiled search: a Treetop error with the position, and the search is whole."""

from __future__ import annotations

import math

import pytest

import treetop as tt
from tests.own_games import start
from tests.search import fragile_games as games


def failure(game, simulations=5000):
    search = tt.Search(game, seed=1)
    with pytest.raises(tt.errors.GameError) as caught:
        search.run(tt.Limit(simulations=simulations))
    search.tree.check()
    assert not search.in_flight
    text = str(caught.value)
    assert "treetop.check" in text
    assert "n=" in text  # the position
    return text


@pytest.mark.parametrize(("fault", "reported"), [
    (games.NO_SUCH_PLAYER, "current_player gave 7; players are 0 to 1"),
    (games.TOO_MANY_ACTIONS, "gave 10 actions, but num_actions is 2"),
    (games.NO_ACTIONS, "gave 0 actions in a position that is not terminal"),
    (games.NO_SUCH_ACTION, "gave the action 5; actions are 0 to 1"),
    (games.ENDLESS, "more than max_length = 9 moves"),
    (games.RAISES_AT_THE_END, "three is not allowed"),
])  # fmt: skip
def test_what_a_game_gets_wrong_is_reported(fault, reported):
    assert reported in failure(start(games.Countdown, fault=fault))


def test_a_method_that_fails_is_reported_with_its_line():
    text = failure(start(games.Countdown, fault=games.DIVIDES))
    assert "ZeroDivisionError" in text
    assert "7 // (self.n - 4) > 100" in text


@pytest.mark.parametrize(
    ("fault", "line"), [(games.WRITES_FAR, "out[action] = 0"), (games.STORES_FAR, "self.cells[self.n * 1_000_000] = 1")]
)
def test_an_index_out_of_bounds_in_compiled_code_is_an_error_with_its_line(fault, line):
    text = failure(start(games.Countdown, fault=fault))
    assert "IndexError" in text
    assert line in text


def test_other_compiled_walks_report_an_index_out_of_bounds_too():
    with pytest.raises(tt.errors.GameError, match="out of bounds") as caught:
        tt.perft(start(games.Countdown, fault=games.STORES_FAR), 9)
    assert "self.cells[self.n * 1_000_000] = 1" in str(caught.value)


def test_a_reward_outside_of_the_range_is_an_error_in_compiled_code():
    text = failure(start(games.Countdown, worth=1.5))
    assert "a reward that is not finite or not within -1 to 1" in text
    assert "def rewards (it gave [" in text
    assert "1.5" in text.partition("def rewards")[2].partition("]")[0]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_rewards_that_are_not_finite(value):
    assert "a reward that is not finite" in failure(start(games.Countdown, worth=value))


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


def test_a_start_that_cannot_be_made_is_an_error_of_the_game():
    class Unmade(games.Countdown.cls):
        def reset(self):
            self.n = 99999

    with pytest.raises(tt.errors.GameError, match="99999 does not fit"):
        tt.Search(tt.game(players=2, num_actions=2, max_length=9)(Unmade))
