"""The report of an experiment: complete, checked, the same after it was written down."""

from __future__ import annotations

import dataclasses
import json

import pytest

from treetop.errors import ConfigError
from treetop.prove.config import ProofConfig
from treetop.prove.report import ProofReport, digest_theorems, report_on


def report(**change) -> ProofReport:
    reported = {
        "policies": ("ucb1", "blind_uniform"),
        "c": 2**0.5,
        "backup": "and_min",
        "subgoals": "least proved",
        "expansion": "lazy",
        "tie_break": "rng",
        "rng": "SplitMix64 from the run's seed",
        "seeds": tuple(range(20)),
        "provider": "heads",
        "ranker": None,
        "allow_easy": False,
        "blocked": ("auto", "tauto"),
        "budget_tiers": (10, 50, 200, 1000),
        "theorems": ("a", "b"),
        "theorems_digest": digest_theorems({"a": "p", "b": "q"}),
        "limits": {"seconds": 60.0, "attempt seconds": 2},
        "prover": {"name": "coqc", "version": "8.16.1"},
    }
    return ProofReport(**{**reported, **change})


def test_a_report_contains_everything_that_a_claim_needs():
    said = report().facts()
    assert (
        said["policy"] == "ucb1 against blind_uniform; c 1.41421, backup and_min, subgoals least proved, expansion lazy"
    )
    assert said["chance"] == "seeds 0 to 19; rng SplitMix64 from the run's seed; tie-break rng"
    assert said["tactics"] == "provider heads; ranker none; easy ones blocked (auto, tauto: 2 in all)"
    assert said["budget"] == "budget tiers 10, 50, 200, 1000 simulations; seconds 60, attempt seconds 2"
    assert said["theorems"].startswith("2 (a, b), digest ")
    assert "coqc" in said["prover"]
    assert "8.16.1" in said["prover"]
    assert "python" in said["made with"]
    assert "treetop" in said["made with"]
    assert "theorems   2 (a, b)" in str(report())


def test_a_report_on_theorems_of_two_provers_names_both():
    reported = report_on(
        {
            "a": {"prover": "logic", "mode": "raw", "statement": "p"},
            "b": {"prover": "Coq 8.16.1", "statement": "q", "digest": "1"},
        },
        ProofConfig(),
        "own",
        allow_easy=True,
        seeds=(0,),
        limits={"seconds": 1.0},
    )
    assert reported.prover == {"prover": "logic and Coq 8.16.1", "mode": "raw"}
    assert reported.facts()["prover"] == "logic and Coq 8.16.1, mode raw"


def test_the_digest_of_a_set_knows_the_files_that_its_statements_stand_in():
    def made(digest):
        return report_on(
            {"a": {"statement": "p", "digest": digest}},
            ProofConfig(),
            "own",
            allow_easy=True,
            seeds=(0,),
            limits={"seconds": 1.0},
        )

    assert made("1").theorems_digest != made("2").theorems_digest


def test_a_report_is_plain_json_with_every_field():
    reported = report().to_dict()
    assert json.loads(json.dumps(reported, allow_nan=False)) == reported
    assert set(reported) == {field.name for field in dataclasses.fields(ProofReport)}
    assert reported["policies"] == ["ucb1", "blind_uniform"]
    assert reported["c"] == 2**0.5


def test_long_lists_are_printed_short():
    names = tuple(f"t{number}" for number in range(30))
    said = report(theorems=names, seeds=(5, 3, *range(10, 20)), allow_easy=True, blocked=(), c=None).facts()
    assert said["theorems"].startswith("30 (t0, t1, t2, t3, t4, t5, ..., t29), digest")
    assert said["chance"].startswith("seeds 5, 3, 10, 11, 12, 13, ..., 19; ")
    assert said["tactics"].endswith("easy ones allowed")
    assert "; c none, " in said["policy"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"policies": ()}, "needs policies"), ({"theorems": ()}, "needs theorems"), ({"budget_tiers": (), "limits": {}}, "needs budget tiers"),
        ({"budget_tiers": (50, 10)}, "each larger"), ({"budget_tiers": (0, 10)}, "each larger"),
        ({"theorems": ("a", "a")}, "each of its theorems once"), ({"seeds": (1, 1)}, "each of its seeds once"), ({"allow_easy": True}, "no tactic is blocked"),
        ({"prover": {"x": object()}}, "that JSON can hold"),
    ],
)  # fmt: skip
def test_an_impossible_report_is_refused(change, words):
    with pytest.raises(ConfigError, match=words):
        report(**change)


def test_the_digest_of_a_set_knows_names_and_statements_but_no_order():
    one = digest_theorems({"a": "p", "b": "q"})
    assert one == digest_theorems({"b": "q", "a": "p"})
    assert (
        len(
            {
                one,
                digest_theorems({"a": "q", "b": "p"}),
                digest_theorems({"a": "p"}),
                digest_theorems({"ap": "", "b": "q"}),
                digest_theorems({}),
            }
        )
        == 5
    )
