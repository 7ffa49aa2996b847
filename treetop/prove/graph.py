"""The graph of a proof search: goals, the tactics tried on them, and what is known of each: open, proved or dead.

A goal needs ONE proved tactic, a tactic ALL its subgoals. Equal goals are one node, so the graph may have cycles. Two least fixpoints say what is
known, and both are kept up to date with every attempt:

- **proved**: a tactic whose subgoals are all proved is proved, and so is its goal. A cycle proves nothing, because a least fixpoint never begins.
- **alive**: a goal at which something is still untried is alive, and so is one with a tactic whose subgoals are all proved or alive. An open goal
  that is not alive is dead: every way on leads to a dead end or round in a circle.

For the second each open goal holds a *witness*: something untried, or a tactic; the witnesses never form a circle. Only goals whose witness is
lost have to be looked at again. In the same way each goal that **matters**, because an open way leads to it from the theorem, holds an *anchor*: the last
tactic of such a way. `docs/proving.md` has a picture.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from enum import StrEnum

from treetop.prove.prover import Attempt, Goal, Place, Step, Suggestion


class Status(StrEnum):
    """What is known of a goal or a tactic."""

    open = "open"
    proved = "proved"
    dead = "dead"


class TacticNode:
    """A tactic that was tried on a goal."""

    __slots__ = (
        "backward",
        "goal",
        "in_flight",
        "missing",
        "probability",
        "proved_at",
        "reason",
        "seconds",
        "status",
        "subgoals",
        "successes",
        "tactic",
        "value",
        "visits",
    )

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
        """Distinct subgoals that are not proved yet."""
        self.backward = False
        """Whether a subgoal leads back to the goal by tactics that were there before. Without these the graph has no cycle."""
        self.proved_at = 0
        """The place in the order of proofs: greater than that of every subgoal."""
        self.visits = 0
        self.in_flight = 0
        self.successes = 0
        self.value = 0.0

    def __repr__(self) -> str:
        return f"<tactic {self.tactic!r} on goal {self.goal.id}: {self.status}, {len(self.subgoals)} subgoals>"


class GoalNode:
    """A goal, what may be tried on it, and what was."""

    __slots__ = (
        "anchor",
        "depth",
        "estimate",
        "goal",
        "id",
        "in_flight",
        "log_prior",
        "matters",
        "origin",
        "reason",
        "reserved",
        "status",
        "successes",
        "suggestions",
        "tactics",
        "total",
        "tried",
        "users",
        "value",
        "visits",
        "witness",
    )

    def __init__(self, number: int, goal: Goal) -> None:
        self.id = number
        self.goal = goal
        self.origin: tuple[TacticNode, int] | None = None
        """The tactic that led here first, and the index among its subgoals; the theorem, which is number 0, has none."""
        self.depth = 0
        self.status = Status.open
        self.reason = ""
        self.suggestions: Sequence[Suggestion] | None = None
        """In the order in which they are tried; None before anybody was asked."""
        self.total = 1.0
        """The sum of their probabilities."""
        self.tried = 0
        self.tactics: list[TacticNode] = []
        self.users: list[TacticNode] = []
        """The tactics that have this goal among their subgoals, each once."""
        self.witness: TacticNode | None = None
        """Why the goal is alive: a tactic, or None as long as something is untried."""
        self.matters = number == 0
        """Whether an open way leads here from the theorem."""
        self.anchor: TacticNode | None = None
        """The last tactic of such a way; the theorem needs none."""
        self.reserved = False
        """Whether somebody is trying tactics here just now."""
        self.visits = 0
        self.in_flight = 0
        self.successes = 0
        self.estimate = 0.5
        """How likely it seems that the goal can be proved, before anything was tried."""
        self.value = 0.5
        self.log_prior = 0.0
        """The best way here from the theorem: the sum of the logarithms of its tactics' shares."""

    @property
    def expanded(self) -> bool:
        """Whether somebody was asked for tactics."""
        return self.suggestions is not None

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to be tried, and nobody is trying."""
        return self.suggestions is not None and self.tried >= len(self.suggestions) and not self.reserved

    @property
    def expandable(self) -> bool:
        """Whether somebody may begin to try something here."""
        return (
            self.status is Status.open
            and not self.reserved
            and (self.suggestions is None or self.tried < len(self.suggestions))
        )

    def share(self, suggestion: Suggestion | TacticNode) -> float:
        """A tactic's part of the probability at this goal."""
        return suggestion.probability / self.total if self.total > 0 else 1.0 / max(1, len(self.suggestions or ()))

    def place(self) -> Place:
        """The goal with the way that led here first."""
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
    """What an attempt has changed: the goals that are proved or dead by it, and those that matter from now on."""

    __slots__ = ("dead", "matter", "proved", "tactic")

    def __init__(self, tactic: TacticNode | None = None) -> None:
        self.tactic = tactic
        self.proved: list[GoalNode] = []
        self.dead: list[GoalNode] = []
        self.matter: list[GoalNode] = []


