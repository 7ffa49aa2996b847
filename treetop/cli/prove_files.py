"""The work of `treetop prove`: the theorems in order, what is skipped and why, and where proofs are written."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from treetop.cli.common import FAILURE, FAINT, errors, say, say_json
from treetop.cli.match import INTERRUPTED
from treetop.cli.prove_display import Found, waiting
from treetop.errors import ConfigError, TreetopError

if TYPE_CHECKING:
    from treetop.prove.abilities import WritableFile
    from treetop.prove.prover import Theorem

WHAT = "A formula ('p & q -> q & p'), a TPTP problem (File.p), or a Coq file (File.v)."


@dataclass(frozen=True)
class Skipped:
    """Something that was requested and cannot be searched."""

    name: str
    reason: str

    def to_dict(self) -> dict[str, str]:
        """Return plain values, as `--json` prints them."""
        return {"theorem": self.name, "reason": self.reason}


@dataclass(frozen=True)
class Work:
    """The theorems to prove, in order."""

    theorems: list[Theorem]
    skipped: tuple[Skipped, ...] = ()
    file: WritableFile | None = None
    """The file that the lemmas belong to."""
    written: bool = False
    """Whether proofs are written."""


def find_work(
    what: str | None, lemmas: list[str], *, all_admitted: bool, mode: str, write: bool, copy: Path | None, data: bool
) -> Work:  # fmt: skip
    """Return the work that the arguments describe. A Coq file must compile as it is."""
    from treetop.prove.abilities import WritableFile
    from treetop.prove.plugins import open_file, plugin_for
    from treetop.prove.theorems import find_theorem

    if what is None:
        raise ConfigError(f"nothing to prove: give {WHAT[0].lower()}{WHAT[1:]}")
    if _is_folder(what):
        raise ConfigError(f"{what} is a folder: --suite {what} runs all problems in it")
    plugin = plugin_for(what)
    if plugin is None:
        _refuse_file_options(what, lemmas, all_admitted, write, copy, data)
        return Work([find_theorem(what, mode=mode)])
    if not Path(what).is_file():
        raise ConfigError(f"there is no file {what}")
    options = {"mode": mode, "write": write, "copy": copy, "data": data}
    file = open_file(what, **{name: value for name, value in options.items() if name in plugin.options})
    if not isinstance(file, WritableFile):
        _refuse_file_options(what, lemmas, all_admitted, write, copy, data)
        return Work([file.theorem()])
    theorems = file.choose(lemmas, admitted=all_admitted)
    skipped = tuple(Skipped(*one) for one in file.unnamed) if all_admitted else ()
    if not theorems and not skipped:
        if all_admitted:
            raise ConfigError(f"{what} has no admitted lemma")
        admitted = ", ".join(file.admitted) or "none"
        raise ConfigError(f"choose the lemmas of {what} by --lemma NAME or --all-admitted; admitted lemmas: {admitted}")
    if theorems:
        with waiting(f"compiling {what}"):
            file.check()
    return Work(theorems, skipped, file, write or copy is not None)


def _refuse_file_options(what: str, *given: object) -> None:
    if any(given):
        options = "--lemma, --all-admitted, --write, --copy and --include-data"
        raise ConfigError(f"{options} are for Coq files, whose names end with .v, not for {what!r}")


def learn_from(paths: list[Path], work: Work) -> None:
    """Use the finished proofs of files and folders as examples.

    A file with an error is used up to the error, with a warning.
    """
    if not paths:
        return
    if work.file is None:
        raise ConfigError("--learn is for Coq files")
    with waiting("reading finished proofs"):
        work.file.learn(
            work.theorems, paths, lambda text: errors().print(f"warning: {text}", style=FAINT, soft_wrap=True)
        )


def _is_folder(what: str) -> bool:
    try:
        return Path(what).is_dir()
    except OSError:  # a formula may be longer than a file name may be
        return False


@dataclass
class Run:
    """Theorems that are searched one after the other, and the results. Each proof is written as soon as it is found."""

    as_json: bool
    work: Work = field(default_factory=lambda: Work([]))
    found: list[Found] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    """The names of the lemmas whose proofs were written."""
    failure: TreetopError | None = None
    """Why writing failed."""
    interrupted: bool = False

    @property
    def asked(self) -> int:
        """The number of theorems."""
        return max(1, len(self.work.theorems) + len(self.work.skipped))

    def begin(self, work: Work) -> None:
        """Set the work, and report what is skipped."""
        self.work = work
        for one in work.skipped:
            self._skip(one)

    def treat(self, theorem: Theorem, search: Callable[[Theorem], Found]) -> bool:
        """Search for a proof of the next theorem, and return whether to continue."""
        file = self.work.file
        if file is not None:
            theorem = file.again(theorem)
        try:
            found = search(theorem)
        except TreetopError as error:
            if self.asked == 1:
                raise
            self._skip(Skipped(theorem.name, str(error)))
            return True
        self.found.append(found)
        if not self.as_json:
            found.show()
        if file is not None and found.result.proved:
            try:
                file.add(theorem, found.result.script)
            except TreetopError as error:
                self.failure = error
                return False
            self.added.append(theorem.name)
        return not found.result.interrupted

    def finish(self) -> None:
        """Report the results, even those that could not be written, and exit with the matching code."""
        interrupted = self.interrupted or any(one.result.interrupted for one in self.found)
        if not self.as_json:
            self._report()
        elif self.found or self.skipped:
            say_json(self._to_dict())
        if self.failure is not None:
            raise self.failure
        if interrupted:
            errors().print("interrupted", style=FAINT)
            raise typer.Exit(INTERRUPTED)
        if self.skipped or not all(one.result.proved for one in self.found):
            raise typer.Exit(FAILURE)

    def _skip(self, one: Skipped) -> None:
        self.skipped.append(one)
        if not self.as_json:
            say(f"{one.name}: skipped: {one.reason}\n")

    @property
    def _place(self) -> Path | None:
        """The backup or the copy, once something was written."""
        file = self.work.file
        if not self.work.written or not self.added or file is None:
            return None
        return file.copy if file.copy is not None else file.backup

    def _to_dict(self) -> dict[str, Any]:
        results = [one.to_dict() for one in self.found]
        place = {"written": None if self._place is None else os.fspath(self._place)} if self.work.written else {}
        if self.asked == 1 and results:
            return {**results[0], **place}
        proved = sum(one.result.proved for one in self.found)
        return {
            "theorems": results,
            "skipped": [one.to_dict() for one in self.skipped],
            "proved": proved,
            "asked": self.asked,
            **place,
        }

    def _report(self) -> None:
        """Report how many theorems were proved, and where the proofs were written."""
        proved = sum(one.result.proved for one in self.found)
        if self.asked > 1:
            left = ", ".join(one.theorem.name for one in self.found if not one.result.proved)
            untried = self.asked - len(self.found) - len(self.skipped)
            parts = [
                f"{proved:,} of {self.asked:,} proved",
                f"not proved: {left}" if left else "",
                f"not tried: {untried:,}" if untried else "",
                f"skipped: {len(self.skipped):,}" if self.skipped else "",
            ]
            say("; ".join(part for part in parts if part))
        if self._place is not None:
            into = (
                f", into {self._place}"
                if self.work.file is not None and self.work.file.copy is not None
                else f"; the old file is {self._place}"
            )
            say(f"written: {', '.join(self.added)}{into}")
        elif self.work.written and not proved:
            say("nothing was written")
