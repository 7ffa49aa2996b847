"""`treetop prove`: formulas and files of Coq; in this process, piped, on a terminal, interrupted."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from rich.console import Console

from tests.cli.conftest import REPOSITORY, started
from tests.cli.to_prove import LEMMAS, needs_coq
from treetop.cli.prove_display import standing
from treetop.prove.search import ProofProgress


@pytest.fixture
def lemmas(tmp_path):
    file = tmp_path / "Lemmas.v"
    file.write_text(LEMMAS)
    return file


# Formulas.


def test_a_formula_is_proved_in_one_clear_line(run):
    ended = run("prove", "p & q -> q & p", "--mode", "raw")
    assert (ended.code, ended.err) == (0, "")
    first, _, rest = ended.out.partition("\n")
    assert first.startswith("p & q -> q & p: proved in ")
    assert first.endswith(" steps, accepted by treetop natural deduction")
    assert "goals: " in rest
    assert "\x1b" not in ended.out


def test_one_step_is_no_steps(run):
    assert "p -> p: proved in 1 step, accepted by" in run("prove", "p -> p").out


def test_a_formula_that_is_not_provable_is_refuted_and_ends_with_1(run):
    ended = run("prove", "p | ~p")
    assert (ended.code, ended.err) == (1, "")
    assert ended.out.startswith(
        "p | ~p: not provable in intuitionistic logic: there is a counter-model\n\nworld 0: no atom\n"
    )
    assert json.loads(run("prove", "p | ~p", "--json").out)["counter_model"] == {
        "worlds": [{"atoms": [], "above": [1]}, {"atoms": ["p"], "above": []}]
    }


def test_the_json_is_one_value_and_nothing_else(run):
    ended = run("prove", "p & q -> q & p", "--json", "--tree")
    reported = json.loads(ended.out)
    assert (ended.code, ended.err) == (0, "")
    assert (reported["theorem"], reported["status"], reported["proved"], reported["steps"]) == (
        "p & q -> q & p",
        "proved",
        True,
        1,
    )
    assert reported["verdict"]["accepted"]
    assert reported["tree"][0].startswith("+ goal 0: p & q -> q & p")
    assert {"policy", "seeds", "provider", "theorems_digest"} <= {"policy", *reported["report"]}


def test_long_lines_are_neither_wrapped_nor_clipped_in_a_pipe(shell):
    formula = " & ".join(f"proposition_{number}" for number in range(40)) + " -> proposition_3"
    ended = shell("prove", formula, "--tree")
    assert ended.code == 0
    assert f"{formula}: proved in 1 step, accepted by treetop natural deduction" in ended.out.splitlines()
    assert f"+ goal 0: {formula}" in ended.out.splitlines()


def test_a_tptp_problem_is_proved(run, problems):
    ended = run("prove", problems / "easy.p")
    assert ended.code == 0
    assert ended.out.startswith("easy: proved in 1 step")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "nothing to prove: give"),
        (["p & & q"], "a formula was expected here"),
        (["nowhere.v", "--lemma", "a"], "there is no file nowhere.v"),
        (["nowhere.p"], "there is no file nowhere.p"),
        (["problems"], "--suite problems runs all problems in it"),
        (["p -> p", "--lemma", "x"], "are for Coq files"),
        (["p -> p", "--write"], "are for Coq files"),
        (["p -> p", "--policy", "mcts"], "policy must be 'puct'"),
        (["p -> p", "--policy", "puct(d=1)"], "puct(d=1)"),
        (["p -> p", "--tiers", "10,x"], "whole numbers between commas"),
        (["p -> p", "--tiers", "10,5"], "increasing numbers"),
        (["p -> p", "--seconds", "0"], "seconds must be a positive number"),
        (["p -> p", "--mode", "wild"], "mode"),
        (["p -> p", "--workers", "0"], "workers must be"),
        (["p -> p", "--trace", "nowhere/t.jsonl"], "there is no folder"),
        (["p -> p", "--trace", "/proc/t.jsonl"], "cannot be written"),
        (["p -> p", "--out", "runs.jsonl"], "only for experiments, with --suite or --basin-seeds"),
        (["p -> p", "--basin-seeds", "3"], "experiments need files"),
        (["problems/easy.p", "--basin-blind"], "add --basin-seeds N"),
        (["problems/easy.p", "--basin-seeds", "0"], "must be at least 1"),
        (["problems/easy.p", "--basin-seeds", "2", "--plot", "k.txt"], "a plot is saved as"),
        (["problems/easy.p", "--basin-seeds", "2", "--tree"], "not for experiments"),
        (["--suite", "problems", "--plot", "k.png"], "add --basin-seeds N"),
        (["--suite", "problems", "--out", "nowhere/runs.jsonl"], "there is no folder"),
        (["--suite", "problems", "--lemma", "x"], "has no lemma x"),
        (["--suite", "nowhere"], "there is no file or folder nowhere"),
        (["--suite", "empty"], "empty has no problem files"),
        (
            ["problems/easy.p", "--basin-seeds", "2", "--basin-blind", "--policy", "blind_uniform"],
            "use another --policy",
        ),
    ],
)
def test_what_cannot_be_asked_is_a_usage_error_in_one_line(run, problems, tmp_path, args, words):
    (tmp_path / "empty").mkdir()
    ended = run("prove", *args)
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err
    assert ended.err.splitlines()[0].startswith("error: ")
    assert len(ended.err.splitlines()) == 1 or "^" in ended.err.splitlines()[-1]


def test_every_event_of_a_search_is_traced(run, tmp_path):
    assert run("prove", "p & q -> q & p", "--trace", "t.jsonl").code == 0
    events = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert events[0]["event"] == "theorem"
    assert events[0]["facts"]["statement"] == "p & q -> q & p"
    assert [event["event"] for event in events[1:]] == ["suggest", "reserve", "attempt", "proved"]


# Files of Coq.


@needs_coq
def test_a_lemma_is_proved_and_the_file_left_alone(run, lemmas):
    ended = run("prove", "Lemmas.v", "--lemma", "right_zero", "--tree")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].startswith("right_zero: proved in ")
    assert ", accepted by coqc 8." in lines[0]
    assert lines[1] == "Lemma right_zero : forall n : num, plus n zero = n."
    assert any(line.startswith("+ goal 0: forall n : num, plus n zero = n") for line in lines), (
        "in the notation that people use"
    )
    assert "(+ proved, ? open, x dead" in ended.out
    assert lemmas.read_text() == LEMMAS
    assert list(lemmas.parent.iterdir()) == [lemmas]


@needs_coq
def test_what_is_proved_is_written_though_something_else_is_not(run, lemmas):
    ended = run("prove", "Lemmas.v", "--all-admitted", "--write", "--attempts", "60")
    assert (ended.code, ended.err) == (1, "")
    assert "2 of 3 proved; not proved: not_true" in ended.out
    assert "written: left_zero, right_zero; the old file is " in ended.out
    new = lemmas.read_text()
    assert (new.count("Qed."), new.count("Admitted.")) == (2, 1)
    assert "= plus (plus m (next n)) k.\nAdmitted." in new
    assert (lemmas.parent / "Lemmas.v.bak").read_text() == LEMMAS


@needs_coq
def test_a_copy_is_a_new_file(run, lemmas, tmp_path):
    reported = json.loads(run("prove", "Lemmas.v", "--lemma", "left_zero", "--copy", "Proved.v", "--json").out)
    assert reported["written"] == "Proved.v"
    assert "Qed." in (tmp_path / "Proved.v").read_text()
    assert lemmas.read_text() == LEMMAS
    ended = run("prove", "Lemmas.v", "--lemma", "left_zero", "--copy", "Proved.v")
    assert ended.code == 2
    assert "exists already" in ended.err
    assert "give one of them" in run("prove", "Lemmas.v", "--lemma", "left_zero", "--copy", "New.v", "--write").err


@needs_coq
def test_a_proof_that_cannot_be_written_is_reported_all_the_same(run, lemmas):
    ended = run("prove", "Lemmas.v", "--lemma", "left_zero", "--copy", "/proc/Proved.v", "--json")
    assert ended.code == 1
    assert json.loads(ended.out)["proved"]
    assert "cannot be written" in ended.err
    assert lemmas.read_text() == LEMMAS


@needs_coq
def test_a_file_that_changes_during_the_search_is_left_alone(run, lemmas, tmp_path):
    os.mkfifo(tmp_path / "trace")

    def meddle():
        with (tmp_path / "trace").open() as events:  # opened for writing once the lemmas have been read
            lemmas.write_text(f"{LEMMAS}(* mine *)\n")
            events.read()

    meddler = threading.Thread(target=meddle)
    meddler.start()
    ended = run("prove", "Lemmas.v", "--lemma", "left_zero", "--write", "--trace", "trace")
    meddler.join()
    assert ended.code == 1
    assert "left_zero: proved in 1 step" in ended.out
    assert "Lemmas.v changed during the search; nothing was written" in ended.err
    assert lemmas.read_text() == f"{LEMMAS}(* mine *)\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Lemmas.v", "trace"]


@needs_coq
def test_a_file_that_does_not_compile_is_reported_with_its_line(run, lemmas):
    lemmas.write_text(f"{LEMMAS}\nLemma broken : nonsense.\nAdmitted.\n")
    ended = run("prove", "Lemmas.v", "--lemma", "left_zero", "--write")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: Lemmas.v, line 13: ")
    assert len(ended.err.splitlines()) == 1
    assert "Qed" not in lemmas.read_text()


@needs_coq
def test_the_example_is_proved_as_the_documentation_says(run):
    example = REPOSITORY / "examples" / "Lists.v"
    before = example.read_bytes()
    ended = run("prove", example, "--lemma", "app_nil", "--lemma", "rev_involutive")
    assert ended.code == 0, ended.out
    assert "2 of 2 proved" in ended.out
    assert "depending on rev_app\nLemma rev_involutive : forall l : list, rev (rev l) = l.\n" in ended.out
    assert example.read_bytes() == before


def test_a_lemma_that_is_not_there_is_a_usage_error(run, lemmas):
    ended = run("prove", "Lemmas.v", "--lemma", "left_zer")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "error: Lemmas.v has no lemma 'left_zer'; did you mean left_zero, right_zero?\n"
    assert "admitted lemmas: left_zero, not_true, right_zero" in run("prove", "Lemmas.v").err
    lemmas.write_text("Lemma done : True.\nProof. exact I. Qed.\n")
    assert "Lemmas.v has no admitted lemma" in run("prove", "Lemmas.v", "--all-admitted").err


def test_without_coq_the_error_names_the_package(run, lemmas, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    ended = run("prove", "Lemmas.v", "--lemma", "left_zero")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.strip().endswith("apt-get install coq")
    assert run("prove", "p -> p").code == 0, "formulas need nothing"


# The terminal.


@pytest.mark.parametrize("width", [30, 80, 120])
@pytest.mark.parametrize("checking", [False, True])
def test_the_live_display_has_two_lines_whatever_the_names(width, checking):
    best = (
        "induction n",
        "rewrite <- (a_lemma_with_a_long_name n m k),\n  another_one in *",
        "simpl",
        "apply (f_equal next)",
        "reflexivity",
    )
    now = ProofProgress(1234, 123456, 61.5, 12345, 678, 90, best, checking)
    for name in ("a", "a_name_that_no_terminal_in_the_world_is_wide_enough_for_" * 3):
        console = Console(width=width, record=True, file=io.StringIO())
        console.print(standing(name, now, width))
        lines = console.export_text().splitlines()
        assert len(lines) == 2
        assert all(len(line) <= width for line in lines)
        assert "open" in lines[0]
        if width > 30:
            assert "reflexivity" in lines[1], "the end of the way is what is being tried"
            assert ("checking" if checking else "2,007/s") in lines[0]


@needs_coq
def test_a_terminal_sees_a_live_display_and_ctrl_c_ends_with_what_is_known(lemmas, tmp_path, monkeypatch):
    monkeypatch.setenv("TREETOP_TEST_MARK", str(tmp_path))
    with started(
        "prove",
        "Lemmas.v",
        "--lemma",
        "left_zero",
        "--lemma",
        "not_true",
        "--lemma",
        "right_zero",
        "--copy",
        "New.v",
        folder=tmp_path,
        out_too=True,
    ) as process:
        process.see("not_true\x1b[0m  goals: ")
        process.process.send_signal(signal.SIGINT)
        code, drawn = process.end()
    assert code == 130
    assert "goals: " in drawn
    assert "not proved before Ctrl-C" in drawn
    assert "1 of 3 proved; not proved: not_true; not tried: 1" in drawn
    assert "interrupted" in drawn
    assert "Traceback" not in drawn
    assert (tmp_path / "New.v").read_text().count("Qed.") == 1, "what was proved is not lost"
    assert _processes_with(f"TREETOP_TEST_MARK={tmp_path}") == []


def test_ctrl_c_with_several_workers_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TREETOP_TEST_MARK", str(tmp_path))
    all_of_them = " & ".join(f"p{n}" for n in range(7))
    formula = " & ".join(f"((p{n} <-> p{(n + 1) % 7}) -> ({all_of_them}))" for n in range(7)) + f" -> ({all_of_them})"
    with started("prove", formula, "--mode", "raw", "--workers", "2", "--json", folder=tmp_path) as process:
        process.see("/s")
        process.process.send_signal(signal.SIGINT)
        code, out = process.end()
    assert code == 130
    reported = json.loads(out)
    assert (reported["status"], reported["interrupted"]) == ("open", True)
    assert _processes_with(f"TREETOP_TEST_MARK={tmp_path}") == []


def _processes_with(mark: str) -> list[str]:
    """Those that were started with something in their environment, once they have had a moment to end."""
    found: list[str] = []
    for _ in range(50):
        found = []
        for entry in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark.encode() in entry.read_bytes() and entry.parent.name != str(os.getpid()):
                    found.append((entry.parent / "cmdline").read_text())
        if not found:
            break
        time.sleep(0.1)
    return found


# Finished proofs.


@needs_coq
def test_finished_proofs_of_a_folder_are_learned_from(run, tmp_path):
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "Done.v").write_text("Lemma two : 1 + 1 = 2.\nProof. reflexivity. Qed.\n")
    (tmp_path / "Open.v").write_text("Lemma three : 1 + 2 = 3.\nAdmitted.\n")
    ended = run("prove", "Open.v", "--lemma", "three", "--learn", "done", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["report"]["prover"]["examples"] == 1
    (tmp_path / "empty").mkdir()
    ended = run("prove", "Open.v", "--lemma", "three", "--learn", "empty")
    assert (ended.code, "no Coq file in empty" in ended.err) == (2, True)


@needs_coq
def test_the_lemmas_of_a_file_share_one_prover(run, lemmas, monkeypatch):
    from treetop.prove.coq import prover

    started: list[int] = []

    class Counted(prover.CoqProcess):
        def __init__(self, *arguments) -> None:
            super().__init__(*arguments)
            started.append(self.pid)

    monkeypatch.setattr(prover, "CoqProcess", Counted)
    run("prove", str(lemmas), "--all-admitted", "--attempts", "50")
    assert len(started) == 1


@needs_coq
def test_a_bad_file_to_learn_from_is_named_with_its_line_and_the_others_are_used(run, tmp_path):
    done = tmp_path / "done"
    done.mkdir()
    (done / "Late.v").write_text(
        "Lemma two : 1 + 1 = 2.\nProof. reflexivity. Qed.\n\nLemma bad :\n  1 = nonsense.\nProof. auto. Qed.\nLemma more : 1 = 1.\nProof. auto. Qed.\n"
    )
    (done / "Torn.v").write_text("\nLemma two : 1 + 1 = 2.\nProof. (* reflexivity. Qed.\n")
    (done / "Wrong.v").write_text(
        "Lemma two :\n  1 + 1 = 3.\nProof.\n  reflexivity.\nQed.\nLemma next : 1 = 1.\nProof. auto. Qed.\n"
    )
    (tmp_path / "Open.v").write_text("Lemma three : 1 + 2 = 3.\nAdmitted.\nLemma four : 2 + 2 = 4.\nAdmitted.\n")
    ended = run("prove", "Open.v", "--all-admitted", "--learn", "done", "--json", "--attempts", "60")
    assert ended.code == 0
    assert [one["report"]["prover"]["examples"] for one in json.loads(ended.out)["theorems"]] == [1, 1], (
        "what stands above the fault is used"
    )
    warnings = ended.err.splitlines()
    assert warnings[0].startswith("warning: done/Late.v, line 5: ")
    assert warnings[1].startswith("warning: done/Torn.v, line 3: the comment has no end")
    assert warnings[2].startswith("warning: done/Wrong.v, line 4: ")
    assert len(warnings) == 3
    ended = run("prove", "Open.v", "--all-admitted", "--learn", "done/Torn.v", "--learn", "done/Wrong.v")
    assert (ended.code, ended.out) == (2, "")
    assert "nothing can be learned: done/Torn.v, line 3: " in ended.err
    assert "done/Wrong.v, line 4" in ended.err
