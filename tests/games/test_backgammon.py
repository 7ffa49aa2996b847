"""Backgammon: whole turns against a plain generator, a position for each rule, and the rolls."""

from __future__ import annotations

import numpy as np
import pytest

from tests.games.both_modes import frequencies, play_in_both_modes
from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import local_rng, state_at
from treetop.compiler.rng import Rng
from treetop.errors import UnknownGameError
from treetop.game import CHANCE
from treetop.game.position import Position
from treetop.games.backgammon import backgammon

START = {24: 2, 13: 5, 8: 3, 6: 5}


def position(x, o, rest, **parameters):
    """X's and O's checkers as {point: count}, each from his own side, the others borne off; and who is to do what."""
    lines = []
    for side, held in (("X", x), ("O", o)):
        lines.append(" ".join([f"{side}:", *(f"{point}*{count}" for point, count in held.items())]))
    state = backgammon(**parameters)()
    state.parse("\n".join([*lines, rest]))
    return state


def moves(state):
    out = np.zeros(50, np.int32)
    return [state.move_text(int(action)) for action in out[: state.legal_actions(out)]]


def play(state, *texts):
    for text in texts:
        assert text in moves(state)
        state.apply(state.parse_move(text))
    return state


def roll(state, dice):
    state.apply(Position(backgammon(), state._states).parse_move(dice))


def rewards(state):
    out = np.zeros(2)
    assert state.is_terminal()
    state.rewards(out)
    return list(out)


def board(state):
    return tuple(tuple(int(count) for count in row) for row in np.array(state.checkers))


def single_moves(own, other, die):
    """All boards after one checker's move, by walking over the points."""
    for point in range(25, 0, -1):
        if own[point] == 0 or (own[25] and point != 25):
            continue
        to = point - die
        at_home = not any(own[7:])
        if to <= 0 and (not at_home or (to < 0 and any(own[point + 1 :]))):
            continue
        if to > 0 and other[25 - to] >= 2:
            continue
        mine, theirs = list(own), list(other)
        mine[point] -= 1
        mine[max(0, to)] += 1
        if to > 0 and theirs[25 - to] == 1:
            theirs[25 - to] = 0
            theirs[25] += 1
        yield tuple(mine), tuple(theirs)


def whole_turns(own, other, high, low):
    """The boards that a turn may end with: of all orders of the dice those that use the most, and of single ones the higher."""
    ends = {}
    for dice in {(high, low), (low, high)} if high != low else {(high,) * 4}:
        reached = [(own, other)]
        used = 0
        for die in dice:
            following = {after for mine, theirs in reached if mine[0] < 15 for after in single_moves(mine, theirs, die)}
            if not following:
                break
            reached, used = following, used + 1
        ends.setdefault((used, dice[0] if used == 1 and high != low else 0), set()).update(reached)
    most = max(used for used, _ in ends)
    best = max(key for key in ends if key[0] == most)
    return ends[best]


def ends_by_the_game(state):
    """The boards after all ways to make the present turn, seen by the player of it."""
    player, turn = state.player, state.turns
    waiting, seen, ends = [state], set(), set()
    while waiting:
        one = waiting.pop()
        if one.turns != turn or one.is_terminal():
            found = board(one)
            ends.add((found[player], found[1 - player]))
            continue
        if int(one.key()) in seen:
            continue
        seen.add(int(one.key()))
        waiting.extend(play(one.copy(), text) for text in moves(one))
    return ends


@pytest.mark.parametrize("seed", range(12))
def test_the_turns_of_random_games_are_those_of_a_plain_generator(seed):
    rng = Rng(seed)
    state = backgammon()()
    compared = 0
    while not state.is_terminal():
        if state.current_player() != CHANCE:
            state.apply(state.random_action(rng))
            continue
        player, before = state.player, board(state)
        opening = state.stage == 0
        outcome = state.random_outcome(rng)
        roll = state.outcome_text(outcome)
        state.apply(outcome)
        if opening or rng.below(3):
            continue
        high, low = (int(die) for die in roll.split("-"))
        expected = whole_turns(before[player], before[1 - player], high, low)
        if state.current_player() == CHANCE:
            assert state.player == 1 - player
            assert expected == {(before[player], before[1 - player])}
        else:
            turned = state.copy()
            assert ends_by_the_game(turned) == expected
        compared += 1
    assert compared > 10


