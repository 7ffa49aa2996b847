"""2048: moves against a plain list of lists, chance's shares, and the end."""

from __future__ import annotations

import numpy as np
import pytest

from tests.games.both_modes import frequencies, play_in_both_modes
from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import local_copy, local_rng, state_at
from treetop.compiler.rng import Rng
from treetop.game import CHANCE
from treetop.games.twenty48 import twenty48

LEFT, RIGHT, UP, DOWN = range(4)


def tiles(state):
    return [[int(cell or 0) for cell in row] for row in state.board()]


def board(text):
    state = twenty48()
    state.parse(text)
    return state


def slid(row):
    """A row after a move to the left, and what it earns."""
    rest, out, earned = [tile for tile in row if tile], [], 0
    while rest:
        tile = rest.pop(0)
        if rest and rest[0] == tile:
            tile += rest.pop(0)
            earned += tile
        out.append(tile)
    return out + [0] * (4 - len(out)), earned


def walked(rows, action):
    """The board after a move, made with lists."""
    turned = [list(column) for column in zip(*rows, strict=True)] if action in (UP, DOWN) else rows
    mirrored = [row[::-1] for row in turned] if action in (RIGHT, DOWN) else turned
    moved = [slid(row) for row in mirrored]
    back = [row[::-1] for row, _ in moved] if action in (RIGHT, DOWN) else [row for row, _ in moved]
    return [list(column) for column in zip(*back, strict=True)] if action in (UP, DOWN) else back, sum(
        earned for _, earned in moved
    )


def legal(state):
    out = np.zeros(4, np.int32)
    return [int(action) for action in out[: state.legal_actions(out)]]


def earned(state):
    out = np.zeros(1)
    state.step_rewards(out)
    return out[0]


def test_random_games_follow_the_rules_as_one_walks_them():
    rng = Rng(1)
    for _ in range(15):
        state = twenty48()
        while not state.is_terminal():
            before = tiles(state)
            if state.current_player() == CHANCE:
                outcome = state.random_outcome(rng)
                row, column = divmod(outcome // 2, 4)
                assert before[row][column] == 0
                before[row][column] = 2 + 2 * (outcome % 2)
                state.apply(outcome)
                assert tiles(state) == before
                assert earned(state) == 0
            else:
                assert legal(state) == [action for action in range(4) if walked(before, action)[0] != before]
                action = state.random_action(rng)
                state.apply(action)
                assert (tiles(state), earned(state)) == walked(before, action)
        assert all(walked(tiles(state), action)[0] == tiles(state) for action in range(4))


def test_a_game_begins_with_two_tiles_of_chance():
    state = twenty48()
    for count in (1, 2):
        assert state.current_player() == CHANCE
        state.apply(state.random_outcome(Rng(count)))
        assert sum(tile > 0 for row in tiles(state) for tile in row) == count
    assert state.current_player() == 0


@pytest.mark.parametrize(
    ("row", "after", "score"),
    [
        ("2 2 . .", [4, 0, 0, 0], 4),
        ("2 2 2 .", [4, 2, 0, 0], 4),
        ("2 2 2 2", [4, 4, 0, 0], 8),
        ("4 2 2 .", [4, 4, 0, 0], 4),
        (". 2 . 2", [4, 0, 0, 0], 4),
        ("16384 16384 2 2", [32768, 4, 0, 0], 32772),
        ("2 4 8 .", [2, 4, 8, 0], 0),
    ],
)
def test_a_tile_merges_once_a_move_and_earns_its_new_value(row, after, score):
    state = board(f"{row} / 2 . . . / . . . . / . . . .")
    if after[:3] == [2, 4, 8]:
        assert LEFT not in legal(state)
        return
    state.apply(LEFT)
    assert tiles(state)[0] == after
    assert earned(state) == score


def test_the_greatest_tile_ends_the_game():
    state = board("16384 16384 . . / . . . . / . . . . / . . . .")
    assert not state.is_terminal()
    state.apply(RIGHT)
    assert state.is_terminal()
    assert earned(state) == 32768
    assert not board("16384 8192 . . / . . . . / . . . . / . . . .").is_terminal()


def test_the_game_ends_when_no_move_changes_the_board():
    assert board("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2").is_terminal()
    assert not board("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 4").is_terminal()
    assert not board("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 .").is_terminal()
    assert not board("2 4 2 4 / 4 2 4 2 / 2 4 2 8 / 4 2 4 8").is_terminal()


def test_neighbours_at_the_edges_of_two_rows_do_not_merge():
    assert board("2 4 2 8 / 8 2 4 2 / 2 4 2 4 / 4 2 4 2").is_terminal()


def test_chance_gives_nine_twos_for_a_four_and_each_empty_cell_its_share():
    state = board("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 2 .")
    state.apply(LEFT)
    assert tiles(state)[3] == [4, 4, 0, 0]
    out, chances = np.zeros(32, np.int32), np.zeros(32)
    assert state.chance_outcomes(out, chances) == 4
    assert list(out[:4]) == [28, 29, 30, 31]
    assert np.allclose(chances[:4], [0.45, 0.05, 0.45, 0.05])
    shares = frequencies(twenty48, state, "random_outcome", 6000)
    assert np.allclose(shares[28:32], chances[:4], atol=0.02)


def test_random_actions_are_uniform():
    state = board("2 4 8 16 / . . . . / . . . . / . . . .")
    assert legal(state) == [DOWN]
    wide = board(". . . . / . 2 . . / . . 4 . / . . . .")
    assert np.allclose(frequencies(twenty48, wide, "random_action", 4000)[:4], 0.25, atol=0.03)


def test_both_modes_play_the_same_games():
    returns, lengths = play_in_both_modes(twenty48, 3, seed=2)
    assert returns.min() > 100
    assert lengths.min() > 60


@compiled
def _looking_ahead(game, states, seed, games, work):
    """Games of one who looks one move ahead: the mean of what they earn."""
    rng = local_rng(seed)
    state = state_at(game, states, 0)
    total = 0.0
    for _ in range(games):
        state.reset()
        while not state.is_terminal():
            if state.waiting > 0:
                state.apply(state.random_outcome(rng))
                continue
            best, chosen = -1.0, 0
            for action in range(4):
                after = local_copy(state)
                after.apply(action)
                work[0] = 0.0
                after.heuristic(work)
                if after.cells != state.cells and work[0] + after.earned > best:
                    best, chosen = work[0] + after.earned, action
            state.apply(chosen)
            total += state.earned
    return total / games


def test_the_heuristic_is_worth_ten_times_random_play():
    mean = twenty48.engine(bounds_checked=True, tier="direct").entry(_looking_ahead)(
        np.zeros(1, twenty48.dtype), np.uint64(1), 100, np.zeros(1)
    )
    assert mean > 11_000


@pytest.mark.parametrize(
    "text", ["", "2 2 2 2", "3 . . . / . . . . / . . . . / . . . .", ". . . . / . . . . / . . . . / . . . ."]
)
def test_an_impossible_diagram_is_refused(text):
    with pytest.raises(ValueError, match="four rows of four cells"):
        board(text)
