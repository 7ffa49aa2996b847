"""The result of a proof search, with everything that is needed to assess it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from treetop.prove.graph import Graph, Status
from treetop.prove.outline import LINES, Outline, Show, outline
from treetop.prove.prover import Proof, Verdict
from treetop.prove.report import ProofReport
from treetop.text import counted


@dataclass(frozen=True)
class ProofResult:
    """The result of a search, final or current. It has a proof only if a checker outside the search accepted it.

    >>> import treetop as tt
    >>> result = tt.prove(tt.prove.LogicTheorem.read("p & q -> q", mode="raw"))
    >>> result.status, result.steps, result.script.splitlines()
    ('proved', 3, ['intro', 'take p & q', 'assumption'])
    """

    theorem: str
    status: str
    """`proved`; `exhausted`: nothing is left to try; `open`: a limit was reached first; `refused`: the checker did not
    accept the proof that was found."""
    proof: Proof | None
    script: str
    """The proof in the notation of the prover's users."""
    verdict: Verdict | None
    """The checker's verdict, if a proof was found."""
    simulations: int
    attempts: int
    expansions: int
    seconds: float
    """Time of the search, without shortening and checking."""
    tier: int | None
    """The budget tier in which the search was decided, if there are tiers."""
    report: ProofReport
    graph: Graph = field(repr=False, compare=False)
    interrupted: bool = False
    """Whether Ctrl-C stopped the search."""
    refused_script: str = ""
    """The script that the checker refused."""

    @property
    def proved(self) -> bool:
        """Whether there is a proof."""
        return self.proof is not None

    @property
    def steps(self) -> int:
        """The number of tactics of the proof; 0 without one."""
        return 0 if self.proof is None else self.proof.size

    def counts(self) -> dict[str, int]:
        """Return how many goals are open, proved and dead."""
        counts = {status.value: 0 for status in Status}
        for goal in self.graph.goals:
            counts[goal.status.value] += 1
        return counts

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the graph, ready for JSON."""
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
        """Return the status in one line, with the checker."""
        if self.proof is not None and self.verdict is not None:
            rests = f", depending on {', '.join(self.verdict.assumptions)}" if self.verdict.assumptions else ""
            return f"proved in {counted(self.steps, 'step')}, accepted by {self.verdict.checker}{rests}"
        if self.status == "refused" and self.verdict is not None:
            return f"not proved: {self.verdict.checker} refused the proof that was found: {self.verdict.reason}"
        if self.status == "exhausted":
            return "not proved: nothing is left to try"
        if self.graph.root.status is Status.proved:
            return "not proved within the limit: a proof was found, but there was no time left to check it"
        return "not proved before Ctrl-C" if self.interrupted else "not proved within the limit"

    def effort(self) -> str:
        """Return the effort in one line."""
        goals = ", ".join(f"{count:,} {status}" for status, count in self.counts().items())
        effort = f"{counted(self.attempts, 'attempt')}, {counted(self.expansions, 'expansion')}, {self.seconds:.1f} s"
        return f"{effort}; goals: {goals}"

    @property
    def statement(self) -> str:
        """The statement of the theorem, if it is known and is not its name."""
        statement = str(self.report.prover.get("statement", ""))
        return "" if statement == self.theorem else statement

    def tree(self, *, lines: int | None = LINES, everything: bool = False, show: Show | None = None) -> Outline:
        """Return the search as indented text of at most about `lines` lines: goals and the tactics that applied; with
        `everything`, those that failed too.
        """
        return outline(self.graph, self.proof, lines=lines, everything=everything, show=show)

    def __str__(self) -> str:
        parts = [
            f"{self.theorem}: {self.summary()}" + (f"\n{self.statement}" if self.statement else ""),
            (self.script or self.refused_script).rstrip(),
            self.effort(),
        ]
        return "\n\n".join(part for part in parts if part)
