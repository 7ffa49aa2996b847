"""Tactics on goals, in Coq itself: what they leave, why they fail, and that nothing which is not proved counts as proved."""

from __future__ import annotations

import pytest

from treetop.errors import ConfigError, ProverError
from treetop.prove.coq.goals import Hypothesis
from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.prover import Place, Step

SUM = "@eq nat (Init.Nat.add n m) (Init.Nat.add m n)"


def test_the_lemma_is_the_root(prover):
    root = prover.root()
    assert root.key == f"n : nat\nm : nat\n|- {SUM}"
    assert root.data.hypotheses == (Hypothesis("n", "nat"), Hypothesis("m", "nat"))


def test_a_tactic_gives_subgoals_in_order(prover, root):
    attempt = prover.attempt(root, "induction n")
    assert [goal.data.conclusion for goal in attempt.subgoals] == [
        "@eq nat (Init.Nat.add O m) (Init.Nat.add m O)",
        "@eq nat (Init.Nat.add (S n) m) (Init.Nat.add m (S n))",
    ]
    assert attempt.subgoals[1].data.hypotheses[-1] == Hypothesis("IHn", SUM)
    assert 0 < attempt.seconds < 1


def test_a_tactic_that_proves_leaves_nothing(prover, root):
    assert prover.attempt(root, "lia").subgoals == ()


def test_hypotheses_with_a_value_are_read(prover, root):
    attempt = prover.attempt(root, "pose (f := fun k : nat => match k with 0 => n | S j => j end); set (x := n) in *")
    given = {hypothesis.name: hypothesis for hypothesis in attempt.subgoals[0].data.hypotheses}
    assert given["x"] == Hypothesis("x", "nat", "n")
    assert given["f"].type == "forall _ : nat, nat"
    assert given["f"].value.startswith("fun k : nat => match k return nat with")


def test_a_failure_has_a_reason_of_one_line(prover, root):
    reason = prover.attempt(root, "reflexivity").reason
    assert "Unable to unify" in reason
    assert "\n" not in reason
    assert (
        prover.attempt(root, "apply no_such_lemma").reason
        == "The reference no_such_lemma was not found in the current environment."
    )
    assert prover.attempt(root, 'fail "<b> & \u2200"').reason == "Tactic failure: <b> & \u2200."


def test_what_changes_nothing_is_no_progress(prover, root):
    for tactic in ("idtac", "simpl in *", "cycle 1", "try reflexivity"):
        assert prover.attempt(root, tactic).reason == "no progress", tactic


@pytest.mark.parametrize("tactic", ["eapply eq_trans", "unshelve eapply eq_trans", "eapply eq_trans; [shelve|]", "shelve", "induction n; [shelve|]",
                                    "assert (exists k, k = n) by (eexists; reflexivity); eapply eq_trans"])  # fmt: skip
def test_shared_existential_variables_are_refused(prover, root, tactic):
    assert prover.attempt(root, tactic).reason == "leaves existential variables that its subgoals share"


@pytest.mark.parametrize("tactic", ["admit", "give_up", "abstract admit", "transparent_abstract admit", "induction n; admit", "solve [admit]",
                                    "assert False by admit; contradiction", "exact ltac:(admit)", "exact_no_check I", "vm_cast_no_check I",
                                    "revert n m; fix IH 1; exact IH", "revert n m; fix IH 1; intros n m; apply IH",
                                    "unshelve (refine (ltac:(shelve)))", "refine (_ : _)", "change_no_check True; exact I"])  # fmt: skip
def test_nothing_but_a_proof_counts_as_one(prover, root, tactic):
    attempt = prover.attempt(root, tactic)
    assert attempt.subgoals != ()
    assert attempt.applied or attempt.reason


@pytest.mark.parametrize("tactic", ["Admitted", "Abort", "Qed", "Restart", "Undo", "Optimize Proof", "- auto", "{ auto", "all: lia", "Axiom a : False",
                                    "lia). Admitted. (idtac", "lia.", "", "#[local] Axiom a : False", "Show", "lia)", "(lia", "Time lia", "1: lia"])  # fmt: skip
def test_nothing_but_a_tactic_is_understood(prover, root, tactic):
    attempt = prover.attempt(root, tactic)
    assert not attempt.applied
    assert attempt.reason


def test_a_guarded_recursion_is_a_proof(prover, root):
    tactic = "revert n m; fix IH 1; intros [|n] m; [symmetry; apply Nat.add_0_r | simpl; rewrite IH; apply plus_n_Sm]"
    assert prover.attempt(root, tactic).subgoals == ()


