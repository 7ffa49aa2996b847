"""Blackjack: the rules, and the best play against an exact table."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.games.both_modes import frequencies, play_in_both_modes
from treetop.errors import UnknownGameError
from treetop.game import CHANCE
from treetop.games.blackjack import blackjack

HIT, STAND = 0, 1
ACE, TEN = 0, 9
SHARES = [1 / 13] * 9 + [4 / 13]
"""Of the cards 1 (an ace) to 10."""


def count(total, ace):
    return total + 10 if ace and total <= 11 else total


@cache
def dealers_ends(total, ace, cards):
    """The chances of the dealer's ends: 17 to 21, "natural" and "bust"."""
    best = count(total, ace)
    if cards > 1 and best >= 17:
        return {("natural" if cards == 2 and best == 21 else "bust" if best > 21 else best): 1.0}
    ends: dict = {}
    for card, share in enumerate(SHARES, start=1):
        for end, chance in dealers_ends(total + card, ace or card == 1, cards + 1).items():
            ends[end] = ends.get(end, 0.0) + share * chance
    return ends


@cache
def standing(best, up):
    value = 0.0
    for end, chance in dealers_ends(up, up == 1, 1).items():
        won = end == "bust" or (end != "natural" and best > end)
        value += chance * (1.0 if won else 0.0 if best == end else -1.0)
    return value


@cache
def hitting(total, ace, up):
    return sum(share * playing(total + card, ace or card == 1, up) for card, share in enumerate(SHARES, start=1))


@cache
def playing(total, ace, up):
    return -1.0 if total > 21 else max(standing(count(total, ace), up), hitting(total, ace, up))


def whole_game(natural):
    value = 0.0
    for up, up_share in enumerate(SHARES, start=1):
        for one, one_share in enumerate(SHARES, start=1):
            for two, two_share in enumerate(SHARES, start=1):
                ace = 1 in (one, two)
                won = natural * (1.0 - dealers_ends(up, up == 1, 1).get("natural", 0.0))
                value += (
                    up_share
                    * one_share
                    * two_share
                    * (won if count(one + two, ace) == 21 else playing(one + two, ace, up))
                )
    return value


def play(*actions, natural=1.5):
    state = blackjack(natural=natural)()
    for action in actions:
        assert not state.is_terminal()
        state.apply(action)
    return state


def reward(state):
    out = np.zeros(1)
    assert state.is_terminal()
    state.rewards(out)
    return out[0]


KNOWN: dict[tuple, float] = {}


def best_value(state, natural=1.5):
    """The same by the game's own states."""
    if state.is_terminal():
        return reward(state)
    key = (natural, int(state.key()))
    if key not in KNOWN:
        actions, chances = np.zeros(10, np.int32), np.zeros(10)
        chance = state.current_player() == CHANCE
        number = state.chance_outcomes(actions, chances) if chance else state.legal_actions(actions)
        found = []
        for action in actions[:number]:
            after = state.copy()
            after.apply(int(action))
            found.append(best_value(after, natural))
        KNOWN[key] = float(np.dot(found, chances[:number])) if chance else max(found)
    return KNOWN[key]


@pytest.mark.parametrize("natural", [1.0, 1.5])
def test_the_best_play_is_worth_what_an_exact_table_says(natural):
    assert best_value(blackjack(natural=natural)(), natural) == pytest.approx(whole_game(natural), abs=1e-12)


def test_the_dealer_keeps_about_two_and_a_half_per_cent():
    assert -0.026 < whole_game(1.5) < -0.022


@pytest.mark.parametrize("up", range(1, 11))
def test_the_best_play_is_the_known_one(up):
    least = 13 if up in (2, 3) else 12 if up in (4, 5, 6) else 17
    for first in range(2, 11):
        for second in range(2, 11):
            state = play(first - 1, second - 1, up - 1)
            choices = []
            for action in (HIT, STAND):
                after = state.copy()
                after.apply(action)
                choices.append(best_value(after))
            assert (choices[STAND] > choices[HIT]) == (first + second >= least)


def test_the_player_sees_two_cards_of_his_own_and_one_of_the_dealers():
    state = blackjack()()
    for card in (4, 5, 6):
        assert state.current_player() == CHANCE
        state.apply(card)
    assert state.current_player() == 0
    assert (state.total, state.dealer_total) == (11, 7)


def test_pictures_make_tens_four_times_as_likely():
    state = blackjack()()
    actions, chances = np.zeros(10, np.int32), np.zeros(10)
    assert state.chance_outcomes(actions, chances) == 10
    assert np.allclose(chances, SHARES)
    assert np.allclose(frequencies(blackjack(), state, "random_outcome", 8000), SHARES, atol=0.02)


def test_an_ace_counts_11_while_that_fits():
    assert play(ACE, 5, 6).best() == 17
    assert play(ACE, 5, 6, HIT, TEN).best() == 17
    assert play(ACE, ACE, 6).best() == 12


def test_beyond_21_the_player_has_lost_at_once():
    assert reward(play(TEN, 5, 6, HIT, TEN)) == -1.0


def test_the_dealer_stands_on_soft_17_and_draws_below():
    assert play(TEN, 7, ACE, STAND, 5).is_terminal()
    assert not play(TEN, 7, ACE, STAND, 4).is_terminal()
    assert reward(play(TEN, 7, ACE, STAND, 5)) == 1.0


def test_the_greater_sum_wins_and_equal_ones_pay_nothing():
    assert reward(play(TEN, 8, TEN, STAND, 7)) == 1.0
    assert reward(play(TEN, 7, TEN, STAND, 7)) == 0.0
    assert reward(play(TEN, 6, TEN, STAND, 7)) == -1.0
    assert reward(play(TEN, 2, TEN, STAND, 5, 5)) == 1.0


@pytest.mark.parametrize("natural", [1.0, 1.5])
def test_a_natural_needs_no_decision_and_pays_more(natural):
    state = play(ACE, TEN, 5, natural=natural)
    assert state.current_player() == CHANCE
    assert not state.is_terminal()
    state.apply(5)
    assert reward(state) == natural


def test_a_natural_beats_every_other_21():
    assert reward(play(ACE, TEN, 5, 4)) == 1.5
    assert reward(play(4, 4, TEN, HIT, TEN, STAND, ACE)) == -1.0
    assert reward(play(ACE, TEN, TEN, ACE)) == 0.0


def test_both_modes_play_the_same_games():
    returns, _ = play_in_both_modes(blackjack(), 150, seed=1)
    assert set(returns[:, 0]) >= {-1.0, 0.0, 1.0}


@pytest.mark.parametrize("natural", [0.5, True, "1.5"])
def test_a_natural_that_pays_less_than_a_win_is_refused(natural):
    with pytest.raises(UnknownGameError):
        blackjack(natural=natural)
