"""The plain twins and the compiled intrinsics are the same functions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import treetop as tt
from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import local_rng, rng_word


@compiled
def numbers(game, words, counts, out, floats):
    rng = local_rng(words[0])
    for index in range(len(out)):
        out[index] = rng.below(counts[index])
        floats[index] = rng.random()
    words[0] = rng_word(rng)


@compiled
def look(game, words, ns, out, mixed):
    for index in range(len(words)):
        out[index, 0] = tt.bits.popcount(words[index])
        out[index, 1] = tt.bits.lowest_bit(words[index])
        out[index, 2] = tt.bits.nth_bit(words[index], ns[index])
        mixed[index] = tt.bits.mix_bits(words[index])


@pytest.fixture(scope="module")
def engine():
    return tt.load_game("nim").engine()


def test_the_random_stream_is_the_same_in_both_modes(engine):
    counts = np.arange(1, 501, dtype=np.int64)
    out, floats = np.zeros(500, np.int64), np.zeros(500)
    rng = tt.Rng(12345)
    words = np.array([rng.word], np.uint64)
    engine.entry(numbers)(words, counts, out, floats)
    for index in range(500):
        assert out[index] == rng.below(int(counts[index]))
        assert floats[index] == rng.random()
    assert words[0] == rng.word


def test_the_random_stream_never_changes():
    rng = tt.Rng(1)
    assert [rng.below(1000) for _ in range(8)] == [368, 943, 45, 777, 219, 774, 626, 246]


def test_numbers_below_are_even():
    rng = tt.Rng(3)
    counts = np.bincount([rng.below(7) for _ in range(70_000)], minlength=7)
    assert abs(counts - 10_000).max() < 500
    assert 0.49 < np.mean([rng.random() for _ in range(20_000)]) < 0.51


def test_bit_functions_equal_their_plain_twins(engine):
    rng = tt.Rng(7)
    words = [0, 1, 2**63, 2**64 - 1] + [rng.bits() & rng.bits() for _ in range(200)] + [1 << n for n in range(64)]
    array = np.array(words, np.uint64)
    ns = np.array([rng.below(70) for _ in words], np.int64)
    out, mixed = np.zeros((len(words), 3), np.int64), np.zeros(len(words), np.uint64)
    engine.entry(look)(array, ns, out, mixed)
    for word, n, row, scrambled in zip(words, ns, out, mixed, strict=True):
        assert row.tolist() == [tt.bits.popcount(word), tt.bits.lowest_bit(word), tt.bits.nth_bit(word, int(n))]
        assert scrambled == tt.bits.mix_bits(word)


def test_processors_without_a_deposit_instruction_find_the_same_bit():
    from treetop.compiler.words import _nth_bit_loop

    rng = tt.Rng(9)
    for _ in range(300):
        word, n = rng.bits() & rng.bits(), rng.below(40)
        assert _nth_bit_loop(np.uint64(word), n) == tt.bits.nth_bit(word, n)


def test_every_order_is_as_likely():
    rng = tt.Rng(7)
    counts = Counter(tuple(rng.shuffled("abc")) for _ in range(6000))
    assert len(counts) == 6
    assert all(900 < count < 1100 for count in counts.values())
    assert rng.shuffled([]) == []
