"""Terms of Coq as trees: parse the output of `Set Printing All`, and write it again.

The parser never fails: what it does not understand becomes an opaque node with its text, up to the next parenthesis.
Names are not resolved, bound or not: Coq prints terms so that no bound name shadows one that is used below it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(
    r'"(?:[^"]|"")*"|@?[^\W\d][\w\']*(?:\.[^\W\d][\w\']*)*|\?[\w\']+|@\{[^}]*\}|\d[\w.]*(?:%\w+)?|:=|=>|->|<<?:|\S'
)
_KEYWORDS = frozenset(
    ("forall", "fun", "let", "in", "match", "with", "end", "return", "as", "if", "then", "else", "fix", "cofix", "for")
)
_SORTS = frozenset(("Prop", "Set", "Type", "SProp"))
_CASTS = frozenset((":", "<:", "<<:"))
_CLOSING = {"(": ")", "{": "}", "[": "]"}
_DEEPEST = 120  # levels of nesting; deeper parts are opaque


class Term(NamedTuple):
    """A node of a term. What `label`, `parts` and `names` are depends on the kind.

    - name: the label, with its @ if implicit arguments are given.
    - app: parts are the function and its arguments.
    - forall, fun: parts are type and body; names the bound one, `_` for a premise.
    - let: parts are value, type and body; names the bound one.
    - match: parts are the examined term, a `return` (names: as, in) and branches (label: the constructor; names: its
      arguments).
    - if: parts are the test and two cases.
    - fix, cofix: the label is the name of this function; names are those of all functions; parts one `fixed` each
      (label: the position of the argument that it recurs on; parts: type, body).
    - cast: parts are term and type; the label is the sign.
    - sort, number, string, evar, hole, opaque: the label is the text.
    """

    kind: str
    label: str = ""
    parts: tuple[Term, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def inside(self) -> tuple[Term, ...]:
        """The parts in which the names are bound."""
        return self.parts[-1:] if self.kind in ("forall", "fun", "let") else self.parts if self.names else ()

    @property
    def outside(self) -> tuple[Term, ...]:
        """The parts in which the names are not bound."""
        return self.parts[:-1] if self.kind in ("forall", "fun", "let") else () if self.names else self.parts

    def __str__(self) -> str:
        return render(self)


HOLE = Term("hole", "_")


@lru_cache(maxsize=20_000)
def parse(text: str) -> Term:
    """Return the tree of a printed term. Equal texts give the same object."""
    try:
        return _Reader(text).whole()
    except (_UnreadableError, RecursionError):
        return Term("opaque", " ".join(text.split()))


class _UnreadableError(Exception):
    """The text is not a term from here on."""


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens: list[str] = [*_TOKEN.findall(text), ""]
        self._at = 0
        self._depth = 0

    def whole(self) -> Term:
        result = self._term()
        if self._tokens[self._at]:
            raise _UnreadableError
        return result

    def _next(self) -> str:
        token = self._tokens[self._at]
        if not token:
            raise _UnreadableError
        self._at += 1
        return token

    def _take(self, token: str) -> bool:
        if self._tokens[self._at] != token:
            return False
        self._at += 1
        return True

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise _UnreadableError

    def _name(self) -> str:
        token = self._next()
        if token in _KEYWORDS or not (token[0] == "_" or token[0].isalpha()):
            raise _UnreadableError
        return token

    def _term(self) -> Term:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _UnreadableError
        token = self._tokens[self._at]
        special = self._special(token) if token in _KEYWORDS and token != "match" else None
        result = self._application() if special is None else special
        token = self._tokens[self._at]
        if token == "->":
            self._at += 1
            result = Term("forall", "", (result, self._term()), ("_",))
        elif token in _CASTS:
            self._at += 1
            result = Term("cast", token, (result, self._term()))
        self._depth -= 1
        return result

    def _special(self, token: str) -> Term:
        self._at += 1
        if token in ("forall", "fun"):
            return self._binding(token, "," if token == "forall" else "=>")
        if token == "let":
            return self._let()
        if token in ("fix", "cofix"):
            return self._fix(token)
        if token == "if":
            test = self._term()
            self._expect("then")
            yes = self._term()
            self._expect("else")
            return Term("if", "", (test, yes, self._term()))
        raise _UnreadableError

    def _application(self) -> Term:
        function = self._atom()
        if function is None:
            raise _UnreadableError
        given = []
        while True:
            argument = self._atom()
            if argument is None:
                break
            given.append(argument)
        return Term("app", "", (function, *given)) if given else function

    def _atom(self) -> Term | None:
        token = self._tokens[self._at]
        if token.startswith("@{"):  # universes, or the values of an existential variable
            self._at += 1
            token = self._tokens[self._at]
        if not token:
            return None
        first = token[0]
        if first == "(":
            return self._parenthesis()
        if token == "match":
            return self._match()
        if token in _KEYWORDS:
            return None
        if first == "@" or first == "_" or first.isalpha():
            self._at += 1
            return _leaf(token)
        if first.isdigit() or first == '"' or (first == "?" and len(token) > 1):
            self._at += 1
            return Term("number" if first.isdigit() else "string" if first == '"' else "evar", token)
        return None

    def _parenthesis(self) -> Term:
        start, depth = self._at, self._depth
        self._at += 1
        try:
            inner = self._term()
            self._expect(")")
        except _UnreadableError:
            return self._skip(start, depth)
        return inner

    def _skip(self, start: int, depth: int) -> Term:
        """Read from an opening parenthesis to the closing one, without parsing."""
        level = 0
        for place in range(start, len(self._tokens)):
            level += (self._tokens[place] == "(") - (self._tokens[place] == ")")
            if level == 0:
                self._at, self._depth = place + 1, depth
                return Term("opaque", " ".join(self._tokens[start : place + 1]))
        raise _UnreadableError

    def _binders(self) -> list[tuple[str, Term, Term | None]]:
        """Read the name, the type and the optional value of every binder."""
        found: list[tuple[str, Term, Term | None]] = []
        if self._tokens[self._at] not in _CLOSING:
            return self._group("")
        while self._tokens[self._at] in _CLOSING and self._tokens[self._at + 1] != "struct":
            opening = self._next()
            found.extend(self._group(_CLOSING[opening]))
        return found

    def _group(self, closing: str) -> list[tuple[str, Term, Term | None]]:
        names = [self._name()]
        while self._tokens[self._at] not in (":", ":=", ",", "=>", closing):
            names.append(self._name())
        value = self._term_without_cast() if self._take(":=") else None
        kind = self._term() if self._take(":") else HOLE
        if closing:
            self._expect(closing)
        return [(label, kind, value) for label in names]

    def _term_without_cast(self) -> Term:
        return self._application()

    def _binding(self, kind: str, end: str) -> Term:
        binders = self._binders()
        self._expect(end)
        return _bind(kind, binders, self._term())

    def _let(self) -> Term:
        if self._take("("):
            names = [self._name()]
            while self._take(","):
                names.append(self._name())
            self._expect(")")
            self._expect(":=")
            value = self._term()
            self._expect("in")
            return Term(
                "match", "let", (value, Term("return", "", (HOLE,)), Term("branch", "", (self._term(),), tuple(names)))
            )
        label = self._name()
        kind = self._term() if self._take(":") else HOLE
        self._expect(":=")
        value = self._term()
        self._expect("in")
        return Term("let", "", (value, kind, self._term()), (label,))

    def _match(self) -> Term:
        self._at += 1
        test = self._term()
        called = self._name() if self._take("as") else "_"
        family, indices = "", ["_"]
        if self._take("in"):
            closing = self._take("(")
            family = self._name() if self._tokens[self._at] != "_" else self._next()
            indices = []
            while self._tokens[self._at] not in (")", "return", "with"):
                indices.append(self._name())
            if closing:
                self._expect(")")
        result = self._term() if self._take("return") else HOLE
        self._expect("with")
        branches = []
        self._take("|")
        while not self._take("end"):
            constructor, *given = self._pattern()
            branches.append(Term("branch", constructor, (self._term(),), tuple(given)))
            if not self._take("|") and self._tokens[self._at] != "end":
                raise _UnreadableError
        return Term("match", "", (test, Term("return", family, (result,), (called, *indices)), *branches))

    def _pattern(self) -> list[str]:
        words = [self._next().lstrip("@")]
        while not self._take("=>"):
            words.append(self._name())
        return words

    def _fix(self, kind: str) -> Term:
        names, bodies = [], []
        while True:
            names.append(self._name())
            binders = self._binders() if self._tokens[self._at] not in (":", ":=") else []
            place = 0
            if self._take("{"):
                self._expect("struct")
                on = self._name()
                self._expect("}")
                place = next((index for index, binder in enumerate(binders) if binder[0] == on), 0)
            result = self._term() if self._take(":") else HOLE
            self._expect(":=")
            body = self._term()
            bodies.append(Term("fixed", str(place), (_bind("forall", binders, result), _bind("fun", binders, body))))
            if not self._take("with"):
                break
        meant = self._name() if self._take("for") else names[0]
        return Term(kind, meant, tuple(bodies), tuple(names))


@lru_cache(maxsize=10_000)
def _leaf(token: str) -> Term:
    if token in _SORTS:
        return Term("sort", token)
    if token == "_":
        return HOLE
    if "Init.Nat." in token:  # one constant, which gets a second name when the library of numbers is loaded
        token = token.replace("Init.Nat.", "Nat.")
    return Term("name", token)


def _bind(kind: str, binders: list[tuple[str, Term, Term | None]], body: Term) -> Term:
    for label, typed, value in reversed(binders):
        body = (
            Term(kind, "", (typed, body), (label,))
            if value is None
            else Term("let", "", (value, typed, body), (label,))
        )
    return body


def render(term: Term, tight: bool = False) -> str:
    """Return the term as text that Coq reads. `tight`: in a form that can be an argument."""
    if term.kind in ("name", "sort", "number", "string", "evar", "hole", "opaque"):
        return term.label
    if term.kind == "match":
        return f"({_render_match(term)})" if tight and term.label else _render_match(term)
    text = _render_compound(term)
    return f"({text})" if tight else text


def _render_compound(term: Term) -> str:
    if term.kind == "app":
        return " ".join(render(part, True) for part in term.parts)
    if term.kind in ("forall", "fun"):
        groups: list[tuple[list[str], Term]] = []
        kind = term.kind
        while term.kind == kind:
            if groups and groups[-1][1] == term.parts[0]:
                groups[-1][0].extend(term.names)
            else:
                groups.append(([*term.names], term.parts[0]))
            term = term.parts[1]
        binders = " ".join(f"({' '.join(names)} : {render(typed)})" for names, typed in groups)
        return f"{kind} {binders}{',' if kind == 'forall' else ' =>'} {render(term)}"
    if term.kind == "let":
        value, typed, body = term.parts
        return (
            f"let {term.names[0]}{'' if typed == HOLE else f' : {render(typed)}'} := {render(value)} in {render(body)}"
        )
    if term.kind == "if":
        return "if {} then {} else {}".format(*(render(part) for part in term.parts))
    if term.kind == "cast":
        return f"{render(term.parts[0], True)} {term.label} {render(term.parts[1])}"
    if term.kind in ("fix", "cofix"):
        return _render_fix(term)
    return " ".join(render(part, True) for part in term.parts)


def _render_match(term: Term) -> str:
    test, returned, *branches = term.parts
    if term.label:
        return f"let ({', '.join(branches[0].names)}) := {render(test)} in {render(branches[0].parts[0])}"
    words = [f"match {render(test)}"]
    if returned.names and returned.names[0] != "_":
        words.append(f"as {returned.names[0]}")
    if returned.label:
        words.append(f"in ({' '.join((returned.label, *returned.names[1:]))})")
    if returned.parts[0] != HOLE:
        words.append(f"return ({render(returned.parts[0])})")
    words.append("with")
    words.extend(f"| {' '.join((branch.label, *branch.names))} => {render(branch.parts[0])}" for branch in branches)
    return " ".join([*words, "end"])


def _render_fix(term: Term) -> str:
    functions = []
    for label, fixed in zip(term.names, term.parts, strict=True):
        typed, body = fixed.parts
        binders = []
        while typed.kind == "forall" and body.kind == "fun":
            binders.append((body.names[0], body.parts[0]))
            typed, body = typed.parts[1], body.parts[1]
        place = int(fixed.label)
        struct = f" {{struct {binders[place][0]}}}" if term.kind == "fix" and len(binders) > 1 else ""
        given = "".join(f" ({name} : {render(kind)})" for name, kind in binders)
        functions.append(f"{label}{given}{struct}{'' if typed == HOLE else f' : {render(typed)}'} := {render(body)}")
    return f"{term.kind} {' with '.join(functions)}{f' for {term.label}' if len(functions) > 1 else ''}"
