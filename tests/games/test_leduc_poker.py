"""Leduc poker: its tree, who wins what, what each player sees, and its known equilibrium."""

from __future__ import annotations

from collections import Counter

import pytest

import treetop as tt
from treetop.oracle.equilibrium import InformationTree, equilibrium
from treetop.oracle.exhaustive import count_kinds


@pytest.fixture(scope="module")
def tree():
    return InformationTree("leduc_poker")


def test_the_tree_has_the_known_numbers_of_chances_choices_and_ends():
    assert count_kinds(tt.position("leduc_poker")) == (157, 3780, 5520)


def test_there_are_936_information_sets(tree):
    assert Counter(known.player for known in tree.sets.values()) == {0: 468, 1: 468}


@pytest.mark.parametrize(
    ("moves", "won"),
    [
        ("Ks Qs call call Js call call", 1),
        ("Js Qs call call Jh call call", 1),
        ("Js Qs call call Ks call call", -1),
        ("Qs Qh call call Ks raise call", 0),
        ("Ks Qs raise fold", 1),
        ("Ks Qs call raise fold", -1),
        ("Ks Qs raise raise fold", -3),
        ("Ks Qs raise call Js raise fold", 3),
        ("Ks Qs raise raise call Js raise raise call", 13),
        ("Ks Qs raise raise call Qh raise raise fold", -9),
        ("Ks Qs raise raise call Qh raise raise call", -13),
    ],
)
def test_pairs_win_then_higher_ranks_and_who_folds_loses_what_they_paid(moves, won):
    over = tt.position("leduc_poker", moves=moves)
    assert over.is_terminal
    assert over.rewards == [won, -won]


@pytest.mark.parametrize(
    ("moves", "legal"),
    [
        ("Ks Qs", ["call", "raise"]),
        ("Ks Qs call", ["call", "raise"]),
        ("Ks Qs raise", ["fold", "call", "raise"]),
        ("Ks Qs raise raise", ["fold", "call"]),
        ("Ks Qs call raise raise", ["fold", "call"]),
        ("Ks Qs raise raise call Jh", ["call", "raise"]),
    ],
)
def test_one_can_fold_after_a_raise_only_and_raise_twice_a_round(moves, legal):
    assert tt.position("leduc_poker", moves=moves).legal_moves() == legal


def test_player_0_begins_both_rounds():
    assert tt.position("leduc_poker", moves="Ks Qs").player == 0
    assert tt.position("leduc_poker", moves="Ks Qs call raise call").player == tt.CHANCE
    assert tt.position("leduc_poker", moves="Ks Qs call raise call Js").player == 0


def test_every_card_that_is_left_is_as_likely():
    start, rng = tt.position("leduc_poker"), tt.Rng(3)
    assert start.outcomes() == [(card, pytest.approx(1 / 6)) for card in range(6)]
    open_card = start.play("Jh Qs call call")
    assert open_card.outcomes() == [(card, 0.25) for card in (0, 3, 4, 5)]
    drawn = Counter(open_card.draw_outcome(rng) for _ in range(2000))
    assert set(drawn) == {0, 3, 4, 5}
    assert min(drawn.values()) > 400


def test_a_player_does_not_know_the_other_card():
    position, rng = tt.position("leduc_poker", moves="Ks Qs raise call Js raise"), tt.Rng(4)
    for player, hidden in ((0, {1, 2, 3, 5}), (1, {1, 3, 4, 5})):
        others = [position.determinize(player, rng) for _ in range(300)]
        assert {int(other.state.cards[1 - player]) for other in others} == hidden
        assert {other.information(player) for other in others} == {position.information(player)}
    assert position.shown_to(1) == "you have Qs, open is Js; paid 7 and 3; played: raise call | raise"


def test_the_uniform_strategy_has_its_known_exploitability(tree):
    assert tree.exploitability(tree.uniform()) == pytest.approx(2.373611, abs=1e-6)


def test_the_value_of_the_game_is_the_known_one():
    solved = equilibrium("leduc_poker")
    assert solved.value == pytest.approx(-0.085606, abs=1e-6)
    assert solved.exploitability == pytest.approx(0.0, abs=1e-9)
