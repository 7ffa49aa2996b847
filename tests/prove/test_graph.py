"""What is known of goals and tactics: three values, kept right through shared goals and cycles."""

from __future__ import annotations

import random

import pytest

from treetop.prove.graph import Graph, Status
from treetop.prove.prover import Attempt, Goal, Suggestion

OPEN, PROVED, DEAD = Status.open, Status.proved, Status.dead


def known(graph: Graph, name: str):
    found = graph.find(Goal(name))
    assert found is not None
    return found


def expand(graph: Graph, name: str, *tactics: str) -> None:
    graph.expand(known(graph, name), [Suggestion(tactic, 1.0) for tactic in tactics])


def attempt(graph: Graph, name: str, subgoals: str | None) -> None:
    """The next tactic of a goal leaves these subgoals, each a letter; None where it fails."""
    node = known(graph, name)
    assert node.suggestions is not None
    made = Attempt(None, "it fails") if subgoals is None else Attempt(tuple(Goal(letter) for letter in subgoals))
    graph.record(node, node.suggestions[node.tried], made)


def statuses(graph: Graph, names: str) -> list[Status]:
    return [known(graph, name).status for name in names]


def test_a_goal_whose_subgoals_are_all_proved_is_proved_and_never_dead():
    graph = Graph(Goal("A"))
    expand(graph, "A", "t")
    attempt(graph, "A", "BC")
    for name in "BC":
        expand(graph, name, "close")
        attempt(graph, name, "")
    assert statuses(graph, "ABC") == [PROVED] * 3


def test_one_dead_subgoal_kills_its_tactic_and_leaves_the_others():
    graph = Graph(Goal("A"))
    expand(graph, "A", "t", "u")
    attempt(graph, "A", "BC")
    attempt(graph, "A", "D")
    expand(graph, "B", "x")
    attempt(graph, "B", None)
    assert [tactic.status for tactic in graph.root.tactics] == [DEAD, OPEN]
    assert statuses(graph, "ABCD") == [OPEN, DEAD, OPEN, OPEN]


def test_a_goal_is_dead_only_when_nothing_is_untried():
    graph = Graph(Goal("A"))
    expand(graph, "A", "t", "u")
    attempt(graph, "A", None)
    assert graph.root.status is OPEN
    attempt(graph, "A", None)
    assert graph.root.status is DEAD


def test_a_goal_without_suggestions_is_dead_with_a_reason():
    graph = Graph(Goal("A"))
    expand(graph, "A")
    assert graph.root.status is DEAD
    assert "no tactic was suggested" in graph.root.reason


def test_a_cycle_proves_nothing():
    graph = Graph(Goal("A"))
    expand(graph, "A", "t")
    attempt(graph, "A", "B")
    expand(graph, "B", "u", "v")
    attempt(graph, "B", "A")
    assert statuses(graph, "AB") == [OPEN, OPEN]


@pytest.mark.parametrize("cycle_first", [True, False])
def test_a_cycle_kills_nothing_while_something_is_untried(cycle_first):
    graph = Graph(Goal("A"))
    expand(graph, "A", "t")
    attempt(graph, "A", "B")
    expand(graph, "B", "u", "v")
    attempt(graph, "B", "A" if cycle_first else "C")
    assert statuses(graph, "AB") == [OPEN, OPEN]
    attempt(graph, "B", "C" if cycle_first else "A")
    assert statuses(graph, "ABC") == [OPEN, OPEN, OPEN]
    expand(graph, "C", "close")
    attempt(graph, "C", "")
    assert statuses(graph, "ABC") == [PROVED] * 3


@pytest.mark.parametrize("cycle_first", [True, False])
def test_goals_that_only_need_each_other_are_dead_in_both_orders(cycle_first):
    graph = Graph(Goal("A"))
    expand(graph, "A", "t")
    attempt(graph, "A", "B")
    expand(graph, "B", "u", "v")
    attempt(graph, "B", "A" if cycle_first else None)
    attempt(graph, "B", None if cycle_first else "A")
    assert statuses(graph, "AB") == [DEAD, DEAD]


