import numpy as np
import pytest

import treetop as tt
from tests.games.engines import Counter
from treetop.errors import ConfigError, UnknownGameError
from treetop.game.position import Position
from treetop.games.xiangqi import xiangqi
from treetop.games.xiangqi_moves import ACTIONS, label_of, move_of
from treetop.games.xiangqi_text import rows_of
from treetop.oracle.perft import perft

GAME = xiangqi()
START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w"


def at(fen, game=GAME):
    return Position.parse(game, fen)


def fen_of(position):
    rows = ["".join(cell or "." for cell in row) for row in rows_of(position.state)]
    for empty in range(9, 0, -1):
        rows = [row.replace("." * empty, str(empty)) for row in rows]
    return "/".join(rows) + " " + "wb"[position.player]


def moves_from(square, position):
    return {move.removeprefix(square) for move in position.legal_moves() if move.startswith(square)}


def random_positions(count, seed, most=150):
    """Positions that random games reach after some moves, from 1 up to `most`."""
    rng, found = tt.Rng(seed), []
    while len(found) < count:
        position = Position(GAME)
        for _ in range(1 + rng.below(most)):
            if position.is_terminal:
                break
            position = position.apply(position.state.random_action(rng))
        if not position.is_terminal:
            found.append(position)
    return found


# Moves.


def test_the_actions_are_the_2086_moves_that_some_piece_can_make():
    steps = {(1, 2), (2, 1)}
    found = set()
    for source in range(90):
        for target in range(90):
            (rank, file), (to_rank, to_file) = divmod(source, 9), divmod(target, 9)
            up, right = abs(to_rank - rank), abs(to_file - file)
            if source != target and (up == 0 or right == 0 or (up, right) in steps):
                found.add((source, target))
    for near in (0, 9):  # the palaces and the elephants' squares of both sides
        centre = 9 * abs(near - 1) + 4
        corners = [9 * abs(near - rank) + file for rank in (0, 2) for file in (3, 5)]
        found |= {(centre, corner) for corner in corners} | {(corner, centre) for corner in corners}
        points = [(0, 2), (0, 6), (2, 0), (2, 4), (2, 8), (4, 2), (4, 6)]
        found |= {
            (9 * abs(near - one[0]) + one[1], 9 * abs(near - two[0]) + two[1])
            for one in points
            for two in points
            if abs(one[0] - two[0]) == abs(one[1] - two[1]) == 2
        }
    moves = [(move_of(action) >> 7, move_of(action) & 127) for action in range(ACTIONS)]
    assert len(moves) == len(set(moves)) == 2086
    assert set(moves) == found
    assert [label_of(*move) for move in moves] == list(range(ACTIONS))


def test_both_players_number_their_moves_from_their_own_side():
    start = Position(GAME)
    other = start.play("a4a5")
    mirrored = {start.parse_move(move) for move in start.legal_moves()}
    assert {other.parse_move(move) for move in other.legal_moves()} == mirrored


@pytest.mark.parametrize(
    ("square", "fen", "targets"),
    [
        ("e1", "3k5/9/9/9/9/9/9/9/9/4K4 w", "e2 f1"),  # not d1, where the generals face each other
        ("e2", "3k5/9/9/9/9/9/9/3N5/4K4/9 w", "d2 f2 e1 e3"),  # with a piece between them it may
        ("f3", "3k5/9/9/9/9/9/9/5K3/9/9 w", "e3 f2"),  # the palace ends here
        ("e2", "3k5/9/9/9/9/9/9/9/4A4/5K3 w", "d1 d3 f3"),
        ("d1", "3k5/9/9/9/9/9/9/9/9/3AK4 w", "e2"),
        ("e3", "3k5/9/9/9/9/9/9/4B4/9/5K3 w", "c1 g1 c5 g5"),
        ("g5", "3k5/9/9/9/9/6B2/9/9/9/5K3 w", "e3 i3"),  # elephants do not cross the river
        ("e3", "3k5/9/9/9/9/9/5p3/4B4/3p5/5K3 w", "c5 g1"),  # and are blocked from the eye between
        ("e5", "3k5/9/9/9/9/4N4/9/9/9/5K3 w", "d7 f7 d3 f3 c6 c4 g6 g4"),
        ("e5", "3k5/9/9/9/4p4/3pNp3/9/9/9/5K3 w", "d3 f3"),  # a horse's legs
        ("a1", "3k5/9/9/9/9/9/9/p8/9/R4K3 w", "a2 a3 b1 c1 d1 e1"),
        ("a1", "3k5/9/9/p8/9/9/9/N8/9/C4K3 w", "a2 a7 b1 c1 d1 e1"),  # it captures over one piece
        ("a1", "3k5/r8/9/9/p8/9/9/N8/9/C4K3 w", "a2 a6 b1 c1 d1 e1"),  # not over two
        ("a4", "3k5/9/9/9/9/9/P8/9/9/5K3 w", "a5"),
        ("a6", "3k5/9/9/9/P8/9/9/9/9/5K3 w", "a7 b6"),
        ("e10", "4P4/3k5/9/9/9/9/9/9/9/5K3 w", "d10 f10"),
    ],
)
def test_a_piece_moves_as_the_rules_say(square, fen, targets):
    assert moves_from(square, at(fen)) == set(targets.split())
    # The same for black, with the board turned.
    rows, _ = fen.split()
    turned = "/".join(row[::-1].swapcase() for row in reversed(rows.split("/"))) + " b"

    def other(name):
        return f"{'ihgfedcba'['abcdefghi'.index(name[0])]}{11 - int(name[1:])}"

    assert moves_from(other(square), at(turned)) == {other(target) for target in targets.split()}


def test_a_pinned_piece_stays_on_its_line():
    chariot = at("4k4/4r4/9/9/9/4R4/9/9/9/4K4 w")
    assert moves_from("e5", chariot) == {f"e{rank}" for rank in (2, 3, 4, 6, 7, 8, 9)}
    cannon = at("4k4/9/9/9/9/4C4/9/9/9/4K4 w")  # without it the generals would face each other
    assert moves_from("e5", cannon) == {f"e{rank}" for rank in (2, 3, 4, 6, 7, 8, 9)}
    horse = at("4k4/9/9/9/9/4N4/9/9/9/4K4 w")
    assert moves_from("e5", horse) == set()


def test_nobody_steps_between_a_cannon_and_the_own_general():
    position = at("5k3/4c4/9/9/9/9/9/9/3R5/4K4 w")
    assert "e2" not in moves_from("d2", position)
    assert "a2" in moves_from("d2", position)


def test_opening_the_leg_of_a_horse_that_attacks_the_general_is_illegal():
    position = at("3k5/9/9/9/9/9/9/5n3/5R3/4K4 w")  # f3 attacks e1 if f2 is empty
    assert moves_from("f2", position) == {"f3"}


def test_a_check_is_answered_by_capture_interposition_or_a_step():
    position = at("3k5/4r4/9/9/9/9/R8/3N5/9/4K4 w")
    assert set(position.legal_moves()) == {"a4e4", "d3e5", "e1d1", "e1f1"}
    over = at("3k5/4c4/9/9/4p4/9/9/9/9/4K4 w")  # a cannon checks over its screen
    assert set(over.legal_moves()) == {"e1f1"}
    double = at("3k5/4c4/4r4/9/9/9/9/9/9/R3K4 w")
    assert set(double.legal_moves()) == {"e1f1"}


# Ends.


def test_a_general_that_cannot_escape_is_mated():
    end = at("3k5/9/9/9/9/9/9/9/r8/r3K4 w")
    assert end.is_terminal
    assert end.rewards == [-1.0, 1.0]
    assert str(end).endswith("red to move; game over, black wins")


def test_a_player_without_a_legal_move_loses_without_check():
    before = at("3k5/9/9/9/9/9/9/5p3/3p5/4K4 b")
    end = before.play("f3f2")
    assert not end.state.checked
    assert end.legal_actions() == []
    assert end.rewards == [-1.0, 1.0]


def test_a_number_of_moves_without_a_capture_is_a_draw():
    position = at(START, xiangqi(quiet_plies=10))
    for move in ["a1a2", "a10a9", "a2b2", "a9b9", "b2c2", "b9c9", "c2d2", "c9d9", "d2e2"]:
        position = position.play(move)
    assert not position.is_terminal
    end = position.play("d9e9")
    assert end.is_terminal
    assert end.rewards == [0.0, 0.0]
    assert str(end).endswith("red to move, 10 moves without a capture; game over, a draw")


