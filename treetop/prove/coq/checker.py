"""The checker: `coqc` on a whole file, in its own folder. It is independent of how a proof was found."""

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
    """The result of `coqc` on a file."""

    accepted: bool
    message: str = ""
    """The error on one line."""
    line: int = 0
    """The line of the error; 0 if unknown."""
    printed: tuple[str, ...] = ()
    """The output of each command in `ask`; empty if Coq did not reach it."""


@cache
def coq_version() -> str:
    """Return the version of the installed `coqc`."""
    output = subprocess.run([find_program("coqc"), "--print-version"], capture_output=True, text=True, check=False)
    if output.returncode != 0 or not output.stdout.strip():
        raise ProverError(f"the version of coqc cannot be read: {' '.join(output.stderr.split())}")
    return output.stdout.split()[0]


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

    `logical` is the logical name of its folder, if it has one. `ask` holds commands whose output is wanted, each with
    an offset in the text.
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
        code, messages = _run(command, workplace, settings)
        printed = tuple(_content(output.with_suffix(".out")) for output in outputs)
    if code is None:
        return Compiled(False, f"coqc took more than {settings.check_seconds:g} s", printed=printed)
    if code == 0:
        return Compiled(True, printed=printed)
    error = _ERROR.search(messages)
    if error:
        return Compiled(False, _cut(" ".join(error.group(2).split())), int(error.group(1)), printed)
    return Compiled(False, _cut(_last_words(messages, code)), printed=printed)


def _content(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def read_assumptions(printed: str) -> tuple[str, ...]:
    """Return the axioms in the output of `Print Assumptions`, and changes of the logic (`Set is impredicative`).

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
    """Run a program to its end. Returns no exit code if the time was too short."""
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
            _, output = process.communicate(timeout=settings.check_seconds)
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, output


def _last_words(output: str, code: int) -> str:
    error = _WORDS.search(output)
    words = " ".join((error.group() if error else output).split())
    return words or (f"coqc was killed by {signal.Signals(-code).name}" if code < 0 else f"coqc ended with code {code}")


def _cut(text: str) -> str:
    return text if len(text) <= _MESSAGE else f"{text[: _MESSAGE - 4]} ..."
