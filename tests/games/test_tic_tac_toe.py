import itertools

import pytest

from treetop.game.position import Position
from treetop.game.registry import position
from treetop.games.tic_tac_toe import tic_tac_toe

LINES = ["a1 b1 c1", "a2 b2 c2", "a3 b3 c3", "a1 a2 a3", "b1 b2 b3", "c1 c2 c3", "a1 b2 c3", "a3 b2 c1"]
CELLS = [file + row for row in "123" for file in "abc"]


@pytest.mark.parametrize("line", LINES)
def test_each_of_the_eight_lines_wins_for_x(line):
    cells = line.split()
    first, second = [cell for cell in CELLS if cell not in cells][:2]
    end = position(tic_tac_toe, moves=[cells[0], first, cells[1], second, cells[2]])
    assert end.is_terminal
    assert end.rewards == [1.0, -1.0]
    assert end.legal_actions() == []


@pytest.mark.parametrize("line", LINES)
def test_each_of_the_eight_lines_wins_for_o(line):
    cells = line.split()
    others = [cell for cell in CELLS if cell not in cells]
    lines = [set(other.split()) for other in LINES]
    harmless = next(trio for trio in itertools.combinations(others, 3) if set(trio) not in lines)
    moves = [cell for pair in zip(harmless, cells, strict=True) for cell in pair]
    end = position(tic_tac_toe, moves=moves)
    assert end.is_terminal
    assert end.rewards == [-1.0, 1.0]


def test_a_full_board_without_a_line_is_a_draw():
    end = position(tic_tac_toe, moves="a1 b1 c1 b2 a2 c2 b3 a3 c3")
    assert end.is_terminal
    assert end.rewards == [0.0, 0.0]


def test_a_line_on_a_full_board_still_wins():
    end = position(tic_tac_toe, moves="a1 b1 c1 a2 b2 c2 b3 a3 c3")
    assert end.rewards == [1.0, -1.0]


def test_the_board_prints_with_rows_from_the_bottom_and_files_below():
    assert str(position(tic_tac_toe, moves="b2 a1")) == "3 . . .\n2 . X .\n1 O . .\n  a b c"


def test_the_board_is_given_top_row_first():
    assert position(tic_tac_toe, moves="a3 c1").board() == [["X", "", ""], ["", "", ""], ["", "", "O"]]


def test_the_side_to_move_of_a_diagram_follows_from_the_marks():
    assert Position.parse(tic_tac_toe, "X../.../...").player == 1
    assert Position.parse(tic_tac_toe, "X../.O./...").player == 0
    assert Position.parse(tic_tac_toe, ".../.../...") == Position(tic_tac_toe)


def test_a_diagram_of_a_won_game_is_over():
    end = Position.parse(tic_tac_toe, "x x x / o o . / . . .")
    assert end.is_terminal
    assert end.rewards == [1.0, -1.0]


@pytest.mark.parametrize(
    ("diagram", "why"),
    [
        ("", "three rows"),
        ("X../...", "three rows"),
        ("X../..../...", "three rows"),
        ("X?./.../...", "three rows"),
        ("O../.../...", "X moves first"),
        ("XX./.../...", "X moves first"),
        ("XXX/OO./..O", "a line ends the game"),
        ("OOO/XX./X.X", "a line ends the game"),
        ("XXX/OOO/...", "a line ends the game"),
    ],
)
def test_an_impossible_diagram_is_refused(diagram, why):
    with pytest.raises(ValueError, match=why):
        Position.parse(tic_tac_toe, diagram)
