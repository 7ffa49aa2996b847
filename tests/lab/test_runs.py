"""Runs: checked, kept line by line, never lost, never mixed with those of another experiment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from filelock import FileLock

from tests.prove.test_report import report
from treetop.errors import ConfigError, SaveError
from treetop.lab.runs import Run, RunKey, RunLog, read_runs

REPOSITORY = Path(__file__).resolve().parents[2]
REPORT = {
    "c": 1.4,
    "budget_tiers": (10, 50),
    "seeds": [0, 1],
    "policies": ["ucb1"],
    "versions": {"python": "3"},
    "theorems": ["a", "b"],
}


def run(theorem="a", policy="ucb1", seed=0, status="proved", **more) -> Run:
    found = {"structure": "f" * 16, "script": "auto.", "size": 1} if status == "proved" else {"reason": "why"}
    return Run(
        theorem,
        policy,
        seed,
        status,
        **{"simulations": 3, "attempts": 5, "expansions": 2, "seconds": 0.25, **found, **more},
    )


def write(path: Path | None, *runs: Run, report=REPORT) -> RunLog:
    with RunLog(path, report) as log:
        for one in runs:
            log.append(one)
    return log


def test_a_run_comes_back_from_json_as_it_was():
    for one in (run(), run(status="open"), run(seed=-7, seconds=3)):
        assert Run.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    assert run().proved
    assert not run(status="refused", script="auto.").proved
    assert run().key == RunKey("a", "ucb1", 0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"theorem": 3}, "theorem of a run must be text"), ({"theorem": ""}, "needs a theorem and a policy"), ({"policy": ""}, "needs a theorem"),
        ({"seed": 1.5}, "seed of a run must be a whole number, not 1.5"), ({"seed": True}, "seed of a run"), ({"status": "won"}, "must be 'proved', 'exhausted'"),
        ({"attempts": -1}, "attempts of a run must be a whole number of at least 0"), ({"size": "1"}, "size of a run"), ({"simulations": None}, "simulations"),
        ({"seconds": float("nan")}, "seconds of a run"), ({"seconds": -0.1}, "seconds"), ({"seconds": "1"}, "seconds"), ({"seconds": True}, "seconds"),
        ({"structure": ""}, "if and only if"), ({"status": "open"}, "if and only if"), ({"script": None}, "script of a run must be text"),
    ],
)  # fmt: skip
def test_a_run_that_cannot_be_is_refused(change, words):
    with pytest.raises(ConfigError, match=words):
        Run.from_dict({**run().to_dict(), **change})


def test_a_run_with_too_much_or_too_little_is_refused():
    content = run().to_dict()
    with pytest.raises(ConfigError, match="unknown: colour"):
        Run.from_dict({**content, "colour": "red"})
    del content["seed"]
    with pytest.raises(ConfigError, match="missing: seed"):
        Run.from_dict(content)


def test_what_was_written_is_read_again_and_what_is_missing_is_reported(tmp_path):
    out = tmp_path / "runs.jsonl"
    write(out, run("a"), run("b", status="open"))
    with RunLog(out, REPORT) as log:
        assert list(log.runs.values()) == [run("a"), run("b", status="open")]
        assert list(log.missing(["a", "b"], ["ucb1"], [0, 1])) == [("a", "ucb1", 1), ("b", "ucb1", 1)]
        log.append(run("a", seed=1))
        assert list(log.missing(["a", "b"], ["ucb1", "blind"], [1])) == [
            ("a", "blind", 1),
            ("b", "ucb1", 1),
            ("b", "blind", 1),
        ]
        assert log.select(["b", "a"], ["ucb1"], [0, 1]) == [run("b", status="open"), run("a"), run("a", seed=1)]
    report, runs = read_runs(out)
    assert report == json.loads(json.dumps(REPORT))
    assert runs == [run("a"), run("b", status="open"), run("a", seed=1)]
    assert [path.name for path in tmp_path.iterdir()] == ["runs.jsonl"]


def test_a_log_without_a_path_keeps_runs_in_memory():
    assert list(write(None, run("a")).missing(["a", "b"], ["ucb1"], [0])) == [("b", "ucb1", 0)]


def test_a_run_is_written_once_but_one_that_failed_may_be_tried_again(tmp_path):
    out = tmp_path / "m"
    with RunLog(out, REPORT) as log:
        log.append(run("a"))
        with pytest.raises(ConfigError, match="was run before: proved"):
            log.append(run("a", status="open"))
        log.append(run("b", status="failed"))
        assert not list(log.missing(["a", "b"], ["ucb1"], [0]))
        assert list(log.missing(["a", "b"], ["ucb1"], [0], retry_failed=True)) == [("b", "ucb1", 0)]
        log.append(run("b"))
    assert read_runs(out)[1] == [run("a"), run("b")]
    assert len(out.read_text().splitlines()) == 4


def test_a_torn_last_line_is_dropped(tmp_path):
    out = tmp_path / "m"
    write(out, run("a"), run("b"))
    content = out.read_bytes()
    header_end = content.index(b"\n")
    for cut in (len(content) - 1, len(content) - 30, header_end + 5, header_end + 1, header_end, 20, 0):
        out.write_bytes(content[:cut])
        with RunLog(out, REPORT) as log:
            left = list(log.missing(["a", "b"], ["ucb1"], [0]))
            assert left, cut
            for key in left:
                log.append(run(key.theorem))
        assert out.read_bytes() == content


def test_an_experiment_that_never_began_leaves_no_file(tmp_path):
    write(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_the_file_of_another_experiment_is_refused_and_left_alone(tmp_path):
    out = tmp_path / "m"
    write(out, run("a"))
    content = out.read_bytes()
    for change, words in (
        ({"c": 2.0}, "its c is 1.4, not 2.0; use another file"),
        ({"budget_tiers": (10,)}, "its budget tiers is 10, 50, not 10"),
        ({"theorems": ["a", "b", "c"]}, "its theorems is a, b, not a, b, c"),
        ({"ranker": "mine"}, "its ranker is none, not mine"),
    ):
        with pytest.raises(SaveError, match=words), RunLog(out, {**REPORT, **change}):
            pass
    assert out.read_bytes() == content
    with RunLog(out, {**REPORT, "seeds": [0, 1, 2], "policies": ["ucb1", "blind"], "versions": {}}) as log:
        assert len(log.runs) == 1


@pytest.mark.parametrize("content", ["hello\n", "hello", '{"kind": "a match", "version": 1}\n', '{"a": 1}\n', "[]\n"])
def test_a_foreign_file_is_refused_and_left_alone(tmp_path, content):
    out = tmp_path / "m"
    out.write_text(content)
    with pytest.raises(SaveError, match="was not written by an experiment|holds a match"), RunLog(out, REPORT):
        pass
    with pytest.raises(SaveError, match="was not written by an experiment|holds a match"):
        read_runs(out)
    assert out.read_text() == content


def test_a_damaged_file_is_reported(tmp_path):
    out = tmp_path / "m"
    write(out, run("a"), run("b"), run("b", seed=1))
    lines = out.read_text().splitlines(keepends=True)
    for damaged in ('{"theorem": "b"}\n', "garbage\n", lines[2].replace('"size": 1', '"size": -1'), lines[1]):
        out.write_text("".join([*lines[:2], damaged, *lines[3:]]))
        with pytest.raises(SaveError, match="line 3 is not a valid run"), RunLog(out, REPORT):
            pass
    out.write_text("".join([lines[0], lines[1].replace('"size": 1', '"size": "1"')]))
    with pytest.raises(SaveError, match="line 2 is not a valid run"):
        read_runs(out)
    out.write_text('{"kind": "an experiment with proofs", "version": 2}\n')
    with pytest.raises(SaveError, match="has no report"), RunLog(out, REPORT):
        pass
    out.write_text(lines[0].replace('"version": 2', '"version": 99'))
    with pytest.raises(SaveError, match="version 99"), RunLog(out, REPORT):
        pass
    with pytest.raises(SaveError, match="there is no file"):
        read_runs(tmp_path / "nowhere")


def test_two_processes_do_not_write_one_file(tmp_path):
    out = tmp_path / "m"
    with (
        FileLock(f"{out}.lock"),
        pytest.raises(SaveError, match="being written by another process"),
        RunLog(out, REPORT),
    ):
        pass
    for nowhere in (tmp_path / "nowhere" / "m", tmp_path):
        with pytest.raises(SaveError, match="cannot be written"), RunLog(nowhere, REPORT):
            pass


_PROGRAM = """
import sys, time
from treetop.lab.runs import Run, RunLog
with RunLog(sys.argv[1], {}) as log:
    for key in log.missing(["a"], ["ucb1"], range(1000)):
        log.append(Run(*key, "open"))
        time.sleep(0.005)