def races():
    """Late positions, where bearing off and few moves make the rules bite."""
    rng = np.random.default_rng(3)
    for _ in range(150):
        own, other = np.zeros(26, int), np.zeros(26, int)
        for _ in range(rng.integers(1, 6)):
            own[rng.choice([1, 2, 3, 4, 5, 6, 7, 9, 25], p=[0.15, 0.15, 0.14, 0.14, 0.14, 0.14, 0.06, 0.04, 0.04])] += 1
        for _ in range(5):
            point = rng.integers(1, 25)
            if own[25 - point] == 0:
                other[point] += 2 if rng.random() < 0.8 else 1
        own[0], other[0] = 15 - own.sum(), 15 - other.sum()
        high = int(rng.integers(1, 7))
        yield tuple(map(int, own)), tuple(map(int, other)), high, int(rng.integers(1, high + 1))


def test_turns_of_late_positions_are_those_of_a_plain_generator():
    for own, other, high, low in races():
        state = backgammon()()
        state.set_up(np.array([own, other]), 0, high, low)
        expected = whole_turns(own, other, high, low)
        found = {(own, other)} if state.current_player() == CHANCE else ends_by_the_game(state)
        assert found == expected


def test_the_game_begins_with_167_pips_each():
    state = backgammon()()
    assert board(state)[0] == board(state)[1]
    assert {point: count for point, count in enumerate(board(state)[0]) if count} == START
    assert state.pips(0) == state.pips(1) == 167


def test_pips_go_down_by_the_dice_and_up_by_being_hit():
    state = position(START, START, "X to move 6 4")
    play(state, "24/18")
    assert (state.pips(0), state.pips(1)) == (161, 167)
    blot = position({8: 1, 6: 2}, {20: 1, 1: 2}, "X to move 3 1")
    play(blot, "8/5")
    assert (blot.pips(0), blot.pips(1)) == (17, 27)


def test_who_begins_is_drawn_and_the_first_roll_has_no_doubles():
    state = backgammon()()
    out, chances = np.zeros(21, np.int32), np.zeros(21)
    assert state.chance_outcomes(out, chances) == 2
    assert list(chances[:2]) == [0.5, 0.5]
    state.apply(1)
    assert state.current_player() == CHANCE
    assert state.chance_outcomes(out, chances) == 15
    assert np.allclose(chances[:15], 1 / 15)
    rolls = [state.outcome_text(int(outcome)) for outcome in out[:15]]
    assert all(roll[0] > roll[2] for roll in rolls)
    shares = frequencies(backgammon(), state, "random_outcome", 6000)
    assert np.allclose(shares[out[:15]], 1 / 15, atol=0.015)
    roll(state, "3-1")
    assert state.current_player() == 1


def test_later_rolls_are_of_two_dice_doubles_half_as_likely():
    state = position(START, START, "X to roll")
    out, chances = np.zeros(21, np.int32), np.zeros(21)
    assert state.chance_outcomes(out, chances) == 21
    for outcome, chance in zip(out, chances, strict=True):
        roll = state.outcome_text(int(outcome))
        assert chance == pytest.approx((1 if roll[0] == roll[2] else 2) / 36)
    assert np.allclose(frequencies(backgammon(), state, "random_outcome", 8000)[:21], chances, atol=0.015)


def test_a_turn_uses_both_dice_and_then_the_other_player_rolls():
    state = position(START, START, "X to move 3 1")
    play(state, "8/5")
    assert state.player == 0
    play(state, "6/5")
    assert state.current_player() == CHANCE
    assert state.player == 1


def test_doubles_give_four_moves():
    state = position(START, START, "X to move 6 6 6 6")
    play(state, "24/18", "24/18", "13/7")
    assert state.player == 0
    assert moves(state) == ["8/2", "13/7"]
    play(state, "13/7")
    assert state.player == 1


