"""Uses of lemmas and quantified hypotheses at chosen arguments: cases, contradictions, equations for a variable,
induction.

Here nothing in the goal has the form of the lemma, so its arguments are chosen among the names of the goal. The weights
are defined as in `shapes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from treetop.prove.coq.recursion import CONSTRUCTORS
from treetop.prove.coq.shapes import pattern
from treetop.prove.coq.syntax import Term, render
from treetop.prove.coq.terms import (
    Binder,
    arguments,
    bound_names,
    conclusion,
    free_names,
    head,
    is_closed_under,
    match,
    name,
    peel,
    substitute,
    subterms,
)
from treetop.prove.coq.views import View
from treetop.prove.coq.ways import Rule
from treetop.prove.prover import Suggestion

_MOST_RULES = 12  # of each kind, the newest first
_MOST_CHOICES = 4  # arguments of one rule
_SPLIT = frozenset(("or", "sumbool", "sumor", "ex", "sig", "and"))
_TWO_VALUES = {"nat": ("O", "(S O)"), "bool": ("true", "false")}
_LARGEST = 40  # size of a proposition that is decided, in nodes


class Eliminations:
    """The rules of one scope that can be used at chosen arguments."""

    def __init__(self) -> None:
        self._splitting: list[Rule] = []
        self._equations: list[Rule] = []
        self._principles: list[Rule] = []

    def add(self, rule: Rule) -> None:
        """Add a rule if it is useful here: one without premises, or an induction principle."""
        symbol = head(rule.stated)
        if symbol in rule.variables:
            if (
                rule.own
                and rule.stated.kind == "app"
                and all(
                    argument.kind == "name" and argument.label in rule.variables for argument in arguments(rule.stated)
                )
            ):
                self._principles.insert(0, rule)
        elif not rule.conditions and (symbol in _SPLIT or symbol == "False"):
            self._splitting.insert(0, rule)
        elif not rule.conditions and symbol == "eq" and len(arguments(rule.stated)) == 3 and rule.own:
            self._equations.insert(0, rule)

    def suggest(self, view: View) -> Iterator[Suggestion]:
        """Yield the uses of the rules and the quantified hypotheses at arguments that the goal names."""
        mine = [_rule_of(given.name, given.type) for given in view.proofs[:_MOST_RULES] if given.type.kind == "forall"]
        splitting = [rule for rule in mine if not rule.conditions and head(rule.stated) in _SPLIT]
        equations = [
            rule
            for rule in mine
            if not rule.conditions and head(rule.stated) == "eq" and len(arguments(rule.stated)) == 3
        ]
        for rule in (*splitting, *self._splitting[:_MOST_RULES]):
            yield from _cases(rule, view)
        for rule in (*equations, *self._equations[:_MOST_RULES]):
            yield from _contradiction(rule, view)
            yield from _at_variables(rule, view)
        for rule in self._principles[:_MOST_RULES]:
            yield from _induction(rule, view)


def _rule_of(label: str, statement: Term) -> Rule:
    binders, stated = peel(statement)
    return Rule(
        label, binders, stated, free_names(statement), frozenset(binder.name for binder in binders) - {"_"}, own=True
    )


def _call(rule: Rule, values: Sequence[str]) -> str:
    """Return a rule applied to its arguments, as a term."""
    return f"({'@' if rule.implicit else ''}{rule.name} {' '.join(values)})" if values else rule.name


def _cases(rule: Rule, view: View) -> Iterator[Suggestion]:
    """Destruct what a rule states: cases, a witness, two facts, or a contradiction."""
    if head(rule.stated) == "False":
        if not rule.binders:
            yield Suggestion(f"destruct {rule.name}", 0.95)
        return
    if view.conclusion.kind == "forall":
        return
    for place, (texts, values) in enumerate(_choices(rule, view)):
        weight = (0.2 if rule.own else 0.15) / (1 + place) * (1.0 if rule.binders else 1.2)
        stated = substitute(rule.stated, values)
        if _is_known(stated, view):
            continue
        shown = pattern(stated)
        yield Suggestion(f"destruct {_call(rule, texts)} as {shown}", weight)
        if head(rule.stated) in ("or", "sumbool"):
            yield Suggestion(f"destruct {_call(rule, texts)}; auto", weight * 0.6)


def _is_known(stated: Term, view: View) -> bool:
    """Return whether a hypothesis states one of the cases, or the same for some witness: then the lemma was used
    before.
    """
    given = arguments(stated)
    if head(stated) in ("ex", "sig"):
        if given[-1].kind != "fun":
            return False
        body, witness = given[-1].parts[1], frozenset(given[-1].names)
        cases = arguments(body) if head(body) == "and" else (body,)
        return any(match(case, proof.type, witness) is not None for case in cases for proof in view.proofs)
    return any(case == proof.type for case in given for proof in view.proofs)


def _choices(rule: Rule, view: View) -> list[tuple[list[str], dict[str, Term]]]:
    """Yield arguments for a rule without premises: each as text and, if relevant, as a term."""
    options: list[Sequence[Term | None]] = []
    for binder in rule.binders:
        if binder.type.kind == "sort" and binder.type.label == "Prop":
            options.append(list(_propositions(view))[:_MOST_CHOICES])
        elif binder.type.kind == "sort":
            options.append([None])  # a type: it is inferred from its elements
        else:
            kind = binder.type
            fits = [
                given.name
                for given in view.givens
                if given.role != "proof"
                and (given.type == kind or (free_names(kind) & rule.variables and head(given.type) == head(kind)))
            ]
            options.append([name(label) for label in fits[:_MOST_CHOICES]])
    found = []
    for chosen in product(*options):
        values = {binder.name: value for binder, value in zip(rule.binders, chosen, strict=True) if value is not None}
        if len({render(value) for value in values.values()}) < len(values):
            continue  # the same argument twice is rarely useful
        found.append((["_" if value is None else render(value, True) for value in chosen], values))
        if len(found) == _MOST_CHOICES:
            break
    return found


def _propositions(view: View) -> Iterable[Term]:
    """Yield propositions that occur in a goal and may hold or not, the most promising first."""
    found: dict[Term, None] = {}
    for statement in (view.conclusion, *(given.type for given in view.proofs[:6])):
        parts = [statement]
        while parts:
            part = parts.pop(0)
            symbol = head(part)
            if symbol in ("or", "and", "iff", "not"):
                parts.extend(arguments(part))
                if symbol == "not" or statement is not view.conclusion:
                    continue
            elif part.kind == "forall" and part.names[0] == "_":
                parts.extend(part.parts)
                continue
            if (
                symbol not in ("False", "True")
                and is_closed_under(part, bound_names(statement) - view.names)
                and sum(1 for _ in subterms(part)) <= _LARGEST
            ):
                found.setdefault(part)
    return found


def _contradiction(rule: Rule, view: View) -> Iterator[Suggestion]:
    """Use an equation that cannot hold, which proves everything."""
    kind, left, right = arguments(rule.stated)
    weight = 0.9 if head(view.conclusion) == "False" else 0.3
    if head(left) in CONSTRUCTORS and head(right) in CONSTRUCTORS and head(left) != head(right) and not rule.binders:
        yield Suggestion(f"discriminate {rule.name}", weight)
    elif (
        left.kind == right.kind == "name"
        and left != right
        and {left.label, right.label} == rule.variables
        and head(kind) in _TWO_VALUES
    ):
        yield Suggestion(f"discriminate {_call(rule, _TWO_VALUES[head(kind)])}", weight if weight > 0.5 else 0.04)


def _at_variables(rule: Rule, view: View) -> Iterator[Suggestion]:
    """Rewrite with an equation for every element of a type, at a variable of the goal."""
    _, left, right = arguments(rule.stated)
    inside = free_names(view.conclusion)
    for source, arrow in ((left, ""), (right, "<- ")):
        other = right if source is left else left
        if source.kind != "name" or rule.variables != {source.label} or source.label in free_names(other):
            continue
        kind = next(binder.type for binder in rule.binders if binder.name == source.label)
        fits = [given.name for given in view.data if given.type == kind and given.name in inside]
        for label in fits[:_MOST_CHOICES]:
            yield Suggestion(f"rewrite {arrow}{_call(rule, [label])}", 0.2)
        closed = [
            part
            for part in subterms(view.conclusion)
            if head(part) in CONSTRUCTORS and part != other and part.kind in ("name", "app")
        ]
        for part in (
            list(dict.fromkeys(closed))[:2]
            if head(kind) in _TWO_VALUES and is_closed_under(view.conclusion, frozenset())
            else ()
        ):
            yield Suggestion(f"rewrite {arrow}{_call(rule, [render(part, True)])}", 0.08)


def _induction(rule: Rule, view: View) -> Iterator[Suggestion]:
    """Use an induction principle that the file states, on variables of its types."""
    kinds = {binder.name: binder.type for binder in rule.binders}
    if conclusion(kinds[head(rule.stated)]).label != "Prop":
        return
    wanted = [kinds[argument.label] for argument in arguments(rule.stated)]
    inside = free_names(view.conclusion)
    known = [Binder(given.name, given.type) for given in view.data if given.name in inside]
    quantified = [binder for binder in peel(view.conclusion)[0] if binder.name != "_"]
    variables = [*known, *quantified]
    if len(wanted) == 1:
        for binder in [binder for binder in variables if binder.type == wanted[0]][:_MOST_CHOICES]:
            yield Suggestion(f"induction {binder.name} using {rule.name}", 0.15)
            yield Suggestion(f"induction {binder.name} using {rule.name}; simpl; intros; auto", 0.1)
    else:
        chosen: list[str] = []
        for kind in wanted:
            chosen += [binder.name for binder in variables if binder.type == kind and binder.name not in chosen][:1]
        if len(chosen) == len(wanted):
            yield Suggestion(f"induction {', '.join(chosen)} using {rule.name}", 0.15)
