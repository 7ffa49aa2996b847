"""The graph of a proof search: goals, the tactics tried on them, and the status of each: open, proved or dead.

A goal needs ONE proved tactic, a tactic ALL its subgoals. Equal goals are one node, so the graph may have cycles. Two
least fixpoints define the status, and both are updated with every attempt:

- **proved**: a tactic is proved if all its subgoals are proved, and then its goal is proved too. A cycle proves
  nothing, because a least fixpoint starts from tactics without subgoals.
- **alive**: a goal is alive if something is untried there, or if the subgoals of one of its tactics are all proved or
  alive. An open goal that is not alive is dead: every continuation ends in a dead goal or in a cycle.

For the second fixpoint each open goal keeps a *witness*: something untried, or a tactic. Witnesses never form a cycle,
and only goals whose witness is lost are examined again. In the same way each goal that is **relevant**, because an open
path leads to it from the theorem, keeps an *anchor*: the last tactic of such a path. `docs/proving.md` has a figure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from enum import StrEnum

from treetop.prove.prover import Attempt, Goal, Place, Step, Suggestion


class Status(StrEnum):
    """The status of a goal or a tactic."""

    open = "open"
    proved = "proved"
    dead = "dead"


class TacticNode:
    """A tactic that was tried on a goal."""

    __slots__ = (
        "backward", "goal", "in_flight", "missing", "probability", "proved_at", "reason", "seconds", "status",
        "subgoals", "successes", "tactic", "value", "visits"
    )  # fmt: skip

    def __init__(
        self, goal: GoalNode, suggestion: Suggestion, subgoals: tuple[GoalNode, ...], reason: str, seconds: float
    ) -> None:
        self.goal = goal
        self.tactic, self.probability = suggestion
        self.subgoals = subgoals
        self.status = Status.open
        self.reason = reason
        self.seconds = seconds
        self.missing = 0
        """How many distinct subgoals are not proved yet."""
        self.backward = False
        """Whether a subgoal leads back to the goal by older tactics. Without these tactics the graph has no cycle."""
        self.proved_at = 0
        """The position in the order of proofs: greater than that of every subgoal."""
        self.visits = 0
        self.in_flight = 0
        self.successes = 0
        self.value = 0.0

    def __repr__(self) -> str:
        return f"<tactic {self.tactic!r} on goal {self.goal.id}: {self.status}, {len(self.subgoals)} subgoals>"


class GoalNode:
    """A goal, the tactics that may be tried on it, and those that were tried."""

    __slots__ = (
        "anchor", "depth", "estimate", "goal", "id", "in_flight", "log_prior", "origin", "reason", "relevant",
        "reserved", "status", "successes", "suggestions", "tactics", "total", "tried", "users", "value", "visits",
        "witness"
    )  # fmt: skip

    def __init__(self, number: int, goal: Goal) -> None:
        self.id = number
        self.goal = goal
        self.origin: tuple[TacticNode, int] | None = None
        """The first tactic that produced this goal, and the index among its subgoals; None for the theorem, which has
        the id 0."""
        self.depth = 0
        self.status = Status.open
        self.reason = ""
        self.suggestions: Sequence[Suggestion] | None = None
        """In the order in which they are tried; None before the provider was asked."""
        self.total = 1.0
        """The sum of their probabilities."""
        self.tried = 0
        self.tactics: list[TacticNode] = []
        self.users: list[TacticNode] = []
        """The tactics that have this goal among their subgoals, each once."""
        self.witness: TacticNode | None = None
        """Why the goal is alive: a tactic, or None while something is untried."""
        self.relevant = number == 0
        """Whether an open path leads here from the theorem."""
        self.anchor: TacticNode | None = None
        """The last tactic of such a path; None for the theorem."""
        self.reserved = False
        """Whether tactics are being tried here now."""
        self.visits = 0
        self.in_flight = 0
        self.successes = 0
        self.estimate = 0.5
        """The estimated probability that the goal can be proved, before anything was tried."""
        self.value = 0.5
        self.log_prior = 0.0
        """The most probable path here from the theorem: the sum of the logarithms of its tactics' shares."""

    @property
    def expanded(self) -> bool:
        """Whether the provider was asked for tactics."""
        return self.suggestions is not None

    @property
    def exhausted(self) -> bool:
        """Whether every tactic was tried and none is being tried."""
        return self.suggestions is not None and self.tried >= len(self.suggestions) and not self.reserved

    @property
    def expandable(self) -> bool:
        """Whether tactics may be tried here now."""
        return (
            self.status is Status.open
            and not self.reserved
            and (self.suggestions is None or self.tried < len(self.suggestions))
        )

    def share(self, suggestion: Suggestion | TacticNode) -> float:
        """Return a tactic's share of the probability at this goal."""
        return suggestion.probability / self.total if self.total > 0 else 1.0 / max(1, len(self.suggestions or ()))

    def place(self) -> Place:
        """Return the goal with the path that reached it first."""
        steps: list[Step] = []
        node = self
        while node.origin is not None:
            tactic, index = node.origin
            steps.append(Step(tactic.tactic, index))
            node = tactic.goal
        return Place(self.goal, tuple(reversed(steps)))

    def __repr__(self) -> str:
        return f"<goal {self.id}: {self.status}, {self.visits} visits, {len(self.tactics)} tactics tried>"


