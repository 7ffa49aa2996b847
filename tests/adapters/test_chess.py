"""Chess on python-chess: mates, draws, and boards that stay as they are."""

from __future__ import annotations

import pytest

import treetop as tt
from treetop.adapters import ChessProblem
from treetop.errors import ConfigError

chess = pytest.importorskip("chess")

MATES_IN_TWO = ["kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", "7k/8/5K2/8/8/8/8/R7 w - - 0 1", "r7/8/8/8/8/5k2/8/7K b - - 0 1"]


def run(problem, simulations, config=None, **options):
    return tt.Search(problem, config, seed=1, **options).run(tt.Limit(simulations=simulations))


def mates(board, depth):
    """Whether whoever is to move mates within so many moves, by looking at everything."""
    for move in list(board.legal_moves):
        board.push(move)
        found = board.is_checkmate() or (
            depth > 1
            and not board.is_game_over()
            and all(mates_after(board, reply, depth - 1) for reply in list(board.legal_moves))
        )
        board.pop()
        if found:
            return True
    return False


def mates_after(board, reply, depth):
    board.push(reply)
    found = mates(board, depth)
    board.pop()
    return found


@pytest.mark.parametrize("fen", MATES_IN_TWO)
def test_a_mate_in_two_is_proven(fen):
    board = chess.Board(fen)
    result = run(ChessProblem(board, rollout_moves=10), 40_000, tt.uct(solver=True))
    assert result.solved
    assert result.value == 1.0
    assert mates(board, 2)
    assert not mates(board, 1)
    board.push(result.action)
    assert board.is_checkmate() or all(mates_after(board, reply, 1) for reply in list(board.legal_moves))


def test_actions_are_moves_of_the_board():
    board = chess.Board()
    result = run(ChessProblem(board), 60)
    assert isinstance(result.action, chess.Move)
    assert result.action in board.legal_moves
    assert len(result.actions) == 20
    assert board == chess.Board()
    assert not result.failures


def test_black_is_player_one_and_takes_what_hangs():
    result = run(ChessProblem("7k/8/8/3q4/8/8/3Q4/K7 b - - 0 1", rollout_moves=0), 400)
    assert result.player == 1
    assert result.move == "d5d2"


def test_a_third_time_is_a_draw_where_draws_are_claimed():
    board = chess.Board()
    for move in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"]:
        board.push_uci(move)
    for claim, over in ((True, True), (False, False)):
        problem = ChessProblem(board, claim_draws=claim)
        after = problem.copy(problem.initial())
        problem.step(after, chess.Move.from_uci("f6g8"))
        assert problem.is_terminal(after) == over
        if over:
            assert problem.rewards(after) == (0.0, 0.0)


def test_fifty_moves_are_a_draw_where_draws_are_claimed_and_mate_comes_first():
    for fen, over in (("7k/8/8/8/8/8/R7/K7 w - - 100 80", True), ("7k/8/8/8/8/8/R7/K7 w - - 99 80", False)):
        assert ChessProblem(fen).is_terminal(chess.Board(fen)) == over
        assert not ChessProblem(fen, claim_draws=False).is_terminal(chess.Board(fen))
    mate = chess.Board("R6k/8/6K1/8/8/8/8/8 b - - 100 80")
    assert mate.is_checkmate()
    assert ChessProblem(mate).rewards(mate) == (1.0, -1.0)


def test_stalemate_and_bare_kings_are_draws():
    for fen in ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "7k/8/6K1/8/8/8/8/8 w - - 0 1"):
        problem = ChessProblem(fen)
        assert problem.is_terminal(problem.initial())
        assert problem.rewards(problem.initial()) == (0.0, 0.0)


def test_equal_positions_have_equal_keys_however_they_came_about():
    one, two = chess.Board(), chess.Board()
    for moves, board in (("g1f3 g8f6 b1c3 b8c6", one), ("b1c3 b8c6 g1f3 g8f6", two)):
        for move in moves.split():
            board.push_uci(move)
    problem = ChessProblem()
    assert problem.key(one) == problem.key(two) != problem.key(chess.Board())


def test_a_whole_game_is_played():
    """Rollouts to the end: a rook's ending with few moves left to the draw."""
    problem = ChessProblem("7k/8/8/8/8/8/R7/K7 w - - 80 80", rollout_moves=None)
    assert -1 <= run(problem, 30).value <= 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"board": "nonsense"}, "not a chess position"),
        ({"board": 5}, "or a FEN"),
        ({"rollout_moves": -1}, "rollout_moves"),
    ],
)
def test_what_is_no_chess_is_reported(options, text):
    with pytest.raises(ConfigError, match=text):
        ChessProblem(**options)
