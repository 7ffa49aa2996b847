"""The judge: `coqc` on a whole file, in a folder of its own. It knows nothing of how a proof was found."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from treetop.errors import ProverError
from treetop.programs import signals_blocked
from treetop.prove.coq.process import find_program, limits
from treetop.prove.coq.scratch import Scratch
from treetop.prove.coq.settings import CoqSettings, LoadPath

_ERROR = re.compile(r'File "[^"]*", line (\d+), characters [\d-]+:\s*(Error:.*)', re.DOTALL)
_WORDS = re.compile(r"Error:.*", re.DOTALL)
_NAMED = re.compile(r"([\w'.]+)\s*:\s|([\w'.]+)\s*$")
_SECTIONS = ("Axioms:", "Theory:", "Section Variables:", "Transparent constants:", "Opaque constants:")
_CLOSED = "Closed under the global context"
_MESSAGE = 500  # characters


@dataclass(frozen=True)
class Compiled:
    """What `coqc` says of a file."""

    accepted: bool
    message: str = ""
    """Its error on one line."""
    line: int = 0
    """Where; 0 where it does not say."""
    printed: tuple[str, ...] = ()
    """The output of each command that was asked for; empty where Coq did not reach it."""


@cache
def coq_version() -> str:
    """The version of the `coqc` that is installed."""
    told = subprocess.run([find_program("coqc"), "--print-version"], capture_output=True, text=True, check=False)
    if told.returncode != 0 or not told.stdout.strip():
        raise ProverError(f"coqc does not tell its version: {' '.join(told.stderr.split())}")
    return told.stdout.split()[0]


def compile_text(
    text: str,
    name: str,
    load_path: LoadPath,
    settings: CoqSettings,
    *,
    logical: str | None = None,
    ask: Sequence[tuple[int, str]] = (),
) -> Compiled:
    """Compile a text as a file of that name.

    `logical` is the logical name of its folder, where it has one. `ask` has commands whose output is wanted, each with an offset of the text.
    """
    coqc = find_program("coqc")
    with Scratch() as place:
        folder, workplace = place / "source", place / "workplace"
        folder.mkdir()
        workplace.mkdir()
        load_path.furnish(workplace)
        outputs = [folder / f"output{number}" for number in range(len(ask))]
        for (offset, question), output in sorted(zip(ask, outputs, strict=True), reverse=True):
            quoted = str(output).replace('"', '""')
            text = f'{text[:offset]} Redirect "{quoted}" {question}{text[offset:]}'
        file = folder / name
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
        bound = ["-Q", str(folder), logical] if logical else []
        command = [coqc, "-q", "-w", "none", *load_path.options, *bound, str(file)]
        code, told = _run(command, workplace, settings)
        printed = tuple(_content(output.with_suffix(".out")) for output in outputs)
    if code is None:
        return Compiled(False, f"coqc needs more than {settings.check_seconds:g} s", printed=printed)
    if code == 0:
        return Compiled(True, printed=printed)
    error = _ERROR.search(told)
    if error:
        return Compiled(False, _cut(" ".join(error.group(2).split())), int(error.group(1)), printed)
    return Compiled(False, _cut(_last_words(told, code)), printed=printed)


def _content(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def read_assumptions(printed: str) -> tuple[str, ...]:
    """Return the axioms in the output of `Print Assumptions`, and the changes of the logic itself (`Set is impredicative`).

    Section variables are left out: they become arguments when the section ends.
    """
    names: list[str] = []
    section = ""
    for line in printed.splitlines():
        if line.strip() in _SECTIONS:
            section = line.strip()
        elif line.strip() == _CLOSED:
            section = section or line.strip()
        elif (
            section not in ("Axioms:", "Theory:") or not line.strip() or line[0] in " :" or line.startswith("used in ")
        ):
            continue
        else:
            match = _NAMED.match(line)
            names.append((match.group(1) or match.group(2)) if match and section == "Axioms:" else line.strip())
    if not section:
        raise ProverError(f"Coq's list of assumptions cannot be read: {_cut(' '.join(printed.split()))!r}")
    return tuple(names)


def _run(command: list[str], folder: Path, settings: CoqSettings) -> tuple[int | None, str]:
    """Run a program to its end. No code: it had no time."""
    with signals_blocked():
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=limits(settings.memory_mb),
        )
    with process:
        try:
            _, told = process.communicate(timeout=settings.check_seconds)
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, told


def _last_words(told: str, code: int) -> str:
    error = _WORDS.search(told)
    words = " ".join((error.group() if error else told).split())
    return words or (f"coqc was killed by {signal.Signals(-code).name}" if code < 0 else f"coqc ended with code {code}")


def _cut(text: str) -> str:
    return text if len(text) <= _MESSAGE else f"{text[: _MESSAGE - 4]} ..."
