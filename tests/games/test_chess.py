"""The rules of chess: known numbers of move sequences, python-chess beside it, and each rule by example."""

from __future__ import annotations

import re

import numpy as np
import pytest

import treetop as tt
from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import local_rng, rng_word, state_at
from treetop.errors import ConfigError, IllegalMoveError
from treetop.games.chess import fen
from treetop.games.chess_moves import back_rank
from treetop.games.chess_tables import DELTAS
from treetop.oracle.perft import perft, perft_plain

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
KNOWN = {
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": [48, 2039, 97862, 4085603],
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": [14, 191, 2812, 43238],
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1": [6, 264, 9467, 422333],
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": [44, 1486, 62379, 2103487],
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": [46, 2079, 89890, 3894594],
}
"""Positions that reach every rule early, and the numbers of their move sequences."""
JUMPS = [(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1)]
DIRECTIONS = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]


def at(text, moves="", variant="standard"):
    return tt.position(f"chess(variant={variant!r})", setup=text, moves=moves)


# Known numbers.


def test_the_start_position_has_the_known_numbers_of_move_sequences():
    assert [perft("chess", depth) for depth in range(1, 6)] == [20, 400, 8902, 197281, 4865609]


@pytest.mark.parametrize("text", KNOWN)
def test_positions_have_the_known_numbers_of_move_sequences(text):
    assert [perft(at(text), depth) for depth in range(1, 5)] == KNOWN[text]
    assert [perft(at(text, variant="960"), depth) for depth in range(1, 5)] == KNOWN[text]
    assert [perft_plain(at(text), depth) for depth in range(1, 3)] == KNOWN[text][:2]


# Beside python-chess.


@compiled
def step(game, states, action, out, rewards, words, found):
    """Apply an action, and note the end, the legal actions, and a move by each of the two policies."""
    state = state_at(game, states, 0)
    if action >= 0:
        state.apply(action)
    rng = local_rng(words[0])
    found[0] = state.is_terminal()
    if found[0]:
        rewards[:] = 0.0
        state.rewards(rewards)
    else:
        found[1] = state.legal_actions(out)
        found[2] = state.random_action(rng)
        found[3] = state.rollout_action(rng)
    words[0] = rng_word(rng)


