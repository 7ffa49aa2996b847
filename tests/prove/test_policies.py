"""The scores by which a search walks down, term by term."""

from __future__ import annotations

import math

import pytest

from tests.prove.toy import Table, TableTheorem
from treetop.prove.config import ProofConfig
from treetop.prove.graph import GoalNode, Graph
from treetop.prove.policies import Walk
from treetop.prove.prover import Attempt, Goal, Suggestion
from treetop.prove.search import ProofSearch
from treetop.search.limits import Limit


def two_tactics(
    config: ProofConfig, probabilities: tuple[float, float] = (0.6, 0.2), untried: float | None = None
) -> tuple[Graph, Walk]:
    """A goal with two open tactics, each with one subgoal; and perhaps something untried."""
    graph = Graph(Goal("A"))
    suggestions = [Suggestion("a", probabilities[0]), Suggestion("b", probabilities[1])] + (
        [Suggestion("c", untried)] if untried is not None else []
    )
    graph.expand(graph.root, suggestions)
    for suggestion, below in zip(suggestions[:2], "BC", strict=True):
        graph.record(graph.root, suggestion, Attempt((Goal(below),)))
    return graph, Walk(graph, config, None, None)


def visited(graph: Graph, visits: tuple[int, int], values: tuple[float, float]) -> GoalNode:
    root = graph.root
    root.visits = sum(visits)
    for tactic, count, value in zip(root.tactics, visits, values, strict=True):
        tactic.visits, tactic.value = count, value
    return root


def test_ucb1_is_value_plus_the_exploration_of_few_visits():
    """A hundred visits: 50 of a tactic worth 0.8, 5 of one worth 0.5 and 45 elsewhere; with c = sqrt(2) the rare one still comes first."""
    graph, walk = two_tactics(ProofConfig(policy="ucb1", c=math.sqrt(2)))
    root = visited(graph, (50, 5), (0.8, 0.5))
    root.visits = 100
    often, rarely = (walk._score(root, tactic) for tactic in root.tactics)
    assert often == pytest.approx(0.8 + math.sqrt(2) * math.sqrt(math.log(100) / 50))
    assert rarely == pytest.approx(0.5 + math.sqrt(2) * math.sqrt(math.log(100) / 5))
    selection = walk.select()
    assert selection is not None
    assert selection.goal.goal.key == "C"


def test_ucb1_visits_everything_once_before_it_compares():
    graph, walk = two_tactics(ProofConfig(policy="ucb1", c=1.0), untried=0.1)
    root = visited(graph, (3, 0), (0.9, 0.0))
    assert walk._score(root, root.tactics[1]) == math.inf
    assert walk._score(root, None) == math.inf


def test_puct_weighs_exploration_by_the_share_of_the_probability():
    graph, walk = two_tactics(ProofConfig(policy="puct", c=2.0), untried=0.2)
    root = visited(graph, (8, 1), (0.3, 0.3))
    likely, unlikely, untried = (walk._score(root, option) for option in (*root.tactics, None))
    assert likely == pytest.approx(0.3 + 2.0 * 0.6 * math.sqrt(9) / 9)
    assert unlikely == pytest.approx(0.3 + 2.0 * 0.2 * math.sqrt(9) / 2)
    assert untried == pytest.approx(root.estimate + 2.0 * 0.2 * math.sqrt(9))


def test_an_expansion_under_way_counts_as_visits_without_success():
    graph, walk = two_tactics(ProofConfig(policy="puct", c=1.0, virtual_loss=3.0, path_bias=0.1))
    root = visited(graph, (4, 4), (0.5, 0.5))
    tactic = root.tactics[0]
    tactic.in_flight = root.in_flight = 1
    share = 0.75
    assert walk._score(root, tactic) == pytest.approx(0.5 * 4 / 7 + share * math.sqrt(8 + 3) / (1 + 4 + 3) - 0.1)


def test_depth_costs_where_it_is_to_cost():
    graph, walk = two_tactics(ProofConfig(policy="puct", c=1.0, depth_bias=0.2))
    root = visited(graph, (4, 4), (0.5, 0.5))
    before = walk._score(root, root.tactics[0])
    root.depth = 2
    assert walk._score(root, root.tactics[0]) == pytest.approx(before - 0.4)


@pytest.mark.parametrize(("rule", "first"), [("hardest", "B"), ("easiest", "D"), ("first", "C")])
def test_the_next_subgoal_is_chosen_as_asked(rule, first):
    graph = Graph(Goal("A"))
    graph.expand(graph.root, [Suggestion("t", 1.0)])
    graph.record(graph.root, Suggestion("t", 1.0), Attempt((Goal("C"), Goal("B"), Goal("D"))))
    for name, value in (("B", 0.2), ("C", 0.5), ("D", 0.7)):
        node = graph.find(Goal(name))
        assert node is not None
        node.value = value
    selection = Walk(graph, ProofConfig(subgoals=rule), None, None).select()
    assert selection is not None
    assert selection.goal.goal.key == first


def test_widening_opens_more_tactics_only_where_a_goal_is_visited_often():
    wide: Table = {
        "A": {f"t{index}": (f"{index}",) for index in range(30)},
        **{f"{index}": {f"on{index}": (f"{index + 100}",)} for index in range(4000)},
    }
    opened = {}
    for widening in (None, (1.0, 0.5)):
        with ProofSearch(TableTheorem(wide), ProofConfig(policy="ucb1", width=1, widening=widening), seed=1) as search:
            search.run(Limit(simulations=25))
            opened[widening] = len(search.graph.root.tactics)
    assert opened[None] >= 10  # what was never visited comes first, be it untried or open
    assert opened[1.0, 0.5] <= 5  # the root of 25


def test_no_way_goes_through_a_goal_twice():
    """A needs B and B needs A or C: the walk to C must not begin anew at A."""
    table: Table = {"A": {"t": ("B",)}, "B": {"back": ("A", "C"), "on": ("C",)}, "C": {"fail": None, "close": ()}}
    with ProofSearch(TableTheorem(table), ProofConfig(policy="ucb1"), seed=1) as search:
        while search.graph.root.status == "open":
            selection = search._scheduler._policy.select()
            assert selection is not None
            names = [goal.goal.key for goal, _ in selection.way]
            assert len(set(names)) == len(names)
            search.run(Limit(calls=1))
    assert search.graph.root.status == "proved"
