"""Scoundrel: each rule by a small game of its own, the score's identity over many, and that nothing unseen is in a state."""

from __future__ import annotations

import numpy as np
import pytest

from tests.games.both_modes import frequencies, play_in_both_modes
from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import local_rng, state_at
from treetop.compiler.rng import Rng
from treetop.errors import UnknownGameError
from treetop.game import CHANCE
from treetop.games.scoundrel import scoundrel

VARIANTS = [{}, {"weapon_rule": "<"}, {"avoided": "shuffled"}, {"clairvoyant": True}]
AVOID = 132


def play(state, *moves):
    """Deal and play by name: `CK` is a card that chance deals or a weapon or potion that is taken."""
    for move in " ".join(moves).split():
        assert not state.is_terminal()
        assert move in moves_of(state), f"{move} is not possible in\n{state.render()}"
        state.apply(legal(state)[moves_of(state).index(move)])
    return state


def legal(state):
    out, chances = np.zeros(133, np.int32), np.zeros(44)
    count = state.chance_outcomes(out, chances) if state.current_player() == CHANCE else state.legal_actions(out)
    return [int(action) for action in out[:count]]


def moves_of(state):
    named = state.outcome_text if state.current_player() == CHANCE else state.move_text
    return [named(action) for action in legal(state)]


def room(state):
    return [start().outcome_text(card) for card in state.room if card >= 0]


def score(state):
    out = np.zeros(1)
    assert state.is_terminal()
    state.rewards(out)
    return out[0]


def start(**parameters):
    return scoundrel(**parameters)()


def test_chance_deals_four_cards_each_of_those_not_seen_as_likely():
    state = start()
    for dealt in range(4):
        assert state.current_player() == CHANCE
        out, chances = np.zeros(44, np.int32), np.zeros(44)
        assert state.chance_outcomes(out, chances) == 44 - dealt
        assert np.allclose(chances[: 44 - dealt], 1 / (44 - dealt))
        state.apply(out[5])
    assert state.current_player() == 0


def test_the_deck_has_44_cards_and_monsters_of_208():
    state = start()
    names = moves_of(state)
    assert len(set(names)) == 44
    assert [name for name in names if name[0] == "D"] == [f"D{value}" for value in range(2, 11)]
    assert [name for name in names if name[0] == "H"] == [f"H{value}" for value in range(2, 11)]
    assert [name[1:] for name in names if name[0] == "C"] == [name[1:] for name in names if name[0] == "S"]
    assert names[9:13] == ["CJ", "CQ", "CK", "CA"]
    assert state.left == 208
    assert state.health == 20


def test_each_card_is_faced_in_the_ways_it_can_be():
    state = play(start(), "C5 D7 H3 SA")
    assert moves_of(state) == ["C5:hands", "D7", "H3", "SA:hands", "avoid"]
    play(state, "D7")
    assert moves_of(state) == ["C5:hands", "C5:weapon", "H3", "SA:hands", "SA:weapon"]


def test_a_room_can_be_avoided_only_before_its_first_card():
    state = play(start(), "C5 D7 H3 SA")
    assert "avoid" in moves_of(state)
    play(state, "H3")
    assert "avoid" not in moves_of(state)


def test_two_rooms_in_a_row_cannot_be_avoided():
    state = play(start(), "C5 D7 H3 SA avoid C2 C3 C4 D2")
    assert "avoid" not in moves_of(state)
    play(state, "D2 C2:weapon C3:hands C6 C7 C8")
    assert "avoid" in moves_of(state)


def test_three_of_four_cards_are_faced_and_the_fourth_stays():
    state = play(start(), "C5 D7 H3 SA D7 SA:weapon H3")
    assert state.current_player() == CHANCE
    assert room(state) == ["C5"]
    play(state, "C2 C3 C4")
    assert room(state) == ["C5", "C2", "C3", "C4"]


def test_a_monster_fought_with_bare_hands_costs_its_value():
    assert play(start(), "C5 D7 H3 SA SA:hands").health == 6


