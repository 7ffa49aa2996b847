"""The structure of a proof: the same whatever things are called, another one as soon as the proof is another one."""

from __future__ import annotations

import itertools

import pytest

from treetop import Rng
from treetop.errors import ConfigError
from treetop.lab.structure import goal_signature, structure, tactic_family
from treetop.prove.prover import Goal, Proof


def leaf(key: str, tactic: str = "assumption") -> Proof:
    return Proof(Goal(key), tactic)


def both(key: str, tactic: str, *parts: Proof) -> Proof:
    return Proof(Goal(key), tactic, parts)


def test_a_structure_is_sixteen_hexadecimal_digits_and_the_same_in_every_process():
    found = structure(both("|- p and q", "split", leaf("|- p"), leaf("|- q")))
    assert len(found) == 16
    assert int(found, 16) >= 0
    assert found == "676210eff5d43dc4"


def test_names_of_hypotheses_do_not_count():
    def proof(n: str, h: str) -> Proof:
        start = f"|- forall {n} : nat, le {n} (S {n})"
        after = f"{n} : nat\n{h} : le O {n}\n|- le {n} (S {n})"
        return both(
            start,
            f"intros {n} {h}",
            both(
                after,
                f"induction {n}",
                leaf(f"{h} : le O O\n|- le O (S O)", f"exact {h}"),
                leaf(f"{n} : nat\nIH{n} : le {n} (S {n})\n|- le (S {n}) (S (S {n}))", f"rewrite IH{n} in {h}"),
            ),
        )

    assert structure(proof("n", "H")) == structure(proof("k0", "H12"))
    other = proof("n", "H")
    assert structure(other) != structure(
        Proof(other.goal, other.tactic, (Proof(other.parts[0].goal, "destruct n", other.parts[0].parts),))
    )


def test_another_tactic_goal_or_shape_is_another_structure():
    proofs = [
        leaf("|- p"),
        leaf("|- q"),
        leaf("|- p", "trivial"),
        both("|- p", "cut", leaf("|- q")),
        both("|- p", "cut", leaf("|- q"), leaf("|- q -> p")),
        both("|- p", "cut", leaf("|- q -> p"), leaf("|- q")),
        both("|- p", "cut", both("|- q", "cut", leaf("|- q -> p"))),
        both("|- p", "cut", leaf("|- q"), leaf("|- q -> p"), leaf("|- r")),
    ]
    assert len({structure(proof) for proof in proofs}) == len(proofs)


def test_the_order_of_subgoals_counts_and_so_does_where_a_tactic_is_used():
    first = both("|- p", "split", leaf("|- q", "left"), leaf("|- q", "right"))
    assert structure(first) != structure(both("|- p", "split", leaf("|- q", "right"), leaf("|- q", "left")))
    deep = both("|- a", "x", both("|- b", "x", leaf("|- c", "y")), leaf("|- d", "x"))
    assert structure(deep) != structure(both("|- a", "x", both("|- b", "x", leaf("|- c", "x")), leaf("|- d", "y")))


def test_equal_proofs_of_one_goal_are_one_node():
    shared = leaf("|- q")
    assert structure(both("|- p", "split", shared, shared)) == structure(
        both("|- p", "split", leaf("|- q"), leaf("|- q"))
    )
    alike = both("|- p", "split", leaf("H : q |- q"), leaf("K : q |- q"))
    assert structure(alike) != structure(both("|- p", "split", leaf("H : q |- q"), leaf("H : q |- q"))), (
        "two goals that look alike are two"
    )


def test_a_proof_that_uses_a_part_exponentially_often_is_quick():
    proof = leaf("|- p0")
    for level in range(1, 60):
        proof = both(f"|- p{level}", "split", proof, proof)
    assert structure(proof) == structure(proof)


def test_a_proof_deeper_than_pythons_stack_has_a_structure():
    proof = leaf("|- p", "done")
    for _ in range(1500):
        proof = both("|- p", "step", proof)
    shorter = proof.parts[0]
    assert structure(proof, rounds=3) != structure(shorter, rounds=3)


