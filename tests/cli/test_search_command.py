from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.cli.conftest import environment, started
from treetop.search.config import choices


def _without_clocks(text: str) -> dict[str, object]:
    reported = json.loads(text)
    del reported["elapsed"], reported["report"]["elapsed"]
    return reported


def test_the_json_of_a_search_has_its_keys(run):
    ended = run("search", "nim", "--simulations", "2000", "--seed", "1", "--json")
    reported = json.loads(ended.out)
    assert ended.err == ""
    assert {"value", "action", "visits", "report"} <= reported.keys()
    assert reported["simulations"] == 2000
    assert sum(reported["visits"].values()) == 1999
    assert reported["report"]["seed"] == 1


def test_the_same_seed_gives_the_same_result(run):
    first, second, other = (
        run("search", "tic_tac_toe", "--seed", seed, "--simulations", "500", "--json").out for seed in (5, 5, 6)
    )
    assert _without_clocks(first) == _without_clocks(second)
    assert _without_clocks(first)["visits"] != _without_clocks(other)["visits"]


def test_a_piped_search_prints_the_result_plainly(shell):
    ended = shell("search", "tic_tac_toe", "--moves", "a1 b1", "--simulations", "3000")
    assert ended.code == 0
    assert ended.err == ""
    assert "1 X O ." in ended.out
    assert "principal variation" in ended.out
    assert "for player 0, who is to move" in ended.out
    assert "\x1b" not in ended.out


def test_without_a_limit_it_runs_ten_thousand_simulations(run):
    assert json.loads(run("search", "nim", "--json").out)["simulations"] == 10_000


def test_every_option_reaches_the_search(run):
    reported = json.loads(
        run(
            "search",
            "nim",
            "--simulations",
            "900",
            "--rule",
            "puct",
            "--c",
            "2",
            "--temperature",
            "0.5",
            "--evaluator",
            "uniform",
            "--expand-after",
            "2",
            "--max-depth",
            "4",
            "--max-nodes",
            "64",
            "--seed",
            "9",
            "--json",
        ).out
    )["report"]
    wanted = {
        "rule": "puct",
        "c": 2.0,
        "final": "temperature",
        "temperature": 0.5,
        "evaluator": "uniform",
        "expand_after": 2,
        "max_depth": 4,
        "max_nodes": 64,
        "seed": 9,
        "asked": "900 simulations",
    }
    assert {key: reported[key] for key in wanted} == wanted
    assert reported["nodes"] <= 64


def test_the_first_limit_reached_ends_the_search(run):
    reported = json.loads(
        run("search", "tic_tac_toe", "--nodes", "50", "--simulations", "100000", "--seconds", "60", "--json").out
    )
    assert reported["simulations"] < 100_000


def test_explain_and_report_are_printed_on_request(run):
    out = run("search", "nim", "--explain", "--report").out
    assert "UCB1: score = value" in out
    assert "rules_digest" in out


def test_a_diagram_sets_the_position_up(run):
    out = run("search", "tic_tac_toe", "--setup", "X X .\nO O .\n. . .", "--simulations", "2000").out
    assert "plays c3" in out


def test_a_saved_search_goes_on_as_if_it_had_never_stopped(run, tmp_path):
    options = ("--seed", "4", "--c", "1.1")
    run("search", "tic_tac_toe", *options, "--simulations", "500", "--save", "half.search")
    assert (tmp_path / "half.search").exists()
    continued = json.loads(run("search", "--load", "half.search", "--simulations", "700", "--json").out)
    whole = json.loads(run("search", "tic_tac_toe", *options, "--simulations", "1200", "--json").out)
    assert continued["visits"] == whole["visits"]
    assert continued["value"] == whole["value"]


def test_a_loaded_search_keeps_its_own_settings(run):
    run("search", "nim", "--save", "nim.search")
    ended = run("search", "--load", "nim.search", "--c", "2", "--seed", "1")
    assert ended.code == 2
    assert "remove --c, --seed" in ended.err
    ended = run("search", "tic_tac_toe", "--load", "nim.search")
    assert ended.code == 2
    assert "whose rules are not those of tic_tac_toe" in ended.err


def test_a_result_is_printed_even_where_it_cannot_be_saved(run, tmp_path, monkeypatch):
    from treetop.errors import SaveError
    from treetop.search.search import Search

    def full(*_: object) -> None:
        raise SaveError("the disk is full")

    monkeypatch.setattr(Search, "save", full)
    ended = run("search", "nim", "--save", "nim.search")
    assert ended.code == 2
    assert "principal variation" in ended.out
    assert "the disk is full" in ended.err


def test_ctrl_c_ends_a_search_with_its_result(tmp_path):
    with started(
        "search", "nim", "--rule", "uct", "--seconds", "600", "--save", "nim.search", folder=tmp_path
    ) as process:
        process.see("/s, best")
        process.process.send_signal(signal.SIGINT)
        code, out = process.end()
    assert code == 0
    assert "interrupted" in out
    assert "principal variation" in out
    assert (tmp_path / "nim.search").exists()


