"""Coq itself, started once for a file of tests where that does."""

from __future__ import annotations

import shutil

import pytest

from treetop.prove.coq.settings import CoqSettings
from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.prover import Place, Proof, Step

PRELUDE = "Require Import Arith Lia List.\n"
SUM = "Lemma sum_swaps n m : n + m = m + n."


def pytest_collection_modifyitems(items):
    if shutil.which("coqidetop.opt") is None:
        for item in items:
            if "prove/coq" in item.nodeid:
                item.add_marker(pytest.mark.skip(reason="needs Coq: the Debian package coq"))


@pytest.fixture(scope="module")
def theorem():
    return CoqTheorem.from_text(PRELUDE, SUM, settings=CoqSettings(memory_mb=768))


@pytest.fixture(scope="module")
def prover(theorem):
    prover = theorem.open()
    yield prover
    prover.close()


@pytest.fixture
def root(prover):
    return Place(prover.root())


def follow(prover, place, plan):
    """A proof by a plan: a tactic, or a list of a tactic and the plans of its subgoals."""
    tactic, *plans = plan if isinstance(plan, list) else [plan]
    attempt = prover.attempt(place, tactic, 10.0)
    assert attempt.applied, (tactic, attempt.reason)
    assert len(attempt.subgoals) == len(plans), (tactic, attempt.subgoals)
    ways = [Place(goal, (*place.path, Step(tactic, number))) for number, goal in enumerate(attempt.subgoals)]
    return Proof(place.goal, tactic, tuple(follow(prover, way, part) for way, part in zip(ways, plans, strict=True)))


@pytest.fixture(scope="session")
def proved():
    """Run a plan from the lemma of a prover."""
    return lambda prover, plan: follow(prover, Place(prover.root()), plan)
