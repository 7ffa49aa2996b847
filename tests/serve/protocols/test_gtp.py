"""GTP: what is answered to commands, right and wrong ones."""

from __future__ import annotations

import random
import time

import pytest

import treetop as tt
from treetop.errors import ConfigError
from treetop.players.gtp import renamed
from treetop.serve.engines import Engine
from treetop.serve.protocols.clock import Clock
from treetop.serve.protocols.gtp import GtpServer
from treetop.serve.protocols.stones import handicap
from treetop.serve.protocols.thinker import Thinker


class Program:
    """The other side: it sends commands and reads answers."""

    def __init__(self, game, **limits):
        self.said = []
        self.server = GtpServer(self.said.append, tt.load_game(game), Thinker(Engine("uct", None, 1)), **limits)

    def ask(self, command):
        self.said.clear()
        self.open = self.server.receive(command)
        return "".join(self.said)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.__exit__()


@pytest.fixture
def othello():
    with Program("othello(size=6)", simulations=50) as program:
        yield program


def test_answers_carry_the_number_of_their_command_and_end_with_a_blank_line(othello):
    assert othello.ask("17 protocol_version") == "=17 2\n\n"
    assert othello.ask("name # a comment") == "= Treetop\n\n"
    assert othello.ask("3 foo") == "?3 unknown command\n\n"
    assert othello.ask("   # only a comment") == ""
    assert othello.ask("quit") == "=\n\n"
    assert not othello.open


def test_every_listed_command_is_known(othello):
    for name in othello.ask("list_commands").removeprefix("= ").split():
        assert othello.ask(f"known_command {name}") == "= true\n\n"
    assert othello.ask("known_command genmov") == "= false\n\n"


def test_a_game_is_played_shown_and_scored(othello):
    assert othello.ask("final_score") == "? cannot score: the game is not over\n\n"
    assert othello.ask("play b a1") == "? illegal move\n\n"
    for turn in range(200):
        answer = othello.ask(f"genmove {'bw'[turn % 2]}")
        assert answer.startswith("= ")
        if othello.server.position.is_terminal:
            break
    assert "game over" in othello.ask("showboard")
    score = othello.ask("final_score").removeprefix("= ").strip()
    assert score == "0" or score.startswith(("B+", "W+"))
    assert othello.ask("genmove b") == "= pass\n\n"


def test_a_game_of_go_is_scored_in_points_by_its_komi():
    with Program("go(size=5)", simulations=20) as program:
        for command in ("komi 2", "play b C3", "play w pass", "play b pass"):
            assert program.ask(command) == "=\n\n"
        assert program.ask("final_score") == "= B+23\n\n"


def test_a_colour_that_moves_twice_lets_the_other_pass():
    with Program("go(size=5)", simulations=20) as program:
        for command in ("play b C3", "play b C4"):
            assert program.ask(command) == "=\n\n"
        assert program.server.position.moves() == ["C3", "pass", "C4"]
        assert program.ask("genmove b").startswith("= ")


def test_undo_takes_back_one_move(othello):
    before = othello.server.position
    othello.ask("genmove b")
    assert othello.server.position != before
    assert othello.ask("undo") == "=\n\n"
    assert othello.server.position == before
    assert othello.ask("undo") == "? cannot undo\n\n"


def test_another_size_is_another_board(othello):
    assert othello.ask("boardsize 8") == "=\n\n"
    assert othello.server.position.game.name == "othello(size=8)"
    assert othello.ask("boardsize 7") == "? unacceptable size\n\n"
    assert othello.ask("boardsize 8.5") == "? syntax error: the size of the board must be a whole number, not '8.5'\n\n"


def test_letters_skip_the_i():
    with Program("gomoku(size=9)", simulations=50) as program:
        assert program.ask("play black J9") == "=\n\n"
        assert program.server.position.moves() == ["i9"]
        assert program.ask("play w I9").startswith("? illegal move")
    assert renamed("j1", skips_i=True, to_skip_i=False) == "i1"
    assert renamed("h1", skips_i=False, to_skip_i=True) == "h1"


def test_a_clock_bounds_the_time_of_a_move():
    with Program("othello(size=6)") as program:
        program.ask("genmove b")  # compiles
        assert program.ask("time_settings 2 0 0") == "=\n\n"
        start = time.monotonic()
        assert program.ask("genmove w").startswith("= ")
        assert time.monotonic() - start < 2.0
        assert program.ask("time_left b 1 0") == "=\n\n"
        assert program.ask("time_left b one 0").startswith("? syntax error: seconds must be a number")


