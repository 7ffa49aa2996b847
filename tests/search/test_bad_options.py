"""Options that contradict each other, and functions of the caller's own that misbehave: a clear error, and nothing is lost."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treetop as tt
from tests.own_games import ThreeNim
from tests.search.own_rules import BY_ZERO, INFINITE, NOT_A_NUMBER, moody


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: tt.configure("ucb2"), "ucb1"),
        (lambda: tt.configure(lambda value: value), "treetop.rule"),
        (lambda: tt.SearchConfig(rule=None), "rule"),
        (lambda: tt.uct(backup="median"), "mean"),
        (lambda: tt.uct(root="leaf"), "gumbel"),
        (lambda: tt.uct(final="best"), "visits"),
        (lambda: tt.uct(virtual_loss="gain"), "always"),
        (lambda: tt.puct(c_schedule="linear"), "katago"),
        (lambda: tt.puct(fpu="mother"), "parent"),
        (lambda: tt.uct(solver="yes"), "True or False"),
        (lambda: tt.uct(solver=1), "True or False"),
        (lambda: tt.uct(normalise="no"), "normalise"),
        (lambda: tt.uct(c_base=100.0), "puct"),
        (lambda: tt.uct(c_schedule="katago"), "puct"),
        (lambda: tt.configure("puct", c_schedule="katago"), "c_base"),
        (lambda: tt.configure("puct", c_schedule="constant", c_base=5.0), "c_base"),
        (lambda: tt.uct(variance_scale=0.5), "puct"),
        (lambda: tt.uct(forced_playouts=2.0), "puct"),
        (lambda: tt.uct(noise=0.25), "priors"),
        (lambda: tt.uct(amaf_reference=10), "rave"),
        (lambda: tt.uct(amaf_k=10.0), "rave"),
        (lambda: tt.rave(fpu=0.5), "fpu"),
        (lambda: tt.rules.thompson(fpu=0.5), "fpu"),
        (lambda: tt.rules.uniform(tie_break="first"), "random"),
        (lambda: tt.gumbel(noise=0.25), "noise"),
        (lambda: tt.puct(root="halving", forced_playouts=2.0), "root='rule'"),
        (lambda: tt.rules.halving(rule="rave"), "'rave'"),
        (lambda: tt.gumbel(widening=1.0), "widening"),
        (lambda: tt.uct(solver=True, discount=0.9), "discount"),
        (lambda: tt.puct(noise_final=0.1), "noise"),
        (lambda: tt.puct(noise=1.5), "0 to 1"),
        (lambda: tt.puct(noise=-0.1), "0 to 1"),
        (lambda: tt.puct(noise=0.2, noise_alpha=0.0), "positive"),
        (lambda: tt.uct(discount=1.1), "0 to 1"),
        (lambda: tt.uct(backup="mixed", minimax_share=-1), "0 to 1"),
        (lambda: tt.uct(widening=0.0), "positive"),
        (lambda: tt.uct(widening=1.0, widening_power=2.0), "0 to 1"),
        (lambda: tt.gumbel(max_considered=0), "at least 1"),
        (lambda: tt.uct(batch_size=0), "at least 1"),
        (lambda: tt.uct(transpositions=100), "1,024"),
        (lambda: tt.uct(transpositions=-1), "1,024"),
        (lambda: tt.uct(transpositions=True, backup="max"), "backup"),
        (lambda: tt.uct(transpositions=True, widening=1.0), "widening"),
        (lambda: tt.uct(transpositions=True, discount=0.9), "discount"),
        (lambda: tt.uct(transpositions=True, final="lcb"), "lcb"),
        (lambda: tt.uct(transpositions=True, virtual_loss="always"), "virtual"),
        (lambda: tt.rave(transpositions=True), "rave"),
        (lambda: tt.gumbel(transpositions=True), "completed"),
        (lambda: tt.configure(moody, transpositions=True), "moody"),
        (lambda: tt.puct(transpositions=True, c_schedule="katago"), "katago"),
        (lambda: tt.uct().with_options(solver=True, discount=0.5), "discount"),
        (lambda: tt.uct(nonsense=3), "nonsense"),
    ],
)
def test_options_that_cannot_be_are_refused_with_what_would_be_right(make, says):
    with pytest.raises(tt.errors.ConfigError) as caught:
        make()
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: tt.Search("tic_tac_toe", evaluator=tt.evaluators.Heuristic()), "heuristic"),
        (lambda: tt.Search("tic_tac_toe", evaluator=tt.evaluators.Mixed(tt.evaluators.Heuristic())), "heuristic"),
        (lambda: tt.Search("tic_tac_toe", evaluator=tt.Rollout(depth=3)), "heuristic"),
        (lambda: tt.Search("tic_tac_toe", evaluator=tt.Rollout("game")), "rollout_action"),
        (lambda: tt.Search("tic_tac_toe", tt.uct(backup="implicit")), "heuristic"),
        (lambda: tt.Search(ThreeNim, tt.uct(transpositions=True)), "key"),
        (lambda: tt.Search("tic_tac_toe", tt.uct(transpositions=True), evaluator=tt.Rollout("mast")), "transpositions"),
        (lambda: tt.Search("tic_tac_toe", tt.puct(transpositions=True, fpu="parent")), "transpositions"),
        (lambda: tt.Search("tic_tac_toe", tt.uct(transpositions=True, normalise=True)), "normalise"),
        (lambda: tt.Search("tic_tac_toe", tt.uct(max_nodes=10)), "max_nodes"),
        (lambda: tt.Search("tic_tac_toe", tt.uct(transpositions=True, repetition=5.0)), "repetition"),
        (lambda: tt.Rollout("greedy"), "random"),
        (lambda: tt.Rollout(count=0), "count"),
        (lambda: tt.Rollout(depth=-1), "depth"),
        (lambda: tt.Rollout("mast", epsilon=2.0), "epsilon"),
        (lambda: tt.evaluators.Heuristic(prior_temperature=0.0), "prior_temperature"),
        (lambda: tt.evaluators.Mixed(tt.Rollout()), "rollout"),
        (lambda: tt.evaluators.Mixed(tt.evaluators.Uniform(), weight=1.0), "weight"),
    ],
)
def test_what_a_game_does_not_have_cannot_be_asked_for(make, says):
    with pytest.raises(tt.errors.ConfigError) as caught:
        make()
    assert says in str(caught.value)


def test_a_rule_takes_the_arguments_that_it_is_given():
    with pytest.raises(
        tt.errors.ConfigError, match=r"\(value, visits, prior, variance, total, c\), not \(value, visits\)"
    ):
        tt.rule(lambda value, visits: value)
    with pytest.raises(tt.errors.ConfigError, match="prior"):

        @tt.rule
        def swapped(visits, value, prior, variance, total, c):
            return value


def moody_search(c, seed=1):
    return tt.Search("tic_tac_toe", tt.configure(moody, c=c), seed=seed)


def test_a_rule_that_gives_no_number_is_reported_with_its_name_and_the_move():
    search = moody_search(NOT_A_NUMBER)
    with pytest.raises(tt.errors.ConfigError, match="moody") as caught:
        search.run(tt.Limit(simulations=500))
    assert any(f"the move {move} " in str(caught.value) for move in tt.position("tic_tac_toe").legal_moves())
    assert "not a number" in str(caught.value)
    held = search.simulations
    assert held > 9
    search.tree.check((-1, 1))
    assert search.result().counts.sum() == held - 1  # what was found until then is there
    assert search.result().move
    with pytest.raises(tt.errors.ConfigError, match="moody"):  # and the same choice fails again
        search.run(tt.Limit(simulations=1))
    assert search.simulations == held
    search.advance(search.result().action)
    search.tree.check((-1, 1))


def test_a_rule_that_divides_by_zero_is_reported():
    search = moody_search(BY_ZERO)
    with pytest.raises(tt.TreetopError, match="(?s)moody.*(ZeroDivisionError|division by zero|not a number)"):
        search.run(tt.Limit(simulations=500))
    search.tree.check((-1, 1))
    assert search.simulations > 1


def test_a_rule_may_give_infinities():
    search = moody_search(INFINITE)
    assert search.run(tt.Limit(simulations=500)).simulations == 500
    search.tree.check((-1, 1))
    assert search.result().explain().rows


@pytest.mark.parametrize("answer", [99, "a1", None, True, 2.5, -1])
def test_a_tie_break_must_return_one_of_the_tied(answer):
    search = tt.Search("tic_tac_toe", tt.uct(tie_break=lambda actions: answer), seed=1)
    with pytest.raises(tt.errors.ConfigError, match="tied actions"):
        search.run(tt.Limit(simulations=100))
    search.tree.check((-1, 1))
    assert search.simulations == 1
    assert search.result().counts.sum() == 0


def test_a_tie_break_may_answer_with_a_number_of_numpys():
    search = tt.Search("tic_tac_toe", tt.uct(tie_break=lambda actions: np.int64(actions[-1])), seed=1)
    assert search.run(tt.Limit(simulations=50)).simulations == 50


def test_a_tie_break_of_the_callers_works_with_rules_of_the_full_build():
    seen = []

    def last(actions):
        seen.append(len(actions))
        return actions[-1]

    result = tt.Search("tic_tac_toe", tt.rules.ucb1_tuned(tie_break=last), seed=1).run(tt.Limit(simulations=10))
    assert seen[:3] == [9, 8, 7]
    assert result.visits == dict.fromkeys(range(9), 1)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_an_evaluator_that_gives_no_number_is_reported_and_nothing_stays_in_flight(bad):
    class Broken:
        name = "broken"
        calls = 0

        def evaluate(self, batch):
            self.calls += 1
            values = np.zeros(len(batch))
            values[-1] = bad if self.calls == 3 else 0.0
            return np.zeros((len(batch), 9)), values

    search = tt.Search("tic_tac_toe", tt.puct(batch_size=4), evaluator=Broken(), seed=1)
    with pytest.raises(tt.errors.ConfigError, match="finite"):
        search.run(tt.Limit(simulations=50))
    assert search.in_flight == 0
    search.tree.check((-1, 1))
    assert search.run(tt.Limit(simulations=20)).simulations == 20


@pytest.mark.parametrize(
    "call",
    [lambda search: search.visit("z9", 10), lambda search: search.visit(9, 10), lambda search: search.visit(True, 10)],
)
def test_a_move_that_is_not_legal_cannot_be_visited(call):
    with pytest.raises(tt.errors.IllegalMoveError):
        call(tt.Search("tic_tac_toe", seed=1))


@pytest.mark.parametrize("wanted", [2.5, "many", True])
def test_a_move_is_visited_a_whole_number_of_times(wanted):
    with pytest.raises(tt.errors.ConfigError, match="at_least"):
        tt.Search("tic_tac_toe", seed=1).visit("a1", at_least=wanted)


@pytest.mark.parametrize(
    "name",
    [
        "virtual_loss_until",
        "expand_after",
        "max_depth",
        "max_nodes",
        "max_considered",
        "batch_size",
        "noise_moves",
        "completed_visits",
        "c",
        "transpositions",
    ],
)
def test_numbers_that_no_kernel_can_hold_are_refused(name):
    make = tt.gumbel if name in ("max_considered", "completed_visits") else tt.uct
    for value in (2**63, 2**64, 10**90):
        with pytest.raises(tt.errors.ConfigError, match=name):
            make(**{name: value})
    with pytest.raises(tt.errors.ConfigError, match="depth"):
        tt.Rollout(depth=2**31)
