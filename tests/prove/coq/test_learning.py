"""What was done in finished proofs is suggested for similar goals."""

from __future__ import annotations

from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.search import ProofSearch
from treetop.search.limits import Limit

FILE = """
Inductive reach : nat -> Prop := start : reach 0 | step : forall n, reach n -> reach (S (S (S n))).
Ltac climb := repeat constructor.
Lemma reach_nine : reach 9.
Proof. climb. Qed.
Lemma reach_thirty : reach 30.
Admitted.
Lemma reach_three : reach 3.
Proof. exact (step 0 start). Qed.
"""


def test_a_theorem_learns_from_the_proofs_above_it_and_from_other_files(tmp_path):
    own, other = tmp_path / "Own.v", tmp_path / "Other.v"
    own.write_text(FILE)
    other.write_text("Lemma trivial_enough : True.\nProof. exact I. Qed.\n")
    theorem = CoqTheorem(own, "reach_thirty")
    assert theorem.learn([own], tmp_path / "records") == 1  # the proof below it is not looked at
    with ProofSearch(theorem, seed=1, allow_easy=False) as search:
        suggested = [pair.tactic for pair in search.provider.suggest(search.graph.root.goal)]
        result = search.run(Limit(calls=100))
    assert "climb" in suggested
    assert result.proved
    assert theorem.facts()["examples"] == 1
    assert theorem.learn([other], tmp_path / "records") == 2


def test_a_theorem_that_has_not_learned_suggests_by_the_goal_alone(tmp_path):
    file = tmp_path / "Own.v"
    file.write_text(FILE)
    with ProofSearch(CoqTheorem(file, "reach_thirty"), seed=1) as search:
        assert "climb" not in [pair.tactic for pair in search.provider.suggest(search.graph.root.goal)]
