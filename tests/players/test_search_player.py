"""A search as a player: seeded, following the game with its tree, and honest about what it used."""

from __future__ import annotations

import pytest

import treetop
from treetop.players.search import SearchPlayer
from treetop.search.limits import Limit


def make(simulations=200, **options):
    return SearchPlayer("search", treetop.uct(), Limit(simulations=simulations), **options)


@pytest.mark.parametrize("reuse", [True, False])
def test_a_game_is_the_same_again_for_its_seed(reuse, play):
    players = [make(reuse=reuse), make(reuse=reuse)]
    first = play("tic_tac_toe", players, seed=5).actions
    assert play("tic_tac_toe", players, seed=5).actions == first
    assert play("tic_tac_toe", [make(reuse=reuse), make(reuse=reuse)], seed=5).actions == first
    assert len({play("tic_tac_toe", players, seed).actions for seed in range(6)}) > 1


def test_the_tree_follows_the_moves_of_both_sides():
    player = make(simulations=500)
    position = treetop.position("tic_tac_toe")
    player.begin(position, 1)
    action = player.choose(position)
    kept = player._search.tree.root.child(action).visits
    player.observe(action)
    position = position.apply(action)
    assert player._search.simulations == kept
    reply = position.legal_actions()[0]
    player.observe(reply)
    position = position.apply(reply)
    held = player._search.simulations
    assert 0 < held < kept
    player.choose(position)
    assert player._search.simulations == held + 500
    assert player.last_result.simulations == 500


def test_without_reuse_each_move_begins_from_nothing():
    player = make(simulations=300, reuse=False)
    position = treetop.position("tic_tac_toe")
    player.begin(position, 1)
    for _ in range(2):
        action = player.choose(position)
        assert player.last_result.root_visits == 300
        player.observe(action)
        position = position.apply(action)


def test_a_move_that_the_tree_never_saw_is_no_problem():
    player = make(simulations=1)
    position = treetop.position("tic_tac_toe")
    player.begin(position, 1)
    for _ in range(4):
        action = player.choose(position)
        player.observe(action)
        position = position.apply(action)


def test_a_position_that_was_not_announced_begins_a_new_search():
    player = make()
    player.begin(treetop.position("tic_tac_toe"), 1)
    player.choose(treetop.position("tic_tac_toe"))
    elsewhere = treetop.position("tic_tac_toe", moves="a1 b1 a2 b2")
    assert elsewhere.move_text(player.choose(elsewhere)) == "a3"


def test_the_end_of_a_game_is_observed_without_complaint():
    player = make()
    position = treetop.position("tic_tac_toe", moves="a1 b1 a2 b2")
    player.begin(position, 1)
    player.observe(player.choose(position))
    player.observe(0)
    player.begin(position, 2)
    assert player.last_result is None
    player.close()
    player.close()


def test_what_was_used_is_remembered():
    player = make(simulations=123)
    position = treetop.position("tic_tac_toe")
    player.begin(position, 1)
    player.choose(position)
    assert player.last_result.simulations == 123
    assert player.last_result.elapsed > 0


def test_ctrl_c_stops_the_game_and_not_only_the_search(monkeypatch):
    player = make()
    position = treetop.position("tic_tac_toe")
    player.begin(position, 1)
    monkeypatch.setattr(treetop.SearchResult, "interrupted", property(lambda _: True))
    with pytest.raises(KeyboardInterrupt):
        player.choose(position)
