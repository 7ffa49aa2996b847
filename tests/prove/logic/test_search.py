"""Both modes, through the interface that searches use: they prove what is provable, and nothing else."""

from __future__ import annotations

import itertools
import pickle
import random
import subprocess
import sys

import pytest

from bench.g4ip import G4ip
from tests.prove.logic.statements import NON_THEOREMS, THEOREMS, prove, random_formula
from treetop.errors import ConfigError
from treetop.prove.logic.formula import AND, IMP, OR, Formula, atom, chain, false
from treetop.prove.logic.models import KripkeModel, World
from treetop.prove.logic.prover import LogicProver
from treetop.prove.logic.provider import LogicProvider
from treetop.prove.logic.sequents import Sequent, read_sequent
from treetop.prove.logic.theorem import LogicTheorem
from treetop.prove.prover import Goal, Place

MODES = ("raw", "invertible")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", THEOREMS)
def test_theorems_are_proved_and_the_checker_accepts_the_proof(text, mode):
    theorem, proof = prove(text, mode)
    assert proof is not None
    verdict = theorem.verify(proof)
    assert verdict.accepted, verdict.reason
    assert verdict.assumptions == ()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", NON_THEOREMS)
def test_what_is_no_theorem_leaves_nothing_to_try(text, mode):
    assert prove(text, mode)[1] is None


@pytest.mark.parametrize("text", [*THEOREMS, *NON_THEOREMS])
def test_the_plain_prover_agrees(text):
    assert G4ip(20.0).prove(LogicTheorem.read(text).statement) == (text in THEOREMS)


def test_all_modes_agree_on_random_formulas():
    rng = random.Random(11)
    for _ in range(150):
        formula = random_formula(rng, 4)
        expected = G4ip(20.0).prove(formula)
        modes = [("invertible", True), ("invertible", False)] + (
            [("raw", True)] if len(formula.text) < 40 else []
        )  # raw: thousands of goals
        for mode, classical in modes:
            theorem, proof = prove(formula.text, mode, classical=classical)
            assert (proof is not None) == expected, (formula.text, mode, classical)
            if proof is not None:
                assert theorem.verify(proof).accepted, (formula.text, mode)


def _all_formulas(leaves: int) -> list[Formula]:
    if leaves == 1:
        return [atom("p"), atom("q"), false]
    found = []
    for left in range(1, leaves):
        for sides in itertools.product(_all_formulas(left), _all_formulas(leaves - left)):
            found += [chain(kind, sides) for kind in (AND, OR, IMP)]
    return found


def _small_models() -> list[KripkeModel]:
    """All models over two atoms with a root, and up to two worlds above it, one above the other or side by side."""
    values = [
        frozenset(name for name, held in zip("pq", row, strict=True) if held)
        for row in itertools.product((False, True), repeat=2)
    ]
    shapes = [((),), ((1,), ()), ((1, 2), (), ()), ((1,), (2,), ())]
    found = []
    for shape in shapes:
        for held in itertools.product(values, repeat=len(shape)):
            model = KripkeModel(tuple(World(atoms, above) for atoms, above in zip(held, shape, strict=True)))
            if not model.flaw():
                found.append(model)
    return found


def test_every_small_formula_is_proved_or_fails_in_a_small_model():
    """Soundness and completeness at once, against all models with at most three worlds."""
    models = _small_models()
    proved = 0
    for formula in _all_formulas(1) + _all_formulas(2) + _all_formulas(3):
        fails = any(not model.forces(formula) for model in models)
        _, proof = prove(formula.text)
        assert (proof is None) == fails, formula.text
        proved += proof is not None
    assert proved > 50


@pytest.mark.parametrize("mode", MODES)
def test_a_tactic_that_does_not_apply_is_a_failed_attempt_with_a_reason(mode):
    prover = LogicTheorem.read("p | q -> q | p", mode=mode).open()
    tactics = (
        "",
        "nonsense",
        "cases",
        "cases p",
        "cases p | q",
        "use p",
        "apply",
        "left x",
        "split",
        "show q",
        "decide p",
        "saturate now",
        "assumption",
        "use p | q",
    )
    for tactic in tactics:
        attempt = prover.attempt(Place(prover.root()), tactic)
        assert not attempt.applied, tactic
        assert attempt.reason
    assert not prover.attempt(Place(Goal("foreign")), "intro").applied
    prover.close()
    prover.close()


