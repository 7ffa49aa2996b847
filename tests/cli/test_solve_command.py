from __future__ import annotations

import json
import signal

import pytest

from tests.cli.conftest import started

DECIDED = ("solve", "connect_four", "--moves", "4 4 4 5 5 3 3 3 5 2 1 6")


def test_the_json_of_a_solution_has_every_move(run):
    ended = run(*DECIDED, "--json")
    message = json.loads(ended.out)
    assert (ended.code, ended.err) == (0, "")
    assert (message["method"], message["player"], message["values"]) == (
        "connect_four",
        0,
        [message["value"], -message["value"]],
    )
    assert [move["move"] for move in message["moves"]] == list("1234567")
    kept = [move["action"] for move in message["moves"] if move["value"] == message["value"]]
    assert message["best_actions"] == kept
    assert message["action"] in kept


def test_a_piped_solution_is_plain_text(shell):
    ended = shell("solve", "tic_tac_toe", "--moves", "a1 b1 a2 b2")
    assert (ended.code, ended.err) == (0, "")
    assert "a3: wins in 1 ply\nb3: draws\nc1: loses in 2 plies\n" in ended.out
    assert "player 0, who is to move, wins in 1 ply: best is a3" in ended.out
    assert "\x1b" not in ended.out


def test_a_diagram_sets_the_position_up(run):
    ended = run("solve", "tic_tac_toe", "--setup", "X X .\nO O .\n. . .")
    assert ended.code == 0
    assert "c3: wins in 1 ply" in ended.out


def test_a_position_that_is_not_solved_in_time_ends_with_1_and_without_a_claim(run):
    ended = run("solve", "connect_four", "--seconds", "0.1", "--json")
    assert (ended.code, ended.out) == (1, "")
    assert "connect_four is not solved within 0.1 s" in ended.err
    assert "nothing is proven" in ended.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["connect_five"], "there is no game called"),
        (["connect_four", "--moves", "8"], "not a legal move"),
        (["connect_four", "--moves", "1 2 1 2 1 2 1"], "the game is over"),
        (["nim", "--seconds", "0"], "seconds must be a positive number"),
        (["nim", "--setup", "|||"], "cannot read a diagram"),
    ],
)
def test_what_cannot_be_solved_is_a_usage_error(run, args, words):
    ended = run("solve", *args)
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err


def test_a_terminal_sees_a_live_line_and_a_table(tmp_path):
    with started("solve", "connect_four", "--moves", "4 4 4 5 5 3 3 3", folder=tmp_path, out_too=True) as process:
        code, drawn = process.end()
    assert code == 0
    assert "preparing connect_four" in drawn
    assert "─────" in drawn
    assert "perfect play" in drawn
    assert "\x1b[1;32m" in drawn


def test_ctrl_c_ends_with_1_and_without_a_claim(tmp_path):
    with started("solve", "connect_four", "--json", folder=tmp_path) as process:
        process.see("0 of 7 moves")
        process.process.send_signal(signal.SIGINT)
        code, out = process.end()
    assert (code, out) == (1, "")
