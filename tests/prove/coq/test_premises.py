from __future__ import annotations

import shutil
from collections import Counter

import pytest

from tests.prove.coq.hand_written import coq_goal
from treetop.errors import ConfigError
from treetop.prove.coq.goals import Premise
from treetop.prove.coq.premises import Premises
from treetop.prove.coq.prover import CoqProver, Opening
from treetop.prove.coq.sentences import split
from treetop.prove.coq.sources import definition_from, lookup_from, missing_from, provider_for, read_constant
from treetop.prove.coq.suggest import CoqProvider
from treetop.prove.coq.views import view
from treetop.prove.prover import Place, Step

needs_coq = pytest.mark.skipif(shutil.which("coqidetop.opt") is None, reason="needs Coq: the Debian package `coq`")

LEMMAS = [
    Premise("add_comm", "forall n m : nat, @eq nat (Nat.add n m) (Nat.add m n)"),
    Premise("add_0_r", "forall n : nat, @eq nat (Nat.add n O) n"),
    Premise("add_assoc", "forall n m p : nat, @eq nat (Nat.add n (Nat.add m p)) (Nat.add (Nat.add n m) p)"),
    Premise("le_add", "forall n m : nat, le n (Nat.add n m)"),
    Premise("le_trans", "forall (n m p : nat) (_ : le n m) (_ : le m p), le n p"),
    Premise("le_S_n", "forall (n m : nat) (_ : le (S n) (S m)), le n m"),
    Premise("lt_irrefl", "forall n : nat, not (lt n n)"),
    Premise("lt_le", "forall (n m : nat) (_ : lt n m), le n m"),
    Premise("lt_succ", "forall n m : nat, iff (lt n (S m)) (le n m)"),
    Premise(
        "nat_ind",
        "forall (P : forall _ : nat, Prop) (_ : P O) (_ : forall (n : nat) (_ : P n), P (S n)) (n : nat), P n",
    ),
    Premise(
        "map_app",
        "forall (A B : Type) (f : forall _ : A, B) (l m : list A), @eq (list B) (@map A B f (@app A l m)) (@app B (@map A B f l) (@map A B f m))",
    ),
]


def lookup(symbol: str) -> list[Premise]:
    words = {
        lemma.name: set(lemma.statement.replace("(", " ").replace(")", " ").replace("@", " ").split())
        for lemma in LEMMAS
    }
    return [lemma for lemma in LEMMAS if symbol in words[lemma.name]]


def tactics(*lines: str, **settings: str) -> list[str]:
    return [pair.tactic for pair in Premises(lookup, **settings).suggest(view(coq_goal(*lines).data))]


def test_a_lemma_that_is_the_goal_comes_first():
    assert tactics("a : nat", "b : nat", "@eq nat (Nat.add a b) (Nat.add b a)")[0] == "apply add_comm"


def test_lemmas_are_applied_where_their_conclusion_fits_only():
    found = tactics("a : nat", "b : nat", "le a b")
    assert "apply lt_le" in found
    assert "apply le_S_n" in found
    assert "apply lt_succ" in found
    assert not any("le_add" in tactic or "lt_irrefl" in tactic for tactic in found if "using" not in tactic)


def test_a_lemma_with_a_variable_that_nothing_determines_is_closed_at_once():
    found = tactics("a : nat", "b : nat", "le a b")
    assert "eapply le_trans; eauto 3" in found
    assert "eapply le_trans; eassumption" in found
    assert "apply le_trans" not in found


def test_a_hypothesis_determines_what_the_goal_does_not():
    found = tactics("a : nat", "b : nat", "c : nat", "H : le a (S c)", "le a b")
    assert "apply le_trans with (m := S c)" in found


def test_a_lemma_whose_premises_are_known_ends_the_goal_and_comes_first():
    assert tactics("a : nat", "b : nat", "H : lt a b", "le a b")[0] == "apply lt_le; assumption"
    assert (
        tactics("a : nat", "b : nat", "c : nat", "H : le a c", "H0 : le c b", "le a b")[0]
        == "eapply le_trans; eassumption"
    )
    assert tactics("a : nat", "b : nat", "H : le (S a) (S b)", "le a b")[0] == "apply le_S_n; assumption"


def test_equations_are_rewritten_with_where_a_side_occurs():
    found = tactics("a : nat", "b : nat", "@eq nat (Nat.mul (Nat.add a O) b) O")
    assert "rewrite add_0_r" in found
    assert "rewrite add_comm" in found
    assert not any("add_assoc" in tactic for tactic in found)
    assert "rewrite <- add_assoc" in tactics("a : nat", "@eq nat (Nat.add (Nat.add a a) a) O")


def test_an_equation_fits_turned_round():
    assert "symmetry; apply add_0_r" in tactics("a : nat", "@eq nat a (Nat.add a O)")


def test_a_contradicting_lemma_proves_falsehood():
    assert "apply lt_irrefl" in " ".join(tactics("a : nat", "H : lt a a", "False"))


def test_lemmas_are_used_forwards_from_hypotheses():
    assert "apply le_S_n in H" in tactics("a : nat", "b : nat", "H : le (S a) (S b)", "P")


def test_what_is_quantified_is_introduced_first():
    assert tactics("forall a b : nat, @eq nat (Nat.add a b) (Nat.add b a)")[0] == "intros; apply add_comm"


def test_induction_principles_are_no_lemmas():
    assert not any("nat_ind" in tactic for tactic in tactics("a : nat", "le a a"))


