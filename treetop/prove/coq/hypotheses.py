"""Tactics for the hypotheses of a goal: destruct, apply, rewrite, invert.

The weights are defined as in `shapes`.
"""

from __future__ import annotations

from collections.abc import Iterator

from treetop.prove.coq.recursion import CONSTRUCTORS, Recursion
from treetop.prove.coq.shapes import cases, computes, pattern
from treetop.prove.coq.support import determined, instances, support
from treetop.prove.coq.syntax import Term
from treetop.prove.coq.terms import (
    Binder,
    arguments,
    bound_names,
    conclusion,
    conclusions,
    free_names,
    head,
    match,
    peel,
    scrutinees,
    substitute,
    subterms,
)
from treetop.prove.coq.views import Given, View
from treetop.prove.prover import Suggestion

_MOST = 12  # hypotheses considered, the newest first
_TAKE_APART = (
    "repeat match goal with H : and _ _ |- _ => destruct H | H : ex _ |- _ => destruct H "
    "| H : or _ _ |- _ => destruct H end"
)
_ORDERS = frozenset(("lt", "gt", "ge", "Nat.lt", "Nat.le"))
_DEFINED = frozenset(("In", "incl", "lt", "gt", "ge", "not", "iff", "Nat.lt", "Nat.le", "well_founded"))


def on_hypotheses(view: View, recursion: Recursion) -> Iterator[Suggestion]:
    """Yield tactics for the hypotheses."""
    known = view.proofs[:_MOST]
    if any(given.type == view.conclusion for given in known):
        yield Suggestion("assumption", 0.99)
    elif known:
        yield Suggestion("assumption", 0.1)
    loose = [given for given in known if head(given.type) in ("and", "ex", "or", "False")]
    if len(loose) > 1:
        yield Suggestion(_TAKE_APART, 0.3)
    if any(_identifies(view, given) for given in known):
        yield from (Suggestion("subst", 0.5), Suggestion("subst; auto", 0.2), Suggestion("subst; reflexivity", 0.1))
    for given in known:
        binders, stated = peel(given.type)
        if not binders:
            yield from _fact(view, given, recursion)
        yield from _use(view, given, binders, stated)
    if _contradictory(known):
        yield Suggestion("contradiction", 0.97)
    if len(known) > 1 and any(computes(given.type, recursion) for given in known):
        yield from (Suggestion("simpl in *", 0.25), Suggestion("simpl in *; auto", 0.1))


def _identifies(view: View, given: Given) -> bool:
    """Use an equation with a variable of the context on one side."""
    sides = arguments(given.type)
    return (
        head(given.type) == "eq"
        and len(sides) == 3
        and any(side.kind == "name" and side.label in view.names for side in sides[1:])
    )


def _contradictory(known: tuple[Given, ...]) -> bool:
    stated = {given.type for given in known}
    return any(head(kind) == "False" or (head(kind) == "not" and arguments(kind)[0] in stated) for kind in stated)


def _fact(view: View, given: Given, recursion: Recursion) -> Iterator[Suggestion]:
    """Use a hypothesis without premises."""
    label, kind = given.name, given.type
    symbol, sides = head(kind), arguments(kind)
    if symbol == "eq" and len(sides) == 3:
        yield from _equation(given, sides[1], sides[2], recursion)
    elif symbol in ("and", "ex", "sig", "prod", "or", "sumbool", "False"):
        yield Suggestion(
            f"destruct {label} as {pattern(kind)}",
            0.4 if symbol in ("or", "sumbool") else 0.98 if symbol == "False" else 0.7,
        )
        if symbol in ("or", "sumbool"):
            yield Suggestion(f"destruct {label}; auto", 0.2)
    elif symbol == "not":
        yield from (
            Suggestion(f"destruct {label}", 0.25 if head(view.conclusion) == "False" else 0.1),
            Suggestion(f"elim {label}; auto", 0.1),
        )
        yield Suggestion(f"exfalso; apply {label}", 0.0 if head(view.conclusion) == "False" else 0.12)
    elif symbol == "iff":
        yield from (
            Suggestion(f"destruct {label}", 0.15),
            Suggestion(f"rewrite {label}", 0.1),
            Suggestion(f"rewrite <- {label}", 0.08),
        )
    elif kind.kind != "match" and symbol not in view.names:
        if recursion.is_plain(symbol):
            yield from (
                Suggestion(f"unfold {symbol} in {label}", 0.2),
                Suggestion(f"unfold {symbol} in *", 0.15),
                Suggestion(f"red in {label}", 0.05),
            )
        yield from _inductive(view, given, recursion)
    if computes(kind, recursion):
        yield Suggestion(f"simpl in {label}", 0.3)
    for place, test in enumerate(scrutinees(kind)[:2]):
        yield from cases(view, test, 0.3 / (1 + place))


