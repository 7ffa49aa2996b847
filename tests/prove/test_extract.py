"""Proofs out of a graph: the shortest, without circles."""

from __future__ import annotations

import math
import random

import pytest

from tests.prove.test_search import provable_goals, random_table
from tests.prove.toy import Table, TableTheorem
from treetop.prove.extract import extract
from treetop.prove.graph import Graph
from treetop.prove.prover import Attempt, Goal, Suggestion


def full_graph(table: Table) -> Graph:
    """Everything that the table knows has been tried."""
    graph = Graph(Goal("A"))
    for node in graph.goals:
        tactics = table[node.goal.key]
        graph.expand(node, [Suggestion(tactic, 1.0) for tactic in tactics])
        for tactic, subgoals in tactics.items():
            made = Attempt(None, "it fails") if subgoals is None else Attempt(tuple(map(Goal, subgoals)))
            graph.record(node, Suggestion(tactic, 1.0), made)
    return graph


def fewest_tactics(table: Table, root: str) -> float:
    """The length of the shortest proof, by going round until nothing gets shorter."""
    cost = dict.fromkeys(table, math.inf)
    for _ in range(len(table) + 1):
        for name, tactics in table.items():
            cost[name] = min(
                [
                    cost[name],
                    *(
                        1 + sum(cost[below] for below in subgoals)
                        for subgoals in tactics.values()
                        if subgoals is not None
                    ),
                ]
            )
    return cost[root]


@pytest.mark.parametrize("seed", range(200))
def test_the_extracted_proof_is_accepted_and_has_as_few_tactics_as_any(seed):
    table = random_table(random.Random(seed))
    graph = full_graph(table)
    if "A" not in provable_goals(table):
        return
    proof = extract(graph)
    assert TableTheorem(table).verify(proof).accepted
    assert proof.size == fewest_tactics(table, "A")


def test_a_subgoal_that_is_needed_twice_counts_twice():
    table: Table = {
        "A": {"twice": ("B", "B"), "once": ("C",)},
        "B": {"on": ("D",)},
        "C": {"on": ("B",)},
        "D": {"close": ()},
    }
    assert [step.tactic for step in extract(full_graph(table)).walk()] == ["once", "on", "on", "close"]


def test_a_proof_whose_parts_are_shared_is_measured_without_unrolling_it():
    """Sixty levels, each of which needs the next one twice: more steps than anybody could count."""
    table: Table = {
        **{f"{level}": {"twice": (f"{level + 1}", f"{level + 1}")} for level in range(60)},
        "60": {"close": ()},
        "A": {"t": ("0",)},
    }
    proof = extract(full_graph(table))
    assert proof.size == 2**61
    assert len(list(proof.parts_once())) == 62


def test_each_part_comes_before_its_own_parts():
    table: Table = {"A": {"t": ("B", "C")}, "B": {"t": ("C", "D")}, "C": {"t": ("D",)}, "D": {"close": ()}}
    names = [part.goal.key for part in extract(full_graph(table)).parts_once()]
    assert names == ["A", "B", "C", "D"]
