"""The checker: it accepts proofs, and nothing that only looks like one."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from tests.prove.logic.statements import THEOREMS, prove
from treetop.prove.logic import checker
from treetop.prove.logic.formula import false, imp, true
from treetop.prove.logic.syntax import parse
from treetop.prove.logic.terms import Abort, App, Case, First, Fun, InLeft, InRight, Lemma, Let, Pair, Second, Unit, Var
from treetop.prove.logic.theorem import LogicTheorem
from treetop.prove.logic.translation import translate
from treetop.prove.prover import Goal, Proof

P, Q = parse("p"), parse("q")
X, Y = Var("x"), Var("y")


def _judge(term, statement):
    return checker.check([Lemma("theorem", statement, term)], statement)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("True", Unit()),
        ("p -> p", Fun("x", P, X)),
        ("p -> q -> p", Fun("x", P, Fun("y", Q, X))),
        ("p & q -> q", Fun("x", parse("p & q"), Second(X))),
        ("p -> q -> p & q", Fun("x", P, Fun("y", Q, Pair(parse("p & q"), X, Y)))),
        ("p -> p | q", Fun("x", P, InLeft(parse("p | q"), X))),
        ("p | p -> p", Fun("x", parse("p | p"), Case(X, "l", Var("l"), "r", Var("r")))),
        ("False -> q", Fun("x", false, Abort(Q, X))),
        ("(p <-> q) -> p -> q", Fun("x", parse("p <-> q"), Fun("y", P, App(First(X), Y)))),
        ("p <-> p", Pair(parse("p <-> p"), Fun("x", P, X), Fun("y", P, Y))),
        ("p -> True", Fun("x", P, Let("y", true, Unit(), Y))),
    ],
)
def test_right_terms_are_accepted(text, term):
    assert _judge(term, parse(text)) == ""


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("p", X),
        ("p -> q", Fun("x", P, X)),
        ("p", Unit()),
        ("p -> q", Fun("x", P, Abort(Q, X))),
        ("p -> p & q", Fun("x", P, Pair(parse("p & q"), X, X))),
        ("p -> p | q", Fun("x", P, InRight(parse("p | q"), X))),
        ("p -> q", Fun("x", P, App(X, X))),
        ("(p -> q) -> q", Fun("x", parse("p -> q"), App(X, X))),
        ("p | q -> p", Fun("x", parse("p | q"), Case(X, "l", Var("l"), "r", Var("r")))),
        ("p -> p", Fun("x", P, First(X))),
        ("p -> p", Fun("x", P, Case(X, "l", X, "r", X))),
        ("p -> q", Fun("x", P, Let("y", Q, X, Y))),
        ("q -> p -> q", Fun("x", Q, Fun("x", P, X))),
        ("p -> q", Let("x", parse("p -> q"), X, X)),
        ("p -> p -> p", Fun("x", P, App(Fun("y", P, Y), Y))),
        ("p | q", InLeft(parse("p & q"), X)),
    ],
)
def test_wrong_terms_are_rejected(text, term):
    assert _judge(term, parse(text))


def test_lemmas_may_use_earlier_ones_only():
    first = Lemma("one", parse("p -> p"), Fun("x", P, X))
    second = Lemma("theorem", parse("p -> p"), Var("one"))
    assert checker.check([first, second], parse("p -> p")) == ""
    assert checker.check([second, first], parse("p -> p"))
    assert checker.check([Lemma("theorem", P, Var("theorem"))], P)
    assert checker.check([first, Lemma("one", parse("q -> q"), Fun("y", Q, Y))], parse("q -> q"))
    assert checker.check([first], parse("q -> q"))
    assert checker.check([], P)


def test_deep_terms_are_judged():
    term, statement = Unit(), true
    for index in range(20_000):
        term, statement = Fun(f"x{index}", P, term), imp(P, statement)
    assert _judge(term, statement) == ""


def _parts(proof: Proof) -> list[Proof]:
    return list(proof.walk())


def _with(proof: Proof, old: Proof, new: Proof) -> Proof:
    if proof is old:
        return new
    return replace(proof, parts=tuple(_with(part, old, new) for part in proof.parts))


@pytest.mark.parametrize("mode", ["raw", "invertible"])
def test_broken_proofs_are_rejected(mode):
    rng = random.Random(6)
    rejected = 0
    for text in THEOREMS:
        theorem, proof = prove(text, mode)
        assert proof is not None
        for _ in range(4):
            victim = rng.choice(_parts(proof))
            other = rng.choice(_parts(proof))
            broken = [
                _with(proof, victim, replace(victim, tactic="nonsense")),
                _with(proof, victim, replace(victim, tactic=f"{victim.tactic} x")),
                _with(proof, victim, replace(victim, parts=(*victim.parts, other))),
            ]
            if victim.parts:
                broken.append(_with(proof, victim, replace(victim, parts=victim.parts[1:])))
                broken.append(_with(proof, victim, replace(victim, parts=())))
            for one in broken:
                verdict = theorem.verify(one)
                assert not verdict.accepted, (text, one)
                assert verdict.reason
                rejected += 1
    assert rejected > 300


@pytest.mark.parametrize("mode", ["raw", "invertible"])
def test_swapped_parts_are_rejected(mode):
    rejected = 0
    for text in THEOREMS:
        theorem, proof = prove(text, mode)
        assert proof is not None
        for part in _parts(proof):
            if len(part.parts) > 1 and part.parts != part.parts[::-1]:
                verdict = theorem.verify(_with(proof, part, replace(part, parts=part.parts[::-1])))
                assert verdict.accepted == (verdict.reason == "")
                rejected += not verdict.accepted
    assert rejected >= 3


@pytest.mark.parametrize("mode", ["raw", "invertible"])
def test_a_proof_of_another_statement_is_rejected(mode):
    _, proof = prove("((p -> q) -> q) & (p | ~p) & (p -> q) -> q", mode)
    assert proof is not None
    for text in ("q", "p | q", "((p -> q) -> q) & (p | ~p) -> q"):
        assert not LogicTheorem.read(text, mode=mode).verify(proof).accepted


def test_what_goals_claim_is_never_believed():
    theorem = LogicTheorem.read("p", mode="raw")
    lie = Goal("p |- p", data=LogicTheorem.read("p -> p", mode="raw").open().root().data)
    assert not theorem.verify(Proof(lie, "assumption")).accepted
    assert not theorem.verify(Proof(lie, "intro", (Proof(lie, "assumption"),))).accepted


def test_a_shared_part_becomes_one_lemma():
    """Six pigeons in five holes: as a tree the proof has hundreds of parts, as lemmas a few dozen."""
    pigeons = [[f"o{pigeon}{hole}" for hole in range(5)] for pigeon in range(6)]
    together = [
        f"{first[hole]} & {second[hole]}"
        for hole in range(5)
        for index, first in enumerate(pigeons)
        for second in pigeons[index + 1 :]
    ]
    text = " -> ".join([f"({' | '.join(holes)})" for holes in pigeons] + [f"({' | '.join(together)})"])
    theorem, proof = prove(text)
    assert proof is not None
    assert proof.size > 200
    lemmas = list(translate(theorem.statement, proof))
    assert 10 < len(lemmas) < 40
    assert checker.check(lemmas, theorem.statement) == ""
    assert len(theorem.script(proof).splitlines()) < 100


def test_the_checker_knows_nothing_of_tactics_and_searches():
    lines = [line for line in Path(checker.__file__).read_text().splitlines() if line.startswith("from treetop")]
    assert {line.split()[1] for line in lines} == {"treetop.prove.logic.formula", "treetop.prove.logic.terms"}
