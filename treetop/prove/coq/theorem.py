"""A lemma of a Coq file, or one given as text: what a search opens, and what `coqc` checks in the end."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from treetop.compiler.cache import cache_folder
from treetop.errors import ConfigError, ProofFileError, ProverError
from treetop.prove.coq.checker import Compiled, compile_text, coq_version, read_assumptions
from treetop.prove.coq.documents import Document, Lemma
from treetop.prove.coq.prover import CoqProver, Opening
from treetop.prove.coq.recording import Example, recorded
from treetop.prove.coq.retracing import retrace
from treetop.prove.coq.scripts import command_in, giving_up, write_script
from treetop.prove.coq.sentences import Sentence, without_comments
from treetop.prove.coq.settings import CoqSettings, LoadPath
from treetop.prove.coq.sources import provider_for
from treetop.prove.prover import Proof, Prover, Provider, Verdict

_BEGINS_PROOF = re.compile(r"Proof(?:\s+(?:using|with)\b.*)?\s*\.\Z", re.DOTALL)
_USES = re.compile(r"Proof\s+(?:with\b.*\s)?using\b", re.DOTALL)
_ADMITTING = "proof_admitted"  # the axiom behind the old tactic admit


def read_source(file: Path) -> bytes:
    """Return the content of a Coq file."""
    if file.suffix != ".v":
        raise ConfigError(f"the name of a Coq file must end with .v, not {file.name!r}")
    try:
        return file.read_bytes()
    except OSError as error:
        raise ProofFileError(f"{file} cannot be read: {error.strerror or error}") from error


def digest_of(text: str) -> str:
    """Return the digest of a text as it is in its file."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


class _Trial(NamedTuple):
    """A file with a proof in it, and the result of `coqc`."""

    using: str
    text: str
    end: int
    """The offset at which the proof ends."""
    compiled: Compiled
    closed: str
    """The statement of the lemma after the end of its sections, if that was requested."""