def test_an_analysis_runs_until_the_next_line(othello):
    othello.ask("genmove b")
    assert othello.ask("8 kata-analyze w interval 2") == "=8\n"
    deadline = time.monotonic() + 20
    while "info move" not in "".join(othello.said) and time.monotonic() < deadline:
        time.sleep(0.02)
    text = "".join(othello.said)
    assert " visits " in text
    assert " order 0 pv " in text
    othello.said.clear()
    othello.server.receive("9 name")
    said = "".join(othello.said)
    assert said.endswith("\n=9 Treetop\n\n")
    quiet = len(othello.said)
    time.sleep(0.1)
    assert len(othello.said) == quiet


def test_a_clock_without_time_left_is_a_clock_and_not_unlimited_time():
    with Program("othello(size=6)") as program:
        program.ask("time_settings 60 0 0")
        program.ask("time_left b 0 0")
        assert program.server._clocks[0] == Clock(0.0)
        program.ask("genmove b")
        assert program.server._clocks[1] == Clock(60.0)
        for unlimited in ("time_settings 0 1 0", "kgs-time_settings none", "time_settings 0 0 0"):
            assert program.ask(unlimited) == "=\n\n"
            assert program.server._clocks == [None, None]


def test_the_time_of_a_move_is_taken_from_its_clock_if_the_program_does_not_tell():
    with Program("othello(size=6)", simulations=50) as program:
        program.ask("time_settings 60 0 0")
        program.ask("genmove b")
        assert program.server._clocks[0].left < 60.0
        assert program.server._clocks[1].left == 60.0


def test_clocks_of_kgs_are_known():
    with Program("othello(size=6)") as program:
        program.ask("kgs-time_settings byoyomi 60 10 5")
        assert program.server._clocks[0] == Clock(60.0, period=10.0)
        program.ask("kgs-time_settings canadian 60 100 20")
        assert program.server._clocks[0] == Clock(60.0, period=5.0)
        program.ask("kgs-time_settings absolute 60")
        assert program.server._clocks[0] == Clock(60.0)
        assert program.ask("kgs-time_settings hourglass 60").startswith("? syntax error")


def test_nothing_is_compiled_for_rules_that_may_change_again(monkeypatch):
    with Program("go(size=5)", simulations=20) as program:
        prepared = []
        monkeypatch.setattr(Thinker, "prepare", lambda _, position: prepared.append(position.game.name))
        for command in ("boardsize 9", "komi 5", "clear_board", "komi 5.5", "fixed_handicap 2", "name"):
            assert program.ask(command).startswith("=")
        assert prepared == []
        program.ask("time_settings 60 0 0")
        program.ask("time_left w 60 0")
        assert prepared == ["go(size=9, komi=5.5)"]


def test_undo_takes_back_a_move_with_the_pass_before_it():
    with Program("go(size=5)", simulations=20) as program:
        for command in ("play b C3", "play b C4", "undo"):
            assert program.ask(command) == "=\n\n"
        assert program.server.position.moves() == ["C3"]


def test_another_komi_keeps_a_game_in_which_a_colour_moved_twice():
    with Program("go(size=5)", simulations=20) as program:
        for command in ("play b C3", "play b C4", "komi 2"):
            assert program.ask(command) == "=\n\n"
        assert program.server.game.parameters["komi"] == 2
        assert program.ask("list_stones b") == "= C4 C3\n\n"
        assert program.ask("undo") == "=\n\n"
        assert program.ask("list_stones b") == "= C3\n\n"
        assert program.ask("komi 1000") == "? unacceptable komi\n\n"


def test_a_game_of_go_may_go_on_after_two_passes():
    with Program("go(size=5)", simulations=20) as program:
        for command in ("play b C3", "play w pass", "play b pass", "play w D4", "play w D3"):
            assert program.ask(command) == "=\n\n"
        assert program.ask("list_stones w") == "= D4 D3\n\n"
        assert program.ask("list_stones b") == "= C3\n\n"
        assert program.ask("final_score").startswith("? cannot score")
        assert program.ask("genmove b").startswith("= ")


def test_a_pass_at_the_end_is_taken_back_by_undo():
    with Program("go(size=5)", simulations=20) as program:
        for command in ("play b C3", "play w pass", "play b pass", "genmove w", "undo"):
            assert program.ask(command).startswith("=")
        assert program.server.position.is_terminal


def test_a_colour_may_not_move_twice_where_there_is_no_pass(othello):
    assert othello.ask("play w D5") == "? illegal move\n\n"


