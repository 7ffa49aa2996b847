"""Exact values with chance, immediate rewards, three players, and simultaneous moves."""

from __future__ import annotations

import functools

import pytest

import treetop as tt
from tests.all_kinds import Drift, Hands, Press
from treetop.oracle.exhaustive import Exhaustive, count_kinds, reachable


def press(rolls, discount=1.0):
    """The value of Press after so many rolls, by hand: stop for two points, or roll once more."""
    if rolls == 6:
        return 0.0
    later = discount * press(rolls + 1, discount)
    return max(discount * 2.0, 0.5 * (1 + later) + 0.3 * (2 + later) + 0.2 * 3)


@pytest.mark.parametrize("discount", [1.0, 0.9, 0.5, 0.0])
def test_chance_counts_by_its_probabilities_and_what_comes_later_by_the_discount(discount):
    oracle = Exhaustive(discount=discount)
    assert oracle.values(tt.position(Press))[0] == pytest.approx(press(0, discount), abs=1e-12)
    assert oracle.values(tt.position(Press, moves="roll side1 roll side2"))[0] == pytest.approx(
        press(2, discount), abs=1e-12
    )


def test_rewards_of_the_past_are_not_in_a_value():
    oracle = Exhaustive()
    assert oracle.values(tt.position(Press, moves="roll side3")) == (0.0,)
    assert oracle.values(tt.position(Press, moves="stop")) == (2.0,)


def test_best_actions_are_those_with_the_highest_action_values():
    oracle, position = Exhaustive(), tt.position(Press)
    values = oracle.action_values(position)
    assert set(values) == {0, 1}
    assert values[1] == (2.0,)
    assert oracle.best_actions(position) == [0]
    assert oracle.best_actions(position.play("roll")) == []
    assert oracle.best_actions(position.play("stop")) == []
    assert oracle.action_values(position.play("roll"))[2] == (3.0,)


@functools.cache
def three(heap, most=3):
    """Who wins Nim for three, counted from the player to move, where everybody takes their first best move."""
    if heap == 0:
        return 2
    winners = [(three(heap - taken) + 1) % 3 for taken in range(1, min(most, heap) + 1)]
    return 0 if 0 in winners else winners[0]


@pytest.mark.parametrize("stones", range(1, 14))
def test_each_of_three_players_takes_what_is_best_for_themselves_and_of_equal_moves_the_first(stones):
    values = Exhaustive().values(tt.position(f"nim_three(stones={stones})"))
    assert values == tuple(1.0 if player == three(stones) else -1.0 for player in range(3))


def test_with_simultaneous_moves_they_play_the_equilibrium():
    values = Exhaustive().values(tt.position("matching_pennies(weight=3)"))
    assert values == pytest.approx((1 / 3, -1 / 3), abs=1e-12)
    assert Exhaustive().matrix(tt.position("matching_pennies(weight=3)")) == [[3.0, -1.0], [-1.0, 1.0]]
    assert Exhaustive().values(tt.position(Hands)) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert Exhaustive().values(tt.position(Hands, moves="one/one")) == pytest.approx((2.0, -2.0), abs=1e-12)


def test_what_cannot_be_listed_or_has_no_value_is_refused():
    with pytest.raises(tt.errors.GameError, match="cannot be listed"):
        Exhaustive().values(tt.position(Drift))

    @tt.game(players=2, num_actions=3, max_length=2, rewards=(-4, 4), zero_sum=False)
    class Friendly(Hands):
        pass

    with pytest.raises(tt.errors.GameError, match="zero-sum"):
        Exhaustive().values(tt.position(Friendly))
    with pytest.raises(tt.errors.ConfigError, match="discount"):
        Exhaustive(discount=1.5)
    with pytest.raises(tt.errors.GameError, match="more than 10 positions"):
        Exhaustive(10).values(tt.position("tic_tac_toe"))


def test_reachable_positions_include_those_of_chance_and_after_joint_moves():
    assert len(list(reachable(tt.position("matching_pennies")))) == 5
    assert sum(position.player == tt.CHANCE for position in reachable(tt.position("kuhn_poker"))) == 4
    assert count_kinds(tt.position("kuhn_poker")) == (4, 24, 30)
