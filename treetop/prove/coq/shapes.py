"""Tactics for the form of a conclusion: quantifiers, connectives, equations, existentials, definitions, tests.

The numbers are weights between 0 and 1: how often is this tactic used in a proof of a goal of this form? About 0.9:
hardly anything else makes sense; 0.5: a good habit; 0.2: one of several options; below 0.1: a last resort.
"""

from __future__ import annotations

from collections.abc import Iterator

from treetop.prove.coq.recursion import CONSTRUCTORS, Recursion
from treetop.prove.coq.syntax import Term, render
from treetop.prove.coq.terms import (
    arguments,
    bound_names,
    free_names,
    head,
    is_closed_under,
    match,
    peel,
    scrutinees,
    subterms,
    symbol,
)
from treetop.prove.coq.views import View
from treetop.prove.prover import Suggestion

CONNECTIVES = frozenset(("and", "or", "not", "iff", "ex", "ex2", "True", "False"))
_CLOSED = frozenset((
    *CONNECTIVES, "eq", "le", "nat", "list", "bool", "option", "prod", "sum", "unit", "sig", "sigT", "sumbool",
    *CONSTRUCTORS
))  # fmt: skip
_LARGEST_PATTERN = 6


def on_conclusion(view: View, recursion: Recursion) -> Iterator[Suggestion]:
    """Yield tactics for the conclusion as it is."""
    stated = view.conclusion
    if stated.kind == "forall":
        yield from _introductions(stated)
    elif stated.kind == "let":
        yield from _pairs(("intros", 0.6), ("simpl", 0.3))
    else:
        symbol = head(stated)
        yield from _ATOMS[symbol](view) if symbol in _ATOMS else _pairs(*_FIXED.get(symbol, _OTHER))
    yield from _computations(view, recursion)
    yield from _unfoldings(view, recursion)


def _pairs(*pairs: tuple[str, float]) -> Iterator[Suggestion]:
    return (Suggestion(*pair) for pair in pairs)


def pattern(kind: Term, depth: int = 0) -> str:
    """Return the introduction pattern that destructs a hypothesis of this type as far as its connectives go.

    Coq chooses the names.
    """
    given, symbol = arguments(kind), head(kind)
    if depth < _LARGEST_PATTERN:
        if symbol in ("and", "prod", "iff") and len(given) == 2 and not (symbol == "iff" and depth == 0):
            return f"[{pattern(given[0], depth + 1)} {pattern(given[1], depth + 1)}]" if symbol != "iff" else "?"
        if symbol in ("or", "sumbool") and len(given) == 2:
            return f"[{pattern(given[0], depth + 1)}|{pattern(given[1], depth + 1)}]"
        if symbol in ("ex", "sig") and len(given) == 2 and given[1].kind == "fun":
            return f"[? {pattern(given[1].parts[1], depth + 1)}]"
        if symbol == "False":
            return "[]"
    return "?"


def _introductions(stated: Term) -> Iterator[Suggestion]:
    binders, inner = peel(stated)
    yield Suggestion("intros", 0.75)
    patterns = [pattern(binder.type) if binder.name == "_" else "?" for binder in binders]
    if any(one != "?" for one in patterns):
        while patterns[-1] == "?":
            patterns.pop()
        yield Suggestion(f"intros {' '.join(patterns)}", 0.5)
    if len(binders) > 1:
        yield Suggestion("intro", 0.08)
        yield from _pairs(
            ("intros; simpl", 0.1),
            ("intros; subst", 0.1 if any(head(binder.type) == "eq" for binder in binders) else 0.0),
        )
    if head(inner) == "eq":
        yield Suggestion("intros; reflexivity", 0.15)
    elif head(inner) in ("and", "iff"):
        yield Suggestion("intros; split", 0.2)


def _equation(view: View) -> Iterator[Suggestion]:
    stated = view.conclusion
    given = arguments(stated)
    if len(given) != 3:
        return
    left, right = given[1:]
    alike = left.kind == right.kind == "app" and left.parts[0] == right.parts[0] and len(left.parts) == len(right.parts)
    yield Suggestion("reflexivity", 0.98 if left == right else 0.3)
    if alike:
        yield from _pairs(("f_equal", 0.3), ("f_equal; auto", 0.25), ("f_equal; assumption", 0.1))
    elif head(left) in CONSTRUCTORS and head(right) in CONSTRUCTORS and left.kind != "match" and right.kind != "match":
        yield Suggestion("exfalso", 0.3)
    yield from _pairs(("symmetry", 0.05), ("congruence", 0.25 if view.proofs else 0.1), ("simpl; reflexivity", 0.08))
    if any(given.name in free_names(stated) and head(given.type) == "eq" for given in view.proofs):
        yield Suggestion("symmetry; assumption", 0.1)


