"""Write proofs to a user's file: atomically, only if the file has not changed since it was read, and only what `coqc`
accepts.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from treetop.errors import ConfigError, ProofFileError, ProverError, SaveError
from treetop.prove.coq.documents import Document, Lemma
from treetop.prove.coq.recording import Example
from treetop.prove.coq.settings import CoqSettings
from treetop.prove.coq.theorem import CoqTheorem, digest_of, read_source
from treetop.prove.prover import Theorem


class ProofFile:
    """A Coq file whose lemmas are proved one after the other.

    A proof that is added becomes part of `document`, from which the next lemma is read, so later lemmas can use it.
    With `write` it is also written to the file at once, or with `copy` to a new file: if the process is killed, no
    added proof is lost. The first write keeps the old file as `File.v.bak`, `File.v.bak1`, ...
    """

    def __init__(
        self,
        path: Path | str,
        settings: CoqSettings | None = None,
        *,
        write: bool = False,
        copy: Path | None = None,
        data: bool = False,
    ) -> None:
        file = Path(path)
        self.document = Document(read_source(file).decode("utf-8", "surrogateescape"), str(file))
        self.path = file.resolve()
        self.copy = copy
        self.backup: Path | None = None
        self._write, self._settings, self._data = write, settings, data
        self._original = self._written = self.document.text
        if copy is not None and write:
            raise ConfigError("write and copy exclude each other: a proof is written to the file or to a copy")
        if copy is not None and copy.exists():
            raise ConfigError(f"{copy} exists already: a copy is written to a new file")
        if write:
            check_writable(self.path)

    def names(self) -> tuple[str, ...]:
        """Return the names of all lemmas, in the order of the file."""
        return tuple(lemma.qualified for lemma in self.document.lemmas)

    @property
    def admitted(self) -> tuple[str, ...]:
        """The names of the lemmas that are admitted."""
        return tuple(lemma.qualified for lemma in self.document.admitted)

    @property
    def unnamed(self) -> tuple[tuple[str, str], ...]:
        """What is admitted and has no name to prove it by: a description with the line, and the reason."""
        return tuple((f"{one.what}, line {one.line}", one.reason) for one in self.document.unnamed)

    def theorem(self, name: str | None = None) -> CoqTheorem:
        """Return the theorem of a lemma of the present document."""
        if name is None:
            raise ConfigError(f"name the lemma of {self.document.name} that is to be proved")
        return self._theorem(self.document.lemma(name))

    def choose(self, names: Sequence[str], *, admitted: bool) -> list[Theorem]:
        """Return the theorems of these lemmas and, with `admitted`, of all admitted ones.

        They are in the order of the file, so that a proof can be used by the lemmas below it.
        """
        named = [self.document.lemma(name) for name in names]
        chosen = [lemma for lemma in self.document.lemmas if lemma in named or (admitted and lemma.admitted)]
        return [self._theorem(lemma) for lemma in chosen]

    def check(self) -> None:
        """Raise a ProofFileError unless `coqc` accepts the file as it is."""
        if self.document.lemmas:
            self._theorem(self.document.lemmas[0]).check_compiles()

    def learn(self, theorems: Sequence[Theorem], paths: Sequence[Path], warn: Callable[[str], None]) -> None:
        """Use the finished proofs of other files, and of all files in folders, as examples for theorems of this file.

        A file with an error is used up to the error, and `warn` is called with a message.
        """
        files = [file for path in paths for file in (sorted(path.rglob("*.v")) if path.is_dir() else [path])]
        if not files:
            raise ConfigError(f"there is no Coq file in {', '.join(map(str, paths))}")
        faults: dict[str, None] = {}
        read: dict[Path, tuple[Example, ...]] = {}
        for theorem in map(_coq_theorem, theorems):
            for file in files:
                before = len(theorem.examples)
                if file in read:
                    theorem.examples += read[file]
                    continue
                theorem.learn([file], warn=lambda text: faults.update({text: None}))
                if file.resolve() != self.path:  # of the file itself, only the proofs above the lemma are used
                    read[file] = theorem.examples[before:]
        if faults and not any(_coq_theorem(theorem).examples for theorem in theorems):
            raise ProofFileError(f"nothing can be learned: {'; '.join(faults)}")
        for fault in faults:
            warn(fault)

    def again(self, theorem: Theorem) -> CoqTheorem:
        """Return a theorem of this file with the proofs that were added since it was read."""
        old = _coq_theorem(theorem)
        new = self._theorem(self.document.lemmas[old.document.lemmas.index(old.lemma)])
        new.examples = old.examples
        return new

    def add(self, theorem: Theorem, script: str) -> None:
        """Add a proof of a lemma of the present document, and write the file if that was requested."""
        theorem = _coq_theorem(theorem)
        if theorem.digest != digest_of(self.document.text):
            raise ConfigError(f"{theorem.name} was read before other proofs were added: use `again` to read it anew")
        text = with_proofs([(theorem, script)])
        _check_accepted(theorem, text)
        if self._write:
            backup = write_text(self.path, self._written, text, keep=self.backup is None)
            self.backup = self.backup or backup
        elif self.copy is not None:
            _write_copy(self.copy, self.path, None if self._written == self._original else self._written, text)
        self.document, self._written = Document(text, self.document.name), text

    def _theorem(self, lemma: Lemma) -> CoqTheorem:
        return CoqTheorem.of_document(self.document, self.path, lemma, self._settings, data=self._data)


def _coq_theorem(theorem: Theorem) -> CoqTheorem:
    if not isinstance(theorem, CoqTheorem):
        raise ConfigError(f"the theorem must be a lemma of a Coq file, not a {type(theorem).__name__}")
    return theorem


def with_proofs(proofs: Sequence[tuple[CoqTheorem, str]]) -> str:
    """Return the file with all proofs in it: from the last lemma to the first, so that offsets stay valid."""
    ordered = sorted((theorem for theorem, _ in proofs), key=lambda theorem: theorem.lemma.end, reverse=True)
    scripts = {theorem.lemma.end: script for theorem, script in proofs}
    if len(scripts) < len(proofs):
        raise ConfigError("there are two proofs of one lemma")
    old = ordered[0].document
    text = old.text
    for theorem in ordered:
        changed, end = theorem.with_script(scripts[theorem.lemma.end])
        text = changed[:end] + text[theorem.lemma.end :]
    if [lemma.qualified for lemma in Document(text).lemmas] != [lemma.qualified for lemma in old.lemmas]:
        raise ProverError(f"{old.name} was not changed: it would not have the same lemmas with the new proof")
    return text


def check_writable(path: Path) -> None:
    """Raise SaveError if a file cannot be replaced by a new version, or is marked as read-only."""
    try:
        for place in (path, path.parent):
            if not os.access(place, os.W_OK) or not place.stat().st_mode & 0o222:
                raise SaveError(f"{path} cannot be written: {'it' if place == path else 'its folder'} is read-only")
    except OSError as error:
        raise SaveError(f"{path} cannot be written: {error.strerror or error}") from error


def write_text(path: Path, old: str, new: str, *, keep: bool) -> Path | None:
    """Replace the text of a file, which must still be the old one.

    Return the path of the backup, if the old text is kept.
    """
    _check_unchanged(path, old)
    backup = None
    try:
        if keep:
            backup = _keep(path, old)
        try:
            _check_unchanged(path, old)
            _replace(path, new, like=path)
        except BaseException:
            if backup is not None:
                backup.unlink()
            raise
    except OSError as error:
        raise ProverError(f"{path} cannot be written: {error.strerror or error}") from error
    return backup


def _write_copy(copy: Path, like: Path, old: str | None, new: str) -> None:
    """Write a copy; if there is an old one, it must be what was written before."""
    if old is not None:
        _check_unchanged(copy, old)
    try:
        _replace(copy, new, like=like)
    except OSError as error:
        raise ProverError(f"{copy} cannot be written: {error.strerror or error}") from error


def _check_accepted(theorem: CoqTheorem, text: str) -> None:
    if theorem.has_accepted(text):
        return
    compiled = theorem.compile(text)
    if not compiled.accepted:
        raise ProverError(
            f"{theorem.document.name} was not changed: it would not compile with the new proof: "
            f"line {compiled.line}: {compiled.message}"
        )


def _check_unchanged(path: Path, text: str) -> None:
    """Raise ProverError if a file is not the one that was read."""
    try:
        content = path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise ProverError(f"{path} cannot be read any more: {error.strerror or error}") from error
    if digest_of(content) != digest_of(text):
        raise ProverError(f"{path} changed during the search; nothing was written")


def _keep(path: Path, text: str) -> Path:
    """Write a backup under an unused name, atomically."""
    temporary = _temporary(path, text, like=path)
    try:
        number = 0
        while True:
            backup = path.with_name(f"{path.name}.bak{number or ''}")
            try:
                os.link(temporary, backup)
            except FileExistsError:
                number += 1
            except OSError:  # a file system without hard links
                if not backup.exists():
                    return temporary.rename(backup)
                number += 1
            else:
                return backup
    finally:
        temporary.unlink(missing_ok=True)


def _replace(path: Path, text: str, *, like: Path) -> None:
    """Write a new file beside the old one and move it in place, with the permissions of another file."""
    temporary = _temporary(path, text, like=like)
    try:
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _temporary(path: Path, text: str, *, like: Path) -> Path:
    """Write a new file beside a path, complete and synchronised, with the owner and the permissions of another file."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
            file.flush()
            os.fsync(file.fileno())
        status = like.stat()
        with contextlib.suppress(PermissionError):
            os.chown(temporary, status.st_uid, status.st_gid)
        temporary.chmod(status.st_mode & 0o7777)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary
