"""One position searched by several workers: the merged root is the sum of separate searches, whoever made them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treetop as tt
from tests.search.evaluators import Hashed
from tests.search.own_rules import moody
from treetop.errors import ConfigError, SearchError
from treetop.search.limits import Limit
from treetop.search.merging import Part, merge_numbers, merge_roots
from treetop.search.parallel import run_parallel, seed_of
from treetop.search.search import Search

MIDDLE = tt.position("tic_tac_toe", moves="b2 a1")


class Fails(Hashed):
    """An evaluator that fails in the middle of a search."""

    calls = 0

    def evaluate(self, batch):
        self.calls += 1
        if self.calls > 3:
            raise ZeroDivisionError("no network")
        return super().evaluate(batch)


def merged(results):
    """Merge results without workers."""
    return [Part.of(result) for result in results]


def test_the_merged_root_is_the_sum_of_searches_with_the_seeds_it_names():
    result = tt.search(MIDDLE, tt.rules.ucb_v(), simulations=300, seed=4, workers=2)
    assert result.merged.seeds == (4, seed_of(4, 1))
    apart = [tt.search(MIDDLE, tt.rules.ucb_v(), simulations=300, seed=seed) for seed in result.merged.seeds]
    assert result.counts.tolist() == (apart[0].counts + apart[1].counts).tolist()
    assert result.values == pytest.approx(
        [(one + two) / 2 for one, two in zip(*(a.values for a in apart), strict=True)]
    )
    for index, count in enumerate(result.counts):
        sums = sum(one.means[index] * one.counts[index] for one in apart)
        squares = sum((one.deviations[index] ** 2 + one.means[index] ** 2) * one.counts[index] for one in apart)
        assert result.means[index] == pytest.approx(sums / count)
        assert result.deviations[index] == pytest.approx(math.sqrt(squares / count - (sums / count) ** 2))
    assert (result.simulations, result.root_visits) == (600, 600)
    assert result.usage.nodes == sum(one.usage.nodes for one in apart)
    assert "merged from 2 searches of 300 simulations each" in str(result)
    assert result.report().usage.asked == "300 simulations in each of 2 searches"
    assert result.to_dict()["merged"] == {
        "searches": 2,
        "simulations": [300, 300],
        "seeds": [4, seed_of(4, 1)],
    }
    most = max(apart, key=lambda one: one.visits[result.number])
    assert result.pv[0] == result.move
    assert result.pv_numbers == Part.of(most).variations[result.number]
    assert [line.move for line in result.lines(2)] == [row[0] for row in result.explain().table(2)[1]]


def test_the_same_seed_and_number_of_workers_give_the_same_result_and_one_worker_is_a_plain_search():
    first, second = (tt.search(MIDDLE, simulations=200, seed=9, workers=3, progress=None) for _ in range(2))
    assert first.counts.tolist() == second.counts.tolist()
    assert first.means.tolist() == second.means.tolist()
    assert first.move == second.move
    plain = tt.search(MIDDLE, simulations=200, seed=9)
    alone = run_parallel(Search(MIDDLE, seed=9), Limit(simulations=200), workers=1)
    assert tt.search(MIDDLE, simulations=200, seed=9, workers=1).merged is None
    assert str(alone.merged).startswith("merged from 1 search of 200 simulations each")
    assert (alone.counts.tolist(), alone.move) == (plain.counts.tolist(), plain.move)
    assert alone.means == pytest.approx(plain.means)


def test_progress_is_reported_after_each_search():
    reports = []
    result = tt.search(MIDDLE, simulations=100, seed=1, workers=2, progress=reports.append)
    assert [now.simulations for now in reports] == [100, 200]
    assert reports[-1].best == result.move


def test_a_root_that_one_search_has_proven_is_proven():
    config = tt.uct(solver=True)
    searches = [
        tt.search("nim(stones=7)", config, simulations=simulations, seed=seed)
        for simulations, seed in ((8, 1), (2_000, 2), (9, 3))
    ]
    assert [one.proof is None for one in searches] == [True, False, True]
    parts = merged(searches)
    assert merge_numbers(parts)["proof"] == searches[1].proof
    columns = merge_roots(parts)
    assert columns.lower.tolist() == searches[1].lower.tolist()
    assert columns.upper.tolist() == searches[1].upper.tolist()
    result = tt.search("nim(stones=7)", config, simulations=2_000, seed=1, workers=2)
    assert result.proof.outcome == "win"
    assert result.usage.stopped == "solved"
    assert "it is proven best" in str(result)


def test_bounds_of_different_searches_are_joined():
    one, two = merged(tt.search("nim(stones=7)", tt.uct(solver=True), simulations=50, seed=s) for s in (1, 2))
    low, high = np.array([-1.0, -1.0, -1.0]), np.array([1.0, 1.0, 1.0])
    one.columns.update(lower=low.copy(), upper=high.copy(), distances=np.zeros(3, np.int32))
    two.columns.update(lower=low.copy(), upper=high.copy(), distances=np.zeros(3, np.int32))
    one.columns["upper"][0], one.columns["distances"][0] = -1.0, 6
    two.columns["upper"][0], two.columns["distances"][0] = -1.0, 4
    two.columns["lower"][2], two.columns["distances"][2] = 1.0, 5
    columns = merge_roots([one, two])
    assert columns.lower.tolist() == [-1.0, -1.0, 1.0]
    assert columns.upper.tolist() == [-1.0, 1.0, 1.0]
    assert columns.distances.tolist() == [4, 0, 5]


def test_actions_that_no_search_has_visited_have_no_mean():
    parts = merged(tt.search("tic_tac_toe", simulations=3, seed=seed) for seed in (1, 1))
    columns = merge_roots(parts)
    unvisited = columns.counts == 0
    assert unvisited.any()
    assert np.isnan(columns.means[unvisited]).all()
    assert not np.isnan(columns.means[~unvisited]).any()


def test_a_search_of_one_player_keeps_the_best_solution_of_all():
    result = tt.search("cliff_walking(horizon=3)", simulations=300, seed=1, workers=2)
    assert result.best.total_reward == -3.0
    assert result.to_dict()["best"]["return"] == -3.0


def test_mixed_strategies_are_added_up():
    position = tt.position("matching_pennies")
    result = tt.search(position, tt.regret_matching(), simulations=400, seed=1, workers=2)
    apart = [tt.search(position, tt.regret_matching(), simulations=400, seed=seed) for seed in result.merged.seeds]
    assert result.strategies.tolist() == pytest.approx((apart[0].strategies + apart[1].strategies).tolist())
    assert result.pv == [result.move]


def test_searches_that_cannot_be_merged_or_sent_are_refused():
    class Local(Hashed):
        pass

    class Count:
        def initial(self):
            return 0

        def actions(self, state):
            return [1, 2]

        def step(self, state, action):
            return state + action

        def is_terminal(self, state):
            return state > 5

        def rewards(self, state):
            return 0.0

    started = Search(MIDDLE)
    started.run(Limit(simulations=5))
    for search, words in (
        (Search(Count()), "a Python problem is searched by one"),
        (Search(tt.position("pendulum", seed=1)), "continuous actions"),
        (Search(MIDDLE, tt.rules.gumbel()), "root='gumbel'"),
        (started, "has started"),
        (Search(MIDDLE, tt.configure(rule=moody)), "a rule of your own"),
        (Search(MIDDLE, tt.puct(), evaluator=Local()), "the evaluator cannot be sent to other processes"),
    ):
        with pytest.raises(ConfigError, match=words):
            run_parallel(search, Limit(simulations=10), workers=2)
    for workers in (0, -1, 1.5, True):
        with pytest.raises(ConfigError, match="workers must be a whole number"):
            run_parallel(Search(MIDDLE), Limit(simulations=10), workers=workers)
    with pytest.raises(ConfigError, match="on must be"):
        tt.search(MIDDLE, on="nowhere")


def test_an_evaluator_in_python_travels_and_its_failure_is_reported():
    result = tt.search(MIDDLE, tt.puct(), evaluator=Hashed(), simulations=50, seed=1, workers=2)
    assert result.simulations == 100
    with pytest.raises(SearchError, match=r"search \d failed: .*ZeroDivisionError: no network"):
        tt.search(MIDDLE, tt.puct(), evaluator=Fails(), simulations=500, seed=1, workers=2)