def action_of(chess, board, move):
    """The action of a move of python-chess, as the game documents its actions."""
    start, end = move.from_square, move.to_square
    if board.is_castling(move) and not board.chess960:
        end = (end & 56) + (7 if end > start else 0)
    if board.turn == chess.BLACK:
        start, end = start ^ 56, end ^ 56
    ranks, files = end // 8 - start // 8, end % 8 - start % 8
    if move.promotion not in (None, chess.QUEEN):
        plane = 64 + 3 * [chess.KNIGHT, chess.BISHOP, chess.ROOK].index(move.promotion) + files + 1
    elif (ranks, files) in JUMPS:
        plane = 56 + JUMPS.index((ranks, files))
    else:
        far = max(abs(ranks), abs(files))
        plane = 7 * DIRECTIONS.index((ranks // far, files // far)) + far - 1
    return 64 * plane + start


def reason(board):
    """Why a game is over for python-chess, or nothing."""
    if not any(board.legal_moves):
        return "checkmate" if board.is_check() else "stalemate"
    ends = {
        "material": board.is_insufficient_material(),
        "repetition": board.is_repetition(3),
        "fifty": board.halfmove_clock >= 100,
    }
    return next((name for name, over in ends.items() if over), "")


def play_beside(chess, board, game, rng, *, lively, undo):
    """Play a random game and compare everything at every move; return why it ended, and the number of moves.

    `lively` is the share of moves by `rollout_action`, `undo` that of moves that take the last one back if they can.
    """
    run = game.engine(bounds_checked=True).entry(step)
    state = game.view(tt.Position.parse(game, board.fen()).record.copy())
    out, rewards = np.zeros(game.facts.num_actions, np.int32), np.zeros(2)
    words, found = np.array([rng.word], np.uint64), np.zeros(4, np.int64)
    action, moves = -1, 0
    while True:
        run(state._states, action, out, rewards, words, found)
        assert state.render().splitlines()[-1] == board.fen()
        why = reason(board)
        assert bool(found[0]) == bool(why), board.fen()
        if why:
            lost = (-1.0, 1.0) if board.turn == chess.WHITE else (1.0, -1.0)
            assert tuple(rewards) == (lost if why == "checkmate" else (0.0, 0.0)), board.fen()
            return why, moves
        legal = {action_of(chess, board, move): move for move in board.legal_moves}
        assert sorted(out[: found[1]].tolist()) == sorted(legal), board.fen()
        assert {int(found[2]), int(found[3])} <= set(legal), board.fen()
        action = int(found[3 if rng.random() < lively else 2])
        if len(board.move_stack) > 1 and rng.random() < undo:
            last = board.move_stack[-2]
            back = chess.Move(last.to_square, last.from_square)
            action = next((one for one, move in legal.items() if move == back), action)
        board.push(legal[action])
        moves += 1


@pytest.mark.parametrize(
    ("variant", "games", "lively", "undo", "ends"),
    [
        ("standard", 12, 0.0, 0.0, {"material", "fifty", "checkmate"}),
        ("standard", 12, 0.5, 0.0, {"material", "checkmate"}),
        ("standard", 6, 0.3, 0.4, {"repetition"}),
        ("960", 10, 0.3, 0.0, {"checkmate"}),
        ("960", 4, 0.3, 0.4, {"repetition"}),
    ],
)
def test_legal_moves_results_and_fens_of_random_games_are_those_of_python_chess(variant, games, lively, undo, ends):
    chess = pytest.importorskip("chess")
    game = tt.load_game(f"chess(variant={variant!r})")
    found = set()
    for seed in range(games):
        rng = tt.Rng(seed)
        board = chess.Board.from_chess960_pos(rng.below(960)) if variant == "960" else chess.Board()
        found.add(play_beside(chess, board, game, rng, lively=lively, undo=undo)[0])
    assert ends <= found


def test_names_of_moves_are_those_of_python_chess_in_both_notations():
    chess = pytest.importorskip("chess")
    for variant, seeds in (("standard", range(3)), ("960", range(3, 6))):
        game = tt.load_game(f"chess(variant={variant!r})")
        for seed in seeds:
            rng = tt.Rng(seed)
            board = chess.Board.from_chess960_pos(rng.below(960)) if variant == "960" else chess.Board()
            place = tt.Position.parse(game, board.fen())
            while not place.is_terminal and len(place.actions) < 60:
                for move in list(board.legal_moves)[:: 1 + len(place.actions) % 7]:
                    action = action_of(chess, board, move)
                    assert place.move_text(action) == board.uci(move)
                    assert place.parse_move(board.uci(move)) == action
                    assert place.parse_move(board.san(move)) == action
                action = place.state.rollout_action(rng)
                board.push(next(move for move in board.legal_moves if action_of(chess, board, move) == action))
                place = place.apply(action)


def test_the_start_positions_of_chess960_have_their_official_numbers():
    chess = pytest.importorskip("chess")
    letters = [*" nbrqk"]
    for number in range(960):
        rank = "".join(letters[back_rank(number) >> 4 * file & 15] for file in range(8))
        assert chess.Board.from_chess960_pos(number).fen().startswith(f"{rank}/pppppppp/")


def test_chess960_deals_a_start_position_by_a_seed():
    starts = [tt.position("chess(variant='960')", seed=seed) for seed in range(40)]
    assert len({fen(start) for start in starts}) > 30
    for start in starts:
        rank = fen(start)[:8]
        assert rank.index("r") < rank.index("k") < rank.rindex("r")
        assert rank.index("b") % 2 != rank.rindex("b") % 2
        assert fen(start) == f"{rank}/pppppppp/8/8/8/8/PPPPPPPP/{rank.upper()} w KQkq - 0 1"
    assert fen(tt.position("chess(variant='960')")) == START


# Actions.


@compiled
def draw(game, states, seed, draws, tally):
    state, rng = state_at(game, states, 0), local_rng(seed)
    for _ in range(draws):
        tally[state.random_action(rng)] += 1


@pytest.mark.parametrize(
    "text",
    [
        *KNOWN,
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N w - - 0 1",
        "4k3/8/8/1PpP4/8/8/8/4K3 w - c6 0 2",
        "4k3/8/8/4r3/8/8/3BN3/R3K2R w KQ - 0 1",
    ],
)
def test_random_action_gives_each_legal_action_equally_often_and_no_other(text):
    place, draws = at(text), 100_000
    tally = np.zeros(place.game.facts.num_actions, np.int64)
    place.game.engine(bounds_checked=True).entry(draw)(place.record.copy(), np.uint64(7), draws, tally)
    legal = sorted(place.legal_actions())
    assert np.flatnonzero(tally).tolist() == legal
    expected = draws / len(legal)
    squares = sum((tally[action] - expected) ** 2 / expected for action in legal)
    assert squares < len(legal) + 6 * np.sqrt(2 * len(legal)) + 6  # a chi-square that far out happens once in a million


def test_an_action_is_a_plane_and_a_square_seen_by_the_player_to_move():
    assert tt.load_game("chess").facts.num_actions == 64 * 73
    assert [DELTAS[plane] for plane in (0, 7, 14, 21, 28, 35, 42, 49)] == [8, 9, 1, -7, -8, -9, -1, 7]
    for moves in ("", "e4"):
        start = tt.position("chess", moves=moves)
        moved, jumped = ("e4", "Nf3") if not moves else ("e5", "Nf6")
        assert start.parse_move(moved) == 64 * 1 + 12
        assert start.parse_move(jumped) == 64 * 63 + 6
    top = at("3n4/4P2k/8/8/8/8/8/4K3 w - - 0 1")
    assert [top.parse_move(move) for move in ("e8=Q", "exd8=Q", "e8=N", "exd8=R")] == [
        52, 64 * 49 + 52, 64 * 65 + 52, 64 * 70 + 52,
    ]  # fmt: skip


# Castling.


def test_castling_moves_king_and_rook():
    text = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    assert fen(at(text, "e1g1")) == "r3k2r/8/8/8/8/8/8/R4RK1 b kq - 1 1"
    assert fen(at(text, "O-O-O O-O")) == "r4rk1/8/8/8/8/8/8/2KR3R w - - 2 2"
    assert fen(at(text, "e1h1 0-0-0")) == "2kr3r/8/8/8/8/8/8/R4RK1 w - - 2 2"


@pytest.mark.parametrize(
    ("text", "can"),
    [
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", {"e1g1", "e1c1"}),
        ("4k3/8/8/8/8/8/8/R3K2R w K - 0 1", {"e1g1"}),
        ("4k3/8/8/8/4r3/8/8/R3K2R w KQ - 0 1", set()),  # in check
        ("4k3/8/8/8/5r2/8/8/R3K2R w KQ - 0 1", {"e1c1"}),  # through an attacked square
        ("4k3/8/8/8/6r1/8/8/R3K2R w KQ - 0 1", {"e1c1"}),  # into check
        ("4k3/8/8/8/1r5r/8/8/R3K2R w KQ - 0 1", {"e1g1", "e1c1"}),  # only rooks and b1 are attacked
        ("4k3/8/8/8/8/8/8/RN2K1NR w KQ - 0 1", set()),
        ("4k3/8/8/8/8/8/3p4/R3K2R w KQ - 0 1", set()),  # a pawn gives check
        ("4k3/8/8/8/8/8/1p6/R3K2R w KQ - 0 1", {"e1g1"}),  # and attacks c1
        ("4k3/8/8/8/8/8/7p/R3K2R w KQ - 0 1", {"e1c1"}),
    ],
)
def test_a_king_castles_neither_out_of_nor_through_nor_into_check_nor_past_pieces(text, can):
    assert {"e1g1", "e1c1"} & set(at(text).legal_moves()) == can


def test_the_right_to_castle_is_lost_by_moves_of_the_king_and_the_rook_and_by_the_loss_of_the_rook():
    text = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    assert fen(at(text, "Ke2 Ke7 Ke1 Ke8")).split()[2] == "-"
    assert fen(at(text, "Ra2 Rh7 Ra1 Rh8")).split()[2] == "Kq"
    assert fen(at(text, "Rxa8+")).split()[2] == "Kk"
    assert fen(at(text, "Rxh8+ Kd7 Rh1")).split()[2] == "Q"


def test_in_chess960_the_king_castles_by_taking_its_rook():
    place = at("1r2k1r1/1p4p1/8/8/8/8/1P4P1/1R2K1R1 w KQkq - 0 1", variant="960")
    assert {"e1g1", "e1b1"} <= set(place.legal_moves())
    assert fen(place.play("e1g1")) == "1r2k1r1/1p4p1/8/8/8/8/1P4P1/1R3RK1 b kq - 1 1"
    assert fen(place.play("O-O-O O-O")) == "1r3rk1/1p4p1/8/8/8/8/1P4P1/2KR2R1 w - - 2 2"
    still = at("6k1/8/8/8/8/8/8/5RKR w K - 0 1", variant="960")
    assert fen(still) == "6k1/8/8/8/8/8/8/5RKR w K - 0 1"
    assert "g1h1" not in still.legal_moves()  # the other rook stands on f1


def test_in_chess960_a_rook_that_shields_the_king_cannot_castle():
    # On b1 the rook stands between the queen on a1 and the squares c1 and d1.
    text = "4k3/8/8/8/8/8/8/qR1K4 w Q - 0 1"
    assert "d1b1" not in at(text, variant="960").legal_moves()
    assert "d1b1" in at(text.replace("qR", "1R"), variant="960").legal_moves()


def test_in_chess960_castling_may_be_the_only_move():
    place = at("8/8/8/8/8/7k/r4P1P/6KR w K - 0 1", variant="960")
    assert "g1h1" in place.legal_moves()
    assert fen(place.play("g1h1")) == "8/8/8/8/8/7k/r4P1P/5RK1 b - - 1 1"


def test_rooks_that_may_castle_are_named_by_their_files_if_others_stand_further_out():
    text = "4k3/8/8/8/8/8/8/RR2K1RR w GB - 0 1"
    place = at(text, variant="960")
    assert fen(place) == text
    assert fen(at("4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1", variant="960")).split()[2] == "KQ"
    assert {"e1g1", "e1b1"} <= set(place.legal_moves())
    assert not {"e1h1", "e1a1"} & set(place.legal_moves())


# Pawns.


def test_a_pawn_that_moves_two_squares_can_be_captured_at_once_only():
    place = at("4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d5")
    assert fen(place) == "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"
    assert fen(place.play("exd6")) == "4k3/8/3P4/8/8/8/8/4K3 b - - 0 2"
    assert "e5d6" not in place.play("Ke2 Ke7").legal_moves()


@pytest.mark.parametrize(
    "text",
    [
        "8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 2",  # both pawns leave the rank at once
        "4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 2",  # along the file
    ],
)
def test_a_pinned_pawn_cannot_capture_en_passant(text):
    place = at(text)
    assert "e5d6" not in place.legal_moves()
    assert fen(place).split()[3] == "-"  # the square is part of the position only if the capture is legal
    assert place.state.key() == at(text.replace("d6", "-")).state.key()


def test_a_capture_en_passant_answers_the_check_of_the_pawn():
    place = at("8/8/8/3pP3/2K5/8/8/6k1 w - d6 0 2")
    assert "e5d6" in place.legal_moves()
    assert place.state.key() != at("8/8/8/3pP3/2K5/8/8/6k1 w - - 0 2").state.key()


def test_a_pawn_pinned_on_the_diagonal_captures_en_passant_along_it():
    assert "e5d6" in at("1k6/2b5/8/3pP3/5K2/8/8/8 w - d6 0 2").legal_moves()
    assert "e5d6" not in at("7k/6b1/8/3pP3/3K4/8/8/8 w - d6 0 2").legal_moves()


def test_a_pawn_promotes_to_four_pieces_by_moves_and_captures():
    place = at("3n3k/4P3/8/8/8/8/8/4K3 w - - 0 1")
    promotions = {move for move in place.legal_moves() if move.startswith("e7")}
    assert promotions == {f"e7{end}{piece}" for end in ("e8", "d8") for piece in "qrbn"}
    assert fen(place.play("exd8=N")) == "3N3k/8/8/8/8/8/8/4K3 b - - 0 1"


# Checks and pins.


def test_a_pinned_piece_moves_along_the_pin_only():
    place = at("4r2k/8/8/8/4R3/8/8/4K3 w - - 0 1")
    assert {move for move in place.legal_moves() if move.startswith("e4")} == {
        "e4e2", "e4e3", "e4e5", "e4e6", "e4e7", "e4e8",
    }  # fmt: skip
    pinned = at("7k/p7/8/8/7b/8/5B2/4K3 w - - 0 1")
    assert {move for move in pinned.legal_moves() if move.startswith("f2")} == {"f2g3", "f2h4"}
    assert not [move for move in at("4r2k/8/8/8/4N3/8/8/4K3 w - - 0 1").legal_moves() if move.startswith("e4")]


def test_of_a_double_check_only_the_king_can_move():
    place = at("4r2k/8/8/8/7b/8/3R4/4K3 w - - 0 1")
    assert all(move.startswith("e1") for move in place.legal_moves())


def test_the_king_does_not_step_back_on_the_line_of_a_check():
    assert "e2e1" not in at("4r2k/8/8/8/8/8/4K3/8 w - - 0 1").legal_moves()


# Ends.


def test_the_shortest_mate_is_won_by_black():
    end = tt.position("chess", moves="f3 e5 g4 Qh4#")
    assert end.is_terminal
    assert end.rewards == [-1.0, 1.0]


def test_stalemate_is_a_draw():
    end = at("7k/8/5KQ1/8/8/8/8/8 b - - 0 1")
    assert end.is_terminal
    assert end.legal_actions() == []
    assert end.rewards == [0.0, 0.0]


def test_the_third_occurrence_of_a_position_is_a_draw():
    cycle = "Nf3 Nf6 Ng1 Ng8 "
    assert not tt.position("chess", moves=cycle + "Nf3 Nf6 Ng1").is_terminal
    end = tt.position("chess", moves=cycle * 2)
    assert end.is_terminal
    assert end.rewards == [0.0, 0.0]


def test_a_position_with_other_rights_is_not_the_same():
    # A rook that has moved and come back has lost the right to castle: this is another position.
    moves = "Rg1 Rg8 Rh1 Rh8 "
    text = "r3k2r/p6p/8/8/8/8/P6P/R3K2R w KQkq - 0 1"
    assert not at(text, moves * 2 + "Rg1").is_terminal
    assert at(text, moves * 2 + "Rg1 Rg8").is_terminal
    # A capture en passant was possible at the first occurrence only.
    passed = at("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "Ke2 Ke7 Ke1 Ke8 Ke2 Ke7 Ke1 Ke8")
    assert not passed.is_terminal
    assert passed.play("Ke2").is_terminal


def test_keys_tell_how_often_a_position_has_occurred():
    cycle = "Nf3 Nf6 Ng1 Ng8 "
    keys = [int(tt.position("chess", moves=cycle * times).state.key()) for times in range(3)]
    assert len(set(keys)) == 3
    one, other = (tt.position("chess", moves=moves) for moves in ("Nf3 Nf6 Nc3 Nc6", "Nc3 Nc6 Nf3 Nf6"))
    assert one.state.key() == other.state.key()


def test_fifty_moves_without_capture_or_pawn_are_a_draw_unless_the_last_one_mates():
    text = "4k3/8/8/8/8/8/P7/K6R w - - 98 80"
    assert not at(text, "Rh2").is_terminal
    end = at(text, "Rh2 Kd7")
    assert end.is_terminal
    assert end.rewards == [0.0, 0.0]
    assert not at(text, "a3 Kd7").is_terminal
    mate = at("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "Ra8")
    assert mate.is_terminal
    assert mate.rewards == [1.0, -1.0]


@pytest.mark.parametrize(
    ("pieces", "over"),
    [
        ("", True),
        ("N", True),
        ("B", True),
        ("n", True),
        ("NN", False),
        ("Nn", False),
        ("Nb", False),
        ("R", False),
        ("Q", False),
        ("P", False),
    ],
)
def test_a_game_without_material_to_mate_is_a_draw(pieces, over):
    rank = pieces + str(8 - len(pieces))
    assert at(f"4k3/8/8/{rank}/8/8/8/4K3 w - - 0 1").is_terminal == over


def test_bishops_of_one_colour_of_squares_are_a_draw():
    assert at("4k3/8/8/8/1B1b4/8/8/4K3 w - - 0 1").is_terminal
    assert not at("4k3/8/8/8/1Bb5/8/8/4K3 w - - 0 1").is_terminal


# Texts.


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a FEN has the ranks"),
        ("8/8/8/8/8/8/8/8 w - -", "White has no kings"),
        ("4k3/8/8/8/8/8/8/8 w - - 0 1", "White has no kings"),
        ("4k2k/8/8/8/8/8/8/4K3 w - - 0 1", "Black has 2 kings"),
        ("4k3/8/8/8/8/8/8/4KP2 w - - 0 1", "a pawn cannot stand on f1"),
        ("p3k3/8/8/8/8/8/8/4K3 w - - 0 1", "a pawn cannot stand on a8"),
        ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "must be w or b"),
        ("4k3/8/8/8/8/8/4K3 w - - 0 1", "has 7"),
        ("4k3/8/8/8/8/8/9/4K3 w - - 0 1", "'9' in rank 2"),
        ("4k3/8/8/8/8/8/7/4K3 w - - 0 1", "rank 2, '7', has 7 squares"),
        ("4k3/8/8/8/8/8/x7/4K3 w - - 0 1", "'x' in rank 2"),
        ("4k3/8/8/8/8/8/8/4K2R w Q - 0 1", "White cannot castle by 'Q'"),
        ("4k3/8/8/8/8/8/8/3K3R w K - 0 1", "White cannot castle by 'K'"),
        ("4k2r/8/8/8/8/8/8/4K3 w q - 0 1", "Black cannot castle by 'q'"),
        ("4k3/8/8/8/8/8/8/4K2R w X - 0 1", "letters of KQkq"),
        ("4k3/8/8/8/8/8/8/4K2R w KK - 0 1", "two rights"),
        ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "no pawn on e5"),
        ("4k3/8/8/4p3/8/8/8/4K3 b - e6 0 1", "no pawn can have passed e6"),
        ("4k3/4p3/8/4p3/8/8/8/4K3 w - e6 0 1", "no pawn can have passed e6"),
        ("4k3/8/8/4p3/8/8/8/4K3 w - e9 0 1", "not 'e9'"),
        ("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "Black is in check"),
        ("4k3/8/8/8/8/8/4r3/4K3 b - - 0 1", "White is in check"),
        ("4k3/pppppppp/p7/8/8/8/8/4K3 w - - 0 1", "Black has 9 pawns"),
        ("4k3/8/8/8/QQ6/8/PPPPPPPP/4K3 w - - 0 1", "only 0 pawns"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 101 1", "the game is over"),
        ("4k3/8/8/8/8/8/8/4K3 w - - x 1", "counters"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0", "a FEN has the ranks"),
    ],
)
def test_an_impossible_fen_is_refused_with_the_reason(text, why):
    with pytest.raises(ConfigError, match=f"this is not a position of chess.*{re.escape(why)}"):
        at(text)


def test_a_fen_without_counters_is_that_of_a_first_move():
    assert fen(at("4k3/8/8/8/8/8/8/4K2R w K -")) == "4k3/8/8/8/8/8/8/4K2R w K - 0 1"


def test_a_printed_position_can_be_set_up_again():
    for moves in ("", "e4", "e4 c5 Nf3 d6 Bb5"):
        place = tt.position("chess", moves=moves)
        again = tt.position("chess", setup=str(place))
        assert fen(again) == fen(place)
        assert again.legal_moves() == place.legal_moves()
    with pytest.raises(ConfigError, match="show different positions"):
        tt.position("chess", setup=str(tt.position("chess")).replace("8 r n b", "8 r n ."))


def test_a_position_shows_a_diagram_with_the_fen_below():
    assert str(tt.position("chess", moves="e4")).splitlines()[4:] == [
        "4 . . . . P . . .",
        "3 . . . . . . . .",
        "2 P P P P . P P P",
        "1 R N B Q K B N R",
        "  a b c d e f g h",
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
    ]


def test_a_board_has_the_signs_of_the_pieces_with_rank_1_at_the_bottom():
    ranks = tt.position("chess", moves="e4").board()
    assert "".join(ranks[0]) == "♜♞♝♛♚♝♞♜"
    assert "".join(ranks[7]) == "♖♘♗♕♔♗♘♖"
    assert ranks[4][4] == "♙"
    assert tt.position("chess").picture().path("e2e4") == ["e2", "e4"]
    assert tt.position("chess").picture().path("e7e8q") == ["e7", "e8"]


def test_moves_are_read_in_algebraic_notation():
    text = "r3k2r/1P6/8/8/8/2N3N1/8/R3K2R w KQkq - 0 1"
    place = at(text)
    for name, move in {
        "bxa8=Q+": "b7a8q",
        "b8Q": "b7b8q",
        "b8=n": None,
        "Nce4": "c3e4",
        "Nge4!?": "g3e4",
        "N3e4": None,
        "Ne4": None,
        "O-O": "e1g1",
        "0-0-0": "e1c1",
        "Ra1xa8": "a1a8",
        "Rxa8": "a1a8",
        "Ke3": None,
        "b7b8": None,
    }.items():
        if move is None:
            with pytest.raises(IllegalMoveError, match="is not a legal move here"):
                place.parse_move(name)
        else:
            assert place.move_text(place.parse_move(name)) == move


def test_a_fen_is_of_chess_only():
    with pytest.raises(ConfigError, match="not of nim"):
        fen(tt.position("nim"))


def test_other_variants_are_refused():
    with pytest.raises(tt.errors.UnknownGameError, match="variant"):
        tt.load_game("chess(variant='atomic')")


# Estimates and rollouts.


def test_the_estimate_follows_material_and_is_the_same_for_both_colours():
    value = np.zeros(2)
    tt.position("chess").state.heuristic(value)
    assert abs(value[0]) < 0.1
    at("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1").state.heuristic(value)
    assert value[0] > 0.7
    assert value[0] == -value[1]
    mirrored = np.zeros(2)
    at("q3k3/8/8/8/8/8/8/4K3 b - - 0 1").state.heuristic(mirrored)
    assert mirrored.tolist() == value[::-1].tolist()


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "a1a8"),
        ("7k/8/5K2/8/8/8/8/6Q1 w - - 0 1", "g1g7"),
        ("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1", "e7e8q"),
    ],
)
def test_a_rollout_checkmates_and_promotes_where_it_can(text, move):
    place = at(text)
    for seed in range(20):
        assert place.move_text(place.state.rollout_action(tt.Rng(seed))) == move


