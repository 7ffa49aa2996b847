"""The registry of provers and of the files that they read. A prover is imported when one of its files is opened.

To add a prover, write a class that opens its files (a `TheoremFile`) and add a line to `PROVERS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treetop.errors import ConfigError
from treetop.prove.prover import Theorem, TheoremFile
from treetop.workers.units import resolve


@dataclass(frozen=True)
class ProverPlugin:
    """A prover and the files that it reads."""

    files: str
    """The name of its files: `Coq files`."""
    suffixes: tuple[str, ...]
    loader: str
    """`module:class`, called with the path and the options; returns a `TheoremFile`."""
    options: tuple[str, ...]
    """The names of the options that the loader accepts."""


PROVERS = (
    ProverPlugin("TPTP problems", (".p",), "treetop.prove.logic.files:ProblemFile", ("mode", "classical")),
    ProverPlugin("Coq files", (".v",), "treetop.prove.coq.writing:ProofFile", ("settings", "write", "copy", "data")),
)
READER = "treetop.prove.logic.files:read_formula"
"""Reads a theorem from text that is not the name of a file. It has the options of TPTP problems."""


def suffixes() -> tuple[str, ...]:
    """Return the suffixes of all files that a prover reads.

    >>> suffixes()
    ('.p', '.v')
    """
    return tuple(suffix for plugin in PROVERS for suffix in plugin.suffixes)


def plugin_for(path: str | Path) -> ProverPlugin | None:
    """Return the prover that reads a file, by the suffix of its name, or None.

    >>> plugin_for("Lists.v").files
    'Coq files'
    """
    suffix = Path(path).suffix
    return next((plugin for plugin in PROVERS if suffix in plugin.suffixes), None)


def open_file(path: str | Path, **options: Any) -> TheoremFile:
    """Open a file with the prover that reads it."""
    plugin = plugin_for(path)
    if plugin is None:
        raise ConfigError(f"no prover reads {path}: the name must end with {' or '.join(suffixes())}")
    unknown = [name for name in options if name not in plugin.options]
    if unknown:
        raise ConfigError(f"{plugin.files} have the options {', '.join(plugin.options)}, not {', '.join(unknown)}")
    file: TheoremFile = resolve(plugin.loader)(path, **options)
    return file


def read_text(text: str, **options: Any) -> Theorem:
    """Return the theorem that a text states: a formula of the embedded logic."""
    theorem: Theorem = resolve(READER)(text, **options)
    return theorem