"""


def test_what_was_finished_before_a_kill_is_there_after_it(tmp_path):
    out = tmp_path / "m"
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(out)], env={**os.environ, "PYTHONPATH": str(REPOSITORY)}
    )
    until = time.monotonic() + 60
    while not out.exists() or out.read_bytes().count(b"\n") < 10:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with RunLog(out, {}) as log:
        seeds = [key.seed for key in log.runs]
        assert seeds == list(range(len(seeds)))
        assert len(seeds) >= 9
        assert next(log.missing(["a"], ["ucb1"], range(1000))).seed == len(seeds)


def test_an_experiment_goes_on_with_more_seeds_but_not_with_other_settings(tmp_path):
    out = tmp_path / "m"
    with RunLog(out, report().to_dict()) as log:
        log.append(Run("a", "ucb1", 0, "open"))
    with RunLog(out, report(seeds=(0, 1, 2), policies=("ucb1",), machine="another").to_dict()) as log:
        assert len(log.runs) == 1
    for change, words in (
        ({"c": 1.0}, "its c is 1.41"),
        ({"blocked": ("auto",)}, "its blocked is auto, tauto, not auto"),
        ({"prover": {}}, "its prover"),
    ):
        with pytest.raises(SaveError, match=words), RunLog(out, report(**change).to_dict()):
            pass
