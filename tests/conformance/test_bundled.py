"""Every bundled game meets the requirements of the conformance check."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.own_games import Climb, DoubleMoves, ThreeNim
from treetop.game.registry import BUNDLED

GAMES = {
    "tic_tac_toe": 300,
    "connect_four": 200,
    "othello": 50,
    "othello(size=4)": 150,
    "amazons(size=4)": 40,
    "amazons": 5,
    "ataxx(size=5)": 20,
    "ataxx(size=8)": 4,
    "checkers": 15,
    "clobber": 30,
    "clobber(rows=4, columns=4)": 60,
    "clobber(rows=8, columns=8)": 5,
    "go(size=3)": 40,
    "go(size=5)": 20,
    "go": 2,
    "gomoku(size=7, line=4)": 60,
    "hex(size=5)": 100,
    "breakthrough(size=5)": 100,
    "nim": 300,
    "hex(size=11)": 20,
    "gomoku": 10,
    "breakthrough": 40,
    "hex(size=19)": 3,
    "nim_three": 300,
    "kuhn_poker": 300,
    "matching_pennies": 20,
    "leduc_poker": 200,
    "rock_paper_scissors": 50,
    "goofspiel": 200,
    "goofspiel(cards=13)": 50,
    "pig": 30,
    "twenty48": 5,
    "blackjack": 300,
    "cliff_walking": 20,
    "scoundrel": 60,
    "cliff_walking(slippery=True)": 20,
    "scoundrel(clairvoyant=True)": 60,
    "sailing(size=4)": 50,
    "pendulum": 20,
    "pendulum(wind=0.5)": 20,
    "backgammon": 5,
    "chess": 8,
    "chess(variant='960')": 4,
    "minishogi": 3,
    "minishogi(most_plies=20)": 10,
    "shogi": 1,
    "shogi(most_plies=20)": 3,
    "xiangqi": 3,
    "xiangqi(quiet_plies=10)": 20,
}


def test_all_bundled_games_are_checked():
    assert {tt.load_game(spec).family for spec in GAMES} == set(BUNDLED)


@pytest.mark.parametrize("spec", GAMES)
def test_a_bundled_game_passes_the_conformance_check(spec):
    report = tt.check(spec, games=GAMES[spec], seed=11)
    assert report.longest <= tt.load_game(spec).facts.max_length


@pytest.mark.parametrize("game", [ThreeNim, Climb, DoubleMoves], ids=str)
def test_games_with_other_numbers_of_players_keep_theirs(game):
    tt.check(game, games=200)