def test_no_checker_lands_where_two_of_the_others_are():
    state = position({24: 2, 6: 2}, {7: 2, 6: 2}, "X to move 6 5")
    assert moves(state) == ["6/1"]


def test_a_checker_alone_is_hit_and_must_enter_before_any_other_moves():
    state = position({8: 2, 6: 2}, {20: 1, 13: 5}, "X to move 3 3 3 3")
    play(state, "8/5")
    assert state.checkers[1, 25] == 1
    play(state, "8/5", "6/3", "6/3")
    roll(state, "5-4")
    assert moves(state) == ["bar/21"]


def test_with_more_on_the_bar_than_can_enter_nothing_else_moves():
    state = position({"bar": 2, 6: 2}, {6: 2}, "X to move 6 5")
    assert moves(state) == ["bar/20"]
    play(state, "bar/20")
    assert state.player == 1


def test_a_player_who_cannot_enter_passes_by_himself():
    state = position({"bar": 1, 6: 2}, {6: 2, 5: 2}, "X to roll")
    roll(state, "6-5")
    assert state.current_player() == CHANCE
    assert state.player == 1
    assert state.turns == 1


def test_both_dice_must_be_used_if_that_is_possible():
    # After 13/12 no six could be played: 12/6 is walled, and the other checker may not leave yet.
    state = position({13: 1, 4: 1}, {19: 2}, "X to move 6 1")
    assert moves(state) == ["13/7", "4/3"]
    assert ends_by_the_game(state) == whole_turns(*board(state), 6, 1)


def test_of_two_dice_that_cannot_both_be_used_the_higher_must_be():
    state = position({20: 1}, {16: 2, 3: 2}, "X to move 6 5")
    assert moves(state) == ["20/14"]
    lower = position({20: 1}, {11: 2, 16: 2}, "X to move 6 5")
    assert moves(lower) == ["20/15"]


def test_nothing_is_borne_off_before_all_are_at_home():
    assert moves(position({7: 1, 6: 1, 1: 1}, {1: 2}, "X to move 6 6")) == ["7/1"]
    assert "6/off:6" in moves(position({6: 2, 1: 1}, {1: 2}, "X to move 6 6"))


def test_a_die_too_great_bears_off_only_the_farthest_checker():
    assert moves(position({4: 1, 3: 1, 1: 1}, {1: 2}, "X to move 6 6")) == ["4/off:6"]
    assert moves(position({6: 1, 3: 1, 1: 1}, {1: 2}, "X to move 5 5")) == ["6/1"]
    assert moves(position({6: 1, 5: 1}, {1: 2}, "X to move 5 5")) == ["5/off:5", "6/1"]


def test_a_win_counts_twice_as_a_gammon_and_three_times_as_a_backgammon():
    ends = [
        ({1: 14}, 1.0),
        ({6: 15}, 2.0),
        ({18: 1, 6: 14}, 2.0),
        ({19: 1, 6: 14}, 3.0),
        ({"bar": 1, 6: 14}, 3.0),
        ({19: 1, 6: 13}, 1.0),
    ]
    for others, won in ends:
        state = position({1: 1}, others, "X to move 6 5")
        state.apply(state.parse_move("1/off:6"))
        assert rewards(state) == [won, -won]
        plain = position({1: 1}, others, "X to move 6 5", gammons=False)
        plain.apply(plain.parse_move("1/off:6"))
        assert rewards(plain) == [1.0, -1.0]
    other = position({6: 15}, {1: 1}, "O to move 6 5")
    other.apply(other.parse_move("1/off:6"))
    assert rewards(other) == [-2.0, 2.0]


def test_a_game_of_too_many_turns_is_a_draw():
    state = position({24: 2}, {24: 2}, "X to move 2 1", most_turns=1)
    play(state, "24/22", "24/23")
    assert rewards(state) == [0.0, 0.0]


