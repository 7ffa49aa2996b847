"""After `prepare` a player compiles nothing more: whatever it needs in a whole game is there before a clock starts."""

from __future__ import annotations

import pytest

from treetop.arena.game import play_game
from treetop.compiler.preparing import thinking_clock
from treetop.game.choices import first_choice
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.players.protocol import prepare
from treetop.players.spec import make_player
from treetop.search.drivers import information_sets
from treetop.search.limits import Limit
from treetop.search.search import Search

PLAYERS = [
    ("uct(simulations=40)", "tic_tac_toe"),
    ("uct(simulations=40, solver=True)", "tic_tac_toe"),
    ("uct(simulations=60, max_nodes=40)", "tic_tac_toe"),
    ("puct(simulations=40, evaluator='uniform')", "tic_tac_toe"),
    ("gumbel(simulations=40)", "tic_tac_toe"),
    ("uct(simulations=300, transpositions=True)", "tic_tac_toe"),
    ("uct(simulations=40, evaluator=\"rollout(policy='mast')\")", "tic_tac_toe"),
    ("alphabeta(depth=3)", "tic_tac_toe"),
    ("alphabeta(depth=3, rollouts=2)", "tic_tac_toe"),
    ("greedy", "tic_tac_toe"),
    ("random", "tic_tac_toe"),
    ("uct(simulations=5000)", "kuhn_poker"),
    ("uct(simulations=40, information='determinizations', determinizations=4)", "kuhn_poker"),
    ("uct(simulations=40)", "matching_pennies"),
]


def fresh(spec):
    """A game none of whose kernels is there."""
    game = load_game(spec)
    game._engines.clear()
    return game


@pytest.mark.parametrize(("spec", "name"), PLAYERS)
def test_nothing_is_compiled_or_loaded_in_a_game_after_prepare(spec, name):
    game, clock = fresh(name), thinking_clock()
    players = [make_player(spec, game) for _ in range(game.facts.players)]
    for player in players:
        prepare(player, game)
    before = clock.kernels
    played = play_game(players, Position(game), 1)
    assert played.forfeit is None
    assert clock.kernels == before


def test_a_table_of_information_sets_that_grows_compiles_nothing(monkeypatch):
    monkeypatch.setattr(information_sets, "_FIRST_TABLE", 8)
    clock, search = thinking_clock(), Search(first_choice(fresh("kuhn_poker")), seed=1)
    search.prepare()
    before = clock.kernels
    search.run(Limit(simulations=1000))
    assert len(search._driver.scratch.work.table) > 8
    assert clock.kernels == before


def test_moves_that_are_asked_for_are_compiled_before_the_limit_begins():
    clock, search = thinking_clock(), Search(fresh("tic_tac_toe"), seed=1)
    search.prepare()
    at = []
    search.run(Limit(simulations=2000), include=[0, 4], progress=lambda now: at.append(clock.kernels))
    before = at[0]
    search.run(Limit(simulations=20), include=[0])
    assert at == [before] * len(at)
    assert clock.kernels == before
