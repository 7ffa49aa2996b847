"""The numbers of move sequences that are known for these games. They see each rule that makes or ends a move."""

import pytest

from treetop.errors import ConfigError
from treetop.game.registry import load_game, position
from treetop.oracle.perft import perft, perft_plain

KNOWN = {
    "tic_tac_toe": [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872],
    "connect_four": [7, 49, 343, 2401, 16807, 117649, 823536, 5673234],
    "chess": [20, 400, 8902, 197281, 4865609],
    "othello": [4, 12, 56, 244, 1396, 8200, 55092, 390216],
    "othello(size=6)": [4, 12, 56, 244, 1364, 7604],
    "ataxx": [16, 256, 6460, 155888],
    "clobber": [49, 2116, 80063, 2630382],
    "breakthrough": [22, 484, 11132, 256036],
    "breakthrough(size=6)": [16, 256, 4308, 71478],
    "breakthrough(size=5)": [13, 156, 1924, 23084],
    "go": [82, 6643],
    "go(size=5)": [26, 651, 15650, 361041],  # a pass is a move, and two end the game
    "hex(size=3)": [9, 72, 504, 3024, 15120, 54720, 146880, 207360, 120960],
    "hex(size=11)": [121, 14520, 1727880],
    "gomoku": [225, 50400, 11239200],
    "xiangqi": [44, 1920, 79666, 3290240],
    "shogi": [30, 900, 25470, 719731],
    "minishogi": [14, 181, 2512, 35401, 533203],
}
PLAIN_DEPTHS = {
    "tic_tac_toe": 5,
    "connect_four": 4,
    "chess": 2,
    "othello": 4,
    "othello(size=6)": 4,
    "ataxx": 2,
    "clobber": 2,
    "breakthrough": 2,
    "breakthrough(size=6)": 3,
    "breakthrough(size=5)": 3,
    "go": 1,
    "go(size=5)": 2,
    "hex(size=3)": 5,
    "hex(size=11)": 1,
    "gomoku": 1,
    "xiangqi": 2,
    "shogi": 2,
    "minishogi": 3,
}


@pytest.mark.parametrize("name", KNOWN)
def test_compiled_perft_gives_the_known_numbers(name):
    assert [perft(name, depth + 1) for depth in range(len(KNOWN[name]))] == KNOWN[name]


@pytest.mark.parametrize("name", KNOWN)
def test_plain_perft_equals_compiled_perft(name):
    for depth in range(PLAIN_DEPTHS[name] + 1):
        assert perft_plain(name, depth) == perft(name, depth)


def test_all_255168_games_of_tic_tac_toe_are_found_when_early_ends_count():
    assert perft("tic_tac_toe", 9, count_early_ends=True) == 255_168


def test_three_in_a_row_on_a_board_of_nine_is_tic_tac_toe():
    assert [perft("gomoku(size=3, line=3)", depth) for depth in range(1, 10)] == KNOWN["tic_tac_toe"]


def test_both_versions_count_early_ends_alike():
    start = position("othello(size=6)", setup="XXXXX. / XXXXXO / XXXXXX / XXXXXX / OXXXXX / .XXXO. O")
    for depth in range(6):
        assert perft(start, depth, count_early_ends=True) == perft_plain(start, depth, count_early_ends=True)
    assert perft(start, 5) < perft(start, 5, count_early_ends=True)


def test_perft_from_a_position_continues_from_there():
    assert sum(perft(position("tic_tac_toe", moves=[first]), 8) for first in range(9)) == perft("tic_tac_toe", 9)


def test_perft_takes_a_game_as_well_as_its_name():
    assert perft(load_game("nim(stones=4)"), 2) == perft("nim(stones=4)", 2) == 6


def test_perft_of_a_finished_game_is_zero():
    finished = position("tic_tac_toe", moves="a1 a2 b1 b2 c1")
    assert [perft(finished, depth) for depth in range(3)] == [1, 0, 0]
    assert [perft_plain(finished, depth) for depth in range(3)] == [1, 0, 0]


@pytest.mark.parametrize("depth", [-1, 1.5, "2", True])
def test_a_depth_that_is_no_whole_number_is_refused(depth):
    with pytest.raises(ConfigError, match="depth"):
        perft("tic_tac_toe", depth)


@pytest.mark.parametrize(
    ("name", "why"), [("kuhn_poker", "chance moves"), ("matching_pennies", "players move simultaneously")]
)
def test_games_without_moves_of_one_player_at_a_time_are_refused(name, why):
    with pytest.raises(ConfigError, match=why):
        perft(name, 2)
