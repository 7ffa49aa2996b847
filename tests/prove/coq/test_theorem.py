"""Lemmas in files: opened, judged by coqc with the whole file around them, written back."""

from __future__ import annotations

import pickle
import re
import stat
import subprocess

import pytest

from treetop.errors import ConfigError, ProverError
from treetop.prove.coq.checker import read_assumptions
from treetop.prove.coq.scripts import write_script
from treetop.prove.coq.settings import CoqSettings, LoadPath
from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.coq.writing import ProofFile
from treetop.prove.prover import Goal, Place, Proof

FILE = """Require Import Arith Lia.

Axiom wrong : 1 = 2.

Section Numbers.
  Variable A : Type.
  Hypothesis one : forall x y : A, x = y.

  Lemma swaps n m (a b : A) : n + m = m + n /\\ a = b.
  Proof using one. (* still to do *)
    split. admit.
  Admitted.

  Lemma sure (a b : A) : a = b.
  Admitted.
End Numbers.

Definition three : nat. Proof. exact 3. Defined.
Lemma is_three : three = 3. Proof. reflexivity. Qed.
Lemma bad : 3 = 3. Admitted.
"""
SWAPS = ["split", ["induction n", ["simpl", "auto"], ["simpl", ["rewrite IHn", "lia"]]], "apply one"]
SCRIPT = """split.
- induction n.
  + simpl.
    auto.
  + simpl.
    rewrite IHn.
    lia.
- apply one."""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "Numbers.v"
    path.write_text(FILE, encoding="utf-8")
    return path


def goal(text="x"):
    return Goal(text)


def written(path, *proofs, **options):
    """The file after proofs of lemmas were added to it."""
    file = ProofFile(path, **(options or {"write": True}))
    for name, script in proofs:
        file.add(file.theorem(name), script)
    return file


def test_a_proof_is_found_written_and_accepted_by_coqc(file, proved):
    theorem = pickle.loads(pickle.dumps(CoqTheorem(file, "swaps")))
    prover = theorem.open()
    try:
        proof = proved(prover, SWAPS)
    finally:
        prover.close()
    assert theorem.script(proof) == SCRIPT
    verdict = theorem.verify(proof)
    assert verdict.accepted, verdict.reason
    assert verdict.assumptions == ()
    assert verdict.checker.startswith("coqc 8.")
    backup = written(file, ("swaps", theorem.script(proof))).backup
    assert backup.read_text(encoding="utf-8") == FILE
    lines = "".join(f"\n    {line}" for line in SCRIPT.splitlines())
    expected = FILE.replace(" (* still to do *)\n    split. admit.\n  Admitted.", f"{lines}\n  Qed.")
    assert file.read_text(encoding="utf-8") == expected
    assert sorted(path.name for path in file.parent.iterdir()) == ["Numbers.v", "Numbers.v.bak"]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("reflexivity.", "line 22 of the file with the proof: Error: .*"),
        ("admit.", "the script contains admit, which proves nothing"),
        ("Admitted.", "the script contains Admitted, which proves nothing"),
        ("Axiom false : 3 = 4.", "the script contains a command, not a tactic: Axiom false : 3 = 4."),
        ("lia", "the script cannot be read: .*"),
        ("idtac.", ".*Attempt to save an incomplete proof.*"),
    ],
)
def test_what_is_no_proof_is_refused(file, script, reason):
    file.write_text(FILE.replace("3 = 3. Admitted", "3 = 4. Admitted"), encoding="utf-8")
    verdict = CoqTheorem(file, "bad").verify_script(script)
    assert not verdict.accepted
    assert re.fullmatch(reason, verdict.reason), verdict.reason


def test_axioms_under_a_proof_are_reported(file):
    theorem = CoqTheorem(file, "bad")
    assert theorem.verify_script("rewrite <- wrong at 1; reflexivity.").reason
    verdict = theorem.verify_script("pose proof wrong as H. clear H. discriminate || (destruct wrong; reflexivity).")
    assert verdict.accepted, verdict.reason
    assert verdict.assumptions == ("wrong",)


def test_the_axiom_behind_an_old_admit_is_refused(tmp_path):
    theorem = CoqTheorem.from_text(
        "From Coq.Compat Require Import AdmitAxiom.\nLtac skip := exact (False_rect _ proof_admitted).", "1 = 2"
    )
    verdict = theorem.verify_script("skip.")
    assert not verdict.accepted
    assert "proof_admitted" in verdict.reason


def test_a_proof_that_breaks_the_rest_of_the_file_is_refused(file):
    """Made opaque, or with another number of arguments: the lemma itself is fine, and what follows is not."""
    theorem = CoqTheorem(file, "three")
    assert theorem.verify_script("exact 3.").accepted
    refused = theorem.verify_script("exact 4.")
    assert not refused.accepted
    assert "Unable to unify" in refused.reason


