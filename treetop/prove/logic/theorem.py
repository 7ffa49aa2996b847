"""Statements of the logic as theorems that can be proved or refuted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treetop.errors import ConfigError, ProverError
from treetop.prove.logic import checker
from treetop.prove.logic.export import to_coq
from treetop.prove.logic.formula import Formula
from treetop.prove.logic.models import KripkeModel
from treetop.prove.logic.prover import LogicProver, Mode, check_mode
from treetop.prove.logic.provider import LogicProvider
from treetop.prove.logic.refutation import refute
from treetop.prove.logic.syntax import parse
from treetop.prove.logic.tptp import read_problem
from treetop.prove.logic.translation import OutOfTimeError, TranslationError, translate
from treetop.prove.prover import Proof, Prover, Verdict


@dataclass(frozen=True)
class LogicTheorem:
    """A statement of intuitionistic propositional logic.

    >>> LogicTheorem.read("p & q -> q & p").open().root().key
    '|- p & q -> q & p'
    """

    name: str
    statement: Formula
    mode: Mode = "invertible"
    """`raw`: every rule of the calculus is a tactic; `invertible`: only real choices are left to the search."""
    classical: bool = True
    """Whether goals that do not hold in classical logic are refused at once (in the mode `invertible` only)."""
    status: str | None = None
    """The status that the problem file states. The search does not use it."""
    exploration = 0.1
    """For `ProofConfig.c`: goals of the logic shrink towards a proof, so little exploration works best."""

    def __post_init__(self) -> None:
        check_mode(self.mode)
        if not isinstance(self.statement, Formula):
            raise ConfigError(
                f"statement must be a Formula (LogicTheorem.read reads one from text), not {self.statement!r}"
            )

    @classmethod
    def read(cls, text: str, name: str = "theorem", **options: Any) -> LogicTheorem:
        """Return the theorem of a text such as `p & q -> q & p`."""
        return cls(name, parse(text), **options)

    @classmethod
    def load(cls, path: str | Path, **options: Any) -> LogicTheorem:
        """Return the theorem of a problem file of the TPTP or ILTP library."""
        problem = read_problem(path)
        return cls(problem.name, problem.statement, status=problem.status, **options)

    def open(self) -> LogicProver:
        """Return a prover with the statement open."""
        return LogicProver(self.statement, self.mode, self.classical)

    def provider(self, prover: Prover) -> LogicProvider:  # noqa: ARG002 - the suggestions depend on the goal alone
        """Return a provider that suggests every tactic that applies."""
        return LogicProvider(self.mode)

    def script(self, proof: Proof) -> str:
        """Return the tactics, one a line; where one leaves several goals, their proofs follow indented, behind dashes.

        A longer part that is used again gets a number in brackets, and is referred to by it later.
        """
        lines: list[str] = []
        numbers: dict[int, int] = {}
        shared = _shared(proof)
        pending: list[tuple[Proof, int, bool]] = [(proof, 0, False)]
        while pending:
            part, depth, dashed = pending.pop()
            before = f"{'  ' * depth}{'- ' if dashed else ''}"
            if id(part) in numbers:
                lines.append(f"{before}as [{numbers[id(part)]}]")
                continue
            if id(part) in shared:
                numbers[id(part)] = len(numbers) + 1
                before += f"[{numbers[id(part)]}] "
            lines.append(f"{before}{part.tactic}")
            several = len(part.parts) > 1
            pending += [(child, depth + 1 if dashed else depth, several) for child in reversed(part.parts)]
        return "\n".join(lines) + "\n"

    def verify(self, proof: Proof) -> Verdict:
        """Turn the proof into a lambda term, and check that it proves the statement."""
        verdict = self.verify_before(proof, None)
        assert verdict is not None
        return verdict

    def verify_before(self, proof: Proof, end: float | None) -> Verdict | None:
        """Verify a proof before a time of `time.monotonic`; return None if the time was too short."""
        try:
            reason = checker.check(translate(self.statement, proof, raw=self.mode == "raw", end=end), self.statement)
        except OutOfTimeError:
            return None
        except TranslationError as error:
            return Verdict(False, str(error), checker=checker.CHECKER)
        return Verdict(not reason, reason, checker=checker.CHECKER)

    def to_coq(self, proof: Proof) -> str:
        """Return the proof as a definition that Coq can check; raise ProverError if it is not a proof."""
        try:
            return to_coq(self.name, self.statement, list(translate(self.statement, proof, raw=self.mode == "raw")))
        except TranslationError as error:
            raise ProverError(str(error)) from error

    def refute(self, seconds: float = 10.0) -> KripkeModel | None:
        """Return a model in which the statement fails, so that it is not provable.

        None: it is provable, or none was found in time.
        """
        return refute(self.statement, seconds)

    def facts(self) -> dict[str, Any]:
        """Return the statement and the options."""
        return {
            "prover": "logic",
            "statement": self.statement.text,
            "mode": self.mode,
            "classical": self.classical,
            **({"status": self.status} if self.status else {}),
        }


def _shared(proof: Proof) -> set[int]:
    """Return the ids of the parts that have parts themselves and are used several times."""
    seen: set[int] = set()
    found: set[int] = set()
    pending = [proof]
    while pending:
        part = pending.pop()
        if id(part) not in seen:
            seen.add(id(part))
            pending += part.parts
        elif part.parts:
            found.add(id(part))
    return found
