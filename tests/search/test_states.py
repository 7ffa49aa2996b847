"""Many states as arrays: players, observations, legal actions, keys and symmetries."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt
from tests.all_kinds import Drift, Secret


@tt.game(players=2, num_actions=2, max_length=3)
class Wide:
    """A game with wide whole numbers, a set of bits, a small board and a float, of which nothing is lost."""

    count = tt.field("i4")
    total = tt.field("i8")
    bits = tt.field("u8")
    cells = tt.field("i1", (2, 2))
    worth = tt.field("f8")
    player = tt.field("i1")

    def reset(self):
        self.count, self.total, self.bits, self.worth, self.player = 0, 0, np.uint64(0), 0.0, 0
        self.cells[:, :] = 0

    def legal_actions(self, out):
        out[0], out[1] = 0, 1
        return 2

    def apply(self, action):
        self.count += 1 + action
        self.player = 1 - self.player

    def is_terminal(self):
        return self.count >= 3

    def rewards(self, out):
        pass


def records(game, **fields):
    """States of a game that differ in one field: a list of values for each."""
    length = len(next(iter(fields.values())))
    found = np.repeat(tt.position(game).record, length)
    for name, values in fields.items():
        found[name] = values
    return found


def test_the_default_encoding_has_all_fields_and_the_viewpoint():
    assert tt.states.observation_shape(Wide) == (32 + 64 + 64 + 4 + 1 + 1 + 2,)
    found = tt.states.observations(Wide, records(Wide, count=[2], cells=[[[1, -1], [2, 0]]], worth=[0.25], player=[1]))
    assert found.dtype == np.float32
    assert found[0, :4].tolist() == [0, 1, 0, 0]
    assert found[0, 160:].tolist() == [1, -1, 2, 0, 0.25, 1, 0, 1]
    assert tt.states.observations(Wide, records(Wide, count=[5]), 0)[0, -2:].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("count", [2**24, 2**24 + 1, -1, -2, 2**31 - 1, -(2**31)]),
        ("total", [2**62, 2**62 + 1, -1, 2**63 - 1, -(2**63)]),
        ("bits", [0, 1, 2**63, 2**64 - 1, 2**64 - 2]),
    ],
)
def test_wide_whole_numbers_are_encoded_bit_by_bit_and_none_is_lost(field, values):
    found = tt.states.observations(Wide, records(Wide, **{field: values}), 0)
    assert set(found.ravel().tolist()) <= {0.0, 1.0}
    assert len({row.tobytes() for row in found}) == len(values)


def test_floats_that_are_too_great_for_32_bits_stay_finite():
    found = tt.states.observations(Wide, records(Wide, worth=[1e300, -np.inf]), 0)
    assert np.isfinite(found).all()
    assert (np.abs(found[:, 164]) > 3e38).all()


def test_a_game_with_hidden_information_needs_observe():
    for call in (tt.states.observation_shape, lambda game: tt.states.observations(game, tt.position(game).record)):
        with pytest.raises(
            tt.errors.ConfigError, match="imperfect information and no method `observe`.* add `observe`"
        ):
            call(Secret)


def test_continuous_games_have_a_default_encoding():
    found = tt.states.observations(Drift, tt.position(Drift).record, 0)
    assert found.tolist() == [[3.0, -2.0, 0.0, 1.0]]


@pytest.mark.parametrize("symmetries", [[2], [-1], [0, 1], [[0]]])
def test_wrong_symmetries_are_refused(symmetries):
    with pytest.raises(
        tt.errors.ConfigError, match="give a symmetry of connect_four, 0 to 1, for each of the 1 states"
    ):
        tt.states.transformed(tt.load_game("connect_four"), tt.position("connect_four").record, symmetries)


def test_a_game_without_symmetries_says_so():
    with pytest.raises(tt.errors.ConfigError, match="nim.* has no symmetries"):
        tt.states.transformed(tt.load_game("nim"), tt.position("nim").record, [0])