def _conjunction(view: View) -> Iterator[Suggestion]:
    parts = arguments(view.conclusion)
    return _pairs(
        ("split", 0.7),
        ("split; auto", 0.3),
        ("split; assumption", 0.1),
        ("split; intros", 0.25 if any(part.kind == "forall" for part in parts) else 0.0),
        ("repeat split", 0.1 if any(head(part) == "and" for part in parts) else 0.0),
    )


def _equivalence(view: View) -> Iterator[Suggestion]:
    given = arguments(view.conclusion)
    if len(given) == 2:
        there, back = pattern(given[0]), pattern(given[1])
        yield from _pairs(
            ("split", 0.5),
            ("split; intros", 0.45),
            ("reflexivity", 0.9 if given[0] == given[1] else 0.03),
            ("symmetry", 0.02),
        )
        if there != "?" or back != "?":
            yield Suggestion(f"split; [intros {there} | intros {back}]", 0.45)


def _disjunction(view: View) -> Iterator[Suggestion]:
    for tactic, side in zip(("left", "right"), arguments(view.conclusion), strict=False):
        known = any(given.type == side for given in view.proofs)
        yield from _pairs((tactic, 0.3), (f"{tactic}; assumption", 0.9 if known else 0.05), (f"{tactic}; auto", 0.15))
        if head(side) == "eq":
            yield Suggestion(f"{tactic}; reflexivity", 0.15)


def _existence(view: View) -> Iterator[Suggestion]:
    yield from _pairs(
        ("eexists; eauto 3", 0.2),
        ("eexists; reflexivity", 0.1),
        ("eexists; eassumption", 0.15),
        ("eexists; split; eauto 3", 0.1),
    )
    given = arguments(view.conclusion)
    if len(given) == 2 and given[1].kind == "fun":
        for witness, weight in witnesses(view, given[0], given[1])[:8]:
            yield Suggestion(f"exists {render(witness, True)}", weight)


def witnesses(view: View, kind: Term, predicate: Term) -> list[tuple[Term, float]]:
    """Yield terms that may satisfy a predicate `fun x : kind => body`, the best first: values of x in the body or in a
    hypothesis, then variables of the type.
    """
    wanted, body = predicate.names[0], predicate.parts[1]
    variables = frozenset((wanted,))
    unusable = bound_names(body) | variables
    found: dict[Term, float] = {}
    for part in subterms(body):
        given = arguments(part)
        if head(part) == "eq" and len(given) == 3:
            for one, other in (given[1:], given[:0:-1]):
                if one.label == wanted and not free_names(other) & unusable:
                    found.setdefault(other, 0.5)
        if part.kind == "app" and wanted in free_names(part) and head(part) not in ("and", "ex", "or"):
            for known in view.proofs:
                values = match(part, known.type, variables)
                if values and wanted in values and not free_names(values[wanted]) & bound_names(known.type):
                    found.setdefault(values[wanted], 0.4)
    fitting = [given.name for given in view.data if given.type == kind]
    for label in fitting:
        found.setdefault(Term("name", label), 0.3 / len(fitting))
    closed = {"nat": ("O", "S O"), "bool": ("true", "false")}.get(head(kind), ())
    for label in closed:
        found.setdefault(Term("name", label if " " not in label else f"({label})"), 0.08)
    return sorted(found.items(), key=lambda pair: -pair[1])


def _negation(view: View) -> Iterator[Suggestion]:
    inner = arguments(view.conclusion)
    yield from _pairs(
        ("intro", 0.5),
        ("intros H" if "H" not in view.names else f"intros {view.fresh('H')}", 0.1),
        ("discriminate", 0.12),
    )
    if inner and pattern(inner[0]) != "?":
        yield Suggestion(f"intros {pattern(inner[0])}", 0.4)
    if inner and head(inner[0]) == "eq":
        yield from _pairs(("intro; subst", 0.15), ("congruence", 0.3))


def _decision(view: View) -> Iterator[Suggestion]:
    yield from _disjunction(view)
    yield from _pairs(("decide equality", 0.4), ("repeat decide equality", 0.1))


