"""Kuhn poker: its tree, who wins what, and what each player sees."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

import treetop as tt


def all_positions(position):
    yield position
    for action in position.legal_actions():
        yield from all_positions(position.apply(action))


def kind(position):
    return "end" if position.is_terminal else "chance" if position.player == tt.CHANCE else "choice"


def test_the_tree_has_the_known_numbers_of_chances_choices_and_ends():
    assert Counter(map(kind, all_positions(tt.position("kuhn_poker")))) == {"chance": 4, "choice": 24, "end": 30}


@pytest.mark.parametrize(
    ("moves", "won"),
    [
        ("K Q pass pass", 1), ("J Q pass pass", -1), ("J Q bet pass", 1), ("K Q pass bet pass", -1),
        ("K J bet bet", 2), ("J K bet bet", -2), ("Q J pass bet bet", 2), ("Q K pass bet bet", -2),
    ],
)  # fmt: skip
def test_the_higher_card_wins_unless_somebody_gives_up(moves, won):
    assert tt.position("kuhn_poker", moves=moves).rewards == [won, -won]


def test_each_card_is_dealt_as_often_and_never_twice():
    start = tt.position("kuhn_poker")
    assert start.outcomes() == [(card, pytest.approx(1 / 3)) for card in range(3)]
    assert start.play("Q").outcomes() == [(0, 0.5), (2, 0.5)]
    rng = tt.Rng(1)
    deals = Counter(start.resolve_chance(rng).actions for _ in range(3000))
    assert set(deals) == set(itertools.permutations(range(3), 2))
    assert all(400 < count < 600 for count in deals.values())


def test_a_player_knows_their_own_card_and_what_was_played():
    positions = [position for position in all_positions(tt.position("kuhn_poker")) if kind(position) == "choice"]
    for player in (0, 1):
        seen = {}
        for position in positions:
            known = (position.actions[player], position.actions[2:])
            seen.setdefault(position.information(player), set()).add(known)
        assert len(seen) == 3 * 4
        assert all(len(known) == 1 for known in seen.values())
    assert len({position.information(position.player) for position in positions}) == 12


def test_the_other_card_is_drawn_among_the_two_that_it_can_be():
    position, rng = tt.position("kuhn_poker", moves="Q K pass"), tt.Rng(2)
    drawn = Counter(tuple(position.determinize(0, rng).state.cards) for _ in range(400))
    assert set(drawn) == {(1, 0), (1, 2)}
    assert min(drawn.values()) > 150


def test_people_see_their_own_card_only():
    position = tt.position("kuhn_poker", moves="Q K pass bet")
    assert str(position) == "player 0 has Q, player 1 has K; played: pass bet"
    assert position.shown_to(0) == "you have Q; played: pass bet"
    assert position.shown_to(1) == "you have K; played: pass bet"
    assert position.moves() == ["Q", "K", "pass", "bet"]
