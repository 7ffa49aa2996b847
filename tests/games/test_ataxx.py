import pytest

import treetop as tt
from treetop.errors import ConfigError, IllegalMoveError
from treetop.game.position import Position
from treetop.games.ataxx import ataxx

NEIGHBOURS = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if row or column]


def named(text):
    return int(text[1]) - 1, "abcdefgh".index(text[0])


def played(board, player, move):
    """The board after a move, by walking over the squares; rows from the bottom."""
    own = "XO"[player]
    after = [list(row) for row in board]
    row, column = named(move[-2:])
    if len(move) == 4:
        source = named(move[:2])
        assert max(abs(source[0] - row), abs(source[1] - column)) == 2
        assert board[source[0]][source[1]] == own
        after[source[0]][source[1]] = ""
    assert board[row][column] == ""
    after[row][column] = own
    for down, right in NEIGHBOURS:
        if 0 <= row + down < len(board) and 0 <= column + right < len(board) and after[row + down][column + right]:
            after[row + down][column + right] = own
    return after


@pytest.mark.parametrize("size", [5, 7, 8])
def test_random_games_follow_the_rules_as_one_walks_them(size):
    for seed in range(3):
        position, rng = Position(ataxx(size)), tt.Rng(seed)
        while not position.is_terminal:
            board, action = position.board()[::-1], position.state.random_action(rng)
            move, player = position.move_text(action), position.player
            if move == "pass":
                assert position.legal_moves() == ["pass"]
            position = position.apply(action)
            assert position.board()[::-1] == (board if move == "pass" else played(board, player, move))
        pieces = [cell for row in position.board() for cell in row]
        lead = pieces.count("X") - pieces.count("O")
        assert position.rewards == [float((lead > 0) - (lead < 0)), float((lead < 0) - (lead > 0))]


def test_who_cannot_move_must_pass_and_the_other_goes_on():
    shut = Position.parse(ataxx(5), "XOO.. / OOO.. / OOO.. / OOO.. / OOO.. X")
    assert shut.legal_moves() == ["pass"]
    assert not shut.is_terminal
    assert "pass" not in shut.play("pass").legal_moves()


def test_the_game_ends_when_a_player_has_no_piece_left():
    end = Position.parse(ataxx(5), "X.... / ..... / ..O.. / ..... / ..... O").play("b4")
    assert end.is_terminal
    assert end.rewards == [-1.0, 1.0]


def test_the_game_ends_when_the_board_is_full():
    end = Position.parse(ataxx(5), "XXXXX / XXXXX / OOOOO / OOOOO / OOOO. O").play("e1")
    assert end.is_terminal
    assert end.rewards == [-1.0, 1.0]


def test_a_game_without_another_end_is_over_after_its_longest_length():
    position, moves = Position(ataxx(5)), 0
    there_and_back = ["a5a3", "e5e3", "a3a5", "e3e5"]
    while not position.is_terminal:
        position = position.play(there_and_back[moves % 4])
        moves += 1
    assert moves == 100
    assert position.rewards == [0.0, 0.0]


def test_a_leap_goes_two_squares_and_a_step_is_named_by_its_target():
    position = Position.parse(ataxx(5), "X.... / ..... / ..O.. / ..... / ..... O")
    for text in ("c3b4", "c3c3", "c3a", "c3f5"):
        with pytest.raises(IllegalMoveError, match="is not a legal move here"):
            position.play(text)
    assert position.play("c3a4").board()[0][0] == "O"


def test_a_diagram_needs_its_rows():
    with pytest.raises(ConfigError, match="5 rows of 5 cells"):
        Position.parse(ataxx(5), "X...")
    start = Position(ataxx(5))
    assert Position.parse(ataxx(5), str(start)) == start