def _inductive(view: View, given: Given, recursion: Recursion) -> Iterator[Suggestion]:
    """Use a fact of an inductive predicate: its cases, or induction over it."""
    label, symbol = given.name, head(given.type)
    made = any(recursion.is_constructor(head(side)) for side in arguments(given.type))
    if symbol in _ORDERS and made:
        scale = 0.5 if head(arguments(given.type)[-1]) == "O" else 0.3
    elif symbol in _DEFINED or recursion.is_plain(symbol) or recursion.places(symbol):
        scale = 0.15
    else:
        scale = 1.0 if made else 0.5
    yield from (Suggestion(f"inversion {label}; subst", 0.3 * scale), Suggestion(f"inversion {label}", 0.1 * scale))
    yield from (
        Suggestion(f"destruct {label}", 0.2 * scale),
        Suggestion(f"inversion {label}; subst; auto", 0.15 * scale),
    )
    yield Suggestion(f"inversion {label}; assumption", 0.05 * scale)
    if scale == 0.5 and not made:
        scale = 0.4 ** min(2, sum(other.name.startswith("IH") for other in view.proofs)) * (
            1.0 if recursion.is_inductive(symbol) else 0.5
        )
        yield from (Suggestion(f"induction {label}", 0.35 * scale), Suggestion(f"induction {label}; auto", 0.2 * scale))
        yield from (
            Suggestion(f"induction {label}; eauto 3", 0.25 * scale),
            Suggestion(f"induction {label}; intros", 0.1 * scale),
        )
        yield Suggestion(f"induction {label}; simpl; auto", 0.1 * scale)


def _equation(given: Given, left: Term, right: Term, recursion: Recursion) -> Iterator[Suggestion]:
    label = given.name
    made = [recursion.is_constructor(head(side)) for side in (left, right)]
    if all(made):
        if head(left) != head(right):
            yield Suggestion("discriminate", 0.97)
        elif left != right:
            yield from (
                Suggestion(f"injection {label} as; subst", 0.3),
                Suggestion(f"inversion {label}; subst", 0.3),
                Suggestion(f"injection {label} as", 0.1),
            )
            yield Suggestion(f"inversion {label}; subst; auto", 0.15)
    elif left == right:
        yield Suggestion(f"clear {label}", 0.2)
    if any(made):
        yield from (Suggestion(f"discriminate {label}", 0.05), Suggestion(f"inversion {label}", 0.05))


def _use(view: View, given: Given, binders: tuple[Binder, ...], stated: Term) -> Iterator[Suggestion]:
    """Use a hypothesis as a rule: backwards, forwards, and as an equation."""
    variables = frozenset(binder.name for binder in binders) - {"_"}
    favour = 1.3 if given.name.startswith("IH") else 1.0
    yield from backwards(view, given, 0.45 * favour)
    yield from _forwards(view, given)
    sides = arguments(stated)
    if head(stated) == "eq" and len(sides) == 3:
        yield from rewriting(view, given.name, binders, sides[1], sides[2], 0.4 * favour)
        for other in view.proofs[:_MOST]:
            if other.name != given.name and _occurs(sides[1], other.type, variables):
                yield Suggestion(f"rewrite {given.name} in {other.name}", 0.15)
            elif other.name != given.name and sides[2].kind == "app" and _occurs(sides[2], other.type, variables):
                yield Suggestion(f"rewrite <- {given.name} in {other.name}", 0.06)