@pytest.mark.parametrize("rest", ["X to move 6 5", "O to move 4 4 4", "O to roll", "X to move 2"])
def test_a_printed_position_can_be_set_up_again(rest):
    state = position({"bar": 1, 13: 2, 6: 3}, {24: 2, 5: 4}, rest)
    again = backgammon()()
    again.parse(state.render())
    assert again._states.tobytes() == state._states.tobytes()


def test_the_board_shows_points_bar_and_borne_off_checkers_in_aligned_rows():
    drawn = position({"bar": 2, 6: 7, 3: 4}, {"bar": 1, 24: 3, 23: 6, 5: 2}, "O to move 6 5").render().splitlines()
    assert drawn == [
        "+-12-11-10--9--8--7-+bar-+--6--5--4--3--2--1-+",
        "|                   |  O |     O             |  O: 3 off",
        "|                   |    |     O             |",
        "|                   |    |                   |",
        "|                   |    |                   |",
        "|                   |    |                   |",
        "|                   |    |                   |",
        "|                   |    |  7           6    |",
        "|                   |    |  X        X  O    |",
        "|                   |    |  X        X  O  O |",
        "|                   |  X |  X        X  O  O |",
        "|                   |  X |  X        X  O  O |  X: 2 off",
        "+-13-14-15-16-17-18-+bar-+-19-20-21-22-23-24-+",
        "X: bar*2 6*7 3*4 (104 pips)",
        "O: bar*1 24*3 23*6 5*2 (245 pips)",
        "O to move 6 5",
    ]
    assert backgammon()().render().startswith("+-13-14-15-16-17-18-+bar-+-19-20-21-22-23-24-+\n|  X           O    |")


def test_the_end_of_a_game_is_printed():
    state = position({1: 1}, {6: 15}, "X to move 6 5")
    play(state, "1/off:6")
    assert state.render().endswith("\nX has won")


@pytest.mark.parametrize(
    "text",
    ["", "X: 6*2", "X: 6*16\nO: 1*2\nX to roll", "X: 6*2\nO: 19*2\nX to roll", "X: 6*2\nO: 1*2\nX to move 6 5 4"],
)
def test_an_impossible_position_is_refused(text):
    with pytest.raises(ValueError, match="not '"):
        backgammon()().parse(text)


@pytest.mark.parametrize("parameters", [{}, {"gammons": False}], ids=str)
def test_both_modes_play_the_same_games(parameters):
    returns, lengths = play_in_both_modes(backgammon(**parameters), 2, seed=5)
    assert np.allclose(returns.sum(axis=1), 0)
    assert lengths.min() > 80


@compiled
def _many(game, states, seed, games, counts, out):
    """Random games; how many turns they took, how often each reward came, and whether a checker was ever lost."""
    rng = local_rng(seed)
    state = state_at(game, states, 0)
    lost = 0
    for _ in range(games):
        state.reset()
        while not state.is_terminal():
            state.apply(state.random_action(rng) if state.stage == 3 else state.random_outcome(rng))
        out[:] = 0.0
        state.rewards(out)
        counts[int(out[0]) + 3] += 1
        counts[7] = max(counts[7], state.turns)
        for player in range(2):
            total = 0
            for point in range(26):
                total += state.checkers[player, point]
            lost += int(total != 15)
    return lost


def test_many_random_games_end_by_themselves_with_all_checkers_there():
    game = backgammon()
    counts = np.zeros(8)
    assert (
        game.engine(bounds_checked=True, tier="direct").entry(_many)(
            np.zeros(1, game.dtype), np.uint64(7), 3000, counts, np.zeros(2)
        )
        == 0
    )
    assert counts[3] == 0
    assert counts[7] < 2000
    assert all(counts[[0, 1, 2, 4, 5, 6]] > 0)
    assert abs(counts[4:7].sum() - counts[:3].sum()) < 200


@pytest.mark.parametrize("parameters", [{"gammons": 1}, {"most_turns": 0}])
def test_parameters_out_of_range_are_refused(parameters):
    with pytest.raises(UnknownGameError):
        backgammon(**parameters)
