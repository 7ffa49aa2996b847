"""Properties of Coq terms: heads, premises, symbols, what is matched on, and whether one term is an instance of
another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from treetop.prove.coq.syntax import Term


class Binder(NamedTuple):
    """A binder of a statement: `n : nat`, or a premise, which has the name `_`."""

    name: str
    type: Term


def name(label: str) -> Term:
    """Return a name as a term."""
    return Term("name", label)


def symbol(label: str) -> str:
    """Return a name without the sign for explicit implicit arguments, and a logical one without its module, which is
    printed if others shadow it.
    """
    return label.removeprefix("@").removeprefix("Logic.")


def application(function: Term, given: tuple[Term, ...]) -> Term:
    """Return a function applied to arguments; existing arguments are kept."""
    if not given:
        return function
    return Term("app", "", (*function.parts, *given) if function.kind == "app" else (function, *given))


def head(term: Term) -> str:
    """Return the symbol that a term begins with: `eq` for `@eq nat a b`; the name of a sort; for other terms the kind,
    as `<forall>`.
    """
    if term.kind == "app":
        term = term.parts[0]
    if term.kind == "name":
        return symbol(term.label)
    return term.label if term.kind == "sort" else f"<{term.kind}>"


def arguments(term: Term) -> tuple[Term, ...]:
    """Return the arguments of the head, including implicit ones."""
    return term.parts[1:] if term.kind == "app" else ()


@lru_cache(maxsize=20_000)
def peel(term: Term) -> tuple[tuple[Binder, ...], Term]:
    """Return the quantifiers and premises of a statement, and what is under them."""
    binders: list[Binder] = []
    while term.kind == "forall":
        binders.append(Binder(term.names[0], term.parts[0]))
        term = term.parts[1]
    return tuple(binders), term


def conclusion(term: Term) -> Term:
    """Return what is stated under all quantifiers and premises."""
    while term.kind == "forall":
        term = term.parts[1]
    return term


def premises(term: Term) -> tuple[Term, ...]:
    """Return the premises of a statement: the types of the binders that nothing depends on."""
    return tuple(binder.type for binder in peel(term)[0] if binder.name == "_")


@lru_cache(maxsize=20_000)
def conclusions(statement: Term) -> tuple[tuple[tuple[Binder, ...], Term], ...]:
    """Yield everything that a statement can be applied for: its conclusion with its binders, and the sides of an
    equivalence there.

    Parts of a conjunction count too, and `not P` proves a falsehood from `P`.
    """
    binders, stated = peel(statement)
    found = [(binders, stated)]
    given = arguments(stated)
    if head(stated) in ("iff", "and") and len(given) == 2:
        for part, other in (given, given[::-1]):
            before = (*binders, Binder("_", other)) if head(stated) == "iff" else binders
            found.extend(((*before, *inner), last) for inner, last in conclusions(part))
    elif head(stated) == "not" and len(given) == 1:
        found.append(((*binders, Binder("_", given[0])), name("False")))
    return tuple(found)


def subterms(term: Term) -> Iterator[Term]:
    """Yield the term and all its parts that are terms themselves, each before its own parts."""
    pending = [term]
    while pending:
        term = pending.pop()
        if term.kind not in ("branch", "fixed", "return"):
            yield term
        if term.parts:
            pending.extend(reversed(term.parts))


@lru_cache(maxsize=20_000)
def size(term: Term) -> int:
    """Return the number of nodes of the tree."""
    count, pending = 0, [term]
    while pending:
        count += 1
        pending.extend(pending.pop().parts)
    return count


@lru_cache(maxsize=50_000)
def free_names(term: Term) -> frozenset[str]:
    """Return the names that a term does not bind itself, constants and variables alike."""
    if term.kind == "name":
        return frozenset((symbol(term.label),))
    if not term.parts:
        return frozenset()
    if not term.names:
        return frozenset().union(*[free_names(part) for part in term.parts])
    inner: frozenset[str] = frozenset().union(*[free_names(part) for part in term.inside])
    return inner.difference(term.names).union(*[free_names(part) for part in term.outside])


def symbols(term: Term, variables: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the global names in a term: the free ones that are not variables of the goal."""
    return free_names(term) - variables


@lru_cache(maxsize=20_000)
def bound_names(term: Term) -> frozenset[str]:
    """Return the names that are bound anywhere in a term."""
    found: set[str] = set()
    pending = [term]
    while pending:
        term = pending.pop()
        found.update(term.names)
        pending.extend(term.parts)
    return frozenset(found - {"_"})


