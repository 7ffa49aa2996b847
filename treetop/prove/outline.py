"""The tree of a proof search as indented text: the proof first, then the most visited parts, as much as fits.

Equal goals are one goal, so the tree is a graph: the tactics of a goal are listed where it appears first; later only
its number is shown.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable
from dataclasses import dataclass

from treetop.prove.graph import GoalNode, Graph, Status, TacticNode
from treetop.prove.prover import Proof
from treetop.text import counted

LINES = 60
"""The default number of lines."""
SIGNS = {Status.proved: "+", Status.open: "?", Status.dead: "x"}

_RULE = re.compile(r"^={8,}$", re.MULTILINE)  # what provers print between hypotheses and conclusion

Show = Callable[[GoalNode], str]
"""Returns a goal in the notation of the prover's users."""


@dataclass(frozen=True)
class Line:
    """A goal or a tactic with its indentation."""

    level: int
    status: Status
    text: str
    is_goal: bool
    note: str = ""

    def __str__(self) -> str:
        return f"{'  ' * self.level}{SIGNS[self.status]} {self.text}{f'  ({self.note})' if self.note else ''}"


@dataclass(frozen=True)
class Outline:
    """The lines of a tree, and how much was left out."""

    lines: tuple[Line, ...]
    tactics: int
    """How many tactics the whole tree has."""
    left_out: int

    @property
    def legend(self) -> str:
        """The meaning of the signs, and what was left out."""
        signs = ", ".join(f"{sign} {status.value}" for status, sign in SIGNS.items())
        return signs + (f"; {self.left_out:,} of {self.tactics:,} tactics are left out" if self.left_out else "")

    def __str__(self) -> str:
        return "\n".join([*map(str, self.lines), f"({self.legend})"])


def outline(
    graph: Graph,
    proof: Proof | None = None,
    *,
    lines: int | None = LINES,
    everything: bool = False,
    show: Show | None = None,
) -> Outline:
    """Return the tree from the theorem down, in at most about `lines` lines.

    Tactics that failed are left out unless `everything` is set.
    """
    used = set() if proof is None else {(part.goal.key, part.tactic) for part in proof.parts_once()}
    under = {
        node.id: [tactic for tactic in node.tactics if everything or tactic.subgoals or tactic.status is Status.proved]
        for node in graph.goals
    }
    for tactics in under.values():
        tactics.sort(key=lambda tactic: _interest(tactic, used))
    chosen = under if lines is None else _choose(graph.root, under, used, lines)
    everywhere, shown = sum(map(len, under.values())), sum(map(len, chosen.values()))
    return Outline(tuple(_draw(graph.root, under, chosen, show or _plainly)), everywhere, everywhere - shown)


def conclusion(sight: str) -> str:
    r"""Return the conclusion of a goal, without the hypotheses, on one line.

    >>> conclusion("n : nat; H : n = 0 |- n + 0 = 0"), conclusion("n : nat\n============\nn + 0 =\n0")
    ('n + 0 = 0', 'n + 0 = 0')
    """
    last = _RULE.split(sight)[-1]
    return " ".join(last.rpartition("|-")[2].split()) or " ".join(sight.split())


def _plainly(node: GoalNode) -> str:
    return str(node.goal)


def _interest(tactic: TacticNode, used: set[tuple[str, str]]) -> tuple[bool, bool, int]:
    """Return a sort key: tactics of the proof first, then the most visited ones, dead ones last."""
    return (tactic.goal.goal.key, tactic.tactic) not in used, tactic.status is Status.dead, -tactic.visits


def _choose(
    root: GoalNode, under: dict[int, list[TacticNode]], used: set[tuple[str, str]], lines: int
) -> dict[int, list[TacticNode]]:
    """Choose the tactics that are shown under each goal: repeatedly the most interesting one, while there is space."""
    chosen: dict[int, list[TacticNode]] = {root.id: []}
    heap: list[tuple[tuple[bool, bool, int], int, GoalNode]] = []
    left = lines - 1

    def offer(node: GoalNode) -> None:
        rest = under[node.id][len(chosen[node.id]) :]
        if rest:
            heapq.heappush(heap, (_interest(rest[0], used), node.id, node))

    offer(root)
    while heap:
        *_, node = heapq.heappop(heap)
        tactic = under[node.id][len(chosen[node.id])]
        left -= 1 + len(tactic.subgoals)
        if left < 0:
            break
        chosen[node.id].append(tactic)
        for below in dict.fromkeys(tactic.subgoals):
            if below.id not in chosen:
                chosen[below.id] = []
                offer(below)
        offer(node)
    return chosen


def _draw(
    root: GoalNode, under: dict[int, list[TacticNode]], chosen: dict[int, list[TacticNode]], show: Show
) -> list[Line]:
    lines: list[Line] = []
    seen: set[int] = set()
    sights: dict[int, str] = {}
    pending: list[tuple[int, GoalNode | TacticNode]] = [(0, root)]
    while pending:
        level, node = pending.pop()
        if isinstance(node, TacticNode):
            lines.append(Line(level, node.status, " ".join(node.tactic.split()), False, " ".join(node.reason.split())))
            pending.extend((level + 1, below) for below in reversed(node.subgoals))
            continue
        if node.id not in sights:
            sights[node.id] = conclusion(show(node))
        tactics = chosen.get(node.id, [])
        more = len(under[node.id]) - len(tactics)
        again = node.id in seen and bool(under[node.id])
        notes = (
            ["above"]
            if again
            else [node.reason]
            if node.status is Status.dead
            else [f"and {more} more" if tactics else counted(more, "tactic")]
            if more
            else []
        )
        lines.append(Line(level, node.status, f"goal {node.id}: {sights[node.id]}", True, "; ".join(notes)))
        if node.id not in seen:
            seen.add(node.id)
            pending.extend((level + 1, tactic) for tactic in reversed(tactics))
    return lines
