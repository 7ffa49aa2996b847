"""Whether what a rule needs is known already: then it does not only fit a goal, it ends it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from treetop.prove.coq.syntax import Term, render
from treetop.prove.coq.terms import Binder, arguments, free_names, head, is_closed_under, match, substitute
from treetop.prove.coq.views import View


class Support(NamedTuple):
    """How far the hypotheses meet the premises of a rule."""

    met: int
    wanted: int
    determined: bool
    """Whether everything that the rule speaks of is told by the goal itself."""

    @property
    def complete(self) -> bool:
        """Whether nothing is left to be proved."""
        return self.met == self.wanted


def support(binders: tuple[Binder, ...], found: Mapping[str, Term], view: View) -> Support:
    """Look for the premises of a rule among the hypotheses; `found` tells what its variables stand for. The first one that fits is taken."""
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
    """What to add to `apply` for variables that the goal does not tell: values with which one premise is a hypothesis, as ` with (y := t)`.

    Only where that settles everything, so that the other premises are goals of their own.
    """
    told: list[str] = []
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
                if text not in told:
                    told.append(text)
            if len(told) == most:
                return told
    return told


def _obvious(statement: Term) -> bool:
    sides = arguments(statement)
    return head(statement) == "True" or (head(statement) in ("eq", "le") and len(sides) >= 2 and sides[-1] == sides[-2])


def determined(binders: tuple[Binder, ...], found: Mapping[str, Term]) -> bool:
    """Whether all variables are known once these are: directly, or because another known one's type tells them."""
    known = set(found)
    for binder in reversed(binders):
        if binder.name in known:
            known |= free_names(binder.type)
    return all(binder.name in known or binder.name == "_" for binder in binders)