def test_a_monster_fought_with_a_weapon_costs_what_it_exceeds_it_by():
    assert play(start(), "C5 D7 H3 SA D7 SA:weapon").health == 13
    assert play(start(), "C5 D7 H3 SA D7 C5:weapon").health == 20


def test_a_used_weapon_serves_against_monsters_up_to_the_last_it_slew():
    state = play(start(), "C8 S8 D7 S9 D7 C8:weapon")
    assert moves_of(state) == ["S8:hands", "S8:weapon", "S9:hands"]
    assert moves_of(play(start(), "C8 S7 D7 S9 D7 C8:weapon")) == ["S7:hands", "S7:weapon", "S9:hands"]


def test_under_the_stricter_rule_it_serves_against_lesser_ones_only():
    state = play(start(weapon_rule="<"), "C8 S8 D7 S7 D7 C8:weapon")
    assert moves_of(state) == ["S8:hands", "S7:hands", "S7:weapon"]


def test_bare_hands_do_not_wear_the_weapon():
    state = play(start(), "C2 S8 D7 S9 D7 C2:hands")
    assert "S9:weapon" in moves_of(state)
    assert state.health == 18


def test_a_new_weapon_replaces_the_old_one_and_what_it_slew():
    state = play(start(), "C2 D2 D7 SA D7 C2:weapon D2 C3 C4 C5")
    assert state.weapon == 2
    assert "SA:weapon" in moves_of(state)


def test_a_weapon_may_be_replaced_by_a_weaker_one():
    assert play(start(), "C2 D2 D9 SA D9 D2").weapon == 2


def test_a_potion_heals_up_to_20():
    assert play(start(), "C5 H9 H3 SA C5:hands H9").health == 20
    assert play(start(), "C5 H9 H3 SA SA:hands H3").health == 9


def test_only_the_first_potion_of_a_turn_heals():
    state = play(start(), "C5 H9 H3 SA SA:hands H3 H9")
    assert state.health == 9
    play(state, "H8 C2 C3 H8")
    assert state.health == 17


def test_a_potion_without_effect_is_still_the_turns_first():
    assert play(start(), "C5 H9 H3 SA H9 SA:hands H3").health == 6


def test_avoided_cards_go_under_the_deck_in_the_order_they_lay_in():
    state = play(start(), "C5 D7 H3 SA avoid C2 C3 C4 D2 D2 C2:weapon C3:hands")
    under = [state.under[place] for place in range(state.first, state.end)]
    assert [state.outcome_text(card) for card in under] == ["C5", "D7", "H3", "SA"]
    assert not set(under) & set(legal(state))


def test_known_cards_are_dealt_without_chance_when_all_others_are_gone():
    state = play(start(), "C2 C3 H2 H3 avoid")
    rest = [card for card in range(44) if card not in (0, 1, 35, 36)]
    state.health = 100  # to live long enough
    for card in rest[:4]:
        state.apply(card)
    dealt = 4
    while state.unseen != 0:
        if state.current_player() == CHANCE:
            state.apply(rest[dealt])
            dealt += 1
        else:
            state.health = 100
            state.apply(legal(state)[0])
    assert dealt == 40
    assert state.current_player() == 0
    seen = room(state)
    state.health = 100
    while not state.is_terminal():
        state.health = 100
        assert state.current_player() == 0
        state.apply(next(action for action in legal(state) if action != AVOID))
        seen += [card for card in room(state) if card not in seen]
    assert seen[-4:] == ["C2", "C3", "H2", "H3"]


def test_shuffled_avoided_cards_come_back_room_by_room_in_an_order_that_nobody_knows():
    state = play(start(avoided="shuffled"), "C4 C2 H3 H2 avoid C5 C6 H4 C7 C5:hands H4 C6:hands C8 C9 C10 avoid")
    lean = state.copy()
    for card in range(44):
        lean.unseen &= ~(np.uint64(1) << np.uint64(card))
    lean.fill_room()
    assert lean.current_player() == CHANCE
    assert sorted(moves_of(lean)) == ["C2", "C4", "H2", "H3"]
    assert np.allclose(
        frequencies(scoundrel(avoided="shuffled"), lean, "random_outcome", 4000)[[0, 2, 35, 36]], 0.25, atol=0.03
    )
    play(lean, "H2")
    assert sorted(moves_of(lean)) == ["C2", "C4", "H3"]
    play(lean, "C2 H3 C4")
    assert room(lean) == ["H2", "C2", "H3", "C4"]
    assert lean.current_player() == 0


