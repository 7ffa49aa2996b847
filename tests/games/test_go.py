"""Go: the rules against a plain model and against GNU Go, the classical positions, scoring, texts and symmetries."""

from __future__ import annotations

import itertools
import shutil

import numpy as np
import pytest

import treetop as tt
from tests.games.go_model import Model, last_move, legal, random_game
from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import copy_state, state_at
from treetop.errors import ConfigError, IllegalMoveError, UnknownGameError
from treetop.game.position import Position
from treetop.games.go import go
from treetop.players.gtp import GtpEngine

GNU_GO = shutil.which("gnugo") or shutil.which("/usr/games/gnugo")


# The rules.


@pytest.mark.parametrize(("size", "games", "rolling"), [
    (2, 40, False), (3, 40, False), (3, 20, True), (5, 10, False), (5, 10, True), (9, 2, False), (9, 3, True),
])  # fmt: skip
def test_random_games_follow_the_rules_as_one_explains_them(size, games, rolling):
    game = go(size)
    for seed in range(games):
        model, points = Model(size), [divmod(action, size) for action in range(size * size)]
        for state in random_game(game, seed, rolling=rolling):
            if state.length > 0:
                action = last_move(state)
                model.play(points[action] if action < size * size else None)
            assert state.rows() == model.rows()
            assert state.lead() == model.lead()
            assert state.player == model.side
            if not state.is_terminal():
                expected = [action for action, point in enumerate(points) if model.after(point) is not None]
                assert legal(state) == [*expected, size * size]


@compiled
def reach(game, states, points, actions, found, queue):
    """Play each move of both players in each position that is reached, without a history; return how many there are."""
    found[0] = True
    count, done = 1, 0
    while done < count:
        for side in range(2):
            state, rest = state_at(game, states, 0), queue[done]
            state.first[0, 0] = np.uint64(0)
            state.first[1, 0] = np.uint64(0)
            for point in range(points):
                if rest % 3 > 0:
                    state.first[rest % 3 - 1, 0] |= np.uint64(1) << np.uint64(point)
                rest //= 3
            state.opener = side
            state.begin()
            for number in range(state.legal_actions(actions) - 1):
                copy_state(game, states, 1, states, 0)
                after = state_at(game, states, 1)
                after.apply(np.int64(actions[number]))
                code, weight = 0, 1
                for place in range(len(after.cells)):
                    if after.cells[place] != 3:  # not in the frame
                        code += weight * after.cells[place]
                        weight *= 3
                if not found[code]:
                    found[code] = True
                    queue[count] = code
                    count += 1
        done += 1
    return count


@pytest.mark.parametrize(("size", "known"), [(2, 57), (3, 12_675)])
def test_all_legal_positions_are_reached_and_no_others(size, known):
    game, points = go(size), size * size
    found, queue = np.zeros(3**points, np.bool_), np.zeros(3**points, np.int64)
    states = np.concatenate([Position(game).record] * 2)
    actions = np.zeros(points + 1, np.int32)
    assert game.engine(bounds_checked=True, tier="direct").entry(reach)(states, points, actions, found, queue) == known


def test_a_diagram_is_set_up_if_and_only_if_each_chain_has_a_liberty():
    game, accepted = go(2), 0
    for cells in itertools.product(".XO", repeat=4):
        try:
            position = Position.parse(game, "".join(cells[:2]) + "/" + "".join(cells[2:]))
        except ConfigError:
            continue
        assert "".join(cell or "." for row in position.state.rows() for cell in row) == "".join(cells)
        accepted += 1
    assert accepted == 57


def test_a_chain_without_liberties_is_captured_as_a_whole():
    before = Position.parse(go(5), "..... / .XX.. / XOOX. / X.OX. / .XX.. X")
    after = before.play("B2")
    assert after.state.rows() == Position.parse(go(5), "..... / .XX.. / X..X. / XX.X. / .XX..").state.rows()
    assert (after.state.captured(1), after.state.captured(0)) == (3, 0)
    assert after.legal_moves().count("B3") == 1  # O may play on a point where it was captured


def test_one_move_captures_several_chains():
    after = Position.parse(go(5), "..... / .XXX. / XO.OX / .XXX. / ..... X").play("C3")
    assert after.state.rows()[2] == ["X", "", "X", "", "X"]
    assert after.state.captured(1) == 2


def test_suicide_is_illegal_for_one_stone_and_for_a_chain():
    single = Position.parse(go(5), ".X... / X.... / ..... / XX... / .OX.. O")
    assert "A5" not in single.legal_moves()
    assert "A1" not in single.legal_moves()
    assert "A1" in Position.parse(go(5), ".X... / X.... / ..... / XX... / .OX.. X").legal_moves()  # captures B1


def test_a_stone_without_liberties_may_be_played_if_it_captures():
    before = Position.parse(go(5), "..... / ..... / OO... / XXO.. / .XO.. O")
    after = before.play("A1")
    assert after.state.rows()[3:] == [["", "", "O", "", ""], ["O", "", "O", "", ""]]