def test_handicaps_are_those_of_the_protocol():
    with Program("go(size=9)", simulations=20) as program:
        assert program.ask("fixed_handicap 1") == "? invalid number of stones\n\n"
        assert program.ask("fixed_handicap 5") == "= C3 G7 C7 G3 E5\n\n"
        assert program.server.position.player == 1
        assert program.ask("undo") == "? cannot undo\n\n"
        assert program.ask("fixed_handicap 2") == "? board not empty\n\n"
        program.ask("clear_board")
        assert program.ask("set_free_handicap A1 A1") == "? bad vertex list\n\n"
        assert program.ask("set_free_handicap A1 Z9") == "? bad vertex list\n\n"
        assert program.ask("set_free_handicap A1 J9") == "=\n\n"
        assert program.ask("list_stones b") == "= J9 A1\n\n"
        program.ask("clear_board")
        assert len(program.ask("place_free_handicap 40").split()) == 10


def test_fixed_handicaps_are_on_the_points_of_the_protocol():
    assert handicap(19, 9) == ["D4", "Q16", "D16", "Q4", "D10", "Q10", "K4", "K16", "K10"]
    assert handicap(19, 6) == ["D4", "Q16", "D16", "Q4", "D10", "Q10"]
    assert handicap(8, 4) == ["C3", "F6", "C6", "F3"]
    for size, count in ((5, 2), (8, 5), (9, 10), (19, 1)):
        with pytest.raises(ConfigError, match="handicap"):
            handicap(size, count)


def test_all_stones_at_the_end_are_alive():
    with Program("go(size=5)", simulations=20) as program:
        for command in ("play b C3", "play w E5", "play b C4", "play w pass", "play b pass"):
            program.ask(command)
        assert program.ask("final_status_list alive") == "= C4 C3\nE5\n\n"
        assert program.ask("final_status_list dead") == "=\n\n"
        assert program.ask("final_status_list asleep").startswith("? syntax error")


def test_a_lost_game_is_resigned_if_that_is_wanted():
    with Program("tic_tac_toe", simulations=300, resign=0.9) as program:
        assert program.ask("genmove b") == "= resign\n\n"
        assert program.server.position.moves() == []
    with Program("tic_tac_toe", simulations=300) as program:
        assert program.ask("genmove b") == "= B2\n\n"


def test_a_move_may_be_shown_while_it_is_found(othello):
    said = othello.ask("5 kata-genmove_analyze b 1")
    assert said.startswith("=5\ninfo move ")
    assert said.splitlines()[-2].startswith("play ")
    assert len(othello.server.position.moves()) == 1
    assert othello.ask("lz-genmove_analyze 10") == "? syntax error: a colour is missing\n\n"


def test_the_answer_to_an_analysis_begins_before_its_reports(othello, monkeypatch):
    begin = Thinker.begin

    def hasty(self, *arguments, report, **named):
        assert othello.said == ["=3\n"]
        begin(self, *arguments, report=report, **named)

    monkeypatch.setattr(Thinker, "begin", hasty)
    assert othello.ask("3 lz-analyze b 100") == "=3\n"


def test_control_characters_tabs_and_comments_are_left_out(othello):
    assert othello.ask("4\tname\x07 # hello") == "=4 Treetop\n\n"
    assert othello.ask("\x00\r") == ""
    assert othello.ask("٣ name").startswith("? unknown command")
    assert othello.ask("name " + "x" * 20_000).startswith("? syntax error: a command has at most")


def test_a_game_of_other_kind_is_refused():
    for name in ("pig", "kuhn_poker", "matching_pennies"):
        with pytest.raises(ConfigError, match="GTP is for games of two players"):
            GtpServer(print, tt.load_game(name))


def test_random_lines_are_answered_and_never_end_the_server(othello):
    rng = random.Random(1)
    names = [*othello.ask("list_commands").removeprefix("= ").split(), "foo", "", "#", "\x00", "é"]
    names = [name for name in names if name not in ("quit", "genmove", "reg_genmove")]
    words = ["b", "white", "d3", "pass", "A1", "9", "-1", "1e9", "9" * 50, "nan", "", "\t", "interval", "ü", "I5"]
    for _ in range(500):
        line = " ".join([rng.choice(names), *rng.choices(words, k=rng.randrange(4))])
        othello.ask(line)
        assert othello.open
        assert not othello.said or othello.said[-1].endswith("\n")
    assert othello.ask("name") in ("= Treetop\n\n", "\n= Treetop\n\n")
