"""Parse formulas: `p & q -> q & p`, `~p | r`, `(p <-> q) -> False`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from treetop.errors import FormulaError
from treetop.prove.logic.formula import AND, IFF, IMP, OR, Formula, atom, conj, disj, false, iff, imp, neg, true

_TOKEN = re.compile(r"\s+|(?P<name>[A-Za-z_][A-Za-z0-9_']*|\$true|\$false)|(?P<sign><->|<=>|->|=>|/\\|\\/|[&|~()])")
_SIGNS = {"<=>": "<->", "=>": "->", "/\\": "&", "\\/": "|"}
_CONSTANTS = {"True": true, "$true": true, "False": false, "$false": false}
_OPERATORS = {"<->": (1, IFF), "->": (2, IMP), "|": (3, OR), "&": (4, AND)}
_MAKERS = {AND: conj, OR: disj, IMP: imp, IFF: iff}
_NOT = 5


def parse(text: str, start: int = 0) -> Formula:
    """Return the formula of a text, from `start` on.

    `~` binds closest, then `&`, `|`, `->`, `<->`; chains associate to the right.

    >>> parse("p & q -> q & p").left
    parse('p & q')
    """
    return Reader(text, [Token(*found) for found in _tokens(text, start)]).formula()


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a sign, and its position in the text."""

    text: str
    place: int


class Reader:
    """Turns tokens into a formula, with its own stack, because brackets may be nested to any depth."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self._source = text
        self._tokens = tokens
        self._operators: list[Token] = []
        self._formulas: list[Formula] = []

    def formula(self) -> Formula:
        """Return the whole text as one formula."""
        wants_formula = True
        for token in self._tokens:
            wants_formula = self._operand(token) if wants_formula else self._operator(token)
        if wants_formula:
            after = f" after {self._tokens[-1].text!r}" if self._tokens else ""
            complain(self._source, len(self._source.rstrip()), f"a formula was expected{after}")
        while self._operators:
            if self._operators[-1].text == "(":
                complain(self._source, self._operators[-1].place, "this bracket is never closed")
            self._reduce()
        return self._formulas.pop()

    def _operand(self, token: Token) -> bool:
        text = token.text
        if text in ("~", "("):
            self._operators.append(token)
            return True
        if text == ")" or text in _OPERATORS:
            complain(self._source, token.place, f"a formula was expected here, not {text!r}")
        constant = _CONSTANTS.get(text)
        self._formulas.append(atom(text) if constant is None else constant)
        return False

    def _operator(self, token: Token) -> bool:
        text = token.text
        if text == ")":
            while self._operators and self._operators[-1].text != "(":
                self._reduce()
            if not self._operators:
                complain(self._source, token.place, "this bracket was never opened")
            self._operators.pop()
            return False
        if text not in _OPERATORS:
            complain(self._source, token.place, f"a connective (& | -> <->) was expected here, not {text!r}")
        binding = _OPERATORS[text][0]
        while self._operators and self._operators[-1].text != "(":
            other = self._operators[-1].text
            if other == text == "<->":
                complain(
                    self._source,
                    token.place,
                    "add brackets: (p <-> q) <-> r and p <-> (q <-> r) are different formulas",
                )
            if other != "~" and _OPERATORS[other][0] <= binding:
                break
            self._reduce()
        self._operators.append(token)
        return True

    def _reduce(self) -> None:
        text = self._operators.pop().text
        right = self._formulas.pop()
        if text == "~":
            self._formulas.append(neg(right))
        else:
            self._formulas.append(_MAKERS[_OPERATORS[text][1]](self._formulas.pop(), right))


def complain(text: str, place: int, what: str) -> NoReturn:
    """Raise an error that shows the line and points at the position."""
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    line = text[start : end if end >= 0 else len(text)]
    column = place - start
    cut = max(0, column - 60)
    where = f"line {text.count(chr(10), 0, place) + 1}, column {column + 1}" if "\n" in text else f"column {column + 1}"
    raise FormulaError(f"{what} ({where})\n  {line[cut : cut + 100]}\n  {' ' * (column - cut)}^", position=place)


def _tokens(text: str, start: int) -> list[tuple[str, int]]:
    found, place = [], start
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            complain(text, place, f"{text[place]!r} has no meaning here")
        if match.lastgroup:
            word = match.group()
            found.append((_SIGNS.get(word, word), place))
        place = match.end()
    return found