def test_a_shuffled_room_leaves_no_trace_of_the_order_it_lay_in():
    states = [play(start(avoided="shuffled"), f"{cards} avoid") for cards in ("C4 C2 H3 H2", "H2 H3 C2 C4")]
    assert states[0]._states.tobytes() == states[1]._states.tobytes()
    ordered = [play(start(), f"{cards} avoid") for cards in ("C4 C2 H3 H2", "H2 H3 C2 C4")]
    assert ordered[0].key() != ordered[1].key()


def test_a_dead_player_scores_health_minus_all_monsters_left():
    state = play(start(), "CA SA H2 H3 CA:hands SA:hands")
    assert state.is_terminal()
    assert state.health == -8
    assert score(state) == -8 - (208 - 28) == -188


def test_health_zero_is_death():
    state = play(start(), "CA S6 H2 H3 CA:hands S6:hands")
    assert state.is_terminal()
    assert score(state) == 0 - (208 - 20)


def last_room(*names, health):
    """A state before the final room of two cards."""
    state = start()
    cards = [next(card for card in range(44) if state.outcome_text(card) == name) for name in names]
    state.unseen = np.uint64(sum(1 << card for card in cards))
    state.room[0] = cards[0]
    state.size = 1
    state.unseen = np.uint64(1 << cards[1])
    state.left = sum(int(card % 13) + 2 for card in cards if card < 26)
    state.health = health
    state.fill_room()
    state.apply(cards[1])
    return state


def test_the_final_room_of_two_is_faced_whole_and_cannot_be_avoided():
    state = last_room("C2", "H5", health=9)
    assert room(state) == ["C2", "H5"]
    assert moves_of(state) == ["C2:hands", "H5"]
    assert score(play(state, "H5 C2:hands")) == 12


def test_a_potion_as_the_last_card_counts_when_health_is_full():
    assert score(play(last_room("C2", "H10", health=12), "C2:hands H10")) == 30
    assert score(play(last_room("C2", "H10", health=12), "H10 C2:hands")) == 18
    assert score(play(last_room("C2", "H10", health=11), "C2:hands H10")) == 19
    assert score(play(last_room("H4", "H10", health=20), "H4 H10")) == 30


def test_the_final_room_is_a_turn_of_its_own():
    state = start()
    state.room[:] = [0, 35, -1, -1]  # C2 and H2 are left of the last room of four, H9 is all that lies in the deck
    state.size, state.faced, state.health, state.left = 2, 2, 9, 2
    state.unseen = np.uint64(1 << 42)
    state.dealing = False
    play(state, "H2 H9")
    assert room(state) == ["C2", "H9"]
    assert state.health == 11
    assert score(play(state, "H9 C2:hands")) == 18


@compiled
def _identity(game, states, seed, games, rolling, reward, counts):
    """Play games, and count by hand what weapons absorbed and potions healed."""
    rng = local_rng(seed)
    state = state_at(game, states, 0)
    broken = 0
    for _ in range(games):
        state.reset()
        gained, turns, faced = 0, 0, 0
        while not state.is_terminal():
            if state.dealing:
                state.apply(state.random_outcome(rng))
                continue
            action = state.rollout_action(rng) if rolling else state.random_action(rng)
            health, left, weapon = state.health, state.left, state.weapon
            turns += int(state.faced == 0 and action != 132)
            state.apply(action)
            if action != 132:
                faced += 1
                if action // 3 >= 35:
                    gained += state.health - health
                elif action % 3 == 2:
                    gained += min(weapon, left - state.left)
        reward[0] = 0.0
        state.rewards(reward)
        bonus = state.last_potion if state.health == 20 else 0
        if state.health > 0:
            counts[0] += 1
            counts[1] += int(faced == 44 and turns == 15 and state.left == 0)
        if reward[0] - bonus != -188 + gained or (state.health > 0 and gained < 189):
            broken += 1
        counts[2] = max(counts[2], reward[0])
        counts[3] = min(counts[3], reward[0])
        counts[4] += 1
        counts[5] += reward[0]
    return broken


