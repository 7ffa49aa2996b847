"""Statements whose fate is known, and helpers that the tests of the logic share."""

from __future__ import annotations

import random

from treetop.prove.logic.formula import AND, IFF, IMP, OR, Formula, atom, chain, false, neg, true
from treetop.prove.logic.theorem import LogicTheorem
from treetop.prove.prover import Proof
from treetop.prove.search import ProofSearch
from treetop.search.limits import Limit

THEOREMS = (
    "True",
    "p -> p",
    "p -> q -> p",
    "(p -> q -> r) -> (p -> q) -> p -> r",
    "p & q -> q & p",
    "p | q -> q | p",
    "False -> p",
    "(p -> q) -> (q -> r) -> p -> r",
    "~~(p | ~p)",
    "~~~p -> ~p",
    "p -> ~~p",
    "~(p | q) <-> ~p & ~q",
    "~p | ~q -> ~(p & q)",
    "p & (q | r) <-> p & q | p & r",
    "p | q & r <-> (p | q) & (p | r)",
    "(p & q -> r) <-> (p -> q -> r)",
    "(p | q -> r) <-> (p -> r) & (q -> r)",
    "(p -> q & r) <-> (p -> q) & (p -> r)",
    "~~(((p -> q) -> p) -> p)",
    "((((p -> q) -> p) -> p) -> q) -> q",
    "~~(p -> q) <-> (~~p -> ~~q)",
    "~~(p & q) <-> ~~p & ~~q",
    "(p <-> q) -> (q <-> p)",
    "((p <-> q) <-> r) <-> (r <-> (q <-> p))",
    "(p -> q) -> ~q -> ~p",
    "~(p <-> ~p)",
    "(p | ~p) -> ~~p -> p",
    "((p | ~p -> q) -> q) | (q -> p) | True",
    "~~(p | q) <-> ~(~p & ~q)",
    "(~~p -> p) -> ((p -> q) -> p) -> p | ~p -> p",
    "((p <-> q) -> p & q & r) -> ((q <-> r) -> p & q & r) -> ((r <-> p) -> p & q & r) -> p & q & r",
    "((p & q | (p -> f) | (q -> f)) -> f) -> f",
    "(p -> p -> q) -> (q -> q -> r) -> p -> r",
    "(a -> f) & ((b2 -> b0) -> a2) & ((b0 -> a1) -> a) & ((b1 -> a2) -> a1) -> f",
    "(a | b) & (c | d) & (e | f) -> a & c | a & e | c & e | b & d | b & f | d & f",
    "((~~p -> p) -> p | ~p) -> ~~p | ~p | ((~~p -> p) -> p | ~p)",
)
NON_THEOREMS = (
    "False",
    "p",
    "p -> q",
    "p | ~p",
    "~~p -> p",
    "((p -> q) -> p) -> p",
    "(p -> q) | (q -> p)",
    "~p | ~~p",
    "~(p & q) -> ~p | ~q",
    "(p -> q) -> ~p | q",
    "(~q -> ~p) -> p -> q",
    "(p -> q | r) -> (p -> q) | (p -> r)",
    "(~p -> q | r) -> (~p -> q) | (~p -> r)",
    "((~~p -> p) -> p | ~p) -> ~p | ~~p",
    "~(p -> q) -> p & ~q",
    "((p <-> q) <-> r) <-> (p <-> (q <-> r))",
    "~(~p & ~q) -> p | q",
    "(p <-> q) | p | q",
    "((p -> q) -> q) -> p | q",
    "(((p -> q) -> p) -> p) | False",
    "~~p & (p -> p -> q) -> q",
    "((p <-> q) -> p & q & r & s) -> ((q <-> r) -> p & q & r & s) -> ((r <-> s) -> p & q & r & s) -> ((s <-> p) -> p & q & r & s) -> p & q & r & s",
    "((p & q | (~~p -> f) | (q -> f)) -> f) -> f",
)
"""The Kreisel-Putnam axiom, Scott's and Rose's among them: they hold in stronger logics."""


def prove(
    text: str, mode: str = "invertible", seconds: float = 20.0, **options: bool
) -> tuple[LogicTheorem, Proof | None]:
    """A theorem and its proof, which its own checker has accepted; None: every choice is dead."""
    theorem = LogicTheorem.read(text, mode=mode, **options)
    with ProofSearch(theorem, seed=1) as search:
        result = search.run(Limit(seconds=seconds))
    assert result.status in ("proved", "exhausted"), result.summary()
    return theorem, result.proof


def random_formula(rng: random.Random, depth: int, names: str = "pqr") -> Formula:
    """Any formula, of that depth at most."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice([true, false]) if rng.random() < 0.05 else atom(rng.choice(names))
    if rng.random() < 0.15:
        return neg(random_formula(rng, depth - 1, names))
    return chain(rng.choice([AND, OR, IMP, IMP, IFF]), [random_formula(rng, depth - 1, names) for _ in range(2)])
