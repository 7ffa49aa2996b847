"""What a proof search found, and all that is needed to judge it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from treetop.prove.graph import GoalNode, Graph, Status
from treetop.prove.prover import Proof, Verdict
from treetop.prove.report import ProofReport


@dataclass(frozen=True)
class ProofResult:
    """The end of a search, or where it stands. There is a proof only where a checker outside the search has accepted it."""

    theorem: str
    status: str
    """`proved`; `exhausted`: nothing is left to try; `open`: the limit came first; `refused`: the checker did not accept what was found."""
    proof: Proof | None
    script: str
    """The proof as its users write it."""
    verdict: Verdict | None
    """What the checker said, where something was found."""
    iterations: int
    attempts: int
    expansions: int
    seconds: float
    """Spent on the search; checking and shortening not counted."""
    tier: int | None
    """The budget tier in which it was decided, where there are any."""
    report: ProofReport
    graph: Graph = field(repr=False, compare=False)

    @property
    def proved(self) -> bool:
        """Whether there is a proof."""
        return self.proof is not None

    @property
    def steps(self) -> int:
        """How many tactics the proof has; 0 without one."""
        return 0 if self.proof is None else self.proof.size

    def counts(self) -> dict[str, int]:
        """How many goals are open, proved and dead."""
        counts = {status.value: 0 for status in Status}
        for goal in self.graph.goals:
            counts[goal.status.value] += 1
        return counts

    def to_dict(self) -> dict[str, Any]:
        """All but the graph, as JSON holds it."""
        verdict = self.verdict
        return {
            "theorem": self.theorem, "status": self.status, "proved": self.proved, "script": self.script, "steps": self.steps,
            "verdict": None if verdict is None else {"accepted": verdict.accepted, "reason": verdict.reason, "checker": verdict.checker,
                                                     "assumptions": list(verdict.assumptions)},
            "iterations": self.iterations, "attempts": self.attempts, "expansions": self.expansions, "seconds": round(self.seconds, 4),
            "tier": self.tier, "goals": self.counts(), "report": self.report.to_dict(),
        }  # fmt: skip

    def summary(self) -> str:
        """One line: what is known now, and what it took."""
        effort = f"{self.attempts:,} attempts, {self.expansions:,} expansions, {self.seconds:.1f} s"
        if self.proof is not None and self.verdict is not None:
            rests = f", resting on {', '.join(self.verdict.assumptions)}" if self.verdict.assumptions else ""
            return f"proved in {self.steps} steps and accepted by {self.verdict.checker}{rests} ({effort})"
        if self.status == "refused" and self.verdict is not None:
            return f"not proved: {self.verdict.checker} refused what was found: {self.verdict.reason} ({effort})"
        if self.status == "exhausted":
            return f"not proved: nothing is left to try ({effort})"
        return f"not proved within the limit ({effort})"

    def tree(self, *, depth: int | None = None, everything: bool = False) -> str:
        """The search as an indented text: goals and the tactics tried on them. Failed tactics only where everything is asked for."""
        return "\n".join(_lines(self.graph.root, depth, everything))

    def __str__(self) -> str:
        return f"{self.theorem}: {self.summary()}" + (f"\n\n{self.script}" if self.script else "")


_SIGNS = {Status.open: "?", Status.proved: "+", Status.dead: "x"}


def _lines(root: GoalNode, most: int | None, everything: bool) -> list[str]:
    lines: list[str] = []
    shown: set[int] = set()
    pending: list[tuple[int, str, GoalNode | None]] = [(0, "", root)]
    while pending:
        level, text, goal = pending.pop()
        if text:
            lines.append("  " * level + text)
        if goal is None:
            continue
        again = goal.id in shown
        sight = str(goal.goal).rpartition("|-")[2].strip() or str(goal.goal)
        tail = "  (above)" if again else f"  ({goal.reason})" if goal.status is Status.dead else ""
        lines.append("  " * level + f"{_SIGNS[goal.status]} goal {goal.id}: {sight}{tail}")
        if again or (most is not None and goal.depth >= most):
            continue
        shown.add(goal.id)
        for tactic in reversed(goal.tactics):
            if tactic.subgoals or tactic.status is Status.proved or everything:
                note = f"  ({tactic.reason})" if tactic.reason else ""
                pending.extend((level + 2, "", below) for below in reversed(tactic.subgoals))
                pending.append((level + 1, f"{_SIGNS[tactic.status]} {tactic.tactic}{note}", None))
    return lines
