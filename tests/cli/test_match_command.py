"""`treetop match` and `treetop tournament`: in this process, piped, on a terminal, interrupted and resumed."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import interrupted, started
from treetop.arena.log import read_match

STAND_INS = ("--make-player", "tests.arena.stand_ins:make")
QUICK = (*STAND_INS, "--any-opening", "--workers", "1")


def test_a_piped_match_prints_a_table(run):
    ended = run("match", "winner", "random", "--game", "tic_tac_toe", "--games", "20", *QUICK)
    assert ended.code == 0
    assert ended.err == ""
    assert "winner against random: tic_tac_toe, 20 games, seed 0" in ended.out
    assert "normalized Elo" in ended.out
    assert "\x1b" not in ended.out


def test_the_json_of_a_match_has_its_keys(run):
    ended = run(
        "match", "winner", "random", "--game", "tic_tac_toe", "--games", "10", "--sprt", "-10", "50", "--json", *QUICK
    )
    reported = json.loads(ended.out)
    assert {
        "wins",
        "draws",
        "losses",
        "pentanomial",
        "elo",
        "normalized_elo",
        "sprt",
        "forfeits",
        "first_player",
        "superiority",
    } <= reported.keys()
    assert reported["elo"].keys() == {"value", "low", "high"}
    assert reported["sprt"]["elo0"] == -10
    assert reported["sprt"]["model"] == "normalized"


def test_a_match_in_a_cold_cache_has_no_forfeits_and_records_no_compile(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("TREETOP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TREETOP_QUIET", "0")
    ended = shell(
        "match",
        "uct(simulations=20)",
        "alphabeta(depth=2)",
        "--game",
        "nim(stones=5)",
        "--games",
        "4",
        "--workers",
        "2",
        "--opening-plies",
        "0",
        "--move-deadline",
        "1",
        "--out",
        "m.jsonl",
        "--json",
    )
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["forfeits"] == {"A": 0, "B": 0}
    assert all(seconds < 1 for record in read_match(tmp_path / "m.jsonl")[1] for seconds in record["seconds"].values())
    assert ended.err.count("compiling the search loop, for ") <= 1  # the workers say nothing
    assert f"once on this machine, saved in {tmp_path / 'cache'}" in ended.err


def test_an_engine_that_refuses_its_options_is_one_line_and_no_traceback(shell):
    ended = shell("match", "unfit", "random", "--game", "tic_tac_toe", "--games", "4", *STAND_INS)
    assert (ended.code, ended.err) == (1, "error: the engine plays by other rules\n")


def test_every_option_reaches_the_match(run, tmp_path):
    run(
        "match",
        "winner",
        "random",
        "--game",
        "connect_four",
        "--games",
        "4",
        "--seed",
        "7",
        "--out",
        "m.jsonl",
        "--opening-plies",
        "3",
        "--move-deadline",
        "9",
        *QUICK,
    )
    header, records = read_match(tmp_path / "m.jsonl")
    assert header["seed"] == 7
    assert header["move_deadline"] == 9
    assert header["openings"] == {"plies": 3, "balanced": False, "tries": 40}
    assert [len(record["opening"]) for record in records] == [3] * 4
    reported = json.loads(
        run(
            "match",
            "winner",
            "random",
            "--game",
            "tic_tac_toe",
            "--sprt",
            "0",
            "9",
            "--sprt-model",
            "logistic",
            "--alpha",
            "0.1",
            "--beta",
            "0.2",
            "--games",
            "2",
            "--json",
            *QUICK,
        ).out
    )["sprt"]
    assert (reported["model"], reported["alpha"], reported["beta"]) == ("logistic", 0.1, 0.2)


def test_the_same_command_goes_on(run, tmp_path):
    command = ("match", "winner", "random", "--game", "tic_tac_toe", "--out", "m.jsonl", "--json", *QUICK)
    run(*command, "--games", "6")
    first = (tmp_path / "m.jsonl").read_bytes()
    assert json.loads(run(*command, "--games", "10").out)["games"] == 10
    assert (tmp_path / "m.jsonl").read_bytes().startswith(first)


def test_players_may_be_named_in_a_file(run, tmp_path):
    (tmp_path / "players.toml").write_text('[players.strong]\nspec = "winner"\n[players]\nweak = "random"\n')
    out = run(
        "match", "strong", "weak", "--game", "tic_tac_toe", "--games", "4", "--players", "players.toml", *QUICK
    ).out
    assert "strong against weak" in out
    out = run(
        "tournament",
        "weak",
        "strong",
        "first",
        "--game",
        "tic_tac_toe",
        "--games",
        "4",
        "--players",
        "players.toml",
        *QUICK,
    ).out
    assert "3 players" in out
    assert "strong" in out


@pytest.mark.parametrize(("arguments", "words"), [
    (("--games", "5"), "even number"), (("--sprt", "5", "0"), "elo0 must be less"), (("--sprt", "0", "5", "--alpha", "2"), "alpha must be a number above 0"),
    (("--workers", "-2"), "--workers must be"), (("--out", "nowhere/m.jsonl"), "there is no folder"), (("--players", "none.toml"), "no file"),
])  # fmt: skip
def test_usage_errors_exit_with_2(run, arguments, words):
    ended = run("match", "winner", "random", "--game", "tic_tac_toe", "--games", "4", *QUICK, *arguments)
    assert ended.code == 2
    assert words in ended.err
    assert ended.out == ""


def test_unknown_players_and_games_exit_with_2(run):
    assert run("match", "nobody", "random", "--game", "tic_tac_toe", *QUICK).code == 2
    assert run("match", "winner", "random", "--game", "tic_tac_to", *QUICK).code == 2
    assert run("match", "winner", "random").code == 2
    assert run("tournament", "winner", "winner", "--game", "tic_tac_toe", *QUICK).code == 2


def test_a_failure_exits_with_1_and_names_the_file(run, tmp_path):
    ended = run("match", "buggy", "random", "--game", "tic_tac_toe", "--games", "60", "--out", "m.jsonl", *QUICK)
    assert ended.code == 1
    assert "a bug of ours" in ended.err
    assert "m.jsonl" in ended.err


def test_a_tournament_prints_a_cross_table_and_json(run, tmp_path):
    command = (
        "tournament",
        "random",
        "winner",
        "first",
        "--game",
        "tic_tac_toe",
        "--games",
        "6",
        "--out",
        "folder",
        "--anchor",
        "winner",
        *QUICK,
    )
    ended = run(*command)
    assert ended.code == 0
    assert "anchor" in ended.out
    assert "18 games" in ended.out
    reported = json.loads(run(*command, "--json").out)
    assert reported["ratings"]["winner"] == {"value": 0.0, "low": 0.0, "high": 0.0}
    assert len(reported["matches"]) == 3
    assert len(list((tmp_path / "folder").iterdir())) == 3


def test_a_terminal_sees_a_live_line_and_a_table(tmp_path):
    arguments = ("match", "slow:0.02", "random", "--game", "tic_tac_toe", "--games", "20", "--sprt", "0", "5", *QUICK)
    with started(*arguments, folder=tmp_path, out_too=True) as process:
        process.see("games/s")
        code, drawn = process.end()
    assert code == 0
    assert "LLR" in drawn
    assert "─────" in drawn


def test_ctrl_c_reports_what_is_known_and_how_to_go_on(tmp_path):
    arguments = (
        "match",
        "slow:0.03",
        "random",
        "--game",
        "tic_tac_toe",
        "--games",
        "400",
        "--out",
        "m.jsonl",
        *STAND_INS,
        "--any-opening",
        "--workers",
        "2",
    )
    ended = interrupted(*arguments, folder=tmp_path, out="m.jsonl")
    assert ended.code == 130, ended.err
    assert "of 400 games" in ended.out
    assert "continue with:  treetop match slow:0.03 random" in ended.err
    assert "Traceback" not in ended.err
    assert not list(tmp_path.glob("*.lock"))
