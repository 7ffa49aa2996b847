"""A proof that was put together from parts found in different places runs in one."""

from __future__ import annotations

import pytest

from treetop.errors import ProverError
from treetop.prove.config import ProofConfig
from treetop.prove.coq.goals import CoqGoal, Hypothesis
from treetop.prove.coq.retracing import renamed_tactic, retrace
from treetop.prove.coq.settings import CoqSettings
from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.prover import Goal, Proof
from treetop.prove.providers import FixedProvider
from treetop.prove.search import ProofSearch
from treetop.search.limits import Limit


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
        (Proof(goal("x"), "intros"), "intros leaves 1 goals, not 0"),
        (
            Proof(goal("x"), "intros", (Proof(goal("or P Q", P="Prop"), "auto"),)),
            "intros leaves another goal: P : Prop",
        ),
    ],
)
def test_a_proof_that_does_not_run_is_refused(implication, proof, complaint):
    with pytest.raises(ProverError, match=f"does not run as it was found: {complaint}"):
        retrace(implication[1], proof)


def test_strings_and_longer_names_are_left_alone():
    assert (
        renamed_tactic('rewrite H, H0, Nat.H, H\' in H; idtac "H"', {"H": "X"})
        == 'rewrite X, H0, Nat.H, H\' in X; idtac "H"'
    )


def test_a_proof_is_not_lost_because_its_tactics_need_longer_than_usual_in_the_replay():
    """The usual limit of a tactic is a second; the search has to wait longer, and so must all who run its tactics again."""
    slow = "do 3 (do 100000 idtac); apply even_step"
    prelude = "Inductive even : nat -> Prop := even_zero : even 0 | even_step : forall n, even n -> even (S (S n))."
    theorem = CoqTheorem.from_text(prelude, "even 2", settings=CoqSettings(seconds=0.05))
    with ProofSearch(
        theorem, ProofConfig(tactic_seconds=60.0), provider=FixedProvider([(slow, 0.5), ("exact even_zero", 0.5)])
    ) as search:
        result = search.run(Limit(calls=10))
    assert result.proved, result.summary()
    assert slow in result.script
