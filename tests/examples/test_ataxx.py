"""The example game Ataxx: its rules count as many moves as others do on the usual board."""

from __future__ import annotations

from pathlib import Path

import treetop as tt

EXAMPLE = Path(__file__).parents[2] / "examples" / "games" / "ataxx.py"


def perft(position, depth):
    moves = position.legal_actions()
    return len(moves) if depth == 1 else sum(perft(position.apply(move), depth - 1) for move in moves)


def test_the_usual_board_has_the_usual_numbers_of_moves(tmp_path):
    (tmp_path / "usual.py").write_text(EXAMPLE.read_text().replace("SIZE = 5\n", "SIZE = 7\n"))
    start = tt.position(f"{tmp_path / 'usual.py'}:Ataxx")
    assert [perft(start, depth) for depth in (1, 2, 3)] == [16, 256, 6460]


def test_a_player_without_a_move_passes_and_more_pieces_win():
    game = tt.load_game(f"{EXAMPLE}:Ataxx")
    position, seed = tt.position(game), 0
    while not position.is_terminal:
        position, seed = position.apply(position.sample_action(seed)), seed + 1
    board = position.state.board
    lead = int((board == 1).sum()) - int((board == 2).sum())
    assert position.returns[0] == (lead > 0) - (lead < 0)
