from __future__ import annotations

import pytest

import treetop
from treetop.arena.openings import Openings, OpeningSettings, _is_decided
from treetop.errors import ConfigError


def actions(openings: Openings, count: int) -> list[tuple[int, ...]]:
    return [openings[pair].actions for pair in range(count)]


def test_openings_are_the_same_for_a_seed_and_distinct():
    game = treetop.load_game("connect_four")
    settings = OpeningSettings(balanced=False)
    first, again, other = (actions(Openings(game, settings, seed), 40) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert len(set(first)) == 40
    assert all(len(opening) == 5 for opening in first)


def test_an_opening_does_not_depend_on_how_many_are_asked_for():
    game, settings = treetop.load_game("connect_four"), OpeningSettings(balanced=False)
    assert Openings(game, settings, 3)[17] == Openings(game, settings, 3)[25 - 8]
    assert actions(Openings(game, settings, 3), 20) == actions(Openings(game, settings, 3), 30)[:20]


def test_openings_that_are_known_are_taken_as_they_are_and_the_others_do_not_change():
    game, settings = treetop.load_game("tic_tac_toe"), OpeningSettings(plies=2, balanced=False)
    whole = actions(Openings(game, settings, 5), 30)
    resumed = Openings(game, settings, 5, {pair: whole[pair] for pair in (0, 1, 2, 7, 8)})
    assert actions(resumed, 30) == whole


def test_where_there_are_too_few_they_repeat_evenly():
    game = treetop.load_game("tic_tac_toe")
    made = actions(Openings(game, OpeningSettings(plies=1, balanced=False), 1), 27)
    assert sorted(made.count((cell,)) for cell in range(9)) == [3] * 9
    assert len(set(made[:9])) == 9


def test_no_opening_is_over_or_lost_at_once():
    game = treetop.load_game("tic_tac_toe")
    for plies in (5, 6):
        for opening in actions(Openings(game, OpeningSettings(plies=plies, balanced=False), 1), 30):
            position = treetop.position(game, list(opening))
            assert not position.is_terminal
            after = [position.apply(action) for action in position.legal_actions()]
            assert not any(end.is_terminal and end.rewards[position.player] > 0 for end in after)


def test_positions_that_are_as_good_as_over_are_seen():
    decided = {"X X . / O O . / . . .": True, "X . . / . O . / . . .": False, "X O X / X O O / . X O": True}
    for diagram, wanted in decided.items():
        assert _is_decided(treetop.position("tic_tac_toe", setup=diagram.replace(" / ", "\n"))) is wanted, diagram


def test_lopsided_openings_are_passed_over():
    game = treetop.load_game("tic_tac_toe")
    some = Openings(game, OpeningSettings(plies=3, limit=0.3), 2)
    strict = [some[pair] for pair in range(12)]
    for position in strict:
        assert max(abs(value) for value in treetop.search(position, simulations=400).values) <= 0.3
    loose = Openings(game, OpeningSettings(plies=3, balanced=False), 2)
    assert [position.actions for position in strict] != actions(loose, 12)


def test_where_nothing_is_balanced_the_best_is_taken():
    game = treetop.load_game("tic_tac_toe")
    settings = OpeningSettings(plies=3, limit=1e-6, tries=10)
    made = Openings(game, settings, 1)[0]
    assert made.actions == Openings(game, settings, 1)[0].actions
    others = [Openings(game, OpeningSettings(plies=3, limit=1e-6, tries=tries), 1)[0] for tries in (1, 2, 5)]
    tilts = [
        max(abs(value) for value in treetop.search(position, simulations=400).values) for position in (*others, made)
    ]
    assert tilts == sorted(tilts, reverse=True)


def test_no_random_moves_are_allowed():
    assert Openings(treetop.load_game("tic_tac_toe"), OpeningSettings(plies=0), 1)[3].actions == ()


def test_openings_that_leave_no_game_are_refused():
    with pytest.raises(ConfigError, match="no opening of 9 random moves in tic_tac_toe"):
        Openings(treetop.load_game("tic_tac_toe"), OpeningSettings(plies=9, balanced=False), 1)[0]
    for wrong in ({"plies": -1}, {"plies": True}, {"limit": 0.0}, {"simulations": 0}, {"tries": 0}):
        with pytest.raises(ConfigError, match="of the openings must"):
            OpeningSettings(**wrong)


def test_the_length_follows_the_game():
    lengths = {
        name: OpeningSettings().plies_for(treetop.load_game(name))
        for name in ("tic_tac_toe", "nim", "connect_four", "othello")
    }
    assert lengths == {"tic_tac_toe": 1, "nim": 2, "connect_four": 5, "othello": 8}