@pytest.mark.parametrize(
    ("goal", "tactic", "subgoals"),
    [
        ("p |- p", "assumption", []),
        ("False |- q", "absurd", []),
        ("|- True", "trivial", []),
        ("|- p -> q", "intro", ["p |- q"]),
        ("r |- p & q", "split", ["r |- p", "r |- q"]),
        ("|- p <-> q", "split", ["|- p -> q", "|- q -> p"]),
        ("|- p | q", "left", ["|- p"]),
        ("|- p | q", "right", ["|- q"]),
        ("p & q |- r", "take p & q", ["p, q |- r"]),
        ("p <-> q |- r", "take p <-> q", ["p -> q, q -> p |- r"]),
        ("p | q |- r", "cases p | q", ["p |- r", "q |- r"]),
        ("p, p -> q |- r", "apply p -> q", ["p, q |- r"]),
        ("True -> q |- r", "apply True -> q", ["q |- r"]),
        ("p & q -> r |- r", "curry p & q -> r", ["p -> q -> r |- r"]),
        ("(p <-> q) -> r |- r", "curry (p <-> q) -> r", ["(p -> q) -> (q -> p) -> r |- r"]),
        ("p | q -> r |- r", "branch p | q -> r", ["p -> r, q -> r |- r"]),
        ("(p -> q) -> r |- s", "use (p -> q) -> r", ["p, q -> r |- q", "r |- s"]),
    ],
)
def test_the_rules_of_the_raw_mode(goal, tactic, subgoals):
    sequent = read_sequent(goal)
    attempt = LogicProver(sequent.formula, "raw").attempt(Place(sequent.goal()), tactic)
    assert attempt.subgoals is not None
    assert [subgoal.key for subgoal in attempt.subgoals] == subgoals
    assert tactic in [suggestion.tactic for suggestion in LogicProvider("raw").suggest(sequent.goal())]


@pytest.mark.parametrize(
    ("goal", "tactic", "subgoals"),
    [
        ("|- p & q -> q & p", "saturate", []),
        ("|- ((p -> q) -> p) -> p", "saturate", ["~p -> p |- p"]),
        ("|- p | ~p -> q", "saturate", None),
        ("|- (~p -> p | q) -> p | q", "saturate", ["~p -> p | q |- p | q"]),
        ("p -> r, q -> r, r -> s, p | q |- s & r", "cases p | q", []),
        ("p | q, r | p |- p & q | r & q | p", "cases p | q", []),
        ("(p | q -> r) -> s |- r & s | s", "use (p | q -> r) -> s", None),
        (
            "(p -> f) -> f, (q -> f) -> f, (r -> f) -> f, p -> q -> r -> f |- f",
            "use (p -> f) -> f",
            ["(q -> f) -> f, (r -> f) -> f, q -> r -> f |- f"],
        ),
        ("|- (p -> p) & (~~q -> q)", "split", ["~~q |- q"]),
        ("~p -> p |- p | ~~p", "show ~~p", []),
        ("p | q, p | ~q, q | ~p, ~p | ~q |- False", "decide p", []),
    ],
)
def test_the_tactics_of_the_invertible_mode(goal, tactic, subgoals):
    sequent = read_sequent(goal)
    attempt = LogicProver(sequent.formula).attempt(Place(sequent.goal()), tactic)
    assert (None if attempt.subgoals is None else [subgoal.key for subgoal in attempt.subgoals]) == subgoals, (
        attempt.reason
    )


