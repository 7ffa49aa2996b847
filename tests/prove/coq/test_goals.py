"""Goals carry a text for people beside the key for the search."""

from __future__ import annotations

from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.prover import Place, Step


def test_every_goal_has_a_text_in_the_notation_of_the_file():
    prover = CoqTheorem.from_text(
        'Notation "x ** y" := (Nat.mul x y) (at level 40).', "Lemma l n m : n ** m = 0 /\\ n <= n + m."
    ).open()
    try:
        root = prover.root()
        first, second = prover.attempt(Place(root), "split").subgoals
        (below,) = prover.attempt(Place(second, (Step("split", 1),)), "induction m").subgoals[1:]
    finally:
        prover.close()
    assert root.text == "n : nat\nm : nat\n====================\nn ** m = 0 /\\ n <= n + m"
    assert first.text == "n : nat\nm : nat\n====================\nn ** m = 0"
    assert below.text == "n : nat\nm : nat\nIHm : n <= n + m\n====================\nn <= n + S m"
    assert "Nat.mul" in first.key, "the key hides nothing"