class Graph:
    """Goals and tactics from the theorem on. The only place where a status is set."""

    def __init__(self, root: Goal) -> None:
        self.root = GoalNode(0, root)
        self.goals: list[GoalNode] = [self.root]
        self._by_key = {root.key: self.root}
        self._proofs = 0

    def __len__(self) -> int:
        return len(self.goals)

    def find(self, goal: Goal) -> GoalNode | None:
        """The node of an equal goal."""
        return self._by_key.get(goal.key)

    def expand(self, node: GoalNode, suggestions: Sequence[Suggestion]) -> Change:
        """Note what may be tried on a goal."""
        node.suggestions = suggestions
        node.total = sum(suggestion.probability for suggestion in suggestions)
        change = Change()
        if node.exhausted:
            node.reason = "nobody knows a tactic for it"
            self._lose(node, change)
        return change

    def kill(self, node: GoalNode, reason: str) -> Change:
        """Nothing more will be tried on a goal, for this reason. What was opened before stays open."""
        node.suggestions = tuple(node.suggestions or ())[: node.tried]
        node.reason = reason
        change = Change()
        if node.exhausted and node.status is Status.open:
            self._lose(node, change)
        return change

    def release(self, node: GoalNode) -> Change:
        """Whoever was trying tactics on a goal has finished or is gone."""
        node.reserved = False
        change = Change()
        if node.exhausted and node.status is Status.open:
            self._lose(node, change)
        return change

    def record(self, node: GoalNode, suggestion: Suggestion, attempt: Attempt, *, extra: bool = False) -> Change:
        """Note what became of the next tactic that was to be tried on a goal; or of an extra one, which nobody had suggested."""
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
        elif node.matters:
            self._gain(tactic, change)
        if node.exhausted and node.status is Status.open:
            self._lose(node, change)
        return change

    def _enter(self, goal: Goal) -> GoalNode:
        node = self._by_key.get(goal.key)
        if node is None:
            node = GoalNode(len(self.goals), goal)
            self.goals.append(node)
            self._by_key[goal.key] = node
        return node

    def _leads_to(self, start: GoalNode, target: GoalNode) -> bool:
        """Whether tactics lead from one goal down to another. Looked for from below: most goals have few above them."""
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
        self._drift([tactic for goal in change.proved for tactic in goal.tactics], change.proved)

    def _lose(self, node: GoalNode, change: Change) -> None:
        """A goal has lost its witness: look for another, for it and for all whose witness it was a part of. Those that find none are dead."""
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
        self._drift([*died, *(tactic for dead in suspects.values() for tactic in dead.tactics)], suspects.values())

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

    def _gain(self, tactic: TacticNode, change: Change) -> None:
        """A tactic of a goal that matters is open: so its open subgoals matter, and what they lead to."""
        pending = [tactic]
        while pending:
            way = pending.pop()
            for below in way.subgoals:
                if below.status is Status.open and not below.matters:
                    below.matters, below.anchor = True, way
                    change.matter.append(below)
                    pending.extend(further for further in below.tactics if further.status is Status.open)

    def _drift(self, closed: Iterable[TacticNode], decided: Iterable[GoalNode]) -> None:
        """Ways through some tactics are closed, and some goals are decided: look for other anchors. Goals that find none do not matter any more."""
        for goal in decided:
            goal.matters, goal.anchor = False, None
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
                    if user.status is Status.open and user.goal.matters and user.goal.id not in loose
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
            goal.matters, goal.anchor = False, None

    def add_proof(self, node: GoalNode, tactic: str, subgoals: Iterable[Goal]) -> Change:
        """Enter one more tactic that applies to a goal, found outside the search (while a proof is being shortened)."""
        return self.record(node, Suggestion(tactic, 0.0), Attempt(tuple(subgoals)), extra=True)


def _stands_by_itself(tactic: TacticNode) -> bool:
    """Whether each subgoal is proved or has something untried: the usual case, and then nobody else has to be asked."""
    return tactic.status is Status.open and all(
        below.status is Status.proved or (below.status is Status.open and not below.exhausted)
        for below in tactic.subgoals
    )


def _alive(tactic: TacticNode, suspects: dict[int, GoalNode]) -> bool:
    return tactic.status is Status.open and all(
        below.id not in suspects and below.status is not Status.dead for below in tactic.subgoals
    )
