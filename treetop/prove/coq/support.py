"""Check whether the premises of a rule are known already: then the rule closes the goal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from treetop.prove.coq.syntax import Term, render
from treetop.prove.coq.terms import Binder, arguments, free_names, head, is_closed_under, match, substitute
from treetop.prove.coq.views import View


class Support(NamedTuple):
    """How many premises of a rule the hypotheses satisfy."""

    met: int
    wanted: int
    determined: bool
    """Whether the goal determines all variables of the rule."""

    @property
    def complete(self) -> bool:
        """Whether nothing is left to prove."""
        return self.met == self.wanted


def support(binders: tuple[Binder, ...], found: Mapping[str, Term], view: View) -> Support:
    """Find the premises of a rule among the hypotheses; `found` holds the values of its variables.

    The first match is taken.
    """
    values = dict(found)
    certain = determined(binders, found)
    open_variables = frozenset(binder.name for binder in binders) - {"_"} - values.keys()
    known = [given.type for given in view.proofs[:16]]
    met = wanted = 0
    for binder in binders:
        if binder.name != "_":
            continue
        wanted += 1
        premise = substitute(binder.type, values)
        if premise in known or _obvious(premise):
            met += 1
            continue
        if open_variables and not certain:
            for kind in known:
                more = match(premise, kind, open_variables) if head(premise) not in open_variables else None
                if more:
                    values.update(more)
                    open_variables -= more.keys()
                    met += 1
                    break
    return Support(met, wanted, certain)


def instances(binders: tuple[Binder, ...], found: Mapping[str, Term], view: View, most: int = 3) -> list[str]:
    """Return additions to `apply` for variables that the goal does not determine: values with which one premise is a
    hypothesis, as ` with (y := t)`.

    Only if this determines all variables, so that the other premises are ordinary goals.
    """
    additions: list[str] = []
    variables = frozenset(binder.name for binder in binders) - {"_"} - found.keys()
    for binder in binders:
        premise = substitute(binder.type, found)
        if binder.name != "_" or head(premise) in variables or not free_names(premise) & variables:
            continue
        for given in view.proofs[:16]:
            more = match(premise, given.type, variables)
            if (
                more
                and determined(binders, {**found, **more})
                and all(is_closed_under(value, frozenset()) for value in more.values())
            ):
                text = " with " + " ".join(f"({label} := {render(value)})" for label, value in more.items())
                if text not in additions:
                    additions.append(text)
            if len(additions) == most:
                return additions
    return additions


def _obvious(statement: Term) -> bool:
    sides = arguments(statement)
    return head(statement) == "True" or (head(statement) in ("eq", "le") and len(sides) >= 2 and sides[-1] == sides[-2])


def determined(binders: tuple[Binder, ...], found: Mapping[str, Term]) -> bool:
    """Return whether all variables are known once these are: directly, or by the type of another known one."""
    known = set(found)
    for binder in reversed(binders):
        if binder.name in known:
            known |= free_names(binder.type)
    return all(binder.name in known or binder.name == "_" for binder in binders)
