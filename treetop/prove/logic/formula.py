"""Formulas of propositional logic. Equal formulas are one object, so comparison and lookup are as fast as for numbers.

A formula is an atom, True, False, or one of four connectives with two sides. A negation `~p` is the implication `p ->
False`.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from treetop.errors import FormulaError

ATOM, TRUE, FALSE, AND, OR, IMP, IFF = range(7)
"""The kinds of formulas."""
SYMBOLS = {AND: "&", OR: "|", IMP: "->", IFF: "<->"}
_BINDING = {ATOM: 6, TRUE: 6, FALSE: 6, AND: 4, OR: 3, IMP: 2, IFF: 1}
_NOT = 5
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_']*")
_DEPTH = 100_000


class Formula:
    """A formula. Create it with `atom`, `conj`, `disj`, `imp`, `iff`, `neg`, or read it with `parse`; never directly.

    `positive` and `negative` hold a bit for each atom that occurs with that polarity: the left side of an implication
    swaps them.
    """

    __slots__ = (
        "_parts", "_premises", "_text", "kind", "left", "name", "negative", "positive", "right", "size", "tidy"
    )  # fmt: skip

    kind: int
    left: Formula
    right: Formula
    name: str
    size: int
    """The number of atoms, constants and connectives."""
    positive: int
    negative: int
    tidy: bool
    """Whether it is known to be in normal form (`normal.py`) without further facts."""

    @property
    def text(self) -> str:
        """The text that `parse` reads."""
        try:
            return self._text
        except AttributeError:
            self._text: str = _write(self)
            return self._text

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The sides of a chain of conjunctions or of disjunctions; any other formula is its own part."""
        try:
            return self._parts
        except AttributeError:
            self._parts: tuple[Formula, ...] = _flat(self)
            return self._parts

    @property
    def premises(self) -> tuple[Formula, ...]:
        """The premises of an implication `a -> b -> c`; empty for other formulas."""
        return self._unrolled()[0]

    @property
    def head(self) -> Formula:
        """The head of an implication `a -> b -> c`; other formulas are their own head."""
        return self._unrolled()[1]

    def _unrolled(self) -> tuple[tuple[Formula, ...], Formula]:
        try:
            return self._premises
        except AttributeError:
            premises, head = [], self
            while head.kind == IMP:
                premises.append(head.left)
                head = head.right
            self._premises: tuple[tuple[Formula, ...], Formula] = (tuple(premises), head)
            return self._premises

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"parse({self.text!r})"

    def __copy__(self) -> Formula:
        return self

    def __deepcopy__(self, memo: object) -> Formula:
        return self

    def __reduce__(self) -> tuple[object, tuple[str]]:
        from treetop.prove.logic.syntax import parse

        return parse, (self.text,)


_made: dict[object, Formula] = {}
_names: list[str] = []
_lock = threading.RLock()  # held while a formula is made: two threads must not make it twice
_deep_users = 0  # how many threads need a large recursion limit, which is that of all threads
_shallow = 0  # the recursion limit without them


def _constant(kind: int, name: str) -> Formula:
    made = Formula()
    made.kind, made.name, made.size = kind, name, 1
    made.positive = made.negative = 0
    made._parts, made._premises, made._text = (made,), ((), made), name
    made.tidy = True
    return made


true = _constant(TRUE, "True")
false = _constant(FALSE, "False")


def atom(name: str) -> Formula:
    """Return the atom of that name."""
    found = _made.get(name)
    if found is None:
        if not _NAME.fullmatch(name) or name in ("True", "False"):
            raise FormulaError(
                f"the name of an atom must consist of letters, digits, _ and ', and not begin with a digit: {name!r}"
            )
        with _lock:
            found = _made.get(name)
            if found is None:
                found = _constant(ATOM, name)
                found.positive = 1 << len(_names)
                _names.append(name)
                _made[name] = found
    return found


def count() -> int:
    """Return how many formulas there are. They are kept as long as the process runs."""
    return len(_made)


def _binary(kind: int, left: Formula, right: Formula) -> Formula:
    key = (kind, left, right)
    found = _made.get(key)
    if found is not None:
        return found
    made = Formula()
    made.kind, made.left, made.right, made.size = kind, left, right, left.size + right.size + 1
    if kind == IMP:
        made.positive, made.negative = left.negative | right.positive, left.positive | right.negative
    elif kind == IFF:
        made.positive = made.negative = left.positive | left.negative | right.positive | right.negative
    else:
        made.positive, made.negative = left.positive | right.positive, left.negative | right.negative
    made.tidy = False
    return _made.setdefault(key, made)


