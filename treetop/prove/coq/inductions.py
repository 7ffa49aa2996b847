"""Choose the variable for induction, and what to generalize."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from treetop.prove.coq.recursion import Recursion
from treetop.prove.coq.syntax import Term
from treetop.prove.coq.terms import Binder, arguments, bound_names, free_names, head, peel, subterms, symbol
from treetop.prove.coq.views import View, role
from treetop.prove.prover import Suggestion

_INDUCTIVE = frozenset((
    "nat", "list", "option", "bool", "prod", "positive", "N", "Z", "string", "comparison", "unit", "sum", "sumbool",
    "sig"
))  # fmt: skip
_QUICKLY = "try reflexivity; try discriminate; try assumption"
_LOGICAL = frozenset(("eq", "and", "or", "not", "iff", "ex", "False", "True", "lt", "gt", "ge", "sumbool"))
_RECURSIVE = frozenset(("nat", "list", "positive", "string"))


def on_variables(view: View, recursion: Recursion) -> Iterator[Suggestion]:
    """Yield induction and case analysis on variables, quantified ones and those of the context."""
    binders, inner = peel(view.conclusion)
    quantified = {binder.name: binder.type for binder in binders if binder.name != "_"}
    inside = bound_names(inner)
    looked = Counter(
        term.label for term in recursion.looked_at(view.conclusion, inside - quantified.keys()) if term.kind == "name"
    )
    done = 0.35 ** sum(given.name.startswith("IH") for given in view.proofs)
    ranked = _ranked(view, recursion, quantified, looked)
    for place, (label, kind, weight) in enumerate(ranked[:4]):
        weight *= 0.75**place
        yield from _by_cases(label, kind, weight, label in quantified)
        if head(kind) in _RECURSIVE or head(kind) not in _INDUCTIVE:
            yield from _by_induction(view, label, weight * done, label in quantified)
    yield from _pairwise(view, recursion, quantified, done)
    yield from _on_premises(binders, recursion, done, view)
    yield from _booleans(view, quantified)


def _pairwise(view: View, recursion: Recursion, quantified: dict[str, Term], done: float) -> Iterator[Suggestion]:
    """Use functions that match on two variables: induction on one, and cases of the other in every case."""
    found: dict[tuple[str, str], None] = {}
    for part in subterms(view.conclusion):
        if part.kind == "app" and part.parts[0].kind == "name":
            places = recursion.places(symbol(part.parts[0].label))
            given = [
                part.parts[place + 1].label
                for place in places[:2]
                if place + 1 < len(part.parts) and part.parts[place + 1].kind == "name"
            ]
            if len(given) == 2 and given[0] != given[1]:
                found[given[0], given[1]] = None
    for first, second in list(found)[:2]:
        if first in quantified and second in quantified:
            before = f"induction {first}; destruct {second}"
        elif first in view.by_name and second in view.by_name:
            before = f"generalize dependent {second}; induction {first}; destruct {second}"
        else:
            continue
        yield from (
            Suggestion(f"{before}; simpl; intros", 0.3 * done),
            Suggestion(f"{before}; simpl; intros; auto", 0.3 * done),
        )
        yield Suggestion(f"{before}; simpl; intros; {_QUICKLY}", 0.2 * done)


def _on_premises(binders: tuple[Binder, ...], recursion: Recursion, done: float, view: View) -> Iterator[Suggestion]:
    """Use induction on a premise that is not introduced yet, so that the conclusion stays general."""
    premises = [binder.type for binder in binders if binder.name == "_"]
    for place, kind in enumerate(premises[:3]):
        symbol = head(kind)
        if (
            symbol in _LOGICAL
            or symbol in view.names
            or kind.kind != "app"
            or recursion.is_plain(symbol)
            or recursion.places(symbol)
        ):
            continue
        weight = 0.35 * done * 0.6**place * (1.0 if recursion.is_inductive(symbol) else 0.5)
        yield from (
            Suggestion(f"induction {place + 1}", weight),
            Suggestion(f"induction {place + 1}; eauto 3", weight * 0.7),
        )
        yield from (
            Suggestion(f"induction {place + 1}; intros", weight * 0.4),
            Suggestion(f"induction {place + 1}; simpl; auto", weight * 0.4),
        )
        yield from (
            Suggestion(f"destruct {place + 1}", weight * 0.5),
            Suggestion(f"inversion {place + 1}; subst", weight * 0.4),
        )


def _ranked(
    view: View, recursion: Recursion, quantified: dict[str, Term], looked: Counter[str]
) -> list[tuple[str, Term, float]]:
    """Return the variables to consider: those that functions recur on, most frequent first; then others of inductive
    types.
    """
    candidates: list[tuple[str, Term, float]] = []
    known = view.by_name
    mentioned = free_names(view.conclusion)
    for label, kind in [*((given.name, given.type) for given in view.data if given.value is None), *quantified.items()]:
        if (
            kind.kind == "forall"
            or kind.kind == "sort"
            or role(label, kind, known) != "data"
            or head(kind) in view.names | quantified.keys()
            or recursion.is_plain(head(kind))
        ):
            continue
        if label in looked:
            candidates.append((label, kind, 0.35 + 0.03 * min(looked[label], 5)))
        elif head(kind) in _INDUCTIVE and (label in mentioned or label in quantified):
            candidates.append((label, kind, 0.1))
        elif head(kind) not in _INDUCTIVE and (label in mentioned or label in quantified):
            candidates.append((label, kind, 0.08))
    return sorted(candidates, key=lambda candidate: -candidate[2])


def _by_cases(label: str, kind: Term, weight: float, quantified: bool) -> Iterator[Suggestion]:
    weight *= 0.5 if head(kind) in _RECURSIVE else 0.9
    yield from (
        Suggestion(f"destruct {label}", weight),
        Suggestion(f"destruct {label}; simpl", weight * 0.5),
        Suggestion(f"destruct {label}; auto", weight * 0.4),
    )
    yield Suggestion(f"destruct {label}; simpl; {_QUICKLY}", weight * 0.35)
    if quantified:
        yield Suggestion(f"destruct {label}; intros", weight * 0.3)


def _by_induction(view: View, label: str, weight: float, quantified: bool) -> Iterator[Suggestion]:
    hypothesis = f"IH{label}"
    if quantified:
        yield Suggestion(f"induction {label}; simpl; intros", weight * 0.7)
    yield from (Suggestion(f"induction {label}", weight), Suggestion(f"induction {label}; simpl", weight * 0.9))
    yield from (
        Suggestion(f"induction {label}; simpl; auto", weight * 0.8),
        Suggestion(f"induction {label}; intros; simpl; auto", weight * 0.4 if quantified else 0.0),
    )
    if hypothesis not in view.names:
        yield Suggestion(
            f"induction {label}; simpl; intros; try reflexivity; try (rewrite {hypothesis}; reflexivity)", weight * 0.3
        )
        yield Suggestion(f"induction {label}; simpl; intros; auto; try (rewrite {hypothesis}; auto)", weight * 0.5)
    yield Suggestion(f"induction {label}; simpl; intuition; subst; auto", weight * 0.3)
    yield Suggestion(f"induction {label}; simpl; intros; {_QUICKLY}", weight * 0.4)
    if not quantified:
        others = [given for given in view.data if given.name != label and given.name in free_names(view.conclusion)
                  and label not in free_names(given.type) and given.value is None]  # fmt: skip
        likely = [given.name for given in others if head(given.type) in _INDUCTIVE]
        for general, scale in ((likely, 1.0), ([given.name for given in others], 0.4)):
            if general and (scale == 1.0 or general != likely):
                before = "; ".join(f"generalize dependent {other}" for other in general)
                yield Suggestion(f"{before}; induction {label}; simpl; intros", weight * 0.5 * scale)
                yield Suggestion(f"{before}; induction {label}; simpl; intros; auto", weight * 0.35 * scale)
                yield Suggestion(f"{before}; induction {label}", weight * 0.2 * scale)
        if others:
            return
        if any(given.name.startswith("H") and label in free_names(given.type) for given in view.proofs):
            yield Suggestion(f"induction {label}; simpl in *; intros", weight * 0.3)


def _booleans(view: View, quantified: dict[str, Term]) -> Iterator[Suggestion]:
    """Destruct a few booleans at once."""
    mentioned = free_names(view.conclusion).union(*(free_names(given.type) for given in view.proofs))
    own = [
        given.name
        for given in view.data
        if head(given.type) == "bool" and not arguments(given.type) and given.name in mentioned
    ]
    asked = [label for label, kind in quantified.items() if head(kind) == "bool" and not arguments(kind)]
    labels = own + asked
    if not 1 <= len(labels) <= 5:
        return
    split = f"intros; destruct {', '.join(labels)}" if asked else f"destruct {', '.join(labels)}"
    yield from (
        Suggestion(f"{split}; reflexivity", 0.5),
        Suggestion(f"{split}; simpl; auto", 0.45),
        Suggestion(f"{split}; simpl; intros; try reflexivity; try discriminate", 0.4),
    )
    yield from (
        Suggestion(f"{split}; simpl", 0.2),
        Suggestion(f"{split}; intuition congruence", 0.2),
        Suggestion(f"{split}; simpl in *; auto; discriminate", 0.15),
    )
    yield Suggestion(f"{split}; simpl in *; try discriminate; try assumption; try reflexivity", 0.25)
