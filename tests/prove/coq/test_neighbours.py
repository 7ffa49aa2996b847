from __future__ import annotations

import json
import shutil

import pytest

from tests.prove.coq.hand_written import coq_goal
from treetop.errors import ConfigError, ProverError
from treetop.prove.coq import recording
from treetop.prove.coq.neighbours import NeighbourProvider, renamed
from treetop.prove.coq.recording import Example, recorded
from treetop.prove.coq.views import view
from treetop.prove.prover import Goal

needs_coq = pytest.mark.skipif(shutil.which("coqidetop.opt") is None, reason="needs Coq: the Debian package `coq`")

FILE = """
Require Import List.
Section S.
Variable A : Type.
(* a comment. *)
Lemma conj_swap : forall P Q : Prop, P /\\ Q -> Q /\\ P.
Proof.
  intros P Q H. (* H is a pair *)
  destruct H as [p q].
  split.
  - exact q.
  - { exact p. }
Qed.
Lemma left_open : True. Admitted.
Lemma app_nil : forall l : list A, l ++ nil = l.
Proof. induction l; simpl.
  reflexivity.
  all: idtac.
  rewrite IHl. reflexivity.
Qed.
End S.
Lemma last_one : 1 = 1. Proof. reflexivity. Qed.
"""


@pytest.mark.parametrize(("tactic", "there", "here", "expected"), [
    ("destruct H as [x y]", ("P : Prop", "Q : Prop", "H : and P Q", "Q"), ("R : Prop", "T : Prop", "H0 : R", "H1 : and R T", "T"), "destruct H1 as [x y]"),
    ("apply H", ("H : @In A a l", "P"), ("n : nat", "P"), None),
    ("rewrite IHn", ("n : nat", "IHn : @eq nat (Nat.add n O) n", "P"), ("m : nat", "IHm : @eq nat (Nat.add m O) m", "P"), "rewrite IHm"),
    ("induction n; simpl", ("forall n : nat, P n",), ("forall k : nat, Q k",), "induction k; simpl"),
    ("induction n", ("forall n : nat, P n",), ("forall b : bool, P b",), None),
    ("apply foo.H; idtac \"H\"", ("H : P n", "P"), ("K : Q", "P"), "apply foo.H; idtac \"H\""),
    ("split; intros", ("and P Q",), ("and Q P",), "split; intros"),
    ("apply H0 in H", ("x : nat", "H : le x x", "H0 : lt x x", "P"), ("y : nat", "Hlt : lt y y", "Hle : le y y", "P"), "apply Hlt in Hle"),
])  # fmt: skip
def test_a_tactic_is_put_into_the_words_of_another_goal(tactic, there, here, expected):
    assert renamed(tactic, view(coq_goal(*there).data), view(coq_goal(*here).data)) == expected


def examples(*given: tuple[tuple[str, ...], str]) -> list[Example]:
    return [Example(coq_goal(*lines).data, tactic, "lemma") for lines, tactic in given]


def test_the_tactic_of_the_most_similar_goal_comes_first():
    provider = NeighbourProvider(examples(
        (("l : list A", "@eq nat (@length A (@rev A l)) (@length A l)"), "induction l"),
        (("P : Prop", "Q : Prop", "H : and P Q", "Q"), "destruct H"),
        (("n : nat", "le n (S n)"), "constructor"),
        (("n : nat", "lt n (S n)"), "unfold lt"),
    ))  # fmt: skip
    assert len(provider) == 4
    assert (
        provider.suggest(coq_goal("k : list A", "@eq nat (@length A (@rev A (@rev A k))) (@length A k)"))[0].tactic
        == "induction k"
    )
    assert provider.suggest(coq_goal("m : nat", "le m (S (S m))"))[0].tactic == "constructor"


def test_similarities_are_probabilities_and_the_number_is_bounded():
    provider = NeighbourProvider(
        examples(*[(("n : nat", f"le n (f{number} n)"), f"apply f{number}_spec") for number in range(30)]), most=5
    )
    found = provider.suggest(coq_goal("n : nat", "le n (f3 n)"))
    assert found[0].tactic == "apply f3_spec"
    assert len(found) <= 5
    assert all(0 < pair.probability <= 0.5 for pair in found)


def test_nothing_is_suggested_where_nothing_is_alike():
    provider = NeighbourProvider(examples((("n : nat", "le n n"), "constructor")))
    assert provider.suggest(coq_goal("P : Prop", "Q : Prop", "or P Q")) == []
    assert NeighbourProvider([]).suggest(coq_goal("True")) == []


def test_goals_of_others_and_bad_numbers_are_errors():
    with pytest.raises(ConfigError, match="not a goal of Coq"):
        NeighbourProvider([]).suggest(Goal("p"))
    with pytest.raises(ConfigError, match="most"):
        NeighbourProvider([], most=0)


@needs_coq
def test_finished_proofs_are_recorded_with_the_goal_before_each_tactic(tmp_path):
    file = tmp_path / "notes.v"
    file.write_text(FILE)
    found = recorded(file, tmp_path / "records")
    assert [(example.lemma.partition("@")[0], example.tactic) for example in found] == [
        ("conj_swap", "intros P Q H"),
        ("conj_swap", "destruct H as [p q]"),
        ("conj_swap", "split"),
        ("conj_swap", "exact q"),
        ("conj_swap", "exact p"),
        ("app_nil", "induction l; simpl"),
        ("app_nil", "reflexivity"),
        ("app_nil", "rewrite IHl"),
        ("app_nil", "reflexivity"),
        ("last_one", "reflexivity"),
    ]
    assert found[3].goal.conclusion == "Q"
    assert found[4].goal.conclusion == "P"
    assert [given.name for given in found[1].goal.hypotheses] == ["A", "P", "Q", "H"]
    assert (
        NeighbourProvider(found).suggest(coq_goal("R : Prop", "S : Prop", "HH : and R S", "R"))[0].tactic
        == "destruct HH as [p q]"
    )


@needs_coq
def test_a_record_is_read_again_and_a_torn_one_completed(tmp_path, monkeypatch):
    file, folder = tmp_path / "notes.v", tmp_path / "records"
    file.write_text(FILE)
    found = recorded(file, folder)
    (record,) = folder.iterdir()
    whole = record.read_text()
    with monkeypatch.context() as patched:
        patched.setattr(recording, "CoqProcess", None)
        assert recorded(file, folder) == found
    record.write_text(whole[: whole.index("\n") + 30])
    assert recorded(file, folder) == found
    assert record.read_text() == whole
    assert all(json.loads(line)["format"] == 1 for line in whole.splitlines())


@needs_coq
def test_nothing_after_a_lemma_is_recorded_where_asked(tmp_path):
    file = tmp_path / "notes.v"
    file.write_text(FILE.replace("Qed.\nEnd S.", "Qed.\nEnd S. Fail Fail Check 1."))
    assert {example.lemma.partition("@")[0] for example in recorded(file, tmp_path, until="last_one")} == {
        "conj_swap",
        "app_nil",
    }
    assert {example.lemma.partition("@")[0] for example in recorded(file, tmp_path, until="app_nil")} == {"conj_swap"}


def test_a_file_that_is_missing_is_an_error(tmp_path):
    with pytest.raises(ProverError, match="cannot be read"):
        recorded(tmp_path / "none.v", tmp_path)
