"""Which move is played at the end, on numbers that were worked out by hand."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import treetop as tt
from tests.numbers import with_numbers

START = "a1 b1 c1 b2 a2 c2"  # three moves are left: a3, b3 and c3


@pytest.fixture(scope="module")
def some_result():
    return tt.Search(tt.position("tic_tac_toe", moves=START), tt.uct(solver=True), seed=1).run(tt.Limit(simulations=5))


def message(
    some_result, counts, means, deviations=(math.nan,) * 3, *, seed=0, lower=None, upper=None, distances=None, **options
):
    """A result with three moves and these numbers."""
    solver = lower is not None
    return with_numbers(
        replace(some_result, seed=seed, config=tt.uct(solver=solver, **options), root_visits=int(sum(counts)) + 1),
        counts=np.array(counts, np.int32),
        means=np.array(means, float),
        deviations=np.array(deviations, float),
        lower=np.array(lower, float) if solver else None,
        upper=np.array(upper, float) if solver else None,
        distances=np.array(distances or [0, 0, 0], np.int32) if solver else None,
    )


def moves(result):
    return [result.position.move_text(int(action)) for action in result.actions]


def test_three_moves_are_left(some_result):
    assert moves(some_result) == ["a3", "b3", "c3"]


def test_the_most_visited_move_is_played_and_among_equals_the_better_one(some_result):
    assert message(some_result, [50, 40, 10], [0.1, 0.9, 0.9]).move == "a3"
    assert message(some_result, [40, 40, 10], [0.1, 0.2, 0.9]).move == "b3"
    assert (
        "most visits (50 of 100, 50.0%; the next is b3 with 40)"
        in message(some_result, [50, 40, 10], [0.1, 0.9, 0.9]).explain().why
    )


def test_exact_ties_are_drawn_by_the_seed(some_result):
    drawn = Counter(message(some_result, [40, 40, 40], [0.2, 0.2, 0.2], seed=seed).move for seed in range(300))
    assert set(drawn) == {"a3", "b3", "c3"}
    assert min(drawn.values()) > 60
    once = message(some_result, [40, 40, 40], [0.2, 0.2, 0.2], seed=7)
    assert len({replace(once).move for _ in range(5)}) == 1


def test_by_value_the_highest_mean_is_played_however_few_its_visits(some_result):
    assert message(some_result, [50, 40, 1], [0.1, 0.3, 0.4], final="value").move == "c3"
    assert message(some_result, [50, 40, 0], [0.1, 0.3, math.nan], final="value").move == "b3"


def test_the_secure_move_has_the_highest_value_less_its_spread(some_result):
    numbers = [50, 40, 10], [0.5, 0.4, 0.9], [0.5, 0.1, 1.0]  # 0.0, 0.3 and -0.1
    assert message(some_result, *numbers, final="secure").move == "b3"
    assert message(some_result, *numbers, final="secure", secure_beta=0.0).move == "c3"
    assert message(some_result, *numbers, final="secure", secure_beta=0.3).move == "c3"  # 0.35, 0.37 and 0.6
    assert message(some_result, [50, 40, 0], [0.5, 0.4, math.nan], [0.5, 0.1, math.nan], final="secure").move == "b3"


def test_lower_confidence_bounds_follow_the_formula(some_result):
    result = message(some_result, [100, 80, 10], [0.5, 0.6, 0.99], [0.5, 0.1, 0.0], final="lcb")
    weights, lower = result.config.final.weights(result)
    # The spread of 0.5 in 100 visits gives a radius of 5 * 0.5 / 10, that of 0.1 in 80 one of 5 * 0.1 / sqrt(80).
    assert lower[:2] == pytest.approx([0.25, 0.6 - 0.5 / math.sqrt(80)], abs=1e-3)
    gap = lower[1] - lower[0]
    ratio = (0.25 + gap) / (0.25 + 0.2 * gap)
    assert weights == pytest.approx([100, 100 * ratio**2, 10], rel=1e-3)
    assert result.move == "b3"  # and not c3, which has too few visits to be judged
    assert message(some_result, [100, 80, 10], [0.5, 0.6, 0.99], [0.1, 0.5, 0.0], final="lcb").move == "a3"
    assert message(some_result, [100, 80, 10], [0.5, 0.4, 0.9], [0.2, 0.2, 0.0], final="lcb").move == "a3"


def test_a_lower_bound_multiplies_visits_by_25_at_most(some_result):
    result = message(some_result, [1000, 200, 1], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0], final="lcb")
    weights, _ = result.config.final.weights(result)
    assert 200 < weights[1] <= 25_000
    even = message(some_result, [1, 1, 1], [0.5, 0.4, 0.3], [0.0, 0.0, 0.0], final="lcb")
    few = even.config.final.weights(even)[1]
    assert few == pytest.approx([-2.0, -2.1, -2.2])  # one visit says next to nothing: a variance of 1/2 in two samples


@pytest.mark.parametrize("final", ["secure", "lcb"])
def test_a_real_search_keeps_the_spread_that_its_final_rule_reads(final):
    search = tt.Search(tt.position("tic_tac_toe", moves="a1"), tt.uct(final=final), seed=1)
    result = search.run(tt.Limit(simulations=2000))
    assert np.isfinite(result.deviations).all()
    assert (result.deviations <= 1.0 + 1e-9).all()
    assert result.move == "b2"


def test_by_temperature_moves_are_drawn_by_powers_of_their_visits(some_result):
    shares = {1.0: [1 / 7, 2 / 7, 4 / 7], 0.5: [1 / 21, 4 / 21, 16 / 21], math.inf: [1 / 3, 1 / 3, 1 / 3]}
    for temperature, wanted in shares.items():
        drawn = Counter(
            message(some_result, [1, 2, 4], [0.0] * 3, seed=seed, final="temperature", temperature=temperature).move
            for seed in range(2000)
        )
        assert [drawn[move] / 2000 for move in ("a3", "b3", "c3")] == pytest.approx(wanted, abs=0.04)


def test_a_temperature_of_zero_is_greedy(some_result):
    for seed in range(20):
        assert (
            message(some_result, [3, 5, 4], [0.9, 0.1, 0.5], seed=seed, final="temperature", temperature=0.0).move
            == "b3"
        )


def test_a_move_that_was_never_tried_is_not_drawn(some_result):
    for temperature in (1.0, math.inf):
        drawn = {
            message(
                some_result, [0, 5, 4], [math.nan, 0.1, 0.5], seed=seed, final="temperature", temperature=temperature
            ).move
            for seed in range(60)
        }
        assert drawn == {"b3", "c3"}


def test_the_policy_stands_at_the_actions_places(some_result):
    result = message(some_result, [1, 2, 4], [0.0] * 3)
    for temperature, wanted in ((1.0, [1 / 7, 2 / 7, 4 / 7]), (0.5, [1 / 21, 4 / 21, 16 / 21]), (0.0, [0, 0, 1])):
        policy = result.policy(temperature)
        assert policy[[6, 7, 8]] == pytest.approx(wanted)
        assert policy.sum() == pytest.approx(1)
    assert message(some_result, [5, 5, 0], [0.0] * 3).policy(0.0)[[6, 7, 8]].tolist() == [0.5, 0.5, 0.0]
    assert message(some_result, [0, 0, 0], [math.nan] * 3).policy()[[6, 7, 8]] == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("temperature", [0.1, 0.01, 1e-5, 1e-200, 1e-310, 5e-324])
def test_a_policy_never_overflows(some_result, temperature):
    policy = message(some_result, [10_000, 2_000_000_000, 1_999_000_000], [0.0] * 3).policy(temperature)
    assert np.isfinite(policy).all()
    assert policy.sum() == pytest.approx(1)
    assert policy.argmax() == 7


@pytest.mark.parametrize("temperature", [-0.1, math.nan])
def test_an_impossible_temperature_is_refused(some_result, temperature):
    with pytest.raises(tt.errors.ConfigError, match="temperature"):
        message(some_result, [1, 2, 4], [0.0] * 3).policy(temperature)


def test_the_quickest_win_is_played_and_the_slowest_loss(some_result):
    won = message(some_result, [90, 5, 5], [1.0, 1.0, 1.0], lower=[1, 1, -1], upper=[1, 1, 1], distances=[4, 2, 0])
    assert won.move == "b3"
    assert "in at most 3 moves" in won.explain().why
    lost = message(some_result, [90, 5, 5], [-1.0] * 3, lower=[-1] * 3, upper=[-1] * 3, distances=[1, 5, 3])
    assert lost.move == "b3"


def test_a_proven_win_is_played_whatever_the_final_rule(some_result):
    for final in ("visits", "value", "secure", "lcb", "temperature"):
        for seed in range(5):
            result = message(
                some_result,
                [900, 90, 1],
                [0.9, 0.5, 1.0],
                [0.1, 0.1, 0.0],
                lower=[-1, -1, 1],
                upper=[1, 1, 1],
                seed=seed,
                final=final,
            )
            assert result.move == "c3"


def test_several_lines_are_reported_the_most_visited_first():
    result = tt.Search(tt.position("tic_tac_toe", moves="a1"), tt.uct(solver=True), seed=1).run(
        tt.Limit(simulations=400)
    )
    lines = result.lines(3)
    assert [line.visits for line in lines] == sorted(result.visits.values(), reverse=True)[:3]
    for line in lines:
        assert line.moves[0] == line.move
        assert -1 <= line.value <= 1
        result.position.play(list(line.moves))  # every line can be played
        assert line.move in str(line)
    assert len(result.lines(100)) <= len(result.actions)
    assert result.lines(1)[0].visits == max(result.visits.values())


def test_before_anything_was_tried_there_is_a_guess():
    result = tt.Search("tic_tac_toe", tt.uct(solver=True), seed=1).run(tt.Limit(simulations=1))
    assert not result.counts.any()
    assert result.action in range(9)
    assert result.policy() == pytest.approx(np.full(9, 1 / 9))
    assert "guess" in result.explain().why


class Likes:
    """An evaluator with a favourite action."""

    def __init__(self, action):
        self.action = action

    def evaluate(self, batch):
        logits = np.zeros((len(batch), batch.game.facts.num_actions), np.float32)
        logits[:, self.action] = 1.0
        return logits, np.zeros(len(batch))


@pytest.mark.parametrize("favourite", [0, 4, 8])
def test_one_simulation_plays_the_move_with_the_highest_prior(favourite):
    result = tt.search("tic_tac_toe", tt.puct(), evaluator=Likes(favourite), simulations=1, seed=favourite)
    assert result.action == favourite
    assert "highest prior (25.4%)" in result.explain().why
    pool = tt.SearchPool("tic_tac_toe", tt.puct(), slots=3, evaluator=Likes(favourite), seed=1)
    pool.run(simulations=1)
    assert pool.results().actions.tolist() == [favourite] * 3