class CoqTheorem:
    """A lemma of a Coq file. The file is read once, here; `digest` identifies its text.

    Only propositions can be opened. With `data=True` data can be opened too, such as `Definition d : nat -> nat.
    Admitted.`: then any value of the type counts as a proof, whatever the file intends.

    >>> import treetop as tt
    >>> theorem = tt.prove.CoqTheorem.from_text("", "forall n : nat, n + 0 = n", name="plus_zero")
    >>> theorem.statement  # Coq itself is started by `open`
    'Theorem plus_zero : forall n : nat, n + 0 = n.'
    """

    def __init__(
        self, path: Path | str, lemma: str, settings: CoqSettings | None = None, *, data: bool = False
    ) -> None:
        file = Path(path)
        document = Document(read_source(file).decode("utf-8", "surrogateescape"), str(file))
        self._set(document, file.resolve(), document.lemma(lemma), settings, data)

    @classmethod
    def of_document(
        cls, document: Document, path: Path, lemma: Lemma, settings: CoqSettings | None = None, *, data: bool = False
    ) -> CoqTheorem:
        """Return the theorem of a lemma of a document that replaces the content of the file at `path`."""
        theorem = cls.__new__(cls)
        theorem._set(document, path, lemma, settings, data)
        return theorem

    @classmethod
    def from_text(
        cls,
        prelude: str,
        statement: str,
        name: str = "theorem",
        settings: CoqSettings | None = None,
        *,
        data: bool = False,
    ) -> CoqTheorem:
        """Return a theorem without a file: what comes before it, and its statement, as a sentence (`Lemma foo : ... .`)
        or as a proposition.
        """
        sentence = statement.strip()
        stated = Document(f"{sentence}\nAdmitted.").lemmas if sentence.endswith(".") else ()
        if not stated:
            sentence = f"Theorem {name} : {sentence.removesuffix('.')}."
        theorem = cls.__new__(cls)
        document = Document(f"{prelude.rstrip()}\n{sentence}\nProof.\nAdmitted.\n".lstrip())
        theorem._set(document, None, document.lemmas[-1], settings, data)
        return theorem

    def _set(
        self, document: Document, path: Path | None, lemma: Lemma, settings: CoqSettings | None, data: bool
    ) -> None:
        self.path = path
        self.examples: tuple[Example, ...] = ()
        """Goals of finished proofs with the tactics used there."""
        self.settings = settings or CoqSettings()
        self.document = document
        self.digest = digest_of(document.text)
        self.load_path = LoadPath() if path is None else LoadPath.of(path)
        self.lemma = lemma
        self.name = lemma.qualified
        self.data = data
        self._using: dict[str, str] = {}  # the argument of `Proof using` before a script
        self._accepted: set[str] = set()  # digests of texts that `coqc` has accepted

    @property
    def statement(self) -> str:
        """The sentence that states the lemma, on one line."""
        return " ".join(self.lemma.statement.text.split())

    @cached_property
    def opening(self) -> Opening:
        """Everything before the proof."""
        top = None if self.path is None else str(self.path)
        return Opening(
            self.document.before(self.lemma),
            self.lemma.statement,
            self._proof_sentence,
            self.document.name,
            self.load_path,
            top,
        )

    def open(self) -> CoqProver:
        """Return a prover that has run the file up to the lemma; raise ConfigError if the lemma is data, unless `data`
        is set.
        """
        prover = CoqProver(self.opening, self.settings)
        try:
            self._refuse_data(prover)
        except BaseException:
            prover.close()
            raise
        return prover

    def reopen(self, prover: Prover) -> bool:
        """Open this lemma in a prover that has another one open, and return whether that was possible."""
        if not isinstance(prover, CoqProver) or prover.settings != self.settings:
            return False
        prover.move(self.opening)
        self._refuse_data(prover)
        return True

    def _refuse_data(self, prover: CoqProver) -> None:
        if not self.data and not prover.is_proposition():
            raise ConfigError(
                f"{self.name} is data, not a proposition: any value of its type would count as a "
                "proof, whatever the file intends (--include-data, or data=True, allows that)"
            )

    def provider(self, prover: Prover) -> Provider:
        """Return a provider that suggests by the form of a goal and by the lemmas in scope where this one is stated."""
        if not isinstance(prover, CoqProver):
            raise ConfigError(f"the provider needs a CoqProver, not a {type(prover).__name__}")
        return provider_for(prover, examples=self.examples)

    def learn(
        self, files: Iterable[Path | str], folder: Path | str | None = None, warn: Callable[[str], None] | None = None
    ) -> int:
        """Use the finished proofs of files as examples; of its own file those above the lemma.

        Return how many steps they have.

        Files are run once: the records are kept in `folder` (default: in Treetop's cache). `warn` is called for a file
        with an error; without it, the error is raised.
        """
        place = cache_folder() / "proofs" if folder is None else Path(folder)
        for file in files:
            own = self.path is not None and Path(file).resolve() == self.path
            self.examples += tuple(
                recorded(file, place, until=self.name if own else None, settings=self.settings, warn=warn)
            )
        return len(self.examples)

    def retrace(self, prover: Prover, proof: Proof) -> Proof:
        """Return the proof as it runs from the lemma on: parts that were found elsewhere may use other names of
        hypotheses.

        A tactic may take much longer than in the search, so that one that was just within its limit there is not lost
        here.
        """
        return retrace(prover, proof, self.settings.check_seconds)

    def script(self, proof: Proof) -> str:
        """Return the tactics line by line, without `Proof` and `Qed`."""
        return write_script(proof)

    def with_script(self, script: str) -> tuple[str, int]:
        """Return the whole file with a script in place of the old proof, and the offset at which the new proof ends.

        If the lemma is in a section, `Proof using` is added if it is needed to keep the lemma's arguments.
        """
        if self._needs_using and script not in self._using:
            self.verify_script(script)
        return self._placed(script, self._using.get(script, ""))

    def _placed(self, script: str, using: str) -> tuple[str, int]:
        lemma, text = self.lemma, self.document.text
        newline = "\r\n" if "\r\n" in text else "\n"
        first = lemma.proof[0] if lemma.proof else None
        keeps = first is not None and _begins_proof(first)
        margin = re.match(r"[ \t]*", text[text.rfind("\n", 0, lemma.statement.begin) + 1 :])
        indent = margin.group() if margin else ""
        opened = first.text if first is not None and keeps else "Proof."
        if using:
            opened = opened.replace("Proof", f"Proof using {using}", 1)
        before = (
            f"{text[: first.begin]}{opened}"
            if first is not None and keeps
            else f"{text[: lemma.statement.end]}{newline}{indent}{opened}"
        )
        lines = [
            *(f"{indent}  {line}" for line in script.splitlines()),
            f"{indent}{'Defined' if lemma.ending == 'Defined' else 'Qed'}.",
        ]
        new = before + "".join(f"{newline}{line}" for line in lines)
        return new + text[lemma.end :], len(new)

    def compile(self, text: str, ask: Sequence[tuple[int, str]] = ()) -> Compiled:
        """Compile a text in the place of the file."""
        name = "Theorem.v" if self.path is None else self.path.name
        logical = None if self.path is None else self.load_path.logical_folder(self.path)
        compiled = compile_text(text, name, self.load_path, self.settings, logical=logical, ask=ask)
        if compiled.accepted:
            self._accepted.add(digest_of(text))
        return compiled

    def has_accepted(self, text: str) -> bool:
        """Return whether `coqc` has accepted exactly this text in the place of the file."""
        return digest_of(text) in self._accepted

    def check_compiles(self) -> None:
        """Raise ProofFileError unless the file compiles as it is."""
        compiled = self.compile(self.document.text)
        if not compiled.accepted:
            where = f"{self.document.name}, line {compiled.line}" if compiled.line else self.document.name
            raise ProofFileError(f"{where}: {compiled.message}")

    def verify(self, proof: Proof) -> Verdict:
        """Compile the whole file with the proof in it, and collect the assumptions of the lemma."""
        return self.verify_script(self.script(proof))

    def verify_script(self, script: str) -> Verdict:
        """Verify a proof that is given as a script."""
        checker = f"coqc {coq_version()}"
        try:
            command = command_in(script)
        except ProverError as error:
            return Verdict(False, f"the script cannot be read: {error}", checker=checker)
        if word := giving_up(script):
            return Verdict(False, f"the script contains {word}, which proves nothing", checker=checker)
        if command:
            return Verdict(False, f"the script contains a command, not a tactic: {command}", checker=checker)
        trial = self._try(script, "")
        if self._compared and not (trial.compiled.accepted and trial.closed == self._closed):
            other = self._try(script, "All")
            if other.compiled.accepted and (other.closed == self._closed or not trial.compiled.accepted):
                trial = other
        if not trial.compiled.accepted:
            return Verdict(False, self._reason(trial), checker=checker)
        self._using[script] = trial.using
        try:
            assumptions = read_assumptions(trial.compiled.printed[0])
        except ProverError as error:
            return Verdict(False, str(error), checker=checker)
        for name in assumptions:
            if name in (self.lemma.name, self.name) or name.rpartition(".")[2] == _ADMITTING:
                return Verdict(False, f"the proof is incomplete: it depends on {name}", assumptions, checker)
        return Verdict(True, "", assumptions, checker)

    def _try(self, script: str, using: str) -> _Trial:
        """Compile the file with a script, and query the lemma's assumptions and its statement after its sections."""
        text, end = self._placed(script, using)
        ask = [(end, f"Print Assumptions {self.lemma.name}.")]
        ended = self.document.after_sections(self.lemma)
        if self._compared and ended is not None:
            ask.append((ended + len(text) - len(self.document.text), f"Check @{self.lemma.name}."))
        compiled = self.compile(text, ask)
        return _Trial(using, text, end, compiled, compiled.printed[-1])

    def _reason(self, trial: _Trial) -> str:
        """Return why a file with a proof does not compile: because of the proof, or of what is below it."""
        compiled = trial.compiled
        if compiled.line <= trial.text.count("\n", 0, trial.end) + 1:
            return (
                f"line {compiled.line} of the file with the proof: {compiled.message}"
                if compiled.line
                else compiled.message
            )
        line = compiled.line - trial.text.count("\n") + self.document.text.count("\n")
        return (
            f"the proof is accepted, but the rest of the file does not compile with it, from line {line} on: "
            f"{compiled.message}"
        )

    @property
    def _needs_using(self) -> bool:
        """Whether the lemma's arguments after its section depend on the proof: `Admitted` takes all variables of the
        section, `Qed` those in use.
        """
        return bool(self.lemma.sections) and self.lemma.kind != "Let" and not _USES.match(self._proof_sentence)

    @property
    def _compared(self) -> bool:
        """Whether the statement of the lemma after its section can be compared with the one before the proof."""
        return self._needs_using and bool(self._closed)

    @cached_property
    def _closed(self) -> str:
        """The statement of the lemma, with the old proof, after the end of its sections; empty if Coq does not print
        it.
        """
        ended = self.document.after_sections(self.lemma)
        return (
            ""
            if ended is None
            else self.compile(self.document.text, [(ended, f"Check @{self.lemma.name}.")]).printed[0]
        )

    def facts(self) -> dict[str, Any]:
        """Return what a report contains about the lemma and Coq."""
        return {
            "prover": f"Coq {coq_version()}",
            "file": None if self.path is None else str(self.path),
            "digest": self.digest,
            "lemma": self.name,
            "line": self.lemma.line,
            "statement": self.statement,
            "folder": None if self.load_path.folder is None else str(self.load_path.folder),
            "options": list(self.load_path.options),
            "seconds_per_tactic": self.settings.seconds,
            "memory_mb": self.settings.memory_mb,
            "examples": len(self.examples),
        }

    @property
    def _proof_sentence(self) -> str:
        first = self.lemma.proof[0] if self.lemma.proof else None
        return without_comments(first.text) if first is not None and _begins_proof(first) else "Proof."


def _begins_proof(sentence: Sentence) -> bool:
    return _BEGINS_PROOF.match(without_comments(sentence.text)) is not None