def test_a_ko_is_not_taken_back_at_once_but_after_a_move_elsewhere():
    taken = Position.parse(go(5), "..... / ..... / ..... / .XO.. / X.XO. O").play("B1")
    assert taken.state.rows()[4] == ["X", "O", "", "O", ""]
    assert "C1" not in taken.legal_moves()
    assert "C1" in taken.play("E5 E4").legal_moves()
    assert taken.play("E5 E4 C1").state.rows()[4] == ["X", "", "X", "O", ""]


def test_sending_two_and_returning_one_repeats_a_position():
    start = Position.parse(go(5), "..... / OOOX. / .OXX. / OOX.. / .X.X. X")
    taken = start.play("A1 C1")
    assert taken.state.rows()[4] == ["", "", "O", "X", ""]
    assert "B1" not in taken.legal_moves()
    assert "B1" in taken.play("E5 E1").legal_moves()


def test_the_sixth_move_in_a_triple_ko_repeats_the_position():
    kos = "X.XO..... / .XO...... /" + " ......... /" * 5 + " .XO...XO. / X.XO.XO.O O"
    position = Position.parse(go(9), kos)
    for move in ["B1", "H1", "B9", "C1", "G1"]:
        assert move in position.legal_moves()
        position = position.play(move)
    assert "C9" not in position.legal_moves()
    assert "C9" in position.play("E5 E4").legal_moves()


def test_a_snapback_takes_more_stones_than_it_gave_and_is_no_ko():
    start = Position.parse(go(5), "..... / ..... / XXX.. / OOX.. / ..O.. X")
    taken = start.play("B1 A1")
    assert taken.state.captured(0) == 1
    after = taken.play("B1")
    assert after.state.captured(1) == 3
    assert after.state.rows()[3:] == [["", "", "X", "", ""], ["", "X", "O", "", ""]]


# The end and the score.


def test_two_passes_in_a_row_end_the_game_and_others_do_not():
    position = Position(go(5)).play("pass C3 pass")
    assert not position.is_terminal
    assert position.play("pass").is_terminal
    assert position.play("pass").legal_actions() == []


def test_a_game_without_two_passes_ends_after_three_moves_a_point():
    lengths = [random_game(go(2), seed)[-1] for seed in range(200)]
    long = [state for state in lengths if state.length == 12]
    assert any(state.passes < 2 for state in long)
    assert all(state.is_terminal() for state in long)


@pytest.mark.parametrize(("diagram", "lead"), [
    ("..... / ..... / ..... / ..... / .....", 0),
    ("..... / ..... / ..X.. / ..... / .....", 25),
    (".XO.. / .XO.. / .XO.. / .XO.. / .XO..", -5),
    (".X.O. / .X.O. / .X.O. / .X.O. / .X.O.", 0),
    (".XXX. / XX.XO / .XXXO / XXXOO / ....O", 15 - 5),
    ("X.X.O / .X.OO / X.XO. / .X.O. / X.XOO", 13 - 9),
])  # fmt: skip
def test_the_area_of_a_player_is_its_stones_and_what_only_they_reach(diagram, lead):
    position = Position.parse(go(5, komi=0), diagram)
    assert position.state.lead() == Model.of(position.state.rows()).lead() == lead


def test_the_komi_decides_who_wins_and_may_make_a_draw():
    one = ". . . / . X . / . . ."
    for komi, rewards, text in [
        (8.5, [1.0, -1.0], "X wins by 0.5"), (9, [0.0, 0.0], "a draw"), (9.5, [-1.0, 1.0], "O wins by 0.5"),
    ]:  # fmt: skip
        end = Position.parse(go(3, komi), one).play("pass pass")
        assert end.rewards == rewards
        assert str(end).endswith(f"game over, {text}")


# GNU Go.


@pytest.mark.skipif(GNU_GO is None, reason="gnugo is not installed: apt-get install gnugo")
@pytest.mark.parametrize(("size", "games"), [(5, 3), (9, 4)])
def test_gnu_go_knows_the_same_legal_moves_captures_and_scores(size, games):
    rules = ["--chinese-rules", "--positional-superko", "--forbid-suicide", "--capture-all-dead"]
    engine = GtpEngine([GNU_GO, "--mode", "gtp", "--level", "0", *rules], start_deadline=10.0, deadline=60.0)
    for seed in range(games):
        engine.new_game(size, 7.5)
        states = random_game(go(size), seed, rolling=True)
        for state, after in itertools.pairwise(states):
            colour = ("black", "white")[state.player]
            moves = {state.move_text(action) for action in legal(state)} - {"pass"}
            assert set(engine.ask(f"all_legal {colour}").split()) == moves
            engine.play(colour, state.move_text(last_move(after)))
            for stones, player in (("black", 1), ("white", 0)):
                assert int(engine.ask(f"captures {stones}")) == after.captured(player)
        end = states[-1]
        if end.passes == 2:  # played to the end: no dead stones are left, about which GNU Go decides by itself
            lead = end.lead() - 7.5
            assert engine.ask("final_score", 60.0) == f"{'B' if lead > 0 else 'W'}+{abs(lead):.1f}"
    engine.close()


