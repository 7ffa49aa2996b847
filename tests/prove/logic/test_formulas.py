"""Formulas and their texts."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treetop.errors import FormulaError, ProverError
from treetop.prove.logic.formula import Formula, atom, atoms, conj, deep, disj, false, iff, imp, neg, true
from treetop.prove.logic.syntax import parse

P, Q, R = atom("p"), atom("q"), atom("r")
FORMULAS = st.recursive(
    st.sampled_from([P, Q, R, atom("x_1'"), true, false]),
    lambda inner: st.one_of(st.builds(neg, inner), *(st.builds(make, inner, inner) for make in (conj, disj, imp, iff))),
    max_leaves=25,
)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(FORMULAS)
def test_what_is_written_is_read_as_the_same_formula(formula: Formula):
    assert parse(formula.text) is formula
    assert pickle.loads(pickle.dumps(formula)) is formula
    assert copy.deepcopy(formula) is formula


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("~p & q | r -> p <-> q", iff(imp(disj(conj(neg(P), Q), R), P), Q)),
        ("p -> q -> r", imp(P, imp(Q, R))),
        ("(p -> q) -> r", imp(imp(P, Q), R)),
        ("p & q & r", conj(P, conj(Q, R))),
        ("(p | q) | r", disj(disj(P, Q), R)),
        ("~~p", neg(neg(P))),
        ("~(p | q)", neg(disj(P, Q))),
        ("p => q <=> q /\\ p \\/ r", iff(imp(P, Q), disj(conj(Q, P), R))),
        ("$true | $false", disj(true, false)),
        ("True&False", conj(true, false)),
        ("p -> False", neg(P)),
    ],
)
def test_connectives_bind_as_people_expect(text, formula):
    assert parse(text) is formula


def test_texts_have_no_bracket_too_many():
    for text in (
        "~p & q | r -> p <-> q",
        "p -> q -> r",
        "(p -> q) -> r",
        "(p | q) & r",
        "~(p -> q)",
        "(p & q) & r",
        "p -> ~q",
        "(p <-> q) <-> r",
    ):
        assert parse(text).text == text


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ("", 1, "a formula was expected"),
        ("p &", 4, "after '&'"),
        ("p q", 3, "connective"),
        ("(p -> q", 1, "never closed"),
        ("p)", 2, "never opened"),
        ("p & & q", 5, "not '&'"),
        ("p @ q", 3, "no meaning"),
        ("p <-> q <-> r", 9, "add brackets"),
        ("p -> ()", 7, "not ')'"),
        ("p ~ q", 3, "connective"),
    ],
)
def test_errors_show_the_place(text, column, what):
    with pytest.raises(FormulaError, match=rf"{re.escape(what)}.*\(column {column}\)") as caught:
        parse(text)
    assert str(caught.value).splitlines()[-1] == " " * (2 + column - 1) + "^"
    assert caught.value.position == column - 1
    assert isinstance(caught.value, ProverError)
    assert isinstance(caught.value, ValueError)


def test_an_error_in_a_longer_text_names_the_line():
    with pytest.raises(FormulaError, match="line 2, column 3"):
        parse("p &\n  & q")


@pytest.mark.parametrize("name", ["", "1p", "p q", "True", "p-", "("])
def test_atoms_have_names_that_can_be_read_back(name):
    with pytest.raises(FormulaError, match="the name of an atom must"):
        atom(name)


def test_formulas_may_be_as_long_as_one_likes():
    for text in ("~" * 5000 + "p", "(" * 5000 + "p" + ")" * 5000, " -> ".join(f"p{index}" for index in range(5000))):
        formula = parse(text)
        assert parse(formula.text) is formula


def test_atoms_are_counted_by_the_side_on_which_they_occur():
    formula = parse("(p -> q) -> r & ~s")
    assert atoms(formula) == ["p", "q", "r", "s"]
    assert formula.positive == atom("p").positive | atom("r").positive
    assert formula.negative == atom("q").positive | atom("s").positive
    assert parse("p <-> q").positive == parse("p <-> q").negative


def test_a_formula_knows_its_parts_and_premises():
    assert [part.text for part in parse("(p & q) & r & (p | q)").parts] == ["p", "q", "r", "p | q"]
    assert [part.text for part in parse("p -> q").parts] == ["p -> q"]
    assert [premise.text for premise in parse("p -> q & r -> ~p").premises] == ["p", "q & r", "p"]
    assert parse("p -> q & r -> ~p").head is false


def test_texts_are_the_same_in_another_process():
    code = (
        "from treetop.prove.logic.syntax import parse; parse('z | y'); print(parse('(p -> q) & (r | ~s) <-> q').text)"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert there == parse("(p -> q) & (r | ~s) <-> q").text


def test_formulas_made_by_several_threads_are_one_object():
    texts = [f"(t{number} -> u{number % 7}) & ~t{number + 1}" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: [parse(text) for text in texts], range(8)))
    assert all(one is other for made in found for one, other in zip(made, found[0], strict=True))
    names = atoms(*found[0])
    assert len({atom(name).positive for name in names}) == len(names)


def test_the_recursion_limit_is_restored_when_the_last_thread_is_done():
    before, first, second = sys.getrecursionlimit(), deep(), deep()
    first.__enter__()
    with ThreadPoolExecutor(1) as other:
        other.submit(second.__enter__).result()
        first.__exit__(None, None, None)
        assert sys.getrecursionlimit() > before
        other.submit(second.__exit__, None, None, None).result()
    assert sys.getrecursionlimit() == before