@pytest.mark.parametrize("rolling", [False, True])
@pytest.mark.parametrize("parameters", VARIANTS[:3], ids=str)
def test_the_score_is_minus_188_and_what_weapons_absorbed_and_potions_healed(parameters, rolling):
    game = scoundrel(**parameters)
    counts = np.zeros(6)
    games = 100_000 if not rolling else 20_000
    assert (
        game.engine(bounds_checked=True, tier="direct").entry(_identity)(
            np.zeros(1, game.dtype), np.uint64(5), games, rolling, np.zeros(1), counts
        )
        == 0
    )
    won, whole, best, worst, played, total = counts
    assert played == games
    assert won == whole
    assert worst >= -188
    assert best <= 30
    if rolling:
        assert won / games > 0.05
        assert total / games > -60
    else:
        assert won == 0
        assert -183 < total / games < -177


@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
@pytest.mark.parametrize("rolling", [False, True])
def test_both_modes_play_the_same_games(parameters, rolling):
    returns, lengths = play_in_both_modes(scoundrel(**parameters), 12, seed=3, rolling=rolling)
    assert returns.min() >= -188
    assert lengths.max() > 8


def follow(state, deck, seed, cards):
    """Play at random while chance deals from the deck, until so many cards have been seen; what was seen and done."""
    rng, dealt, history = Rng(seed), 0, []
    while not state.is_terminal():
        if state.current_player() == CHANCE:
            if dealt == cards:
                return history
            state.apply(deck[dealt])
            dealt += 1
        else:
            state.apply(state.random_action(rng))
        history.append((state._states.tobytes(), int(state.key())))
    return history


@pytest.mark.parametrize("parameters", VARIANTS[:3], ids=str)
def test_decks_that_agree_in_what_was_seen_give_identical_states(parameters):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        deck = [int(card) for card in rng.permutation(44)]
        seen = int(rng.integers(4, 20))
        other = deck[:seen] + [int(card) for card in rng.permutation(deck[seen:])]
        assert follow(start(**parameters), deck, seed, seen) == follow(start(**parameters), other, seed, seen)


def test_the_clairvoyant_game_deals_the_whole_deck_at_the_start_and_leaves_nothing_to_chance():
    game = scoundrel(clairvoyant=True)
    assert game.facts.num_outcomes is None
    assert not game.has("chance_outcomes")
    decks = set()
    for seed in range(20):
        state = game()
        state.deal(Rng(seed))
        cards = [*state.room, *(state.under[place] for place in range(state.first, state.end))]
        assert sorted(cards) == list(range(44))
        decks.add(tuple(cards))
        rng = Rng(seed)
        while not state.is_terminal():
            assert state.current_player() == 0
            state.apply(state.random_action(rng))
    assert len(decks) == 20


def test_random_actions_are_uniform():
    state = play(start(), "C5 D7 H3 SA D7")
    shares = frequencies(scoundrel(), state, "random_action", 5000)
    assert np.allclose(shares[legal(state)], 0.2, atol=0.03)


def test_the_heuristic_knows_the_score_at_the_end_and_follows_health():
    out = np.zeros(1)
    end = play(start(), "CA S6 H2 H3 CA:hands S6:hands")
    end.heuristic(out)
    assert out[0] == score(end)
    hale, hurt = play(start(), "C2 C3 C4 C5"), play(start(), "C2 C3 C4 C5 C5:hands")
    hale.heuristic(out)
    before = out[0]
    hurt.heuristic(out)
    assert out[0] < before


@pytest.mark.parametrize(
    "parameters",
    [{"weapon_rule": ">"}, {"avoided": "lost"}, {"clairvoyant": 1}, {"clairvoyant": True, "avoided": "shuffled"}],
)
def test_parameters_that_make_no_sense_are_refused(parameters):
    with pytest.raises(UnknownGameError):
        scoundrel(**parameters)
