"""Sets of problems: found, run once each whatever happens, and counted."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from treetop.errors import ConfigError, SaveError
from treetop.lab.runs import Run, RunLog, read_runs
from treetop.lab.suite import family_of, find_problems, run_suite, suite_table

PROBLEMS = ["SYJ201+1.001", "SYJ201+1.002", "SYJ202+1.001", "odd"]
PROVE = "tests.lab.test_suite:prove"


def prove(problem: str, policy: str, seed: int, mood: str = "") -> Run:
    """A stand-in for a search: even problems are proved; the mood says what goes wrong with the odd one."""
    if problem == "odd":
        if mood == "raises":
            raise ZeroDivisionError("a bug of ours")
        if mood == "dies":
            os._exit(3)
        if mood == "hangs":
            time.sleep(60)
        if mood == "lies":
            return Run("even", policy, seed, "open")
        if mood == "ctrl-c":
            raise KeyboardInterrupt
        return Run(problem, policy, seed, "exhausted", attempts=2, seconds=0.5)
    return Run(problem, policy, seed, "proved", attempts=10 + seed, seconds=1.0, structure="s", size=3)


def test_problems_are_found_by_name(tmp_path):
    for name in ("b.p", "a.v", "c+1.002.p", "c+1.001.p", "notes.txt", "sub/d.p", "twice.p", "twice.v"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "folder.p").mkdir()
    found = find_problems(tmp_path)
    assert [file.name for file in found] == ["a", "b", "c+1.001", "c+1.002", "sub/d", "twice.p", "twice.v"]
    assert [file.path.suffix for file in found[:3]] == [".v", ".p", ".p"]
    assert found[4].path == tmp_path / "sub" / "d.p"
    assert find_problems(str(tmp_path / "c+1.001.p")) == [found[2]]


def test_where_there_are_no_problems_that_is_reported(tmp_path):
    (tmp_path / "notes.txt").write_text("")
    for source, words in (
        (tmp_path, "has no problem files"),
        (tmp_path / "notes.txt", "end with .p or .v"),
        (tmp_path / "nowhere", "there is no file or folder"),
    ):
        with pytest.raises(ConfigError, match=words):
            find_problems(source)


def test_families():
    assert [family_of(name) for name in ("SYJ201+1.002", "lists:app_nil", "a/b/LCL181+1", "alone", "+x")] == [
        "SYJ201",
        "lists",
        "LCL181",
        "alone",
        "+x",
    ]


def test_a_set_is_run_and_counted(tmp_path):
    seen = []
    with RunLog(tmp_path / "m", {}) as log:
        result = run_suite(PROBLEMS, prove, log, policies=["ucb1", "blind"], seeds=[0, 1], progress=seen.append)
    assert result.complete
    assert not result.interrupted
    assert len(result.runs) == 16
    assert [progress.finished for progress in seen] == list(range(1, 17))
    assert seen[0].asked == 16
    assert [seen[0].run.theorem, seen[1].run.policy, seen[8].run.seed] == ["SYJ201+1.001", "blind", 1]
    head, rows = result.table.rows()
    assert head == ["family", "policy", "runs", "proved", "exhausted", "share", "attempts", "seconds"]
    assert rows[0] == ["SYJ201", "ucb1", "4", "4", "0", "100%", "42", "4.0"]
    assert rows[3] == ["all", "ucb1", "8", "6", "2", "75%", "67", "7.0"]
    reported = json.loads(json.dumps(result.table.to_dict(), allow_nan=False))
    assert reported["blind"]["proved"] == 6
    assert reported["blind"]["families"]["odd"] == {
        "runs": 2, "proved": 0, "exhausted": 2, "open": 0, "refused": 0, "failed": 0, "attempts": 4, "seconds": 1.0,
    }  # fmt: skip
    assert str(result.table).splitlines()[0].startswith("family  policy  runs")


def test_what_the_log_has_is_not_run_again(tmp_path):
    out = tmp_path / "m"
    with RunLog(out, {}) as log:
        run_suite(PROBLEMS[:2], prove, log, policies=["ucb1"])
    content = out.read_bytes()
    seen = []
    with RunLog(out, {}) as log:
        run_suite(PROBLEMS[:2], "tests.lab.test_suite:nothing_of_that_name_is_looked_for", log, policies=["ucb1"])
        result = run_suite(PROBLEMS, prove, log, policies=["ucb1"], progress=seen.append)
    assert out.read_bytes().startswith(content)
    assert [progress.finished for progress in seen] == [3, 4]
    assert result.complete
    assert [run.theorem for run in read_runs(out)[1]] == PROBLEMS


@pytest.mark.parametrize(("mood", "workers", "reason"), [
    ("raises", 1, "ZeroDivisionError: a bug of ours"), ("raises", 2, "ZeroDivisionError: a bug of ours"), ("dies", 2, "exit code 3, 2 times"),
    ("hangs", 2, "longer than 1.5 s"), ("lies", 1, "the run of odd, ucb1, 0 was requested, but Run"),
])  # fmt: skip
def test_a_problem_that_fails_is_a_run_and_the_others_go_on(tmp_path, mood, workers, reason):
    with RunLog(tmp_path / "m", {}) as log:
        result = run_suite(
            PROBLEMS[::-1], PROVE, log, policies=["ucb1"], arguments=(mood,), workers=workers, deadline=1.5
        )
        assert result.complete
        failed = result.runs[0]
        assert (failed.theorem, failed.status) == ("odd", "failed")
        assert reason in failed.reason
        assert result.table.totals["ucb1"].proved == 3
        seen = []
        again = run_suite(PROBLEMS[::-1], PROVE, log, policies=["ucb1"], retry_failed=True, progress=seen.append)
        assert [progress.finished for progress in seen] == [4]
        assert again.runs[0].status == "exhausted"


def test_workers_do_not_change_the_runs(tmp_path):
    found = []
    for workers in (1, 2):
        with RunLog(tmp_path / str(workers), {}) as log:
            found.append(run_suite(PROBLEMS, PROVE, log, policies=["ucb1"], seeds=range(3), workers=workers).runs)
    assert found[0] == found[1]


def test_ctrl_c_gives_what_is_known_and_the_set_goes_on_later(tmp_path):
    out = tmp_path / "m"
    with RunLog(out, {}) as log:
        result = run_suite(PROBLEMS, prove, log, policies=["ucb1"], arguments=("ctrl-c",))
    assert result.interrupted
    assert not result.complete
    assert len(result.runs) == 3
    with RunLog(out, {}) as log:
        assert run_suite(PROBLEMS, prove, log, policies=["ucb1"]).complete


def test_impossible_sets_are_refused_before_anything_is_written(tmp_path):
    log = RunLog(tmp_path / "m", {})
    for change, words in (
        ({"problems": []}, "problems must be a list"),
        ({"problems": ["a", "a"]}, "without repetitions"),
        ({"policies": []}, "policies must be a list"),
        ({"seeds": [1, 1]}, "seeds must be a list"),
        ({"workers": -1}, "workers must be"),
        ({"prove_one": "nowhere:f"}, "cannot be imported"),
    ):
        with log, pytest.raises(ConfigError, match=words):
            run_suite(**{"problems": ["a"], "prove_one": prove, "policies": ["ucb1"], "log": log, **change})
    with pytest.raises(SaveError), RunLog(tmp_path / "nowhere" / "m", {}) as log:
        pass
    assert not list(Path(tmp_path).iterdir())


def test_an_empty_table_prints():
    assert str(suite_table([])).startswith("family  runs  proved")
