"""Policies that stop a search or stretch its limit: by hand-computed numbers, by their promises, and on searches."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treetop as tt
from treetop.search.stopping import (
    KLGain,
    MoreWhenCritical,
    Standing,
    Stopper,
    Stoppers,
    UnassailableLeader,
    kl_gain,
    stretched,
)


def standing(counts, means=None, *, done=0, limit=None, elapsed=0.0, **more):
    counts = np.array(counts, np.int32)
    means = np.where(counts > 0, 0.0, math.nan) if means is None else np.array(means, float)
    priors = np.full(len(counts), 1 / max(len(counts), 1))
    return Standing(
        counts, means, priors, done, tt.Limit(simulations=1000) if limit is None else limit, elapsed, **more
    )


# What is left.


def test_what_is_left_of_simulations_is_exact():
    assert standing([1], done=400).left == 600
    assert standing([1], done=1000).left == 0
    assert standing([1], done=1010).left == 0  # a batch may overshoot
    assert standing([1], done=400, factor=1.5).left == 1100


def test_what_is_left_of_seconds_is_the_rate_times_the_time():
    limit = tt.Limit(seconds=2.0)
    assert standing([1], done=100, elapsed=0.5, limit=limit).left == 300
    assert standing([1], done=100, elapsed=0.5, limit=limit, factor=2.0).left == 700
    assert standing([1], done=100, elapsed=2.5, limit=limit).left == 0
    assert standing([1], done=0, elapsed=0.5, limit=limit).left is None
    assert standing([1], done=100, elapsed=0.0, limit=limit).left is None


def test_of_several_limits_the_nearest_counts_and_nodes_are_unknown():
    both = tt.Limit(simulations=1000, seconds=2.0)
    assert standing([1], done=100, elapsed=0.5, limit=both).left == 300
    assert standing([1], done=900, elapsed=0.5, limit=both).left == 100
    assert standing([1], done=0, elapsed=0.0, limit=both).left == 1000
    assert standing([1], done=100, elapsed=0.5, limit=tt.Limit(nodes=50)).left is None


def test_a_limit_is_stretched_in_all_its_parts_and_never_shortened():
    limit = tt.Limit(simulations=101, seconds=2.0, nodes=11)
    assert stretched(limit, 1.5) == tt.Limit(simulations=151, seconds=3.0, nodes=16)
    assert stretched(limit, 0.5) is limit
    assert stretched(tt.Limit(cost=2, calls=3, seconds=1), 1.5) == tt.Limit(cost=3.0, calls=4, seconds=1.5)
    assert standing([1], limit=limit, factor=1.5).allowed == stretched(limit, 1.5)


def test_the_leader_has_the_most_visits_then_the_higher_value_then_comes_first():
    assert standing([3, 9, 2]).leader == 1
    assert standing([9, 9, 2], [0.1, 0.3, 0.9]).leader == 1
    assert standing([2, 9, 9], [0.1, 0.3, 0.3]).leader == 1
    assert standing([0, 0]).leader is None
    assert standing([]).leader is None


def test_a_move_that_is_proven_worse_than_another_is_no_contender():
    seen = standing([50, 30, 20], lower=np.array([-1.0, 0.0, -1.0]), upper=np.array([-0.5, 1.0, 0.0]))
    assert seen.contenders.tolist() == [False, True, True]
    assert seen.leader == 1


# The unassailable leader.


def test_a_leader_is_unassailable_when_the_rest_cannot_make_up_for_its_margin():
    stopper = UnassailableLeader()
    assert stopper.check(standing([500, 300, 0], done=800)) is None  # 200 left, 200 ahead: the second could draw level
    reason = stopper.check(standing([501, 300, 0], done=801))
    assert reason == "the most visited move is 201 visits ahead, with 199 simulations left"


def test_a_bold_factor_stops_earlier_and_a_careful_one_later():
    assert UnassailableLeader(0.5).check(standing([450, 300], done=750))  # 250 * 0.5 < 150
    assert not UnassailableLeader(0.6).check(standing([450, 300], done=750))  # 250 * 0.6 = 150
    assert not UnassailableLeader(2.0).check(standing([501, 300], done=801))


def test_visits_of_earlier_runs_count_for_the_margin():
    assert UnassailableLeader().check(standing([5000, 300], done=0))


def test_without_visits_or_knowledge_of_what_is_left_nobody_is_unassailable():
    stopper = UnassailableLeader()
    assert stopper.check(standing([])) is None
    assert stopper.check(standing([0, 0, 0])) is None
    assert stopper.check(standing([0])) is None
    assert stopper.check(standing([900, 1], done=901, limit=tt.Limit(nodes=10))) is None
    assert stopper.check(standing([400, 400], done=1000)) is None  # level at the end: the limit stops it


def test_a_move_without_rivals_has_won():
    assert UnassailableLeader().check(standing([1])) == "there is only one move"
    proven = standing([50, 1], lower=np.array([-1.0, 0.5]), upper=np.array([0.0, 1.0]))
    assert UnassailableLeader().check(proven) == "only one move is left to play"


def test_a_move_that_is_proven_worse_cannot_overtake():
    bounds = {"lower": np.array([0.0, -1.0, -1.0]), "upper": np.array([1.0, -0.5, 1.0])}
    seen = standing([500, 450, 20], done=970, **bounds)
    assert UnassailableLeader().check(seen) == "the most visited move is 480 visits ahead, with 30 simulations left"


def test_the_unassailable_leader_is_refused_where_visits_do_not_decide():
    for final in ("value", "temperature", "lcb"):
        with pytest.raises(tt.errors.ConfigError, match="for final='visits'"):
            UnassailableLeader().check(standing([9, 1], final=final))


@settings(max_examples=300, derandomize=True, deadline=None)
@given(counts=st.lists(st.integers(0, 60), min_size=1, max_size=6), done=st.integers(0, 100), data=st.data())
def test_whatever_follows_an_unassailable_leader_stays_ahead(counts, done, data):
    limit = tt.Limit(simulations=100)
    seen = standing(counts, done=done, limit=limit)
    if UnassailableLeader().check(seen) is None:
        return
    following = data.draw(st.lists(st.integers(0, len(counts) - 1), min_size=100 - done, max_size=100 - done))
    end = np.array(counts) + np.bincount(following, minlength=len(counts))
    assert np.flatnonzero(end == end.max()).tolist() == [seen.leader]


@settings(max_examples=300, derandomize=True, deadline=None)
@given(
    counts=st.lists(st.integers(0, 60), min_size=2, max_size=6), done=st.integers(0, 99), factor=st.sampled_from([0.3, 0.5, 1.0, 1.5]),
    data=st.data(),
)  # fmt: skip
def test_no_leader_becomes_unassailable_within_the_wait(counts, done, factor, data):
    stopper, limit = UnassailableLeader(factor), tt.Limit(simulations=100)
    seen = standing(counts, done=done, limit=limit)
    if seen.leader is None or stopper.check(seen) is not None:
        return
    wait = min(stopper.wait(seen), 100 - done)
    early = data.draw(st.integers(0, wait - 1))
    now = np.array(counts) + np.bincount(
        data.draw(st.lists(st.integers(0, len(counts) - 1), min_size=early, max_size=early)), minlength=len(counts)
    )
    assert stopper.check(standing(now, done=done + early, limit=limit)) is None


def test_the_wait_ends_when_a_leader_that_gets_everything_is_unassailable():
    stopper = UnassailableLeader()
    wait = stopper.wait(standing([200, 100], done=300))
    assert wait == 301  # then it is 401 ahead with 399 left; one earlier it is 400 and 400
    assert stopper.check(standing([500, 100], done=600)) is None
    assert stopper.check(standing([501, 100], done=601))


# The gain of the visits.


def test_the_gain_is_the_divergence_for_each_new_visit():
    old, new = np.array([60, 30, 10, 0]), np.array([100, 60, 20, 20])
    by_hand = (0.6 * math.log(0.6 / 0.5) + 0.3 * math.log(0.3 / 0.3) + 0.1 * math.log(0.1 / 0.1)) / 100
    assert kl_gain(old, new) == pytest.approx(by_hand, rel=1e-12)
    assert kl_gain(np.array([10, 10]), np.array([20, 20])) == 0.0
    for before, after in (([0, 0], [1, 1]), ([1, 1], [1, 1])):
        with pytest.raises(tt.errors.ConfigError):
            kl_gain(np.array(before), np.array(after))


@settings(max_examples=200, derandomize=True, deadline=None)
@given(pairs=st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), min_size=1, max_size=8))
def test_a_gain_is_finite_and_never_negative(pairs):
    old = np.array([before for before, _ in pairs])
    new = old + np.array([more for _, more in pairs])
    if old.any() and new.sum() > old.sum():
        assert 0.0 <= kl_gain(old, new) < math.inf


def test_the_search_stops_when_the_visits_have_converged():
    stopper = KLGain(every=100, threshold=1e-5)
    assert stopper.check(standing([60, 40])) is None  # only remembered
    assert stopper.check(standing([100, 99])) is None  # too early: 99 new ones
    assert (
        stopper.check(standing([150, 50])) is None
    )  # 0.6 ln(0.6 / 0.75) + 0.4 ln(0.4 / 0.25) = 0.0541, for each of 100: 5.4e-4
    reason = stopper.check(standing([226, 76]))  # from 0.75 to 0.7483: 7.29e-6 for 102
    assert reason == "the visits hardly change: 102 more changed them by 7.1e-08 nats each, less than 1e-05"


def test_a_new_run_forgets_the_visits_of_the_last_one():
    stopper = KLGain(every=10, threshold=1.0)
    stopper.check(standing([50, 50]))
    stopper.reset()
    assert stopper.check(standing([100, 100])) is None
    assert stopper.check(standing([200, 200]))


def test_visits_that_do_not_go_on_from_the_last_ones_are_a_new_beginning():
    stopper = KLGain(every=10, threshold=1.0)
    stopper.check(standing([50, 50]))
    assert stopper.check(standing([100, 100, 100])) is None
    assert stopper.check(standing([99, 200, 200])) is None
    assert stopper.check(standing([199, 300, 300]))


def test_a_position_with_one_move_has_nothing_to_gain():
    stopper = KLGain(every=10)
    assert stopper.check(standing([0])) is None
    assert stopper.wait(standing([0])) == 1
    assert stopper.check(standing([5])) is None
    assert stopper.wait(standing([5])) == 10
    assert stopper.wait(standing([12])) == 3
    assert stopper.check(standing([15]))
    assert KLGain().check(standing([])) is None


def test_the_first_check_waits_for_a_full_interval():
    stopper = KLGain(every=100)
    assert stopper.wait(standing([3, 4])) == 100


# Critical positions.


def test_a_position_is_critical_while_two_moves_are_close_in_value():
    stopper = MoreWhenCritical(extra=2.0, margin=0.05)
    close = standing([500, 300, 20], [0.30, 0.25, -0.5], done=820)
    assert stopper.why_critical(close) == "two moves are close in value: 0.0500 apart"
    assert stopper.extend(close) == 2.0
    assert stopper.extend(standing([500, 300, 20], [0.30, 0.24, -0.5], done=820)) == 1.0


def test_a_position_is_critical_while_another_move_has_the_better_value():
    stopper = MoreWhenCritical(margin=0.0)
    assert (
        stopper.why_critical(standing([500, 300], [0.30, 0.31]))
        == "the most visited move is not the one of the highest value"
    )
    assert stopper.why_critical(standing([500, 300], [0.30, 0.29])) is None
    assert stopper.why_critical(standing([500, 300], [0.30, 0.30])) == "two moves are close in value: 0.0000 apart"


def test_a_lucky_move_with_few_visits_is_no_rival():
    stopper = MoreWhenCritical(share=0.1)
    assert stopper.why_critical(standing([500, 49], [0.3, 0.9])) is None
    assert stopper.why_critical(standing([500, 50], [0.3, 0.9]))
    assert MoreWhenCritical(share=0.0).why_critical(standing([500, 0], [0.3, math.nan])) is None


def test_a_position_is_critical_after_the_leader_has_changed():
    stopper = MoreWhenCritical(recent=0.2, margin=0.0)
    assert stopper.extend(standing([60, 40], [0.5, 0.2], done=100)) == 1.0  # the first leader is no change
    assert stopper.check(standing([60, 140], [0.2, 0.5], done=200)) is None
    assert stopper.why_critical(standing([60, 140], [0.2, 0.5], done=200)) == "the most visited move has just changed"
    assert stopper.extend(standing([60, 189], [0.2, 0.5], done=249)) == 2.0
    assert stopper.extend(standing([60, 190], [0.2, 0.5], done=250)) == 1.0  # 50 of 250 are a fifth
    stopper.reset()
    assert stopper.extend(standing([150, 100], [0.5, 0.2], done=250)) == 1.0


def test_without_a_choice_nothing_is_critical():
    stopper = MoreWhenCritical()
    for seen in (standing([]), standing([0, 0]), standing([9], [0.1]), standing([9, 0], [0.1, math.nan])):
        assert stopper.extend(seen) == 1.0
    proven = standing([50, 40], [0.1, 0.1], lower=np.array([0.0, -1.0]), upper=np.array([1.0, -0.5]))
    assert stopper.extend(proven) == 1.0


def test_checks_of_a_long_search_become_rare():
    stopper = MoreWhenCritical(every=32)
    assert [stopper.wait(standing([1, 1], done=done)) for done in (0, 640, 1000, 100_000)] == [32, 32, 50, 5000]
    assert [Always(None).wait(standing([1, 1], done=done)) for done in (0, 5000, 100_000)] == [100, 100, 2000]


# Several stoppers.


class Always(Stopper):
    def __init__(self, reason, factor=1.0):
        self.reason, self.factor, self.resets = reason, factor, 0

    def reset(self):
        self.resets += 1

    def check(self, standing):
        return self.reason

    def extend(self, standing):
        return self.factor


def test_the_first_reason_stops_and_the_longest_stretch_holds():
    both = Stoppers([Always(None, 1.5), Always("one", 0.2), Always("two", 1.2)])
    both.reset()
    seen = standing([1, 1], done=300)
    assert (both.check(seen), both.extend(seen)) == ("one", 1.5)
    decision = both.decide(seen)
    assert (decision.reason, decision.limit, decision.wait) == ("one", tt.Limit(simulations=1500), 100)
    assert [one.resets for one in both.stoppers] == [1, 1, 1]


def test_a_check_falls_on_the_end_of_the_limit():
    assert Stoppers([Always(None)]).decide(standing([1, 1], done=970)).wait == 30
    assert Stoppers([Always(None)]).decide(standing([1, 1], done=1000)).wait == 1
    assert Stoppers([Always(None)]).decide(standing([1, 1], done=970, limit=tt.Limit(nodes=5))).wait == 100


def test_a_critical_position_lets_the_second_move_catch_up():
    seen = standing([501, 300], [0.3, 0.3], done=801)
    assert UnassailableLeader().check(seen)
    stoppers = Stoppers([UnassailableLeader(), MoreWhenCritical(extra=2.0)])
    assert stoppers.check(seen) is None
    assert stoppers.decide(seen).limit == tt.Limit(simulations=2000)
    clear = standing([501, 300], [0.3, 0.1], done=801)
    assert stoppers.check(clear)


def test_nothing_together_changes_nothing():
    decision = Stoppers([]).decide(standing([500, 1], done=501))
    assert (decision.reason, decision.limit, decision.wait) == (None, tt.Limit(simulations=1000), 100)


def test_policies_can_be_nested():
    nested = Stoppers([Stoppers([MoreWhenCritical(extra=3.0)]), UnassailableLeader()])
    assert nested.decide(standing([501, 300], [0.3, 0.3], done=801)).limit == tt.Limit(simulations=3000)
    split = Stoppers([MoreWhenCritical(extra=3.0), Stoppers([UnassailableLeader()])])
    assert split.check(standing([501, 300], [0.3, 0.3], done=801)) is None


def test_what_is_no_policy_is_refused():
    for wrong in ("soon", UnassailableLeader, object(), None):
        with pytest.raises(tt.errors.ConfigError, match="subclass of Stopper"):
            Stoppers([wrong])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: UnassailableLeader(0.0), "factor must be a positive number"),
        (lambda: UnassailableLeader(math.inf), "factor must be a positive number"),
        (lambda: UnassailableLeader(True), "factor must be a positive number"),
        (lambda: KLGain(every=0), "every must be a whole number of at least 1"),
        (lambda: KLGain(threshold=-1e-6), "threshold must be a positive number"),
        (lambda: KLGain(threshold="low"), "threshold must be a positive number"),
        (lambda: MoreWhenCritical(extra=0.5), "extra must be a number of at least 1"),
        (lambda: MoreWhenCritical(extra=math.nan), "extra must be a number of at least 1"),
        (lambda: MoreWhenCritical(margin=-0.1), "margin must be a number of at least 0"),
        (lambda: MoreWhenCritical(share=1.5), "share must be a number from 0 to 1"),
        (lambda: MoreWhenCritical(recent=-1), "recent must be a number from 0 to 1"),
        (lambda: MoreWhenCritical(every=1.5), "every must be a whole number"),
    ],
)
def test_impossible_settings_are_refused(make, said):
    with pytest.raises(tt.errors.ConfigError, match=said):
        make()


def test_policies_print_as_they_are_written():
    assert repr(UnassailableLeader()) == "UnassailableLeader(factor=1.0)"
    assert repr(KLGain()) == "KLGain(every=100, threshold=5e-06)"
    assert repr(Stoppers([KLGain(10, 0.1)])) == "Stoppers([KLGain(every=10, threshold=0.1)])"
    assert repr(MoreWhenCritical()) == "MoreWhenCritical(extra=2, margin=0.02, share=0.1, recent=0.2, every=32)"


# On searches. The time is made up, so that the same is seen each time.


def driven(search, limit, stoppers):
    """Run a search slice by slice, looking when the policies want to; how many simulations, why it stopped, and how often was looked."""
    stoppers, done, looks = Stoppers(stoppers), 0, 0
    stoppers.reset()
    while True:
        if done:
            result = search.result()
            seen = Standing(
                result.counts, result.means, result.priors, done, limit, done / 1e6, search.config.final.name
            )
        else:
            count = len(search.position.legal_actions())
            seen = Standing(
                np.zeros(count, np.int32),
                np.full(count, np.nan),
                np.full(count, 1 / count),
                0,
                limit,
                0.0,
                search.config.final.name,
            )
        decision, looks = stoppers.decide(seen), looks + 1
        if decision.reason or done >= decision.limit.simulations:
            return done, decision.reason, looks
        wait = min(decision.wait, decision.limit.simulations - done)
        search.run(tt.Limit(simulations=wait))
        done += wait


@pytest.mark.parametrize("moves", ["", "4 4 4 4", "1 4 1 4", "1 4 1 4 1", "4 4 4 3"])
def test_an_early_stop_plays_the_move_of_the_whole_limit(moves):
    position, limit = tt.position("connect_four", moves=moves), tt.Limit(simulations=3000)
    whole = tt.Search(position, tt.uct(), seed=3).run(limit)
    search = tt.Search(position, tt.uct(), seed=3)
    done, reason, looks = driven(search, limit, [UnassailableLeader()])
    assert done <= 3000
    assert looks < 100
    if reason:
        assert search.result().action == whole.action
    again = tt.Search(position, tt.uct(), seed=3)
    assert driven(again, limit, [UnassailableLeader()]) == (done, reason, looks)


def test_a_position_that_is_won_at_once_ends_early():
    search = tt.Search(
        tt.position("connect_four", moves="1 4 1 4 1"), tt.uct(), seed=1
    )  # only 1 saves the second player
    done, reason, _ = driven(search, tt.Limit(simulations=4000), [UnassailableLeader()])
    assert reason
    assert done < 3000
    assert search.result().move == "1"


def test_a_critical_position_gets_more_and_never_more_than_allowed():
    search = tt.Search("connect_four", tt.uct(), seed=1)
    done, reason, _ = driven(search, tt.Limit(simulations=500), [MoreWhenCritical(extra=1.5, margin=1.0)])
    assert (done, reason) == (750, None)
    clear = tt.Search(tt.position("connect_four", moves="1 4 1 4 1"), tt.uct(), seed=1)
    assert driven(clear, tt.Limit(simulations=1000), [MoreWhenCritical(extra=1.5)])[0] == 1000
