"""What a proof search found, and all that is needed to judge it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from treetop.prove.graph import Graph, Status
from treetop.prove.outline import LINES, Outline, Show, outline
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
    simulations: int
    attempts: int
    expansions: int
    seconds: float
    """Spent on the search; checking and shortening not counted."""
    tier: int | None
    """The budget tier in which it was decided, where there are any."""
    report: ProofReport
    graph: Graph = field(repr=False, compare=False)
    interrupted: bool = False
    """Whether Ctrl-C ended it."""
    refused_script: str = ""
    """What was found and then refused by the checker, as its users write it."""

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
            "theorem": self.theorem,
            "status": self.status,
            "proved": self.proved,
            "script": self.script,
            "refused_script": self.refused_script,
            "steps": self.steps,
            "verdict": None
            if verdict is None
            else {
                "accepted": verdict.accepted,
                "reason": verdict.reason,
                "checker": verdict.checker,
                "assumptions": list(verdict.assumptions),
            },
            "simulations": self.simulations,
            "attempts": self.attempts,
            "expansions": self.expansions,
            "seconds": round(self.seconds, 4),
            "tier": self.tier,
            "interrupted": self.interrupted,
            "goals": self.counts(),
            "report": self.report.to_dict(),
        }

    def summary(self) -> str:
        """One line: what is known now, and who says so."""
        if self.proof is not None and self.verdict is not None:
            rests = f", resting on {', '.join(self.verdict.assumptions)}" if self.verdict.assumptions else ""
            return f"proved in {_many(self.steps, 'step')}, accepted by {self.verdict.checker}{rests}"
        if self.status == "refused" and self.verdict is not None:
            return f"not proved: {self.verdict.checker} refused what was found: {self.verdict.reason}"
        if self.status == "exhausted":
            return "not proved: nothing is left to try"
        if self.graph.root.status is Status.proved:
            return "not proved within the limit: a proof was found, and there was no time left to check it"
        return "not proved before Ctrl-C" if self.interrupted else "not proved within the limit"

    def effort(self) -> str:
        """One line: what it took."""
        goals = ", ".join(f"{count:,} {status}" for status, count in self.counts().items())
        return f"{_many(self.attempts, 'attempt')}, {_many(self.expansions, 'expansion')}, {self.seconds:.1f} s; goals: {goals}"

    @property
    def statement(self) -> str:
        """What the theorem says, where its own facts tell it and its name does not."""
        said = str(self.report.prover.get("statement", ""))
        return "" if said == self.theorem else said

    def tree(self, *, lines: int | None = LINES, everything: bool = False, show: Show | None = None) -> Outline:
        """The search as an indented text, with about so many lines at most: goals and the tactics that applied; with everything, those that failed too."""
        return outline(self.graph, self.proof, lines=lines, everything=everything, show=show)

    def __str__(self) -> str:
        parts = [
            f"{self.theorem}: {self.summary()}" + (f"\n{self.statement}" if self.statement else ""),
            (self.script or self.refused_script).rstrip(),
            self.effort(),
        ]
        return "\n\n".join(part for part in parts if part)


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
