"""A lemma in a file of Coq, or one given as text, to be proved: what a search opens, and what `coqc` judges in the end."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from treetop.compiler.cache import cache_folder
from treetop.errors import ConfigError, ProofFileError, ProverError
from treetop.prove.coq.checker import Compiled, compile_text, coq_version, read_assumptions
from treetop.prove.coq.documents import Document, Lemma
from treetop.prove.coq.prover import CoqProver, Opening
from treetop.prove.coq.recording import Example, recorded
from treetop.prove.coq.retracing import retrace
from treetop.prove.coq.scripts import command_in, giving_up, write_script
from treetop.prove.coq.settings import CoqSettings, LoadPath
from treetop.prove.coq.sources import provider_for
from treetop.prove.prover import Proof, Prover, Provider, Verdict

_BEGINS_PROOF = re.compile(r"Proof(?:\s+(?:using|with)\b.*)?\s*\.\Z", re.DOTALL)
_ADMITTING = "proof_admitted"  # the axiom behind the tactic admit of old


class CoqTheorem:
    """A lemma that `open` puts before a prover. The file is read once, here; `digest` tells whether it has changed since."""

    def __init__(self, path: Path | str, lemma: str, settings: CoqSettings | None = None) -> None:
        file = Path(path)
        try:
            content = file.read_bytes()
        except OSError as error:
            raise ProofFileError(f"{file} cannot be read: {error.strerror or error}") from error
        if file.suffix != ".v":
            raise ConfigError(f"a file of Coq has a name that ends with .v, not {file.name!r}")
        self._set(content, file.resolve(), str(file), lemma, settings)

    @classmethod
    def from_text(cls, prelude: str, statement: str, name: str = "theorem", settings: CoqSettings | None = None) -> CoqTheorem:
        """A theorem without a file: what comes before it, and its statement, as a sentence (`Lemma foo : ... .`) or the proposition alone."""
        sentence = statement.strip()
        stated = Document(f"{sentence}\nAdmitted.").lemmas if sentence.endswith(".") else ()
        if not stated:
            sentence = f"Theorem {name} : {sentence.removesuffix('.')}."
        theorem = cls.__new__(cls)
        content = f"{prelude.rstrip()}\n{sentence}\nProof.\nAdmitted.\n".lstrip()
        theorem._set(content.encode("utf-8", "surrogateescape"), None, "the text", None, settings)
        return theorem

    def _set(self, content: bytes, path: Path | None, source: str, lemma: str | None, settings: CoqSettings | None) -> None:
        self.path = path
        self._examples: tuple[Example, ...] = ()
        self.settings = settings or CoqSettings()
        self.digest = hashlib.sha256(content).hexdigest()
        self.load_path = LoadPath() if path is None else LoadPath.of(path)
        self.document = Document(content.decode("utf-8", "surrogateescape"), source)
        self.lemma: Lemma = self.document.lemmas[-1] if lemma is None else self.document.lemma(lemma)
        self.name = self.lemma.qualified

    @property
    def statement(self) -> str:
        """The sentence that states it, on one line."""
        return " ".join(self.lemma.statement.text.split())

    @cached_property
    def opening(self) -> Opening:
        """All that stands before the proof."""
        top = None if self.path is None else str(self.path)
        return Opening(self.document.before(self.lemma), self.lemma.statement, self._proof_sentence, self.document.name, self.load_path, top)

    def open(self) -> CoqProver:
        """A prover that has run the file up to the lemma."""
        return CoqProver(self.opening, self.settings)

    def provider(self, prover: Prover) -> Provider:
        """Suggests by the form of a goal and by the lemmas that are in scope where this one is stated."""
        if not isinstance(prover, CoqProver):
            raise ConfigError(f"tactics of Coq are suggested with the help of Coq, not of {type(prover).__name__}")
        return provider_for(prover, examples=self._examples)

    def learn(self, files: Iterable[Path | str], folder: Path | str | None = None) -> int:
        """Take the finished proofs of files as examples of what to do; of its own file those above the lemma. Gives how many steps they have.

        Files are run once: what was seen is kept in `folder`, which is a part of Treetop's cache unless another one is named.
        """
        place = cache_folder() / "proofs" if folder is None else Path(folder)
        for file in files:
            own = self.path is not None and Path(file).resolve() == self.path
            self._examples += tuple(recorded(file, place, until=self.name if own else None, settings=self.settings))
        return len(self._examples)

    def retrace(self, prover: CoqProver, proof: Proof) -> Proof:
        """The proof as it runs from the lemma on: parts that were found elsewhere may call a hypothesis by another name."""
        return retrace(prover, proof)

    def script(self, proof: Proof) -> str:
        """The tactics line by line, without `Proof` and `Qed`."""
        return write_script(proof)

    def with_script(self, script: str) -> tuple[str, int]:
        """The whole file with a script in place of the old proof, and the offset at which the new proof ends."""
        lemma, text = self.lemma, self.document.text
        newline = "\r\n" if "\r\n" in text else "\n"
        first = lemma.proof[0] if lemma.proof else None
        keeps = first is not None and _BEGINS_PROOF.match(first.text)
        margin = re.match(r"[ \t]*", text[text.rfind("\n", 0, lemma.statement.begin) + 1 :])
        indent = margin.group() if margin else ""
        before = text[: first.end] if first is not None and keeps else f"{text[: lemma.statement.end]}{newline}{indent}Proof."
        lines = [*(f"{indent}  {line}" for line in script.splitlines()), f"{indent}{'Defined' if lemma.ending == 'Defined' else 'Qed'}."]
        new = before + "".join(f"{newline}{line}" for line in lines)
        return new + text[lemma.end :], len(new)

    def compile(self, text: str, ask: tuple[int, str] | None = None) -> Compiled:
        """Let `coqc` judge a text in the place of the file."""
        name = "Theorem.v" if self.path is None else self.path.name
        logical = None if self.path is None else self.load_path.logical_folder(self.path)
        return compile_text(text, name, self.load_path, self.settings, logical=logical, ask=ask)

    def check_compiles(self) -> None:
        """Make sure that the file is accepted as it is."""
        told = self.compile(self.document.text)
        if not told.accepted:
            where = f"{self.document.name}, line {told.line}" if told.line else self.document.name
            raise ProofFileError(f"{where}: {told.message}")

    def verify(self, proof: Proof) -> Verdict:
        """Compile the whole file with the proof in it, and see what the lemma then rests on."""
        return self.verify_script(self.script(proof))

    def verify_script(self, script: str) -> Verdict:
        """The same for a proof that is there as text."""
        checker = f"coqc {coq_version()}"
        try:
            command = command_in(script)
        except ProverError as error:
            return Verdict(False, f"the script cannot be read: {error}", checker=checker)
        if word := giving_up(script):
            return Verdict(False, f"the script says {word}, which proves nothing", checker=checker)
        if command:
            return Verdict(False, f"the script has a command where a tactic should be: {command}", checker=checker)
        text, end = self.with_script(script)
        told = self.compile(text, (end, f"Print Assumptions {self.lemma.name}."))
        if not told.accepted:
            where = f"line {told.line} of the file with the proof: " if told.line else ""
            return Verdict(False, f"{where}{told.message}", checker=checker)
        try:
            assumptions = read_assumptions(told.printed)
        except ProverError as error:
            return Verdict(False, str(error), checker=checker)
        for name in assumptions:
            if name in (self.lemma.name, self.name) or name.rpartition(".")[2] == _ADMITTING:
                return Verdict(False, f"the proof leaves something open: it rests on {name}", assumptions, checker)
        return Verdict(True, "", assumptions, checker)

    def facts(self) -> dict[str, Any]:
        """What a report says of the lemma and of Coq."""
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
            "examples": len(self._examples),
        }

    @property
    def _proof_sentence(self) -> str:
        first = self.lemma.proof[0].text if self.lemma.proof else ""
        return first if _BEGINS_PROOF.match(first) else "Proof."
