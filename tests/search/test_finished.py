"""A search may follow the last move of a game; then there is nothing left to search."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.search.own_problems import Nim


@pytest.mark.parametrize("searched", [0, 500])
def test_advance_follows_the_move_that_ends_the_game(searched, tmp_path):
    search = tt.Search(tt.position("tic_tac_toe", "a1 b1 a2 b2"), seed=1)
    if searched:
        search.run(tt.Limit(simulations=searched))
    search.advance("a3")
    assert search.position.is_terminal
    for call in (
        lambda: search.run(tt.Limit(simulations=5)),
        search.result,
        lambda: search.ask(1),
        lambda: search.pondering().__enter__(),
        lambda: search.save(tmp_path / "over"),
        lambda: search.run(tt.Limit(simulations=5), include=["c3"]),
    ):
        with pytest.raises(tt.errors.TerminalPositionError, match="the game is over"):
            call()
    with pytest.raises(tt.TreetopError):
        search.advance("c3")
    search.prepare()
    assert repr(search)


@pytest.mark.parametrize("game", ["rock_paper_scissors", "kuhn_poker"])
def test_advance_follows_to_the_end_where_every_move_begins_anew(game):
    search = tt.Search(tt.position(game, seed=1).resolve_chance(tt.Rng(1)) if game == "kuhn_poker" else game, seed=1)
    while not search.position.is_terminal:
        search.advance((0, 0) if game == "rock_paper_scissors" else search.position.legal_actions()[0])
    with pytest.raises(tt.errors.TerminalPositionError):
        search.run(tt.Limit(simulations=5))
    with pytest.raises(tt.errors.TerminalPositionError):
        search.result()


@pytest.mark.parametrize("searched", [0, 50])
def test_objects_are_followed_to_their_end_too(searched):
    search = tt.Search(Nim(2), seed=1)
    if searched:
        search.run(tt.Limit(simulations=searched))
    search.advance(1)
    assert search.state == (0, 1)
    assert search.played == [1]
    for call in (
        lambda: search.run(tt.Limit(simulations=5)),
        search.result,
        lambda: search.advance(0),
        lambda: search.run_remote(tt.Limit(calls=1), lambda s, a: (None, 0.0)),
    ):
        with pytest.raises(tt.errors.TerminalPositionError, match="terminal"):
            call()
