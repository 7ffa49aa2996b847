import numpy as np
import pytest

from treetop.compiler.rng import Rng
from treetop.game.position import Position
from treetop.game.registry import position
from treetop.games.connect_four import connect_four

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
CELLS = {(row, column) for row in range(6) for column in range(7)}
LINES = [
    line
    for row, column in sorted(CELLS)
    for up, right in DIRECTIONS
    if CELLS.issuperset(line := [(row + step * up, column + step * right) for step in range(4)])
]


def has_four(board, disc):
    """Four in a row, looked for cell by cell. The rows of `board` stand top row first."""
    return any(all(board[5 - row][column] == disc for row, column in line) for line in LINES)


def diagram_before(line, last, own, other):
    """All of a line but its last disc, on a pile of the other player's discs."""
    rows = [["."] * 7 for _ in range(6)]
    for row, column in line:
        for below in range(row):
            rows[below][column] = other
    for row, column in line:
        rows[row][column] = own
    rows[last[0]][last[1]] = "."
    return rows


def set_up(rows, player):
    state = connect_four()
    cells = {disc: sum(1 << (8 * row + column) for row, column in CELLS if rows[row][column] == disc) for disc in "XO"}
    state.discs, state.mine, state.player = np.uint64(cells["X"] | cells["O"]), np.uint64(cells["XO"[player]]), player
    return state


def test_there_are_69_lines():
    assert len(LINES) == 69


@pytest.mark.parametrize("player", [0, 1])
def test_every_line_wins_with_whichever_disc_comes_last(player):
    own, other = "XO"[player], "OX"[player]
    rewards = np.zeros(2)
    for line in LINES:
        upright = line[0][1] == line[1][1]
        for last in line[3:] if upright else line:
            state = set_up(diagram_before(line, last, own, other), player)
            assert not state.won
            state.apply(last[1])
            assert state.board()[5 - last[0]][last[1]] == own
            assert state.is_terminal()
            state.rewards(rewards)
            assert rewards[player] == 1.0
            assert rewards[1 - player] == -1.0


def test_random_games_end_exactly_when_a_line_or_a_full_board_says_so():
    rng = Rng(1)
    for _ in range(40):
        state = connect_four()
        while not state.is_terminal():
            mover = "XO"[state.player]
            state.apply(state.random_action(rng))
            assert state.won == has_four(state.board(), mover)
            assert state.is_terminal() == (state.won or all(cell for row in state.board() for cell in row))


def test_four_discs_across_the_edge_of_the_board_do_not_win():
    rows = [["."] * 7 for _ in range(6)]
    rows[0][5] = rows[0][6] = rows[1][0] = "X"
    rows[0][0] = rows[0][1] = "O"
    state = set_up(rows, 0)
    state.apply(1)
    assert not state.is_terminal()


def test_a_full_board_without_four_is_a_draw():
    columns = "1 2 1 2 1 2 2 1 2 1 2 1 3 4 3 4 3 4 4 3 4 3 4 3 5 6 5 6 5 6 6 5 6 5 6 5 7 7 7 7 7 7"
    end = position(connect_four, moves=columns)
    assert end.is_terminal
    assert all(cell for row in end.board() for cell in row)
    assert end.rewards == [0.0, 0.0]


def test_a_full_column_takes_no_disc():
    assert position(connect_four, moves="4 4 4 4 4 4").legal_moves() == ["1", "2", "3", "5", "6", "7"]


def test_the_board_prints_with_columns_below():
    assert str(position(connect_four, moves="4 4 5")).splitlines()[-3:] == [
        ". . . O . . .",
        ". . . X X . .",
        "1 2 3 4 5 6 7",
    ]


def test_a_diagram_gives_the_position_that_the_moves_give():
    rows = ["......."] * 4 + ["...O...", "...XX.."]
    assert Position.parse(connect_four, "\n".join(rows)).record == position(connect_four, moves="4 4 5").record


def test_a_diagram_of_a_won_game_is_over():
    rows = ["......."] * 4 + ["OOO....", "XXXX..."]
    assert Position.parse(connect_four, "/".join(rows)).rewards == [1.0, -1.0]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([], "six rows of seven"),
        (["......."] * 5, "six rows of seven"),
        (["......."] * 5 + ["...Z..."], "six rows of seven"),
        (["......."] * 5 + ["...X..."] * 2, "six rows of seven"),
        (["......."] * 4 + ["...X...", "......."], "no cell below one is empty"),
        (["......."] * 5 + ["...O..."], "X moves first"),
        (["......."] * 5 + ["X..X..."], "X moves first"),
        (["......."] * 4 + ["OOO....", "XXXX..O"], "four in a row end the game"),
        (["......."] * 4 + ["OOOO...", "XXXX..."], "four in a row end the game"),
        (["......."] * 4 + ["O.O.O.O", "XXXX..."], "no cell below one is empty"),
        (["......."] * 3 + ["OOO....", "XXX.O..", "OOOO.XX"], "no cell below one is empty"),
        (["......."] * 3 + ["OOO...O", "OXO...O", "XXXX..X"], "X moves first"),
        (["......."] * 3 + ["X......", "OOXOXOO", "XXXXOOX"], "four in a row end the game"),
    ],
)
def test_an_impossible_diagram_is_refused(rows, why):
    with pytest.raises(ValueError, match=why):
        Position.parse(connect_four, "/".join(rows))


def test_two_lines_that_the_last_disc_completes_together_can_be():
    end = position(connect_four, moves="1 1 2 2 3 3 5 5 6 6 7 7 4")
    assert Position.parse(connect_four, str(end)) == end


def test_two_lines_without_a_common_last_disc_cannot_be():
    rows = ["......."] * 2 + ["XXXX...", "OOXO...", "XXXX...", "OOOXOOO"]
    with pytest.raises(ValueError, match="they include the last disc"):
        Position.parse(connect_four, "/".join(rows))