def test_a_capture_starts_the_count_of_quiet_moves_and_the_occurrences_again():
    position = at(START).play("b3b4 b8b7 b4b3 b7b8 h3h10")
    assert position.state.quiet == 0
    assert not np.any(position.state.past[1:])
    assert position.play("i10h10").state.quiet == 0


def test_the_third_occurrence_is_a_draw_where_nobody_checks():
    cycle = "b1c3 b10c8 c3b1 c8b10 "
    assert not Position(GAME).play(cycle + cycle.strip()[:-6]).is_terminal
    end = Position(GAME).play(cycle * 2)
    assert end.is_terminal
    assert end.rewards == [0.0, 0.0]


def test_the_side_that_checks_throughout_loses_by_repetition():
    # The chariot checks from the left and from above; the general steps aside and back.
    start = at("3k5/9/9/9/9/9/9/R8/9/5K3 w").play("a3d3")
    cycle = "d10e10 d3e3 e10d10 e3d3 "
    once = start.play(cycle)
    assert not once.is_terminal
    end = once.play(cycle)
    assert end.is_terminal
    assert end.rewards == [-1.0, 1.0]
    turned = at("3k5/9/8r/9/9/9/9/9/9/5K3 b").play("i8f8 " + "f1e1 f8e8 e1f1 e8f8 " * 2)
    assert turned.rewards == [1.0, -1.0]


def test_one_move_without_check_makes_the_repetition_a_draw():
    start = at("3k5/9/9/9/9/9/9/R8/9/5K3 w").play("a3d3")
    end = start.play("d10e10 d3e3 e10d10 e3d3 d10e10 d3c3 e10d10 c3d3")
    assert end.is_terminal
    assert end.rewards == [0.0, 0.0]


def test_the_loser_of_a_repetition_is_who_alone_gave_check_since_the_first_occurrence():
    state = Position(GAME).play("b1c3 b10c8 c3b1 c8b10 " * 2).state
    results = {}
    for by_red, by_black in ((4, 4), (4, 3), (3, 4), (3, 3)):
        state.checking[:] = (by_red, by_black)
        results[by_red, by_black] = state.repeated()
    assert results == {(4, 4): 3, (4, 3): 2, (3, 4): 1, (3, 3): 3}


# Texts.


def test_a_printed_position_and_a_fen_can_be_set_up_again():
    for position in random_positions(20, seed=2):
        again = at(str(position))
        assert str(again) == str(position)
        assert sorted(again.legal_moves()) == sorted(position.legal_moves())
        from_fen = at(fen_of(position))
        assert from_fen.board() == position.board()
        assert from_fen.player == position.player
        assert from_fen.state.word == position.state.word


def test_the_start_is_the_position_of_its_fen():
    assert at(START) == Position(GAME)
    assert at(f"{START} - - 7 1").state.quiet == 7
    assert len(Position(GAME).legal_moves()) == 44


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "10 ranks of 9 squares"),
        ("9/9 w", "10 ranks of 9 squares"),
        (START.replace("rnbakabnr", "rnbakabn"), "10 ranks of 9 squares"),
        (START.replace("rnbakabnr", "rnbqkabnr"), "'q' in the rank"),
        (START[:-2], "w .red. or b .black."),
        (START[:-1] + "x", "w .red. or b .black."),
        (START + " - - many 1", "whole number"),
        (START + " - - 120 1", "is over"),
        ("4k4/9/9/9/9/9/9/9/9/9 w", "red has 0 pieces K"),
        ("3kk4/9/9/9/9/9/9/9/9/5K3 w", "black has 2 pieces k"),
        ("3k5/9/9/9/9/9/9/RRR6/9/4K4 w", "red has 3 pieces R"),
        ("3k5/9/9/9/4K4/9/9/9/9/9 w", "red's K can never stand on e6"),
        ("3k5/9/9/9/9/9/9/9/9/3AK1A2 w", "red's A can never stand on g1"),
        ("3k5/9/2B6/9/9/9/9/9/9/4K4 w", "red's B can never stand on c8"),
        ("3k5/9/9/9/9/9/9/P8/9/4K4 w", "red's P can never stand on a3"),
        ("3k5/9/9/1p7/9/9/9/9/9/4K4 w", "black's p can never stand on b7"),
        ("3k5/9/9/9/9/P8/P8/9/9/4K4 w", "two pawns P on one file"),
        ("4k4/9/9/9/9/9/9/9/9/4K4 w", "faces the other one"),
        ("4k4/9/9/9/9/9/9/9/4r4/4K4 b", "red's general is attacked"),
    ],
)
def test_an_impossible_position_is_refused(text, why):
    with pytest.raises(ConfigError, match=why):
        at(text)


