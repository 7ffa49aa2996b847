import pytest

import treetop as tt
from treetop.errors import ConfigError
from treetop.game.position import Position
from treetop.games.amazons import amazons

LINES = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if row or column]


def reached(board, row, column):
    """The squares to which an amazon moves or shoots, by walking; rows from the bottom."""
    found, size = set(), len(board)
    for down, right in LINES:
        at = (row + down, column + right)
        while 0 <= at[0] < size and 0 <= at[1] < size and board[at[0]][at[1]] == "":
            found.add(at)
            at = (at[0] + down, at[1] + right)
    return found


def name(square):
    return f"{'abcdefghij'[square[1]]}{square[0] + 1}"


def test_turns_on_the_usual_board_are_counted_as_in_the_literature():
    assert [tt.perft("amazons(size=10)", 2 * turns) for turns in (1, 2)] == [2_176, 4_307_152]


@pytest.mark.parametrize(("size", "games"), [(4, 6), (6, 3), (10, 1)])
def test_random_games_follow_the_rules_as_one_walks_them(size, games):
    for seed in range(games):
        position, rng = Position(amazons(size)), tt.Rng(seed)
        while not position.is_terminal:
            board, own = position.board()[::-1], "XO"[position.player]
            squares = [(row, column) for row in range(size) for column in range(size)]
            queens = [square for square in squares if board[square[0]][square[1]] == own]
            moves = {f"{name(queen)}-{name(to)}" for queen in queens for to in reached(board, *queen)}
            assert set(position.legal_moves()) == moves
            position = position.apply(position.state.random_action(rng))
            source, target = (
                (int(part[1:]) - 1, "abcdefghij".index(part[0])) for part in position.moves()[-1].split("-")
            )
            board[source[0]][source[1]], board[target[0]][target[1]] = "", own
            assert position.board()[::-1] == board
            assert set(position.legal_moves()) == {name(to) for to in reached(board, *target)}
            position = position.apply(position.state.random_action(rng))
            row, column = int(position.moves()[-1][1:]) - 1, "abcdefghij".index(position.moves()[-1][0])
            board[row][column] = "■"
            assert position.board()[::-1] == board
        assert position.rewards[position.player] == -1.0


def test_the_same_player_moves_and_then_shoots():
    position = Position(amazons(6))
    players = []
    for move in ("a2-a4", "c2", "a5-b4", "a5"):
        players.append(position.player)
        position = position.play(move)
    assert players == [0, 0, 1, 1]


def test_an_arrow_may_fly_to_the_square_that_the_amazon_left():
    assert "a2" in Position(amazons(6)).play("a2-a3").legal_moves()


def test_who_cannot_move_loses():
    end = Position.parse(amazons(4), "XXXX / #### / OOOO / .... X")
    assert end.is_terminal
    assert end.rewards == [-1.0, 1.0]
    assert str(end).endswith("game over, X cannot move")


def test_a_diagram_needs_four_amazons_of_each_player():
    start = Position(amazons(6))
    assert Position.parse(amazons(6), str(start)) == start
    with pytest.raises(ConfigError, match="four amazons of X and four of O"):
        Position.parse(amazons(4), "X... / .... / .... / ...O")