def test_coqc_has_a_time_limit(file):
    theorem = CoqTheorem(file, "bad", CoqSettings(check_seconds=0.5))
    assert theorem.verify_script("do 1000000000 idtac. reflexivity.").reason == "coqc took more than 0.5 s"


def test_a_file_that_does_not_compile_is_reported_with_its_line(file):
    CoqTheorem(file, "bad").check_compiles()
    file.write_text(FILE + "Check nothing.\n", encoding="utf-8")
    theorem = CoqTheorem(file, "bad")
    with pytest.raises(ProverError, match=r"Numbers\.v, line 21: Error: The reference nothing was not found"):
        theorem.check_compiles()
    with pytest.raises(ConfigError, match="no lemma 'badd'; did you mean bad"):
        CoqTheorem(file, "badd")
    with pytest.raises(ProverError, match="cannot be read"):
        CoqTheorem(file.with_name("Missing.v"), "bad")
    with pytest.raises(ConfigError, match=r"end with \.v"):
        CoqTheorem(__file__, "bad")


def test_facts_say_what_is_needed_to_do_it_again(file):
    facts = CoqTheorem(file, "swaps").facts()
    assert facts["prover"].startswith("Coq 8.")
    assert facts["statement"] == "Lemma swaps n m (a b : A) : n + m = m + n /\\ a = b."
    assert (facts["file"], facts["lemma"], facts["line"], len(facts["digest"])) == (str(file), "swaps", 9, 64)


def test_theorems_are_made_of_text():
    theorem = CoqTheorem.from_text("Require Import Lia.", "forall n : nat, n <= n + 1", "grows")
    assert (theorem.name, theorem.statement) == ("grows", "Theorem grows : forall n : nat, n <= n + 1.")
    assert theorem.verify_script("lia.").accepted
    assert CoqTheorem.from_text("", "Lemma named : True.").name == "named"


def test_a_library_of_the_project_is_found_by_name_and_by_folder(tmp_path, proved):
    (tmp_path / "_CoqProject").write_text(
        "-Q lib My.Lib # the library\n-arg -w -arg -notation-overridden\nlib/Base.v\n", encoding="utf-8"
    )
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "Base.v").write_text("Definition two := 2.\n", encoding="utf-8")
    subprocess.run(["coqc", "-Q", "lib", "My.Lib", "lib/Base.v"], cwd=tmp_path, check=True)
    use = tmp_path / "lib" / "Use.v"
    use.write_text(
        "From My.Lib Require Import Base.\nDefinition here := 1.\nLemma l : two = 1 + My.Lib.Use.here. Admitted.\n",
        encoding="utf-8",
    )
    assert LoadPath.of(use) == LoadPath(tmp_path, ("-Q", str(tmp_path / "lib"), "My.Lib", "-w", "-notation-overridden"))
    theorem = CoqTheorem(use, "l")
    prover = theorem.open()
    try:
        proof = proved(prover, "reflexivity")
    finally:
        prover.close()
    assert theorem.verify(proof).accepted


def test_a_file_without_a_project_finds_what_lies_beside_it(tmp_path):
    (tmp_path / "Base.v").write_text("Definition two := 2.\n", encoding="utf-8")
    subprocess.run(["coqc", "Base.v"], cwd=tmp_path, check=True)
    content = sorted(path.name for path in tmp_path.iterdir())
    (tmp_path / "Use.v").write_text(
        "Require Import Base Lia.\nLemma l x : two * x = x + x. Admitted.\n", encoding="utf-8"
    )
    theorem = CoqTheorem(tmp_path / "Use.v", "l")
    prover = theorem.open()
    try:
        assert prover.attempt(Place(prover.root()), "unfold two; lia", 10.0).subgoals == ()
    finally:
        prover.close()
    assert theorem.verify_script("unfold two. lia.").accepted
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*content, "Use.v"])


def test_scripts_are_readable_and_say_what_was_tried():
    leaf = Proof(goal(), "auto")
    assert write_script(leaf) == "auto."
    assert write_script(Proof(goal(), "intros", (leaf,))) == "intros.\nauto."
    capital = Proof(goal(), "Simplify x")
    assert write_script(Proof(goal(), "split", (capital, leaf))) == "split.\n- ( Simplify x ).\n- auto."
    with pytest.raises(ProverError, match="not a single tactic"):
        write_script(Proof(goal(), "auto. Admitted"))


def test_deep_scripts_replay_in_coq():
    """Twelve conjunctions in each other need more bullets than there are: braces take over, and the bullets begin again."""
    depth = 12
    statement, proof = "True", Proof(goal(), "exact I")
    for _ in range(depth):
        statement, proof = f"({statement}) /\\ True", Proof(goal(), "split", (proof, Proof(goal(), "exact I")))
    theorem = CoqTheorem.from_text("", statement, "deep")
    verdict = theorem.verify(proof)
    assert verdict.accepted, verdict.reason


