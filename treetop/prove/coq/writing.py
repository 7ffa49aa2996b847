"""Put proofs into a user's file: whole or not at all, only where it still is the file that was read, and only what `coqc` accepts."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from treetop.errors import ConfigError, ProverError, SaveError
from treetop.prove.coq.documents import Document, Lemma
from treetop.prove.coq.settings import CoqSettings
from treetop.prove.coq.theorem import CoqTheorem, digest_of, read_source


class ProofFile:
    """A file of Coq whose lemmas are proved one after the other.

    A proof that is added becomes part of `document`, from which the next lemma is read, so later lemmas rest on it as on any other. With `write` it
    is also written to the file at once, or with `copy` to a new file: a process that is killed loses no proof that was added before. The first write
    keeps the old file as `File.v.bak`, `File.v.bak1`, ...
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
            raise ConfigError("a proof is written to the file or to a copy of it, not to both")
        if copy is not None and copy.exists():
            raise ConfigError(f"{copy} exists already: a copy is written to a new file")
        if write:
            check_writable(self.path)

    def theorem(self, lemma: Lemma) -> CoqTheorem:
        """Return the theorem of a lemma of the present document."""
        return CoqTheorem.of_document(self.document, self.path, lemma, self._settings, data=self._data)

    def again(self, theorem: CoqTheorem) -> CoqTheorem:
        """Return a theorem of this file as it is to be proved now, with the proofs that were added since it was read."""
        number = theorem.document.lemmas.index(theorem.lemma)
        new = self.theorem(self.document.lemmas[number])
        new.examples = theorem.examples
        return new

    def add(self, theorem: CoqTheorem, script: str) -> None:
        """Put a proof of a lemma of the present document into it, and write it where that is wanted."""
        text = with_proofs([(theorem, script)])
        _check_accepted(theorem, text)
        if self._write:
            backup = write_text(self.path, self._written, text, keep=self.backup is None)
            self.backup = self.backup or backup
        elif self.copy is not None:
            _write_copy(self.copy, self.path, None if self._written == self._original else self._written, text)
        self.document, self._written = Document(text, self.document.name), text


def write_proof(theorem: CoqTheorem, script: str, *, copy: Path | None = None) -> Path:
    """Put one proof into its file, or into a copy. Gives the path of the backup, or that of the copy."""
    return write_proofs([(theorem, script)], copy=copy)


def write_proofs(proofs: Sequence[tuple[CoqTheorem, str]], *, copy: Path | None = None) -> Path:
    """Put proofs of lemmas of one file into it, all at once. Without a copy the old file is kept beside it as `File.v.bak`, `File.v.bak1`, ...

    A theorem must have been read from the file as it is now; where the file has changed since, nothing is touched.
    """
    if not proofs:
        raise ConfigError("there is no proof to write")
    first = proofs[0][0]
    path = first.path
    if path is None or any(theorem.path != path for theorem, _ in proofs):
        raise ConfigError("proofs that are written together belong to lemmas of one file")
    if copy is not None and copy.exists():
        raise ConfigError(f"{copy} exists already: a copy is written to a new file")
    if copy is None:
        check_writable(path)
    old = first.document.text
    if any(theorem.digest != first.digest for theorem, _ in proofs):
        raise ProverError(f"{path} changed during the search; nothing was written")
    _check_unchanged(path, old)
    text = with_proofs(proofs)
    _check_accepted(first, text)
    if copy is not None:
        _write_copy(copy, path, None, text)
        return copy
    backup = write_text(path, old, text, keep=True)
    assert backup is not None
    return backup


def with_proofs(proofs: Sequence[tuple[CoqTheorem, str]]) -> str:
    """The file with all proofs in it: from the last lemma to the first, so that no offset moves before it is used."""
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
        raise ProverError(f"{old.name} would not have the same lemmas with the new proof and was left alone")
    return text


def check_writable(path: Path) -> None:
    """Raise a SaveError where a file could not be replaced by a new version, or should not be: it is marked as read-only."""
    try:
        for place in (path, path.parent):
            if not os.access(place, os.W_OK) or not place.stat().st_mode & 0o222:
                raise SaveError(f"{path} cannot be written: {'it' if place == path else 'its folder'} is read-only")
    except OSError as error:
        raise SaveError(f"{path} cannot be written: {error.strerror or error}") from error


def write_text(path: Path, old: str, new: str, *, keep: bool) -> Path | None:
    """Replace the text of a file, which must still be the old one. Gives the path of the backup, if the old text is to be kept."""
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
    """Write a copy; where there is an old one, it must be what we have written."""
    if old is not None:
        _check_unchanged(copy, old)
    try:
        _replace(copy, new, like=like)
    except OSError as error:
        raise ProverError(f"{copy} cannot be written: {error.strerror or error}") from error


def _check_accepted(theorem: CoqTheorem, text: str) -> None:
    if theorem.has_accepted(text):
        return
    told = theorem.compile(text)
    if not told.accepted:
        raise ProverError(
            f"{theorem.document.name} would not compile with the new proof and was left alone: line {told.line}: {told.message}"
        )


def _check_unchanged(path: Path, text: str) -> None:
    """Raise a ProverError where a file is not the one that was read."""
    try:
        content = path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise ProverError(f"{path} cannot be read any more: {error.strerror or error}") from error
    if digest_of(content) != digest_of(text):
        raise ProverError(f"{path} changed during the search; nothing was written")


def _keep(path: Path, text: str) -> Path:
    """Make a backup under a name that nobody has. It appears whole or not at all."""
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
    """Write beside the file and move in place, with the rights that another file has."""
    temporary = _temporary(path, text, like=like)
    try:
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _temporary(path: Path, text: str, *, like: Path) -> Path:
    """Write a new file beside a path, whole and on the disk, with the owner and the rights of another file."""
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
