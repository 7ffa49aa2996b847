"""The report of an experiment: complete, checked, the same after it was written down."""

from __future__ import annotations

import dataclasses
import json

import pytest

from treetop.errors import ConfigError, SaveError
from treetop.prove.records import Run, RunLog
from treetop.prove.report import ProofReport, digest_theorems


def report(**change) -> ProofReport:
    told = {
        "policies": ("ucb1", "blind_uniform"), "c": 2**0.5, "backup": "and_min", "subgoals": "least proved", "expansion": "lazy", "tie_break": "rng",
        "rng": "SplitMix64 from the run's seed", "seeds": tuple(range(20)), "provider": "heads", "ranker": None, "allow_easy": False,
        "blocked": ("auto", "tauto"), "budget_tiers": (10, 50, 200, 1000), "theorems": ("a", "b"), "theorems_digest": digest_theorems({"a": "p", "b": "q"}),
        "limits": {"seconds": 60.0, "attempt seconds": 2}, "prover": {"name": "coqc", "version": "8.16.1"},
    }  # fmt: skip
    return ProofReport(**{**told, **change})


def test_a_report_tells_everything_that_a_claim_needs():
    said = report().facts()
    for name in ("policy", "c", "backup", "subgoals", "expansion", "tie-break", "rng", "seeds", "provider", "ranker", "easy tactics", "budget tiers", "limits",
                 "theorems", "prover", "versions", "machine"):  # fmt: skip
        assert said[name], name
    assert said["policy"] == "ucb1 against blind_uniform"
    assert said["c"] == "1.41421"
    assert said["seeds"] == "0 to 19"
    assert said["easy tactics"] == "blocked: auto, tauto"
    assert said["budget tiers"] == "10, 50, 200, 1000 iterations"
    assert said["limits"] == "seconds 60.0, attempt seconds 2"
    assert said["theorems"].startswith("2 (a, b), digest ")
    assert "python" in said["versions"]
    assert "treetop" in said["versions"]
    assert "ranker        none" in str(report())


def test_a_report_is_plain_json_with_every_field():
    told = report().to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert set(told) == {field.name for field in dataclasses.fields(ProofReport)}
    assert told["policies"] == ["ucb1", "blind_uniform"]
    assert told["c"] == 2**0.5


def test_long_lists_are_printed_short():
    names = tuple(f"t{number}" for number in range(30))
    said = report(theorems=names, seeds=(5, 3, *range(10, 20)), allow_easy=True, blocked=(), c=None).facts()
    assert said["theorems"].startswith("30 (t0, t1, t2, t3, t4, t5, ..., t29), digest")
    assert said["seeds"] == "5, 3, 10, 11, 12, 13, ..., 19"
    assert said["easy tactics"] == "allowed"
    assert said["c"] == "none"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"policies": ()}, "names its policies"), ({"theorems": ()}, "names its theorems"), ({"budget_tiers": (), "limits": {}}, "names its budget tiers"),
        ({"budget_tiers": (50, 10)}, "each larger"), ({"budget_tiers": (0, 10)}, "each larger"),
        ({"theorems": ("a", "a")}, "each of its theorems once"), ({"seeds": (1, 1)}, "each of its seeds once"), ({"allow_easy": True}, "nothing is blocked"),
        ({"prover": {"x": object()}}, "whatever JSON can hold"),
    ],
)  # fmt: skip
def test_an_impossible_report_is_refused(change, words):
    with pytest.raises(ConfigError, match=words):
        report(**change)


def test_the_digest_of_a_set_knows_names_and_statements_but_no_order():
    one = digest_theorems({"a": "p", "b": "q"})
    assert one == digest_theorems({"b": "q", "a": "p"})
    assert len({one, digest_theorems({"a": "q", "b": "p"}), digest_theorems({"a": "p"}), digest_theorems({"ap": "", "b": "q"}), digest_theorems({})}) == 5


def test_an_experiment_goes_on_with_more_seeds_but_not_with_other_settings(tmp_path):
    out = tmp_path / "m"
    with RunLog(out, report().to_dict()) as log:
        log.append(Run("a", "ucb1", 0, "open"))
    with RunLog(out, report(seeds=(0, 1, 2), policies=("ucb1",), machine="another").to_dict()) as log:
        assert len(log.runs) == 1
    for change, words in (({"c": 1.0}, "its c is 1.41"), ({"blocked": ("auto",)}, "its blocked is auto, tauto, not auto"), ({"prover": {}}, "its prover")):
        with pytest.raises(SaveError, match=words), RunLog(out, report(**change).to_dict()):
            pass
