"""`treetop prove --suite`: experiments; in this process, on a terminal, interrupted, killed and resumed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time

import pytest

from tests.cli.conftest import environment, interrupted, started
from tests.cli.to_prove import EASY, LEMMAS, PEIRCE, needs_coq


def _without_seconds(runs):
    return [{name: value for name, value in one.items() if name != "seconds"} for one in runs]


def test_a_folder_is_run_to_its_end_and_what_is_not_proved_is_a_result(run, problems):
    ended = run("prove", "--suite", "problems", "--tiers", "5,10")
    assert (ended.code, ended.err) == (0, "")
    assert "all        3" in ended.out
    for words in (
        "policy     puct; c 0.1, backup and_min",
        "seeds 0; rng SplitMix64",
        "tie-break by the seed",
        "provider ",
        "ranker none",
        "easy ones blocked",
        "budget tiers 5, 10 simulations",
        "theorems   3 (easy, hard, peirce), digest ",
    ):
        assert words in ended.out
    assert max(map(len, ended.out.splitlines())) < 250


def test_the_help_says_that_a_result_is_no_failure(run):
    help_text = " ".join(run("prove", "--help").out.replace("│", " ").split())
    assert "a theorem that is not proved is a result there, not a failure" in help_text


@needs_coq
def test_a_folder_may_hold_problems_of_both_kinds(run, problems):
    (problems / "lemmas.v").write_text(LEMMAS)
    (problems / "broken.v").write_text("Lemma broken : nonsense.\nAdmitted.\n")
    message = json.loads(run("prove", "--suite", "problems", "--tiers", "3,6", "--json").out)
    assert {one["theorem"]: one["status"] for one in message["runs"]}.keys() == {
        "broken:broken", "easy", "hard", "lemmas:left_zero", "lemmas:not_true", "lemmas:right_zero", "peirce"}  # fmt: skip
    assert message["report"]["prover"]["prover"].count("Coq") == 1
    assert message["report"]["prover"]["prover"].count("logic") == 1
    assert message["complete"]
    text = run("prove", "--suite", "problems/broken.v", "--tiers", "3").out
    assert re.search(r"failed +broken:broken: ", text)
    assert "nonsense was not found" in text


def test_basins_and_k_are_reported_and_drawn(run, problems, tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need the extra `plot`")
    command = (
        "prove",
        "--suite",
        "problems",
        "--basin-seeds",
        "3",
        "--basin-blind",
        "--tiers",
        "5,10",
        "--mode",
        "raw",
        "--plot",
        "k.png",
    )
    text = run(*command).out
    assert "K in attempts" in text
    assert "drawn: k.png" in text
    assert (tmp_path / "k.png").read_bytes().startswith(b"\x89PNG")
    message = json.loads(run(*command, "--json").out)
    assert {"runs", "table", "report", "basins", "k"} <= message.keys()
    assert len(message["runs"]) == 3 * 2 * 3
    assert message["k"].keys() == {"attempts", "expansions", "seconds"}


def test_an_experiment_on_a_terminal_fits_its_width(problems, tmp_path):
    (problems / "a_problem_with_a_rather_long_name_for_a_table.p").write_text(EASY)
    with started(
        "prove",
        "--suite",
        "problems",
        "--basin-seeds",
        "2",
        "--basin-blind",
        "--tiers",
        "3,6",
        folder=tmp_path,
        out_too=True,
    ) as process:
        code, drawn = process.end()
    assert code == 0
    assert "blind_uniform" in drawn
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn)
    assert "hard" in plain
    assert max(len(line) for line in re.split(r"[\r\n]", plain)) <= 100


def test_a_killed_experiment_goes_on_and_ends_with_the_same_table(problems, tmp_path, run):
    command = (
        "prove",
        "--suite",
        "problems",
        "--basin-seeds",
        "20",
        "--basin-blind",
        "--tiers",
        "10,60",
        "--mode",
        "raw",
        "--json",
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "treetop", *command, "--out", "killed.jsonl"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out = tmp_path / "killed.jsonl"
    until = time.monotonic() + 60
    while not out.exists() or out.read_bytes().count(b"\n") < 10:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)
    process.kill()
    process.communicate()
    lines = out.read_bytes().count(b"\n") - 1
    assert 0 < lines < 120
    with out.open("ab") as file:
        file.write(b'{"theorem": "hard", "po')  # a line that the end has torn
    resumed, whole = json.loads(run(*command, "--out", "killed.jsonl").out), json.loads(run(*command).out)
    assert len(resumed["runs"]) == 120
    assert _without_seconds(resumed["runs"]) == _without_seconds(whole["runs"])
    assert resumed["k"]["attempts"] == whole["k"]["attempts"]


def test_the_file_of_another_experiment_is_refused_and_left_alone(run, problems, tmp_path):
    command = ("prove", "--suite", "problems", "--out", "runs.jsonl", "--json")
    assert run(*command, "--tiers", "5").code == 0
    kept = (tmp_path / "runs.jsonl").read_bytes()
    ended = run(*command, "--tiers", "6")
    assert (ended.code, ended.out) == (2, "")
    assert "runs.jsonl belongs to another experiment: its budget tiers is 5, not 6" in ended.err
    (problems / "easy.p").write_text(PEIRCE)
    assert "its theorems digest is" in run(*command, "--tiers", "5").err
    assert (tmp_path / "runs.jsonl").read_bytes() == kept


def test_ctrl_c_in_an_experiment_keeps_whole_runs_only_and_reports_how_to_go_on(problems, tmp_path):
    arguments = (
        "prove",
        "--suite",
        "problems",
        "--basin-seeds",
        "2000",
        "--tiers",
        "10,60",
        "--mode",
        "raw",
        "--out",
        "runs.jsonl",
    )
    ended = interrupted(*arguments, folder=tmp_path, out="runs.jsonl")
    assert ended.code == 130, ended.err
    assert "continue with:  treetop prove --suite problems" in ended.err
    assert "of 6,000 runs" in ended.out
    assert "Traceback" not in ended.err
    hard = [
        json.loads(line)
        for line in (tmp_path / "runs.jsonl").read_text().splitlines()[1:]
        if '"theorem": "hard"' in line
    ]
    assert {one["simulations"] for one in hard if one["status"] == "open"} <= {60}, "half a run is none"
