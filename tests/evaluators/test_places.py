"""Policy planes: where the actions of a game lie on its board."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt
from treetop.errors import ConfigError, SaveError
from treetop.evaluators.networks.architecture import Architecture
from treetop.evaluators.networks.places import planes_of, policy_places

GAMES = {"chess": 73, "xiangqi": 50, "shogi": 27, "minishogi": 21}


@pytest.mark.parametrize("game", GAMES)
def test_the_great_games_have_policy_planes(game):
    known = tt.load_game(game)
    places = policy_places(known)
    assert len(np.unique(places)) == known.facts.num_actions
    assert planes_of(known) == GAMES[game]
    assert Architecture.of(known).planes == GAMES[game]
    assert Architecture.of(known, "medium").parameters < 500_000


@pytest.mark.parametrize("game", ["chess", "xiangqi"])
def test_the_place_of_a_move_is_the_square_where_it_begins(game):
    position = tt.position(game)
    places, (_, rows, columns) = policy_places(position.game), position.game.facts.observation_shape
    for _ in range(2):  # the board is turned for the second player
        turned = position.player == 1
        for action in position.legal_actions():
            row, column = divmod(int(places[action]) % (rows * columns), columns)
            if turned:
                row, column = rows - 1 - row, column if game == "chess" else columns - 1 - column
            assert position.move_text(action).startswith("abcdefghi"[column] + str(row + 1))
        position = position.apply(position.legal_actions()[0])


def test_moves_of_one_kind_share_a_plane():
    position = tt.position("xiangqi")
    places = policy_places(position.game)
    planes = {move: int(places[position.parse_move(move)]) // 90 for move in ("a4a5", "c4c5", "i4i5", "h3e3", "b3b4")}
    assert planes["a4a5"] == planes["c4c5"] == planes["i4i5"] == planes["b3b4"] != planes["h3e3"]


def board(**constants):
    class Board:
        cells = tt.field("i1", 9)
        player = tt.field("i1")

        def reset(self):
            self.player = 0

        def legal_actions(self, out):
            out[0] = 0
            return 1

        def apply(self, action):
            self.player = 1 - self.player

        def is_terminal(self):
            return self.player == 1

        def rewards(self, out):
            out[0] = 1.0
            out[1] = -1.0

        def observe(self, player, out):
            out[0, 0, 0] = 1.0

    for name, value in constants.items():
        setattr(Board, name, value)
    return tt.game(players=2, num_actions=12, max_length=2, observation_shape=(1, 3, 3))(Board)


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (np.arange(11), "an array of 12 whole numbers"),
        (np.arange(12.0), "an array of 12 whole numbers"),
        (np.arange(12) - 1, "different numbers from 0"),
        (np.zeros(12, int), "different numbers from 0"),
    ],
)
def test_wrong_places_are_an_error(places, message):
    with pytest.raises(ConfigError, match=message):
        policy_places(board(policy_places=places))


def test_a_game_of_a_user_has_planes():
    assert planes_of(board(policy_places=np.arange(12))) == 2
    assert planes_of(board()) == 0


@pytest.mark.parametrize("planes", [-1, 1, 2**20, "2", None])
def test_a_file_with_impossible_planes_is_refused(planes):
    good = Architecture.of(tt.load_game("minishogi")).to_dict()
    with pytest.raises(SaveError, match="planes"):
        Architecture.from_dict({**good, "planes": planes})