def test_a_tactic_that_is_cyclic_on_one_way_may_be_right_on_another():
    """A needs B or C; B needs C; C needs B or nothing: through C the cycle is no cycle."""
    graph = Graph(Goal("A"))
    expand(graph, "A", "t", "u")
    attempt(graph, "A", "B")
    attempt(graph, "A", "C")
    expand(graph, "B", "t")
    attempt(graph, "B", "C")
    expand(graph, "C", "t", "close")
    attempt(graph, "C", "B")
    assert statuses(graph, "ABC") == [OPEN] * 3
    attempt(graph, "C", "")
    assert statuses(graph, "ABC") == [PROVED] * 3


def test_a_tactic_that_leaves_its_own_goal_beside_another_stays_open_until_nothing_is_left():
    graph = Graph(Goal("A"))
    expand(graph, "A", "t", "close")
    attempt(graph, "A", "AB")
    assert graph.root.tactics[0].status is OPEN
    attempt(graph, "A", None)
    assert graph.root.status is DEAD


def test_a_reserved_goal_is_not_dead_before_the_report():
    graph = Graph(Goal("A"))
    expand(graph, "A", "t")
    graph.root.reserved = True
    attempt(graph, "A", None)
    assert graph.root.status is OPEN
    graph.release(graph.root)
    assert graph.root.status is DEAD


def test_a_killed_goal_keeps_what_was_opened():
    graph = Graph(Goal("A"))
    expand(graph, "A", "t", "u")
    attempt(graph, "A", "B")
    graph.kill(graph.root, "the provider failed")
    assert statuses(graph, "AB") == [OPEN, OPEN]
    expand(graph, "B", "close")
    attempt(graph, "B", "")
    assert graph.root.status is PROVED


def plain_fixpoints(graph: Graph) -> list[Status]:
    """The same from scratch: both fixpoints by going round until nothing changes."""
    proved: set[int] = set()
    alive: set[int] = set()
    for found, begins in ((proved, lambda node: False), (alive, lambda node: not node.exhausted)):
        changed = True
        while changed:
            changed = False
            for node in graph.goals:
                applied = [tactic for tactic in node.tactics if not tactic.reason]
                ways = any(
                    all(below.id in found or below.id in proved for below in tactic.subgoals) for tactic in applied
                )
                if node.id not in found and (ways or begins(node)):
                    found.add(node.id)
                    changed = True
    return [PROVED if node.id in proved else OPEN if node.id in alive else DEAD for node in graph.goals]


def reachable(graph: Graph) -> set[int]:
    """The goals that matter, from scratch: from the theorem down through what is open."""
    found: set[int] = set()
    pending = [graph.root]
    while pending:
        node = pending.pop()
        if node.status is OPEN and node.id not in found:
            found.add(node.id)
            pending += [below for tactic in node.tactics if tactic.status is OPEN for below in tactic.subgoals]
    return found


@pytest.mark.parametrize("seed", range(300))
def test_random_graphs_with_cycles_agree_with_plain_fixpoints_after_every_attempt(seed):
    chance = random.Random(seed)
    names = "ABCDEFGHIJKL"[: chance.randint(2, 12)]
    graph = Graph(Goal("A"))
    fail, close = chance.uniform(0.1, 0.6), chance.uniform(0.0, 0.25)
    for _ in range(80):
        ready = [node for node in graph.goals if node.expandable]
        if not ready:
            break
        node = chance.choice(ready)
        if not node.expanded:
            graph.expand(node, [Suggestion(f"t{index}", 1.0) for index in range(chance.randint(0, 4))])
        elif chance.random() < fail:
            graph.record(node, node.suggestions[node.tried], Attempt(None, "it fails"))
        else:
            count = 0 if chance.random() < close else chance.randint(1, 3)
            graph.record(
                node, node.suggestions[node.tried], Attempt(tuple(Goal(chance.choice(names)) for _ in range(count)))
            )
        assert [node.status for node in graph.goals] == plain_fixpoints(graph)
        assert {node.id for node in graph.goals if node.relevant} == reachable(graph)
        for node in graph.goals:
            for tactic in node.tactics:
                if tactic.status is PROVED:
                    assert all(
                        any(below.proved_at < tactic.proved_at for below in goal.tactics if below.status is PROVED)
                        for goal in tactic.subgoals
                    )
