"""The interface of provers: goals, tactics that turn a goal into subgoals, and proofs that a checker verifies.

A prover answers one question: what are the subgoals of this goal under this tactic? It returns subgoals that must ALL
be proved (none: the goal is proved), or the reason why the tactic fails. The search does not look into goals; providers
do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol


@dataclass(frozen=True)
class Goal:
    """Something to be proved. Goals with equal keys are one goal, whatever path led to them.

    >>> import treetop as tt
    >>> goal = tt.prove.LogicTheorem.read("p & q -> q").open().root()
    >>> str(goal)
    '|- p & q -> q'
    """

    key: str
    """Text that holds everything that decides what can be proved from here."""
    text: str = field(default="", compare=False)
    """The text to display, if it is not the key."""
    data: Any = field(default=None, compare=False, repr=False)
    """What the prover and the providers store with the goal. It must be picklable."""

    def __str__(self) -> str:
        return self.text or self.key


@dataclass(frozen=True)
class Step:
    """A step from a goal to one of its subgoals: the tactic, and the index of the subgoal.

    >>> import treetop as tt
    >>> prover = tt.prove.LogicTheorem.read("p -> p", mode="raw").open()
    >>> first = prover.attempt(tt.prove.Place(prover.root()), "intro")
    >>> place = tt.prove.Place(first.subgoals[0], (tt.prove.Step("intro", 0),))
    >>> prover.attempt(place, "assumption").subgoals
    ()
    """

    tactic: str
    index: int


@dataclass(frozen=True)
class Place:
    """A goal and a path to it from the theorem.

    Provers that hold one state at a time replay the path; others use the goal alone.

    >>> import treetop as tt
    >>> prover = tt.prove.LogicTheorem.read("p -> p", mode="raw").open()
    >>> place = tt.prove.Place(prover.root())
    >>> prover.attempt(place, "intro").applied
    True
    """

    goal: Goal
    path: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Attempt:
    """The result of a tactic on a goal.

    >>> import treetop as tt
    >>> prover = tt.prove.LogicTheorem.read("p -> p", mode="raw").open()
    >>> attempt = prover.attempt(tt.prove.Place(prover.root()), "intro")
    >>> attempt.applied, [str(goal) for goal in attempt.subgoals]
    (True, ['p |- p'])
    """

    subgoals: tuple[Goal, ...] | None
    """All of them must be proved; an empty tuple proves the goal. None: the tactic failed."""
    reason: str = ""
    """Why it failed, in one line."""
    seconds: float = 0.0

    @property
    def applied(self) -> bool:
        """Whether the tactic succeeded."""
        return self.subgoals is not None


class Prover(Protocol):
    """A proof assistant with one theorem open. Every worker opens its own.

    >>> import treetop as tt
    >>> prover: tt.prove.Prover = tt.prove.LogicTheorem.read("p -> p", mode="raw").open()
    >>> prover.attempt(tt.prove.Place(prover.root()), "left").applied
    False
    >>> prover.close()
    """

    def root(self) -> Goal:
        """Return the goal of the theorem."""
        ...

    def attempt(self, place: Place, tactic: str, seconds: float | None = None) -> Attempt:
        """Try a tactic on a goal, for at most this many seconds.

        Errors of the tactic are failed attempts with a reason, never exceptions.
        """
        ...

    def close(self) -> None:
        """End all processes and free all resources. May be called twice."""
        ...


class Suggestion(NamedTuple):
    """A tactic and its estimated probability. The probabilities at a goal need not add up to 1.

    >>> import treetop as tt
    >>> theorem = tt.prove.LogicTheorem.read("p | q -> q | p", mode="raw")
    >>> prover = theorem.open()
    >>> theorem.provider(prover).suggest(prover.root())
    [Suggestion(tactic='intro', probability=1.0)]
    """

    tactic: str
    probability: float


class Provider(Protocol):
    """Suggests tactics for goals.

    >>> import treetop as tt
    >>> provider: tt.prove.Provider = tt.prove.FixedProvider([("intro", 0.9), ("assumption", 0.1)])
    >>> [suggestion.tactic for suggestion in provider.suggest(tt.prove.Goal("p -> p"))]
    ['intro', 'assumption']
    """

    @property
    def name(self) -> str:
        """The name in reports."""
        ...

    def suggest(self, goal: Goal) -> list[Suggestion]:
        """Return the tactics to try on a goal, in any order, without duplicates."""
        ...


@dataclass(frozen=True)
class Proof:
    """A goal, the tactic that proves it, and the proofs of its subgoals, in the prover's order.

    >>> import treetop as tt
    >>> proof = tt.prove(tt.prove.LogicTheorem.read("p -> q -> p & q", mode="raw")).proof
    >>> proof.size, proof.tactic, [part.tactic for part in proof.walk()]
    (5, 'intro', ['intro', 'intro', 'split', 'assumption', 'assumption'])
    """

    goal: Goal
    tactic: str
    parts: tuple[Proof, ...] = ()

    @property
    def size(self) -> int:
        """The number of tactics. A part that occurs several times counts each time."""
        sizes: dict[int, int] = {}
        for part in reversed(list(self.parts_once())):
            sizes[id(part)] = 1 + sum(sizes[id(below)] for below in part.parts)
        return sizes[id(self)]

    def parts_once(self) -> Iterator[Proof]:
        """Yield this proof and all its parts, each object once and before its own parts."""
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
        """Yield this proof and all its parts in the order of a script, repeated parts each time. This may take long."""
        pending = [self]
        while pending:
            proof = pending.pop()
            yield proof
            pending.extend(reversed(proof.parts))


@dataclass(frozen=True)
class Verdict:
    """The result of a checker that is independent of the search.

    >>> import treetop as tt
    >>> verdict = tt.prove("p & q -> q & p").verdict
    >>> verdict.accepted, verdict.checker, verdict.assumptions
    (True, 'treetop natural deduction', ())
    """

    accepted: bool
    reason: str = ""
    """Why the proof was refused."""
    assumptions: tuple[str, ...] = ()
    """What the proof depends on besides the logic itself: axioms and admitted lemmas."""
    checker: str = ""
    """The name of the checker: `coqc 8.16.1`."""


class Theorem(Protocol):
    """A statement and its prover. It is picklable, so that every worker can open it.

    >>> import treetop as tt
    >>> theorem: tt.prove.Theorem = tt.prove.LogicTheorem.read("p -> p")
    >>> with tt.prove.ProofSearch(theorem, seed=1) as search:
    ...     result = search.run(tt.Limit(simulations=10))
    >>> theorem.verify(result.proof).accepted
    True
    """

    @property
    def name(self) -> str:
        """The name in reports."""
        ...

    def open(self) -> Prover:
        """Return a prover with this theorem open."""
        ...

    def provider(self, prover: Prover) -> Provider:
        """Return the default provider. It may query the prover between the attempts of the search."""
        ...

    def script(self, proof: Proof) -> str:
        """Return the proof in the notation of the prover's users."""
        ...

    def verify(self, proof: Proof) -> Verdict:
        """Check the proof with a checker that is independent of the search."""
        ...

    def facts(self) -> dict[str, Any]:
        """Return what a report contains: the prover with its version, the statement, the options.

        The values are ready for JSON.
        """
        ...


class TheoremFile(Protocol):
    """A file that states a theorem, or several with names.

    `treetop.prove.abilities` lists what else a file may support.
    """

    def theorem(self, name: str | None = None) -> Theorem:
        """Return the theorem of that name; without a name, the only one."""
        ...
