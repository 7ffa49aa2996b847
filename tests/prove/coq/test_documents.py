"""What is in a file is read without Coq."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from treetop.errors import ConfigError, ProverError
from treetop.prove.coq.documents import Document

TEXT = """(* Lemma not_this : True. Admitted. *)
Require Import Arith.
Lemma plain : True. Proof. exact I. Qed.
Definition with_a_body := 3.
Definition with_a_proof : nat. exact 3. Defined.
Definition late (x := 1) : let y := 2 in nat. Proof. exact 3. Defined.
#[local] Theorem attributed : True.
Proof using. auto. Qed.
Local Lemma here : True. Admitted.
Module A.
  Section S.
    Variable T : Type.
    Fact twice : True. Proof. (* admit. *) auto. Qed.
  End S.
  Module Import B := Nat.
  Module C <: D with Definition t := nat.
    Remark twice' : True. admit. Admitted.
  End C.
  Lemma far : True. Abort.
End A.
Module E.
  Corollary twice : True. Proof I.
End E.
Program Definition skipped : nat := _.
Next Obligation. exact 1. Qed.
Global Instance found : Foo. Proof. constructor. Qed.
Instance : Foo. Proof. constructor. Qed.
Goal True. Proof. auto. Qed.
Example open_inside : True. Proof. split. admit. Admitted.
"""


@pytest.fixture(scope="module")
def document():
    return Document(TEXT, "Some.v")


def test_lemmas_are_found_with_kind_line_and_ending(document):
    found = [(lemma.qualified, lemma.kind, lemma.line, lemma.ending, lemma.admitted) for lemma in document.lemmas]
    assert found == [
        ("plain", "Lemma", 3, "Qed", False),
        ("with_a_proof", "Definition", 5, "Defined", False),
        ("late", "Definition", 6, "Defined", False),
        ("attributed", "Theorem", 7, "Qed", False),
        ("here", "Lemma", 9, "Admitted", True),
        ("A.twice", "Fact", 13, "Qed", False),
        ("A.C.twice'", "Remark", 17, "Admitted", True),
        ("A.far", "Lemma", 19, "Abort", False),
        ("E.twice", "Corollary", 22, "Proof", False),
        ("found", "Instance", 26, "Qed", False),
        ("open_inside", "Example", 29, "Admitted", True),
    ]
    assert [lemma.name for lemma in document.admitted] == ["here", "twice'", "open_inside"]
    assert document.lemma("A.twice").sections == ("S",)


def test_a_proof_reaches_from_the_statement_to_its_last_word(document):
    lemma = document.lemma("attributed")
    assert lemma.statement.text == "#[local] Theorem attributed : True."
    assert TEXT[lemma.begin : lemma.end] == "\nProof using. auto. Qed."
    assert [sentence.text for sentence in document.before(document.lemma("plain"))] == ["Require Import Arith."]


def test_a_lemma_is_found_by_the_end_of_its_full_name(document):
    assert document.lemma("C.twice'").qualified == "A.C.twice'"
    assert document.lemma("twice'").qualified == "A.C.twice'"
    assert document.lemma("far").qualified == "A.far"


def test_an_ambiguous_name_is_refused_with_the_choice(document):
    with pytest.raises(
        ConfigError, match=r"several lemmas twice; choose one of A\.twice \(line 13\), E\.twice \(line 22\)"
    ):
        document.lemma("twice")


def test_a_lemma_that_is_not_there_is_refused_with_near_names(document):
    with pytest.raises(ConfigError, match="Some.v has no lemma 'plian'; did you mean plain"):
        document.lemma("plian")
    with pytest.raises(ConfigError, match="it has A.C.twice', A.far"):
        document.lemma("zzz")
    with pytest.raises(ConfigError, match="it contains no proofs"):
        Document("Check 1.").lemma("x")


def test_the_last_of_two_lemmas_with_one_name_is_meant():
    text = "Lemma a : True. Abort.\nLemma a : False -> True. Admitted.\n"
    assert Document(text).lemma("a").line == 2


def test_a_proof_without_an_end_is_reported():
    with pytest.raises(ProverError, match="line 1: the proof of a has no end"):
        Document("Lemma a : True. Proof. Lemma b : True. Admitted.").lemma("a")


def test_the_sections_and_modules_of_the_library_close_and_its_proofs_end():
    folder = (
        Path(subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=True).stdout.strip()) / "theories"
    )
    lemmas = [
        lemma
        for file in sorted(folder.glob("[A-L]*/*.v"))
        for lemma in Document(file.read_text(encoding="utf-8"), file.name).lemmas
    ]
    assert len(lemmas) > 2000
    assert all(lemma.ending for lemma in lemmas)
