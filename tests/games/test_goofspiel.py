"""Goofspiel, with prizes by lot and in order."""

from __future__ import annotations

from collections import Counter

import pytest

import treetop as tt
from treetop.oracle.equilibrium import InformationTree, equilibrium
from treetop.oracle.exhaustive import Exhaustive, count_kinds, reachable

ORDERED = "goofspiel(cards=4, prizes='descending')"


def test_the_higher_card_takes_the_prize_and_of_equal_ones_nobody():
    position = tt.position(ORDERED, moves="4/3")
    assert list(position.state.points) == [4, 0]
    position = position.play("1/1")
    assert list(position.state.points) == [4, 0]
    over = position.play("2/4")
    assert over.is_terminal  # the last cards, 3 and 2, were laid for the prize of 1
    assert list(over.state.points) == [5, 2]
    assert over.rewards == [1.0, -1.0]
    assert tt.position(ORDERED, moves="1/1 2/2 3/3").rewards == [0.0, 0.0]


def test_cards_are_used_once():
    position = tt.position(ORDERED, moves="4/3")
    assert position.legal_moves(player=0) == ["1", "2", "3"]
    assert position.legal_moves(player=1) == ["1", "2", "4"]
    with pytest.raises(tt.errors.IllegalMoveError, match="player 0 has 1, 2, 3; player 1 has 1, 2, 4"):
        position.play("4/1")


def test_prizes_in_order_leave_nothing_to_chance():
    assert tt.load_game(ORDERED).facts.num_outcomes is None
    assert count_kinds(tt.position(ORDERED)) == (0, 161, 576)
    assert "the prize is 4" in str(tt.position(ORDERED))
    assert "the prize is 3" in str(tt.position(ORDERED, moves="1/2"))


def test_one_after_the_other_its_tree_has_the_known_numbers_of_choices_and_ends():
    counts, waiting = Counter(), [InformationTree(ORDERED).root]
    while waiting:
        node = waiting.pop()
        counts[bool(node.ways)] += 1
        waiting.extend(child for _, _, child in node.ways)
    assert (counts[True], counts[False]) == (501, 576)


def test_prizes_by_lot_are_turned_up_by_chance_each_as_likely():
    position = tt.position("goofspiel(cards=5)")
    assert position.player == tt.CHANCE
    assert position.outcomes() == [(card, pytest.approx(0.2)) for card in range(5)]
    position = position.play("3")
    assert position.player == tt.SIMULTANEOUS
    position = position.play("5/4")
    assert position.legal_moves() == ["1", "2", "4", "5"]
    assert list(position.state.points) == [3, 0]
    rng = tt.Rng(6)
    drawn = Counter(position.draw_outcome(rng) for _ in range(1200))
    assert set(drawn) == {0, 1, 3, 4}
    assert min(drawn.values()) > 230


@pytest.mark.parametrize(
    "spec", ["goofspiel(cards=2)", "goofspiel(cards=13)", "goofspiel(cards=13, prizes='descending')"]
)
def test_all_points_are_won_or_tied_away_by_the_end(spec):
    position, rng = tt.position(spec), tt.Rng(1)
    length = 0
    while not position.is_terminal:
        position = position.apply(position.sample_action(rng))
        length += 1
    cards = position.game.parameters["cards"]
    assert length == position.game.facts.max_length
    assert sum(position.state.points) <= cards * (cards + 1) // 2
    assert position.legal_actions() == []


@pytest.mark.parametrize("spec", ["goofspiel(cards=3)", "goofspiel(cards=3, prizes='descending')"])
def test_a_game_alike_for_both_is_worth_nothing(spec):
    assert Exhaustive().values(tt.position(spec)) == pytest.approx((0.0, 0.0), abs=1e-9)
    assert equilibrium(spec).value == pytest.approx(0.0, abs=1e-9)


def test_round_by_round_and_as_a_whole_it_has_the_same_value():
    after = tt.position(ORDERED, moves="1/4")
    assert Exhaustive().values(after)[0] == pytest.approx(equilibrium(after).value, abs=1e-9)
    assert Exhaustive().values(after)[0] == pytest.approx(-3 / 19, abs=1e-9)


def test_keys_distinguish_positions_but_for_points_that_both_have():
    keys = {}
    for position in reachable(tt.position("goofspiel(cards=3)")):
        state = position.state
        shown = (tuple(state.hands), state.pile, state.prize, state.points[0] - state.points[1])
        assert keys.setdefault(int(state.key()), shown) == shown


@pytest.mark.parametrize("parameters", ["cards=1", "cards=14", "cards=4.0", "prizes='ascending'", "prizes=1"])
def test_parameters_out_of_range_are_refused(parameters):
    with pytest.raises(tt.errors.UnknownGameError):
        tt.load_game(f"goofspiel({parameters})")
