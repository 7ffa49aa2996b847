"""A limit in seconds holds for all that the embedded logic does, and no proof is lost by it."""

from __future__ import annotations

import time
from typing import ClassVar

import pytest

from treetop.cli.prove_display import find_counter_model, model_seconds
from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.logic.theorem import LogicTheorem
from treetop.prove.prover import Attempt
from treetop.prove.scheduling import Task, carry_out
from treetop.prove.search import ProofSearch
from treetop.search.limits import Limit


class Hasty(LogicTheorem):
    """Has no time for the first check."""

    ends: ClassVar[list] = []

    def verify_before(self, proof, end):
        self.ends.append(end)
        return super().verify_before(proof, time.monotonic() - 1 if len(self.ends) == 1 else None)


@pytest.mark.parametrize("mode", ["raw", "invertible"])
def test_a_proof_that_cannot_be_checked_in_time_is_kept_and_checked_by_the_next_run(mode):
    Hasty.ends.clear()
    with ProofSearch(Hasty.read("(p | q) & (p -> r) & (q -> r) -> r & (p | q)", mode=mode)) as search:
        began = time.monotonic()
        first = search.run(Limit(seconds=30))
        assert (first.status, first.verdict, first.script) == ("open", None, "")
        assert (
            first.summary() == "not proved within the limit: a proof was found, but there was no time left to check it"
        )
        assert str(first.tree()).startswith("+ goal 0")
        assert search.run(Limit(calls=1)).proved
    assert began + 30 < Hasty.ends[0] < began + 60, "a check may take a little longer than the limit"
    assert Hasty.ends[1] is None, "without a limit in seconds it takes what it takes"


@pytest.mark.parametrize("mode", ["raw", "invertible"])
def test_the_translation_of_a_proof_looks_at_the_clock(mode):
    theorem = LogicTheorem.read("(p | q) & (p -> r) & (q -> r) -> r & (p | q)", mode=mode)
    with ProofSearch(theorem) as search:
        proof = search.run(Limit(calls=1000)).proof
    assert theorem.verify_before(proof, time.monotonic() - 1) is None
    assert theorem.verify_before(proof, time.monotonic() + 60).accepted
    assert theorem.verify_before(proof, None).accepted


def test_a_counter_model_is_looked_for_within_the_limit(monkeypatch):
    given = []
    monkeypatch.setattr(LogicTheorem, "refute", lambda _, seconds: given.append(seconds))
    theorem = LogicTheorem.read("p | ~p")
    with ProofSearch(theorem) as search:
        result = search.run(Limit(seconds=3))
    assert (model_seconds(theorem, 3.0), model_seconds(theorem, 600.0)) == (pytest.approx(0.6), 5.0)
    assert model_seconds(CoqTheorem.from_text("", "True"), 3.0) == 0.0
    for left in (0.6, -1.0, 100.0, None):
        find_counter_model(theorem, result, left)
    assert given == [0.6, 0.05, 5.0, 5.0]


def test_a_tactic_that_the_end_of_the_search_cuts_short_stays_untried():
    class Slow:
        def attempt(self, place, tactic, seconds):
            time.sleep(seconds)
            return Attempt(None, f"time-out: more than {seconds:g} s")

    cut = Task(1, 0, None, ("a", "b"), None, tactic_seconds=5.0, seconds=0.02)
    assert carry_out(Slow(), cut) == []
    tried = Task(1, 0, None, ("a", "b"), None, tactic_seconds=0.01, seconds=10.0)
    assert len(carry_out(Slow(), tried)) == 2