def test_a_rollout_often_takes_what_is_not_defended_and_never_less_than_it_gives():
    free = at("4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1")
    taken = [free.move_text(free.state.rollout_action(tt.Rng(seed))) for seed in range(100)]
    assert 60 < taken.count("c3d5") < 100
    guarded = at("4k3/2p5/3p4/8/8/3Q4/8/4K3 w - - 0 1")
    moves = len(guarded.legal_actions())
    taken = [guarded.move_text(guarded.state.rollout_action(tt.Rng(seed))) for seed in range(200)]
    assert taken.count("d3d6") < 4 * 200 / moves


# Observations.


def test_observations_show_the_board_from_the_players_side():
    def planes(place, player):
        return tt.states.observations(place.game, place.record, player)[0]

    start = planes(tt.position("chess"), 0)
    assert start[0, 1].tolist() == [1.0] * 8
    assert start[6, 6].tolist() == [1.0] * 8
    assert start[:6].sum() == start[6:12].sum() == 16
    assert start[5, 0, 4] == start[11, 7, 4] == start[4, 0, 3] == 1.0
    assert start[12].sum() == 4
    assert start[16].min() == 1.0
    assert np.array_equal(start[:12], planes(tt.position("chess"), 1)[:12])
    passed = at("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2")
    assert np.argwhere(planes(passed, 0)[13]).tolist() == [[5, 3]]
    assert np.argwhere(planes(passed, 1)[13]).tolist() == [[2, 3]]
    again = tt.position("chess", moves="Nf3 Nf6 Ng1 Ng8")
    assert planes(again, 0)[14].min() == 1.0
    assert planes(again, 0)[15, 0, 0] == np.float32(0.04)
