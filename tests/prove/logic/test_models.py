"""Models in which formulas fail."""

from __future__ import annotations

import random

import pytest

from bench.g4ip import G4ip
from tests.prove.logic.statements import NON_THEOREMS, THEOREMS, random_formula
from treetop.errors import ConfigError
from treetop.prove.logic.models import KripkeModel, World
from treetop.prove.logic.refutation import refute
from treetop.prove.logic.syntax import parse
from treetop.prove.logic.theorem import LogicTheorem

NOTHING, HELD = frozenset[str](), frozenset({"p"})
STEP = KripkeModel((World(NOTHING, (1,)), World(HELD)))
FORK = KripkeModel((World(NOTHING, (1, 2)), World(HELD), World(frozenset({"q"}))))


@pytest.mark.parametrize("text", NON_THEOREMS)
def test_what_is_no_theorem_has_a_model_in_which_it_fails(text):
    model = LogicTheorem.read(text).refute(20.0)
    assert model is not None
    assert model.refutes(parse(text))


@pytest.mark.parametrize("text", THEOREMS)
def test_theorems_have_none(text):
    assert LogicTheorem.read(text).refute(5.0) is None


def test_a_formula_is_provable_or_has_a_model():
    rng = random.Random(21)
    for _ in range(200):
        formula = random_formula(rng, 4)
        model = refute(formula, 10.0)
        assert (model is None) == G4ip(20.0).prove(formula), formula.text
        assert model is None or model.refutes(formula)


@pytest.mark.parametrize(
    ("model", "text", "holds"),
    [
        (STEP, "p | ~p", False),
        (STEP, "~~p", True),
        (STEP, "~~p -> p", False),
        (STEP, "~p", False),
        (STEP, "p -> q", False),
        (STEP, "q -> p", True),
        (STEP, "p <-> ~~p", False),
        (STEP, "True & ~False", True),
        (FORK, "(p -> q) | (q -> p)", False),
        (FORK, "~p | ~~p", False),
        (FORK, "~~(p | q)", True),
        (FORK, "~(p & q)", True),
        (FORK, "p <-> q", False),
    ],
)
def test_what_holds_in_a_model(model, text, holds):
    assert model.forces(parse(text)) == holds
    assert model.refutes(parse(text)) != holds


def test_what_holds_below_holds_above():
    rng = random.Random(2)
    for _ in range(200):
        formula = random_formula(rng, 4, "pq")
        if FORK.forces(formula):
            assert FORK.forces(formula, 1)
            assert FORK.forces(formula, 2)


def test_what_is_no_model_refutes_nothing():
    for model, flaw in (
        (KripkeModel(()), "needs a world"),
        (KripkeModel((World(HELD, (1,)), World(NOTHING))), "p holds in world 0 but not in world 1"),
        (KripkeModel((World(NOTHING, (0,)),)), "must come later"),
        (KripkeModel((World(NOTHING, (7,)),)), "must come later"),
    ):
        assert flaw in model.flaw()
        assert not model.refutes(parse("False"))


def test_models_are_shown_as_trees():
    assert str(FORK) == "world 0: no atom\n  world 1: p\n  world 2: q"
    diamond = KripkeModel(
        (
            World(NOTHING, (1, 2)),
            World(HELD, (3,)),
            World(HELD, (3,)),
            World(frozenset({"p", "q"}), (4,)),
            World(frozenset({"p", "q", "r"})),
        )
    )
    assert str(diamond).splitlines()[-1] == "    world 3: p, q (as above)"


def test_what_lay_above_a_world_that_is_left_out_lies_above_those_below_it():
    both = frozenset({"p", "q"})
    tower = KripkeModel((World(NOTHING, (1, 2)), World(NOTHING, (3,)), World(HELD, (3,)), World(both)))
    assert tower.without(1) == KripkeModel((World(NOTHING, (1, 2)), World(HELD, (2,)), World(both)))
    assert tower.without(3) == KripkeModel((World(NOTHING, (1, 2)), World(NOTHING), World(HELD)))
    assert FORK.without(1).to_dict() == {"worlds": [{"atoms": [], "above": [1]}, {"atoms": ["q"], "above": []}]}


@pytest.mark.parametrize(
    ("text", "worlds"), [("p | ~p", 2), ("((p -> q) -> p) -> p", 2), ("(p -> q) | (q -> p)", 3), ("~p | ~~p", 3)]
)
def test_models_have_no_world_that_they_can_do_without(text, worlds):
    model = LogicTheorem.read(text).refute()
    assert model is not None
    assert len(model.worlds) == worlds


def test_one_world_is_enough_where_classical_logic_refutes():
    model = LogicTheorem.read("(p -> q) -> (q -> p)").refute()
    assert model == KripkeModel((World(frozenset({"q"})),))


def test_models_stay_small_where_the_statement_is_long():
    """All but one of twenty atoms are made constant."""
    left = " & ".join(f"p{index}" for index in range(1, 21))
    right = " | ".join(f"({'~~' if index == 1 else ''}p{index} -> f)" for index in range(1, 21))
    model = LogicTheorem.read(f"((({left}) | {right}) -> f) -> f").refute(20.0)
    assert model is not None
    assert len(model.worlds) < 60


def test_the_time_for_a_refutation_is_positive():
    for seconds in (0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ConfigError, match="positive"):
            refute(parse("p"), seconds)
