"""The estimate of chess: equal for both colours, and aware of what hangs."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt
from treetop.games.chess import fen
from treetop.games.chess_value import captures_gain, endgame_of, middlegame_of, seen_by_opponent, static_value

PAWN, KNIGHT, BISHOP, ROOK, QUEEN = 100, 320, 335, 500, 970


def at(text):
    return tt.position("chess", setup=text)


def boards(position):
    state = position.state
    return state.mine, state.theirs, state.pawns, state.knights, state.diagonal, state.straight


def estimate(position):
    out = np.zeros(2)
    position.state.heuristic(out)
    return out.tolist()


def gain(text, low=0, high=20_000):
    with np.errstate(over="ignore"):
        return int(captures_gain(*boards(at(text)), low, high))


def random_positions(games):
    rng = np.random.default_rng(7)
    for _ in range(games):
        position = tt.position("chess")
        while not position.is_terminal:
            yield position
            position = position.play(int(rng.choice(position.legal_actions())))


def colours_exchanged(text):
    placement, side, castling, passing, *rest = text.split()
    return " ".join(
        [
            "/".join(reversed(placement.swapcase().split("/"))),
            "b" if side == "w" else "w",
            "".join(sorted(castling.swapcase())),
            passing.translate(str.maketrans("36", "63")),
            *rest,
        ]
    )


def test_exchanging_the_colours_negates_the_estimate():
    for number, position in enumerate(random_positions(3)):
        if number % 5 == 0:
            assert estimate(at(colours_exchanged(fen(position)))) == estimate(at(fen(position)))[::-1]


def test_the_static_value_is_negated_for_the_other_player():
    with np.errstate(over="ignore"):
        for position in random_positions(2):
            assert static_value(*boards(position)) == -static_value(*seen_by_opponent(*boards(position)))


def test_the_estimate_lies_within_the_range_of_rewards():
    assert all(-1.0 < value < 1.0 for value in estimate(at("7k/QQQQQ3/QQQQ4/8/8/8/8/K7 b - - 0 1")))
    for position in random_positions(1):
        assert all(-1.0 < value < 1.0 for value in estimate(position))


def test_two_worths_fit_into_one_number():
    for middlegame, endgame in ((5, -7), (-5, 7), (0, 0), (-32_000, 32_000), (4000, -1)):
        both = (middlegame << 16) + endgame
        assert (middlegame_of(both), endgame_of(both)) == (middlegame, endgame)
        assert (middlegame_of(-both), endgame_of(-both)) == (-middlegame, -endgame)


@pytest.mark.parametrize(
    ("text", "won"),
    [
        ("4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1", QUEEN),  # a queen that nothing defends
        ("4k3/8/4p3/3q4/8/2N5/8/4K3 w - - 0 1", QUEEN - KNIGHT),  # a defended queen
        ("4k3/8/4p3/3n4/8/2N5/8/4K3 w - - 0 1", 0),  # knight for knight
        ("4k3/2p5/3p4/8/8/3Q4/8/4K3 w - - 0 1", 0),  # a defended pawn
        ("4k3/8/3p4/2p5/1P6/8/8/4K3 w - - 0 1", 0),  # pawn for pawn
        ("3rk3/8/8/3p4/8/8/3R4/3RK3 w - - 0 1", PAWN),  # two attackers, one defender
        ("3rk3/3r4/8/3p4/8/8/3R4/3RK3 w - - 0 1", 0),  # two attackers, two defenders
        ("4k3/8/8/8/1b6/8/3N4/r3K3 w - - 0 1", 0),  # nothing to take in check
        ("4k3/4r3/8/3n4/4P3/8/8/4K3 w - - 0 1", 0),  # a pinned pawn gives up its king
        ("1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", KNIGHT + QUEEN - PAWN),  # a capture that promotes; a queen for a pawn
        ("4k3/8/8/8/8/5n2/6P1/4K3 w - - 0 1", KNIGHT),  # check by a knight that a pawn takes
        ("4k3/8/2n5/8/3p4/8/8/3RK1B1 w - - 0 1", PAWN - BISHOP + KNIGHT),  # the least valuable piece takes first
    ],
)
def test_the_search_of_captures_finds_what_hangs_and_leaves_what_is_defended(text, won):
    assert gain(text) == won


def test_the_search_of_captures_looks_beyond_the_first_square():
    assert gain("4k3/8/8/8/8/1n6/P7/R3K3 w - - 0 1") == KNIGHT
    assert gain("r3k3/8/8/8/8/1n6/P7/R3K3 w - - 0 1") == 0  # the pawn that takes gives up the rook behind it


def test_the_search_of_captures_keeps_to_its_window():
    text = "4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1"
    assert gain(text, 0, 300) >= 300
    assert gain(text, 2000, 20_000) <= 2000
    assert gain(text, -50, 0) == 0


def test_a_lead_that_cannot_win_is_worth_little_and_a_bare_king_is_driven_to_the_edge():
    assert estimate(at("4k3/8/8/3p4/8/2N5/8/4K3 b - - 0 1"))[1] > -0.3
    middle, edge = at("8/8/8/3k4/8/4K3/8/4R3 w - - 0 1"), at("k7/8/2K5/8/8/8/8/4R3 w - - 0 1")
    assert 0.6 < estimate(middle)[0] < estimate(edge)[0]


def test_a_lead_fades_with_quiet_moves():
    fresh, old = at("8/8/8/3k4/8/4K3/8/4R3 w - - 0 1"), at("8/8/8/3k4/8/4K3/8/4R3 w - - 80 60")
    assert estimate(fresh)[0] > estimate(old)[0] > 0.0
