from __future__ import annotations

import math
import time

import pytest

from tests.prove.coq.hand_written import coq_goal
from treetop.errors import ConfigError
from treetop.prove.coq.goals import Premise
from treetop.prove.coq.premises import Premises
from treetop.prove.coq.recursion import Constant, Recursion, looked_at
from treetop.prove.coq.suggest import CoqProvider
from treetop.prove.coq.syntax import parse
from treetop.prove.coq.views import view
from treetop.prove.prover import Goal
from treetop.prove.providers import FilteredProvider, is_easy

PROVIDER = CoqProvider(width=1000)


def suggested(*lines: str) -> dict[str, float]:
    return dict(PROVIDER.suggest(coq_goal(*lines)))


GOALS = [
    ("forall n m : nat, @eq nat (Nat.add n m) (Nat.add m n)",),
    ("A : Type", "l m : list A", "@eq (list A) (@app A l (@nil A)) l"),
    ("P : Prop", "Q : Prop", "H : or P Q", "or Q P"),
    ("n : nat", "H : @eq nat (S n) O", "False"),
    ("R : forall (_ : A) (_ : A), Prop", "x : A", "@ex A (fun y : A => R x y)"),
    ("b : bool", "@eq bool match b return bool with | true => b | false => true end true"),
    ("not (@eq nat O (S O))",),
    ("T",),
    ("garbage ((",),
]


@pytest.mark.parametrize("lines", GOALS)
def test_suggestions_are_bounded_sorted_different_and_finite(lines):
    found = CoqProvider(width=40).suggest(coq_goal(*lines))
    assert 5 <= len(found) <= 40
    assert len({pair.tactic for pair in found}) == len(found)
    assert [pair.probability for pair in found] == sorted((pair.probability for pair in found), reverse=True)
    assert all(0 < pair.probability < 1 and math.isfinite(pair.probability) for pair in found)


@pytest.mark.parametrize(("lines", "tactic"), [
    (("forall n m : nat, @eq nat n m",), "intros"),
    (("forall (_ : and P Q) (_ : or P Q), Q",), "intros [? ?] [?|?]"),
    (("forall (_ : @ex nat (fun x : nat => and (P x) (Q x))), R",), "intros [? [? ?]]"),
    (("and P Q",), "split"),
    (("or P Q",), "left"),
    (("H : Q", "or P Q"), "right; assumption"),
    (("True",), "exact I"),
    (("n : nat", "@eq nat n n"), "reflexivity"),
    (("n : nat", "m : nat", "@eq nat (S n) (S m)"), "f_equal"),
    (("n : nat", "H : @eq nat O (S n)", "P"), "discriminate"),
    (("n : nat", "m : nat", "H : @eq nat (S m) (S n)", "@eq nat m n"), "injection H as; subst"),
    (("n : nat", "m : nat", "H : @eq nat m n", "@eq nat n m"), "subst"),
    (("H : P", "P"), "assumption"),
    (("H : forall (n : nat) (_ : Q n), P n", "n : nat", "P n"), "apply H"),
    (("H : forall (n m : nat) (_ : Q n m), P n", "n : nat", "P n"), "eapply H; eauto 3"),
    (("H : forall n : nat, @eq nat (f n) (g n)", "n : nat", "@eq nat (g (f n)) n"), "rewrite H"),
    (("H : forall n : nat, @eq nat (f n) (g n)", "n : nat", "@eq nat (g n) n"), "rewrite <- H"),
    (("H : forall (n : nat) (_ : Q n), P n", "n : nat", "H0 : Q n", "R"), "apply H in H0"),
    (("H : and P Q", "R"), "destruct H as [? ?]"),
    (("H : or P (and Q R)", "S"), "destruct H as [?|[? ?]]"),
    (("H : False", "S"), "destruct H as []"),
    (("H : P", "H0 : not P", "R"), "contradiction"),
    (("n : nat", "@eq nat (Nat.add n O) n"), "induction n"),
    (("A : Type", "l : list A", "m : list A", "@eq nat (@length A (@app A l m)) O"), "induction l"),
    (("forall (A : Type) (l m : list A), @eq nat (@length A (@app A l m)) O",), "induction l; simpl"),
    (("n : nat", "m : nat", "@eq bool (Nat.eqb n m) true"), "generalize dependent m; induction n; simpl; intros"),
    (("b : bool", "c : bool", "@eq bool (andb b c) (andb c b)"), "destruct b, c; reflexivity"),
    (("forall b : bool, @eq bool (negb (negb b)) b",), "intros; destruct b; reflexivity"),
    (("n : nat", "@eq nat match f n return nat with | O => O | S _ => O end O"), "destruct (f n) eqn:E"),
    (("n : nat", "E : P n", "@eq nat match f n return nat with | O => O | S _ => O end O"), "destruct (f n) eqn:E0"),
    (("n : nat", "@ex nat (fun m : nat => @eq nat m (S n))"), "exists (S n)"),
    (("n : nat", "k : nat", "H : R n k", "@ex nat (fun m : nat => R n m)"), "exists k"),
    (("n : nat", "H : even (S (S n))", "even n"), "inversion H; subst"),
    (("x : nat", "@eq nat (Nat.add (S x) O) (S x)"), "simpl"),
    (("n : nat", "le n (S n)"), "lia"),
    (("n : nat", "H : lt n n", "False"), "lia"),
    (("forall P Q : Prop, iff P Q",), "intros"),
    (("H : and (@eq nat a b) R", "iff (and P Q) R"), "split; [intros [? ?] | intros ?]"),
    (("sumbool (@eq nat n m) (not (@eq nat n m))",), "decide equality"),
])  # fmt: skip
def test_the_obvious_tactic_is_among_the_first(lines, tactic):
    found = [pair.tactic for pair in CoqProvider().suggest(coq_goal(*lines))]
    assert tactic in found


