"""Lemmas and axioms of the file itself, and those of logic alone, are used whatever symbols they are made of."""

from __future__ import annotations

import pytest

from treetop.prove.coq.goals import Premise
from treetop.prove.coq.scope import premises_in_scope, statements
from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.search import ProofSearch
from treetop.search.limits import Limit

RELATION = """
Require Import Setoid.
Parameter T : Type. Parameter same : T -> T -> Prop.
Axiom same_refl : forall x, same x x.
Axiom same_sym : forall x y, same x y -> same y x.
Axiom same_trans : forall x y z, same x y -> same y z -> same x z.
Add Relation T same reflexivity proved by same_refl symmetry proved by same_sym transitivity proved by same_trans as same_rel.
Parameter op : T -> T -> T. Parameter e : T.
Axiom op_e : forall x, same (op x e) x.
Axiom op_swap : forall x y, same (op x y) (op y x).
"""
CLASSICAL = "Require Import Classical_Prop Classical_Pred_Type."
CASES = {
    "equal numbers": ("Axiom collapse : forall n m : nat, n = m.", "0 = 1"),
    "equal numbers refute": ("Axiom collapse : forall n m : nat, n = m.", "False"),
    "one element": ("Axiom one : forall b : bool, b = true.", "forall b c : bool, b = c"),
    "a wrong equation": ("Axiom wrong : true = false.", "forall P : Prop, P"),
    "everything": ("Axiom any : forall P : Prop, P.", "exists n : nat, n <> n"),
    "falsehood": ("Axiom no : False.", "forall n m : nat, n = m"),
    "a negation": ("Parameter bad : nat -> Prop. Axiom no_bad : forall n, ~ bad n.", "forall n, bad n -> 0 = 1"),
    "double negation": ("Axiom dneg : forall P : Prop, ~ ~ P -> P.", "forall A B : Prop, (~ B -> ~ A) -> A -> B"),
    "excluded middle": ("Axiom lem : forall P : Prop, P \\/ ~ P.", "forall A B : Prop, (A -> B) -> ~ A \\/ B"),
    "forwards through an equivalence": (
        "Axiom ni : forall A B : Prop, ~ (A -> B) <-> A /\\ ~ B.",
        "forall X Y : Prop, ~ (X -> Y) -> X",
    ),
    "functions": ("Require Import FunctionalExtensionality.", "(fun n : nat => n + 0) = (fun n => n)"),
    "functions, by an own axiom": (
        "Axiom ext : forall (A B : Type) (f g : A -> B), (forall x, f x = g x) -> f = g.",
        "(fun b => negb (negb b)) = (fun b => b)",
    ),
    "functions, in a module that is not imported": (
        "Require Coq.Logic.FunctionalExtensionality.",
        "forall f g : nat -> nat, (forall x, f x = g x) -> f = g",
    ),
    "a counterexample": (CLASSICAL, "forall P : nat -> Prop, ~ (forall n, P n) -> exists n, ~ P n"),
    "a counterexample, forwards": (CLASSICAL, "forall P Q : nat -> Prop, ~ (forall n, P n -> Q n) -> exists n, ~ Q n"),
    "propositions": ("Require Import PropExtensionality.", "forall A B : Prop, (A /\\ B) = (B /\\ A)"),
    "proofs": ("Require Import ProofIrrelevance.", "forall (P : Prop) (p q : P), p = q"),
    "a witness": (
        "Parameter P Q : nat -> Prop. Axiom some : exists n, P n. Axiom step : forall n, P n -> Q (S n).",
        "exists n, Q n",
    ),
    "a choice": (
        "Axiom choice : forall (A B : Type) (R : A -> B -> Prop), (forall x, exists y, R x y) -> exists f : A -> B, forall x, R x (f x).",
        "forall R : nat -> bool -> Prop, (forall n, exists b, R n b) -> exists f, forall n, R n (f n)",
    ),
    "a module of the file": ("Module M. Axiom hidden : forall a b : bool, a = b. End M.", "true = false"),
    "a relation": (RELATION, "forall x, same (op e x) x"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_the_file_states_is_used_whatever_its_symbols(case):
    prelude, statement = CASES[case]
    with ProofSearch(CoqTheorem.from_text(prelude, statement), seed=1) as search:
        assert search.run(Limit(calls=1500)).proved


def test_a_hypothesis_of_a_section_is_used_at_chosen_arguments(tmp_path):
    file = tmp_path / "order.v"
    file.write_text("""
        Section S. Variable U : Type. Context (r : U -> U -> Prop). Hypothesis total : forall x y, r x y \\/ r y x.
        Lemma other : forall x y, ~ r x y -> r y x. Admitted.
        End S.
    """)
    with ProofSearch(CoqTheorem(file, "other"), seed=1) as search:
        assert search.run(Limit(calls=1500)).proved


def test_a_principle_that_the_file_states_is_used_for_induction():
    prelude = "Lemma two_steps : forall P : nat -> Prop, P 0 -> P 1 -> (forall n, P n -> P (S (S n))) -> forall n, P n. Admitted."
    theorem = CoqTheorem.from_text(prelude, "forall n : nat, n + 0 = n")
    prover = theorem.open()
    try:
        assert "induction n using two_steps" in [
            pair.tactic for pair in theorem.provider(prover).suggest(prover.root())
        ]
    finally:
        prover.close()


def test_the_scope_holds_statements_and_nothing_else():
    prelude = """
        Require Import Arith Classical_Prop.
        Inductive tree := leaf | node (l r : tree). Inductive low : tree -> Prop := low_leaf : low leaf.
        Definition flip (t : tree) := t. Record pair_ := mk { first : nat; zero : first = 0 }.
        Axiom alike : forall t u : tree, t = u.
        Section S. Hypothesis here : forall t : tree, low t.
    """
    prover = CoqTheorem.from_text(prelude, "leaf = node leaf leaf").open()
    try:
        found = {premise.name: premise.own for premise in premises_in_scope(prover.query, prover.search)}
    finally:
        prover.close()
    assert {name for name, own in found.items() if own} == {"low_leaf", "zero", "alike", "here"}
    assert not found["NNPP"]
    assert not any(name.startswith("Nat.") for name in found)


def test_own_induction_principles_are_distinguished_from_generated_ones():
    made = [
        Premise("tree", "Set"),
        Premise("tree_ind", "forall (P : forall _ : tree, Prop) (_ : P leaf) (t : tree), P t"),
        Premise("leaf", "tree"),
    ]
    own = Premise("strong_ind", "forall (P : forall _ : nat, Prop) (_ : P O) (n : nat), P n")
    assert statements([*made, own]) == [own]