def test_a_terminal_sees_a_live_line_and_a_table(tmp_path):
    with started("search", "nim", "--seconds", "0.7", folder=tmp_path, out_too=True) as process:
        code, drawn = process.end()
    assert code == 0
    assert drawn.count("searching") >= 3
    assert "/s, best 1" in drawn
    assert "─────" in drawn
    assert "\x1b[1;32m" in drawn


def test_progress_on_the_terminal_leaves_piped_json_clean(tmp_path):
    with started("search", "nim", "--seconds", "0.5", "--json", folder=tmp_path) as process:
        process.see("searching")
        code, out = process.end()
    assert code == 0
    assert json.loads(out)["action"] in (0, 1, 2)


def test_every_final_rule_of_the_library_is_a_choice(run):
    for final in choices("final"):
        ended = run("search", "nim", "--simulations", "200", "--final", final, "--json")
        assert json.loads(ended.out)["report"]["final"] == final
    assert run("search", "nim", "--final", "best").code == 2
    assert run("search", "nim", "--final", "value", "--temperature", "1").code == 2


def test_an_infinite_temperature_is_printed_as_json(run):
    ended = run("search", "nim", "--simulations", "200", "--temperature", "inf", "--json")
    assert json.loads(ended.out, parse_constant=lambda text: 1 / 0)["report"]["temperature"] == "inf"


def test_without_a_rule_the_recommended_settings_are_used_and_named(run):
    ended = run("search", "connect_four", "--simulations", "50")
    assert "settings recommended for connect_four: uct(evaluator=\"rollout(policy='game')\")" in ended.out
    reported = json.loads(run("search", "connect_four", "--simulations", "50", "--json").out)
    assert reported["recommended"] == "uct(evaluator=\"rollout(policy='game')\")"
    assert reported["report"]["evaluator"] == "rollout(policy='game')"
    plain = run("search", "connect_four", "--simulations", "50", "--rule", "uct")
    assert "recommended" not in plain.out
    named = run("search", "connect_four", "--simulations", "50", "--rule", "uct(evaluator=heuristic)", "--json")
    assert json.loads(named.out)["report"]["evaluator"] == "heuristic"


def test_options_that_do_not_go_with_the_recommended_rule_are_refused_with_its_name(run):
    ended = run("search", "hex(size=7)", "--transpositions")
    assert ended.code == 2
    assert "the rule rave is recommended for this game; --rule uct is the plain one" in ended.err
    twice = run("search", "nim", "--rule", "uct(evaluator=rollout)", "--evaluator", "uniform")
    assert "the evaluator is given twice" in twice.err


def test_several_threads_search_from_the_shell(run):
    asked = ("search", "tic_tac_toe", "--rule", "uct", "--simulations", "500", "--json", "--threads")
    assert json.loads(run(*asked, 2).out)["simulations"] == 500
    one, two = (json.loads(run(*asked, threads, "--deterministic").out)["visits"] for threads in (1, 2))
    assert one == two
    for wrong in (0, 1000):
        refused = run(*asked, wrong)
        assert refused.code == 2
        assert "threads must be" in refused.err


def test_a_misspelt_rule_is_corrected(run):
    ended = run("search", "nim", "--rule", "utc(c=1)")
    assert ended.code != 0
    assert "there is no rule 'utc(c=1)'; did you mean uct? there are completed, grave, " in ended.err


def test_several_workers_search_one_position_and_the_output_says_so(run):
    ended = run("search", "tic_tac_toe", "--simulations", "200", "--workers", "2", "--seed", "1", "--lines", "1")
    assert ended.code == 0
    assert "400 simulations" in ended.out
    assert "merged from 2 searches of 200 simulations each: visits are added up" in ended.out
    again = run("search", "tic_tac_toe", "--simulations", "200", "--workers", "2", "--seed", "1", "--json")
    reported = json.loads(again.out)
    assert reported["merged"]["simulations"] == [200, 200]
    assert sum(reported["visits"].values()) == 398


def test_what_does_not_fit_several_workers_is_refused(run):
    for options, words in (
        (("--workers", "2", "--save", "x"), "the trees stay with the workers"),
        (("--on", "ray", "--load", "x"), "the trees stay with the workers"),
        (("--workers", "0"), "--workers must be a whole number of at least 1"),
        (("--on", "nowhere"), "on must be 'processes', 'ray' or an address such as"),
    ):
        ended = run("search", "tic_tac_toe", *options)
        assert ended.code == 2
        assert words in ended.err


def test_ctrl_c_before_a_search_of_several_is_finished_is_one_line(tmp_path):
    command = ("search", "tic_tac_toe", "--seconds", "60", "--workers", "2")
    process = subprocess.Popen(
        [sys.executable, "-m", "treetop", *command], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while len(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()) < 3:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "interrupted; no search was finished\n")
