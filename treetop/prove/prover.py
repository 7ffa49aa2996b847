"""What a proof search needs to know of a prover: goals, tactics that turn a goal into subgoals, and a proof that somebody else can check.

A prover is asked one question: what becomes of this goal under this tactic? It answers with subgoals that must ALL be proved (none: the goal is
proved), or with the reason why the tactic fails. The search never looks into a goal; those who suggest tactics do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol


@dataclass(frozen=True)
class Goal:
    """Something to be proved. Goals with equal keys are one goal, whatever way led to them."""

    key: str
    """All that decides what can be proved from here, as text."""
    text: str = field(default="", compare=False)
    """For people, where that is not the key."""
    data: Any = field(default=None, compare=False, repr=False)
    """What the prover and the suggesting parties know of it. It must be picklable."""

    def __str__(self) -> str:
        return self.text or self.key


@dataclass(frozen=True)
class Step:
    """From a goal to one of its subgoals: the tactic, and which of those that it left (0 is the first)."""

    tactic: str
    index: int


@dataclass(frozen=True)
class Place:
    """A goal and a way to it from the theorem. Provers that hold one state at a time go there; others look at the goal alone."""

    goal: Goal
    path: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Attempt:
    """What became of a goal under a tactic."""

    subgoals: tuple[Goal, ...] | None
    """All of them must be proved; none: the goal is. None instead of a tuple: the tactic failed."""
    reason: str = ""
    """Why it failed, in a line."""
    seconds: float = 0.0

    @property
    def applied(self) -> bool:
        """Whether the tactic did something."""
        return self.subgoals is not None


class Prover(Protocol):
    """A proof assistant with one theorem open. One that is used by several workers is made once in each of them."""

    def root(self) -> Goal:
        """The theorem."""
        ...

    def attempt(self, place: Place, tactic: str, seconds: float | None = None) -> Attempt:
        """Try a tactic on a goal, for so long at most. What goes wrong within it is a failed attempt with a reason, never an exception."""
        ...

    def close(self) -> None:
        """End what was started. May be called twice."""
        ...


class Suggestion(NamedTuple):
    """A tactic that may be worth trying, and how likely it seems. The probabilities at a goal need not add up to 1."""

    tactic: str
    probability: float


class Provider(Protocol):
    """Suggests tactics for goals."""

    @property
    def name(self) -> str:
        """How a report names it."""
        ...

    def suggest(self, goal: Goal) -> list[Suggestion]:
        """What to try there, in any order; no tactic twice."""
        ...


@dataclass(frozen=True)
class Proof:
    """A goal, the tactic that proves it, and the proofs of the subgoals that it leaves, in the prover's order."""

    goal: Goal
    tactic: str
    parts: tuple[Proof, ...] = ()

    @property
    def size(self) -> int:
        """How many tactics it has. Parts that stand in it several times count each time, and are looked at once."""
        sizes: dict[int, int] = {}
        for part in reversed(list(self.parts_once())):
            sizes[id(part)] = 1 + sum(sizes[id(below)] for below in part.parts)
        return sizes[id(self)]

    def parts_once(self) -> Iterator[Proof]:
        """This proof and all its parts, each once, however often it stands here, and before its own parts."""
        uses: dict[int, int] = {}
        pending, seen = [self], {id(self)}
        while pending:
            for below in pending.pop().parts:
                uses[id(below)] = uses.get(id(below), 0) + 1
                if id(below) not in seen:
                    seen.add(id(below))
                    pending.append(below)
        ready = [self]
        while ready:
            part = ready.pop()
            yield part
            for below in reversed(part.parts):
                uses[id(below)] -= 1
                if uses[id(below)] == 0:
                    ready.append(below)

    def walk(self) -> Iterator[Proof]:
        """This proof and all its parts, each as often as it stands here and before its own parts: a script's order. It may be long."""
        pending = [self]
        while pending:
            proof = pending.pop()
            yield proof
            pending.extend(reversed(proof.parts))


@dataclass(frozen=True)
class Verdict:
    """What a checker outside the search says of a proof."""

    accepted: bool
    reason: str = ""
    """Why not."""
    assumptions: tuple[str, ...] = ()
    """What the proof rests on beside the logic itself: axioms, lemmas that were admitted."""
    checker: str = ""
    """Who says so: `coqc 8.16.1`."""


class Theorem(Protocol):
    """A statement to be proved by some prover. It is picklable, so that every worker can open it."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    def open(self) -> Prover:
        """A prover that stands before the statement."""
        ...

    def provider(self, prover: Prover) -> Provider:
        """Who suggests tactics unless the caller knows better. It may ask the prover, between the attempts of the search."""
        ...

    def script(self, proof: Proof) -> str:
        """The proof as its users write it."""
        ...

    def verify(self, proof: Proof) -> Verdict:
        """Let a checker that knows nothing of the search judge the proof."""
        ...

    def facts(self) -> dict[str, Any]:
        """What a report says of it: the prover with its version, the statement, the options. JSON can hold it."""
        ...


class TheoremFile(Protocol):
    """A file that states a theorem, or several with names. `treetop.prove.abilities` has what else a file may be able to do."""

    def theorem(self, name: str | None = None) -> Theorem:
        """Return the theorem of that name; without a name the only one."""
        ...
