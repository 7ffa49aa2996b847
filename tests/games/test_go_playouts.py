"""Playouts of go: what they never play, what answers the last move, and that they end."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import treetop as tt
from tests.games.go_model import Model, last_move, legal, random_game
from treetop.game.position import Position
from treetop.games.go import go
from treetop.games.go_playouts import (
    NOWHERE,
    PATTERNS,
    find_any,
    find_capture,
    find_pattern,
    find_rescue,
    fits_pattern,
    is_blunder,
    liberties_after,
    only_liberty,
    variants,
)


def place_of(point, size):
    row, column = point
    return np.uint64((size + 1) * (row + 1) + column + 1)


def name_of(place, size):
    """The name of a place, as moves are written; None for none."""
    row, column = divmod(int(place), size + 1)
    return None if place == NOWHERE else f"{'ABCDEFGHJKLMNOPQRST'[column - 1]}{row}"


def named(text, size):
    return place_of((int(text[1:]) - 1, "ABCDEFGHJKLMNOPQRST".index(text[0])), size)


def states_and_models(size, seed):
    """The states of a game by playouts, each with a model that knows the same history."""
    model = Model(size)
    for number, state in enumerate(random_game(go(size), seed, rolling=True)):
        if number > 0:
            action = last_move(state)
            model.play(divmod(action, size) if action < size * size else None)
        yield state, model


def eyes(model, side):
    """The empty points among own stones, of whose diagonal points the opponent has less than two, or none at the edge."""
    found = set()
    for point in itertools.product(range(model.size), repeat=2):
        if point not in model.stones and all(model.stones.get(at) == side for at in model.neighbours(point)):
            row, column = point
            diagonal = [(row + down, column + right) for down in (-1, 1) for right in (-1, 1)]
            inside = [at for at in diagonal if all(0 <= part < model.size for part in at)]
            taken = sum(model.stones.get(at) == 1 - side for at in inside)
            if taken + (len(inside) < 4) < 2:
                found.add(point)
    return found


def suitable(model):
    """The legal points that fill no eye of the player to move."""
    own_eyes = eyes(model, model.side)
    return [point for point in itertools.product(range(model.size), repeat=2)
            if point not in own_eyes and model.after(point) is not None]  # fmt: skip


def blunders(model, point):
    """Whether a legal move leaves several stones of the player, besides itself, with one liberty."""
    joined = {stone for at in model.neighbours(point) if model.stones.get(at) == model.side
              for stone in model.chain(model.stones, at)[0]}  # fmt: skip
    return len(joined) >= 2 and len(model.chain(model.after(point), point)[1]) < 2


# What is true of chains and moves.


@pytest.mark.parametrize(("size", "seed"), [(3, 1), (5, 2), (9, 3)])
def test_liberties_and_blunders_are_those_of_the_rules(size, seed):
    stride = np.uint64(size + 1)
    for state, model in states_and_models(size, seed):
        for point in model.stones:
            _, liberties = model.chain(model.stones, point)
            expected = place_of(next(iter(liberties)), size) if len(liberties) == 1 else NOWHERE
            assert only_liberty(state, place_of(point, size), stride) == expected
        for point in suitable(model) if not state.is_terminal() else []:
            place = place_of(point, size)
            assert is_blunder(state, place, stride) == blunders(model, point)
            after = model.after(point)
            if len(after) > len(model.stones):  # captures aside, whose stones count as one
                assert liberties_after(state, place, stride) == min(2, len(model.chain(after, point)[1]))


@pytest.mark.parametrize(("size", "seed"), [(5, 1), (5, 2), (9, 3)])
def test_a_playout_never_fills_an_eye_and_plays_only_legal_moves(size, seed):
    for number, (state, model) in enumerate(states_and_models(size, seed)):
        if not state.is_terminal():
            expected = {row * size + column for row, column in suitable(model)} or {size * size}
            rng = tt.Rng(number)
            assert {state.rollout_action(rng) for _ in range(40)} <= expected


@pytest.mark.parametrize(("size", "seed"), [(5, 1), (9, 3)])
def test_without_an_answer_each_suitable_move_that_is_no_blunder_is_equally_likely(size, seed):
    stride = np.uint64(size + 1)
    for number, (state, model) in enumerate(states_and_models(size, seed)):
        points = suitable(model) if not state.is_terminal() and number % 7 == 0 else []
        good = [point for point in points if not blunders(model, point)]
        if 3 * len(good) > state.left:  # else many draws fail, and any suitable move is taken
            rng = tt.Rng(number)
            drawn = [find_any(state, stride, rng) for _ in range(60 * len(good))]
            tally = [drawn.count(place_of(point, size)) for point in good]
            assert len(drawn) - sum(tally) <= len(drawn) / 20
            squares = sum((count - 60) ** 2 / 60 for count in tally)
            assert squares < len(tally) + 6 * np.sqrt(2 * len(tally)) + 6


def test_random_moves_stay_uniform_over_all_legal_moves():
    state = random_game(go(5), 4, rolling=True)[20]
    moves, rng = legal(state), tt.Rng(1)
    drawn = [state.random_action(rng) for _ in range(100 * len(moves))]
    tally = [drawn.count(action) for action in moves]
    assert sum(tally) == len(drawn)
    assert sum((count - 100) ** 2 / 100 for count in tally) < len(tally) + 6 * np.sqrt(2 * len(tally))


def test_playouts_end_with_two_passes_when_all_is_played():
    lengths, complete = [], 0
    for seed in range(20):
        end = random_game(go(9), seed, rolling=True)[-1]
        lengths.append(end.length)
        if end.passes == 2:
            model = Model.of(end.rows())
            complete += len(model.stones) + len(eyes(model, 0)) + len(eyes(model, 1)) > 75
    assert complete > 15
    assert 80 < sum(lengths) / 20 < 140


# Answers to the last move.


@pytest.mark.parametrize(("diagram", "last", "answer"), [
    ("....X / ..... / .O... / OX... / .O... O", "E5", None),  # B2 was not the last move
    ("..... / ..... / .O... / OX... / .O... O", "B2", "C2"),
    ("..... / ..... / .O... / OX... / OXX.. O", "C1", None),  # two liberties
    ("..... / ..... / OO... / XXO.. / .XO.. O", "A2", "A1"),  # a chain of three stones
])  # fmt: skip
def test_a_last_stone_in_atari_is_captured(diagram, last, answer):
    state = Position.parse(go(5), diagram).state
    assert name_of(find_capture(state, named(last, 5), np.uint64(6)), 5) == answer


def test_a_ko_is_not_taken_back():
    taken = Position.parse(go(5), "..... / ..... / ..... / .XO.. / X.XO. O").play("B1")
    assert find_capture(taken.state, named("B1", 5), np.uint64(6)) == NOWHERE


@pytest.mark.parametrize(("diagram", "last", "answer"), [
    ("..... / ..... / ..O.. / .OX.. / ..O.. X", "C3", "D2"),  # extend
    ("..... / ..... / ..O.. / .OXO. / ..... X", "C3", "C1"),  # extend along the edge
    ("..... / ..... / ..... / OO... / X.O.. X", "A2", None),  # suicide
    ("..... / ..... / .O... / XO... / .XO.. X", "C1", None),  # A1 wins one liberty, which leaves it in atari
    ("..... / ..... / XX... / XOOO. / .XXO. X", "D1", "A1"),  # joined to stones that have liberties
    ("..... / ..X.. / .XO.. / .OXO. / ..... X", "C3", "D3"),  # the stone that attacks is in atari itself
])  # fmt: skip
def test_a_chain_that_the_last_move_attacks_is_saved_by_a_capture_or_an_extension(diagram, last, answer):
    state = Position.parse(go(5), diagram).state
    assert name_of(find_rescue(state, named(last, 5), np.uint64(6)), 5) == answer


# Patterns.


def plainly_fits(cells):
    """Whether nine cells, some of ".XO#" each, fit a documented pattern or its image."""
    meaning = {".": ".", "X": "X", "O": "O", "#": "#", "x": ".O", "o": ".X", "?": ".XO#"}
    return any(
        all(cell in meaning[point] for cell, point in zip(cells, points, strict=True))
        for pattern in PATTERNS
        for points in variants(pattern)
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_patterns_match_where_they_are_documented_to(seed):
    size, matches = 9, 0
    for state, model in itertools.islice(states_and_models(size, seed), 10, 80, 5):
        for row, column in itertools.product(range(size), repeat=2):
            if (row, column) not in model.stones:
                cells = "".join(
                    "#" if not (0 <= at < size and 0 <= along < size) else ".XO"[model.stones.get((at, along), -1) + 1]
                    for at in (row - 1, row, row + 1)
                    for along in (column - 1, column, column + 1)
                )
                fits = fits_pattern(state, place_of((row, column), size), np.uint64(size + 1))
                assert fits == plainly_fits(cells)
                matches += fits
    assert matches > 50


def test_patterns_hold_for_rotations_reflections_and_swapped_colours():
    assert variants(("XO.", "...", "?.?")) >= {"XO....?.?", ".OX...?.?", "OX....?.?", "?.?...XO.", "?.X..O?.."}
    assert all(len(variants(pattern)) in (2, 4, 8, 16) for pattern in PATTERNS)


def test_a_pattern_beside_the_last_move_is_found():
    state = Position.parse(go(5), "..... / .XOX. / ..... / ..... / ..... X").state
    rng = tt.Rng(1)
    found = {name_of(find_pattern(state, named("C4", 5), np.uint64(6), rng), 5) for _ in range(60)}
    assert "C3" in found
    assert None not in found
    far = {name_of(find_pattern(state, named("E1", 5), np.uint64(6), rng), 5) for _ in range(20)}
    assert far == {None}
