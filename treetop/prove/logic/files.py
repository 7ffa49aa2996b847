"""Theorems of the logic from files and from text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from treetop.errors import ConfigError
from treetop.prove.logic.theorem import LogicTheorem


class ProblemFile:
    """A problem of the TPTP or ILTP library. The options are those of `LogicTheorem`."""

    def __init__(self, path: str | Path, **options: Any) -> None:
        self.path = Path(path)
        self._options = options

    def theorem(self, name: str | None = None) -> LogicTheorem:
        """Return the theorem that the file states. It has no name."""
        if name is not None:
            raise ConfigError(f"{self.path} states one theorem, without a name: remove {name!r}")
        return LogicTheorem.load(self.path, **self._options)


def read_formula(text: str, **options: Any) -> LogicTheorem:
    """Return the theorem of a formula. Its name is the formula.

    >>> read_formula("p&q -> q").name
    'p & q -> q'
    """
    theorem = LogicTheorem.read(text, **options)
    return replace(theorem, name=theorem.statement.text)