def test_a_hypothesis_that_is_the_goal_comes_first():
    assert next(iter(suggested("P : Prop", "H : P", "P"))) == "assumption"


def test_apply_is_not_suggested_where_it_cannot_fit():
    assert "apply H" not in suggested("H : forall n : nat, P n", "n : nat", "Q n")
    assert "rewrite H" not in suggested("H : forall n : nat, @eq nat (f n) n", "n : nat", "@eq nat (g n) n")


def test_tactics_that_would_leave_unknowns_are_closed_at_once():
    for lines in GOALS:
        for tactic in suggested(*lines):
            assert not tactic.startswith(("eapply", "eexists", "econstructor")) or ";" in tactic


def test_equal_goals_get_equal_suggestions():
    goal = coq_goal("n : nat", "@eq nat (Nat.add n O) n")
    assert CoqProvider().suggest(goal) == CoqProvider().suggest(goal)


def test_more_suggestions_begin_with_the_same_ones():
    provider, goal = CoqProvider(width=10), coq_goal("forall n : nat, @eq nat (Nat.add n O) n")
    few, many = provider.suggest(goal), provider.suggest_more(goal, 30)
    assert many[:10] == few
    assert len(many) == 30


def test_without_easy_tactics_there_are_as_many():
    goal = coq_goal("n : nat", "m : nat", "@eq nat (Nat.add n m) (Nat.add m n)")
    found = FilteredProvider(CoqProvider(width=20)).suggest(goal)
    assert len(found) == 20
    assert not any(is_easy(pair.tactic) for pair in found)


def test_a_goal_of_another_prover_is_an_error():
    with pytest.raises(ConfigError, match="not a goal of Coq"):
        CoqProvider().suggest(Goal("p -> p"))


def test_a_width_of_nothing_is_an_error():
    with pytest.raises(ConfigError, match="width"):
        CoqProvider(width=0)


def test_hypotheses_are_distinguished_by_what_they_are():
    data = coq_goal(
        "A : Type",
        "P : forall _ : A, Prop",
        "x : A",
        "n : nat",
        "H : P x",
        "f : forall _ : A, nat",
        "e : @eq nat n n",
        "l : list A",
        "w : even n",
        "T",
    ).data
    assert [given.role for given in view(data).givens] == [
        "type",
        "type",
        "data",
        "data",
        "proof",
        "data",
        "proof",
        "data",
        "proof",
    ]


def test_the_place_of_recursion_is_read_from_a_definition():
    sum_of = "fix sum (acc : nat) (l : list nat) {struct l} : nat := match l return nat with | nil => acc | cons x r => sum (Nat.add acc x) r end"
    assert set(looked_at(parse(sum_of))) == {1}
    assert list(
        looked_at(parse("fun (A B : Type) (f : forall _ : A, B) => fix map (l : list A) : list B := @nil B"))
    ) == [3]
    assert list(looked_at(parse("fun a b : bool => match a return bool with | true => b | false => false end"))) == [0]
    provider = CoqProvider(definition={"sum": Constant(sum_of)}.get)
    assert "induction l" in [pair.tactic for pair in provider.suggest(coq_goal("l : mylist", "@eq nat (sum O l) O"))]


def test_abbreviations_are_unfolded_and_recursive_functions_are_not():
    values = {"twice": Constant("fun n : nat => Nat.add n n"), "loop": Constant("fix loop (n : nat) : nat := n")}
    assert Recursion(values.get).is_plain("twice")
    assert not Recursion(values.get).is_plain("loop")
    found = [
        pair.tactic
        for pair in CoqProvider(definition=values.get).suggest(coq_goal("n : nat", "@eq nat (twice n) (loop n)"))
    ]
    assert "unfold twice" in found
    assert "unfold loop" not in found


def test_lemmas_come_in_when_they_are_there():
    lemmas = [Premise("add_comm", "forall n m : nat, @eq nat (Nat.add n m) (Nat.add m n)")]
    provider = CoqProvider(Premises(lambda symbol: lemmas if symbol == "Nat.add" else []))
    found = [
        pair.tactic for pair in provider.suggest(coq_goal("a : nat", "b : nat", "@eq nat (Nat.add a b) (Nat.add b a)"))
    ]
    assert "apply add_comm" in found[:8]
    assert "rewrite add_comm" in found


def test_a_goal_costs_a_few_milliseconds():
    goals = [
        coq_goal(
            "n : nat", f"H{number} : le n m", "m : nat", f"@eq nat (Nat.add (Nat.mul n m) k{number}) (Nat.add m n)"
        )
        for number in range(50)
    ]
    provider = CoqProvider()
    began = time.perf_counter()
    for goal in goals:
        provider.suggest(goal)
    assert time.perf_counter() - began < 1.0