def test_a_file_that_changed_is_left_alone(file):
    numbers = ProofFile(file, write=True)
    file.write_text(FILE + "\n", encoding="utf-8")
    with pytest.raises(ProverError, match="changed during the search; nothing was written"):
        numbers.add(numbers.theorem("bad"), "reflexivity.")
    assert file.read_text(encoding="utf-8") == FILE + "\n"
    assert [path.name for path in file.parent.iterdir()] == ["Numbers.v"]


def test_a_proof_that_coqc_refuses_is_never_written(file):
    with pytest.raises(ProverError, match="was not changed: it would not compile with the new proof"):
        written(file, ("bad", "apply nothing."))
    assert file.read_text(encoding="utf-8") == FILE
    assert [path.name for path in file.parent.iterdir()] == ["Numbers.v"]


def test_several_proofs_are_written_with_rights_and_line_ends_kept(file):
    file.write_bytes(FILE.replace("\n", "\r\n").encode())
    file.chmod(0o640)
    file.with_name("Numbers.v.bak").write_text("mine", encoding="utf-8")
    numbers = ProofFile(file, write=True)
    early = numbers.theorem("bad")
    for name, script in (("sure", "apply one."), ("bad", "reflexivity."), ("swaps", "split. lia. apply one.")):
        numbers.add(numbers.theorem(name), script)
    assert numbers.backup.name == "Numbers.v.bak1"
    assert file.with_name("Numbers.v.bak").read_text(encoding="utf-8") == "mine"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    content = file.read_bytes()
    assert content.count(b"\n") == content.count(b"\r\n")
    assert b"Admitted" not in content
    assert not CoqTheorem(file, "bad").document.admitted
    with pytest.raises(ConfigError, match="bad was read before other proofs were added"):
        numbers.add(early, "auto.")
    assert file.read_bytes() == content


def test_a_copy_leaves_the_file_alone_and_overwrites_nothing(file, tmp_path):
    copy = tmp_path / "out" / "Numbers.v"
    copy.parent.mkdir()
    assert written(file, ("bad", "reflexivity."), copy=copy).backup is None
    assert file.read_text(encoding="utf-8") == FILE
    assert copy.read_text(encoding="utf-8") == FILE.replace("3 = 3. Admitted.", "3 = 3.\nProof.\n  reflexivity.\nQed.")
    with pytest.raises(ConfigError, match="exists already"):
        written(file, ("bad", "reflexivity."), copy=copy)


def test_a_link_stays_a_link(file):
    link = file.with_name("Link.v")
    link.symlink_to(file)
    written(link, ("bad", "reflexivity."))
    assert link.is_symlink()
    assert "reflexivity.\nQed" in file.read_text(encoding="utf-8")


def test_a_copy_that_cannot_be_written_is_reported(file):
    with pytest.raises(ProverError, match=r"missing/Numbers\.v cannot be written"):
        written(file, ("bad", "reflexivity."), copy=file.parent / "missing" / "Numbers.v")
    assert [path.name for path in file.parent.iterdir()] == ["Numbers.v"]


def test_assumptions_are_read_as_coq_prints_them():
    assert read_assumptions("Closed under the global context\n") == ()
    assert read_assumptions("Section Variables:\nH\n: forall x : A, x = x\nA\n: Type\n") == ()
    printed = "Section Variables:\nA\n: Type\nAxioms:\nearly : 1 = 2\nlonglong\n  : forall a : nat,\n    a = a\nM.x' : nat\nbad is assumed to be guarded.\nlast\n: nat\n"
    assert read_assumptions(printed) == ("early", "longlong", "M.x'", "bad is assumed to be guarded.", "last")
    assert read_assumptions("Theory:\nSet is impredicative\n") == ("Set is impredicative",)
    assert read_assumptions("Axioms:\nax : nat\nTheory:\nSet is impredicative\n") == ("ax", "Set is impredicative")
    assert read_assumptions("Opaque constants:\no : nat\nAxioms:\na relies on an unsafe hierarchy.\nax : nat\n") == (
        "a relies on an unsafe hierarchy.",
        "ax",
    )
    assert read_assumptions("Some new header:\nAxioms:\nax : nat\n") == ("ax",)
    for printed in ("", "Some new header:\nax : nat\n"):
        with pytest.raises(ProverError, match="cannot be read"):
            read_assumptions(printed)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("-impredicative-set", "Set is impredicative"),
        ("-type-in-type", "Type hierarchy is collapsed (logic is inconsistent)"),
    ],
)
def test_options_that_change_the_logic_are_reported_and_lose_no_proof(tmp_path, option, said):
    (tmp_path / "_CoqProject").write_text(f"-arg {option}\n", encoding="utf-8")
    (tmp_path / "A.v").write_text("Lemma a : forall n : nat, n = n. Admitted.\n", encoding="utf-8")
    theorem = CoqTheorem(tmp_path / "A.v", "a")
    prover = theorem.open()
    prover.close()
    verdict = theorem.verify_script("reflexivity.")
    assert verdict.accepted, verdict.reason
    assert said in verdict.assumptions