@pytest.mark.parametrize("text", ["", "e1", "a1a1", "a1b3", "a0a1", "a11a1", "j1a1", "e5e6", "a1a10", "e1d2"])
def test_a_text_that_is_no_move_is_refused(text):
    with pytest.raises(ValueError, match="not a legal move here"):
        Position(GAME).parse_move(text)


@pytest.mark.parametrize("name", ["xiangqi(quiet_plies=9)", "xiangqi(quiet_plies=1001)", "xiangqi(size=9)"])
def test_parameters_out_of_range_are_refused(name):
    with pytest.raises(UnknownGameError):
        tt.load_game(name)


# What searches use.


def test_the_rollout_policy_captures_what_is_free_and_not_what_is_defended():
    free = at("3k5/9/9/9/9/r8/9/9/9/R4K3 w")
    assert free.move_text(free.state.rollout_action(tt.Rng(1))) == "a1a5"
    defended = at("3k5/9/r8/9/9/p8/9/9/9/R4K3 w")
    moves = {defended.move_text(defended.state.rollout_action(tt.Rng(seed))) for seed in range(40)}
    assert len(moves) > 5


def test_the_heuristic_is_zero_at_the_start_and_counts_pieces():
    out = np.zeros(2)
    GAME().heuristic(out)
    assert out.tolist() == [0.0, 0.0]
    at(START.replace("rnbakabnr", "1nbakabnr")).state.heuristic(out)
    assert out[0] == -out[1] > 0.5


def test_the_observation_is_seen_from_the_players_own_side():
    state = Position(GAME).play("b3b10").state
    planes = [np.zeros((17, 10, 9), np.float32) for _ in range(2)]
    for player in range(2):
        state.observe(player, planes[player])
    assert np.argwhere(planes[0][0]).tolist() == np.argwhere(planes[1][0]).tolist() == [[0, 4]]
    assert np.argwhere(planes[0][5]).tolist() == [[2, 7], [9, 1]]  # red's cannons
    assert np.argwhere(planes[1][12]).tolist() == [[0, 7], [7, 1]]  # the same, seen by black
    assert planes[0][14].max() == 0.0
    assert planes[1][14].min() == 1.0
    assert planes[1][:14].sum() == 31


def test_the_observation_shows_how_often_the_position_occurred():
    position = Position(GAME).play("b1c3 b10c8 c3b1 c8b10")
    out = np.zeros((17, 10, 9), np.float32)
    position.state.observe(0, out)
    assert (out[15] == 0.5).all()
    assert out[16] == pytest.approx(1 - 4 / 120)


def test_equal_keys_need_equal_occurrences():
    start = Position(GAME)
    again = start.play("b1c3 b10c8 c3b1 c8b10")
    assert again.board() == start.board()
    assert again.state.word == start.state.word
    assert again.state.key() != start.state.key()
    first = start.play("b3b10 a10b10 h3h10 i10h10")  # captures in another order lead to the same position
    second = start.play("h3h10 i10h10 b3b10 a10b10")
    assert first.state.key() == second.state.key()


# Fairy-Stockfish.


def test_fairy_stockfish_counts_the_same_sequences_from_random_positions():
    engine = Counter("xiangqi", 44)
    for position in random_positions(6, seed=3):
        start = f"fen {fen_of(position)} - - 0 1"
        assert set(engine.moves(start)) == set(position.legal_moves())
        assert sum(engine.moves(start, 2).values()) == perft(at(fen_of(position)), 2)
    engine.close()
