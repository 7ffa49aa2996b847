"""Proofs as lambda terms: the type is a formula, the term is its proof.

Every variable has a unique name, also across lemmas, and terms carry the formulas that a checker could not infer.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from treetop.prove.logic.formula import Formula


class Var(NamedTuple):
    """A hypothesis or a lemma, by its name."""

    name: str


class Fun(NamedTuple):
    """Assume `type` under a name: proves `type -> body`."""

    name: str
    type: Formula
    body: Term


class App(NamedTuple):
    """Applies an implication to a proof of its premise."""

    function: Term
    argument: Term


class Pair(NamedTuple):
    """Proves the conjunction or equivalence `type`."""

    type: Formula
    first: Term
    second: Term


class First(NamedTuple):
    """The left part of a conjunction or an equivalence."""

    pair: Term


class Second(NamedTuple):
    """The right part of a conjunction or an equivalence."""

    pair: Term


class InLeft(NamedTuple):
    """Proves the disjunction `type` by its left side."""

    type: Formula
    body: Term


class InRight(NamedTuple):
    """Proves the disjunction `type` by its right side."""

    type: Formula
    body: Term


class Case(NamedTuple):
    """A case distinction: both sides of a disjunction prove the same formula."""

    subject: Term
    left_name: str
    left: Term
    right_name: str
    right: Term


class Abort(NamedTuple):
    """Proves `type` from False."""

    type: Formula
    body: Term


class Unit(NamedTuple):
    """Proves True."""


class Let(NamedTuple):
    """An intermediate result with a name."""

    name: str
    type: Formula
    value: Term
    body: Term


Term: TypeAlias = "Var | Fun | App | Pair | First | Second | InLeft | InRight | Case | Abort | Unit | Let"


class Lemma(NamedTuple):
    """A term with the formula that it proves. It may use the lemmas before it."""

    name: str
    statement: Formula
    term: Term


def apply(function: Term, *arguments: Term) -> Term:
    """Return a function applied to several arguments."""
    for argument in arguments:
        function = App(function, argument)
    return function
