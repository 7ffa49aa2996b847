from __future__ import annotations

import shutil
import subprocess
import time

import pytest

from treetop.prove.coq.statements import same_statement
from treetop.prove.coq.syntax import Term, parse, render
from treetop.prove.coq.terms import (
    arguments,
    bound_names,
    canonical,
    conclusion,
    free_names,
    head,
    match,
    name,
    peel,
    premises,
    recursive_arguments,
    scrutinees,
    size,
    substitute,
    subterms,
    symbols,
)

PRINTED = [
    "@eq nat (Nat.add n m) (Nat.add m n)",
    "forall (A : Type) (l _ : list A) (n : nat), @eq nat (@length A l) n",
    "forall (P : forall _ : nat, Prop) (_ : P O) (_ : forall (n : nat) (_ : P n), P (S n)) (n : nat), P n",
    "and (@ex nat (@unique nat (fun x : nat => @eq nat x n))) (not (lt (S O) (S (S O))))",
    "match l return nat with | nil => O | cons _ r => let y : nat := @length A r in Nat.add y ((fun k : nat => k) (S (S O))) end",
    "fun (n : nat) (H : @eq nat n (S O)) => match H in (eq _ y) return (@eq nat y n) with | eq_refl => @eq_refl nat n end",
    "match S (S O) as x return match x return Set with | O => nat | S _ => bool end with | O => S O | S _ => true end",
    "(fix f (x : nat) (y : bool) {struct x} : nat := match x return nat with | O => S O | S k => f k y end) n b",
    "fix f (x : nat) : nat := match x return nat with | O => S O | S k => g k end with g (x : nat) : nat := f x for f",
    "fun x : nat => x : nat",
    "match H return P with end",
    "if b then O else S O",
    "let (a, b) := p in Nat.add a b",
    "forall [A : Type] {B : Type} (f : forall _ : A, B), @eq (list B) (@map A B f (@nil A)) (@nil B)",
    'f 5%Z "a ""quoted"" string" ?x',
    "forall (x := S O : nat) (y : nat), @eq nat x y",
    "cofix s : Stream := Cons O s",
]


@pytest.mark.parametrize("text", PRINTED)
def test_a_printed_term_is_read_whole_and_written_so_that_it_reads_the_same(text):
    term = parse(text)
    assert all(part.kind != "opaque" for part in subterms(term))
    assert parse(render(term)) == term


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(",
        ")",
        "forall",
        "f (a b",
        "match x with",
        "let x :=",
        "fix",
        "@@",
        "x : ",
        "{| a := b |}",
        "fun",
        "1 2 ) 3",
        '"open',
    ],
)
def test_what_cannot_be_read_is_opaque_and_no_error(text):
    assert parse(text).kind == "opaque" or parse(text).kind == "app"


def test_only_the_parenthesis_that_cannot_be_read_is_opaque():
    term = parse("@eq T ([| 1 ; 2 |] a) (f b)")
    assert head(term) == "eq"
    assert [part.kind for part in arguments(term)] == ["name", "opaque", "app"]
    assert parse(render(term)) == term


def test_nesting_without_end_is_no_error():
    deep = "S (" * 3000 + "O" + ")" * 3000
    assert head(parse(f"@eq nat {deep} O")) in ("eq", "<opaque>")
    assert size(parse(f"le ({deep}) n")) > 1
    chain = "".join(f"forall x{number} : nat, " for number in range(2000)) + "P"
    assert parse(chain).kind in ("forall", "opaque")


def test_the_two_names_of_a_function_on_numbers_are_one():
    assert parse("Init.Nat.add n m") == parse("Nat.add n m")


def test_arrows_are_premises():
    assert parse("A -> B") == parse("forall _ : A, B")


def test_a_statement_is_peeled_to_its_conclusion():
    term = parse("forall (n m : nat) (_ : le n m) (_ : lt n m), @eq nat n m")
    binders, stated = peel(term)
    assert [binder.name for binder in binders] == ["n", "m", "_", "_"]
    assert stated == conclusion(term) == parse("@eq nat n m")
    assert premises(term) == (parse("le n m"), parse("lt n m"))


def test_symbols_are_the_free_names_that_are_no_variables():
    term = parse("forall x : nat, @eq nat (Nat.add x y) (f x)")
    assert free_names(term) == {"nat", "eq", "Nat.add", "y", "f"}
    assert symbols(term, frozenset(("y",))) == {"nat", "eq", "Nat.add", "f"}
    assert bound_names(term) == {"x"}


def test_names_bound_by_match_and_fix_are_not_free():
    assert free_names(parse(PRINTED[7])) == {"nat", "bool", "n", "b"} | {"S", "O"}
    assert free_names(parse(PRINTED[5])) == {"nat", "eq", "S", "O", "eq_refl"}


def test_what_is_matched_on_is_found_outside_of_binders_only():
    term = parse(
        "@eq nat match f n return nat with | O => O | S k => match k return nat with | O => O | S _ => n end end O"
    )
    assert scrutinees(term) == (parse("f n"),)