def test_few_rounds_see_less():
    def chain(tactics: str) -> Proof:
        proof = leaf("|- p", "end")
        for tactic in reversed(tactics):
            proof = both("|- p", tactic, proof)
        return proof

    one, other = chain("aabaaaacaa"), chain("aaaabaacaa")
    assert structure(one) != structure(other)
    assert structure(one, rounds=1) == structure(other, rounds=1)
    for wrong in (0, -1, True, 1.5):
        with pytest.raises(ConfigError, match="rounds must be"):
            structure(one, rounds=wrong)


def test_all_small_graphs_are_distinguished():
    """Every tree of proofs with up to four tactics of two kinds on goals that look alike: as many structures as trees."""

    def trees(size: int) -> list[tuple]:
        return [(tactic, *parts) for tactic in "ab" for parts in forests(size - 1)]

    def forests(size: int) -> list[tuple]:
        if size == 0:
            return [()]
        return [(first, *rest) for part in range(1, size + 1) for first in trees(part) for rest in forests(size - part)]

    counter = itertools.count()

    def built(tree: tuple) -> Proof:
        return Proof(
            Goal(f"|- {next(counter)}"), tree[0], tuple(map(built, tree[1:]))
        )  # numbers are not seen, so goals differ and look alike

    every = [tree for size in range(1, 5) for tree in trees(size)]
    assert len(every) == 2 + 4 + 16 + 80
    assert len({structure(built(tree)) for tree in every}) == len(every)


def test_callers_may_look_at_goals_and_tactics_in_their_own_way():
    one, other = leaf("|- p", "exact H"), leaf("|- q", "apply H")
    assert structure(one) != structure(other)
    assert structure(one, lambda goal: "", family=lambda tactic: "") == structure(
        other, lambda goal: "", family=lambda tactic: ""
    )
    assert structure(one, lambda goal: goal.data or "x") != structure(one, lambda goal: "y")


@pytest.mark.parametrize(
    ("tactic", "family"),
    [
        ("rewrite <- H in H2", "rewrite"), ("auto", "auto"), ("  intros n m.", "intros"), ("destruct x as [|y IHy]; simpl", "destruct;simpl"),
        ("split; [auto | rewrite H; auto]", "split;[auto|rewrite;auto]"), ("split; [> auto | ]", "split;[auto|]"), ("(a; b); c", "a;b;c"),
        ("try (rewrite H; auto)", "try"), ("(f x) y", "f"), ("->", "->"), ("", ""), ("simpl;auto", "simpl;auto"), ("apply (f (g x)); a", "apply;a"),
        ("inner'_2 x", "inner'_2"), ("[a", "a"),
    ],
)  # fmt: skip
def test_the_family_of_a_tactic_is_its_first_word(tactic, family):
    assert tactic_family(tactic) == family


@pytest.mark.parametrize(
    ("key", "seen"),
    [
        ("n, m : nat\n|- eq (plus n m) (plus m n)", "$1, $2 : nat |- eq (plus $1 $2) (plus $2 $1)"),
        ("x := S y : nat\nH0 : le x 3\n|- le O x", "$1 := S y : nat $2 : le $1 # |- le O $1"),
        ("|- forall (n : nat) (m : nat), @eq nat n m", "|- forall ($1 : nat) ($2 : nat), @eq nat $1 $2"),
        ("|- forall n m : nat, exists k, Nat.lt n k", "|- forall $1 $2 : nat, exists $3, Nat.lt $1 $3"),
        ("|- and (forall n : nat, P n) (forall n : nat, Q n)", "|- and (forall $1 : nat, P $1) (forall $2 : nat, Q $2)"),
        ("|- ∀x. p x", "|- ∀$1. p $1"), ("p, p -> q |- q", "p, p -> q |- q"), ("", ""), ("|- fun  x =>\n x", "|- fun $1 => $1"),
    ],
)  # fmt: skip
def test_the_signature_of_a_goal_leaves_out_names_and_numbers(key, seen):
    assert goal_signature(Goal(key)) == seen


def test_any_renaming_of_the_declared_names_leaves_the_signature():
    rng = Rng(seed=5)
    for _ in range(200):
        names = [f"{letter}{rng.below(1000)}" for letter in "xyzH"]
        key = "{0}, {1} : nat\n{3} : forall {2} : nat, le {2} {0}\n|- le {1} {0}"
        assert goal_signature(Goal(key.format(*names))) == goal_signature(Goal(key.format("n", "m", "k", "IHn")))