# Texts, pictures, observations and symmetries.


def test_columns_skip_the_letter_i():
    game = go(19)
    names = [game().move_text(action) for action in (0, 7, 8, 18, 19 * 18, 361)]
    assert names == ["A1", "H1", "J1", "T1", "A19", "pass"]
    with pytest.raises(IllegalMoveError, match="'I5' is not a legal move here"):
        Position(game).play("I5")


def test_moves_are_read_in_any_case():
    assert Position(go()).play("d4 PASS E5").moves() == ["D4", "pass", "E5"]


@pytest.mark.parametrize("size", [2, 9, 19])
def test_a_printed_diagram_can_be_set_up_again(size):
    for state in random_game(go(size), 3, rolling=True)[:60:7]:
        again = Position.parse(go(size), state.render())
        assert again.state.rows() == state.rows()
        assert again.player == state.player


def test_a_diagram_may_have_slashes_and_the_player_to_move_after_the_last_row():
    for text in "X./.O", "x. / .o X", "X.\n.O\nX", " 2 X .\n 1 . O\n   A B\nx to move":
        position = Position.parse(go(2), text)
        assert position.state.rows() == [["X", ""], ["", "O"]]
        assert position.player == 0
    assert Position.parse(go(2), "X./.O O").player == 1


@pytest.mark.parametrize(("diagram", "why"), [
    ("", "3 rows of 3 cells"),
    ("O", "3 rows of 3 cells"),
    ("XX/XX", "3 rows of 3 cells"),
    (".../.../....", "the player to move"),
    (".../.../..?", "3 rows of 3 cells"),
    ("..../.../...", "3 rows of 3 cells"),
    (".../.../... Z", "the player to move"),
    ("XO./OX./...", "the chain of X at A3 has no liberty"),
    ("XXX/XXX/XXX", "the chain of X at A1 has no liberty"),
])  # fmt: skip
def test_an_impossible_diagram_is_refused_with_the_reason(diagram, why):
    with pytest.raises(ConfigError, match=why):
        Position.parse(go(3), diagram)


@pytest.mark.parametrize("name", ["go(size=1)", "go(size=20)", "go(size='9')", "go(komi='x')", "go(komi=1e9)"])
def test_parameters_out_of_range_are_refused(name):
    with pytest.raises(UnknownGameError):
        tt.load_game(name)


def test_the_board_names_its_points_as_the_moves_do_and_counts_captures():
    grid, captures = Position.parse(go(5), "..... / ..... / OO... / XXO.. / .XO.. O").play("A1").state.board()
    assert grid.cell_names[0] == ("A5", "B5", "C5", "D5", "E5")
    assert list(captures.rows.values()) == ["0", "3"]


def test_an_observation_shows_stones_turn_last_move_pass_and_forbidden_points():
    def planes(position, player):
        return tt.states.observations(position.game, position.record, player)[0]

    taken = Position.parse(go(5), "..... / ..... / ..... / .XO.. / X.XO. O").play("B1")
    mine, theirs = planes(taken, 0), planes(taken, 1)
    assert [tuple(at) for at in np.argwhere(mine[0])] == [(0, 0), (1, 1)]
    assert [tuple(at) for at in np.argwhere(mine[1])] == [(0, 1), (0, 3), (1, 2)]
    assert np.array_equal(mine[:2], theirs[[1, 0]])
    assert (mine[2] == 1).all()
    assert (theirs[2] == 0).all()
    assert (mine[3] == 1).all()
    assert (theirs[3] == 0).all()
    assert [tuple(at) for at in np.argwhere(mine[4])] == [(0, 1)]
    assert not mine[5].any()
    assert [tuple(at) for at in np.argwhere(mine[6])] == [(0, 2)]
    assert mine[7] == pytest.approx(1 - 1 / 75)
    passed = planes(taken.play("pass"), 1)
    assert (passed[5] == 1).all()
    assert not passed[4].any()


def test_symmetries_transform_a_set_up_position_with_its_history():
    game = go(5)
    position = Position.parse(game, "..... / OOOX. / .OXX. / OOX.. / .X.X. X").play("A1 C1")
    for symmetry in range(8):
        turned = position.state
        turned.transform(symmetry)
        mapped = [turned.transform_action(symmetry, action) for action in position.legal_actions()]
        assert sorted(legal(turned)) == sorted(mapped)
        assert turned.transform_action(symmetry, 1) not in legal(turned)  # B1 repeats a position
        for action in position.legal_actions():
            first, second = position.apply(action).state, turned.copy()
            first.transform(symmetry)
            second.apply(turned.transform_action(symmetry, action))
            assert first._states.tobytes() == second._states.tobytes()


def test_keys_differ_where_the_history_makes_other_moves_legal():
    open_ = Position.parse(go(5), "..... / ..... / ..... / .XO.. / XO.O. X")
    taken = Position.parse(go(5), "..... / ..... / ..... / .XO.. / X.XO. O").play("B1")
    assert taken.state.rows() == open_.state.rows()
    assert taken.legal_moves() != open_.legal_moves()
    assert taken.state.key() != open_.state.key()
