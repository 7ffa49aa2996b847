"""Operations on memory that threads share: compiled they equal their plain twins, and no thread's work is lost."""

from __future__ import annotations

import threading

import numpy as np

import treetop.compiler.lowering  # noqa: F401 - registers the intrinsics
from treetop.compiler import intrinsics
from treetop.compiler.intrinsics import (
    atomic_add,
    atomic_add_field,
    compare_and_swap,
    load_shared,
    publish,
    store_shared,
    yield_thread,
)

RECORD = np.dtype([("value_sum", "f8"), ("visits", "i4"), ("prior", "f4")])


def add_many(records, counts, sums, times):
    seen = 0
    for _ in range(times):
        atomic_add_field(records, 1, "visits", 1)
        atomic_add_field(records, 1, "value_sum", 0.5)
        seen = max(seen, atomic_add(counts, 0, 1))
        atomic_add(sums, 1, 0.25)
        while not compare_and_swap(counts, 1, 0, 1):
            yield_thread()
        counts[2] += 1
        publish()
        store_shared(counts, 1, 0)
    return seen + load_shared(counts, 3)


def arrays():
    return np.zeros(3, RECORD), np.zeros(4, np.int64), np.zeros(2)


def test_no_addition_of_a_thread_is_lost():
    from numba import njit

    compiled = njit(nogil=True)(add_many)
    records, counts, sums = arrays()
    compiled(records, counts, sums, 0)
    threads = [threading.Thread(target=compiled, args=(records, counts, sums, 20_000)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert records["visits"].tolist() == [0, 80_000, 0]
    assert records["value_sum"].tolist() == [0.0, 40_000.0, 0.0]
    assert counts.tolist() == [80_000, 0, 80_000, 0]
    assert sums.tolist() == [0.0, 20_000.0]


def test_plain_and_compiled_operations_are_equal():
    from numba import njit

    plain, machine = arrays(), arrays()
    assert add_many(*plain, 7) == njit(add_many)(*machine, 7)
    for one, other in zip(plain, machine, strict=True):
        assert one.tolist() == other.tolist()


def test_compare_and_swap_says_whether_it_has_swapped():
    numbers = np.array([3])
    assert intrinsics.compare_and_swap(numbers, 0, 3, 5)
    assert not intrinsics.compare_and_swap(numbers, 0, 3, 6)
    assert numbers.tolist() == [5]
