"""Files of Coq: every proof is written as soon as it is found, nothing is invented, and the file compiles at any time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.conftest import environment
from tests.cli.everything import EVERYTHING
from tests.cli.to_prove import needs_coq
from treetop.prove.coq.documents import Document

pytestmark = needs_coq
LIMIT = ("--attempts", "60")


def compiles(file):
    done = subprocess.run(
        ["coqc", "-q", "-w", "none", file.name], cwd=file.parent, capture_output=True, text=True, check=False
    )
    for left in [
        *file.parent.glob(f"{file.stem}.vo*"),
        *file.parent.glob(f"{file.stem}.glob"),
        *file.parent.glob(f".{file.stem}.aux"),
    ]:
        left.unlink()
    return done.returncode == 0, done.stderr


MIXED = """\
Require Import Coq.Program.Tactics.
Lemma one : 1 + 1 = 2. Admitted.
Theorem a : forall n : nat, n = n with b : forall n : nat, n + 0 = n + 0. Proof. all: admit. Admitted.
Definition d : nat -> nat. Admitted.
Class C := { c : nat }.
#[global] Instance i : C. Admitted.
Instance : C. Admitted.
Program Instance pi : C := {}. Next Obligation. Admitted.
Lemma two : d 0 = d 0 /\\ 1 + 1 = 2. Admitted.
Example e : { n : nat | n = 3 }. Admitted.
Goal 2 = 2. Admitted.
Program Lemma p : 2 + 2 = 4. Admitted.
Fixpoint f (n : nat) : n = n. Admitted.
Let l : 3 = 3. Admitted.
Remark last : 4 = 4. Admitted.
"""


def test_what_cannot_be_treated_is_skipped_with_a_reason_and_the_rest_is_proved_and_written(run, tmp_path):
    file = tmp_path / "Mixed.v"
    file.write_text(MIXED)
    ended = run("prove", "Mixed.v", "--all-admitted", "--write", *LIMIT)
    assert (ended.code, ended.err) == (1, ""), ended.err
    skipped = {
        line.partition(": skipped: ")[0]: line.partition(": skipped: ")[2]
        for line in ended.out.splitlines()
        if ": skipped: " in line
    }
    assert list(skipped) == ["Instance, line 7", "Next Obligation, line 8", "Goal, line 11", "a", "d", "i", "e"]
    assert "states 2 goals that are proved together, not one" in skipped["a"]
    assert "d is data, not a proposition" in skipped["d"]
    assert "state it as a Lemma" in skipped["Goal, line 11"]
    assert "6 of 13 proved; skipped: 7" in ended.out
    assert "written: one, two, p, f, l, last; the old file is " in ended.out
    new = file.read_text()
    for untouched in MIXED.splitlines()[2:8] + MIXED.splitlines()[9:11]:
        assert f"\n{untouched}\n" in new
    assert new.count("Qed.") == 6
    assert compiles(file) == (True, "")
    assert (tmp_path / "Mixed.v.bak").read_text() == MIXED


def test_data_is_found_only_where_that_is_asked_for(run, tmp_path):
    file = tmp_path / "Data.v"
    file.write_text("Definition d : nat -> nat. Admitted.\n")
    ended = run("prove", "Data.v", "--lemma", "d", "--write", *LIMIT)
    assert (ended.code, ended.out) == (2, "")
    assert "d is data, not a proposition" in ended.err
    assert "--include-data" in ended.err
    assert "Admitted" in file.read_text()
    ended = run("prove", "Data.v", "--lemma", "d", "--write", "--include-data", *LIMIT)
    assert ended.code == 0
    assert "Admitted" not in file.read_text()


CHAIN = """\
Axiom P : nat -> Prop.
Axiom zero : P 0.
Axiom next : forall n, P n -> P (S n).
Lemma first : P 2. Admitted.
Lemma other : P 9. Admitted.
Lemma second : P 2 /\\ P 9. Admitted.
"""


@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")])
def test_a_lemma_proved_in_the_same_run_is_no_assumption_any_more(run, tmp_path, order):
    (tmp_path / "Chain.v").write_text(CHAIN)
    names = [arg for name in order for arg in ("--lemma", name)]
    message = json.loads(run("prove", "Chain.v", *names, "--json", *LIMIT).out)
    assert [one["theorem"] for one in message["theorems"]] == ["first", "second"], "in the order of the file"
    assert [one["proved"] for one in message["theorems"]] == [True, True]
    assert set(message["theorems"][1]["verdict"]["assumptions"]) == {"P", "zero", "next", "other"}, "and not first"
    assert (tmp_path / "Chain.v").read_text() == CHAIN


SECTIONS = """\
Section Outer.
  Variable A : Type.
  Context {B : Type} `{inhabited B}.
  Variable P : A -> Prop.
  Hypothesis all : forall x, P x.
  Section Inner.
    Variable extra : nat.
    Lemma plain (x : A) : P x. Admitted.
    Lemma uses_it (x : A) : P x.
    Proof. exact (plain x). Qed.
    Lemma needs_nothing : 1 = 1.
    Proof. (* soon *)
    Admitted.
    Lemma with_tactic : 2 = 2. Proof with auto. Admitted.
    Lemma says_so (x : A) : P x. Proof (* all *) using all. Admitted.
    Set Default Proof Using "Type".
    Lemma by_default : 3 = 3. Admitted.
    Lemma by_type : 4 = 4. Proof. Admitted.
    Unset Default Proof Using.
  End Inner.
End Outer.
Check (fun (A : Type) (P : A -> Prop) all x => @plain A nat (inhabits 0) P all 3 x).
Check (fun (A : Type) (P : A -> Prop) all x => @uses_it A nat (inhabits 0) P all 3 x).
Check (fun (A : Type) (P : A -> Prop) all => @needs_nothing A nat (inhabits 0) P all 3 : 1 = 1).
Check (fun (A : Type) (P : A -> Prop) all => @with_tactic A nat (inhabits 0) P all 3 : 2 = 2).
Check (fun (A : Type) (P : A -> Prop) all x => @says_so A P all x).
Check (fun (A : Type) (P : A -> Prop) all => @by_default A nat (inhabits 0) P all 3 : 3 = 3).
Check (by_type : 4 = 4).
"""


def test_proofs_in_sections_leave_the_arguments_of_their_lemmas_as_they_were(run, tmp_path):
    file = tmp_path / "Sections.v"
    file.write_text(SECTIONS)
    assert compiles(file) == (True, "")
    ended = run("prove", "Sections.v", "--all-admitted", "--write", *LIMIT)
    assert (ended.code, ended.err) == (0, ""), ended.out
    new = file.read_text()
    assert compiles(file) == (True, "")
    assert "Lemma needs_nothing : 1 = 1.\n    Proof using All.\n" in new
    assert "Proof using All with auto.\n" in new
    assert "Proof (* all *) using all.\n" in new
    assert "Lemma by_type : 4 = 4. Proof.\n" in new, "what is not needed is not written"


def test_a_proof_that_breaks_the_rest_of_the_file_is_shown_and_not_written(run, tmp_path):
    """The admitted `Let` is an axiom with all variables of the section; proved, it is a local definition."""
    text = "Section S.\nVariable n : nat.\nLet l : 1 = 1. Admitted.\nLemma u : 1 = 1. Proof. exact l. Qed.\nEnd S.\n\nCheck (u 0).\nLemma ok : 2 = 2. Admitted.\n"
    file = tmp_path / "Breaks.v"
    file.write_text(text)
    ended = run("prove", "Breaks.v", "--all-admitted", "--write", *LIMIT)
    assert ended.code == 1
    assert "the proof is accepted, but the rest of the file does not compile with it, from line 7 on: " in ended.out
    assert "1 of 2 proved; not proved: l" in ended.out
    assert "Let l : 1 = 1. Admitted." in file.read_text()
    shown = json.loads(run("prove", "Breaks.v", "--lemma", "l", "--json", *LIMIT).out)
    assert (shown["status"], shown["script"], bool(shown["refused_script"])) == ("refused", "", True)


def test_a_read_only_file_is_refused_before_the_search(run, tmp_path):
    file = tmp_path / "Fixed.v"
    file.write_text("Lemma one : 1 = 1. Admitted.\n")
    file.chmod(0o444)
    link = tmp_path / "Link.v"
    link.symlink_to(file)
    for name in ("Fixed.v", "Link.v"):
        ended = run("prove", name, "--all-admitted", "--write")
        assert (ended.code, ended.out) == (2, "")
        assert "Fixed.v cannot be written: it is read-only" in ended.err
    assert run("prove", "Fixed.v", "--all-admitted", "--copy", "New.v", *LIMIT).code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Fixed.v", "Link.v", "New.v"]


def test_links_rights_line_ends_and_foreign_bytes_are_kept(run, tmp_path):
    (tmp_path / "inner").mkdir()
    file = tmp_path / "inner" / "Bytes.v"
    file.write_bytes(b"(* caf\xe9 *)\r\nLemma one : 1 = 1.\r\nAdmitted.\r\n(* \xff *)\r\nLemma two : 2 = 2. Admitted.")
    file.chmod(0o640)
    (tmp_path / "Link.v").symlink_to(file)
    assert run("prove", "Link.v", "--all-admitted", "--write", *LIMIT).code == 0
    new = file.read_bytes()
    assert new.startswith(b"(* caf\xe9 *)\r\nLemma one : 1 = 1.\r\nProof.\r\n  ")
    assert b"Qed.\r\n(* \xff *)\r\nLemma two" in new
    assert new.endswith(b"Qed.")
    assert new.count(b"\n") == new.count(b"\r\n")
    assert (tmp_path / "Link.v").is_symlink()
    assert file.stat().st_mode & 0o7777 == 0o640


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_is_killed_keeps_the_proofs_found_so_far(tmp_path, how):
    file, scratch = tmp_path / "Killed.v", tmp_path / "tmp"
    scratch.mkdir()
    file.write_text(
        "Lemma one : 1 = 1. Admitted.\nLemma two : 2 = 2. Admitted.\nLemma never : forall n : nat, n * n * n = n. Admitted.\n"
    )
    command = [sys.executable, "-m", "treetop", "prove", "Killed.v", "--all-admitted", "--write", "--seconds", "60"]
    env = {**environment(), "TMPDIR": str(scratch)}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    while file.read_text().count("Qed.") < 2:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)
    os.kill(process.pid, how)
    err = process.communicate(timeout=30)[1]
    assert process.returncode == (-signal.SIGKILL if how == signal.SIGKILL else 130)
    assert "Traceback" not in err
    assert file.read_text().count("Qed.") == 2
    assert compiles(file) == (True, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Killed.v", "Killed.v.bak", "tmp"]
    assert bool(list(scratch.iterdir())) == (how == signal.SIGKILL)
    again = subprocess.run(
        [*command[:4], "Killed.v", "--lemma", "one"], cwd=tmp_path, env=env, capture_output=True, check=False
    )
    assert again.returncode == 0
    assert list(scratch.iterdir()) == [], "what the killed process has left is gone, too"


def test_everything_that_coq_allows_is_read_and_nothing_but_admitted_proofs_is_changed(run, tmp_path):
    file = tmp_path / "Everything.v"
    file.write_text(f"{EVERYTHING}.", encoding="utf-8")
    assert compiles(file) == (True, "")
    ended = run("prove", "Everything.v", "--all-admitted", "--write", *LIMIT)
    new = file.read_text(encoding="utf-8")
    assert (ended.code, ended.err) == (0, ""), ended.out
    assert compiles(file) == (True, "")
    names = [
        "same_line",
        "same_line'",
        "spaced",
        "commented",
        "attributed",
        "été_δ'",
        "bullets",
        "about_it",
        "F.in_functor",
        "F.Inner.deep",
        "N.same",
        "in_section",
        "local",
        "timed",
        "notation",
        "last_one",
    ]
    assert f"written: {', '.join(names)}; " in ended.out
    statements = [lemma.statement.text for lemma in Document(EVERYTHING + ".").lemmas]
    assert [lemma.statement.text for lemma in Document(new).lemmas] == statements
    assert not Document(new).admitted
    for kept in EVERYTHING.splitlines()[:7]:
        assert kept in new
    assert " (* . *) Check same_line." in new
    assert new.endswith("Qed.")
