"""Problem files of the TPTP and ILTP libraries."""

from __future__ import annotations

import pytest

from treetop.errors import FormulaError
from treetop.prove.logic.syntax import parse
from treetop.prove.logic.theorem import LogicTheorem
from treetop.prove.logic.tptp import parse_problem, read_problem

PROBLEM = """%------------------------------------------------
% File     : OWN001+1
% Status   : Theorem
% Status (intuit.) : Non-Theorem
%------------------------------------------------
fof(axiom1,axiom,(
( ( p1 <=> p2)  => ( p1 & ( p2 & p3 ) )) )). /* a comment
over lines: fof( */
fof(more, hypothesis, ~(~(q)) ). % (
fof('the goal',conjecture,
    ( $true
    & p1 )).
"""


def test_axioms_and_conjecture_are_read(tmp_path):
    file = tmp_path / "OWN001+1.002.p"
    file.write_text(PROBLEM)
    problem = read_problem(file)
    assert problem.name == "OWN001+1.002"
    assert problem.axioms == (parse("(p1 <-> p2) -> p1 & p2 & p3"), parse("~~q"))
    assert problem.conjecture is parse("True & p1")
    assert problem.statement is parse("((p1 <-> p2) -> p1 & p2 & p3) -> ~~q -> True & p1")
    assert LogicTheorem.load(file).statement is problem.statement


def test_the_intuitionistic_status_is_a_fact_for_reports(tmp_path):
    assert parse_problem(PROBLEM).status == "Non-Theorem"
    assert parse_problem("fof(c, conjecture, p).").status is None
    file = tmp_path / "own.p"
    file.write_text(PROBLEM)
    assert LogicTheorem.load(file).facts()["status"] == "Non-Theorem"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "one conjecture, not 0"),
        ("fof(a, axiom, p).", "one conjecture, not 0"),
        ("fof(a, conjecture, p).\nfof(b, conjecture, q).", "one conjecture, not 2"),
        ("cnf(a, axiom, p).", "was expected here"),
        ("fof(a, plain, p).", "role 'plain' is unknown"),
        ("fof(a, conjecture, p", "never closed"),
        ("fof(a, conjecture, p)", "full stop"),
        ("fof(a, conjecture, ! [X] : p(X)).", "no meaning"),
        ("fof(a, conjecture, p => ).", "a formula was expected"),
        ("fof(a, conjecture, p => q)\nfof(b, axiom, p).", "full stop"),
    ],
)
def test_a_file_that_is_none_is_an_error(text, what):
    with pytest.raises(FormulaError, match=what):
        parse_problem(text)


def test_a_missing_file_is_an_error_with_its_name(tmp_path):
    with pytest.raises(FormulaError, match=r"nothing\.p cannot be read"):
        read_problem(tmp_path / "nothing.p")
