"""K: as computed by hand, honest about what the budget cut off, with intervals that hold what they promise."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from treetop import Rng
from treetop.errors import ConfigError
from treetop.lab.halves import choose, split
from treetop.lab.ratios import compare
from treetop.lab.runs import Run


def runs(policy: str, **costs: list) -> list[Run]:
    """By theorem the attempts of its runs: a negative number is a run that spent so much in vain, None one that broke down."""
    made = []
    for theorem, spent in costs.items():
        for seed, cost in enumerate(spent):
            status = "failed" if cost is None else "proved" if cost > 0 else "open"
            cost = abs(cost or 0)
            made.append(
                Run(
                    theorem,
                    policy,
                    seed,
                    status,
                    simulations=2 * cost,
                    attempts=cost,
                    expansions=cost,
                    seconds=cost / 7,
                    structure="s" if status == "proved" else "",
                )
            )
    return made


def k(agent: dict, blind: dict, unit: str = "attempts", **options):
    return compare(runs("ucb1", **agent), runs("blind", **blind), unit, rng=Rng(seed=1), **options)


def test_k_of_a_theorem_is_the_ratio_of_mean_costs_and_of_a_set_the_mean_of_these():
    found = k({"a": [10, 30], "b": [50]}, {"a": [100, 300, 200], "b": [5]})
    a, b = found.theorems
    assert (a.cost_agent, a.cost_blind, a.censored.value) == (20, 200, pytest.approx(1.0))
    assert b.censored.value == pytest.approx(-1.0)
    assert found.censored.value == pytest.approx(0.0)
    assert found.censored.times == pytest.approx(1.0)
    assert (found.censored.theorems, found.censored.seeds, found.censored.bound, found.censored.unit) == (
        2,
        3,
        "exact",
        "attempts",
    )
    assert found.both_solved == found.censored
    assert found.proved_by() == {"both": 2, "agent": 0, "blind": 0, "nobody": 0}


def test_every_unit_reads_its_own_cost():
    for unit in ("attempts", "expansions", "simulations", "seconds"):
        found = k({"a": [1, 3]}, {"a": [200]}, unit)
        assert found.censored.value == pytest.approx(2.0)
        assert found.censored.unit == unit
    found = k({"a": [10]}, {"a": [10]}, "simulations")
    assert found.theorems[0].cost_agent == 20


def test_what_was_cut_off_is_counted_as_spent_in_one_figure_and_left_out_of_the_other():
    found = k({"a": [10, 10], "b": [20, 20], "c": [-100, -100], "d": [-100, -100]},
              {"a": [100, -1000], "b": [-100, -100], "c": [100, 100], "d": [-100, -100]})  # fmt: skip
    assert [one.outcome for one in found.theorems] == ["both", "agent", "blind", "nobody"]
    assert [round(one.censored.value, 4) for one in found.theorems] == [
        round(math.log10(55), 4),
        round(math.log10(5), 4),
        0.0,
        0.0,
    ]
    assert [one.censored.bound for one in found.theorems] == ["at least", "at least", "at most", "none"]
    assert found.censored.value == pytest.approx((math.log10(55) + math.log10(5)) / 4)
    assert (found.censored.censored_agent, found.censored.censored_blind, found.censored.bound) == (4, 5, "none")
    assert found.both_solved.value == pytest.approx(1.0), (
        "only theorem a, and of the blind search only the run that found a proof"
    )
    assert (found.both_solved.theorems, found.both_solved.censored_agent, found.both_solved.censored_blind) == (1, 0, 1)
    assert found.both_solved.bound == "none"
    assert [one.both_solved is None for one in found.theorems] == [False, True, True, True]
    assert found.proved_by() == {"both": 1, "agent": 1, "blind": 1, "nobody": 1}


@pytest.mark.parametrize(("agent", "blind", "bound"), [([5, 5], [9, 9], "exact"), ([5, 5], [9, -9], "at least"), ([5, -5], [9, 9], "at most"),
                                                        ([5, -5], [9, -9], "none")])  # fmt: skip
def test_a_bound_is_one_only_where_one_side_always_found_a_proof(agent, blind, bound):
    found = k({"a": agent}, {"a": blind}).censored
    assert found.bound == bound
    message = str(found)
    assert message.startswith(bound) == (bound.startswith("at"))
    assert ("neither" in message) == (bound == "none")


def test_a_bound_holds_whatever_the_censored_runs_would_have_cost():
    rng = np.random.default_rng(7)
    for _ in range(50):
        costs, budget = rng.integers(1, 1000, size=8), int(rng.integers(1, 1000))
        cut = k({"a": [20, 30]}, {"a": [int(cost) if cost <= budget else -budget for cost in costs]}).censored
        true = k({"a": [20, 30]}, {"a": [int(cost) for cost in costs]}).censored
        assert cut.bound == ("exact" if all(costs <= budget) else "at least")
        assert cut.value <= true.value + 1e-12


def test_swapping_the_sides_changes_the_sign_and_nothing_else():
    rng = np.random.default_rng(3)
    one = {name: [int(cost) for cost in rng.integers(1, 90, size=6)] for name in "abcd"}
    two = {name: [int(cost) for cost in rng.integers(1, 900, size=9)] for name in "abcd"}
    two["b"][2] *= -1
    forth = compare(runs("ucb1", **one), runs("blind", **two), rng=Rng(seed=9))
    back = compare(runs("blind", **two), runs("ucb1", **one), rng=Rng(seed=9))
    pairs = [(forth.censored, back.censored), (forth.both_solved, back.both_solved),
             *((a.censored, b.censored) for a, b in zip(forth.theorems, back.theorems, strict=True))]  # fmt: skip
    for a, b in pairs:
        assert (a.value, a.low, a.high) == pytest.approx((-b.value, -b.high, -b.low))
        assert (a.censored_agent, a.censored_blind) == (b.censored_blind, b.censored_agent)
    assert (forth.censored.bound, back.censored.bound) == ("at least", "at most")
    assert (forth.proved_by()["both"], back.proved_by()["both"]) == (4, 4)


def test_the_same_generator_gives_the_same_intervals_whatever_the_order_of_the_runs():
    one, two = runs("ucb1", a=[3, 4, 9], b=[7, 2, 1]), runs("blind", a=[30, 90, 11], b=[8, 9, 10])
    first = compare(one, two, rng=Rng(seed=2))
    assert compare(one[::-1], two[::-1], rng=Rng(seed=2)) == first
    assert compare(one, two, rng=Rng(seed=3)).censored != first.censored


def test_the_bootstrap_is_the_one_that_draws_theorems_then_seeds():
    """Against the same in plain Python, with a generator of its own: the intervals agree as far as chance allows."""
    rng = np.random.default_rng(11)
    names = "abcdef"
    one = {name: [int(cost) for cost in rng.integers(5, 60, size=4)] for name in names}
    two = {name: [int(cost) for cost in rng.integers(5, 900, size=5)] for name in names}
    drawn = []
    for _ in range(4000):
        picked = [names[index] for index in rng.integers(len(names), size=len(names))]
        drawn.append(np.mean([
            np.log10(np.mean(rng.choice(two[name], size=5)) / np.mean(rng.choice(one[name], size=4))) for name in picked
        ]))  # fmt: skip
    low, high = np.quantile(drawn, [0.025, 0.975])
    found = k(one, two, samples=4000).censored
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.03)


def test_a_single_theorem_draws_its_seeds_and_a_single_run_gives_no_interval():
    found = k({"a": [10, 20, 30]}, {"a": [100, 200]})
    assert found.censored.low == found.theorems[0].censored.low < found.censored.value < found.censored.high
    alone = k({"a": [10]}, {"a": [100]})
    assert (alone.censored.low, alone.censored.high) == (-math.inf, math.inf)
    assert "too little" in str(alone.censored)
    assert alone.censored.to_dict()["low"] is None
    several = k({"a": [10], "b": [10], "c": [20]}, {"a": [100], "b": [50], "c": [20]})
    assert 0 <= several.censored.low < several.censored.value < several.censored.high <= 1


def test_pairs_are_drawn_together():
    """Where the blind search always costs ten times as much on the same seed, pairs leave no doubt; independent draws do."""
    one = {"a": [1, 50, 7, 900, 3], "b": [4, 4, 80, 1, 1]}
    two = {name: [10 * cost for cost in spent] for name, spent in one.items()}
    paired = k(one, two, paired=True).censored
    assert (paired.value, paired.low, paired.high) == pytest.approx((1, 1, 1))
    assert k(one, two).censored.high > 1.2
    fewer = k({"a": [10, 20, 30]}, {"a": [100, -200]}, paired=True)
    assert (fewer.theorems[0].runs_agent, fewer.censored.seeds) == (2, 2)
    assert fewer.both_solved.value == pytest.approx(1.0), "only the seed on which both found a proof"


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    """Theorems whose true K is drawn around 0.7, runs that scatter by a factor: the mean of all such theorems lies within nearly always."""
    rng = np.random.default_rng(5)
    covered, trials = 0, 100
    for trial in range(trials):
        agent, blind = [], []
        for theorem in range(16):
            true = rng.normal(0.7, 0.5)
            for seed in range(6):
                agent.append(
                    Run(f"t{theorem}", "ucb1", seed, "proved", seconds=float(rng.lognormal(3, 0.5)), structure="s")
                )
                blind.append(
                    Run(
                        f"t{theorem}",
                        "blind",
                        seed,
                        "proved",
                        seconds=float(rng.lognormal(3, 0.5) * 10**true),
                        structure="s",
                    )
                )
        found = compare(agent, blind, "seconds", rng=Rng(seed=trial), samples=200).censored
        covered += found.low <= 0.7 <= found.high
    assert 0.9 <= covered / trials <= 1.0
    assert covered < trials


def test_runs_that_broke_down_and_theorems_of_one_side_are_reported_and_not_counted():
    found = k(
        {"a": [10, None], "b": [10], "c": [None], "e": [5]}, {"a": [100], "b": [100], "c": [100], "d": [1], "e": [-0]}
    )
    assert [one.theorem for one in found.theorems] == ["a", "b"]
    assert found.censored.value == pytest.approx(1.0)
    assert found.failed == 2
    assert found.left_out == {"c": "no run of ucb1", "d": "no run of ucb1", "e": "a run of blind cost no attempts"}
    assert "d: no run of ucb1" in str(found)
    nothing = k({"a": [1]}, {"b": [1]})
    assert (nothing.censored, nothing.both_solved) == (None, None)
    assert "no theorem is left" in str(nothing)


def test_a_comparison_prints_and_is_json():
    found = k({"a": [10, 10], "b": [-50, -50]}, {"a": [100, -1000], "b": [-50, -50]})
    head, rows = found.rows()
    assert all(len(row) == len(head) for row in rows)
    assert rows[0][:6] == ["a", "10", "550", "2/2", "1/2", ">= +1.74"]
    assert rows[1][5] == "? +0.00"
    assert rows[1][7] == "-"
    said = found.facts()
    assert said["proved by"] == "both 1, ucb1 alone 0, blind alone 0, nobody 1"
    assert said["K in attempts"].startswith("+0.87 (")
    assert "neither a value nor a bound" in said["K in attempts"]
    assert "runs without a proof, counted as spent: 2 of ucb1, 3 of blind" in said["K in attempts"]
    assert "2 theorems, 2 seeds" in said["K in attempts"]
    assert "left out: 0 of ucb1, 1 of blind" in said["both proved"]
    message = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert message["theorems"][0]["censored"]["bound"] == "at least"
    assert message["proved_by"]["nobody"] == 1


def test_impossible_comparisons_are_refused():
    one, two = runs("ucb1", a=[1]), runs("blind", a=[1])
    for arguments, options, words in (
        ((one, two, "euros"), {}, "unit must be 'attempts'"),
        ((one, one), {}, "both sides are ucb1"),
        (([], two), {}, "one policy, not none"),
        ((one + two, two), {}, "one policy, not blind, ucb1"),
        ((one + one, two), {}, "run twice with seed 0"),
        ((one, two), {"samples": 0}, "samples must"),
    ):
        with pytest.raises(ConfigError, match=words):
            compare(*arguments, rng=Rng(seed=1), **options)


def test_halves_are_fixed_by_names_and_seed():
    names = [f"t{number}" for number in range(31)]
    halves = split(names, seed=4)
    assert (len(halves.choosing), len(halves.reporting)) == (16, 15)
    assert sorted(halves.choosing + halves.reporting) == sorted(names)
    assert split(set(names), seed=4) == split(names[::-1], seed=4) == halves
    assert split(names, seed=5) != halves
    assert split(["a", "b", "c", "d"], 0).to_dict() == {"choosing": ["a", "b"], "reporting": ["c", "d"]}
    for wrong, words in ((["a", "a"], "repeated"), (["a"], "at least two")):
        with pytest.raises(ConfigError, match=words):
            split(wrong)
    with pytest.raises(ConfigError, match="seed must be a whole number"):
        split(names, 0.5)


def test_over_many_seeds_every_theorem_is_in_each_half_about_as_often():
    names = [f"t{number}" for number in range(10)]
    counts = np.zeros(10)
    for seed in range(400):
        choosing = split(names, seed).choosing
        counts += [name in choosing for name in names]
    assert np.all(np.abs(counts / 400 - 0.5) < 0.1)


def test_the_policy_that_proves_most_is_chosen_and_of_equals_the_cheapest():
    there = {"dear": runs("dear", a=[900, 900], b=[50, 50]), "best": runs("best", a=[900, 900], b=[10, 20]),
             "cheap": runs("cheap", a=[5, -5], b=[5, 5])}  # fmt: skip
    choice = choose(there, ["a", "b"])
    assert [one.policy for one in choice.candidates] == ["best", "dear", "cheap"]
    assert choice.policy == "best"
    assert choice.candidates[0].cost == pytest.approx((math.log10(900) + math.log10(15)) / 2)
    assert choice.candidates[2].solve_rate == 0.75
    assert json.loads(json.dumps(choice.to_dict()))["policy"] == "best"
    assert "best" in str(choice)
    assert (
        choose({name: [run for run in found if run.theorem == "b"] for name, found in there.items()}, ["b"]).policy
        == "cheap"
    )


def test_what_lies_outside_the_half_has_no_say():
    there = {"one": runs("one", a=[5], b=[-5]), "two": runs("two", a=[9], b=[1])}
    assert choose(there, ["a"]).policy == "one"
    assert choose(there, ["b"]).policy == "two"


def test_policies_are_compared_on_the_same_runs_only():
    there = {"one": runs("one", a=[5, 6]), "two": runs("two", a=[9])}
    for arguments, words in (
        ((there, ["a"]), "two was not run on the same"),
        ((there, ["a", "b"]), "one was not run on b"),
        (({}, ["a"]), "at least one policy"),
        ((there, []), "and one theorem"),
        ((there, ["a"], "euros"), "unit must be 'attempts'"),
    ):
        with pytest.raises(ConfigError, match=words):
            choose(*arguments)
