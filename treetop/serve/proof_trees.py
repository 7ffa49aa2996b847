"""A part of an AND/OR graph as plain values: the proof and the most visited tactics, so that a graph of any size can be
shown.
"""

from __future__ import annotations

import heapq
import re
from itertools import count
from typing import Any

from treetop.prove.graph import GoalNode, Graph, Status, TacticNode
from treetop.prove.prover import Proof

MOST_NODES = 2000
"""Goals and tactics of one answer, at most."""
_TEXT = 400  # characters of a goal or a tactic
_RULE = re.compile(r"^(={8,})$", re.MULTILINE)
_PATH = 60  # steps of the path to a goal, at most: the last ones
_Node = dict[str, Any]


class Part:
    """Goals and tactics below a goal, parents first: those of the proof, then the most visited ones.

    Equal goals are one goal: its tactics are listed where it appears first, and later appearances refer to that place.

    >>> import treetop as tt
    >>> with tt.prove.ProofSearch(tt.prove.LogicTheorem.read("p & q -> q", mode="raw")) as search:
    ...     result = search.run(tt.Limit(simulations=10))
    >>> [(node["kind"], node["text"]) for node in Part(result.graph, result.proof).nodes][:3]
    [('goal', '|- p & q -> q'), ('tactic', 'intro'), ('goal', 'p & q |- q')]
    """

    def __init__(self, graph: Graph, proof: Proof | None = None, goal: int = 0, most: int = 200) -> None:
        parts = [] if proof is None else list(proof.parts_once())
        self._steps = {(part.goal.key, part.tactic) for part in parts}
        self._goals = {part.goal.key for part in parts}
        self._places: dict[int, int] = {}
        self._waiting: list[tuple[tuple[bool, bool, int], int, TacticNode, int, int]] = []
        self._numbers = count()
        self.nodes: list[_Node] = []
        """Each with the index of its parent in the list; -1 for the first one."""
        self._add_goal(graph.goals[goal], -1)
        while self._waiting:
            *_, tactic, order, above = heapq.heappop(self._waiting)
            if len(self.nodes) + 1 + len(set(map(id, tactic.subgoals))) > most:
                self.nodes[above]["left"] += 1
            else:
                self._add_tactic(tactic, order, above)

    def _add_goal(self, goal: GoalNode, parent: int) -> None:
        index, main, tactics = len(self.nodes), self._places.get(goal.id), _distinct(goal)
        untried = None if goal.suggestions is None else len(goal.suggestions) - goal.tried
        self.nodes.append(
            {
                "kind": "goal",
                "parent": parent,
                "id": goal.id,
                "text": cut(_in_line(str(goal.goal))),
                "status": goal.status.value,
                "reason": goal.reason or _why_idle(goal),
                "visits": goal.visits,
                "value": goal.value,
                "proof": goal.goal.key in self._goals,
                "shared": len(goal.users),
                "again": main,
                "cycle": main is not None and self._is_above(main, parent),
                "tactics": len(tactics),
                "untried": untried,
                "left": 0,
            }
        )
        if main is not None:
            return
        self._places[goal.id] = index
        for order, tactic in tactics:
            rank = not self._in_proof(tactic), is_failed(tactic), -tactic.visits
            heapq.heappush(self._waiting, (rank, next(self._numbers), tactic, order, index))

    def _add_tactic(self, tactic: TacticNode, order: int, parent: int) -> None:
        index, goal = len(self.nodes), tactic.goal
        self.nodes.append(
            {
                "kind": "tactic",
                "parent": parent,
                "order": order,
                "text": cut(tactic.tactic),
                "status": tactic.status.value,
                "reason": _why_dead(tactic),
                "visits": tactic.visits,
                "value": tactic.value,
                "probability": goal.share(tactic),
                "proof": self._in_proof(tactic),
                "failed": is_failed(tactic),
                "backward": tactic.backward,
                "subgoals": len(tactic.subgoals),
            }
        )
        for below in dict.fromkeys(tactic.subgoals):
            self._add_goal(below, index)

    def _in_proof(self, tactic: TacticNode) -> bool:
        return (tactic.goal.goal.key, tactic.tactic) in self._steps

    def _is_above(self, main: int, index: int) -> bool:
        while index > main:
            index = self.nodes[index]["parent"]
        return index == main


def path_to(goal: GoalNode) -> list[dict[str, Any]]:
    """Return the path that reached a goal first: the goals above it with the tactic chosen there, the theorem first.

    >>> import treetop as tt
    >>> with tt.prove.ProofSearch(tt.prove.LogicTheorem.read("p & q -> q", mode="raw")) as search:
    ...     graph = search.run(tt.Limit(simulations=10)).graph
    >>> path_to(graph.goals[1])
    [{'id': 0, 'tactic': 'intro'}]
    """
    found: list[dict[str, Any]] = []
    while goal.origin is not None and len(found) < _PATH:
        tactic = goal.origin[0]
        found.append({"id": tactic.goal.id, "tactic": cut(tactic.tactic)})
        goal = tactic.goal
    return found[::-1]


def is_failed(tactic: TacticNode) -> bool:
    """Return whether a tactic did not apply: it has no subgoals, and proves nothing."""
    return tactic.status is Status.dead and not tactic.subgoals


def _distinct(goal: GoalNode) -> list[tuple[int, TacticNode]]:
    """Return the tactics of a goal with their order. While a proof is shortened, some are tried again."""
    found: dict[str, tuple[int, TacticNode]] = {}
    for order, tactic in enumerate(goal.tactics):
        found.setdefault(tactic.tactic, (order, tactic))
    return list(found.values())


def _why_idle(goal: GoalNode) -> str:
    unneeded = goal.status is Status.open and not goal.relevant
    return "not needed: every path from the theorem to it is decided" if unneeded else ""


def _why_dead(tactic: TacticNode) -> str:
    if tactic.status is not Status.dead or tactic.reason:
        return cut(tactic.reason)
    dead = next((below.id for below in tactic.subgoals if below.status is Status.dead), None)
    return "" if dead is None else f"goal {dead} is dead"


def _in_line(text: str) -> str:
    """Return a goal of several lines, with a rule above the conclusion, as hypotheses, a turnstile and a conclusion."""
    hypotheses, rule, conclusion = _RULE.split(text, maxsplit=1) if _RULE.search(text) else ("", "", text)
    return f"{', '.join(hypotheses.strip().splitlines())} |- {conclusion}".lstrip() if rule else text


def cut(text: str) -> str:
    """Return a text on one line, shortened if it is long.

    >>> cut("intro"), len(cut("p & " * 1000))
    ('intro', 400)
    """
    line = " ".join(text.split())
    return line if len(line) <= _TEXT else f"{line[: _TEXT - 1]}…"
