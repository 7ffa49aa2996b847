"""Symmetries of square boards."""

from __future__ import annotations

import numpy as np
import pytest

from treetop.bits import permute_bits, square_symmetries


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_the_eight_symmetries_are_the_turns_and_reflections_of_the_board(size):
    cells = np.arange(size * size).reshape(size, size)
    turned = {np.rot90(board, turns).tobytes() for board in (cells, cells.T) for turns in range(4)}
    found = set()
    for places in square_symmetries(size):
        board = np.zeros(size * size, cells.dtype)
        board[places] = cells.ravel()
        found.add(board.tobytes())
    assert found == turned


def test_symmetry_0_is_the_identity_and_3_is_half_a_turn():
    places = square_symmetries(4)
    assert places[0].tolist() == list(range(16))
    assert places[3].tolist() == list(range(15, -1, -1))
    assert places[5][places[6]].tolist() == list(range(16)), "the quarter turns undo each other"


def test_bits_move_to_their_places():
    rng = np.random.default_rng(1)
    for _ in range(20):
        places, word = rng.permutation(64), int(rng.integers(2**63))
        moved = int(permute_bits(np.uint64(word), places))
        assert [moved >> int(place) & 1 for place in places] == [word >> bit & 1 for bit in range(64)]