def backwards(view: View, given: Given, weight: float) -> Iterator[Suggestion]:
    """`apply` a hypothesis if the conclusion is an instance of its statement, or of a part of it."""
    label = given.name
    for binders, stated in conclusions(given.type):
        variables = frozenset(binder.name for binder in binders) - {"_"}
        found = None if head(stated) in variables else match(stated, view.conclusion, variables)
        if found is None or (not binders and stated is given.type):
            continue
        needs = support(binders, found, view)
        ends = weight * 0.3 if not needs.complete else 0.85
        if needs.determined:
            yield Suggestion(f"apply {label}", 0.9 if not needs.wanted else weight)
            if needs.wanted:
                yield from (
                    Suggestion(f"apply {label}; auto", weight * 0.6),
                    Suggestion(f"apply {label}; assumption", ends),
                )
        else:
            yield from (
                Suggestion(f"eapply {label}; eauto 3", weight * 0.7),
                Suggestion(f"eapply {label}; eassumption", ends),
            )
            yield from (
                Suggestion(f"apply {label}{values}", weight * 0.7) for values in instances(binders, found, view)
            )
        return


def rewriting(
    view: View, label: str, binders: tuple[Binder, ...], left: Term, right: Term, weight: float
) -> Iterator[Suggestion]:
    """`rewrite` with an equation, in both directions, if that side occurs in the conclusion."""
    variables = frozenset(binder.name for binder in binders) - {"_"}
    conditional = any(binder.name == "_" for binder in binders)
    for arrow, source, target, scale in (("", left, right, 1.0), ("<- ", right, left, 0.35)):
        if source.kind == "name" and source.label in variables:
            continue
        if source.kind == "name" and arrow and head(target) not in CONSTRUCTORS:
            scale *= 0.5
        if _occurs(source, view.conclusion, variables):
            yield Suggestion(f"rewrite {arrow}{label}", weight * scale)
            yield Suggestion(f"rewrite {arrow}{label}; auto", weight * scale * 0.6)
            yield Suggestion(
                f"rewrite {arrow}{label}; {'assumption' if conditional else 'reflexivity'}", weight * scale * 0.4
            )


def _occurs(pattern_: Term, term: Term, variables: frozenset[str]) -> bool:
    """Return whether a part of the term without bound variables is an instance of the pattern."""
    symbol = head(pattern_)
    if symbol in variables:
        return False
    bound = bound_names(term)
    return any(
        head(part) == symbol
        and match(pattern_, part, variables) is not None
        and not (bound and free_names(part) & bound)
        for part in subterms(term)
    )


def _forwards(view: View, given: Given) -> Iterator[Suggestion]:
    """Combine a hypothesis with another one: by an implication, or by an equivalence in either direction."""
    for binders, stated in conclusions(given.type):
        variables = frozenset(binder.name for binder in binders) - {"_"}
        premises = [binder.type for binder in binders if binder.name == "_"]
        for other in view.proofs[:_MOST] if premises and head(stated) != "False" else ():
            if other.name == given.name or other.type.kind == "forall":
                continue
            for premise in premises:
                if head(premise) in variables or (found := match(premise, other.type, variables)) is None:
                    continue
                if determined(binders, found):
                    ends = substitute(stated, found) == view.conclusion
                    rest = support(binders, found, view)
                    weight = 0.2 if len(premises) == 1 else 0.1 if rest.complete else 0.05
                    yield Suggestion(f"apply {given.name} in {other.name}", 0.5 if ends and rest.complete else weight)
                if len(premises) == 1 and head(stated) in ("and", "ex", "or"):
                    blanks = " ".join(other.name if binder.name == "_" else "_" for binder in binders)
                    if stated is conclusion(given.type):
                        yield Suggestion(f"destruct ({given.name} {blanks}) as {pattern(stated)}", 0.2)
                break
