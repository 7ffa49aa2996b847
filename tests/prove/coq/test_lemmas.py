"""Real proofs in Coq: every statement of Lemmas.v is proved without tactics that search themselves, and coqc accepts it."""

from __future__ import annotations

from pathlib import Path

import pytest

from treetop.prove.coq.documents import Document
from treetop.prove.coq.statements import restated
from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.providers import is_easy
from treetop.prove.search import ProofSearch
from treetop.search.limits import Limit

FILE = Path(__file__).parents[3] / "examples" / "theorems" / "Lemmas.v"
NAMES = [lemma.qualified for lemma in Document(FILE.read_text(), FILE.name).admitted]


def test_there_are_enough_statements_and_the_famous_ones_among_them():
    assert len(NAMES) >= 20
    assert {"plus_comm", "turn_turn", "join_assoc", "not_or", "or_not"} <= set(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_lemma_is_proved_without_easy_tactics_and_without_a_lemma_that_states_the_same(name):
    theorem = CoqTheorem(FILE, name)
    with ProofSearch(theorem, seed=1, allow_easy=False) as search:
        assert restated(search.graph.root.goal.data, search._prover.search) == ""
        result = search.run(Limit(calls=5000, seconds=60))
    assert result.proved, result.summary()
    assert result.verdict is not None
    assert result.verdict.checker.startswith("coqc")
    assert not is_easy(result.script)
    # Lemmas above it in the file are admitted, so a proof may rest on them, but on nothing else.
    assert set(result.verdict.assumptions) <= set(NAMES[: NAMES.index(name)])


def test_the_commutativity_of_addition_is_proved_from_nothing():
    with ProofSearch(CoqTheorem(FILE, "plus_comm"), seed=2, allow_easy=False) as search:
        result = search.run(Limit(calls=5000, seconds=60))
    assert result.verdict is not None
    assert result.verdict.accepted
    assert result.verdict.assumptions == ()
