"""A proof that was put together from parts found in different places runs in one."""

from __future__ import annotations

import pytest

from treetop.errors import ProverError
from treetop.prove.coq.goals import CoqGoal, Hypothesis
from treetop.prove.coq.retracing import renamed_tactic, retrace
from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.prover import Goal, Proof


def goal(conclusion, **types):
    data = CoqGoal(tuple(Hypothesis(name, kind) for name, kind in types.items()), conclusion)
    return Goal(data.key, data=data)


@pytest.fixture(scope="module")
def implication():
    theorem = CoqTheorem.from_text("", "Lemma l (P Q : Prop) : P -> Q -> P /\\ Q.")
    prover = theorem.open()
    yield theorem, prover
    prover.close()


def proof_with(first, second, tactic="exact"):
    given = {"P": "Prop", "Q": "Prop", first: "P", second: "Q"}
    parts = (Proof(goal("P", **given), f"{tactic} {first}"), Proof(goal("Q", **given), f"{tactic} {second}"))
    return Proof(goal("and P Q", **given), "split", parts)


def test_a_proof_that_runs_stays_as_it_is(implication, proved):
    prover = implication[1]
    proof = proved(prover, ["intros", ["split", "assumption", "exact H0"]])
    assert retrace(prover, proof) == proof


def test_hypotheses_are_renamed_to_what_they_are_called_here(implication):
    theorem, prover = implication
    proof = Proof(prover.root(), "intros", (proof_with("p", "H"),))
    assert not theorem.verify(proof).accepted
    mended = retrace(prover, proof)
    assert [part.tactic for part in mended.walk()] == ["intros", "split", "exact H", "exact H0"]
    assert theorem.verify(mended).accepted


@pytest.mark.parametrize(
    ("proof", "complaint"),
    [
        (Proof(goal("x"), "reflexivity"), "reflexivity: .*"),
        (Proof(goal("x"), "intros", (proof_with("p", "q", "destruct"),)), "destruct H: .*"),
        (Proof(goal("x"), "intros"), "intros leaves 1 goals and not 0"),
        (Proof(goal("x"), "intros", (Proof(goal("or P Q", P="Prop"), "auto"),)), "intros leaves another goal: P : Prop"),
    ],
)
def test_a_proof_that_does_not_run_is_refused(implication, proof, complaint):
    with pytest.raises(ProverError, match=f"does not run as it was found: {complaint}"):
        retrace(implication[1], proof)


def test_strings_and_longer_names_are_left_alone():
    assert renamed_tactic('rewrite H, H0, Nat.H, H\' in H; idtac "H"', {"H": "X"}) == 'rewrite X, H0, Nat.H, H\' in X; idtac "H"'
