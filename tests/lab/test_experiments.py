"""Experiments: problems by name, one run of each, and what distinguishes experiments."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from treetop.errors import ConfigError, FormulaError
from treetop.lab.experiments import Experiment, prove_one, run_of
from treetop.lab.runs import RunLog
from treetop.lab.suite import run_suite
from treetop.prove.config import ProofConfig
from treetop.prove.theorems import prove
from treetop.search.limits import Limit

PROBLEMS = {
    "swap.p": "fof(a, axiom, p & q).\nfof(c, conjecture, q & p).\n",
    "deeper/peirce.p": "fof(c, conjecture, ((p => q) => p) => p).\n",
    "deeper/curry.p": "fof(c, conjecture, (p & q => r) <=> (p => (q => r))).\n",
}
LOOP = "fof(c, conjecture, ((a <=> b) => (a & b & c)) & ((b <=> c) => (a & b & c)) & ((c <=> a) => (a & b & c)) => (a & b & c)).\n"


@pytest.fixture
def folder(tmp_path):
    for name, text in PROBLEMS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def experiment(folder, **options):
    return Experiment(folder, ProofConfig(), **{"tiers": (10, 50), **options})


def test_problems_have_names_in_their_folder(folder):
    assert experiment(folder).problems() == ["deeper/curry", "deeper/peirce", "swap"]
    assert experiment(folder / "swap.p").problems() == ["swap"]


def test_lemmas_of_a_file_of_coq_are_problems_each(folder):
    (folder / "swap.v").write_text(
        "Lemma one : True.\nAdmitted.\nModule M.\nLemma two : True.\nProof. exact I. Qed.\nEnd M.\n"
    )
    found = experiment(folder)
    assert found.problems() == ["deeper/curry", "deeper/peirce", "swap.p", "swap.v:one", "swap.v:M.two"]
    assert found.theorem("swap.v:M.two").name == "M.two"
    assert found.theorem("swap.p").name == "swap"


def test_an_unknown_problem_is_an_error_that_names_the_folder(folder):
    with pytest.raises(ConfigError, match="there is no problem 'nothing' in "):
        experiment(folder).theorem("nothing")


def test_an_experiment_needs_an_end(folder):
    with pytest.raises(ConfigError, match="needs a limit or budget tiers"):
        Experiment(folder, ProofConfig())


def test_the_mode_reaches_the_theorems(folder):
    assert experiment(folder, mode="raw").theorem("swap").facts()["mode"] == "raw"


def test_the_report_lists_the_problems_and_the_budget(folder):
    made = experiment(folder, limit=Limit(seconds=9.0)).report(
        ["swap", "deeper/peirce"], ("puct", "blind_uniform"), (0, 1)
    )
    assert made.theorems == ("swap", "deeper/peirce")
    assert made.policies == ("puct", "blind_uniform")
    assert made.limits["seconds"] == 9.0
    assert made.budget_tiers == (10, 50)
    assert not made.allow_easy
    assert "auto" in made.blocked


def test_another_statement_makes_another_report(folder):
    before = experiment(folder).report(["swap"], ("puct",), (0,))
    (folder / "swap.p").write_text(LOOP)
    assert experiment(folder).report(["swap"], ("puct",), (0,)).theorems_digest != before.theorems_digest


def test_a_problem_that_cannot_be_read_is_reported_at_once(folder):
    (folder / "swap.p").write_text("fof(c, conjecture, p &).\n")
    with pytest.raises(FormulaError):
        experiment(folder).report(["swap"], ("puct",), (0,))


def test_one_run_reports_how_it_ended(folder):
    found = experiment(folder)
    run = prove_one("swap", "puct", 3, found)
    assert (run.theorem, run.policy, run.seed, run.status) == ("swap", "puct", 3, "proved")
    assert run.structure
    assert run.size == 1
    other = prove_one("deeper/peirce", "puct", 0, found)
    assert other.status == "exhausted"
    assert not other.structure
    assert not other.script


def test_a_limit_ends_a_run_where_there_are_no_tiers(folder):
    (folder / "loop.p").write_text(LOOP)
    run = prove_one("loop", "blind_uniform", 1, experiment(folder, tiers=(), limit=Limit(calls=3), mode="raw"))
    assert (run.status, run.attempts) == ("open", 3)


def test_equal_seeds_give_equal_runs(folder):
    found = experiment(folder, mode="raw")
    first, second, other = (prove_one("deeper/curry", "blind_uniform", seed, found) for seed in (1, 1, 2))
    assert first.proved
    assert (first.attempts, first.structure, first.script) == (second.attempts, second.structure, second.script)
    assert (first.attempts, first.script) != (other.attempts, other.script)


def test_a_result_is_kept_under_the_name_that_it_was_asked_for():
    run = run_of(prove("p -> p"), "puct", 7, "folder/name")
    assert (run.theorem, run.policy, run.seed, run.size) == ("folder/name", "puct", 7, 1)


def test_a_run_that_ctrl_c_ends_is_none(folder):
    (folder / "loop.p").write_text(LOOP.replace("a & b & c", " & ".join("abcdefghijklmn")))  # takes a second
    found = experiment(folder, tiers=(100_000,), mode="raw")
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))

    def interrupted() -> None:
        timer.start()
        prove_one("loop", "blind_uniform", 0, found)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    timer.join()


def test_an_experiment_goes_on_with_another_policy_as_if_it_had_been_there(folder, tmp_path):
    found = experiment(folder)
    problems = found.problems()

    def runs(out, policies):
        with RunLog(out, found.report(problems, policies, (0, 1)).to_dict()) as log:
            made = run_suite(problems, prove_one, log, policies=policies, seeds=(0, 1), arguments=(found,))
        return {run.key: (run.status, run.attempts, run.script) for run in made.runs}

    runs(tmp_path / "runs.jsonl", ("puct",))
    assert runs(tmp_path / "runs.jsonl", ("puct", "blind_uniform")) == runs(None, ("puct", "blind_uniform"))
