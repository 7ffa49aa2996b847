"""Parsed lemmas and their uses: backwards from a conclusion, forwards from a hypothesis, as an equation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from treetop.prove.coq.goals import Premise
from treetop.prove.coq.syntax import Term, parse
from treetop.prove.coq.terms import Binder, arguments, conclusions, free_names, head, peel

COMMON = frozenset((
    "eq", "and", "or", "not", "iff", "ex", "True", "False", "nat", "list", "bool", "option", "prod", "O", "S", "nil",
    "cons", "true", "false", "Z", "N", "positive", "Some", "None", "pair", "unit", "sumbool", "sum"
))  # fmt: skip
"""Symbols that nearly every lemma mentions: they are not searched for."""


class Rule(NamedTuple):
    """A parsed lemma."""

    name: str
    binders: tuple[Binder, ...]
    stated: Term
    symbols: frozenset[str]
    variables: frozenset[str]
    own: bool = False
    """Whether the theorem's own file states it."""
    implicit: bool = False
    """Whether some of its arguments are implicit."""

    @property
    def conditions(self) -> tuple[Term, ...]:
        """Its premises."""
        return tuple(binder.type for binder in self.binders if binder.name == "_")


class Way(NamedTuple):
    """A use of a rule: the pattern that must occur, and its symbols, which exclude most goals quickly."""

    rule: Rule
    kind: str
    pattern: Term
    needed: frozenset[str]
    target: Term | None = None
    arrow: str = ""
    """The direction of an equivalence that Coq would not find: a negation matches both sides, because it is an
    implication."""


def rule_from(premise: Premise) -> tuple[Rule, Term]:
    """Return the rule of a premise, and its statement."""
    statement = parse(premise.statement)
    binders, stated = peel(statement)
    variables = frozenset(binder.name for binder in binders) - {"_"}
    implicit = "{" in premise.statement or "[" in premise.statement
    return Rule(premise.name, binders, stated, free_names(statement), variables, premise.own, implicit), statement


def _way(rule: Rule, kind: str, pattern: Term, target: Term | None = None) -> Way:
    return Way(rule, kind, pattern, free_names(pattern) - rule.variables, target)


def backward_ways(rule: Rule, statement: Term) -> Iterator[Way]:
    """Yield the uses of a rule by `apply`: its conclusion, a part of it, a reversed equation, a contradiction.

    A conclusion that is a variable matches every goal; one that begins with an applied variable is an induction
    principle, and is left out.
    """
    for binders, stated in conclusions(statement):
        variables = frozenset(binder.name for binder in binders) - {"_"}
        if head(stated) not in variables or stated.kind == "name":
            way = _way(rule._replace(binders=binders, stated=stated, variables=variables), "apply", stated)
            yield way._replace(arrow=_direction(rule, stated, "<-", "->"))
    given = arguments(rule.stated)
    if head(rule.stated) == "eq" and len(given) == 3:
        yield _way(rule, "turned", Term("app", "", (rule.stated.parts[0], given[0], given[2], given[1])))


def forward_ways(rule: Rule, statement: Term, *, general: bool) -> Iterator[Way]:
    """Yield the forward uses of a rule from a hypothesis: by each of its last two premises, or from one side of an
    equivalence to the other.

    `general`: premises that are equations or negations of common symbols count too.
    """
    for binders, stated in conclusions(statement):
        variables = frozenset(binder.name for binder in binders) - {"_"}
        step = rule._replace(binders=binders, stated=stated, variables=variables)
        if head(stated) == "False" or (head(stated) in variables and not general):
            continue
        for condition in step.conditions[-2:]:
            way = _way(step, "forward", condition)
            if head(condition) not in variables and (
                general or head(condition) not in ("eq", "not") or way.needed - COMMON
            ):
                yield way._replace(arrow=_direction(rule, condition, "->", "<-"))


def _direction(rule: Rule, side: Term, left: str, right: str) -> str:
    sides = arguments(rule.stated)
    if head(rule.stated) != "iff" or head(side) != "not" or len(sides) != 2:
        return ""
    return f"{left} " if side == sides[0] else f"{right} " if side == sides[1] else ""


def rewriting_ways(rule: Rule, relations: frozenset[str] = frozenset()) -> Iterator[Way]:
    """Yield the uses of a rule by `rewrite`; the kind is the arrow.

    `relations`: those that Coq rewrites with besides `eq` and `iff`.
    """
    given = arguments(rule.stated)
    symbol = head(rule.stated)
    if (symbol in ("eq", "iff") or symbol in relations) and len(given) >= 2:
        for arrow, source, target in (("", given[-2], given[-1]), ("<- ", given[-1], given[-2])):
            if head(source) not in rule.variables and not head(source).startswith("<"):
                yield _way(rule, arrow, source, target)