@pytest.mark.parametrize("mode", MODES)
def test_suggestions_are_probabilities_and_all_apply(mode):
    rng = random.Random(5)
    for _ in range(60):
        theorem = LogicTheorem("random", random_formula(rng, 4), mode=mode, classical=False)
        prover = theorem.open()
        provider = theorem.provider(prover)
        goal = prover.root()
        for _ in range(6):
            suggestions = provider.suggest(goal)
            if not suggestions:
                break
            assert sum(suggestion.probability for suggestion in suggestions) == pytest.approx(1.0)
            assert len({suggestion.tactic for suggestion in suggestions}) == len(suggestions)
            attempts = [prover.attempt(Place(goal), suggestion.tactic) for suggestion in suggestions]
            assert all(attempt.applied or "no tactic applies" in attempt.reason for attempt in attempts)
            below = [subgoal for attempt in attempts for subgoal in attempt.subgoals or ()]
            if not below:
                break
            goal = rng.choice(below)


def test_where_nothing_can_be_lost_there_is_one_suggestion():
    for goal, tactic in (
        ("|- p & q -> r", "saturate"),
        ("|- p & q", "split"),
        ("p | q |- r", "cases p | q"),
        ("p | q |- False", "decide p"),
        ("(p -> f) -> f, (q -> f) -> f, p -> q -> f |- f", "use (p -> f) -> f"),
    ):
        sequent = read_sequent(goal)
        sequent.saturated = tactic != "saturate"
        assert LogicProvider().suggest(sequent.goal()) == [(tactic, 1.0)]


def test_goals_that_are_false_in_classical_logic_are_refused():
    prover = LogicTheorem.read("(~p -> q) & (~q -> r) -> r | q & p").open()
    attempt = prover.attempt(Place(prover.root()), "saturate")
    assert attempt.subgoals is None
    assert "classical" in attempt.reason
    prover = LogicTheorem.read("(~p -> q) & (~q -> r) -> r | q & p", classical=False).open()
    assert prover.attempt(Place(prover.root()), "saturate").applied


@pytest.mark.parametrize("mode", MODES)
def test_goals_and_theorems_survive_pickling(mode):
    theorem = LogicTheorem.read("(p | q) & (p -> r) & (q -> r) -> r | s", mode=mode)
    again = pickle.loads(pickle.dumps(theorem))
    assert again == theorem
    prover, other = theorem.open(), again.open()
    pending = [prover.root()]
    for _ in range(20):
        if not pending:
            break
        goal = pending.pop()
        moved = pickle.loads(pickle.dumps(goal))
        assert moved == goal
        assert isinstance(moved.data, Sequent)
        assert moved.data == goal.data
        suggested = theorem.provider(prover).suggest(goal)
        assert again.provider(other).suggest(moved) == suggested
        for suggestion in suggested:
            here, there = prover.attempt(Place(goal), suggestion.tactic), other.attempt(Place(moved), suggestion.tactic)
            assert here == there
            pending += here.subgoals or ()


def test_keys_are_the_same_in_another_process():
    code = """
import sys, pickle
from treetop.prove.logic.syntax import parse
parse("z & y & x & s & q")
from treetop.prove.prover import Place
theorem = pickle.loads(bytes.fromhex(sys.argv[1]))
prover = theorem.open()
goal = prover.root()
print(goal.key)
print(prover.attempt(Place(goal), "saturate").subgoals[0].key)
"""
    theorem = LogicTheorem.read("(q | p) & ((s -> r) -> q) & ((p -> r) -> s) -> r | (s & q)", classical=False)
    prover = theorem.open()
    attempt = prover.attempt(Place(prover.root()), "saturate")
    assert attempt.subgoals is not None
    ran = subprocess.run(
        [sys.executable, "-c", code, pickle.dumps(theorem).hex()], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines() == [prover.root().key, attempt.subgoals[0].key]


def test_an_unknown_mode_is_an_error():
    with pytest.raises(ConfigError, match="raw or invertible"):
        LogicTheorem.read("p", mode="fast")
    with pytest.raises(ConfigError, match="raw or invertible"):
        LogicProvider("fast")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="statement must be a Formula"):
        LogicTheorem("name", "p -> p")  # type: ignore[arg-type]