def test_arguments_in_recursive_places_are_found():
    positions = {"Nat.add": (0,), "app": (1,)}
    term = parse("@eq nat (Nat.add (Nat.add n m) p) (@length A (@app A l k))")
    assert recursive_arguments(term, positions) == (parse("Nat.add n m"), name("n"), name("l"))
    assert recursive_arguments(parse(PRINTED[7]), {}) == (name("n"),)


def test_a_pattern_matches_its_instances_only():
    pattern, variables = parse("Nat.add x (Nat.add y x)"), frozenset(("x", "y"))
    assert match(pattern, parse("Nat.add (S n) (Nat.add m (S n))"), variables) == {"x": parse("S n"), "y": name("m")}
    assert match(pattern, parse("Nat.add (S n) (Nat.add m n)"), variables) is None
    assert match(pattern, parse("Nat.mul n (Nat.add m n)"), variables) is None


def test_matching_does_not_care_for_bound_names():
    pattern = parse("@ex nat (fun a : nat => @eq nat a y)")
    assert match(pattern, parse("@ex nat (fun b : nat => @eq nat b (S n))"), frozenset(("y",))) == {"y": parse("S n")}


def test_a_variable_that_is_applied_fits_anything():
    assert match(parse("P x"), parse("le n m"), frozenset(("P", "x"))) == {}


def test_substitution_leaves_bound_names_alone():
    term = parse("f x (fun x : nat => g x y)")
    assert substitute(term, {"x": name("a"), "y": name("b")}) == parse("f a (fun x : nat => g x b)")
    assert substitute(parse("P x"), {"P": parse("le n")}) == parse("le n x")


def test_terms_that_differ_in_bound_names_have_one_canonical_form():
    assert canonical(parse("forall n m : nat, le n m")) == canonical(parse("forall a b : nat, le a b"))
    assert canonical(parse("forall n m : nat, le n m")) != canonical(parse("forall n m : nat, le m n"))


@pytest.mark.parametrize(("one", "other"), [
    ("forall n m : nat, @eq nat (Nat.add n m) (Nat.add m n)", "forall m n : nat, @eq nat (Nat.add n m) (Nat.add m n)"),
    ("forall n : nat, @eq nat (Nat.add n O) n", "forall k : nat, @eq nat k (Nat.add k O)"),
    ("forall (n m : nat) (_ : le n m) (_ : P n), Q", "forall (a b : nat) (_ : P b) (_ : le b a), Q"),
    ("forall (A : Type) (l : list A) (_ : @eq (list A) l (@nil A)), P", "forall (B : Type) (k : list B) (_ : @eq (list B) (@nil B) k), P"),
    ("forall n : nat, not (lt n n)", "forall (n : nat) (_ : gt n n), False"),
    ("iff P Q", "iff Q P"),
])  # fmt: skip
def test_restated_lemmas_are_the_same_statement(one, other):
    assert same_statement(one, other)
    assert same_statement(other, one)


@pytest.mark.parametrize(("one", "other"), [
    ("forall n m : nat, le n m", "forall n : nat, le n n"),
    ("forall n m : nat, @eq nat (Nat.add n m) (Nat.add m n)", "forall n m : nat, @eq nat (Nat.add n m) (Nat.add n m)"),
    ("forall n m : nat, lt n m", "forall n m : nat, le n m"),
    ("forall n : nat, P n", "forall n : bool, P n"),
    ("forall (n m : nat) (_ : le n m), lt n m", "forall (n m : nat) (_ : le n m), lt m n"),
    ("forall n : nat, P n", "P O"),
])  # fmt: skip
def test_other_lemmas_are_not_the_same_statement(one, other):
    assert not same_statement(one, other)
    assert not same_statement(other, one)


def test_a_thousand_goals_are_read_in_a_second():
    texts = [f"@eq nat (Nat.add (Nat.mul n{number} m) p) (Nat.add p (Nat.mul m n{number}))" for number in range(1000)]
    began = time.perf_counter()
    for text in texts:
        parse(text)
    assert time.perf_counter() - began < 1.0


@pytest.mark.skipif(shutil.which("coqtop") is None, reason="needs Coq: the Debian package `coq`")
def test_all_lemmas_of_the_library_of_lists_are_read_and_written_again():
    commands = "Require Import List Bool Relations Permutation.\nSet Printing All.\nSet Printing Width 100000.\n"
    commands += "".join(
        f"Search _ inside {module}.\n"
        for module in ("Coq.Lists.List", "Coq.Bool.Bool", "Coq.Init.Logic", "Coq.Sorting.Permutation")
    )
    said = subprocess.run(["coqtop", "-q"], input=commands, capture_output=True, text=True, check=True).stdout
    statements = [
        line.partition(": ")[2] for line in said.splitlines() if ": " in line and not line.startswith(("(", " ", "|"))
    ]
    assert len(statements) > 500
    for statement in statements:
        if statement.count("match") != statement.count("end"):
            continue  # printed on several lines
        term = parse(statement)
        assert isinstance(term, Term)
        assert all(part.kind != "opaque" for part in subterms(term)), statement
        assert parse(render(term)) == term, statement