def conj(left: Formula, right: Formula) -> Formula:
    """Return `left & right`."""
    return _binary(AND, left, right)


def disj(left: Formula, right: Formula) -> Formula:
    """Return `left | right`."""
    return _binary(OR, left, right)


def imp(left: Formula, right: Formula) -> Formula:
    """Return `left -> right`."""
    return _binary(IMP, left, right)


def iff(left: Formula, right: Formula) -> Formula:
    """Return `left <-> right`. A proof of it is a pair: left to right, and right to left."""
    return _binary(IFF, left, right)


def neg(formula: Formula) -> Formula:
    """Return `~formula`, which is `formula -> False`."""
    return _binary(IMP, formula, false)


def chain(kind: int, parts: Iterable[Formula]) -> Formula:
    """Return the chain of a connective, such as `a & (b & c)` for a, b, c; at least one part."""
    *others, result = parts
    for part in reversed(others):
        result = _binary(kind, part, result)
    return result


def implies(premises: Iterable[Formula], head: Formula) -> Formula:
    """Return `a -> b -> head` for the premises a, b."""
    return chain(IMP, (*premises, head))


def sides(formula: Formula) -> tuple[Formula, Formula]:
    """Return the two parts of a proof of a conjunction or an equivalence."""
    if formula.kind == IFF:
        return imp(formula.left, formula.right), imp(formula.right, formula.left)
    return formula.left, formula.right


def atoms(*formulas: Formula) -> list[str]:
    """Return the names of the atoms that occur, sorted."""
    mask = 0
    for formula in formulas:
        mask |= formula.positive | formula.negative
    return sorted(_names[index] for index in bits(mask))


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of a number's one bits, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def atom_of_bit(index: int) -> Formula:
    """Return the atom that has this bit in `Formula.positive`. Bits are valid within one process only."""
    return _made[_names[index]]


@contextmanager
def deep() -> Iterator[None]:
    """Allow the recursion depth that long formulas need."""
    global _deep_users, _shallow
    with _lock:
        if _deep_users == 0:
            _shallow = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_shallow, _DEPTH))
        _deep_users += 1
    try:
        yield
    finally:
        with _lock:
            _deep_users -= 1
            if _deep_users == 0:
                sys.setrecursionlimit(_shallow)


def _flat(formula: Formula) -> tuple[Formula, ...]:
    kind = formula.kind
    if kind not in (AND, OR):
        return (formula,)
    found, pending = [], [formula]
    while pending:
        part = pending.pop()
        if part.kind == kind:
            pending += (part.right, part.left)
        else:
            found.append(part)
    return tuple(found)


def _write(formula: Formula) -> str:
    """Return the text. Each part is written once, from the inside out and without recursion."""
    pending = [formula]
    while pending:
        top = pending[-1]
        if hasattr(top, "_text"):
            pending.pop()
            continue
        members = _members(top)
        missing = [part for part in members if not hasattr(part, "_text")]
        if missing:
            pending += missing
            continue
        top._text = _join(top, members)
        pending.pop()
    return formula._text


def _members(formula: Formula) -> list[Formula]:
    """Return the sides of a chain that associates to the right, as it is written without brackets."""
    kind, rest, found = formula.kind, formula, []
    while rest.kind == kind and kind != IFF and not (kind == IMP and rest.right is false):
        found.append(rest.left)
        rest = rest.right
    if not found:
        return [formula.left] if kind == IMP else [formula.left, formula.right]
    return [*found, rest]


def _join(formula: Formula, members: list[Formula]) -> str:
    if formula.kind == IMP and formula.right is false:
        inner = members[0]
        return f"~{inner._text}" if _binding(inner) >= _NOT else f"~({inner._text})"
    own = _BINDING[formula.kind]
    texts = [part._text if _binding(part) > own else f"({part._text})" for part in members]
    return f" {SYMBOLS[formula.kind]} ".join(texts)


def _binding(formula: Formula) -> int:
    return _NOT if formula.kind == IMP and formula.right is false else _BINDING[formula.kind]
