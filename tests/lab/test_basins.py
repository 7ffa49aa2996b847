"""Basins: counted as one would by hand."""

from __future__ import annotations

import json
import math
from collections import Counter

import pytest

from treetop import Rng
from treetop.errors import ConfigError
from treetop.lab.basins import basin_table, basins_of
from treetop.lab.runs import Run


def ended(theorem: str, structures: str, policy: str = "ucb1") -> list[Run]:
    """A run a letter: a dot is one that stayed open, `!` one that failed, a letter one that was proved with that structure."""
    made = []
    for seed, letter in enumerate(structures):
        status = {".": "open", "!": "failed"}.get(letter, "proved")
        made.append(
            Run(
                theorem,
                policy,
                seed,
                status,
                structure=letter if status == "proved" else "",
                size=ord(letter) - 96 if status == "proved" else 0,
            )
        )
    return made


def test_basins_are_counted_as_by_hand():
    found = basins_of(ended("t", "abacab.."))
    assert (found.theorem, found.policy, found.runs, found.solved, found.failed) == ("t", "ucb1", 8, 6, 0)
    assert found.structures == (("a", 3), ("b", 2), ("c", 1))
    assert (found.distinct, found.dominant, found.dominant_share) == (3, "a", 0.5)
    assert found.entropy == pytest.approx(0.5 * 1 + math.log2(3) / 3 + math.log2(6) / 6)
    assert found.mean_size == pytest.approx((3 * 1 + 2 * 2 + 3) / 6)
    rate = found.solve_rate
    assert rate.value == 0.75
    assert (round(rate.low, 4), round(rate.high, 4)) == (0.4093, 0.9285)


def test_the_edges_of_the_entropy():
    assert basins_of(ended("t", "aaaa")).entropy == 0.0
    assert basins_of(ended("t", "abab")).entropy == 1.0
    assert basins_of(ended("t", "abcdefgh")).entropy == pytest.approx(3.0)
    for nothing in ("....", "!"):
        none = basins_of(ended("t", nothing))
        assert (none.entropy, none.dominant_share, none.mean_size, none.dominant, none.distinct, none.solved) == (
            None,
            None,
            None,
            "",
            0,
            0,
        )


def test_ties_for_the_first_place_are_broken_by_the_structure_not_by_the_seeds():
    assert basins_of(ended("t", "bbaa")).structures == basins_of(ended("t", "abab")).structures == (("a", 2), ("b", 2))


def test_runs_that_failed_count_as_not_solved():
    found = basins_of(ended("t", "aa!."))
    assert (found.runs, found.solved, found.failed) == (4, 2, 1)
    assert "counted as not solved: 1" in str(basin_table(ended("t", "aa!.")))


def test_the_shares_agree_with_a_count_of_random_runs():
    rng = Rng(seed=3)
    for _ in range(50):
        letters = "".join("abc."[rng.below(4)] for _ in range(1 + rng.below(30)))
        found, counts = basins_of(ended("t", letters)), Counter(letters.replace(".", ""))
        assert dict(found.structures) == counts
        assert found.solved == len(letters) - letters.count(".")
        if counts:
            assert found.dominant_share == max(counts.values()) / found.solved
            assert 0.0 <= found.entropy <= math.log2(len(counts)) + 1e-12


def test_a_table_has_a_row_a_theorem_and_policy_and_is_json():
    runs = [*ended("t1", "aab."), *ended("t2", "...."), *ended("t1", "a...", "blind"), *ended("t2", "....", "blind")]
    table = basin_table(runs)
    assert [(one.theorem, one.policy) for one in table.basins] == [
        ("t1", "ucb1"),
        ("t2", "ucb1"),
        ("t1", "blind"),
        ("t2", "blind"),
    ]
    assert table.policies == ("ucb1", "blind")
    assert [one.theorem for one in table.of("blind")] == ["t1", "t2"]
    head, rows = table.rows()
    assert all(len(row) == len(head) for row in rows)
    assert rows[0] == ["t1", "ucb1", "4", "75%", "30% to 95%", "2", "67%", "0.92", "1.333"]
    assert rows[1] == ["t2", "ucb1", "4", "0%", "0% to 49%", "0", "-", "-", "-"]
    assert json.loads(json.dumps(table.to_dict(), allow_nan=False))["basins"][0]["structures"] == {"a": 2, "b": 1}
    text = str(table)
    assert (
        "ucb1   1 of 2 theorems proved at least once, 0 always; mean solve rate 37.5%; where proved: 2 structures, dominant 67%"
        in text
    )
    assert "policy" not in basin_table(ended("t", "a")).rows()[0]
    assert str(basin_table([]))


def test_what_is_no_basin_is_refused():
    with pytest.raises(ConfigError, match="at least one run"):
        basins_of([])
    with pytest.raises(ConfigError, match="one theorem under one policy, not of t under ucb1, u under ucb1"):
        basins_of([*ended("t", "a"), *ended("u", "a")])
    with pytest.raises(ConfigError, match="run twice with seed 0"):
        basins_of([*ended("t", "a"), *ended("t", "b")])
