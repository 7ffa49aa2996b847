"""Put proofs into a user's file: whole or not at all, only where it still is the file that was read, and only what `coqc` accepts."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from treetop.errors import ConfigError, ProverError
from treetop.prove.coq.documents import Document
from treetop.prove.coq.theorem import CoqTheorem


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
    old = _unchanged(path, {theorem.digest for theorem, _ in proofs})
    text = with_proofs(proofs)
    told = first.compile(text)
    if not told.accepted:
        raise ProverError(f"{path.name} would not compile with the new proof and was left alone: line {told.line}: {told.message}")
    new = text.encode("utf-8", "surrogateescape")
    try:
        mode = path.stat().st_mode & 0o7777
        if copy is not None:
            _replace(copy, new, mode)
            return copy
        backup = _keep(path, old, mode)
        try:
            _unchanged(path, {first.digest})
            _replace(path, new, mode)
        except BaseException:
            backup.unlink()
            raise
    except OSError as error:
        raise ProverError(f"{copy or path} cannot be written: {error.strerror or error}") from error
    return backup


def with_proofs(proofs: Sequence[tuple[CoqTheorem, str]]) -> str:
    """The file with all proofs in it: from the last lemma to the first, so that no offset moves before it is used."""
    ordered = sorted((theorem for theorem, _ in proofs), key=lambda theorem: theorem.lemma.end, reverse=True)
    scripts = {theorem.name: script for theorem, script in proofs}
    if len(scripts) < len(proofs):
        raise ConfigError("there are two proofs of one lemma")
    text = ordered[0].document.text
    for theorem in ordered:
        changed, end = theorem.with_script(scripts[theorem.name])
        text = changed[:end] + text[theorem.lemma.end :]
    missing = {theorem.name for theorem, _ in proofs} - {lemma.qualified for lemma in Document(text).lemmas}
    if missing:
        raise ProverError(f"the new text has lost {', '.join(sorted(missing))}")
    return text


def _unchanged(path: Path, digests: set[str]) -> bytes:
    """The content of a file that must be the one which was read."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ProverError(f"{path} cannot be read any more: {error.strerror or error}") from error
    if digests != {hashlib.sha256(content).hexdigest()}:
        raise ProverError(f"{path} changed during the search; nothing was written")
    return content


def _keep(path: Path, content: bytes, mode: int) -> Path:
    """A backup under a name that nobody has."""
    number = 0
    while True:
        backup = path.with_name(f"{path.name}.bak{number or ''}")
        try:
            handle = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            number += 1
            continue
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        return backup


def _replace(path: Path, content: bytes, mode: int) -> None:
    """Write beside the file and move in place, with the rights that the old one has."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
