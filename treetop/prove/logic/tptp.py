"""Read problems of the TPTP library (`fof`, without quantifiers and arguments), as in the ILTP library of
intuitionistic problems.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from treetop.errors import FormulaError
from treetop.prove.logic.formula import Formula, implies
from treetop.prove.logic.syntax import complain, parse

_STATUS = re.compile(r"^%\s*Status \(intuit\.\)\s*:\s*(\S+)", re.MULTILINE)
_HIDDEN = re.compile(r"%[^\n]*|/\*.*?\*/", re.DOTALL)
_HEAD = re.compile(r"\s*fof\s*\(\s*([A-Za-z0-9_]+|'[^'\n]*')\s*,\s*([a-z_]+)\s*,")
_BRACKET = re.compile(r"[()]")
_STOP = re.compile(r"\s*\.")
_AXIOMS = ("axiom", "hypothesis", "definition", "assumption", "lemma", "theorem")


@dataclass(frozen=True)
class Problem:
    """A problem file: axioms, and the conjecture that is to follow from them."""

    name: str
    axioms: tuple[Formula, ...]
    conjecture: Formula
    status: str | None = None
    """The status that the file states: Theorem, Non-Theorem, Unsolved. It is for reports; the search does not use it.
    """

    @property
    def statement(self) -> Formula:
        """The problem as one formula: the axioms imply the conjecture."""
        return implies(self.axioms, self.conjecture)


def read_problem(path: str | Path) -> Problem:
    """Return the problem of a file; its name is that of the file."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FormulaError(f"{file} cannot be read: {error}") from error
    return parse_problem(text, file.name.removesuffix(".p"))


def parse_problem(text: str, name: str = "problem") -> Problem:
    """Return the problem of a text."""
    status = _STATUS.search(text)
    visible = _HIDDEN.sub(lambda hidden: re.sub(r"[^\n]", " ", hidden.group()), text)
    axioms: list[Formula] = []
    conjectures: list[Formula] = []
    place = 0
    while visible[place:].strip():
        head = _HEAD.match(visible, place)
        if head is None:
            begin = place + len(visible[place:]) - len(visible[place:].lstrip())
            complain(visible, begin, f"{name}: `fof(name, role, formula).` was expected here")
        role = head.group(2)
        end = _closing(visible, head.end(), name)
        formula = parse(visible[:end], start=head.end())
        if role == "conjecture":
            conjectures.append(formula)
        elif role in _AXIOMS:
            axioms.append(formula)
        else:
            complain(
                visible,
                head.start(2),
                f"{name}: the role {role!r} is unknown; the roles are conjecture, {', '.join(_AXIOMS)}",
            )
        place = visible.index(".", end) + 1
    if len(conjectures) != 1:
        raise FormulaError(f"{name}: a problem needs one conjecture, not {len(conjectures)}")
    return Problem(name, tuple(axioms), conjectures[0], status.group(1) if status else None)


def _closing(text: str, start: int, name: str) -> int:
    """Return the position after `fof(...)` and its full stop."""
    depth, place = 1, start
    while depth:
        found = _BRACKET.search(text, place)
        if found is None:
            complain(text, start, f"{name}: the bracket of this `fof(` is never closed")
        depth += 1 if found.group() == "(" else -1
        place = found.end()
    if not _STOP.match(text, place):
        complain(text, place, f"{name}: a full stop was expected here")
    return place - 1
