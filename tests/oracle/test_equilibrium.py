"""Equilibria: matrices, Kuhn poker with its known value and strategies, best answers, exploitability, regret against linear programs."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest

import treetop as tt
from tests.all_kinds import Hands, Press, Secret
from treetop.oracle.equilibrium import InformationTree, cfr, equilibrium, exploitability, information_key, matrix_game

# Matrices.


@pytest.mark.parametrize("weight", [0.25, 1.0, 3.0, 40.0])
def test_matching_pennies_have_the_value_and_mixture_of_the_formula(weight):
    solved = matrix_game([[weight, -1.0], [-1.0, 1.0]])
    assert solved.value == pytest.approx((weight - 1) / (weight + 3), abs=1e-9)
    assert solved.rows == pytest.approx((2 / (weight + 3), 1 - 2 / (weight + 3)), abs=1e-9)
    assert solved.columns == pytest.approx(solved.rows, abs=1e-9)


def test_a_saddle_point_is_played_for_certain():
    solved = matrix_game([[4, 2, 3], [1, 0, 5]])
    assert (solved.value, solved.rows, solved.columns) == (2.0, (1.0, 0.0), (0.0, 1.0, 0.0))
    assert matrix_game([[7]]).value == 7.0


def test_nobody_gains_by_leaving_the_equilibrium_of_a_random_matrix():
    rng = np.random.default_rng(5)
    for rows, columns in itertools.product((1, 2, 5), (1, 3, 6)):
        matrix = rng.normal(size=(rows, columns))
        solved = matrix_game(matrix)
        assert max(matrix @ solved.columns) == pytest.approx(solved.value, abs=1e-9)
        assert min(solved.rows @ matrix) == pytest.approx(solved.value, abs=1e-9)


@pytest.mark.parametrize("payoffs", [[], [[]], [1, 2], [[float("nan")]]])
def test_what_is_no_matrix_is_refused(payoffs):
    with pytest.raises(tt.errors.ConfigError, match="table of finite numbers"):
        matrix_game(payoffs)


def test_without_scipy_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(tt.errors.MissingExtraError, match=r'pip install -e "\.\[oracle\]"'):
        matrix_game([[1.0]])


# Kuhn poker.


def key_of(moves):
    position = tt.position("kuhn_poker", moves=moves)
    return position.information(position.player)


def kuhn(bluff):
    """The equilibrium in which player 0 bets a jack so often; player 1 has but one."""
    bets = {"J Q": bluff, "Q J": 0.0, "K J": 3 * bluff}
    calls = {"J Q pass bet": 0.0, "Q J pass bet": bluff + 1 / 3, "K J pass bet": 1.0}
    answers = {"K J pass": 1 / 3, "J Q pass": 0.0, "J K pass": 1.0}
    folds = {"K J bet": 0.0, "J Q bet": 1 / 3, "J K bet": 1.0}
    return {key_of(moves): {0: 1 - bet, 1: bet} for moves, bet in {**bets, **calls, **answers, **folds}.items()}


def test_the_exact_value_of_kuhn_poker_is_a_loss_of_one_eighteenth():
    solved = equilibrium("kuhn_poker")
    assert solved.value == pytest.approx(-1 / 18, abs=1e-9)
    assert solved.exploitability == pytest.approx(0.0, abs=1e-9)
    assert len(solved.strategy) == 12


@pytest.mark.parametrize("bluff", [0.0, 0.1, 1 / 3])
def test_the_known_equilibria_of_kuhn_poker_cannot_be_exploited(bluff):
    assert exploitability("kuhn_poker", kuhn(bluff)) == pytest.approx(0.0, abs=1e-12)
    assert InformationTree("kuhn_poker").value(kuhn(bluff)) == pytest.approx(-1 / 18, abs=1e-12)


def test_too_many_bluffs_can_be_exploited():
    assert exploitability("kuhn_poker", kuhn(0.5) | {key_of("K J"): {1: 1.0}}) > 0.01


def test_the_uniform_strategy_of_kuhn_poker_has_its_known_exploitability():
    tree = InformationTree("kuhn_poker")
    assert tree.exploitability(tree.uniform()) == pytest.approx(11 / 24, abs=1e-12)
    assert tree.value(tree.uniform()) == pytest.approx(1 / 8, abs=1e-12)


def test_the_best_answer_to_somebody_who_always_bets_is_known():
    tree = InformationTree("kuhn_poker")
    always = {key: {1: 1.0} for key in tree.sets}
    value, answers = tree.best_response(always, 1)
    # With the king call and win two, with the jack fold and lose one, with the queen it makes no difference to win or lose two.
    assert value == pytest.approx((2 - 1 + 0) / 3)
    assert answers[key_of("J K bet")] == 1
    assert answers[key_of("K J bet")] == 0


def test_regret_comes_near_the_same_equilibrium():
    near = cfr("kuhn_poker", 2000)
    assert near.value == pytest.approx(-1 / 18, abs=2e-3)
    assert near.exploitability < 2e-3
    assert cfr("kuhn_poker", 20).exploitability > near.exploitability


# Simultaneous moves, and private information.


def test_simultaneous_moves_are_not_seen_by_the_other():
    solved = equilibrium("matching_pennies(weight=3)")
    assert solved.value == pytest.approx(1 / 3, abs=1e-9)
    assert cfr("matching_pennies(weight=3)", 2000).value == pytest.approx(1 / 3, abs=1e-2)
    start = tt.position("matching_pennies(weight=3)")
    always = {information_key(start, player): {0: 1.0} for player in (0, 1)}
    assert exploitability(start, always) == pytest.approx((3 + 1) / 2)


def test_a_game_of_several_simultaneous_rounds_has_the_value_of_its_rounds():
    assert equilibrium(Hands).value == pytest.approx(0.0, abs=1e-9)
    assert equilibrium(Hands).exploitability == pytest.approx(0.0, abs=1e-9)
    assert equilibrium(tt.position(Hands, moves="one/one")).value == pytest.approx(2.0, abs=1e-9)


def test_perfect_information_is_a_game_without_secrets():
    assert equilibrium("nim(stones=4)").value == pytest.approx(-1.0)
    assert equilibrium("nim(stones=5)").value == pytest.approx(1.0)


def test_immediate_rewards_count():
    @tt.game(players=2, num_actions=3, max_length=2, rewards=(-4, 4))
    class OnTheWay(Hands):
        gain = tt.field("i1")

        def apply_joint(self, actions):
            self.gain = 2 if (actions[0] + actions[1]) % 2 == 0 else -2
            self.lead += self.gain
            self.rounds += 1

        def step_rewards(self, out):
            out[0], out[1] = self.gain, -self.gain

        def rewards(self, out):
            out[0] = 0.0

    tree, same = InformationTree(OnTheWay), InformationTree(Hands)
    assert tree.value(tree.uniform()) == pytest.approx(same.value(same.uniform()))


# What is refused.


def test_strategies_that_do_not_say_what_to_do_are_refused():
    tree = InformationTree("kuhn_poker")
    good = tree.uniform()
    key = key_of("Q J")
    with pytest.raises(tt.errors.ConfigError, match="lacks the information set .* of player 0"):
        tree.exploitability({other: chances for other, chances in good.items() if other != key})
    for wrong in {0: 0.5}, {0: 1.5, 1: -0.5}, {0: 0.5, 1: 0.6}, {0: float("nan"), 1: 1.0}:
        with pytest.raises(tt.errors.ConfigError, match="sum to 1"):
            tree.value({**good, key: wrong})
    with pytest.raises(tt.errors.ConfigError, match="7 is not an action"):
        tree.value({**good, key: {7: 1.0}})
    assert tree.value({**good, key: {1: 1.0}}) != tree.value(good)
    with pytest.raises(tt.errors.ConfigError, match="player must be a whole number from 0 to 1"):
        tree.best_response(good, 2)


def test_games_whose_tree_is_not_to_be_had_are_refused():
    with pytest.raises(tt.errors.GameError, match="two-player zero-sum"):
        InformationTree("nim_three")
    with pytest.raises(tt.errors.GameError, match="two-player zero-sum"):
        InformationTree(Press)
    with pytest.raises(tt.errors.GameError, match="deals at random"):
        InformationTree(Secret)
    with pytest.raises(tt.errors.GameError, match="more than 20 positions"):
        InformationTree("kuhn_poker", max_positions=20)
    with pytest.raises(tt.errors.ConfigError, match="iterations"):
        cfr("kuhn_poker", 0)
