"""The estimate of xiangqi: equal for both sides, and aware of what hangs."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest

import treetop as tt
from treetop.games.xiangqi_text import rows_of
from treetop.games.xiangqi_value import captures_gain, least_attacker, static_value

ADVISOR, ELEPHANT, HORSE, CHARIOT, CANNON = 1, 3, 5, 7, 9


def at(text):
    return tt.position("xiangqi", setup=text)


def estimate(position):
    out = np.zeros(2)
    position.state.heuristic(out)
    return out.tolist()


def gain(text, low=0, high=20_000):
    state = copy.copy(at(text).state)
    before = state._states.tobytes()
    found = int(captures_gain(state, int(state.player), low, high))
    assert state._states.tobytes() == before, "the search of captures left a piece elsewhere"
    return found


def random_positions(games):
    rng = np.random.default_rng(5)
    for _ in range(games):
        position = tt.position("xiangqi")
        while not position.is_terminal:
            yield position
            position = position.play(int(rng.choice(position.legal_actions())))


def sides_exchanged(position):
    rows = ["".join(cell or "1" for cell in reversed(row)).swapcase() for row in reversed(rows_of(position.state))]
    placement = re.sub("1+", lambda empty: str(len(empty[0])), "/".join(rows))
    return f"{placement} {'b' if position.player == 0 else 'w'} - - {int(position.state.quiet)} 1"


def test_exchanging_the_sides_negates_the_estimate():
    for number, position in enumerate(random_positions(3)):
        if number % 10 == 0:
            exchanged = at(sides_exchanged(position))
            again = at(sides_exchanged(exchanged))  # with equal pieces numbered from left to right
            assert estimate(exchanged) == estimate(again)[::-1]


def test_the_static_value_is_negated_for_the_other_player():
    for position in random_positions(1):
        assert static_value(position.state, 0) == -static_value(position.state, 1)


def test_the_estimate_lies_within_the_range_of_rewards_and_leaves_the_state_alone():
    for position in random_positions(1):
        before = position.state._states.tobytes()
        assert all(-1.0 < value < 1.0 for value in estimate(position))
        assert position.state._states.tobytes() == before


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("3k5/9/9/9/9/r8/9/9/9/R4K3 w", 850, 1000),  # a chariot that nothing defends
        ("3k5/9/r8/9/9/p8/9/9/9/R4K3 w", 0, 0),  # a pawn that a chariot defends
        ("3k5/9/2n6/9/3r5/9/4N4/9/9/5K3 w", 450, 600),  # a defended chariot, by a horse
        ("3k5/9/4b4/9/2p6/9/9/9/9/2R2K3 w", 0, 0),  # a pawn that an elephant defends
        ("3k5/9/4b4/3n5/2p6/9/9/9/9/2R2K3 w", 60, 250),  # the elephant is blocked
        ("3ak4/4a4/9/9/9/9/9/4R4/9/5K3 w", 0, 0),  # an advisor that another one and the general defend
        ("4k4/4a4/9/9/9/9/9/4R4/9/5K3 w", 0, 0),  # an advisor that the general defends
        ("4k4/4a4/9/9/9/9/9/4R4/4C4/5K3 w", 0, 0),  # the cannon behind the chariot has no screen once it has moved
        ("3k5/9/9/3r5/9/3p5/9/3C5/9/5K3 w", 850, 1000),  # a cannon captures over a screen
        ("4k4/9/9/3r5/9/9/9/3C5/9/5K3 w", 0, 0),  # without one it does not
    ],
)
def test_the_search_of_captures_finds_what_hangs_and_leaves_what_is_defended(text, low, high):
    assert low <= gain(text) <= high


def test_a_capture_that_opens_the_file_between_the_generals_is_none():
    assert gain("4k4/9/9/9/2r6/4N4/9/9/9/4K4 w") == 0
    assert gain("4k4/9/9/9/2r6/4N4/9/9/9/5K3 w") > 850


def test_the_search_of_captures_keeps_to_its_window():
    text = "3k5/9/9/9/9/r8/9/9/9/R4K3 w"
    assert gain(text, 0, 300) >= 300
    assert gain(text, 2000, 20_000) <= 2000
    assert gain(text, -50, 0) == 0


@pytest.mark.parametrize(
    ("text", "square", "piece"),
    [
        ("3k5/9/9/9/9/9/9/9/4A4/3AK4 w", 13, ADVISOR),  # e2, which d1 defends
        ("3k5/9/9/9/9/9/9/4B4/9/4K1B2 w", 22, ELEPHANT),  # e3, which g1 defends
        ("3k5/9/9/9/9/9/9/9/4R4/5K3 w", 13, -1),  # no piece defends itself
        ("3k5/9/9/9/9/9/9/9/4R4/4K4 w", 13, 0),
        ("3k5/9/9/9/9/9/9/4R4/9/4K4 w", 22, -1),  # the general defends no square two steps away
    ],
)
def test_elephants_advisors_and_the_general_defend(text, square, piece):
    found = least_attacker(at(text).state, 0, square)
    kinds = {1: ADVISOR, 2: ADVISOR, 3: ELEPHANT, 4: ELEPHANT}
    assert kinds.get(found, found) == piece


def test_a_lead_fades_with_moves_without_a_capture():
    fresh, old = at("3k5/9/9/9/9/9/9/9/9/R4K3 w"), at("3k5/9/9/9/9/9/9/9/9/R4K3 w - - 100 1")
    assert estimate(fresh)[0] > estimate(old)[0] > 0.0