_OTHER = (
    ("constructor", 0.25),
    ("constructor; auto", 0.2),
    ("econstructor; eauto 3", 0.15),
    ("reflexivity", 0.12),
    ("red; intros", 0.15),
    ("red", 0.05),
    ("constructor; assumption", 0.1),
    ("econstructor; eassumption", 0.06),
    ("hnf", 0.03),
    ("constructor 2", 0.05),
    ("econstructor 2; eauto 3", 0.06),
    ("econstructor 2; eassumption", 0.05),
    ("exfalso", 0.02),
)
_FIXED = {
    "True": (("exact I", 0.99),),
    "False": (("contradiction", 0.4), ("discriminate", 0.2), ("congruence", 0.3), ("easy", 0.3)),
}
_ATOMS = {
    "eq": _equation,
    "and": _conjunction,
    "prod": _conjunction,
    "iff": _equivalence,
    "or": _disjunction,
    "ex": _existence,
    "sig": _existence,
    "not": _negation,
    "sumbool": _decision,
}


def _computations(view: View, recursion: Recursion) -> Iterator[Suggestion]:
    """Compute, and destruct what prevents it."""
    if computes(view.conclusion, recursion):
        yield from _pairs(("simpl", 0.45), ("simpl; auto", 0.2), ("cbn", 0.04), ("simpl; intros", 0.15))
    else:
        yield from _pairs(("simpl", 0.05), ("cbn", 0.005))
    for place, test in enumerate(scrutinees(view.conclusion)[:3]):
        yield from cases(view, test, 0.5 / (1 + place))
    tests = [
        part
        for part in view.parts
        if part.kind == "app" and _decides(head(part)) and part not in scrutinees(view.conclusion)
    ]
    for place, test in enumerate(tests[:3]):
        yield from cases(view, test, 0.15 / (1 + place))


def cases(view: View, test: Term, weight: float) -> Iterator[Suggestion]:
    """Destruct a term: by name if it is a variable, else with its equation."""
    if test.kind == "name" and test.label in view.names:
        yield from _pairs(
            (f"destruct {test.label}", weight),
            (f"destruct {test.label}; simpl", weight / 3),
            (f"destruct {test.label}; auto", weight / 3),
        )
        return
    if test.kind in ("name", "opaque", "match") or not is_closed_under(test, frozenset()):
        return
    text = render(test, True)
    if head(test).endswith("_dec"):
        yield from _pairs((f"destruct {text}", weight), (f"destruct {text}; auto", weight / 2))
    else:
        equation = view.fresh("E")
        yield from _pairs(
            (f"destruct {text} eqn:{equation}", weight),
            (f"destruct {text}; auto", weight / 3),
            (f"case {text}", weight / 10),
        )
        yield Suggestion(f"destruct {text} eqn:{equation}; try reflexivity; try discriminate", weight / 3)


def _decides(label: str) -> bool:
    return label.endswith(("eqb", "leb", "ltb", "_dec", "compare", "existsb", "forallb", "even", "odd"))


def computes(term: Term, recursion: Recursion) -> bool:
    """Return whether `simpl` would have an effect, as far as can be seen."""
    for part in subterms(term):
        if part.kind == "app":
            function = part.parts[0]
            if function.kind == "fun":
                return True
            if function.kind == "name":
                given = part.parts[1:]
                places = recursion.places(symbol(function.label))
                if places and places[0] < len(given) and recursion.is_constructor(head(given[places[0]])):
                    return True
        elif part.kind == "match" and recursion.is_constructor(head(part.parts[0])):
            return True
    return False


def _unfoldings(view: View, recursion: Recursion) -> Iterator[Suggestion]:
    stated = peel(view.conclusion)[1]
    first = head(stated)
    plain = [label for label in sorted(view.symbols) if recursion.is_plain(label)]
    if first in ("not", "lt", "gt", "ge", "iff"):
        yield Suggestion(f"unfold {first}", 0.08)
    elif (
        first not in _CLOSED
        and first not in view.names
        and not first.startswith("<")
        and not recursion.is_inductive(first)
    ):
        yield Suggestion(f"unfold {first}", 0.35 if first in plain else 0.05)
        if first in plain:
            yield Suggestion(f"unfold {first} in *", 0.2)
            yield Suggestion(
                f"intros; unfold {first}" if view.conclusion.kind == "forall" else f"unfold {first}; intros", 0.2
            )
    others = [
        label for label in plain if label not in (first, "not", "iff", "lt", "gt", "ge", "unique", "Nat.lt", "Nat.le")
    ]
    for label in others[:4]:
        yield Suggestion(f"unfold {label}", 0.1)
    if len(others) > 1:
        yield Suggestion(f"unfold {', '.join(others)}", 0.06)
