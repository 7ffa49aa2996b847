"""The proof out of the graph: the one with the fewest tactics, then without the steps that it does not need."""

from __future__ import annotations

import heapq
from collections.abc import Callable

from treetop.prove.graph import GoalNode, Graph, Status, TacticNode
from treetop.prove.prover import Attempt, Place, Proof

Try = Callable[[Place, str], Attempt]


def extract(graph: Graph, goal: GoalNode | None = None) -> Proof:
    """The shortest proof of a proved goal (the theorem, if none is named): the fewest tactics, of these the least text.

    Goals are settled in the order of their proofs' length, as in Dijkstra's search, so each rests on settled ones only and no circle can come in.
    """
    wanted = graph.root if goal is None else goal
    chosen: dict[int, TacticNode] = {}
    cost: dict[int, tuple[int, int]] = {}
    waiting: dict[int, int] = {}
    heap: list[tuple[tuple[int, int], int, TacticNode]] = []
    proved = [tactic for node in graph.goals for tactic in node.tactics if tactic.status is Status.proved]
    for tactic in proved:
        waiting[id(tactic)] = len(set(map(id, tactic.subgoals)))
        if not tactic.subgoals:
            heapq.heappush(heap, ((1, len(tactic.tactic)), tactic.proved_at, tactic))
    while heap:
        least, _, tactic = heapq.heappop(heap)
        settled = tactic.goal
        if settled.id in chosen:
            continue
        chosen[settled.id], cost[settled.id] = tactic, least
        if settled is wanted:
            break
        for user in settled.users:
            if user.status is not Status.proved:
                continue
            waiting[id(user)] -= 1
            if waiting[id(user)] == 0:
                steps = 1 + sum(cost[below.id][0] for below in user.subgoals)
                text = len(user.tactic) + sum(cost[below.id][1] for below in user.subgoals)
                heapq.heappush(heap, ((steps, text), user.proved_at, user))
    return _build(wanted, chosen)


def _build(wanted: GoalNode, chosen: dict[int, TacticNode]) -> Proof:
    """Parts before wholes, without recursion: a proof may be deep. Equal parts are one object."""
    built: dict[int, Proof] = {}
    pending = [wanted]
    while pending:
        node = pending[-1]
        tactic = chosen[node.id]
        missing = [below for below in tactic.subgoals if below.id not in built]
        if missing:
            pending.extend(missing)
        else:
            built[node.id] = Proof(node.goal, tactic.tactic, tuple(built[below.id] for below in tactic.subgoals))
            pending.pop()
    return built[wanted.id]


def shorten(graph: Graph, attempt: Try, may_go_on: Callable[[], bool]) -> Proof:
    """The shortest proof, after every step that leaves one subgoal was left out by way of trial: the rest may do without it."""
    proof = extract(graph)
    tried: set[tuple[str, str]] = set()
    improved = True
    while improved:
        improved = False
        for step in proof.parts_once():
            if not may_go_on():
                return proof
            if (
                len(step.parts) != 1
                or step.parts[0].tactic == step.tactic
                or (step.goal.key, step.parts[0].tactic) in tried
            ):
                continue
            tried.add((step.goal.key, step.parts[0].tactic))
            node = graph.find(step.goal)
            if (
                node is not None
                and _transplant(graph, step.parts[0], node, attempt, may_go_on)
                and (shorter := extract(graph)).size < proof.size
            ):
                proof, improved = shorter, True
                break
    return proof


def _transplant(graph: Graph, proof: Proof, node: GoalNode, attempt: Try, may_go_on: Callable[[], bool]) -> bool:
    """Whether the same tactics prove another goal too. What was found out is entered in the graph."""
    pending = [(proof, node)]
    while pending:
        if not may_go_on():
            return False
        part, goal = pending.pop()
        if goal.status is Status.proved and goal is not node:
            continue
        outcome = attempt(goal.place(), part.tactic)
        if outcome.subgoals is None or len(outcome.subgoals) != len(part.parts):
            return False
        change = graph.add_proof(goal, part.tactic, outcome.subgoals)
        assert change.tactic is not None
        if change.tactic.backward or change.tactic.status is Status.dead:
            return False
        pending.extend(zip(part.parts, change.tactic.subgoals, strict=True))
    return True