class Change:
    """The effect of an attempt: the goals that it proved, those that it made dead, and those that became relevant."""

    __slots__ = ("dead", "proved", "relevant", "tactic")

    def __init__(self, tactic: TacticNode | None = None) -> None:
        self.tactic = tactic
        self.proved: list[GoalNode] = []
        self.dead: list[GoalNode] = []
        self.relevant: list[GoalNode] = []


class Graph:
    """Goals and tactics from the theorem on. Statuses are set here only."""

    def __init__(self, root: Goal) -> None:
        self.root = GoalNode(0, root)
        self.goals: list[GoalNode] = [self.root]
        self._by_key = {root.key: self.root}
        self._proofs = 0

    def __len__(self) -> int:
        return len(self.goals)

    def find(self, goal: Goal) -> GoalNode | None:
        """Return the node of an equal goal, or None."""
        return self._by_key.get(goal.key)

    def expand(self, node: GoalNode, suggestions: Sequence[Suggestion]) -> Change:
        """Record the tactics that may be tried on a goal."""
        node.suggestions = suggestions
        node.total = sum(suggestion.probability for suggestion in suggestions)
        change = Change()
        if node.exhausted:
            node.reason = "no tactic was suggested for it"
            self._replace_witness(node, change)
        return change

    def kill(self, node: GoalNode, reason: str) -> Change:
        """Try no more tactics on a goal, for this reason. Tactics that are open stay open."""
        node.suggestions = tuple(node.suggestions or ())[: node.tried]
        node.reason = reason
        change = Change()
        if node.exhausted and node.status is Status.open:
            self._replace_witness(node, change)
        return change

    def release(self, node: GoalNode) -> Change:
        """Mark a goal as no longer reserved."""
        node.reserved = False
        change = Change()
        if node.exhausted and node.status is Status.open:
            self._replace_witness(node, change)
        return change

    def record(self, node: GoalNode, suggestion: Suggestion, attempt: Attempt, *, extra: bool = False) -> Change:
        """Record the result of the goal's next tactic; with `extra`, of one that was not suggested."""
        if not extra:
            node.tried += 1
        subgoals = () if attempt.subgoals is None else tuple(self._enter(goal) for goal in attempt.subgoals)
        tactic = TacticNode(node, suggestion, subgoals, attempt.reason, attempt.seconds)
        for index, below in enumerate(subgoals):
            if below.origin is None and below is not self.root:
                below.origin = (tactic, index)
                below.depth = node.depth + 1
        node.tactics.append(tactic)
        change = Change(tactic)
        distinct = dict.fromkeys(subgoals)
        tactic.backward = any(below is node or (below.tactics and self._leads_to(below, node)) for below in distinct)
        for below in distinct:
            below.users.append(tactic)
        tactic.missing = sum(below.status is not Status.proved for below in distinct)
        if attempt.subgoals is None or any(below.status is Status.dead for below in distinct):
            tactic.status = Status.dead
        elif tactic.missing == 0:
            self._prove(tactic, change)
        elif node.relevant:
            self._mark_relevant(tactic, change)
        if node.exhausted and node.status is Status.open:
            self._replace_witness(node, change)
        return change

    def _enter(self, goal: Goal) -> GoalNode:
        node = self._by_key.get(goal.key)
        if node is None:
            node = GoalNode(len(self.goals), goal)
            self.goals.append(node)
            self._by_key[goal.key] = node
        return node

    def _leads_to(self, start: GoalNode, target: GoalNode) -> bool:
        """Return whether tactics lead from one goal down to another.

        The search runs upwards, because most goals have few users.
        """
        seen = {target.id}
        pending = [target]
        while pending:
            for user in pending.pop().users:
                above = user.goal
                if above is start:
                    return True
                if above.id not in seen:
                    seen.add(above.id)
                    pending.append(above)
        return False

    def _prove(self, first: TacticNode, change: Change) -> None:
        pending = [first]
        while pending:
            tactic = pending.pop()
            self._proofs += 1
            tactic.status, tactic.proved_at = Status.proved, self._proofs
            goal = tactic.goal
            if goal.status is Status.proved:
                continue
            goal.status = Status.proved
            change.proved.append(goal)
            for user in goal.users:
                user.missing -= 1
                if user.missing == 0 and user.status is Status.open:
                    pending.append(user)
        self._reanchor([tactic for goal in change.proved for tactic in goal.tactics], change.proved)

    def _replace_witness(self, node: GoalNode, change: Change) -> None:
        """Find a new witness for a goal that lost its own, and for all goals that depended on it.

        Those without one are dead.
        """
        node.witness = next((tactic for tactic in node.tactics if _stands_by_itself(tactic)), None)
        if node.witness is not None:
            return
        suspects = self._depending_on(node)
        queue = deque(suspects.values())
        while queue:
            suspect = queue.popleft()
            if suspect.id not in suspects:
                continue
            witness = next((tactic for tactic in suspect.tactics if _alive(tactic, suspects)), None)
            if witness is None:
                continue
            suspect.witness = witness
            del suspects[suspect.id]
            queue.extend(user.goal for user in suspect.users if user.goal.id in suspects)
        for dead in suspects.values():
            dead.status = Status.dead
            dead.reason = dead.reason or "no tactic is left that could prove it"
            change.dead.append(dead)
        died = [user for dead in suspects.values() for user in dead.users if user.status is Status.open]
        for user in died:
            user.status = Status.dead
        self._reanchor([*died, *(tactic for dead in suspects.values() for tactic in dead.tactics)], suspects.values())

    def _depending_on(self, node: GoalNode) -> dict[int, GoalNode]:
        found = {node.id: node}
        pending = [node]
        while pending:
            for user in pending.pop().users:
                above = user.goal
                if above.witness is user and above.status is Status.open and above.exhausted and above.id not in found:
                    found[above.id] = above
                    pending.append(above)
        return found

    def _mark_relevant(self, tactic: TacticNode, change: Change) -> None:
        """Mark the open subgoals of an open tactic as relevant, and everything that they lead to."""
        pending = [tactic]
        while pending:
            way = pending.pop()
            for below in way.subgoals:
                if below.status is Status.open and not below.relevant:
                    below.relevant, below.anchor = True, way
                    change.relevant.append(below)
                    pending.extend(further for further in below.tactics if further.status is Status.open)

    def _reanchor(self, closed: Iterable[TacticNode], decided: Iterable[GoalNode]) -> None:
        """Find new anchors after tactics were closed and goals decided. Goals without one are no longer relevant."""
        for goal in decided:
            goal.relevant, goal.anchor = False, None
        loose: dict[int, GoalNode] = {}
        pending = list(closed)
        while pending:
            tactic = pending.pop()
            for below in tactic.subgoals:
                if below.anchor is tactic and below.id not in loose:
                    loose[below.id] = below
                    pending.extend(below.tactics)
        queue = deque(loose.values())
        while queue:
            goal = queue.popleft()
            if goal.id not in loose:
                continue
            anchor = next(
                (
                    user
                    for user in goal.users
                    if user.status is Status.open and user.goal.relevant and user.goal.id not in loose
                ),
                None,
            )
            if anchor is None:
                continue
            goal.anchor = anchor
            del loose[goal.id]
            queue.extend(
                below
                for tactic in goal.tactics
                if tactic.status is Status.open
                for below in tactic.subgoals
                if below.id in loose
            )
        for goal in loose.values():
            goal.relevant, goal.anchor = False, None

    def add_proof(self, node: GoalNode, tactic: str, subgoals: Iterable[Goal]) -> Change:
        """Record one more tactic that applies to a goal, found while a proof is being shortened."""
        return self.record(node, Suggestion(tactic, 0.0), Attempt(tuple(subgoals)), extra=True)


def _stands_by_itself(tactic: TacticNode) -> bool:
    """Return whether each subgoal is proved or has something untried.

    This is the usual case, and needs no further search.
    """
    return tactic.status is Status.open and all(
        below.status is Status.proved or (below.status is Status.open and not below.exhausted)
        for below in tactic.subgoals
    )


def _alive(tactic: TacticNode, suspects: dict[int, GoalNode]) -> bool:
    return tactic.status is Status.open and all(
        below.id not in suspects and below.status is not Status.dead for below in tactic.subgoals
    )
