"""Values of goals and tactics, from 0 (no chance) to 1 (proved), updated with every attempt.

Values are backed up through the graph without its backward tactics. That graph has no cycle, so a value never depends
on itself. Only what changes is recomputed: a recursion would visit shared goals again and again.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from treetop.prove.graph import GoalNode, Status, TacticNode


class Values:
    """Keeps the values of a graph's nodes by one of the backups."""

    def __init__(self, backup: str) -> None:
        self._from_below = None if backup == "uniform" else min if backup == "and_min" else prod

    def refresh(self, changed: Iterable[GoalNode]) -> None:
        """Recompute goals, and everything that depends on them."""
        pending = list(dict.fromkeys(changed))
        while pending:
            goal = pending.pop()
            before, goal.value = goal.value, self._of_goal(goal)
            if goal.value == before or self._from_below is None:
                continue
            for user in goal.users:
                old = user.value
                # If the tactic was not the best of its goal before and is not now, the goal keeps its value.
                if self._revalue(user) and (old >= user.goal.value or user.value > user.goal.value):
                    pending.append(user.goal)

    def enter(self, tactic: TacticNode) -> None:
        """Set the value of a new tactic. Its goal still has to be refreshed."""
        self._revalue(tactic)

    def credit(self, goal: GoalNode, way: Iterable[tuple[GoalNode, TacticNode]]) -> None:
        """Update the values that depend on visit counts, after a visit along a path of goals and tactics."""
        changed = [goal]
        if self._from_below is None:
            for above, tactic in way:
                tactic.value = _known(tactic) if tactic.status is not Status.open else tactic.successes / tactic.visits
                changed.append(above)
        self.refresh(changed)

    def _revalue(self, tactic: TacticNode) -> bool:
        before = tactic.value
        if tactic.status is not Status.open:
            tactic.value = _known(tactic)
        elif self._from_below is None:
            tactic.value = (
                tactic.successes / tactic.visits if tactic.visits else min(below.value for below in tactic.subgoals)
            )
        else:
            tactic.value = 0.0 if tactic.backward else self._from_below(below.value for below in tactic.subgoals)
        return tactic.value != before

    def _of_goal(self, goal: GoalNode) -> float:
        if goal.status is not Status.open:
            return _known(goal)
        if self._from_below is not None:
            opened = [tactic.value for tactic in goal.tactics if tactic.status is Status.open and not tactic.backward]
            if opened:
                return max(opened)
        return (goal.successes + goal.estimate) / (goal.visits + 1)


def _known(node: GoalNode | TacticNode) -> float:
    return 1.0 if node.status is Status.proved else 0.0
