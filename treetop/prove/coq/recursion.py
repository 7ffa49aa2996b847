"""The arguments on which functions recur: candidates for a proof by induction or by cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from treetop.prove.coq.syntax import Term, parse
from treetop.prove.coq.terms import free_names, subterms, symbol


class Constant(NamedTuple):
    """What Coq prints for a global name."""

    value: str | None = None
    """Its definition, as printed under `Set Printing All`; None if it has none."""
    constructors: tuple[str, ...] | None = None
    """The constructors of an inductive type, for the type and for each of them; None for everything else."""


Definition = Callable[[str], Constant | None]
"""Returns the meaning of a global name; None if it is unknown."""

CONSTRUCTORS = frozenset((
    "O", "S", "nil", "cons", "true", "false", "pair", "Some", "None", "Z0", "Zpos", "Zneg", "N0", "Npos", "xH", "xI",
    "xO", "inl", "inr", "left", "right", "tt", "exist", "existT", "Eq", "Lt", "Gt", "EmptyString", "String"
))  # fmt: skip
"""Constants that nearly every file uses, so that they need no query."""


class Recursion:
    """The definitions of the names of a development. Without `definition`, only common names are known."""

    def __init__(self, definition: Definition | None = None) -> None:
        self._definition = definition
        self._places: dict[str, tuple[int, ...]] = {}
        self._constants: dict[str, Constant] = {}

    def constant(self, label: str) -> Constant:
        """Return the meaning of a name. Each name is queried once."""
        if label not in self._constants:
            found = None if self._definition is None else self._definition(label)
            self._constants[label] = Constant() if found is None else found
        return self._constants[label]

    def value(self, label: str) -> Term | None:
        """Return the definition of a constant."""
        text = self.constant(label).value
        return None if text is None else parse(text)

    def is_constructor(self, label: str) -> bool:
        """Return whether it is a constructor."""
        return label in CONSTRUCTORS or label in (self.constant(label).constructors or ())

    def is_inductive(self, label: str) -> bool:
        """Return whether it is an inductive type or predicate, as far as is known."""
        constructors = self.constant(label).constructors
        return constructors is not None and label not in constructors

    def places(self, label: str) -> tuple[int, ...]:
        """Return the positions of the arguments that a function recurs on or matches first; empty for other names."""
        found = self._places.get(label)
        if found is None:
            value = self.value(label)
            found = self._places[label] = () if value is None else tuple(dict.fromkeys(looked_at(value)))
        return found

    def is_plain(self, label: str) -> bool:
        """Return whether a constant only abbreviates something that should be unfolded."""
        value = self.value(label)
        if value is None:
            return False
        while value.kind == "fun":
            value = value.parts[1]
        return value.kind not in ("fix", "cofix")

    def looked_at(self, term: Term, bound: frozenset[str]) -> Iterator[Term]:
        """Return the arguments in a term that some function recurs on, outermost first, with repetitions; none with a
        bound variable.
        """
        for part in subterms(term):
            if part.kind != "app":
                continue
            function, *given = part.parts
            places = (
                self.places(symbol(function.label))
                if function.kind == "name"
                else tuple(looked_at(function))
                if function.kind == "fix"
                else ()
            )
            for place in places:
                if place < len(given) and not (bound and free_names(given[place]) & bound):
                    yield given[place]


def looked_at(value: Term) -> Iterator[int]:
    """Return the positions of the arguments that a function recurs on, then of those that it matches on."""
    parameters: list[str] = []
    while value.kind == "fun":
        parameters.append(value.names[0])
        value = value.parts[1]
    if value.kind == "app" and value.parts[0].kind == "fix":  # an abbreviation for a call of a recursive function
        for place in looked_at(value.parts[0]):
            if place + 1 < len(value.parts) and value.parts[place + 1].label in parameters:
                yield parameters.index(value.parts[place + 1].label)
        return
    if value.kind == "fix":
        for label, body in zip(value.names, value.parts, strict=True):
            if label == value.label:
                yield len(parameters) + int(body.label)
                yield from (len(parameters) + place for place in looked_at(body.parts[1]))
        return
    pending = [value]
    while pending:
        value = pending.pop()
        if value.kind in ("match", "if"):
            test = value.parts[0]
            if test.kind == "name" and test.label in parameters:
                yield parameters.index(test.label)
            pending.extend(
                reversed([part.parts[0] for part in value.parts[2:]] if value.kind == "match" else value.parts[1:])
            )
