import pytest

from treetop.compiler.rng import Rng
from treetop.game.position import Position
from treetop.game.registry import position
from treetop.games.othello import othello

DIRECTIONS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]


def turned(board, row, column, own):
    """The discs that a disc would turn, found by walking in each direction."""
    size = len(board)
    found = []
    for down, right in DIRECTIONS:
        line, at = [], (row + down, column + right)
        while 0 <= at[0] < size and 0 <= at[1] < size and board[at[0]][at[1]] not in ("", own):
            line.append(at)
            at = (at[0] + down, at[1] + right)
        if 0 <= at[0] < size and 0 <= at[1] < size and board[at[0]][at[1]] == own:
            found += line
    return found


def walked_moves(board, own):
    cells = [(row, column) for row in range(len(board)) for column in range(len(board))]
    return [
        len(board) * row + column for row, column in cells if not board[row][column] and turned(board, row, column, own)
    ]


def score(end):
    discs = [cell for row in end.board() for cell in row]
    return discs.count("X"), discs.count("O")


@pytest.mark.parametrize(("size", "games"), [(4, 30), (6, 15), (8, 8)])
def test_random_games_follow_the_rules_as_one_walks_them(size, games):
    rng = Rng(size)
    for _ in range(games):
        place = Position(othello(size))
        while not place.is_terminal:
            board, own = place.board(), "XO"[place.player]
            expected = walked_moves(board, own)
            assert place.legal_actions() == (expected or [size * size])
            action = place.state.random_action(rng)
            if action < size * size:
                row, column = divmod(action, size)
                for at in [*turned(board, row, column, own), (row, column)]:
                    board[at[0]][at[1]] = own
            place = place.apply(action)
            assert place.board() == board
        assert walked_moves(place.board(), "X") == walked_moves(place.board(), "O") == []
        x, o = score(place)
        assert place.rewards == [float((x > o) - (x < o)), float((o > x) - (o < x))]


def test_black_begins_with_four_moves():
    start = Position(othello())
    assert start.player == 0
    assert start.legal_moves() == ["d3", "c4", "f5", "e6"]
    assert str(start).splitlines()[4:6] == ["4 . . . O X . . .", "5 . . . X O . . ."]


def test_the_shortest_game_is_a_wipe_out_after_nine_moves():
    end = position(othello, moves="e6 f4 e3 f6 g5 d6 e7 f5 c5")
    assert end.is_terminal
    assert score(end) == (13, 0)
    assert end.rewards == [1.0, -1.0]


def test_who_cannot_move_must_pass_and_the_other_goes_on():
    stuck = Position.parse(othello(4), "OX.. / .XX. / .XX. / .... X")
    assert stuck.legal_moves() == ["pass"]
    assert not stuck.is_terminal
    after = stuck.play("pass")
    assert after.player == 1
    assert after.board() == stuck.board()
    assert "c1" in after.legal_moves()
    assert "pass" not in after.legal_moves()


def test_nobody_may_pass_who_can_move():
    with pytest.raises(ValueError, match="'pass' is not a legal move here"):
        Position(othello()).play("pass")


def test_the_game_is_over_when_neither_side_can_move_though_squares_are_empty():
    end = Position.parse(othello(4), "XXX. / XXX. / XXX. / ....")
    assert end.is_terminal
    assert end.legal_actions() == []
    assert end.rewards == [1.0, -1.0]


def test_the_rewards_do_not_depend_on_who_is_to_move():
    for side in "XO":
        assert Position.parse(othello(4), f"OOO. / OOO. / OOO. / .... {side}").rewards == [-1.0, 1.0]


def test_as_many_discs_are_a_draw():
    end = Position.parse(othello(4), "XXXX / XXXX / OOOO / OOOO")
    assert str(end).endswith("\n4 O O O O\ngame over, X 8, O 8")
    assert Position.parse(othello(4), str(end)).rewards == end.rewards
    assert end.is_terminal
    assert end.rewards == [0.0, 0.0]


def test_a_line_does_not_go_on_at_the_other_edge():
    # The bits of h4, a5 and b5 follow each other, the squares do not.
    rows = ["........"] * 2 + ["....O...", "...XX..X", "O..XX...", "........", "........", "........"]
    assert Position.parse(othello(), "/".join(rows) + " X").legal_moves() == ["e2", "f2"]


def test_without_a_side_the_number_of_discs_says_who_is_to_move():
    after = position(othello, moves="d3")
    rows = ["".join(cell or "." for cell in row) for row in after.board()]
    assert Position.parse(othello(), "\n".join(rows)) == after


def test_the_side_may_stand_behind_the_last_row_or_below_it():
    rows = ["....", ".OX.", ".XO.", "...."]
    for text in "/".join(rows) + " O", "\n".join([*rows, "O"]), "\n".join([*rows, "o to move"]):
        assert Position.parse(othello(4), text).player == 1


@pytest.mark.parametrize(
    ("diagram", "why"),
    [
        ("", "4 rows of 4 cells"),
        ("O", "4 rows of 4 cells"),
        ("..../.OX./.XO.", "4 rows of 4 cells"),
        (".../..OX./.XO./....", "4 rows of 4 cells"),
        ("....../.OX./.XO./..", "4 rows of 4 cells"),
        ("..../.OX./.XO./...?", "4 rows of 4 cells"),
        ("..../.OX./.XO./.... XO", "the player to move"),
        ("..../.OX./.XO./.... .", "the player to move"),
        ("XOXO/..../XOXO/....", "never empty"),
    ],
)
def test_an_impossible_diagram_is_refused(diagram, why):
    with pytest.raises(ValueError, match=why):
        Position.parse(othello(4), diagram)
