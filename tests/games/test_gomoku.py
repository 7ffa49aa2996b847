import numpy as np
import pytest

from treetop.compiler.rng import Rng
from treetop.game.position import Position
from treetop.game.registry import load_game, position
from treetop.games.gomoku import gomoku

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def all_lines(size, length):
    for row in range(size):
        for column in range(size):
            for up, right in DIRECTIONS:
                line = [(row + step * up, column + step * right) for step in range(length)]
                if all(0 <= r < size and 0 <= c < size for r, c in line):
                    yield line


def put(state, player, cells, size):
    """Stones of one player alone: the other one passes, as it were."""
    for row, column in cells:
        state.player = player
        state.apply(size * row + column)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("size", "line"), [(15, 5), (5, 3), (6, 6), (18, 7)])
def test_every_line_wins_and_no_shorter_one(size, line, player):
    game = gomoku(size, line)
    rewards = np.zeros(2)
    for number, cells in enumerate(all_lines(size, line)):
        if size > 6 and number % 5:
            continue  # every fifth one has all directions and edges among it
        last = cells.pop(number % line)
        state = game()
        put(state, player, cells, size)
        assert not state.won
        put(state, player, [last], size)
        assert state.is_terminal()
        state.rewards(rewards)
        assert rewards[player] == 1.0
        assert rewards[1 - player] == -1.0


@pytest.mark.parametrize("name", ["gomoku(size=7, line=4)", "gomoku(size=4, line=4)"])
def test_random_games_end_exactly_when_a_line_or_a_full_board_says_so(name):
    game = load_game(name)
    size, line = game.parameters["size"], game.parameters["line"]
    rng = Rng(1)
    for _ in range(30):
        state = game()
        while not state.is_terminal():
            mover = "XO"[state.player]
            state.apply(state.random_action(rng))
            board = state.board()[::-1]
            assert state.won == any(
                all(board[row][column] == mover for row, column in cells) for cells in all_lines(size, line)
            )
            assert state.is_terminal() == (state.won or all(cell for row in board for cell in row))


def test_more_than_five_in_a_row_win_too():
    moves = "a1 a3 b1 b3 c1 c3 e1 e3 f1 f3 g1 h5 d1"
    before = position(gomoku, moves=moves.rsplit(" ", 1)[0])
    assert not before.is_terminal
    assert before.play("d1").rewards == [1.0, -1.0]


def test_a_line_does_not_go_on_at_the_other_edge():
    # m1 n1 o1 and a2 b2 follow each other in the order of the actions, but not on the board.
    assert not position(gomoku, moves="m1 h8 n1 h9 o1 h11 a2 j3 b2").is_terminal


def test_a_full_board_without_a_line_is_a_draw():
    end = position(gomoku(3, 3), moves="a1 b1 c1 b2 a2 c2 b3 a3 c3")
    assert end.is_terminal
    assert end.rewards == [0.0, 0.0]


def test_row_one_is_at_the_bottom_and_h8_is_the_centre():
    place = position(gomoku, moves="h8 a1")
    assert place.actions == (7 * 15 + 7, 0)
    assert place.board()[7][7] == "X"
    assert place.board()[14][0] == "O"
    lines = str(place).splitlines()
    assert lines[0] == "15" + " ." * 15
    assert lines[7] == " 8 . . . . . . . X . . . . . . ."
    assert lines[15] == "   a b c d e f g h i j k l m n o"


def test_a_taken_point_is_not_legal():
    assert 7 not in Position(gomoku()).apply(7).legal_actions()
