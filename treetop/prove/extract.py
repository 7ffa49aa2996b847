"""Extract the shortest proof from the graph, and remove the steps that it does not need."""

from __future__ import annotations

import heapq
from collections.abc import Callable

from treetop.prove.graph import GoalNode, Graph, Status, TacticNode
from treetop.prove.prover import Attempt, Place, Proof

Try = Callable[[Place, str], Attempt]


def extract(graph: Graph, goal: GoalNode | None = None) -> Proof:
    """Return the shortest proof of a proved goal (default: the theorem): the fewest tactics, then the least text.

    Goals are finished in the order of the length of their proofs, as in Dijkstra's algorithm. Each proof then uses
    finished goals only, so it has no cycle.
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
        current = tactic.goal
        if current.id in chosen:
            continue
        chosen[current.id], cost[current.id] = tactic, least
        if current is wanted:
            break
        for user in current.users:
            if user.status is not Status.proved:
                continue
            waiting[id(user)] -= 1
            if waiting[id(user)] == 0:
                steps = 1 + sum(cost[below.id][0] for below in user.subgoals)
                text = len(user.tactic) + sum(cost[below.id][1] for below in user.subgoals)
                heapq.heappush(heap, ((steps, text), user.proved_at, user))
    return _build(wanted, chosen)


def _build(wanted: GoalNode, chosen: dict[int, TacticNode]) -> Proof:
    """Build proofs from their parts upwards, without recursion, because a proof may be deep.

    Equal parts are one object.
    """
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
    """Return the shortest proof after trying to leave out every step that has one subgoal: the rest may work without
    it.
    """
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
    """Return whether the same tactics prove another goal too. The results are recorded in the graph."""
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
