"""What goals and tactics are worth: by hand on small graphs, and against a plain recursion on random ones."""

from __future__ import annotations

import math
import random

import pytest

from treetop.prove.graph import GoalNode, Graph, Status
from treetop.prove.prover import Attempt, Goal, Suggestion
from treetop.prove.values import Values


def grow(graph: Graph, values: Values, name: str, *subgoals: str, estimate: float = 0.5) -> None:
    """A tactic of a goal that leaves these subgoals, each worth so much at first."""
    node = graph.find(Goal(name))
    assert node is not None
    if not node.expanded:
        graph.expand(node, [Suggestion(f"t{index}", 1.0) for index in range(9)])
    known = len(graph)
    assert node.suggestions is not None
    change = graph.record(node, node.suggestions[node.tried], Attempt(tuple(map(Goal, subgoals))))
    for below in graph.goals[known:]:
        below.estimate = below.value = estimate
    assert change.tactic is not None
    values.enter(change.tactic)
    values.refresh([*change.proved, *change.dead, node])


def worth(graph: Graph, name: str) -> float:
    node = graph.find(Goal(name))
    assert node is not None
    return node.value


def test_and_min_is_the_best_tactic_by_its_worst_subgoal():
    graph, values = Graph(Goal("A")), Values("and_min")
    grow(graph, values, "A", "B", "C", estimate=0.4)
    grow(graph, values, "A", "D", estimate=0.3)
    assert worth(graph, "A") == 0.4
    grow(graph, values, "B", "E", estimate=0.2)
    assert worth(graph, "A") == 0.3
    grow(graph, values, "B")
    assert worth(graph, "B") == 1.0
    assert worth(graph, "A") == 0.4


def test_product_counts_every_subgoal():
    graph, values = Graph(Goal("A")), Values("product")
    grow(graph, values, "A", "B", "C", estimate=0.4)
    assert worth(graph, "A") == pytest.approx(0.16)
    grow(graph, values, "C")
    assert worth(graph, "A") == pytest.approx(0.4)


def test_a_cycle_does_not_keep_up_its_own_value():
    graph, values = Graph(Goal("A")), Values("and_min")
    grow(graph, values, "A", "B", estimate=0.9)
    grow(graph, values, "B", "A", "C", estimate=0.2)
    grow(graph, values, "B", "C")
    assert worth(graph, "A") == worth(graph, "B") == 0.2


@pytest.mark.parametrize("backup", ["and_min", "product"])
@pytest.mark.parametrize("seed", range(40))
def test_values_kept_up_to_date_are_those_of_a_plain_recursion(backup, seed):
    chance = random.Random(seed)
    graph, values = Graph(Goal("A")), Values(backup)
    graph.root.estimate = graph.root.value = 0.5
    for _ in range(40):
        node = chance.choice([node for node in graph.goals if node.status is Status.open] or [graph.root])
        if node.status is not Status.open or (node.expanded and node.tried >= 9):
            break
        names = [chance.choice("ABCDEFGHIJKLMN") for _ in range(chance.choice([0, 1, 1, 2, 2, 3]))]
        grow(graph, values, node.goal.key, *names, estimate=chance.choice([0.1, 0.3, 0.6]))
        for goal in graph.goals:
            assert goal.value == pytest.approx(plain(goal, backup)), (seed, goal)


def plain(goal: GoalNode, backup: str) -> float:
    """The definition, written down."""
    if goal.status is not Status.open:
        return float(goal.status is Status.proved)
    opened = [tactic for tactic in goal.tactics if tactic.status is Status.open and not tactic.backward]
    if not opened:
        return goal.estimate
    combine = min if backup == "and_min" else math.prod
    return max(combine([plain(below, backup) for below in tactic.subgoals]) for tactic in opened)
