"""Optional abilities of provers, theorems, files and providers.

An object has an ability if it has the methods of the protocol; the search checks this with `isinstance`.

>>> from treetop.prove import LogicTheorem
>>> isinstance(LogicTheorem.read("p -> p"), Refutable), isinstance(LogicTheorem.read("p -> p"), Retraceable)
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from treetop.prove.prover import Goal, Place, Proof, Prover, Suggestion, Theorem, Verdict

# Of provers.


@runtime_checkable
class GoalPrinter(Protocol):
    """A prover that prints goals in the notation of its users. Trees of a search use it."""

    def show(self, place: Place) -> str:
        """Return the goal at a place as text; ProverError where the place cannot be reached."""
        ...


# Of theorems.


@runtime_checkable
class Reopenable(Protocol):
    """A theorem that can be opened in a prover that has another theorem open. Sessions use it."""

    def reopen(self, prover: Prover) -> bool:
        """Open the theorem in this prover, and return whether that was possible."""
        ...


@runtime_checkable
class Retraceable(Protocol):
    """A theorem whose proofs must be run in the prover before they are checked, because equal goals may differ in
    details that their keys omit.
    """

    def retrace(self, prover: Prover, proof: Proof) -> Proof:
        """Return the proof as it runs from the theorem on; raise ProverError if it fails."""
        ...


@runtime_checkable
class TimedVerifier(Protocol):
    """A theorem whose checker can stop at a deadline."""

    def verify_before(self, proof: Proof, end: float | None) -> Verdict | None:
        """Verify a proof before this time of `time.monotonic`; return None if the time was too short."""
        ...


@runtime_checkable
class Tuned(Protocol):
    """A theorem that has a default for the exploration constant."""

    @property
    def exploration(self) -> float:
        """The default of `ProofConfig.c`."""
        ...


class CounterModel(Protocol):
    """Evidence that a statement is not provable. `str` returns it as text."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        ...


@runtime_checkable
class Refutable(Protocol):
    """A theorem for which a counter-model can be searched."""

    def refute(self, seconds: float) -> CounterModel | None:
        """Search for a counter-model for at most this many seconds."""
        ...


# Of files.


@runtime_checkable
class LemmaFile(Protocol):
    """A file that states several lemmas by name."""

    def names(self) -> tuple[str, ...]:
        """Return the names of all lemmas, in the order of the file."""
        ...


@runtime_checkable
class WritableFile(Protocol):
    """A file into which proofs of its lemmas can be written."""

    copy: Path | None
    """The path of the new file, if proofs are not written to the file itself."""
    backup: Path | None
    """The path of the old version, after the first write."""

    @property
    def admitted(self) -> tuple[str, ...]:
        """The names of the lemmas that have no proof yet."""
        ...

    @property
    def unnamed(self) -> tuple[tuple[str, str], ...]:
        """What has no proof yet and has no name to prove it by: a description, and the reason."""
        ...

    def choose(self, names: Sequence[str], *, admitted: bool) -> list[Theorem]:
        """Return the theorems of these names, and with `admitted` those of all admitted lemmas, in the order of the
        file.
        """
        ...

    def check(self) -> None:
        """Raise a ProofFileError unless the file is accepted as it is."""
        ...

    def learn(self, theorems: Sequence[Theorem], paths: Sequence[Path], warn: Callable[[str], None]) -> None:
        """Use the finished proofs of other files, and of all files in folders, as examples for these theorems."""
        ...

    def again(self, theorem: Theorem) -> Theorem:
        """Return a theorem of this file with the proofs that were added since it was read."""
        ...

    def add(self, theorem: Theorem, script: str) -> None:
        """Add a proof to the file, and write the file if that was requested."""
        ...


# Of providers.


@runtime_checkable
class ExtensibleProvider(Protocol):
    """A provider that shortens its list and can return a longer one."""

    def suggest_more(self, goal: Goal, count: int) -> list[Suggestion]:
        """Return the best `count` suggestions, or all where there are fewer. Those of `suggest` come first."""
        ...
