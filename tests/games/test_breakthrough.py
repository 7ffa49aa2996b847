import numpy as np
import pytest

from treetop.compiler.rng import Rng
from treetop.game.position import Position
from treetop.game.registry import position
from treetop.games.breakthrough import breakthrough


def walked_moves(board, player):
    """The moves by looking at each square; the rows of `board` are given bottom row first."""
    size, own = len(board), "XO"[player]
    forward = 1 if player == 0 else -1
    found = []
    for row in range(size):
        for file in range(size):
            for side in (-1, 0, 1):
                to = row + forward, file + side
                if board[row][file] != own or not 0 <= to[0] < size or not 0 <= to[1] < size:
                    continue
                there = board[to[0]][to[1]]
                if there == "" or (side and there != own):
                    found.append((3 * (size * row + file) + side + 1, (row, file), to))
    return found


def set_up(size, mine, theirs, player):
    state = breakthrough(size)()
    bits = [sum(1 << (size * row + file) for row, file in pieces) for pieces in (mine, theirs)]
    state.mine, state.theirs, state.player = np.uint64(bits[0]), np.uint64(bits[1]), player
    return Position(breakthrough(size), state._states)


@pytest.mark.parametrize("size", [4, 5, 7, 8])
def test_random_games_follow_the_rules_as_one_walks_them(size):
    rng = Rng(size)
    for _ in range(8):
        place = Position(breakthrough(size))
        while not place.is_terminal:
            board, own = place.board()[::-1], "XO"[place.player]
            moves = {action: (start, to) for action, start, to in walked_moves(board, place.player)}
            assert place.legal_actions() == sorted(moves)
            action = place.state.random_action(rng)
            start, to = moves[action]
            board[start[0]][start[1]], board[to[0]][to[1]] = "", own
            place = place.apply(action)
            assert place.board()[::-1] == board
            pieces = [cell for row in board for cell in row]
            assert place.is_terminal == (to[0] in (0, size - 1) or "X" not in pieces or "O" not in pieces)
        assert place.rewards == ([1.0, -1.0] if own == "X" else [-1.0, 1.0])


def test_both_players_start_with_two_full_rows():
    assert (
        str(Position(breakthrough(5)))
        == "5 O O O O O\n4 O O O O O\n3 . . . . .\n2 X X X X X\n1 X X X X X\n  a b c d e\nX to move"
    )


def test_x_wins_by_reaching_the_top_row():
    assert set_up(5, [(3, 2)], [(4, 4), (2, 0)], 0).play("c4c5").rewards == [1.0, -1.0]


def test_o_wins_by_reaching_the_bottom_row():
    assert set_up(5, [(1, 2)], [(4, 4), (2, 0)], 1).play("c2b1").rewards == [-1.0, 1.0]


@pytest.mark.parametrize("player", [0, 1])
def test_capturing_the_last_piece_wins(player):
    mine, theirs = ((1, 1), (2, 2)) if player == 0 else ((2, 2), (1, 1))
    end = set_up(5, [mine], [theirs], player).play("b2c3" if player == 0 else "c3b2")
    assert end.is_terminal
    assert end.rewards[player] == 1.0


def test_capturing_a_piece_that_is_not_the_last_goes_on():
    after = set_up(5, [(1, 1)], [(2, 2), (4, 4)], 0).play("b2c3")
    assert not after.is_terminal
    assert sum(cell == "O" for row in after.board() for cell in row) == 1


def test_nobody_captures_straight_ahead():
    assert set_up(5, [(1, 2)], [(2, 2), (4, 4)], 0).legal_moves() == ["c2b3", "c2d3"]


def test_own_pieces_are_in_the_way():
    assert set_up(5, [(1, 2), (2, 1), (2, 2), (2, 3)], [(4, 4)], 0).legal_moves()[0] == "b3a4"


def test_a_move_does_not_go_round_the_edge():
    assert set_up(5, [(1, 0)], [(4, 4)], 0).legal_moves() == ["a2a3", "a2b3"]
    assert set_up(5, [(1, 4)], [(4, 4)], 0).legal_moves() == ["e2d3", "e2e3"]
    assert set_up(5, [(3, 0)], [(0, 4)], 1).legal_moves() == ["a4a3", "a4b3"]
    assert set_up(5, [(3, 4)], [(0, 4)], 1).legal_moves() == ["e4d3", "e4e3"]


def test_a_capture_may_be_written_with_an_x():
    assert set_up(5, [(1, 1)], [(2, 2), (4, 4)], 0).play("b2xc3").moves() != []


def test_a_step_back_is_no_move():
    with pytest.raises(ValueError, match="'a2a1' is not a legal move here"):
        position(breakthrough, moves="a2a1")