def test_each_symbol_is_asked_for_once():
    asked: Counter[str] = Counter()

    def counting(symbol: str) -> list[Premise]:
        asked[symbol] += 1
        return lookup(symbol)

    premises = Premises(counting)
    for _ in range(3):
        premises.suggest(view(coq_goal("a : nat", "@eq nat (Nat.add a O) a").data))
    assert asked == {"Nat.add": 1}
    assert len(premises) == 4


def test_a_lemma_that_restates_the_theorem_is_left_out_where_asked():
    goal = ("a : nat", "b : nat", "@eq nat (Nat.add a b) (Nat.add b a)")
    assert any("add_comm" in tactic for tactic in tactics(*goal))
    assert not any(
        "add_comm" in tactic
        for tactic in tactics(*goal, unlike="forall y x : nat, @eq nat (Nat.add y x) (Nat.add x y)")
    )


def test_no_more_lemmas_than_asked_for():
    assert len(Premises(lookup, most=2).fits(view(coq_goal("a : nat", "b : nat", "le a b").data))) == 2
    with pytest.raises(ConfigError, match="most"):
        Premises(lookup, most=0)


@pytest.mark.parametrize(("printed", "value", "constructors"), [
    ("implb = \nfun b1 b2 : bool =>\nb2\n     : forall (_ : bool) (_ : bool), bool\n\nArguments implb", "fun b1 b2 : bool => b2", None),
    ("Inductive le (n : nat) : forall _ : nat, Prop :=\n    le_n : le n n\n  | le_S : forall (m : nat) (_ : le n m), le n (S m).\n\nArguments le", None, ("le_n", "le_S")),
    ("Inductive False : Prop :=  .", None, ()),
    ("Variant r : Set :=  Build_r : forall (_ : nat) (_ : bool), r.", None, ("Build_r",)),
    ("Inductive\nclos (A : Type) (R : relation A) : forall _ : A, Prop :=\n    t_step : clos A R", None, ("t_step",)),
])  # fmt: skip
def test_what_coq_prints_of_a_name_is_read(printed, value, constructors):
    assert read_constant(printed) == (value, constructors)


def test_an_axiom_has_no_definition():
    assert read_constant("*** [ classic : forall P : Prop, or P (not P) ]") is None


@needs_coq
def test_lemmas_and_definitions_come_from_coq_and_prove_a_theorem():
    prelude = """
        Require Import List.
        Fixpoint total (l : list nat) : nat := match l with nil => 0 | cons n r => n + total r end.
        Definition double (n : nat) := n + n.
        Lemma total_app : forall l m, total (l ++ m) = total l + total m. Admitted.
    """
    prover = CoqProver(
        Opening(split(prelude), split("Lemma swap : forall l m, total (m ++ l) = total m + total l.")[0])
    )
    try:
        definition = definition_from(prover.query)
        assert definition("double") is not None
        assert definition("list").constructors == ("nil", "cons")
        assert definition("no_such_name") is None
        provider = CoqProvider(Premises(lookup_from(prover.search)), definition)
        found = [pair.tactic for pair in provider.suggest(prover.root())]
        assert "intros; apply total_app" in found
        assert prover.attempt(Place(prover.root()), "intros; apply total_app").subgoals == ()
        assert any(tactic.startswith("induction m") for tactic in found)
    finally:
        prover.close()


@needs_coq
def test_a_provider_for_a_prover_suggests_tactics_that_coq_understands():
    prelude = """
        Require Import PeanoNat.
        Inductive tree := leaf | node (l r : tree).
        Fixpoint mirror t := match t with leaf => leaf | node l r => node (mirror r) (mirror l) end.
        Inductive below : nat -> nat -> Prop := here n : below n (S n) | there n m : below n m -> below n (S m).
    """
    stated = "Lemma all : forall (t : tree) (n m : nat), below n m -> mirror (mirror t) = t /\\ (exists k, below n k) /\\ n + m = m + n."
    prover = CoqProver(Opening(split(prelude), split(stated)[0]))
    try:
        provider = provider_for(prover)
        pending = [Place(prover.root())]
        seen, tried, understood = set(), 0, 0
        while pending and tried < 250:
            place = pending.pop()
            if place.goal in seen:
                continue
            seen.add(place.goal)
            for tactic, _ in provider.suggest(place.goal):
                result = prover.attempt(place, tactic, 1.0)
                tried += 1
                understood += not any(
                    word in result.reason
                    for word in ("Syntax error", "not found in the current", "Unknown", "is not an inductive")
                )
                if result.subgoals and len(place.path) < 3:
                    pending = [
                        Place(subgoal, (*place.path, Step(tactic, index)))
                        for index, subgoal in enumerate(result.subgoals)
                    ] + pending
        assert understood > 0.93 * tried
    finally:
        prover.close()


@needs_coq
def test_tactics_of_libraries_that_are_not_loaded_are_missing():
    without = CoqProver(Opening((), split("Lemma one : 1 = 1.")[0]))
    loaded = CoqProver(Opening(split("Require Import Lia."), split("Lemma one : 1 = 1.")[0]))
    try:
        assert missing_from(without.query) == {"lia", "nia", "auto with arith"}
        assert missing_from(loaded.query) == frozenset()
        assert "lia" not in [pair.tactic for pair in provider_for(without).suggest(without.root())]
        assert "lia" in [pair.tactic for pair in provider_for(loaded).suggest(loaded.root())]
    finally:
        without.close()
        loaded.close()
