"""What a search may do to its root: noise, Gumbel numbers, halving, forced playouts, moves that are asked for, temperature."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treetop as tt
from treetop.kernels.roots.prepare import plan_halving

LEGAL = 9


def run(config, simulations, *, seed=1, evaluator=None, moves=""):
    search = tt.Search(tt.position("tic_tac_toe", moves=moves), config, evaluator=evaluator, seed=seed)
    return search, search.run(tt.Limit(simulations=simulations))


# Dirichlet noise.


def noisy(seed=1, **options):
    return run(tt.puct(**options), 20, seed=seed, evaluator=tt.evaluators.Uniform())


def test_without_asking_there_is_no_noise():
    _, result = noisy()
    assert result.priors == pytest.approx(np.full(LEGAL, 1 / LEGAL))
    assert tt.SearchConfig().noise.fraction == tt.puct().noise.fraction == 0.0


def test_noise_has_its_share_and_the_priors_still_sum_to_one():
    seen = set()
    for seed in range(20):
        search, result = noisy(seed, noise=0.25)
        search.tree.check((-1, 1))
        assert result.priors.sum() == pytest.approx(1, abs=1e-5)
        assert result.priors.min() >= 0.75 / LEGAL - 1e-6
        seen.add(tuple(result.priors))
    assert len(seen) == 20


def test_noise_alone_is_dirichlet_with_ten_over_the_legal_moves():
    draws = np.concatenate([noisy(seed, noise=1.0)[1].priors for seed in range(200)])
    share = 1 / LEGAL
    assert draws.mean() == pytest.approx(share, abs=1e-5)
    assert draws.var() == pytest.approx(share * (1 - share) / (10 + 1), rel=0.15)
    reported = noisy(3, noise=1.0, noise_alpha=10 / LEGAL)[1].priors
    assert np.array_equal(noisy(3, noise=1.0)[1].priors, reported)
    narrow = np.concatenate([noisy(seed, noise=1.0, noise_alpha=1000.0)[1].priors for seed in range(10)])
    assert narrow == pytest.approx(np.full(len(narrow), share), abs=0.02)


def test_noise_is_drawn_once_a_root_and_renewed_at_the_next_one():
    search, first = noisy(noise=0.5)
    again = search.run(tt.Limit(simulations=200))
    assert np.array_equal(first.priors, again.priors)
    search.advance(again.action)
    renewed = search.run(tt.Limit(simulations=200))
    assert renewed.priors.sum() == pytest.approx(1, abs=1e-5)
    assert len(set(renewed.priors.tolist())) == LEGAL - 1
    fresh = tt.Search(search.position, tt.puct(noise=0.5), evaluator=tt.evaluators.Uniform(), seed=1).run(
        tt.Limit(simulations=20)
    )
    assert fresh.priors == pytest.approx(renewed.priors, abs=1e-6)  # however the search came there


def test_noise_fades_over_the_moves():
    config = tt.puct(noise=0.5, noise_final=0.0, noise_moves=2)
    assert [config.noise.at(moves) for moves in (0, 1, 2, 5)] == [0.5, 0.25, 0.0, 0.0]
    spread = []
    for moves in ("", "a1", "a1 b2", "a1 b2 c3"):
        _, result = run(config, 20, evaluator=tt.evaluators.Uniform(), moves=moves)
        spread.append(float(np.ptp(result.priors)))
    assert spread[0] > 0
    assert spread[1] > 0
    assert spread[2:] == pytest.approx([0.0, 0.0], abs=1e-7)


def test_noise_reaches_moves_that_are_asked_for_by_hand_too():
    search = tt.Search("tic_tac_toe", tt.puct(noise=0.25), evaluator=tt.evaluators.Uniform(), seed=1)
    while batch := search.ask(4, tt.Limit(simulations=20)):
        search.tell(batch, *tt.evaluators.Uniform().evaluate(batch))
    assert search.result().priors == pytest.approx(noisy(noise=0.25)[1].priors)


# Gumbel.


def planned(considered: int, simulations: int) -> list[int]:
    """The visits of each considered move after a plan of sequential halving, the most visited first."""
    if considered == 1:
        return [simulations]
    rounds, left, visits, spent = math.ceil(math.log2(considered)), considered, [0] * considered, 0
    while spent < simulations:
        for _ in range(max(1, simulations // (rounds * left))):
            for move in range(left):
                if spent < simulations:
                    visits[move] += 1
                    spent += 1
        left = max(2, left // 2)
    return sorted(visits, reverse=True)


def test_a_schedule_plans_every_budget_for_every_number_of_moves():
    for considered in range(1, 21):
        for simulations in range(1, 201):
            schedule = np.zeros(simulations, np.int32)
            plan_halving(schedule, considered, simulations)
            schedule = schedule.tolist()
            assert len(schedule) == simulations
            visits = [0] * considered
            for wanted in schedule:  # each entry finds a move with so many visits
                visits[visits.index(wanted)] += 1
            assert sorted(visits, reverse=True) == planned(considered, simulations)
            assert schedule[: min(considered, simulations)] == [0] * min(considered, simulations)


@pytest.mark.parametrize("considered", [1, 2, 3, 4, 9, 16])
@pytest.mark.parametrize("simulations", [2, 5, 16, 50, 200])
def test_gumbel_follows_its_schedule(considered, simulations):
    search, result = run(tt.gumbel(max_considered=considered), simulations, evaluator=tt.evaluators.Uniform())
    search.tree.check((-1, 1))
    assert search.simulations == simulations
    wanted = planned(min(considered, LEGAL), simulations - 1)  # the first simulation opens the root
    assert sorted(result.visits.values(), reverse=True)[: len(wanted)] == wanted
    assert result.counts[result.actions == result.action] == max(wanted)


@pytest.mark.parametrize("batch_size", [1, 4])
def test_gumbel_follows_its_schedule_in_batches(batch_size):
    class Flat:
        name = "flat"

        def evaluate(self, batch):
            return np.zeros((len(batch), LEGAL)), np.zeros(len(batch))

    search, result = run(tt.gumbel(max_considered=4, batch_size=batch_size), 81, evaluator=Flat())
    search.tree.check((-1, 1))
    assert sorted(result.visits.values(), reverse=True)[:4] == planned(4, 80)


def test_a_second_run_on_the_same_tree_plans_anew():
    search, first = run(tt.gumbel(max_considered=4), 51, evaluator=tt.evaluators.Uniform())
    second = search.run(tt.Limit(simulations=64))
    added = second.counts - first.counts
    assert sorted(added.tolist(), reverse=True)[:4] == planned(4, 64)
    assert added[second.actions == second.action] == added.max()
    with pytest.raises(tt.errors.ConfigError, match="simulations"):
        search.run(tt.Limit(seconds=0.01))


def test_gumbel_plans_after_a_move_that_kept_the_tree():
    search, result = run(tt.gumbel(max_considered=4), 200, evaluator=tt.evaluators.Uniform())
    search.advance(result.action)
    before = {child.action: child.visits for child in search.tree.root.children}
    assert sum(before.values()) > 10
    after = search.run(tt.Limit(simulations=64))
    added = [visits - before[action] for action, visits in after.visits.items()]
    assert sorted(added, reverse=True)[:4] == planned(4, 64)


def test_gumbel_without_chance_is_the_same_for_all_seeds():
    found = [
        run(tt.gumbel(gumbel_scale=0.0, tie_break="first"), 60, seed=seed, evaluator=tt.evaluators.Uniform())[1]
        for seed in range(4)
    ]
    assert len({tuple(result.visits.items()) for result in found}) == 1
    assert all(result.visits[result.action] == max(result.visits.values()) for result in found)
    chance = [
        run(tt.gumbel(max_considered=4), 60, seed=seed, evaluator=tt.evaluators.Uniform())[1] for seed in range(6)
    ]
    assert len({tuple(result.visits.items()) for result in chance}) > 2


def test_gumbel_works_with_a_single_legal_move():
    for stop_when_forced in (True, False):
        _, result = run(tt.gumbel(stop_when_forced=stop_when_forced), 10, moves="a1 b1 c1 b2 a2 c2 b3 a3")
        assert (result.move, len(result.actions), result.simulations) == ("c3", 1, 10)


def test_gumbel_refuses_a_limit_without_simulations():
    for search in (
        tt.Search("tic_tac_toe", tt.gumbel(), seed=1),
        tt.Search("tic_tac_toe", tt.gumbel(), evaluator=tt.evaluators.Uniform(), seed=1),
    ):
        with pytest.raises(tt.errors.ConfigError, match="simulations"):
            search.run(tt.Limit(seconds=0.05))
        assert search.run(tt.Limit(simulations=40)).simulations == 40  # and is as good as new
        search.tree.check((-1, 1))


def test_gumbel_with_rollouts_and_many_simulations_gets_a_warning():
    with pytest.warns(UserWarning, match=r"simulations with rollouts"):
        run(tt.gumbel(), 2000)
    run(tt.gumbel(), 2000, evaluator=tt.evaluators.Uniform())


def test_gumbel_goes_with_the_solver():
    for seed in range(5):
        _, result = run(tt.gumbel(solver=True), 1000, seed=seed, moves="a1 b1 b2")
        assert (result.proof.outcome, result.move) == ("loss", result.move)
        _, won = run(tt.gumbel(solver=True), 1000, seed=seed, moves="a1 b1 b2 a2")
        assert (won.proof.outcome, won.move) == ("win", "c3")


def test_what_gumbel_teaches_is_a_policy():
    _, result = run(tt.gumbel(max_considered=4), 60)
    target = result.target()
    assert target.sum() == pytest.approx(1)
    assert (target > 0).all()  # also for moves that were not looked at
    assert int(np.argmax(target)) in [action for action, visits in result.visits.items() if visits]


# Halving.


def test_anytime_halving_tries_every_move_once_first():
    for simulations in range(2, 30):
        search, result = run(tt.rules.halving(), simulations)
        counts = sorted(result.visits.values())
        assert sum(counts) == simulations - 1
        assert counts[0] >= 1 if simulations > LEGAL else counts[-1] == 1
        search.tree.check((-1, 1))


def test_a_pass_of_anytime_halving_doubles_the_samples_of_the_better_half():
    _, result = run(tt.rules.halving(), 1 + 9 + 5 * 2 + 3 * 4 + 2 * 8)
    assert sorted(result.visits.values()) == [1, 1, 1, 1, 3, 3, 7, 15, 15]


def test_anytime_halving_starts_over_after_a_move():
    search, result = run(tt.rules.halving(), 200)
    search.advance(result.action)
    before = {child.action: child.visits for child in search.tree.root.children}
    after = search.run(tt.Limit(simulations=LEGAL - 1))
    assert [after.visits[action] - visits for action, visits in before.items()] == [1] * (LEGAL - 1)


def test_anytime_halving_can_be_stopped_by_time():
    search = tt.Search("tic_tac_toe", tt.rules.halving(), seed=1)
    assert search.run(tt.Limit(seconds=0.02)).visits[4] > 0


# Forced playouts.


def test_forced_playouts_give_every_tried_move_its_share():
    for forced in (0.0, 2.0):
        _, result = run(tt.puct(c=0.05, forced_playouts=forced), 2000)
        share = math.sqrt(2.0 / LEGAL * (result.counts.sum() - 1))
        assert (result.counts >= math.floor(share)).all() == bool(forced)


def test_visits_that_nothing_forced_are_taught_as_they_are():
    _, result = run(tt.puct(c=0.5), 2000)
    assert result.target()[result.actions] == pytest.approx(result.counts / result.counts.sum())


def test_forced_playouts_are_taken_out_of_what_is_taught():
    _, result = run(tt.puct(c=0.5, forced_playouts=2.0), 2000)
    target = result.target()
    shares = result.counts / result.counts.sum()
    assert target.sum() == pytest.approx(1)
    assert target[result.actions].argmax() == shares.argmax()
    best = int(shares.argmax())
    scale = 0.5 * math.sqrt(result.counts.sum())
    score = result.means[best] + scale * result.priors[best] / (1 + result.counts[best])
    kept = [min(visits, max(0.0, scale * prior / (score - mean) - 1)) if mean < score else visits
            for visits, mean, prior in zip(result.counts, result.means, result.priors, strict=True)]  # fmt: skip
    kept[best] = result.counts[best]
    assert target[result.actions] == pytest.approx(np.array(kept) / sum(kept))


# Moves that are asked for.


@pytest.mark.parametrize("config", [tt.uct(), tt.puct(), tt.rules.halving(), tt.gumbel(), tt.uct(solver=True)], ids=str)
def test_only_included_moves_are_looked_at(config):
    search = tt.Search("tic_tac_toe", config, seed=1)
    result = search.run(tt.Limit(simulations=40), include=["a1", 4])
    assert {action for action, visits in result.visits.items() if visits} == {0, 4}
    without = search.run(tt.Limit(simulations=40), exclude=["a1", "b2"])
    assert without.visits[0] == result.visits[0]
    assert without.visits[4] == result.visits[4]
    assert search.simulations == 80
    search.tree.check((-1, 1))
    free = search.run(tt.Limit(simulations=40))
    assert sum(free.visits.values()) - sum(without.visits.values()) == 40


def test_included_moves_must_be_legal_and_some_must_be_left():
    search = tt.Search("tic_tac_toe", seed=1)
    with pytest.raises(tt.errors.IllegalMoveError):
        search.run(tt.Limit(simulations=10), include=["d4"])
    with pytest.raises(tt.errors.IllegalMoveError):
        search.run(tt.Limit(simulations=10), exclude=[9])
    with pytest.raises(tt.errors.ConfigError, match="no move"):
        search.run(tt.Limit(simulations=10), include=["a1"], exclude=["a1"])
    with pytest.raises(tt.errors.ConfigError, match="transpositions"):
        tt.Search("tic_tac_toe", tt.uct(transpositions=True)).run(tt.Limit(simulations=10), include=["a1"])
    assert search.run(tt.Limit(simulations=10)).simulations == 10


@pytest.mark.parametrize(
    "config", [tt.uct(), tt.puct(c=1.0), tt.rules.halving(), tt.gumbel(), tt.rules.ucb1_tuned()], ids=str
)
@pytest.mark.parametrize("before", [0, 15, 100])
def test_a_move_is_visited_as_often_as_asked_and_no_other_is(config, before):
    search = tt.Search("tic_tac_toe", config, seed=1)
    held = search.run(tt.Limit(simulations=before)).visits if before else dict.fromkeys(range(LEGAL), 0)
    for wanted in (20, 45, 30):
        result = search.visit("b2", at_least=wanted)
        held[4] = max(held[4], wanted)
        assert result.visits == held
        search.tree.check((-1, 1))
    assert search.simulations - sum(held.values()) == 1  # nothing of the tree was lost: the root was evaluated once


def test_a_move_that_is_proven_gets_no_more_visits():
    search, result = run(tt.uct(solver=True), 3000, moves="a1 b1 b2 a2")
    assert result.solved
    before = result.visits
    assert search.visit("c3", at_least=10_000).visits == before


def test_visiting_works_with_an_evaluator_in_python():
    class Flat:
        name = "flat"

        def evaluate(self, batch):
            return np.zeros((len(batch), LEGAL)), np.zeros(len(batch))

    search = tt.Search("tic_tac_toe", tt.puct(batch_size=8), evaluator=Flat(), seed=1)
    assert search.visit("b2", at_least=30).visits == {**dict.fromkeys(range(LEGAL), 0), 4: 30}
    search.tree.check((-1, 1))


# Temperature.


def test_the_temperature_falls_with_the_moves():
    config = tt.uct(final="temperature", temperature=2.0, temperature_decay=0.5, temperature_final=0.3)
    assert [config.final.at(moves) for moves in range(5)] == [2.0, 1.0, 0.5, 0.3, 0.3]
    cold = tt.uct(final="temperature", temperature=5.0, temperature_decay=0.0)
    drawn, greedy = set(), set()
    for seed in range(40):
        drawn.add(run(cold, 100, seed=seed)[1].action)
        _, result = run(cold, 100, seed=seed, moves="b2")
        greedy.add(result.visits[result.action] == max(result.visits.values()))
    assert len(drawn) > 5
    assert greedy == {True}


def test_a_nodes_own_evaluations_move_on_and_are_folded_with_it():
    search = tt.Search("tic_tac_toe", tt.gumbel(discount=0.9, max_nodes=60), seed=4)
    for _ in range(3):
        result = search.run(tt.Limit(simulations=300))
        search.tree.check((-1, 1))
        child = search.tree.root.child(result.action)
        columns = search.tree.columns
        own = columns.own_sums[child.index] / columns.own_visits[child.index]
        search.advance(result.action)
        assert search.tree.has_moved
        assert search.result().own_value == own[search.position.player]
