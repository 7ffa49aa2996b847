import numpy as np
import pytest

from treetop.compiler.rng import Rng
from treetop.game.position import Position
from treetop.game.registry import position
from treetop.games.hex import hex as hex_family

NEIGHBOURS = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))


def connected(board, stone):
    """Whether a walk over neighbouring stones leads from one edge to the other: X down, O to the right."""
    size = len(board)
    near, far = (0, 0) if stone == "X" else (1, 1)
    todo = [
        (row, column)
        for row in range(size)
        for column in range(size)
        if (row, column)[near] == 0 and board[row][column] == stone
    ]
    seen = set(todo)
    while todo:
        at = todo.pop()
        if at[far] == size - 1:
            return True
        for down, right in NEIGHBOURS:
            row, column = at[0] + down, at[1] + right
            if 0 <= row < size and 0 <= column < size and board[row][column] == stone and (row, column) not in seen:
                seen.add((row, column))
                todo.append((row, column))
    return False


@pytest.mark.parametrize(("size", "games"), [(2, 30), (3, 50), (5, 30), (8, 10), (11, 6), (14, 3), (15, 3), (19, 1)])
def test_random_games_end_exactly_when_a_walk_connects_the_edges(size, games):
    rng = Rng(size)
    rewards = np.zeros(2)
    for _ in range(games):
        state = hex_family(size)()
        while not state.is_terminal():
            mover = state.player
            state.apply(state.random_action(rng))
            assert state.is_terminal() == connected(state.board(), "XO"[mover])
            assert not connected(state.board(), "XO"[1 - mover])
        state.rewards(rewards)
        assert rewards[mover] == 1.0
        assert rewards[1 - mover] == -1.0


def test_x_wins_from_top_to_bottom():
    assert position(hex_family(3), moves="b1 a1 b2 a2 b3").rewards == [1.0, -1.0]


def test_o_wins_from_left_to_right():
    assert position(hex_family(3), moves="a1 a2 b1 b2 a3 c2").rewards == [-1.0, 1.0]


def test_x_does_not_win_from_left_to_right_nor_o_from_top_to_bottom():
    assert not position(hex_family(3), moves="a2 a1 b2 b1 c2").is_terminal
    assert not position(hex_family(4), moves="a1 b1 a2 b2 c3 b3 d4 b4").is_terminal


def test_the_cell_below_and_one_to_the_left_is_a_neighbour_and_to_the_right_is_not():
    assert position(hex_family(2), moves="b1 b2 a2").is_terminal
    assert not position(hex_family(2), moves="a1 a2 b2").is_terminal


def test_the_stone_that_joins_two_chains_wins():
    before = position(hex_family(5), moves="c1 a1 c2 a2 c4 a3 c5 a4")
    assert not before.is_terminal
    assert before.play("c3").rewards == [1.0, -1.0]


def test_a_long_chain_is_linked_to_the_edge_that_its_end_reaches():
    # A chain that grows from the middle, touches the bottom, and only then the top.
    moves = "b2 a1 b3 a2 b4 a3 b5 a4"
    assert position(hex_family(5), moves=moves + " b1").rewards == [1.0, -1.0]


def test_the_order_of_the_moves_leaves_no_trace():
    one = position(hex_family(5), moves="b2 a1 b3 a2 b5 e5 b4")
    other = position(hex_family(5), moves="b5 e5 b4 a2 b3 a1 b2")
    assert one.record == other.record


def test_there_is_never_a_draw():
    rng = Rng(7)
    for _ in range(50):
        state = hex_family(4)()
        while not state.is_terminal():
            assert state.left > 0
            state.apply(state.random_action(rng))


def test_the_board_prints_slanted():
    assert str(position(hex_family(3), moves="b1 c3")) == "   a b c\n 1 . X .\n  2 . . .\n   3 . . O"


def test_the_columns_have_letters_and_the_rows_numbers():
    place = Position(hex_family())
    assert place.move_text(0) == "a1"
    assert place.parse_move("c4") == 3 * 11 + 2
    assert place.move_text(120) == "k11"
