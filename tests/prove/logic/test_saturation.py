"""What `saturate` does to a sequent: it never changes whether it is provable."""

from __future__ import annotations

import random

import pytest

from bench.g4ip import G4ip
from tests.prove.logic.statements import random_formula
from treetop.prove.logic.classical import counterexample
from treetop.prove.logic.formula import AND, IFF, IMP, OR, TRUE, Formula, atom, atoms, implies, neg
from treetop.prove.logic.normal import Normaliser
from treetop.prove.logic.saturation import saturate
from treetop.prove.logic.sequents import read_sequent
from treetop.prove.logic.syntax import parse


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("p |- p", None),
        ("False |- p", None),
        ("p & q |- q & p", None),
        ("p, p -> q |- q", None),
        ("p -> q, q -> r, p |- r | s", None),
        ("~p, p |- q", None),
        ("~(p | q) |- ~p & ~q", None),
        ("p <-> q, q -> r |- p -> r", None),
        ("p -> q -> r |- q -> p -> r", None),
        ("(p <-> q) <-> r |- r <-> (q <-> p)", None),
        ("|- ((p -> q) -> p) -> p", "~p -> p |- p"),
        ("p | q |- r", "|- False"),
        ("p | q, ~p | ~q |- r", "p | q, ~p | ~q |- False"),
        ("p | q, p -> s |- q | s", "p -> s, p | q |- q | s"),
        ("(p | q) & r -> s, r |- s", "|- False"),
    ],
)
def test_what_is_left(before, after):
    sequent = read_sequent(before)
    left = saturate(sequent.hypotheses, sequent.conclusion)
    assert (None if left is None else left.key) == after


def test_it_keeps_what_is_provable_and_doing_it_again_changes_nothing():
    rng = random.Random(3)
    closed = 0
    for _ in range(300):
        hypotheses = [random_formula(rng, 3) for _ in range(rng.randint(0, 3))]
        conclusion = random_formula(rng, 3)
        left = saturate(hypotheses, conclusion)
        expected = G4ip(20.0).prove(implies(hypotheses, conclusion))
        if left is None:
            assert expected
            closed += 1
        else:
            assert G4ip(20.0).prove(left.formula) == expected, (hypotheses, conclusion)
            assert saturate(left.hypotheses, left.conclusion) == left
    assert closed > 30


def test_the_order_of_hypotheses_does_not_matter_for_what_is_provable():
    rng = random.Random(4)
    for _ in range(100):
        hypotheses = [random_formula(rng, 3) for _ in range(3)]
        conclusion = random_formula(rng, 2)
        one, other = saturate(hypotheses, conclusion), saturate(hypotheses[::-1], conclusion)
        found = [True if left is None else G4ip(20.0).prove(left.formula) for left in (one, other)]
        assert found[0] == found[1]


def test_formulas_that_differ_in_order_and_nesting_have_one_normal_form():
    for one, other in (
        ("(p & q) & r", "r & p & q & p"),
        ("p | False | q", "q | (p | q)"),
        ("p & q -> r", "q -> p -> r"),
        ("p <-> True", "p"),
        ("p <-> False", "~p"),
        ("(p <-> q) <-> r", "r <-> (q <-> p)"),
        ("p -> p & q", "p -> q"),
        ("p & q -> p | r", "True"),
    ):
        assert Normaliser({}).normal(parse(one)) is Normaliser({}).normal(parse(other))


def _holds(formula: Formula, values: dict[Formula, bool]) -> bool:
    if formula in values:
        return values[formula]
    if not hasattr(formula, "left"):
        return formula.kind == TRUE
    left, right = _holds(formula.left, values), _holds(formula.right, values)
    return {AND: left and right, OR: left or right, IMP: not left or right, IFF: left == right}[formula.kind]


def test_a_classical_counterexample_is_one():
    rng = random.Random(8)
    found = 0
    for index in range(300):
        names = "pqrstuvwxyzabc" if index % 2 else "pqr"
        formula = random_formula(rng, 5, names)
        values = counterexample((), formula)
        if values is not None:
            everything = {**{atom(name): False for name in atoms(formula)}, **values}
            assert not _holds(formula, everything), formula.text
            found += 1
        elif names == "pqr":
            assert G4ip(20.0).prove(neg(neg(formula))), formula.text
    assert found > 100
