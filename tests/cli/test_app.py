from __future__ import annotations

import pytest

import treetop

COMMANDS = ["games", "search", "solve", "play", "check", "bench", "warmup"]


def test_the_version_is_the_package_s(run):
    assert run("--version").out == f"treetop {treetop.__version__}\n"


def test_help_names_every_command(run):
    out = run("--help").out
    assert all(command in out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(run, command):
    ended = run(command, "--help")
    assert ended.code == 0
    assert "Usage" in ended.out


def test_python_m_treetop_is_the_command(shell):
    assert shell("--version").out == f"treetop {treetop.__version__}\n"


def test_help_and_the_list_of_games_do_not_load_numba(shell):
    program = """
import sys
from treetop.cli.app import app
try:
    app(sys.argv[1:])
except SystemExit:
    assert "numba" not in sys.modules
"""
    for args in (["--help"], ["games"], ["games", "nim"]):
        ended = shell(*args, python=("-c", program))
        assert ended.code == 0, ended.err


def test_an_unknown_command_is_a_usage_error(run):
    assert run("dance").code == 2


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["search", "nimm"], "did you mean nim?"),
        (["search", "nim(stones=0)"], "stones must be a whole number"),
        (["search", "nim(heap=3)"], "its parameters are stones=21, most=3"),
        (["search", "no_such_module:Game"], "cannot be imported"),
        (["search"], "no game: give the name"),
        (["search", "nim", "--simulations", "0"], "simulations must be a whole number of at least 1"),
        (["search", "nim", "--seconds", "nan"], "seconds must be a positive number"),
        (["search", "nim", "--c", "-1"], "c must be a number of at least 0"),
        (["search", "nim", "--max-nodes", "3"], "max_nodes must be at least 8"),
        (["search", "nim", "--final", "visits", "--temperature", "1"], "--temperature works with --final temperature"),
        (["search", "nim", "--rule", "best"], "best"),
        (["search", "nim", "--simulations", "many"], "--simulations"),
        (["search", "tic_tac_toe", "--setup", "garbage"], "garbage"),
        (["search", "nim", "--load", "missing.search"], "there is no file missing.search"),
        (["search", "nim", "--save", "nowhere/x.search"], "there is no folder nowhere"),
        (["play"], "no game: give the name"),
        (["play", "nim", "--player", "2"], "none, both or players of nim(stones=21, most=3) (0, 1)"),
        (["play", "nim", "--player", "1", "--second"], "give only one of them"),
        (["play", "nim", "--save", "nowhere/x.json"], "there is no folder nowhere"),
        (["check", "nimm"], "did you mean nim?"),
        (["check", "nim", "--games", "0"], "games must be a whole number of at least 1"),
        (["bench", "nimm"], "did you mean nim?"),
        (["bench", "nim", "--repeat", "0"], "--repeat"),
        (["warmup", "nimm"], "did you mean nim?"),
        (["games", "nimm"], "did you mean nim?"),
    ],
)
def test_a_usage_error_ends_with_2_and_says_what_was_wrong(run, args, words):
    ended = run(*args)
    assert ended.code == 2
    assert words in ended.err
    assert ended.out == ""


def test_an_illegal_move_shows_the_position_and_the_legal_moves(run):
    ended = run("search", "tic_tac_toe", "--moves", "b2 b2")
    assert ended.code == 2
    assert "'b2' is not a legal move here; the legal moves are a1, b1" in ended.err
    assert "2 . X ." in ended.err


def test_a_finished_game_cannot_be_searched(run):
    ended = run("search", "nim(stones=3)", "--moves", "3")
    assert ended.code == 2
    assert "the game is over" in ended.err


def test_errors_come_without_a_traceback(shell):
    ended = shell("search", "nim", "--moves", "9")
    assert ended.code == 2
    assert ended.err.startswith("error: '9' is not a legal move here")
    assert "Traceback" not in ended.err


BROKEN = """
import treetop

@treetop.game(players=2, num_actions=3, max_length=2)
class Broken:
    "Promises two moves and never ends."

    player: int = treetop.field("i1")

    def reset(self):
        self.player = 0

    def legal_actions(self, out):
        out[0] = 0
        return 1

    def apply(self, action):
        self.player = 1 - self.player

    def is_terminal(self):
        return False

    def rewards(self, out):
        out[0] = out[1] = 0.0
"""


def test_a_game_of_one_s_own_is_found_beside_the_caller(shell, tmp_path):
    (tmp_path / "my_games.py").write_text(BROKEN.replace("return False", "return self.player == 1"))
    assert "Promises two moves" in shell("games", "my_games:Broken").out
    assert "Promises two moves" in shell("games", "my_games.py:Broken").out


def test_a_broken_game_is_a_failure_and_ends_with_1(shell, tmp_path):
    (tmp_path / "my_games.py").write_text(BROKEN)
    ended = shell("check", "my_games:Broken", "--games", "5")
    assert ended.code == 1
    assert ended.err.startswith("error: ")
    assert "max_length" in ended.err
    assert "Traceback" not in ended.err
