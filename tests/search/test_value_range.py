"""A value outside of the game's range is refused, whoever gives it, with the value, the range and the position."""

from __future__ import annotations

import re

import numpy as np
import pytest

import treetop as tt
from tests.search.own_problems import Corridor, Nim


class Says:
    """An evaluator that says the same of every state."""

    def __init__(self, value, logits=0.0):
        self.value, self.logits = value, logits

    def evaluate(self, batch):
        return np.full((len(batch), batch.game.facts.num_actions), self.logits), np.full(len(batch), self.value)


@pytest.mark.parametrize("value", [1.5, -1.5, 1e300, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("wrap", [lambda one: one, tt.evaluators.Cached], ids=["plain", "cached"])
def test_an_evaluator_in_python_is_held_to_the_range(value, wrap):
    search = tt.Search("tic_tac_toe", tt.puct(), evaluator=wrap(Says(value)), seed=1)
    reason = "outside of the range.*-1 to 1.*rewards" if np.isfinite(value) else "not finite"
    with pytest.raises(
        tt.errors.ConfigError,
        match=rf"(?s)the value {re.escape(format(value, 'g'))} of state 0 .*player 0.*{reason}.*\. \. \.",
    ):
        search.run(tt.Limit(simulations=10))
    assert search.in_flight == 0
    search.tree.check((-1, 1))
    batch = search.ask(4)
    with pytest.raises(tt.errors.ConfigError, match=reason):
        search.tell(batch, np.zeros((len(batch), 9)), np.full((len(batch), 2), value))
    search.tell(batch, np.zeros((len(batch), 9)), np.zeros(len(batch)))


def test_what_rounding_brings_is_no_error():
    for value in (1.0, -1.0, np.float32(1.0000001)):
        assert (
            tt.Search("tic_tac_toe", tt.puct(), evaluator=Says(value), seed=1).run(tt.Limit(simulations=10)).simulations
            == 10
        )


@pytest.mark.parametrize("logits", [np.nan, np.inf])
def test_logits_that_are_no_numbers_are_shown_with_their_position(logits):
    with pytest.raises(tt.errors.ConfigError, match=r"(?s)the logits of state 0 .*not numbers.*\. \. \."):
        tt.Search("tic_tac_toe", tt.puct(), evaluator=Says(0.0, logits), seed=1).run(tt.Limit(simulations=10))


def test_what_is_no_array_of_numbers_is_a_clear_error():
    search = tt.Search("tic_tac_toe", tt.puct(), seed=1)
    batch = search.ask(1)
    for logits, values, message in (
        ("text", [0.0], "logits"),
        (np.zeros((1, 9)), ["a"], "values"),
        (np.zeros((1, 9)), [[0.0], [0.0, 1.0]], "values"),
        (np.zeros((1, 8)), [0.0], "shape"),
    ):
        with pytest.raises(tt.errors.ConfigError, match=message):
            search.tell(batch, logits, values)
    search.drop(batch)


class Returns:
    """An evaluator that returns the same whatever it is asked."""

    def __init__(self, given):
        self.given = given

    def evaluate(self, batch):
        return self.given


@pytest.mark.parametrize(
    "given",
    [
        None,
        0.0,
        (),
        (1, 2, 3),
        {"logits": 0},
        (np.zeros((1, 9), complex), np.zeros(1)),
        (np.zeros((1, 9)), np.zeros(1, complex)),
    ],
)
@pytest.mark.parametrize("wrap", [lambda one: one, tt.evaluators.Cached], ids=["plain", "cached"])
def test_an_evaluator_that_returns_no_pair_of_real_arrays_is_a_clear_error(given, wrap):
    search = tt.Search("tic_tac_toe", tt.puct(), evaluator=wrap(Returns(given)), seed=1)
    with pytest.raises(tt.errors.ConfigError, match="must return two arrays|must be an array of numbers"):
        search.run(tt.Limit(simulations=10))
    assert search.in_flight == 0


def test_the_range_of_values_follows_immediate_rewards_and_the_discount():
    facts = tt.load_game("cliff_walking").facts
    low, high = facts.rewards
    assert facts.value_range(step_rewards=True) == (low - high, high - low)
    for value, fits in ((-1.0, True), (2.0, True), (11.5, False), (-11.5, False)):
        search = tt.Search(Corridor(), evaluator=lambda state, actions, value=value: (None, value), seed=1)
        if fits:
            search.run(tt.Limit(simulations=5))
        else:
            with pytest.raises(tt.errors.GameError, match=r"(?s)outside of the range -11 to 11.*in the state 0"):
                search.run(tt.Limit(simulations=5))


@pytest.mark.parametrize("value", [1.1, (0.0, -1.2)])
def test_problems_in_python_are_held_to_the_range(value):
    with pytest.raises(tt.errors.GameError, match=r"(?s)the evaluator gave.*-1 to 1.*reward_range.*\(21, 0\)"):
        tt.Search(Nim(), evaluator=lambda state, actions: (None, value), seed=1).run(tt.Limit(simulations=5))

    class Own(Nim):
        def rollout(self, state, rng):
            return (2.0, -2.0)

    with pytest.raises(tt.errors.GameError, match=r"(?s)rollout gave.*-1 to 1"):
        tt.Search(Own(), seed=1).run(tt.Limit(simulations=5))


def test_an_answer_from_elsewhere_outside_of_the_range_is_a_failure():
    def evaluate(state, actions):
        return None, (7.0 if state[0] == 20 else 0.0)

    result = tt.Search(Nim(), tt.puct(c=1.0), seed=1).run_remote(tt.Limit(simulations=30), evaluate)
    assert result.failed.tolist() == [True, False, False]
    assert "outside of the range" in result.failures[0].reason


@tt.game(players=2, num_actions=2, max_length=24)
class Boastful:
    """Twenty-four moves; the heuristic thinks too much of a position that random games hardly ever come to."""

    made: int = tt.field("i1")
    ones: int = tt.field("i1")

    def reset(self):
        self.made = 0
        self.ones = 0

    def current_player(self):
        return self.made % 2

    def legal_actions(self, out):
        out[0] = 0
        out[1] = 1
        return 2

    def apply(self, action):
        self.made += 1
        self.ones += action

    def is_terminal(self):
        return self.made == 24

    def rewards(self, out):
        out[0] = 0.0
        out[1] = 0.0

    def heuristic(self, out):
        out[0] = 0.5 if self.ones < 22 else 3.25
        out[1] = -out[0]


@pytest.mark.parametrize(
    "evaluator",
    [
        tt.evaluators.Heuristic(),
        tt.evaluators.Mixed(tt.evaluators.Heuristic()),
        tt.Rollout(depth=2),
        tt.evaluators.Heuristic(prior_temperature=0.5),
    ],
    ids=str,
)
def test_a_games_heuristic_is_held_to_the_range(evaluator):
    start = tt.position(Boastful, " ".join(["1"] * 20))
    with pytest.raises(tt.errors.GameError, match=r"(?s)heuristic gave player 1 the value -3.25.*-1 to 1"):
        tt.Search(start, tt.uct(), evaluator=evaluator, seed=1).run(tt.Limit(simulations=100))