def test_goals_anywhere_are_reached_by_their_way(prover, root):
    zero, step = prover.attempt(root, "induction n").subgoals
    below = Place(step, (Step("induction n", 1),))
    simpler = prover.attempt(below, "simpl").subgoals[0]
    deep = Place(simpler, (*below.path, Step("simpl", 0)))
    before = prover.replayed
    assert prover.attempt(deep, "lia").subgoals == ()
    assert prover.replayed == before  # the last tactic was still standing
    assert prover.attempt(Place(zero, (Step("induction n", 0),)), "apply plus_n_O").subgoals == ()
    assert prover.attempt(root, "lia").subgoals == ()
    assert prover.attempt(deep, "rewrite IHn; apply plus_n_Sm").subgoals == ()
    assert prover.replayed == before + 3


def test_a_way_that_leads_elsewhere_fails_and_harms_nothing(prover, root):
    zero, step = prover.attempt(root, "induction n").subgoals
    assert (
        prover.attempt(Place(zero, (Step("induction n", 1),)), "auto").reason == "the path does not lead to this goal"
    )
    assert "cannot be replayed" in prover.attempt(Place(zero, (Step("induction n", 7),)), "auto").reason
    assert "cannot be replayed" in prover.attempt(Place(zero, (Step("apply nothing", 0),)), "auto").reason
    assert prover.attempt(Place(zero), "auto").reason == "the path does not lead to this goal"
    assert prover.attempt(Place(step, (Step("induction n", 1),)), "lia").subgoals == ()


def test_people_see_their_notation(prover, root):
    step = prover.attempt(root, "induction n").subgoals[1]
    shown = prover.show(Place(step, (Step("induction n", 1),)))
    assert shown.splitlines() == ["n : nat", "m : nat", "IHn : n + m = m + n", "=" * 20, "S n + m = m + S n"]
    assert prover.attempt(root, "induction n").subgoals[1] == step  # and the prover still speaks its own


def test_deep_goals_are_not_cut(prover, root):
    one, other = (prover.attempt(root, f"assert ({number} = {number})").subgoals[0] for number in (200, 201))
    assert "..." not in one.key
    assert one != other


def test_coq_answers_queries(prover, root):
    assert any("Nat.add_comm" in text for text in prover.query("Check Nat.add_comm."))
    with pytest.raises(ProverError, match="not found in the current environment"):
        prover.query("Check nothing_of_that_name.")
    with pytest.raises(ConfigError, match="one sentence"):
        prover.query("Check 1. Check 2.")
    assert prover.attempt(root, "lia").subgoals == ()


def test_search_finds_what_is_in_scope(prover):
    found = {premise.name: premise.statement for premise in prover.search("(_ + 0 = _)")}
    assert found["Nat.add_0_r"] == "forall n : nat, @eq nat (Nat.add n O) n"
    assert "sum_swaps" not in {premise.name for premise in prover.search("(_ + _ = _ + _)")}


def test_a_lemma_in_a_section_of_a_module_sees_its_variables():
    prelude = """Module M. Section S. Variable A : Type. Hypothesis H : forall x y : A, x = y.
    Lemma earlier (x : A) : x = x. Proof. apply H. Qed."""
    prover = CoqTheorem.from_text(prelude, "Lemma later (x y : A) : x = y.").open()
    try:
        assert [given.name for given in prover.root().data.hypotheses] == ["A", "H", "x", "y"]
        assert prover.attempt(Place(prover.root()), "apply H").subgoals == ()
        assert {"H", "earlier"} <= {premise.name for premise in prover.search("(@eq A _ _)")}
    finally:
        prover.close()


@pytest.mark.parametrize(
    ("prelude", "statement", "complaint"),
    [
        ("Check 1.\nCheck nothing.\n", "True", "line 2: The reference nothing was not found"),
        ("Lemma a : 1 = 2.\nProof.\n\n  reflexivity.\nQed.\n", "True", "line 4: .*Unable to unify"),
        ("Require Import No.Such.Library.", "True", "line 1: .*No.Such.Library"),
        ("Check 1.\nCheck )\n  1.", "True", "line 2: Syntax error"),
        ("Check 1.", "1 = true", "line 2: .*has type"),
        (
            "Require Import ZArith.",
            "Lemma a (n : nat) : True with b (n : nat) : True.",
            "goals that are proved together",
        ),
    ],
)
def test_a_text_that_coq_refuses_is_an_error_with_its_line(prelude, statement, complaint):
    with pytest.raises(ProverError, match=complaint):
        CoqTheorem.from_text(prelude, statement).open()


def test_seconds_must_be_positive(prover, root):
    with pytest.raises(ConfigError, match="seconds must be a positive number"):
        prover.attempt(root, "lia", 0.0)
