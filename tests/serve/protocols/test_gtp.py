"""GTP: what is answered to commands, right and wrong ones."""

from __future__ import annotations

import random
import time

import pytest

import treetop as tt
from treetop.errors import ConfigError
from treetop.players.gtp import renamed
from treetop.serve.engines import Engine
from treetop.serve.protocols.gtp import GtpServer
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