def scrutinees(term: Term) -> tuple[Term, ...]:
    """Return the terms that `match` or `if` examines and that hold no bound variable, outermost first, each once."""
    bound = bound_names(term)
    found = [part.parts[0] for part in subterms(term) if part.kind in ("match", "if")]
    return tuple(dict.fromkeys(one for one in found if not free_names(one) & bound))


def recursive_arguments(term: Term, positions: Mapping[str, tuple[int, ...]]) -> tuple[Term, ...]:
    """Return the arguments on which functions recur: by `positions` (implicit arguments count), and of every `fix` in
    the term.

    Outermost first, with repetitions; those with bound variables are left out.
    """
    bound = bound_names(term)
    found: list[Term] = []
    for part in subterms(term):
        if part.kind != "app":
            continue
        function, *given = part.parts
        places = (
            positions.get(symbol(function.label), ())
            if function.kind == "name"
            else _places(function)
            if function.kind == "fix"
            else ()
        )
        found.extend(given[place] for place in places if place < len(given))
    return tuple(one for one in found if not free_names(one) & bound)


def _places(fix: Term) -> tuple[int, ...]:
    return tuple(int(body.label) for label, body in zip(fix.names, fix.parts, strict=True) if label == fix.label)


def substitute(term: Term, values: Mapping[str, Term]) -> Term:
    """Return the term with values for free names. Bound names are not renamed: the values must not mention them."""
    if not values or free_names(term).isdisjoint(values):
        return term
    if term.kind == "name":
        return values.get(symbol(term.label), term)
    inner = {label: value for label, value in values.items() if label not in term.names} if term.names else values
    parts = tuple(
        [substitute(part, values) for part in term.outside] + [substitute(part, inner) for part in term.inside]
    )
    if term.kind == "app" and parts[0].kind == "app":
        return application(parts[0], parts[1:])
    return Term(term.kind, term.label, parts, term.names)


def match(
    pattern: Term, term: Term, variables: frozenset[str], found: dict[str, Term] | None = None
) -> dict[str, Term] | None:
    """Return the values of the variables for which the pattern is the term; None if there are none.

    This is first-order matching: a variable that is applied in the pattern matches any term there. Variables that do
    not occur in the pattern are missing in the result. `found`: values that are known already; it is changed.
    """
    found = {} if found is None else found
    pending = [(pattern, term)]
    while pending:
        left, right = pending.pop()
        if left.kind == "name":
            if left.label in variables:
                if found.setdefault(left.label, right) != right:
                    return None
            elif right.kind != "name" or left.label != right.label:
                return None
            continue
        if left.kind == "app" and left.parts[0].kind == "name" and left.parts[0].label in variables:
            continue
        if (
            left.kind != right.kind
            or left.label != right.label
            or len(left.parts) != len(right.parts)
            or len(left.names) != len(right.names)
        ):
            return None
        parts = right.parts
        if left.names != right.names:
            values = {
                own: name(wanted)
                for own, wanted in zip(right.names, left.names, strict=True)
                if own != wanted and own != "_"
            }
            parts = right.outside + tuple(substitute(part, values) for part in right.inside)
        pending.extend(zip(left.parts, parts, strict=True))
    return found


@lru_cache(maxsize=20_000)
def applied_variables(pattern: Term, variables: frozenset[str]) -> frozenset[str]:
    """Return the variables that a pattern applies to terms without variables, such as `P` in `exists n, P n`:
    unification finds their values.
    """
    found = {
        part.parts[0].label
        for part in subterms(pattern)
        if part.kind == "app"
        and part.parts[0].kind == "name"
        and part.parts[0].label in variables
        and not any(free_names(given) & variables for given in part.parts[1:])
    }
    return frozenset(found)


@lru_cache(maxsize=20_000)
def canonical(term: Term) -> Term:
    """Return a term that is equal for all names of bound variables."""
    return _canonical(term, {}, 0)


def _canonical(term: Term, renamed: Mapping[str, str], depth: int) -> Term:
    if term.kind == "name":
        return name(renamed[term.label]) if term.label in renamed else term
    if not term.parts:
        return term
    fresh = tuple(f"#{depth + place}" for place in range(len(term.names)))
    inner = {**renamed, **dict(zip(term.names, fresh, strict=True))} if fresh else renamed
    parts = [_canonical(part, renamed, depth) for part in term.outside] + [
        _canonical(part, inner, depth + len(fresh)) for part in term.inside
    ]
    label = inner[term.label] if term.kind in ("fix", "cofix") else term.label
    return Term(term.kind, label, tuple(parts), fresh)


def is_closed_under(term: Term, bound: frozenset[str]) -> bool:
    """Return whether a term can be written here: it mentions none of these names and has no opaque parts."""
    return not (free_names(term) & bound) and all(
        part.kind not in ("evar", "hole", "opaque") or part.parts for part in subterms(term)
    )
