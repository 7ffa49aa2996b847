"""Game clocks: plans that fit what is left, in sudden death, with increments and with time controls."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treetop as tt
from tests.own_games import Climb, ThreeNim
from treetop.search.clock import GameClock

FULL_BOARD = (0, 1, 2, 4, 3, 5, 7, 6, 8)
"""A game of tic-tac-toe that nobody wins."""


def weight(ply, length):
    return 1 + math.sin(math.pi * min(ply / length, 1.0))


def test_the_plan_is_the_documented_formula():
    clock = GameClock(100.0, overhead=0.0)
    plies = range(10, 42, 2)  # 16 own moves, all of them within max_length
    position = tt.position("connect_four", moves="4 4 4 4 4 4 1 1 1 1")
    plan = clock.limit(position).seconds
    assert plan == pytest.approx(100.0 * weight(10, 42) / sum(weight(ply, 42) for ply in plies), rel=1e-12)


def test_the_plan_keeps_the_overheads_of_the_moves_to_come_and_counts_their_increments():
    clock = GameClock(100.0, increment=0.5, overhead=0.25)
    pool = 100.0 + 19 * 0.5 - 20 * 0.25  # 20 moves: plies 0, 2, ... 38
    assert clock.limit(0, 40).seconds == pytest.approx(
        pool * 1.0 / sum(weight(ply, 40) for ply in range(0, 40, 2)), rel=1e-12
    )


def test_a_game_that_lasts_longer_than_expected_still_plans_for_ten_moves():
    clock = GameClock(100.0, overhead=0.0)
    assert clock.limit(200, 40).seconds == pytest.approx(10.0)
    late = 100.0 * weight(38, 40) / (weight(38, 40) + 9)
    assert clock.limit(38, 40).seconds == pytest.approx(late)


def test_no_moves_are_planned_for_after_the_games_own_end():
    clock = GameClock(100.0, overhead=1.0)
    position = tt.position("tic_tac_toe").play(FULL_BOARD[:8])
    assert not position.is_terminal
    assert clock.limit(position).seconds == pytest.approx(99.0)  # the last move of this side: all but the overhead
    assert clock.limit(position, 4).seconds == pytest.approx(99.0)  # whatever was expected


def test_the_middle_of_the_game_gets_the_most():
    clock = GameClock(60.0, overhead=0.0)
    plans = []
    for ply in range(0, 60, 2):
        plans.append(clock.limit(ply, 60, stretch=1.0).seconds)
        clock.spent(plans[-1])
    middle = plans.index(max(plans[:25]))
    assert 10 <= middle <= 20
    assert plans[middle] == pytest.approx(2 * plans[0], rel=0.25)
    assert plans[:middle] == sorted(plans[:middle])


def test_a_plan_that_is_followed_uses_the_clock_by_the_weights():
    clock = GameClock(100.0, overhead=0.0)
    position = tt.position("tic_tac_toe")
    plans = []
    for action in FULL_BOARD[:8]:
        if position.player == 0:
            plans.append(clock.limit(position).seconds)
            clock.spent(plans[-1])
        position = position.apply(action)
    plans.append(clock.limit(position).seconds)  # the ninth ply, and the last
    weights = [weight(ply, 9) for ply in (0, 2, 4, 6, 8)]
    assert plans == pytest.approx([100.0 * one / sum(weights) for one in weights])


def test_a_time_control_renews_the_clock():
    clock = GameClock(10.0, moves_to_go=2, overhead=0.0)
    assert clock.limit(0, 1000).seconds == pytest.approx(5.0, rel=0.01)
    clock.spent(4.0)
    assert clock.remaining == 6.0
    assert clock.limit(2, 1000).seconds == pytest.approx(6.0)  # the last move before the control may take it all
    clock.spent(5.0)
    assert clock.remaining == 11.0
    assert clock.limit(4, 1000).seconds == pytest.approx(5.5, rel=0.01)


def test_an_increment_cannot_be_spent_before_it_is_there():
    clock = GameClock(1.0, increment=10.0, overhead=0.0)
    assert clock.limit(0, 40).seconds == 0.5  # half of what is there
    clock.spent(0.5)
    assert clock.remaining == 10.5


def test_time_is_reserved_for_a_search_that_may_stretch_its_limit():
    clock = GameClock(10.0, moves_to_go=1, overhead=0.5)
    assert clock.limit(0, 40).seconds == 9.5
    assert clock.limit(0, 40, stretch=2.0).seconds == 4.75
    with pytest.raises(tt.errors.ConfigError, match="stretch must be a number of at least 1"):
        clock.limit(0, 40, stretch=0.5)


def test_a_flag_that_falls_is_seen_and_stays_down():
    clock = GameClock(10.0, increment=5.0)
    clock.spent(4.0)
    assert (clock.remaining, clock.moves, clock.flagged) == (11.0, 1, False)
    clock.spent(11.5)
    assert (clock.remaining, clock.moves, clock.flagged) == (0.0, 2, True)
    assert "the flag has fallen" in repr(clock)
    with pytest.raises(tt.errors.SearchError, match="flag has fallen"):
        clock.limit(4, 40)
    with pytest.raises(tt.errors.SearchError, match="flag has fallen"):
        clock.spent(0.0)
    clock.reset()
    assert (clock.remaining, clock.moves, clock.flagged) == (10.0, 0, False)


def test_a_move_in_the_last_moment_is_in_time():
    clock = GameClock(10.0)
    clock.spent(10.0)
    assert not clock.flagged
    with pytest.raises(tt.errors.SearchError, match="no time is left"):
        clock.limit(2, 40)


def test_with_less_than_the_overhead_left_a_move_gets_next_to_nothing():
    clock = GameClock(10.0, overhead=1.0)
    clock.spent(9.5)
    assert clock.limit(20, 40).seconds == pytest.approx(0.00005)


def test_a_position_says_who_plays_and_how_long():
    three = GameClock(13.0, overhead=0.0).limit(tt.Position(ThreeNim)).seconds
    assert three == pytest.approx(13.0 / sum(weight(ply, 13) for ply in range(0, 13, 3)))
    one = GameClock(8.0, overhead=0.0).limit(tt.Position(Climb)).seconds
    assert one == pytest.approx(8.0 / sum(weight(ply, 8) for ply in range(8)))
    assert (
        three == GameClock(13.0, overhead=0.0).limit(tt.Position(ThreeNim), 999).seconds
    )  # no game is longer than max_length
    with pytest.raises(tt.errors.ConfigError, match="has 3 players, not 2"):
        GameClock(13.0).limit(tt.Position(ThreeNim), players=2)
    assert (
        GameClock(13.0, overhead=0.0).limit(0, 13, players=1).seconds
        < GameClock(13.0, overhead=0.0).limit(0, 13, players=1 + 1).seconds
    )


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: GameClock(0), "seconds must be a positive number"),
        (lambda: GameClock(math.inf), "seconds must be a positive number"),
        (lambda: GameClock(True), "seconds must be a positive number"),
        (lambda: GameClock(1, increment=-1), "increment must be a number of at least 0"),
        (lambda: GameClock(1, overhead=math.nan), "overhead must be a number of at least 0"),
        (lambda: GameClock(1, moves_to_go=0), "moves_to_go must be a whole number of at least 1"),
        (lambda: GameClock(1).spent(-1), "at least 0"),
        (lambda: GameClock(1).spent(math.nan), "at least 0"),
        (lambda: GameClock(1).limit(3), "give expected_length"),
        (lambda: GameClock(1).limit(-1, 10), "a ply must be a whole number of at least 0"),
        (lambda: GameClock(1).limit("4 4", 10), "a ply must be a whole number"),
        (lambda: GameClock(1).limit(0, 0), "expected_length must be a whole number of at least 1"),
        (lambda: GameClock(1).limit(0, 10, players=0), "players must be a whole number of at least 1"),
    ],
)
def test_impossible_clocks_are_refused(make, said):
    with pytest.raises(tt.errors.ConfigError, match=said):
        make()


def test_a_clock_prints_itself():
    clock = GameClock(300, increment=2, moves_to_go=40)
    clock.spent(12.34)
    assert (
        repr(clock) == "<game clock: 289.7 of 300 s left, 2 s added a move, 300 s added every 40 moves, 1 moves played>"
    )


clocks = st.builds(
    GameClock,
    seconds=st.floats(0.01, 10_000.0),
    increment=st.one_of(st.just(0.0), st.floats(0.0, 60.0)),
    moves_to_go=st.one_of(st.none(), st.integers(1, 60)),
    overhead=st.one_of(st.just(0.0), st.floats(0.0, 2.0)),
)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    clock=clocks,
    length=st.integers(1, 300),
    players=st.integers(1, 4),
    used=st.floats(0.0, 1.0),
    stretch=st.floats(1.0, 4.0),
)
def test_no_plan_is_beyond_what_is_left_and_every_plan_is_positive(clock, length, players, used, stretch):
    given_in_all, allotted = clock.seconds, 0.0
    for ply in range(0, 2 * length, players):
        if clock.remaining <= 0:
            break
        left = clock.remaining
        plan = clock.limit(ply, length, players=players, stretch=stretch).seconds
        assert plan > 0
        assert plan * stretch <= max(left - clock.overhead, 1e-4 * left) * (1 + 1e-12)
        took = min(plan * stretch * used, left)
        clock.spent(took)
        allotted += took
        given_in_all += clock.remaining - (left - took)
        assert not clock.flagged
    assert allotted <= given_in_all * (1 + 1e-9)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(
    moves=st.integers(1, 200), overhead=st.floats(0.0, 1.0), spare=st.floats(0.05, 10.0), increment=st.floats(0.0, 5.0)
)
def test_a_clock_that_is_followed_lasts_for_the_whole_game_with_all_overheads(moves, overhead, spare, increment):
    clock = GameClock(moves * overhead * (1 + spare) + spare, increment=increment, overhead=overhead)
    for move in range(moves):
        plan = clock.limit(2 * move, 2 * moves).seconds
        clock.spent(plan + overhead)
        assert not clock.flagged


@settings(max_examples=100, derandomize=True, deadline=None)
@given(ply=st.integers(0, 400), length=st.integers(1, 400), seconds=st.floats(1.0, 1000.0), more=st.floats(1.0, 10.0))
def test_more_time_on_the_clock_is_never_less_for_the_move(ply, length, seconds, more):
    little, much = GameClock(seconds), GameClock(seconds * more)
    assert little.limit(ply, length).seconds <= much.limit(ply, length).seconds * (1 + 1e-12)


def test_a_game_of_enormous_length_is_planned_at_once():
    clock = GameClock(60.0, overhead=0.0)
    assert clock.limit(0, 4000).seconds == pytest.approx(60.0 / sum(weight(ply, 4000) for ply in range(0, 4000, 2)))
    assert clock.limit(0, 2**27).seconds == pytest.approx(60.0 / 10_000)  # the least that a move gets
