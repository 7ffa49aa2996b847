"""On which of their arguments functions recur: what a proof by induction or by cases should look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from treetop.prove.coq.syntax import Term, parse
from treetop.prove.coq.terms import free_names, subterms, symbol


class Constant(NamedTuple):
    """What Coq prints of a global name."""

    value: str | None = None
    """Its definition, in the words of `Set Printing All`; None for what has none."""
    constructors: tuple[str, ...] | None = None
    """Those of an inductive type, for the type and for each of its constructors; None for everything else."""


Definition = Callable[[str], Constant | None]
"""What a global name stands for; None where nobody knows."""

CONSTRUCTORS = frozenset(
    (
        "O",
        "S",
        "nil",
        "cons",
        "true",
        "false",
        "pair",
        "Some",
        "None",
        "Z0",
        "Zpos",
        "Zneg",
        "N0",
        "Npos",
        "xH",
        "xI",
        "xO",
        "inl",
        "inr",
        "left",
        "right",
        "tt",
        "exist",
        "existT",
        "Eq",
        "Lt",
        "Gt",
        "EmptyString",
        "String",
    )
)
"""Those that nearly every file uses, so that nobody need be asked."""


class Recursion:
    """What is known of the names of a development, from their definitions: without anybody to be asked, nothing."""

    def __init__(self, definition: Definition | None = None) -> None:
        self._definition = definition
        self._places: dict[str, tuple[int, ...]] = {}
        self._constants: dict[str, Constant] = {}

    def constant(self, label: str) -> Constant:
        """What a name stands for. Kept: each name is asked for once."""
        if label not in self._constants:
            found = None if self._definition is None else self._definition(label)
            self._constants[label] = Constant() if found is None else found
        return self._constants[label]

    def value(self, label: str) -> Term | None:
        """The definition of a constant."""
        text = self.constant(label).value
        return None if text is None else parse(text)

    def is_constructor(self, label: str) -> bool:
        """Whether it makes values of an inductive type."""
        return label in CONSTRUCTORS or label in (self.constant(label).constructors or ())

    def is_inductive(self, label: str) -> bool:
        """Whether it is an inductive type or predicate, as far as is known."""
        constructors = self.constant(label).constructors
        return constructors is not None and label not in constructors

    def places(self, label: str) -> tuple[int, ...]:
        """The places of the arguments that a function recurs on or looks at first; none where it is no such function."""
        found = self._places.get(label)
        if found is None:
            value = self.value(label)
            found = self._places[label] = () if value is None else tuple(dict.fromkeys(looked_at(value)))
        return found

    def is_plain(self, label: str) -> bool:
        """Whether a constant only abbreviates something: unfolding it shows what is meant."""
        value = self.value(label)
        if value is None:
            return False
        while value.kind == "fun":
            value = value.parts[1]
        return value.kind not in ("fix", "cofix")

    def looked_at(self, term: Term, bound: frozenset[str]) -> Iterator[Term]:
        """The arguments in a term that some function recurs on, outermost first, as often as they occur; none with a bound variable."""
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
    """The places of the arguments that a function recurs on, and of those that it matches on, in this order."""
    parameters: list[str] = []
    while value.kind == "fun":
        parameters.append(value.names[0])
        value = value.parts[1]
    if value.kind == "app" and value.parts[0].kind == "fix":  # an abbreviation of a call of a recursive function
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
