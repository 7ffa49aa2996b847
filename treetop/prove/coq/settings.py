"""The settings of Coq: time and memory limits, and where it finds libraries."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from treetop import checks
from treetop.errors import ProofFileError

_PROJECT = "_CoqProject"


@dataclass(frozen=True)
class CoqSettings:
    """Limits on the resources of Coq."""

    seconds: float = 1.0
    """Seconds for one tactic, by default."""
    memory_mb: int = 4096
    """Megabytes for one Coq process."""
    start_seconds: float = 600.0
    """Seconds for everything in the file before the lemma."""
    check_seconds: float = 600.0
    """Seconds for `coqc` on a whole file."""

    def __post_init__(self) -> None:
        for name in ("seconds", "start_seconds", "check_seconds"):
            checks.number(name, getattr(self, name), above=0)
        checks.whole("memory_mb", self.memory_mb, 256)


@dataclass(frozen=True)
class LoadPath:
    """Where Coq finds libraries: the options of `coqc` in a project."""

    folder: Path | None = None
    """The folder in which `coqc` would run: libraries in it, not deeper, are found without an option. None: no folder.
    """
    options: tuple[str, ...] = ()
    """`-Q`, `-R` and `-I` with full paths, and all `-arg` options."""

    @classmethod
    def of(cls, file: Path) -> LoadPath:
        """Return the load path of a file: from the nearest `_CoqProject` in its folder or above; without one, the
        file's folder only.
        """
        for folder in file.resolve().parents:
            project = folder / _PROJECT
            if project.is_file():
                return cls(folder, _read_project(project))
        return cls(file.resolve().parent)

    def furnish(self, workplace: Path) -> None:
        """Prepare an empty folder so that Coq runs in it as in `folder`.

        Files that it leaves there, such as the caches of `lia`, disturb nothing.
        """
        for file in [] if self.folder is None else self.folder.iterdir():
            if file.suffix in (".v", ".vo", ".vos"):
                (workplace / file.name).symlink_to(file)

    def logical_folder(self, file: Path) -> str | None:
        """Return the logical name of a file's folder: `Project.Lists`; None if no option binds it."""
        best: tuple[int, str] | None = None
        for option, folder, name in zip(self.options, self.options[1:], self.options[2:], strict=False):
            if option in ("-Q", "-R") and file.resolve().parent.is_relative_to(folder):
                inner = file.resolve().parent.relative_to(folder).parts
                if best is None or len(Path(folder).parts) > best[0]:
                    best = len(Path(folder).parts), ".".join(part for part in (name, *inner) if part)
        return best[1] if best else None


def _read_project(project: Path) -> tuple[str, ...]:
    try:
        lexer = shlex.shlex(project.read_text(encoding="utf-8"), posix=True, punctuation_chars="")
        lexer.whitespace_split = True
        return _read_options(project, list(lexer))
    except (OSError, ValueError) as error:  # ValueError: no UTF-8, an unclosed quotation, a null byte in a path
        raise ProofFileError(f"{project} cannot be read: {error}") from error


def _read_options(project: Path, words: list[str]) -> tuple[str, ...]:
    arity = {"-Q": 2, "-R": 2, "-I": 1, "-arg": 1}
    options: list[str] = []
    position = 0
    while position < len(words):
        word = words[position]
        taken = words[position + 1 : position + 1 + arity.get(word, 0)]
        if len(taken) < arity.get(word, 0):
            raise ProofFileError(f"{project}: {word} has no argument")
        if word == "-arg":
            options.extend(shlex.split(taken[0]))
        elif word in arity:
            options.extend([word, str((project.parent / taken[0]).resolve()), *taken[1:]])
        position += 1 + len(taken)
    return tuple(options)
